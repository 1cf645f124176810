//! `mirror-endpoints-outdated`: mirror services lead to another address than the gateway of their link.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::links::{
    CLUSTER, Controllers, ask_controller, field, gateways, is_found_over_there, links, mirrors, mirrors_of, no_links,
    subject,
};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::finding::Restarts;
use crate::objects::{EndpointSlice, Link};

/// Maximum number of quoted Services.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let links = links(ctx)?;
    if links.is_empty() {
        return Err(no_links());
    }
    let literal: Vec<(&Link, BTreeSet<IpAddr>)> =
        links.iter().filter_map(|link| Some((link, addresses(link)?))).collect();
    let services = ctx.partial_list::<Service>()?;
    let slices = ctx.partial_list::<EndpointSlice>()?;
    let findings = literal.iter().filter_map(|(link, gateway)| {
        let outdated = outdated(services, slices, link, gateway);
        let finding = (!outdated.is_empty()).then(|| finding(ctx, link, &outdated))?;
        Some(spared(finding, ctx.within_grace(link.metadata.creation_timestamp)))
    });
    let findings: Vec<Finding> = findings.collect();
    if findings.is_empty() {
        ctx.complete_list::<Service>()?;
        ctx.complete_list::<EndpointSlice>()?;
    }
    Ok(findings.into())
}

/// The gateway's addresses, if none is a name, whose addresses are not known.
fn addresses(link: &Link) -> Option<BTreeSet<IpAddr>> {
    let all = link.spec.gateway_address.split(',').map(|one| one.trim().parse().ok());
    let all: BTreeSet<IpAddr> = all.collect::<Option<_>>()?;
    (!all.is_empty()).then_some(all)
}

/// The mirrors behind the gateway of a link that have none of its addresses, each with its own.
fn outdated<'a>(
    services: &'a [Service],
    slices: &[EndpointSlice],
    link: &Link,
    gateway: &BTreeSet<IpAddr>,
) -> Vec<(&'a Service, BTreeSet<IpAddr>)> {
    let cluster = link.spec.target_cluster_name.as_str();
    let is_behind = |service: &&Service| {
        service.metadata.label(CLUSTER) == Some(cluster)
            && !is_found_over_there(service)
            && !service.is_federated()
            // Its endpoints are Services, one for each pod.
            && !service.spec.cluster_ip.headless
    };
    let own = mirrors(services).filter(is_behind).chain(gateways(services, cluster));
    own.filter_map(|service| {
        let meta = &service.metadata;
        let of_service = slices
            .iter()
            .filter(|slice| slice.metadata.namespace == meta.namespace && slice.service() == Some(meta.name.as_str()));
        let has: BTreeSet<IpAddr> = of_service
            .flat_map(|slice| &slice.endpoints)
            .flat_map(|endpoint| &endpoint.addresses)
            .filter_map(|address| address.parse().ok())
            .collect();
        (!has.is_empty() && has.is_disjoint(gateway)).then_some((service, has))
    })
    .collect()
}

fn finding(ctx: &Context<'_>, link: &Link, outdated: &[(&Service, BTreeSet<IpAddr>)]) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    let quoted = outdated.iter().take(QUOTED).map(|(service, has)| {
        let has: Vec<String> = has.iter().map(ToString::to_string).collect();
        let meta = &service.metadata;
        Evidence::other(format!("EndpointSlices of {}/{}", meta.namespace, meta.name), has.join(", "))
    });
    ctx.finding(
        subject(link),
        "Mirror services have another address than the link's gateway, so calls to the other cluster go to a place \
         where the gateway may no longer be. The link's controller does not update them",
    )
    .evidence(field(link, "spec.gatewayAddress", link.spec.gateway_address.as_str()))
    .evidences(quoted)
    .tie(mirrors_of(cluster))
    .remedy(remedy(ctx, link))
}

fn remedy(ctx: &Context<'_>, link: &Link) -> Remedy {
    let cluster = &link.spec.target_cluster_name;
    let namespace = &link.metadata.namespace;
    let controllers = Controllers::new(ctx, ctx.for_steps::<Deployment>());
    let remedy = ask_controller(Remedy::new(), namespace, cluster, ", to see why it does not write them");
    let [controller] = controllers.of_link(link) else { return remedy };
    let meta = &controller.metadata;
    remedy
        .command(
            "Restart the controller, which writes the gateway's addresses again",
            kubectl().namespace(&meta.namespace).words("rollout restart").operand(format!("deployment/{}", meta.name)),
        )
        .restarting(Restarts::Workloads)
}
