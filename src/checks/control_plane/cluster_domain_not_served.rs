//! `cluster-domain-not-served`: proxies look up the control plane in a domain that the cluster's DNS does
//! not serve.

use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::serving::component_missing;
use crate::checks::upgrade::{self, Options};
use crate::redact::Corefile;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "coredns";
const FILE: &str = "Corefile";
/// The charts' default.
const USUAL: &str = "cluster.local";
/// The components whose names a proxy looks up when it starts.
const LOOKED_UP: [&str; 2] = ["identity", "destination"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let config = ctx.object::<ConfigMap>(Scope::Fixed(NAMESPACE.to_owned()), NAME);
    let values = values(ctx)?;
    let domain = values.text("clusterDomain").unwrap_or(USUAL);
    let Some(text) = config?.and_then(|config| config.data.get(FILE)) else {
        return Err(Unjudged::not_applicable(format!(
            "no ConfigMap {NAMESPACE}/{NAME} has a {FILE}: another DNS server resolves names"
        )));
    };
    let served = Corefile::parse(text);
    let item = || Item::named(Kind::ConfigMap, Scope::Fixed(NAMESPACE.to_owned()), NAME);
    if served.serves(domain) {
        return Ok(Verdict::fine());
    }
    if served.open {
        let part = format!("domains that imported files or rewrite rules add to its {FILE}");
        return Err(ctx.missing(item(), Why::NotCaptured, part).into());
    }
    if served.zones.is_empty() {
        return Err(Unjudged::not_applicable(format!("its {FILE} has no zone of the kubernetes plugin")));
    }
    let home = &ctx.namespaces().control_plane;
    let zones = served.zones.join(", ");
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Set clusterDomain to the domain of the cluster (identityTrustDomain, if set, stays unchanged)",
        Options::none().set("clusterDomain", served.zones[0].clone()),
    );
    let remedy = restart::all_meshed(
        ctx,
        remedy,
        restart::Needs::NewProxy,
        "Restart the meshed workloads: a proxy gets these names when its pod is created",
    );
    let finding = ctx
        .finding(
            Subject::object(Kind::ConfigMap, home, "linkerd-config"),
            "proxies look up the control plane in a domain that the cluster's DNS does not serve: new \
            proxies get no certificate and no policy, and their pods do not become ready",
        )
        .evidence(Evidence::field(format!("ConfigMap {home}/linkerd-config"), "data.values: clusterDomain", domain))
        .evidence(Evidence::field(format!("ConfigMap {NAMESPACE}/{NAME}"), format!("data.{FILE}: kubernetes"), zones))
        .remedy(remedy);
    let finding = LOOKED_UP.into_iter().fold(finding, |finding, component| finding.tie(component_missing(component)));
    Ok(finding.into())
}
