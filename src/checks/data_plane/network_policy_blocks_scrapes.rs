//! `network-policy-blocks-scrapes`: network policies block the Prometheus of viz from the metrics of
//! proxies.

use std::collections::BTreeMap;

use super::transport::inbound_port;
use crate::checks::network_policies::{self, PeerSelector, Set, about, cannot_say, set};
use crate::checks::policy::scrape_refused::admin_port;
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::network_policy::control_plane::best;
use crate::network_policy::{DecidedBy, Direction, Peer, Policies, Port, Verdict};

/// Maximum number of quoted workloads.
const QUOTED: usize = 3;

/// The pods whose metrics a set of policies blocks.
#[derive(Default)]
struct BlockedScrapes<'a> {
    by: Vec<DecidedBy<'a>>,
    workloads: Vec<&'a Owner>,
    port: u16,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = network_policies::policies(ctx);
    let namespaces = ctx.partial_list::<Namespace>();
    let pods = ctx.partial_list::<Pod>()?;
    let policies = policies?;
    namespaces?;
    let home = ctx.namespaces().extensions.get(&Extension::Viz).map(String::as_str);
    let is_prometheus = |pod: &&Pod| {
        Some(pod.metadata.namespace.as_str()) == home
            && pod.metadata.label("component") == Some("prometheus")
            && !pod.is_finished()
    };
    let scrapers: Vec<&Pod> = pods.iter().filter(is_prometheus).collect();
    if scrapers.is_empty() {
        return Err(Unjudged::not_applicable("viz has no Prometheus of its own"));
    }
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, &Pod> = BTreeMap::new();
    let counts = |pod: &&Pod| {
        ctx.judges(&pod.metadata.namespace)
            && pod.metadata.label(CONTROL_PLANE_NS).is_some()
            && pod.spec.proxy().is_some()
            && !pod.is_finished()
    };
    // Policies treat all replicas alike.
    for pod in pods.iter().filter(counts).filter(|pod| !is_prometheus(pod)) {
        workloads.entry(owners.owner(pod)).or_insert(pod);
    }
    let mut shut: BTreeMap<(Direction, Set<'_>), BlockedScrapes<'_>> = BTreeMap::new();
    for (owner, pod) in &workloads {
        for direction in [Direction::Ingress, Direction::Egress] {
            let ways = scrapers.iter().map(|scraper| scrape_verdict(&policies, direction, scraper, pod));
            match best(ways) {
                Some(Verdict::Unknown(doubts)) => cannot_say(ctx, &doubts),
                Some(Verdict::Shut(by)) => {
                    let entry = shut.entry((direction, set(&by))).or_default();
                    entry.by = by;
                    entry.port = admin_port(pod);
                    entry.workloads.push(owner);
                }
                Some(Verdict::Open | Verdict::Through(_)) | None => {}
            }
        }
    }
    let findings = shut.iter().filter_map(|((direction, _), shut)| finding(ctx, *direction, shut, home?));
    Ok(findings.collect())
}

/// Whether one side of the connection allows reading the metrics of a pod's proxy: at the metrics port or,
/// for a meshed Prometheus, at the proxy's inbound port, through which such connections may go.
fn scrape_verdict<'a>(policies: &Policies<'a>, direction: Direction, scraper: &'a Pod, pod: &'a Pod) -> Verdict<'a> {
    let (of, peer) = match direction {
        Direction::Ingress => (pod, scraper),
        Direction::Egress => (scraper, pod),
    };
    let at = |number| {
        let port = Port { protocol: "TCP", number, of: Some(pod) };
        policies.passage(direction, of, port, Peer::Pod(peer))
    };
    let direct = at(admin_port(pod));
    match scraper.spec.proxy() {
        // On a tie, the direct connection is reported.
        Some(_) => best([direct.clone(), at(inbound_port(pod))]).unwrap_or(direct),
        None => direct,
    }
}

fn finding(ctx: &Context<'_>, direction: Direction, shut: &BlockedScrapes<'_>, home: &str) -> Option<Finding> {
    let first = shut.by.first()?;
    let all = network_policies::kind_names(&shut.by);
    let port = shut.port;
    let message = match direction {
        Direction::Ingress => format!(
            "{all} block the Prometheus of viz from the metrics of proxies (port {port}). The dashboard and \
             linkerd viz show no data of these pods"
        ),
        Direction::Egress => format!(
            "{all} block egress of viz's Prometheus to the metrics of proxies (port {port}). The dashboard \
             and linkerd viz show no data of these pods"
        ),
    };
    let named = shut.workloads.iter().map(|owner| owner.subject(Vec::new()));
    let (whom, words) = match direction {
        Direction::Ingress => (
            PeerSelector::Namespace(home),
            format!(
                "Allow ingress from the pods of {home} to the metrics of \
                proxies"
            ),
        ),
        Direction::Egress => (PeerSelector::Pods, "Allow egress of Prometheus to the metrics of proxies".to_owned()),
    };
    Some(
        about(ctx, &shut.by, message)
            .parameter(direction.field())
            .evidences(shut.by.iter().map(network_policies::evidence))
            .evidence(Evidence::other("workloads with a proxy", some(named, QUOTED)))
            .remedy(network_policies::remedy(first, direction, &[(whom, vec![("TCP", port)])], words)),
    )
}
