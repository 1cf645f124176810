//! `cilium-socket-balancing`: Cilium chooses the pod behind a Service when a process connects, so proxies never see the Service.

use crate::checks::sockets::{self, HOST_ONLY};
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::command::{Command, kubectl};
use crate::finding::{Remedy, StepKind, Subject};
use crate::item::{Kind, Scope};
use crate::model::managed_by::ManagedBy;
use crate::objects::ConfigMap;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.named::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config")?;
    let Some(config) = config else {
        return Err(Unjudged::not_applicable("there is no ConfigMap kube-system/cilium-config"));
    };
    let Some(at_sockets) = sockets::cilium(config) else { return Ok(Verdict::fine()) };
    let message = "Cilium picks the pod behind a Service when a process connects, before the proxy sees the connection: meshed clients' \
                   calls to Services go to one pod each connection, and routes, ServiceProfiles and balancing by request don't apply";
    let finding = ctx
        .finding(Subject::object(Kind::ConfigMap, "kube-system", "cilium-config"), message)
        .evidences(at_sockets.evidence)
        .remedy(remedy(config));
    // That it balances at sockets is its default, where it does not say so itself.
    let finding = if at_sockets.said { finding } else { finding.likely() };
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
