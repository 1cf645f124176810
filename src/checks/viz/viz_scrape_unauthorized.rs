//! `viz-scrape-unauthorized`: Prometheus may not scrape proxies whose default policy is deny.

use std::collections::BTreeSet;

use crate::checks::extensions::{by_owner, names};
use crate::checks::prelude::*;
use crate::command::linkerd;
use crate::objects::AuthorizationPolicy;

/// The variable with which the injector sets a proxy's default policy.
const DEFAULT_POLICY: &str = "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY";
/// The name of the policy that `linkerd viz allow-scrapes` creates.
const SCRAPE: &str = "prometheus-scrape";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let closed: Vec<&Pod> = pods
        .iter()
        .filter(|pod| ctx.judges(&pod.metadata.namespace) && !pod.is_finished())
        .filter(|pod| denies(pod))
        .collect();
    if closed.is_empty() {
        return Ok(Verdict::fine());
    }
    let policies = ctx.complete_list::<AuthorizationPolicy>()?;
    let open = allowing(policies);
    let closed = closed.into_iter().filter(|pod| !open.contains(pod.metadata.namespace.as_str()));
    let findings = by_owner(ctx, closed.map(|pod| ((), pod))).into_iter().map(|((owner, ()), pods)| {
        let namespace = &owner.namespace;
        let object = format!("Pod {namespace}/{}", pods[0].metadata.name);
        ctx.finding(
            owner.subject(names(&pods)),
            "the proxies' default policy is deny, and no policy of the usual name authorizes Prometheus to \
             scrape them: viz shows no metrics of these pods",
        )
        .likely()
        .evidence(Evidence::field(object, format!("containers[linkerd-proxy].env[{DEFAULT_POLICY}]"), "deny"))
        .evidence(Evidence::other("AuthorizationPolicies in the pod's namespace", format!("none is named {SCRAPE}")))
        .remedy(Remedy::new().note("If a policy of another name authorizes Prometheus, do nothing").command(
            "Otherwise authorize it, in the namespace of the pods",
            linkerd().words("viz allow-scrapes").option("--namespace", namespace).pipe(kubectl().words("apply -f -")),
        ))
    });
    Ok(findings.collect())
}

/// Whether the default policy of a pod's proxy is deny.
pub(in crate::checks) fn denies(pod: &Pod) -> bool {
    pod.spec.proxy().and_then(|proxy| proxy.env_value(DEFAULT_POLICY)) == Some("deny")
}

/// The namespaces with the policy that allows Prometheus.
pub(in crate::checks) fn allowing(policies: &[AuthorizationPolicy]) -> BTreeSet<&str> {
    let named = policies.iter().filter(|policy| policy.metadata.name == SCRAPE);
    named.map(|policy| policy.metadata.namespace.as_str()).collect()
}
