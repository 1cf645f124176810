//! Egress of the controllers of Links: to the API server of the other cluster, and to its gateway, which they probe.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::controllers::is_controller;
use crate::checks::multicluster::links::{CLUSTER, mirrors_of};
use crate::checks::network_policies::{self, PeerSelector, Set, about, cannot_say, set};
use crate::checks::policy::defined;
use crate::checks::prelude::*;
use crate::network_policy::control_plane::best;
use crate::network_policy::{DecidedBy, Direction, Peer, Policies, Port, Verdict};
use crate::objects::Link;
use crate::redact::{KUBECONFIG, RemoteAccess};

/// What a controller connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LinkTarget {
    ApiServer,
    Gateway,
}

/// The connections of one controller that a set of policies blocks.
#[derive(Default)]
struct Blocked<'a> {
    by: Vec<DecidedBy<'a>>,
    to: BTreeSet<(LinkTarget, u16)>,
    evidence: Vec<Evidence>,
}

/// Findings about controllers of Links that may not connect to the other cluster.
pub(super) fn blocked<'a>(ctx: &Context<'a>, policies: &Policies<'a>, pods: &'a [Pod]) -> Vec<Finding> {
    let is_selected = |pod: &&Pod| {
        pod.metadata.label(CLUSTER).is_some()
            && !pod.is_finished()
            && pod.metadata.deletion_timestamp.is_none()
            && is_controller(ctx, pod)
            && !policies.holding(Direction::Egress, pod).is_empty()
    };
    let controllers: Vec<&Pod> = pods.iter().filter(is_selected).collect();
    if controllers.is_empty() {
        return Vec::new();
    }
    let links = ctx.or_note(defined::<Link>(ctx)).unwrap_or_default();
    links.iter().flat_map(|link| of_link(ctx, policies, &controllers, link)).collect()
}

fn of_link<'a>(ctx: &Context<'a>, policies: &Policies<'a>, controllers: &[&'a Pod], link: &Link) -> Vec<Finding> {
    let is_own = |pod: &&&Pod| {
        pod.metadata.namespace == link.metadata.namespace
            && pod.metadata.label(CLUSTER) == Some(link.spec.target_cluster_name.as_str())
    };
    // Policies treat all replicas alike.
    let Some(pod) = controllers.iter().find(is_own).copied() else { return Vec::new() };
    let mut shut: BTreeMap<Set<'_>, Blocked<'_>> = BTreeMap::new();
    for (target, hosts, port, evidence) in targets(ctx, link) {
        let peers = hosts.iter().map(|host| host.parse().map_or(Peer::Host, Peer::Address));
        let to =
            |peer| policies.passage(Direction::Egress, pod, Port { protocol: "TCP", number: port, of: None }, peer);
        match best(peers.map(to)) {
            None | Some(Verdict::Open | Verdict::Through(_)) => {}
            Some(Verdict::Unknown(doubts)) => cannot_say(ctx, &doubts),
            Some(Verdict::Shut(by)) => {
                let entry = shut.entry(set(&by)).or_default();
                entry.by = by;
                entry.to.insert((target, port));
                entry.evidence.push(evidence);
            }
        }
    }
    shut.values().map(|shut| finding(ctx, link, pod, shut)).collect()
}

/// The hosts and the port of each target, if they are known, with the field that names them.
fn targets(ctx: &Context<'_>, link: &Link) -> Vec<(LinkTarget, Vec<String>, u16, Evidence)> {
    let mut found = Vec::new();
    let secret = ctx.or_note(ctx.link_secret(link)).flatten();
    let access = secret.and_then(|secret| RemoteAccess::parse(secret.metadata.annotation(KUBECONFIG)));
    if let Some(server) = access.and_then(|access| access.server)
        && let Some((host, port)) = host_and_port(&server)
    {
        let secret = &link.spec.cluster_credentials_secret;
        let object = Subject::object(Kind::Secret, &link.metadata.namespace, secret);
        found.push((
            LinkTarget::ApiServer,
            vec![host],
            port,
            Evidence::field(object, "data.kubeconfig: server", server),
        ));
    }
    if link.has_gateway()
        && let Ok(port) = link.spec.probe_spec.port.parse()
    {
        let hosts = link.spec.gateway_address.split(',').map(|host| host.trim().to_owned()).collect();
        let object = Subject::object(Kind::Link, &link.metadata.namespace, &link.metadata.name);
        let said = format!("{}, probed at port {port}", link.spec.gateway_address);
        found.push((LinkTarget::Gateway, hosts, port, Evidence::field(object, "spec.gatewayAddress", said)));
    }
    found
}

/// The host and the port of a URL.
fn host_and_port(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next()?;
    let usual = if scheme == "http" { 80 } else { 443 };
    if let Ok(address) = authority.trim_matches(['[', ']']).parse::<IpAddr>() {
        return Some((address.to_string(), usual));
    }
    match authority.rsplit_once(':') {
        Some((host, port)) => Some((host.trim_matches(['[', ']']).to_owned(), port.parse().ok()?)),
        None => Some((authority.to_owned(), usual)),
    }
}

fn finding(ctx: &Context<'_>, link: &Link, pod: &Pod, shut: &Blocked<'_>) -> Finding {
    let has = |wanted: LinkTarget| shut.to.iter().any(|(target, _)| *target == wanted);
    let (to, then) = match (has(LinkTarget::ApiServer), has(LinkTarget::Gateway)) {
        (true, true) => ("API server and the gateway", "its mirror services are not updated and get no traffic"),
        (true, false) => ("API server", "its mirror services are not updated"),
        (false, _) => ("gateway", "its probes fail, so its mirror services have no ready endpoints"),
    };
    let message = format!(
        "{} deny the link's controller egress to the {to} of the other cluster: {then}",
        network_policies::kind_names(&shut.by)
    );
    let (namespace, name) = link.metadata.key();
    let finding = about(ctx, &shut.by, message)
        .severity(Severity::Warning)
        .parameter(format!("link:{namespace}/{name}"))
        .tie(mirrors_of(&link.spec.target_cluster_name))
        .evidences(shut.by.iter().map(network_policies::evidence))
        .evidences(shut.evidence.iter().cloned())
        .evidence(Evidence::other(
            "Pod of the controller",
            format!("{}/{}", pod.metadata.namespace, pod.metadata.name),
        ));
    let ports: BTreeSet<u16> = shut.to.iter().map(|(_, port)| *port).collect();
    let openings = [(PeerSelector::Anybody, ports.into_iter().map(|port| ("TCP", port)).collect())];
    let words = "Allow egress of the controller to these ports. If the addresses of the other cluster are known, \
                 restrict it to these";
    match shut.by.first() {
        Some(first) => finding.remedy(network_policies::remedy(first, Direction::Egress, &openings, words)),
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn host_and_port_of_a_url_are_split() {
        let known = |host: &str, port| Some((host.to_owned(), port));
        for (url, expected) in [
            ("https://east.example.com:6443", known("east.example.com", 6443)),
            ("https://east.example.com", known("east.example.com", 443)),
            ("https://192.0.2.7", known("192.0.2.7", 443)),
            ("https://[2001:db8::7]:6443/k8s", known("2001:db8::7", 6443)),
            ("https://[2001:db8::7]", known("2001:db8::7", 443)),
            ("east.example.com", None),
        ] {
            assert_eq!(host_and_port(url), expected, "{url}");
        }
    }
}
