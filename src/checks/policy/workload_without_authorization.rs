//! `workload-without-authorization`: the default policy of a workload denies every client of its Services.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::survey::{Survey, survey};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::command::{meshdoctor, own};
use crate::model::policy::{Authorization, AuthorizedBy, DefaultPolicy, Inbound, TakenBy, Workload};
use crate::model::skipped::{IN, SkippedSubnets, skipped, skipped_subnets};
use crate::objects::container::VALIDATOR_CONTAINER;

const KEY: &str = "config.linkerd.io/default-inbound-policy";
/// The number of Services that the evidence names.
const QUOTED: usize = 3;

/// A workload that accepts no client.
#[derive(Default)]
struct Closed<'a> {
    pods: Vec<&'a Pod>,
    /// The default policy that denies its clients.
    policy: Option<DefaultPolicy>,
    /// Whether the policy is set by an annotation of the pods instead of the control plane's default.
    is_annotated: bool,
    /// The Services that select it, and their target ports.
    targets: BTreeSet<(&'a str, u16)>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let survey = survey(ctx)?;
    let owners = ctx.owners();
    let outside = networks_hold_no_pod(ctx, survey);
    let mut closed: BTreeMap<Owner, Closed<'_>> = BTreeMap::new();
    for (place, targets) in targeted(ctx, survey, services, outside) {
        let (pod, workload) = &survey.pods[place];
        let Some(policy) = denying(ctx, survey, pod, workload, &targets, outside) else { continue };
        let one = closed.entry(owners.owner(pod)).or_default();
        one.policy = Some(policy);
        one.pods.push(pod);
        one.is_annotated = workload.default_policy.is_some();
        one.targets.extend(targets);
    }
    if closed.is_empty() {
        return Ok(Vec::new().into());
    }
    let mut all: BTreeMap<Owner, BTreeSet<&str>> = BTreeMap::new();
    for pod in services.iter().flat_map(|service| ctx.selected().by(service)) {
        let owner = owners.owner(pod);
        if closed.contains_key(&owner) && !pod.is_finished() {
            all.entry(owner).or_default().insert(&pod.metadata.name);
        }
    }
    let findings = closed
        .iter()
        .map(|(owner, closed)| finding(ctx, survey, owner, closed, all.get(owner).map_or(0, BTreeSet::len)));
    Ok(findings.collect())
}

/// Whether a default policy denies every client. `outside`: the cluster networks contain no pod.
fn denies_all(policy: DefaultPolicy, outside: bool) -> bool {
    policy == DefaultPolicy::Deny || outside && policy.is_cluster_only()
}

/// The meshed pods whose default policy denies every client and that Services select, by their place in the
/// survey, with the Services and target ports. Linkerd's own namespaces are left out: their charts come with
/// policies.
fn targeted<'a>(
    ctx: &Context<'a>,
    survey: &Survey<'a>,
    services: &'a [Service],
    outside: bool,
) -> BTreeMap<usize, BTreeSet<(&'a str, u16)>> {
    let namespaces = ctx.namespaces();
    let is_own = |namespace: &str| {
        namespace == namespaces.control_plane || namespaces.extensions.values().any(|own| own == namespace)
    };
    let denies = |workload: &Workload<'_>| {
        let default = workload.default_policy.unwrap_or(survey.index.controller.default_policy);
        denies_all(default, outside)
    };
    let pods = survey.pods.iter().enumerate().filter(|(_, (_, workload))| denies(workload));
    let denying: HashMap<(&str, &str), usize> = pods.map(|(place, (pod, _))| (pod.metadata.key(), place)).collect();
    let mut targeted: BTreeMap<usize, BTreeSet<(&str, u16)>> = BTreeMap::new();
    if denying.is_empty() {
        return targeted;
    }
    for service in services {
        let namespace = service.metadata.namespace.as_str();
        if is_own(namespace) || !ctx.judges(namespace) {
            continue;
        }
        for pod in ctx.selected().by(service) {
            let Some(&place) = denying.get(&pod.metadata.key()) else { continue };
            let ports = service.spec.tcp_ports().filter_map(|port| port.leads_to(pod));
            let name = service.metadata.name.as_str();
            targeted.entry(place).or_default().extend(ports.map(|port| (name, port)));
        }
    }
    targeted
}

