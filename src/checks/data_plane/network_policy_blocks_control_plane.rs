//! `network-policy-blocks-control-plane`: NetworkPolicies keep proxies from identity, destination, the policy controller or DNS.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::network_policies::{self, Set, Whom, about, cannot_say, is_older, set};
use crate::checks::words::some;
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Remedy, Severity, Tie};
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::network_policy::control_plane::{best, to_component};
use crate::model::network_policy::{
    Decides, Direction, Doubt, NAMED, Passage, Peer, Policies, Policy, Port, WHOM,
};
use crate::model::owners::Owner;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Namespace, Pod};

/// What proxies need of the control plane: component of the pod, port, and the name that people know it by.
const SERVERS: [(&str, u16, &str); 3] =
    [("identity", 8080, "identity"), ("destination", 8086, "destination"), ("destination", 8090, "policy")];
/// How many pods are quoted.
const QUOTED: usize = 3;

/// What a set of policies shuts, and for whom.
#[derive(Default)]
struct Shut<'a> {
    by: Vec<Decides<'a>>,
    /// Ports by what listens on them.
    ports: BTreeSet<(u16, &'static str)>,
    owners: BTreeMap<Owner, Vec<&'a Pod>>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let policies = network_policies::policies(ctx);
    let namespaces = ctx.seen::<Namespace>();
    let pods = ctx.seen::<Pod>()?;
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
    let owners = ctx.owners();
    let mut workloads: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    let counts = |pod: &&Pod| {
        ctx.judges(&pod.metadata.namespace)
            && pod.metadata.label(CONTROL_PLANE_NS) == Some(home)
            && pod.spec.proxy().is_some()
            && !pod.is_finished()
            && pod.metadata.deletion_timestamp.is_none()
    };
    for pod in pods.iter().filter(counts) {
        workloads.entry(owners.of(pod)).or_default().push(pod);
    }
    let mut shut: BTreeMap<(Direction, Set<'_>), Shut<'_>> = BTreeMap::new();
    for (owner, clients) in &workloads {
        // Replicas are the same to a policy.
        let Some(client) = clients.first() else { continue };
        // A proxy that started under these policies and is ready shows that the network lets it through.
        let through = |policies: &mut dyn Iterator<Item = _>| {
            let policies: Vec<_> = policies.collect();
            clients.iter().any(|pod| is_ready(pod) && policies.iter().all(|policy| is_older(*policy, pod)))
        };
        for (direction, port, passage) in asked(&policies, client, &servers) {
            match passage {
                Passage::Open | Passage::Through(_) => {}
                Passage::Unknown(doubts) => {
                    if !through(&mut doubts.iter().map(|doubt| doubt.policy)) {
                        cannot_say(ctx, &doubts);
                    }
                }
                Passage::Shut(by) => {
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
    Ok(shut.iter().map(|((direction, _), shut)| finding(ctx, *direction, shut)).collect::<Vec<_>>().into())
}

/// What a pod needs of the control plane and of DNS: direction, port, and what the policies say of it.
fn asked<'a>(
    policies: &Policies<'a>,
    client: &Pod,
    servers: &[&Pod],
) -> Vec<(Direction, (u16, &'static str), Passage<'a>)> {
    let own = client.metadata.label(COMPONENT);
    let mut asked = Vec::new();
    for (component, number, name) in SERVERS {
        // What runs in the same pod is spoken to without any network.
        if own == Some(component) {
            continue;
        }
        let serving: Vec<&Pod> =
            servers.iter().copied().filter(|pod| pod.metadata.label(COMPONENT) == Some(component)).collect();
        let passages = to_component(policies, client, &serving, number);
        asked.extend(passages.into_iter().map(|(direction, passage)| (direction, (number, name), passage)));
    }
    // Behind its Service, OpenShift's listens on the other one. Whom a rule means is not asked: who that is differs from cluster
    // to cluster.
    let dns = [53, 5353].map(|number| {
        let port = Port { protocol: "UDP", number, of: None };
        match policies.passage(Direction::Egress, client, port, Peer::Anyone) {
            Passage::Unknown(doubts) if doubts.iter().any(is_left_open) => Passage::Open,
            passage => passage,
        }
    });
    asked.extend(best(dns).map(|passage| (Direction::Egress, (53, "DNS"), passage)));
    asked
}

fn is_left_open(doubt: &Doubt<'_>) -> bool {
    doubt.why == WHOM || doubt.why == NAMED
}

fn is_ready(pod: &Pod) -> bool {
    pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.ready)
}

fn finding(ctx: &Context<'_>, direction: Direction, shut: &Shut<'_>) -> Finding {
    let home = ctx.namespaces().control_plane.as_str();
    let pods: Vec<&Pod> = shut.owners.values().flatten().copied().collect();
    let waiting = pods.iter().filter(|pod| !is_ready(pod)).count();
    let listed: Vec<String> = shut.ports.iter().map(|(port, name)| format!("{name} ({port})")).collect();
    let listed = listed.join(", ");
    let then = match waiting {
        0 => {
            "proxies that are ready now keep running until their certificate expires, and new ones don't become ready"
        }
        _ => "proxies that start get no certificate or no configuration, and don't become ready",
    };
    let all = network_policies::in_words(&shut.by);
    let way = match direction {
        Direction::Egress => "out",
        Direction::Ingress => "in",
    };
    let message = if shut.ports.iter().all(|(port, _)| *port == 53) {
        format!("{all} don't let pods with a proxy ask DNS, by which they find the control plane: {then}")
    } else {
        format!("{all} don't let pods with a proxy {way} to {listed} of the control plane: {then}")
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
            format!("{names}; {waiting} of {} with a proxy that is not ready", pods.len()),
        ))
        .parameter(direction.field())
        .remedy(remedy(home, direction, first, &shut.ports));
    if waiting == 0 { finding.severity(Severity::Warning) } else { finding }
}

fn remedy(
    home: &str,
    direction: Direction,
    decides: &Decides<'_>,
    ports: &BTreeSet<(u16, &'static str)>,
) -> Remedy {
    let tcp: Vec<(&'static str, u16)> =
        ports.iter().filter(|(port, _)| *port != 53).map(|(port, _)| ("TCP", *port)).collect();
    let mut openings = Vec::new();
    if !tcp.is_empty() {
        let whom = match direction {
            Direction::Egress => Whom::Namespace(home),
            Direction::Ingress => Whom::Pods,
        };
        openings.push((whom, tcp));
    }
    if ports.iter().any(|(port, _)| *port == 53) {
        openings.push((Whom::Anybody, vec![("UDP", 53), ("TCP", 53)]));
    }
    let words = match direction {
        // Of Calico's policies the first rule that fits decides.
        Direction::Egress if matches!(decides.policy, Policy::Calico(_)) => {
            "Let the pods out to the control plane and DNS"
        }
        Direction::Egress => {
            "Let the pods out to the control plane and DNS: what any policy lets through passes"
        }
        Direction::Ingress => {
            "Let the proxies of all namespaces in to the control plane: who they are, their certificates say"
        }
    };
    network_policies::remedy(decides, direction, &openings, words)
}
