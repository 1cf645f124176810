//! Egress of Linkerd's own controllers: to the API server, which they watch.

use std::collections::{BTreeMap, BTreeSet};

use crate::checks::network_policies::{self, PeerSelector, Set, about, cannot_say, is_older, set};
use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::item::EXTENSION_LABEL;
use crate::model::installed::COMPONENT;
use crate::network_policy::control_plane::{ApiServer, to_dns};
use crate::network_policy::{DecidedBy, Direction, Policies, Verdict};
use crate::objects::EndpointSlice;

/// Maximum number of quoted pods.
const QUOTED: usize = 3;
/// Components of extensions that watch the API server.
const OF_EXTENSIONS: [(&str, &[&str]); 2] = [
    ("viz", &["metrics-api", "tap", "tap-injector", "prometheus", "web"]),
    ("multicluster", &["controller", "linkerd-service-mirror"]),
];

/// The connections that a set of policies blocks, and the affected pods.
#[derive(Default)]
struct BlockedConnections<'a> {
    by: Vec<DecidedBy<'a>>,
    to: BTreeSet<&'static str>,
    owners: BTreeMap<Owner, Vec<&'a Pod>>,
}

/// Findings about controllers that may not connect to the API server, or not to DNS either.
pub(super) fn blocked<'a>(ctx: &Context<'a>, policies: &Policies<'a>, pods: &'a [Pod], dns: &[&Pod]) -> Vec<Finding> {
    let server = ApiServer::new(ctx.optional_list::<EndpointSlice>());
    let owners = ctx.owners();
    let mut controllers: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    let is_current = |pod: &&Pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
    for pod in pods.iter().filter(is_current).filter(|pod| is_controller(ctx, pod)) {
        controllers.entry(owners.owner(pod)).or_default().push(pod);
    }
    let mut shut: BTreeMap<Set<'_>, BlockedConnections<'_>> = BTreeMap::new();
    for (owner, pods) in &controllers {
        // Policies treat all replicas alike.
        let Some(pod) = pods.first() else { continue };
        let asked = [
            ("the API server", server.passage(policies, pod)),
            ("DNS", to_dns(policies, pod, dns).filter(|passage| matches!(passage, Verdict::Shut(_)))),
        ];
        for (to, passage) in asked {
            let by = match passage {
                None | Some(Verdict::Open | Verdict::Through(_)) => continue,
                Some(Verdict::Unknown(doubts)) => {
                    let works = |pod: &&Pod| is_ready(pod) && doubts.iter().all(|doubt| is_older(doubt.policy, pod));
                    if !pods.iter().any(works) {
                        cannot_say(ctx, &doubts);
                    }
                    continue;
                }
                Some(Verdict::Shut(by)) => by,
            };
            // A pod that became ready under these policies shows that its connections work.
            let works = |pod: &&Pod| is_ready(pod) && by.iter().all(|decides| is_older(decides.policy, pod));
            if pods.iter().any(works) {
                continue;
            }
            let entry = shut.entry(set(&by)).or_default();
            entry.by = by;
            entry.to.insert(to);
            entry.owners.insert(owner.clone(), pods.clone());
        }
    }
    shut.values().filter(|shut| shut.to.contains("the API server")).map(|shut| finding(ctx, &server, shut)).collect()
}

/// Whether a pod belongs to the control plane or to an extension, and watches the API server.
pub(super) fn is_controller(ctx: &Context<'_>, pod: &Pod) -> bool {
    let meta = &pod.metadata;
    if meta.namespace == ctx.namespaces().control_plane.as_str() {
        return meta.label(COMPONENT).is_some_and(|component| component != "heartbeat");
    }
    let component = meta.label("component");
    let mut extensions = OF_EXTENSIONS.iter();
    extensions.any(|(extension, components)| {
        meta.label(EXTENSION_LABEL) == Some(*extension)
            && component.is_some_and(|component| components.contains(&component))
    })
}

fn is_ready(pod: &Pod) -> bool {
    let statuses = &pod.status.container_statuses;
    !statuses.is_empty() && statuses.iter().all(|status| status.ready)
}

fn finding(ctx: &Context<'_>, server: &ApiServer, shut: &BlockedConnections<'_>) -> Finding {
    let pods: Vec<&Pod> = shut.owners.values().flatten().copied().collect();
    let waiting = pods.iter().filter(|pod| !is_ready(pod)).count();
    let then = match waiting {
        0 => "running pods know no later changes, and new ones don't become ready",
        _ => "starting pods don't become ready",
    };
    let to = match shut.to.contains("DNS") {
        true => "the API server and DNS",
        false => "the API server",
    };
    let message =
        format!("{} deny Linkerd's controllers egress to {to}: {then}", network_policies::kind_names(&shut.by));
    let mut finding = about(ctx, &shut.by, message).evidences(shut.by.iter().map(network_policies::evidence));
    for (owner, pods) in &shut.owners {
        finding = finding.tie(Tie::Workload(owner.kind.clone(), owner.namespace.clone(), owner.name.clone()));
        for pod in pods {
            finding = finding.tie(Tie::Pod(pod.metadata.namespace.to_string(), pod.metadata.name.clone()));
        }
    }
    let names = pods.iter().map(|pod| format!("{}/{}", pod.metadata.namespace, pod.metadata.name));
    let finding = finding.parameter("api-server").evidence(Evidence::other(
        "Pods of controllers",
        format!("{}; {waiting} of {} are not ready", some(names, QUOTED), pods.len()),
    ));
    let mut openings: Vec<(PeerSelector<'_>, Vec<(&'static str, u16)>)> =
        vec![(PeerSelector::Anybody, server.ports().into_iter().map(|port| ("TCP", port)).collect())];
    if shut.to.contains("DNS") {
        openings.push((PeerSelector::Anybody, vec![("UDP", 53), ("TCP", 53)]));
    }
    let words = "Allow egress of Linkerd's controllers to the ports of the API server. If its addresses are \
         known, restrict it to these";
    let finding = match shut.by.first() {
        Some(first) => finding.remedy(network_policies::remedy(first, Direction::Egress, &openings, words)),
        None => finding,
    };
    if waiting > 0 { finding } else { finding.severity(Severity::Warning) }
}
