//! `server-without-authorization`: a Server selects a port and authorizes no client.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::survey::{about, about_server, field, survey};
use super::workload_without_authorization::{
    admits_any, authorizations, denied_connections, note_different, note_unread,
};
use crate::checks::prelude::*;
use crate::checks::words::{and_more, workload_of};
use crate::model::availability::{Availability, ControlPlane};
use crate::model::policy::{Authorization, Inbound, NetworkMatch, TakenBy};
use crate::model::skipped::{IN, SkippedSubnets, skipped, skipped_subnets};
use crate::objects::Server;
use crate::version::Minor;

/// A Server that authorizes no client.
struct Closed<'a> {
    server: &'a Server,
    /// The workloads and ports that it selects.
    held: BTreeSet<(String, u16)>,
    /// The pods and ExternalWorkloads that deny all connections to one of the ports.
    denying: BTreeSet<(&'a str, &'a str)>,
    /// The first skipped address ranges of a denying pod.
    subnets: Option<SkippedSubnets>,
    /// The policies that no client can meet, and why.
    unmet: BTreeSet<String>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = survey(ctx)?;
    let mut closed: BTreeMap<(&str, &str), Closed<'_>> = BTreeMap::new();
    for group in survey.alike().filter(|group| ctx.judges(&group[0].1.meta.namespace)) {
        let taken = survey.index.inbound_taken(group[0].1).filter(|(_, inbound)| !admits_any(inbound));
        let taken: Vec<(u16, Inbound<'_>)> = taken.collect();
        for (pod, workload) in group.into_iter().filter(|_| !taken.is_empty()) {
            let owner = workload_of(workload.meta);
            let skips = pod.and_then(|pod| skipped(pod, IN, ctx.cni_skips()));
            for &(port, ref inbound) in &taken {
                let TakenBy::Server(server) = inbound.taken_by else { continue };
                // No policy applies to a port that does not pass the proxy.
                if skips.as_ref().is_some_and(|skips| skips.holds(port)) {
                    continue;
                }
                let new = || Closed {
                    server,
                    held: BTreeSet::new(),
                    denying: BTreeSet::new(),
                    subnets: None,
                    unmet: BTreeSet::new(),
                };
                let closed = closed.entry(server.metadata.key()).or_insert_with(new);
                closed.denying.insert(workload.meta.key());
                if closed.subnets.is_none() {
                    closed.subnets = pod.and_then(|pod| skipped_subnets(pod, port, ctx.cni_skips()));
                    note_different(ctx, closed.subnets.as_ref());
                    pod.iter().for_each(|pod| note_unread(ctx, pod));
                }
                closed.held.insert((owner.clone(), port));
                closed.unmet.extend(authorizations(inbound).filter_map(unmet));
            }
        }
    }
    if closed.is_empty() {
        return Ok(Vec::new().into());
    }
    let mut pods_of: BTreeMap<String, usize> = BTreeMap::new();
    let all = survey.pods.iter().map(|(_, workload)| workload).chain(&survey.external);
    for workload in all {
        *pods_of.entry(workload_of(workload.meta)).or_default() += 1;
    }
    let home = ctx.namespaces().control_plane.as_str();
    let control_plane = ControlPlane::new(ctx.optional_list::<Pod>(), home, ctx.complete_list::<Pod>().is_ok());
    let away = match control_plane.state("destination", "policy") {
        Availability::Down { since, .. } => since,
        Availability::Ready => None,
    };
    let minor = survey.version.as_ref().and_then(|version| version.minor(ctx.knowledge.minors()));
    // Some edges of 2.16 have no access policy.
    let is_stable = survey.version.as_ref().is_some_and(|version| version.release().is_some());
    let has_access_policy =
        minor.filter(|minor| is_stable || *minor != Minor::new(2, 16)).map(|minor| minor >= Minor::new(2, 16));
    let findings = closed.into_values().map(|closed| finding(ctx, &closed, &pods_of, away, has_access_policy));
    Ok(findings.collect())
}

/// The name of a policy, and why no client can meet it.
fn unmet(one: &Authorization<'_>) -> Option<String> {
    if one.admits_any() {
        return None;
    }
    let networks: Vec<String> = one.networks.iter().map(ToString::to_string).collect();
    let why = match one.networks.iter().all(NetworkMatch::is_empty) {
        true if networks.is_empty() => "it has no network".to_owned(),
        true => format!("no address is left of {}", networks.join(", ")),
        false => "its identities are blank".to_owned(),
    };
    Some(format!("{}: {why}", one.by.name()))
}

