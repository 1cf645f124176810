//! Overrides of ServiceProfiles that send requests to a Service that does not exist or has no endpoints.

use std::collections::{BTreeMap, BTreeSet};

use super::backends::ServiceKey;
use super::survey::{about, field, removal, set, test};
use crate::checks::multicluster::links::is_mirror;
use crate::checks::prelude::*;
use crate::objects::{DstOverride, ServiceProfile};

/// Findings about profiles of existing Services.
pub(super) fn lost(
    ctx: &Context<'_>,
    profiles: &[ServiceProfile],
    services: &BTreeMap<ServiceKey<'_>, &Service>,
    served: &BTreeSet<ServiceKey<'_>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for profile in profiles.iter().filter(|profile| ctx.judges(&profile.metadata.namespace)) {
        let Some((namespace, name, domain)) = profile.service() else { continue };
        let own = (namespace, name);
        if !services.contains_key(&own) {
            continue;
        }
        let all: Vec<(usize, &DstOverride, ServiceKey<'_>)> = profile
            .spec
            .dst_overrides
            .iter()
            .enumerate()
            .filter(|(_, one)| one.has_share())
            .filter_map(|(at, one)| one.service(domain).map(|(namespace, name, _)| (at, one, (namespace, name))))
            .collect();
        // If none has endpoints, the application is switched off and the profile is not the problem.
        let is_running = served.contains(&own) || all.iter().any(|(.., key)| served.contains(key));
        for (at, to, key) in &all {
            match services.get(key) {
                None => findings.push(finding(ctx, profile, (*at, to), *key, true)),
                Some(service) if is_running && !served.contains(key) && !is_mirror(service) => {
                    findings.push(finding(ctx, profile, (*at, to), *key, false));
                }
                Some(_) => {}
            }
        }
    }
    findings
}

fn finding(
    ctx: &Context<'_>,
    profile: &ServiceProfile,
    (at, to): (usize, &DstOverride),
    (namespace, name): ServiceKey<'_>,
    is_missing: bool,
) -> Finding {
    let meta = &profile.metadata;
    let service = format!("{namespace}/{name}");
    let (message, proof) = match is_missing {
        true => (
            format!("The profile sends requests to Service {service}, which does not exist: these requests fail"),
            Evidence::other(format!("Service {service}"), "does not exist"),
        ),
        false => (
            format!(
                "The profile sends requests to Service {service}, which has no ready endpoint. These requests fail, \
                 while others succeed"
            ),
            Evidence::other(format!("EndpointSlices of {service}"), "no ready endpoint in any"),
        ),
    };
    let path = format!("spec.dstOverrides[{at}].authority");
    let pointer = format!("/spec/dstOverrides/{at}");
    let without = [test(format!("{pointer}/authority"), to.authority.as_str()), removal(pointer)];
    let kind = Kind::ServiceProfile;
    about(ctx, kind, meta, message)
        .parameter(service)
        .evidence(field(kind, meta, &path, to.authority.as_str()))
        .evidence(proof)
        .remedy(
            Remedy::new()
                .note("If another Service is intended, name it in spec.dstOverrides by its full name")
                .command("Otherwise remove the override", set(kind, meta, without)),
        )
}
