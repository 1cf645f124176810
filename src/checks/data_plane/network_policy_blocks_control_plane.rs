//! `network-policy-blocks-control-plane`: network policies block proxies from identity, destination, the
//! policy controller or DNS.

mod controllers;
mod linked;

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::network_policies::{self, PeerSelector, Set, about, cannot_say, is_older, set};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::model::installed::COMPONENT;
use crate::network_policy::control_plane::{dns_pods, into_dns, to_component, to_dns};
use crate::network_policy::{DecidedBy, Direction, Policies, Policy, Verdict};
use crate::objects::container::PROXY_CONTAINER;

/// The control-plane servers that proxies need: component label of the pod, port, and display name.
const SERVERS: [(&str, u16, &str); 3] =
    [("identity", 8080, "identity"), ("destination", 8086, "destination"), ("destination", 8090, "policy")];
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// The ports that a set of policies blocks, and the affected pods.
#[derive(Default)]
struct BlockedPorts<'a> {
    by: Vec<DecidedBy<'a>>,
    /// Blocked ports and the names of their servers.
    ports: BTreeSet<(u16, &'static str)>,
    owners: BTreeMap<Owner, Vec<&'a Pod>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = network_policies::policies(ctx);
    let namespaces = ctx.partial_list::<Namespace>();
    let pods = ctx.partial_list::<Pod>()?;
    let policies = policies?;
    namespaces?;
    let home = ctx.namespaces().control_plane.as_str();
    let servers: Vec<&Pod> = pods
        .iter()
        .filter(|pod| pod.metadata.namespace == home && !pod.is_finished())
        .filter(|pod| SERVERS.iter().any(|(component, ..)| pod.metadata.label(COMPONENT) == Some(component)))
        .collect();
    if servers.is_empty() {
        return Err(Unjudged::not_applicable("there are no pods of identity and destination to reach"));
    }
    let dns = dns_pods(pods);
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    let counts = |pod: &&Pod| ctx.has_injected(pod) && pod.spec.proxy().is_some();
    for pod in pods.iter().filter(counts) {
        workloads.entry(owners.owner(pod)).or_default().push(pod);
    }
    let mut shut: BTreeMap<(Direction, Set<'_>), BlockedPorts<'_>> = BTreeMap::new();
    for (owner, clients) in &workloads {
        // Policies treat all replicas alike.
        let Some(client) = clients.first() else { continue };
        // A ready proxy that started under these policies proves that its connections work.
        let through = |policies: &mut dyn Iterator<Item = _>| {
            let policies: Vec<_> = policies.collect();
            clients.iter().any(|pod| is_ready(pod) && policies.iter().all(|policy| is_older(*policy, pod)))
        };
        for (direction, port, passage) in blocked_ports(&policies, client, (&servers, &dns)) {
            match passage {
                Verdict::Open | Verdict::Through(_) => {}
                Verdict::Unknown(doubts) => {
                    if !through(&mut doubts.iter().map(|doubt| doubt.policy)) {
                        cannot_say(ctx, &doubts);
                    }
                }
                Verdict::Shut(by) => {
                    if through(&mut by.iter().map(|decides| decides.policy)) {
                        continue;
                    }
                    let entry = shut.entry((direction, set(&by))).or_default();
                    entry.by = by;
                    entry.ports.insert(port);
                    entry.owners.insert(owner.clone(), clients.clone());
                }
            }
        }
    }
    let blocked = shut.iter().map(|((direction, _), shut)| finding(ctx, *direction, shut));
    let controllers = controllers::blocked(ctx, &policies, pods, &dns);
    let linked = linked::blocked(ctx, &policies, pods);
    Ok(blocked.chain(controllers).chain(linked).collect())
}

/// The connections that a pod needs to the control plane and DNS: direction, port, and the policies'
/// decision.
fn blocked_ports<'a>(
    policies: &Policies<'a>,
    client: &Pod,
    (servers, dns): (&[&Pod], &[&Pod]),
) -> Vec<(Direction, (u16, &'static str), Verdict<'a>)> {
    let own = client.metadata.label(COMPONENT);
    let mut asked = Vec::new();
    for (component, number, name) in SERVERS {
        // Containers of one pod connect without the network.
        if own == Some(component) {
            continue;
        }
        let serving: Vec<&Pod> =
            servers.iter().copied().filter(|pod| pod.metadata.label(COMPONENT) == Some(component)).collect();
        let passages = to_component(policies, client, &serving, number);
        asked.extend(passages.into_iter().map(|(direction, passage)| (direction, (number, name), passage)));
    }
    asked.extend(to_dns(policies, client, dns).map(|passage| (Direction::Egress, (53, "DNS"), passage)));
    let into = into_dns(policies, client, dns).filter(|passage| matches!(passage, Verdict::Shut(_)));
    asked.extend(into.map(|passage| (Direction::Ingress, (53, "DNS"), passage)));
    asked
}

fn is_ready(pod: &Pod) -> bool {
    pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready)
}

