//! `cilium-socket-balancing`: Cilium selects the pod behind a Service at connect time, so proxies never see
//! the Service.

use crate::checks::prelude::*;
use crate::checks::sockets::{self, HOST_ONLY};
use crate::model::managed_by::ManagedBy;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.object::<ConfigMap>(Scope::Fixed("kube-system".to_owned()), "cilium-config")?;
    let Some(config) = config else {
        return Err(Unjudged::not_applicable("no ConfigMap kube-system/cilium-config exists"));
    };
    let Some(at_sockets) = sockets::cilium(config) else { return Ok(Verdict::fine()) };
    let message = "Cilium selects the pod behind a Service at connect time, before the proxy sees the \
        connection. Meshed clients stay on one pod per connection; routes, ServiceProfiles and balancing by \
        request have no effect";
    let finding = ctx
        .finding(Subject::object(Kind::ConfigMap, "kube-system", "cilium-config"), message)
        .evidences(at_sockets.evidence)
        .remedy(remedy(config));
    // Without an explicit setting, balancing at sockets is inferred from Cilium's default.
    let finding = finding.observed_if(at_sockets.said);
    Ok(finding.into())
}

fn remedy(config: &ConfigMap) -> Remedy {
    let words = "Let Cilium balance at sockets only for the host's own processes \
        (socketLB.hostNamespaceOnly=true). mTLS and other Cilium features are not affected";
    let managed = ManagedBy::from_metadata(&config.metadata);
    let remedy = match managed.in_git() {
        Some(git) => Remedy::new().step(StepKind::ChartValue, format!("{words}; {git}")),
        None => {
            let data = serde_json::json!({"data": {HOST_ONLY: "true"}}).to_string();
            Remedy::new()
                .run(
                    StepKind::ChartValue,
                    words,
                    kubectl().words("-n kube-system patch configmap cilium-config --type merge -p").arg(data),
                )
                .step(
                    StepKind::ChartValue,
                    "Set socketLB.hostNamespaceOnly=true in Cilium's installation values too, or its next upgrade \
                     reverts it",
                )
        }
    };
    let rollout = |verb: &'static str| kubectl().words("-n kube-system").words(verb).words("daemonset/cilium");
    remedy
        .command(
            "Restart Cilium's agents, which read the setting when they start",
            Command::lines([rollout("rollout restart"), rollout("rollout status")]).whole(),
        )
        .note("Restart long-lived clients: open connections stay on their pod")
}