/// Whether the policy controller's cluster networks contain the address of no pod, so that default policies for
/// clients of the cluster deny all of them. Unknown counts as `false`.
fn networks_hold_no_pod(ctx: &Context<'_>, survey: &Survey<'_>) -> bool {
    let Ok(pods) = ctx.complete_list::<Pod>() else { return false };
    let mut addresses = pods.iter().filter(|pod| !pod.is_finished()).filter_map(|pod| pod.status.pod_ip).peekable();
    let networks = &survey.index.controller.cluster_networks;
    addresses.peek().is_some() && !addresses.any(|address| networks.iter().any(|network| network.contains(&address)))
}

/// The default policy, if it denies all connections to one of the ports, and no other authorization covers any of
/// them. `outside`: the cluster networks contain no pod.
fn denying(
    ctx: &Context<'_>,
    survey: &Survey<'_>,
    pod: &Pod,
    workload: &Workload<'_>,
    targets: &BTreeSet<(&str, u16)>,
    outside: bool,
) -> Option<DefaultPolicy> {
    let skips = skipped(pod, IN, ctx.cni_skips());
    let ports: BTreeSet<u16> = targets.iter().map(|(_, port)| *port).collect();
    // A port that does not pass the proxy accepts every client.
    if skips.is_some_and(|skips| ports.iter().any(|port| skips.holds(*port))) {
        return None;
    }
    let policies: Vec<Inbound<'_>> = ports.iter().map(|port| survey.index.inbound(workload, *port)).collect();
    let denies = |policy: DefaultPolicy| denies_all(policy, outside);
    let is_other = |one: &Authorization<'_>| !matches!(one.by, AuthorizedBy::Default(by) if denies(by));
    let admits = |policy: &Inbound<'_>| authorizations(policy).any(|one| is_other(one) && one.admits_any());
    if policies.iter().any(admits) {
        return None;
    }
    policies.iter().find_map(|policy| match policy.taken_by {
        TakenBy::Default(by) if denies(by) => Some(by),
        TakenBy::Default(_) | TakenBy::Server(_) => None,
    })
}

/// Whether a client is authorized for a port or one of its routes, apart from the kubelet's probes.
pub(super) fn admits_any(inbound: &Inbound<'_>) -> bool {
    authorizations(inbound).any(Authorization::admits_any)
}

/// The authorizations of a port and of its routes, apart from those of the kubelet's probes.
pub(super) fn authorizations<'i, 'a>(inbound: &'i Inbound<'a>) -> impl Iterator<Item = &'i Authorization<'a>> {
    let by_route = inbound.routes.iter().flat_map(|route| &route.authorizations);
    inbound.authorizations.iter().chain(by_route).filter(|one| one.by != AuthorizedBy::Probe)
}

/// The denied connections, for a message: all of them only if every pod denies them, and no range of client addresses
/// bypasses the proxies.
pub(super) fn denied_connections(to: &str, (denying, all): (usize, usize), bypass: Option<&str>) -> String {
    let from = bypass.map(|ranges| format!(" from outside of {ranges}"));
    match (denying < all, from) {
        (true, from) => {
            format!("Connections{} to {denying} of {all} pods of {to}", from.unwrap_or_default())
        }
        (false, Some(from)) => format!("Connections{from} to {to}"),
        (false, None) => format!("All connections to {to}"),
    }
}

/// Notes the missing files of a node if the configuration of linkerd-cni differs between others.
pub(super) fn note_different(ctx: &Context<'_>, subnets: Option<&SkippedSubnets>) {
    if subnets.is_some_and(SkippedSubnets::differ) {
        let part = "subnets-to-ignore of linkerd-cni, which differs between nodes";
        ctx.gap(ctx.missing(Item::NodeFiles, Why::NotOffered, part));
    }
}

/// Notes missing files of nodes for a pod that linkerd-cni sets up: they can show ranges that bypass its proxy.
pub(super) fn note_unread(ctx: &Context<'_>, pod: &Pod) {
    if pod.spec.container(VALIDATOR_CONTAINER).is_some() {
        _ = ctx.or_note(ctx.snapshots());
    }
}