fn finding(ctx: &Context<'_>, direction: Direction, shut: &BlockedPorts<'_>) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let pods: Vec<&Pod> = shut.owners.values().flatten().copied().collect();
    let waiting = pods.iter().filter(|pod| !is_ready(pod)).count();
    let listed: Vec<String> = shut.ports.iter().map(|(port, name)| format!("{name} ({port})")).collect();
    let listed = listed.join(", ");
    let then = match waiting {
        0 => "running proxies work until their certificate expires, and new ones don't become ready",
        _ => "starting proxies get no certificate or configuration and don't become ready",
    };
    let all = network_policies::kind_names(&shut.by);
    let way = match direction {
        Direction::Egress => "egress",
        Direction::Ingress => "ingress",
    };
    let message = if shut.ports.iter().all(|(port, _)| *port == 53) {
        format!("{all} block pods with a proxy from DNS, which they need to find the control plane: {then}")
    } else {
        format!("{all} deny pods with a proxy {way} to {listed}: {then}")
            .replace(", DNS (53)", " and DNS")
            .replace("DNS (53), ", "DNS, ")
    };
    let mut finding = about(ctx, &shut.by, message).evidences(shut.by.iter().map(network_policies::evidence));
    let Some(first) = shut.by.first() else { return finding };
    for (owner, pods) in &shut.owners {
        finding = finding.tie(Tie::Workload(owner.kind.clone(), owner.namespace.clone(), owner.name.clone()));
        for pod in pods {
            finding = finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()));
        }
    }
    let names = pods.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
    let names = some(names, QUOTED);
    let finding = finding
        .evidence(Evidence::other(
            "Pods with a proxy",
            format!("{names}; the proxy is not ready in {waiting} of {} pods", pods.len()),
        ))
        .parameter(direction.field())
        .remedy(remedy(home, direction, first, &shut.ports));
    if waiting > 0 {
        return finding;
    }
    let finding = finding.severity(Severity::Warning);
    // The pods may have started before the change.
    match shut.by.iter().find(|decides| !decides.policy.meta().is_unchanged()) {
        None => finding,
        Some(changed) => {
            let (kind, namespace, name) = changed.policy.key();
            let generation = format!("{}: it changed after its creation", changed.policy.meta().generation);
            let object = Subject::object(kind, namespace, name);
            finding.likely().evidence(Evidence::field(object, "metadata.generation", generation))
        }
    }
}

fn remedy(home: &str, direction: Direction, decides: &DecidedBy<'_>, ports: &BTreeSet<(u16, &'static str)>) -> Remedy {
    let tcp: Vec<(&'static str, u16)> =
        ports.iter().filter(|(port, _)| *port != 53).map(|(port, _)| ("TCP", *port)).collect();
    let tcp_count = tcp.len();
    let mut openings = Vec::new();
    if !tcp.is_empty() {
        let whom = match direction {
            Direction::Egress => PeerSelector::Namespace(home),
            Direction::Ingress => PeerSelector::Pods,
        };
        openings.push((whom, tcp));
    }
    if ports.iter().any(|(port, _)| *port == 53) {
        openings.push((PeerSelector::Anybody, vec![("UDP", 53), ("TCP", 53)]));
    }
    let words = match direction {
        // For these the first matching rule decides.
        Direction::Egress if matches!(decides.policy, Policy::Calico(_) | Policy::Admin(..)) => {
            "Allow egress of the pods to the control plane and DNS"
        }
        Direction::Egress => {
            "Allow egress of the pods to the control plane and DNS. Traffic that any policy allows passes"
        }
        Direction::Ingress if tcp_count == 0 => "Allow DNS queries of all pods",
        Direction::Ingress => {
            "Allow ingress of proxies from all namespaces to the control plane. Their certificates identify \
             them"
        }
    };
    network_policies::remedy(decides, direction, &openings, words)
}
