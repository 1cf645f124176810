//! `trace-collector-identity`: proxies expect the trace collector under a name in a domain other than the
//! trust domain.

use crate::checks::control_plane::installation::of_control_plane;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::objects::container::{COLLECTOR_NAME, LOCAL_NAME};

/// The id of the defect, which ends with the first edge whose chart writes the trust domain.
const DEFECT: &str = "trace-collector-identity";
/// Maximum number of named pods.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let mut found: Vec<(&Pod, &str, &str)> = Vec::new();
    for pod in ctx.partial_list::<Pod>()? {
        if !ctx.has_injected(pod) {
            continue;
        }
        let Some(proxy) = pod.spec.proxy() else { continue };
        if let (Some(collector), Some(local)) = (proxy.env_value(COLLECTOR_NAME), proxy.env_value(LOCAL_NAME))
            && let (Some(one), Some(other)) = (domain(collector), domain(local))
            && one != other
        {
            found.push((pod, collector, local));
        }
    }
    let Some((first, collector, local)) = found.first().copied() else { return Ok(Verdict::fine()) };
    let (_, seen) = of_control_plane(ctx)?;
    let until = ctx.knowledge.releases().defect(DEFECT).map(|defect| defect.until.to_string());
    let object = first.described();
    let env = |name: &str| format!("containers[linkerd-proxy].env[{name}]");
    let named: Vec<String> =
        found.iter().take(NAMED).map(|(pod, ..)| format!("{}/{}", pod.metadata.namespace, pod.metadata.name)).collect();
    let remedy = Remedy::new().step(
        StepKind::Upgrade,
        format!(
            "Upgrade Linkerd to {} or later, whose chart uses the trust domain for the collector",
            until.as_deref().unwrap_or("a later release")
        ),
    );
    let remedy = restart::all_meshed(ctx, remedy, restart::Needs::NewProxy, "Then restart the meshed workloads");
    let finding = ctx
        .finding(
            Subject::object("ConfigMap", home, "linkerd-config"),
            "proxies expect the trace collector under a name in the cluster domain, but its name is in the \
             trust domain. They reject its certificate, so no span arrives",
        )
        .evidence(Evidence::field(&object, env(COLLECTOR_NAME), collector))
        .evidence(Evidence::field(&object, env(LOCAL_NAME), local))
        .evidence(Evidence::other(
            "pods with both",
            format!(
                "{}, among them {}",
                found.len(),
                named.join(
                    ", \
            "
                )
            ),
        ))
        .evidence(seen)
        .remedy(remedy);
    Ok(finding.into())
}

/// The domain of an identity: the part after the control plane's namespace.
fn domain(name: &str) -> Option<&str> {
    name.split_once(".serviceaccount.identity.").map(|(_, domain)| domain)
}
