//! `destination-replica-outdated`: a replica of destination returns other endpoints than EndpointSlices contain, or
//! than another replica returns, in two reads.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::destination_replica_stuck::replaced;
use crate::checks::diagnosed::metrics_missing;
use crate::checks::prelude::*;
use crate::checks::words::{and_more, some};
use crate::item::destination::Address;
use crate::item::diagnostic::{Endpoint, EndpointsSample, ProfileAnswer, ReplicaProfile, ServiceEndpoints};
use crate::model::published_endpoints::{published, tcp_ports};
use crate::objects::EndpointSlice;

/// Minimum time between two reads, in seconds: a replica learns of changes within this time.
const APART: u64 = 10;
/// Number of names in a gap.
const NAMED: usize = 3;
/// Number of quoted addresses of a Service, and of quoted Services.
const QUOTED: usize = 5;

/// The answers of all replicas about a Service, or about one port of it: namespace, name, port.
type Answers<'a> = BTreeMap<(&'a str, &'a str, u16), Vec<&'a ServiceEndpoints>>;

/// Differences of a replica's answer from EndpointSlices, in both reads.
#[derive(Default, PartialEq)]
struct ReplicaDifference<'a> {
    /// Endpoints that no EndpointSlice contains.
    extra: Vec<&'a Endpoint>,
    /// Ready addresses of EndpointSlices that the replica does not return.
    lacking: Vec<Address>,
}

/// A Service for which a replica returns other endpoints.
struct Outdated<'a> {
    answer: &'a ServiceEndpoints,
    difference: ReplicaDifference<'a>,
    /// Whether every replica returns the same.
    by_all: bool,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let given = ctx.diagnostics()?;
    let sample = given.iter().find_map(|one| one.said.of_replicas());
    if let Some(sample) = sample {
        gaps(ctx, sample);
    }
    let all = given.iter().filter_map(|one| one.said.of_service()).filter(|one| !one.replica.is_empty());
    let all: Vec<&ServiceEndpoints> = all.filter(|one| ctx.judges(&one.namespace)).collect();
    let profiles = given.iter().filter_map(|one| one.said.of_profile());
    let profiles: Vec<&ReplicaProfile> = profiles.filter(|one| ctx.judges(&one.namespace)).collect();
    if all.is_empty() && profiles.is_empty() {
        return Err(metrics_missing(ctx, "the endpoints that each replica of destination returns").into());
    }
    let home = ctx.namespaces().control_plane.as_str();
    let pods: HashSet<(&str, &str)> = ctx.complete_list::<Pod>()?.iter().map(|pod| pod.metadata.key()).collect();
    let mut answers = Answers::new();
    let exists = |one: &&ServiceEndpoints| pods.contains(&(home, one.replica.as_str()));
    let all = if all.is_empty() { all } else { twice(ctx, all)? };
    for one in all.into_iter().filter(exists) {
        answers.entry((&one.namespace, &one.service, one.port)).or_default().push(one);
    }
    let services = ctx.complete_list::<Service>()?;
    let services: HashMap<(&str, &str), &Service> =
        services.iter().map(|service| (service.metadata.key(), service)).collect();
    let slices = ctx.complete_list::<EndpointSlice>()?;
    let mut outdated: BTreeMap<&str, Vec<Outdated<'_>>> = BTreeMap::new();
    let (mut findings, mut unconfirmed) = (Vec::new(), Vec::new());
    for ((namespace, name, port), answers) in &answers {
        let Some(service) = services.get(&(*namespace, *name)) else { continue };
        let differences = expected(service, *port, slices, answers)
            .map(|expected| answers.iter().map(|answer| difference(answer, &expected)).collect::<Vec<_>>())
            .unwrap_or_default();
        let is_outdated = differences.iter().any(|difference| *difference != ReplicaDifference::default());
        if !is_outdated && !disagree(answers) {
            continue;
        }
        let full_name = format!("{namespace}/{name}");
        if sample.is_some_and(|sample| sample.unconfirmed.contains(&full_name)) {
            unconfirmed.push(full_name);
            continue;
        }
        if !is_outdated {
            findings.push(of_service(ctx, service, answers, sample.is_some()));
            continue;
        }
        let by_all = answers.len() > 1 && differences.iter().all(|difference| *difference == differences[0]);
        for (answer, difference) in answers.iter().zip(differences) {
            if difference != ReplicaDifference::default() {
                outdated.entry(&answer.replica).or_default().push(Outdated { answer, difference, by_all });
            }
        }
    }
    if !unconfirmed.is_empty() {
        unconfirmed.dedup();
        let part = format!("endpoints of {}, which changed while they were read", some(&unconfirmed, NAMED));
        ctx.gap(metrics_missing(ctx, part));
    }
    let of_replicas = outdated.iter().map(|(replica, all)| of_replica(ctx, replica, all, sample.is_some()));
    findings.extend(of_replicas);
    let profiles = profiles.into_iter().filter(|one| pods.contains(&(home, one.replica.as_str())));
    findings.extend(of_profiles(ctx, profiles, sample.is_some()));
    Ok(findings.into())
}

