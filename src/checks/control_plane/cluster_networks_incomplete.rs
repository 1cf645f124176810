//! `cluster-networks-incomplete`: pods or Services have addresses outside of clusterNetworks.

use super::networks::{Add, ClusterNetworks, cluster_networks, finding, incomplete, misspelled, outside};
use crate::checks::prelude::*;
use crate::checks::words::some;

const PODS: &str = "cluster networks contains all pods";
const SERVICES: &str = "cluster networks contains all services";
/// Maximum number of objects named in evidence.
const NAMED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>();
    let services = ctx.partial_list::<Service>();
    let networks = cluster_networks(ctx)?;
    let misspelled = |add| misspelled(ctx, &networks, add).into_iter();
    if !networks.unreadable.is_empty() {
        return Ok(misspelled(Add::Nothing).collect());
    }
    let ended = pods.as_ref().map(|pods| outside_pods(pods, &networks, true)).unwrap_or_default();
    let of_pods = pods.map(|pods| outside_pods(pods, &networks, false));
    let of_services = services.map(|services| outside_services(services, &networks));
    let (mut evidence, mut rows) = (Vec::new(), Vec::new());
    for (found, row) in [(of_pods, PODS), (of_services, SERVICES)] {
        match found {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                rows.push(row);
                evidence.extend(found);
            }
            Err(missing) => ctx.gap(missing),
        }
    }
    let message = "Finished pods have addresses outside of clusterNetworks. They receive no traffic, but \
                   linkerd check counts them";
    let ended = (!ended.is_empty() && !rows.contains(&PODS)).then(|| {
        let found = finding(ctx, &networks, message, ended, Add::Unknown).parameter("ended");
        found.severity(Severity::Info).rows_as(Severity::Error).fails_rows([PODS])
    });
    if rows.is_empty() {
        return Ok(misspelled(Add::Nothing).chain(ended).collect());
    }
    let addresses = outside(&networks, ctx.optional_list::<Pod>(), ctx.optional_list::<Service>());
    let which = match rows.as_slice() {
        [PODS] => "pods",
        [SERVICES] => "Services",
        _ => "pods and Services",
    };
    let what = format!("addresses of {which} ({})", some(&addresses, NAMED));
    let missing = (Add::Addresses(&addresses), Add::Addresses(&addresses));
    let found = incomplete(ctx, &networks, &what, evidence, missing).fails_rows(rows);
    Ok(misspelled(Add::Addresses(&addresses)).chain(ended).chain([found]).collect())
}

/// Pods outside the networks that are not on the host network, either the finished or the running ones: the
/// first few, and their total.
fn outside_pods(pods: &[Pod], networks: &ClusterNetworks, ended: bool) -> Vec<Evidence> {
    let own = pods.iter().filter(|pod| !pod.spec.host_network && pod.is_finished() == ended);
    let outside = own.filter_map(|pod| {
        let address = pod.status.pod_ip.filter(|address| !networks.contains(*address))?;
        Some((pod, address))
    });
    let name = |(pod, address): (&Pod, std::net::IpAddr)| {
        Evidence::field(pod.described(), "status.podIP", address.to_string())
    };
    few(outside.map(name), "Pods")
}

fn outside_services(services: &[Service], networks: &ClusterNetworks) -> Vec<Evidence> {
    let outside = services.iter().filter_map(|service| {
        let address = service.spec.cluster_ip.filter(|address| !networks.contains(*address))?;
        Some(Evidence::field(service.metadata.described("Service"), "spec.clusterIP", address.to_string()))
    });
    few(outside, "Services")
}

fn few(all: impl Iterator<Item = Evidence>, kind: &str) -> Vec<Evidence> {
    let mut all = all;
    let mut named: Vec<Evidence> = all.by_ref().take(NAMED).collect();
    let more = all.count();
    if more > 0 {
        named.push(Evidence::other(kind, format!("{more} more outside")));
    }
    named
}