/// `all`: the number of the workload's pods that Services select.
fn finding(ctx: &Context<'_>, survey: &Survey<'_>, owner: &Owner, closed: &Closed<'_>, all: usize) -> Finding {
    let namespace = owner.namespace.as_str();
    let names: Vec<String> = closed.pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let of_service = |(name, port): &(&str, u16)| {
        let service = Subject::object(Kind::Service, namespace, name);
        Evidence::field(service, "spec.ports: target port", port.to_string())
    };
    let ports = closed.targets.iter().map(|(_, port)| *port);
    let mut places = closed.pods.iter().flat_map(|pod| ports.clone().map(move |port| (*pod, port)));
    let subnets = places.find_map(|(pod, port)| skipped_subnets(pod, port, ctx.cni_skips()));
    note_different(ctx, subnets.as_ref());
    closed.pods.iter().for_each(|pod| note_unread(ctx, pod));
    let ranges = subnets.as_ref().map(SkippedSubnets::list);
    let bypass = ranges.as_deref();
    let denied = denied_connections("the workload's Services", (closed.pods.len(), all), bypass);
    let policy = closed.policy.unwrap_or(DefaultPolicy::Deny);
    let cause = match policy {
        DefaultPolicy::Deny => "The default policy is deny, and no Server authorizes a client.".to_owned(),
        _ => format!(
            "The default policy is {policy}, the policy controller's cluster networks contain no pod, and no Server \
             authorizes a client."
        ),
    };
    let message = format!("{cause} {denied} are denied, with status 403 or a closed connection");
    // Its clients may all have addresses whose connections bypass the proxy.
    let severity = if subnets.is_some() { Severity::Warning } else { Severity::Error };
    ctx.finding(owner.subject(names), message)
        .severity(severity)
        .evidence(default_policy(ctx, closed, policy))
        .evidences((policy != DefaultPolicy::Deny).then(|| cluster_networks(ctx, survey)))
        .evidences(subnets.iter().flat_map(SkippedSubnets::by))
        .evidences(closed.targets.iter().take(QUOTED).map(of_service))
        .evidences(without_server(survey, namespace))
        .remedy(if policy == DefaultPolicy::Deny { remedy(namespace) } else { networks_remedy(ctx) })
}

/// The networks of the policy controller.
fn cluster_networks(ctx: &Context<'_>, survey: &Survey<'_>) -> Evidence {
    let networks = survey.index.controller.cluster_networks.iter();
    let written: Vec<String> = networks.map(ToString::to_string).collect();
    Evidence::field(
        Subject::object(Kind::Deployment, &ctx.namespaces().control_plane, "linkerd-destination"),
        "containers[policy].args: cluster-networks",
        written.join(","),
    )
}

fn networks_remedy(ctx: &Context<'_>) -> Remedy {
    let home = &ctx.namespaces().control_plane;
    let compared = Remedy::new().command(
        "Compare the argument with clusterNetworks in linkerd-config, and find out what changed it",
        kubectl().namespace(home).words("get deployment/linkerd-destination -o yaml"),
    );
    let act = "Reapply the control plane with a value of clusterNetworks that contains all pods";
    upgrade::with_values(ctx, compared, act, Options::none())
}

/// The setting of the default policy.
fn default_policy(ctx: &Context<'_>, closed: &Closed<'_>, policy: DefaultPolicy) -> Evidence {
    match closed.pods.first().filter(|_| closed.is_annotated) {
        Some(pod) => Evidence::field(
            Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name),
            format!("metadata.annotations[{KEY}]"),
            policy.as_str(),
        ),
        None => Evidence::field(
            Subject::object(Kind::Deployment, &ctx.namespaces().control_plane, "linkerd-destination"),
            "containers[policy].args",
            format!("--default-policy={policy}"),
        ),
    }
}

/// The AuthorizationPolicies for the namespace, which apply only to ports with a Server.
fn without_server<'e>(survey: &'e Survey<'_>, namespace: &'e str) -> impl Iterator<Item = Evidence> + 'e {
    survey
        .index
        .policies(namespace)
        .map(|(policy, _)| policy)
        .filter(|policy| policy.spec.target_ref.is_a("", "Namespace"))
        .map(|policy| {
            let meta = &policy.metadata;
            let object = Subject::object(Kind::AuthorizationPolicy, &meta.namespace, &meta.name);
            Evidence::field(object, "spec.targetRef", "Namespace: covers only ports with a Server")
        })
}

fn remedy(namespace: &str) -> Remedy {
    Remedy::new()
        .command("Show the policy of each port and the authorized clients", meshdoctor().words("policy").arg(namespace))
        .note(format!(
            "Create a Server for each port with clients, with an AuthorizationPolicy that requires the service \
                 accounts of these clients. An example is in: {}",
            own("explain workload-without-authorization")
        ))
}