/// Notes the replicas and Services that were not read.
fn gaps(ctx: &Context<'_>, sample: &EndpointsSample) {
    if sample.left > 0 {
        let part = format!(
            "the endpoints of {} more Service ports at each replica of destination: {}{}",
            sample.left,
            sample.left_out.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", "),
            and_more(sample.left.saturating_sub(NAMED)),
        );
        ctx.gap(metrics_missing(ctx, part));
    }
    let mut failed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &sample.failed {
        failed.entry(&one.pod).or_default().push(&one.error);
    }
    for (pod, errors) in failed {
        let why = Why::Failed { message: some(errors, NAMED) };
        ctx.gap(ctx.missing(Item::Diagnostics, why, format!("endpoints that {pod} returns")));
    }
}

/// Those that were read twice, with enough time in between. The others are noted as a gap.
fn twice<'a>(ctx: &Context<'_>, all: Vec<&'a ServiceEndpoints>) -> Result<Vec<&'a ServiceEndpoints>, Missing> {
    let is_apart = |one: &&ServiceEndpoints| one.again.is_some() && one.period.is_none_or(|period| period >= APART);
    let (read, once): (Vec<_>, Vec<_>) = all.into_iter().partition(is_apart);
    if !once.is_empty() {
        let replicas: BTreeSet<&str> = once.iter().map(|one| one.replica.as_str()).collect();
        let part = format!(
            "a second read of the endpoints of {}, at least {APART} seconds after the first",
            some(replicas, NAMED)
        );
        let missing = metrics_missing(ctx, part);
        if read.is_empty() {
            return Err(missing);
        }
        ctx.gap(missing);
    }
    Ok(read)
}

/// The addresses in EndpointSlices; `None` if destination may return others. Without a port, those with a port number
/// that a replica returned.
fn expected(
    service: &Service,
    port: u16,
    slices: &[EndpointSlice],
    answers: &[&ServiceEndpoints],
) -> Option<BTreeSet<Address>> {
    let slices: Vec<&EndpointSlice> = EndpointSlice::for_service(slices, service).collect();
    let mut all = BTreeSet::new();
    for one in tcp_ports(service).filter(|one| port == 0 || one.port == port) {
        all.extend(published(service, one, slices.iter().copied())?);
    }
    if port == 0 {
        let answered = |port: u16| {
            let mut endpoints = answers.iter().flat_map(|one| one.endpoints.iter().chain(one.again.iter().flatten()));
            endpoints.any(|endpoint| endpoint.port == port)
        };
        all.retain(|(_, port)| answered(*port));
    }
    Some(all)
}

fn difference<'a>(answer: &'a ServiceEndpoints, expected: &BTreeSet<Address>) -> ReplicaDifference<'a> {
    let of = |endpoint: &Endpoint| (endpoint.ip.clone(), endpoint.port);
    let again: BTreeSet<Address> = answer.again.iter().flatten().map(of).collect();
    let first: BTreeSet<Address> = answer.endpoints.iter().map(of).collect();
    let is_extra = |endpoint: &&Endpoint| {
        let address = of(endpoint);
        again.contains(&address) && !expected.contains(&address)
    };
    let is_lacking = |address: &&Address| !first.contains(*address) && !again.contains(*address);
    ReplicaDifference {
        extra: answer.endpoints.iter().filter(is_extra).collect(),
        lacking: expected.iter().filter(is_lacking).cloned().collect(),
    }
}

/// Whether replicas return different endpoints, and each of them the same ones twice.
fn disagree(answers: &[&ServiceEndpoints]) -> bool {
    let steady = answers.iter().filter(|one| one.again.as_ref() == Some(&one.endpoints));
    steady.map(|one| &one.endpoints).collect::<BTreeSet<_>>().len() > 1
}

