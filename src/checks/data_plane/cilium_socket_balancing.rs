//! `cilium-socket-balancing`: Cilium chooses the pod behind a Service when a process connects, so proxies never see the Service.

use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::command::{Command, kubectl};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::managed_by::ManagedBy;
use crate::objects::ConfigMap;

/// Whether Cilium stands in for kube-proxy.
const REPLACES: &str = "kube-proxy-replacement";
/// Whether it balances where a process connects.
const SOCKET: &str = "bpf-lb-sock";
/// Whether it does so for processes in the network of the host alone.
const HOST_ONLY: &str = "bpf-lb-sock-hostns-only";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.named::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config")?;
    let Some(config) = config else {
        return Err(Unjudged::not_applicable("there is no ConfigMap kube-system/cilium-config"));
    };
    let setting = |key: &str| config.data.get(key).map(String::as_str);
    // Who replaces kube-proxy balances at sockets as well, unless it is told not to.
    let replaces = matches!(setting(REPLACES), Some("true" | "strict"));
    let at_sockets = match setting(SOCKET) {
        Some(said) => said == "true",
        None => replaces,
    };
    if !at_sockets || setting(HOST_ONLY) == Some("true") {
        return Ok(Verdict::fine());
    }
    let said = |key: &str| {
        let value = setting(key).unwrap_or("not set");
        Evidence::field("ConfigMap kube-system/cilium-config", format!("data.{key}"), value)
    };
    let message = "Cilium picks the pod behind a Service when a process connects, before the proxy sees the connection: meshed clients' \
                   calls to Services go to one pod each connection, and routes, ServiceProfiles and balancing by request don't apply";
    let finding = ctx
        .finding(Subject::object(Kind::ConfigMap, "kube-system", "cilium-config"), message)
        .evidence(said(REPLACES))
        .evidence(said(SOCKET))
        .evidence(said(HOST_ONLY))
        .remedy(remedy(config));
    // That it balances at sockets is its default, where it does not say so itself.
    let finding = if setting(SOCKET).is_some() { finding } else { finding.likely() };
    Ok(vec![finding].into())
}

fn remedy(config: &ConfigMap) -> Remedy {
    let words = "Let Cilium balance at sockets for the host's own processes only (socketLB.hostNamespaceOnly=true); mTLS and the \
                 rest of Cilium stay as they are";
    let managed = ManagedBy::of(&config.metadata);
    let remedy = match managed.in_git() {
        Some(git) => Remedy::new().step(StepKind::ChartValue, format!("{words}; {git}")),
        None => {
            let data = serde_json::json!({"data": {HOST_ONLY: "true"}}).to_string();
            Remedy::new().run(
                StepKind::ChartValue,
                format!(
                    "{words}. Set it in what Cilium is installed with as well, or its next upgrade undoes it"
                ),
                kubectl().words("-n kube-system patch configmap cilium-config --type merge -p").arg(data),
            )
        }
    };
    let rollout =
        |verb: &'static str| kubectl().words("-n kube-system").words(verb).words("daemonset/cilium");
    remedy
        .run(
            StepKind::Command,
            "Restart Cilium's agents, which read it when they start",
            Command::lines([rollout("rollout restart"), rollout("rollout status")]).whole(),
        )
        .step(
            StepKind::Note,
            "Connections that are open keep the pod that they were given: restart long-lived clients",
        )
}
