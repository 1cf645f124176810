//! `traffic-split-ignored`: TrafficSplits that no component of Linkerd reads.

use std::collections::BTreeSet;

use super::survey::{about, defined, field, on};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::control_plane::installed;
use crate::objects::{ServiceProfile, TrafficSplit};
use crate::version::Minor;

/// The first release whose control plane does not read TrafficSplits.
const GONE: Minor = Minor::new(2, 12);
/// The label of the extension's adaptor, which creates ServiceProfiles from TrafficSplits.
const COMPONENT: &str = "component";
const ADAPTOR: &str = "smi-adaptor";
/// Maximum number of named Services.
const NAMED: usize = 3;

/// Whether a Deployment is the extension's adaptor.
pub(super) fn is_adaptor(deployment: &Workload) -> bool {
    deployment.metadata.label(COMPONENT) == Some(ADAPTOR) || deployment.metadata.name == ADAPTOR
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let splits = defined::<TrafficSplit>(ctx);
    let deployments = ctx.complete_list::<Deployment>();
    let profiles = defined::<ServiceProfile>(ctx);
    let pods = ctx.partial_list::<Pod>();
    let (splits, deployments, profiles, pods) = (splits?, deployments?, profiles?, pods?);
    let version = installed(deployments, None, &ctx.namespaces().control_plane);
    let minor = version.and_then(|(version, _)| version.minor(ctx.knowledge.minors()));
    if minor.is_some_and(|minor| minor < GONE) {
        return Err(Unjudged::not_applicable(format!("Linkerd reads TrafficSplits itself before {GONE}")));
    }
    if deployments.iter().any(is_adaptor) {
        return Ok(Vec::new().into());
    }
    let meshed: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| pod.spec.proxy().is_some() && !pod.is_finished())
        .map(|pod| pod.metadata.namespace.as_str())
        .collect();
    let mut findings = Vec::new();
    for split in splits.iter().filter(|split| ctx.judges(&split.metadata.namespace)) {
        let (meta, service) = (&split.metadata, split.spec.service.as_str());
        // Without pods of this mesh, another mesh may read it.
        if !meshed.contains(meta.namespace.as_str()) {
            continue;
        }
        // A ServiceProfile that the adaptor created earlier is still followed.
        let host = format!("{service}.{}.svc.", meta.namespace);
        let overrides = |profile: &ServiceProfile| !profile.spec.dst_overrides.is_empty();
        if profiles.iter().any(|profile| profile.metadata.name.starts_with(&host) && overrides(profile)) {
            continue;
        }
        let backends = split.spec.backends.iter().map(|backend| backend.service.as_str());
        let message = format!(
            "No component of Linkerd reads the TrafficSplit: since {GONE}, this requires the extension \
             linkerd-smi, which is not installed. All requests for Service {service} go to its own endpoints"
        );
        let route = format!(
            "Write an HTTPRoute instead (2.13 and later): Service {service} under parentRefs, and the \
             Services with their weights under backendRefs. If Flagger or Argo Rollouts write the TrafficSplit, \
             they need a configuration for Gateway API routes"
        );
        let remedy = Remedy::new()
            .note(route)
            .command("Then delete the TrafficSplit", on("delete", Kind::TrafficSplit, meta))
            .note("Or install the extension linkerd-smi, whose adaptor creates a ServiceProfile from it");
        findings.push(
            about(ctx, Kind::TrafficSplit, meta, message)
                .evidence(field(Kind::TrafficSplit, meta, "spec.service", service))
                .evidence(field(Kind::TrafficSplit, meta, "spec.backends", some(backends, NAMED)))
                .evidence(Evidence::other("every Deployment", format!("none has the label {COMPONENT}={ADAPTOR}")))
                .remedy(remedy),
        );
    }
    Ok(findings.into())
}