fn of_replica(ctx: &Context<'_>, replica: &str, all: &[Outdated<'_>], is_live: bool) -> Finding {
    let namespace = ctx.namespaces().control_plane.as_str();
    let quoted = all.iter().take(QUOTED).flat_map(|one| {
        let object = object_of(one.answer);
        let quote = |text: String| Evidence::other(object.clone(), text);
        let extra = some_of(one.difference.extra.iter().map(|endpoint| described(endpoint)));
        let lacking = some_of(one.difference.lacking.iter().map(|(ip, port)| format!("{ip}:{port}")));
        [
            extra.map(|all| quote(format!("returned twice, in no EndpointSlice: {all}"))),
            lacking.map(|all| quote(format!("ready in an EndpointSlice, returned by neither read: {all}"))),
        ]
        .into_iter()
        .flatten()
    });
    let finding = ctx
        .finding(
            Subject::object(Kind::Pod, namespace, replica),
            "A destination replica returns other endpoints than EndpointSlices contain. Proxies connected to it \
             send requests to addresses that are gone, or not to new ones",
        )
        .evidences(quoted)
        .remedy(replaced(namespace, replica));
    // All replicas read the same objects: their common answer may have a cause that no check knows.
    finding.observed_if(is_live && !all.iter().all(|one| one.by_all))
}

fn of_service(ctx: &Context<'_>, service: &Service, answers: &[&ServiceEndpoints], is_live: bool) -> Finding {
    let (namespace, name) = service.metadata.key();
    let home = ctx.namespaces().control_plane.as_str();
    let common = |endpoint: &Endpoint| answers.iter().all(|one| one.endpoints.contains(endpoint));
    let quoted = answers.iter().map(|answer| {
        let own = some_of(answer.endpoints.iter().filter(|one| !common(one)).map(described));
        let own =
            own.map_or_else(|| "none of the endpoints that differ".to_owned(), |own| format!("returned twice: {own}"));
        Evidence::other(format!("{}, {}", answer.replica, object_of(answer)), own)
    });
    ctx.finding(
        Subject::object(Kind::Service, namespace, name),
        "Replicas of destination return different endpoints of this Service. Clients send requests to \
             different endpoints, depending on their replica",
    )
    .evidences(quoted)
    .remedy(restarted(home))
    .observed_if(is_live)
}

/// Services of which replicas return different profiles, and each of them the same one twice.
fn of_profiles<'a>(
    ctx: &Context<'_>,
    profiles: impl Iterator<Item = &'a ReplicaProfile>,
    is_live: bool,
) -> Vec<Finding> {
    let is_steady =
        |one: &&ReplicaProfile| one.again == Some(one.profile) && one.period.is_none_or(|period| period >= APART);
    let mut all: BTreeMap<(&str, &str), BTreeMap<u16, Vec<&ReplicaProfile>>> = BTreeMap::new();
    for one in profiles.filter(is_steady) {
        all.entry((&one.namespace, &one.service)).or_default().entry(one.port).or_default().push(one);
    }
    let home = ctx.namespaces().control_plane.as_str();
    let mut findings = Vec::new();
    for ((namespace, service), ports) in all {
        let differ = |one: &&Vec<&ReplicaProfile>| one.iter().any(|other| other.profile != one[0].profile);
        let quoted: Vec<Evidence> = ports
            .values()
            .filter(differ)
            .flatten()
            .take(QUOTED)
            .map(|one| {
                let port = if one.port == 0 { String::new() } else { format!(" port {}", one.port) };
                let ProfileAnswer { opaque, routes, splits } = one.profile;
                Evidence::other(
                    format!("{}, profile of Service {namespace}/{service}{port}", one.replica),
                    format!("returned twice: opaque {opaque}, {routes} routes, {splits} split destinations"),
                )
            })
            .collect();
        if quoted.is_empty() {
            continue;
        }
        let finding = ctx
            .finding(
                Subject::object(Kind::Service, namespace, service),
                "Replicas of destination return different profiles of this Service. Protocol, routes or splits depend \
                 on the replica of the client",
            )
            .evidences(quoted)
            .remedy(restarted(home));
        findings.push(finding.observed_if(is_live));
    }
    findings
}

fn restarted(home: &str) -> Remedy {
    Remedy::new().command(
        "Restart destination, so that every replica reads the objects again",
        kubectl().namespace(home).words("rollout restart deploy/linkerd-destination"),
    )
}

fn object_of(answer: &ServiceEndpoints) -> String {
    match answer.port {
        0 => format!("endpoints of Service {}", answer.service_name()),
        port => format!("endpoints of Service {} port {port}", answer.service_name()),
    }
}

fn described(endpoint: &Endpoint) -> String {
    let pod = if endpoint.pod.is_empty() { String::new() } else { format!(" (pod {})", endpoint.pod) };
    let identity = if endpoint.identity.is_empty() { "" } else { " with TLS" };
    format!("{}{pod}{identity}", endpoint.address())
}

fn some_of(all: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| some(&all, QUOTED))
}