/// The denied connections: all of them only if every pod of the workloads denies them.
fn denied(closed: &Closed<'_>, pods_of: &BTreeMap<String, usize>) -> String {
    let workloads: BTreeSet<&String> = closed.held.iter().map(|(workload, _)| workload).collect();
    let all: usize = workloads.iter().filter_map(|workload| pods_of.get(*workload)).sum();
    let them = if closed.held.len() > 1 { "them" } else { "it" };
    let ranges = closed.subnets.as_ref().map(SkippedSubnets::list);
    denied_connections(them, (closed.denying.len(), all), ranges.as_deref())
}

/// The finding. `pods_of`: the number of meshed pods of each workload; `away`: since when the policy controller is not
/// ready; it has not read newer objects.
fn finding(
    ctx: &Context<'_>,
    closed: &Closed<'_>,
    pods_of: &BTreeMap<String, usize>,
    away: Option<Timestamp>,
    has_access_policy: Option<bool>,
) -> Finding {
    let Closed { server, held, unmet, subnets, .. } = closed;
    let meta = &server.metadata;
    let (first, port) = held.first().cloned().unwrap_or_default();
    let more = and_more(held.len().saturating_sub(1));
    let said = server.spec.access_policy.clone().unwrap_or_else(|| "deny, by default".to_owned());
    let authorizations = match unmet.is_empty() {
        true => "none in effect for it, its routes or its namespace".to_owned(),
        false => format!("no client can meet {}", unmet.iter().cloned().collect::<Vec<_>>().join("; ")),
    };
    // Such a name indicates that it is closed on purpose.
    let meant = ["deny", "block"].iter().any(|word| meta.name.contains(word));
    let created = meta.creation_timestamp.get();
    let is_unread = created.zip(away).is_some_and(|(created, away)| created >= away);
    let (severity, then) = match (meant, is_unread) {
        (true, _) => (Severity::Info, "are denied"),
        // Its clients may all have addresses whose connections bypass the proxy.
        (false, false) if subnets.is_some() => (Severity::Warning, "are denied"),
        (false, false) => (Severity::Error, "are denied"),
        (false, true) => (Severity::Warning, "will be denied when the policy controller is ready again"),
    };
    let message =
        format!("No policy authorizes any client of port {port} of {first}{more}. {} {then}", denied(closed, pods_of));
    about(ctx, Kind::Server, meta, message)
        .severity(severity)
        .evidence(field(Kind::Server, meta, "spec.accessPolicy", said))
        .evidence(field(Kind::Server, meta, "authorizations", authorizations))
        .evidences(subnets.iter().flat_map(SkippedSubnets::by))
        .remedy(remedy(meta, has_access_policy))
        .tie(about_server(&meta.namespace, &meta.name))
}

/// `has_access_policy`: whether the installed release reads a Server's access policy; `None` if it is unknown.
fn remedy(meta: &Meta, has_access_policy: Option<bool>) -> Remedy {
    const WRITE: &str = "Write an AuthorizationPolicy for the Server's clients";
    if has_access_policy == Some(false) {
        return Remedy::new()
            .step(
                StepKind::Note,
                format!(
                    "To restore connections at once, delete Server {} until an AuthorizationPolicy exists",
                    meta.name
                ),
            )
            .step(StepKind::Note, WRITE);
    }
    let audit = kubectl()
        .namespace(&meta.namespace)
        .words("patch servers.policy.linkerd.io")
        .operand(&meta.name)
        .words("--type=merge -p")
        .arg(serde_json::json!({"spec": {"accessPolicy": "audit"}}).to_string());
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            "Set the Server to audit: all clients may connect, and the proxies log connections that no policy \
             authorizes",
            audit,
        )
        .step(StepKind::Note, "Write an AuthorizationPolicy for the clients in the log")
        .step(StepKind::Note, "Set accessPolicy of the Server back to deny");
    match has_access_policy {
        Some(_) => remedy,
        None => remedy.step(
            StepKind::Note,
            "With a release before 2.16, which has no access policy, delete the Server until the AuthorizationPolicy \
             exists",
        ),
    }
}
