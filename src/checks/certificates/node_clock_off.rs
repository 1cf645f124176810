//! `node-clock-off`: the clock of a node differs from those of the others, according to the Lease
//! of its kubelet.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::checks::host_system::{program_on, system_of, talosctl};
use crate::checks::prelude::*;
use crate::command::{Line, program};
use crate::objects::{Lease, OF_NODES};

/// A kubelet renews every ten seconds, and a node stays ready for forty more without a renewal; the
/// rest is a margin.
const ALLOWED: SignedDuration = SignedDuration::from_secs(60);
/// From this difference on, new certificates are rejected for minutes.
const MUCH: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>();
    let leases = ctx.partial_list::<Lease>()?;
    let renewed: BTreeMap<&str, Timestamp> = leases
        .iter()
        .filter(|lease| lease.metadata.namespace == OF_NODES)
        .filter_map(|lease| Some((lease.metadata.name.as_str(), lease.spec.renew_time?)))
        .collect();
    let ready = |node: &&Node| {
        node.status.conditions.iter().any(|condition| condition.kind == "Ready" && condition.status == "True")
    };
    let mut times: Vec<(&str, Timestamp)> = nodes?
        .iter()
        .filter(ready)
        .filter_map(|node| {
            let name = node.metadata.name.as_str();
            renewed.get(name).map(|time| (name, *time))
        })
        .collect();
    times.sort_by_key(|(name, time)| (*time, *name));
    let [(first, earliest), .., (last, latest)] = times.as_slice() else {
        return Err(Unjudged::not_applicable(
            "fewer than two ready nodes have a Lease, so there is nothing to compare",
        ));
    };
    if times.len() == 2 {
        let apart = latest.duration_since(*earliest);
        if apart <= ALLOWED {
            return Ok(Verdict::fine());
        }
        let message = format!(
            "the clocks of nodes {first} and {last} are {} apart: one of them is wrong, and peers reject \
                certificates signed under the other clock",
            words(apart)
        );
        let finding = ctx.finding(Subject::node(last), message).severity(severity(apart)).likely();
        return Ok(finding.evidences(times.iter().map(evidence)).remedy(remedy(ctx, last)).into());
    }
    let (_, middle) = times[times.len() / 2];
    let findings = times.iter().filter_map(|at| -> Option<Finding> {
        let (name, time) = at;
        let away = time.duration_since(middle);
        if away.abs() <= ALLOWED {
            return None;
        }
        let (side, then) = if away.is_negative() {
            ("behind", "new certificates are not valid there yet")
        } else {
            (
                "ahead",
                "certificates signed there are not valid elsewhere yet, and certificates expire \
                early there",
            )
        };
        let message = format!("the node's clock is {} {side} those of the other nodes: {then}", words(away.abs()));
        let others = times.iter().find(|(_, time)| *time == middle).map(evidence);
        Some(
            ctx.finding(Subject::node(name), message)
                .severity(severity(away.abs()))
                .evidence(evidence(at))
                .evidences(others)
                .remedy(remedy(ctx, name)),
        )
    });
    Ok(findings.collect())
}

fn severity(away: SignedDuration) -> Severity {
    if away >= MUCH { Severity::Error } else { Severity::Warning }
}

pub(super) fn words(away: SignedDuration) -> String {
    match (away.as_mins(), away.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

fn evidence((name, time): &(&str, Timestamp)) -> Evidence {
    Evidence::field(format!("Lease {OF_NODES}/{name}"), "spec.renewTime", time.to_string())
}

/// The steps that set the clock of a node; in a root shell on it if the node is not known.
pub(in crate::checks) fn synchronized(ctx: &Context<'_>, remedy: Remedy, node: Option<&str>) -> Remedy {
    const LOOK: &str = "On the node, check whether its clock is synchronized";
    const SET: &str = "If it is not, set the clock from the node's time servers";
    let system = node.and_then(|node| system_of(ctx, node));
    let tools = |chrony: &'static str, systemd: &'static str| {
        let script =
            Line::from(program("chronyc").words(chrony)).and_shell("||").call(program("timedatectl").words(systemd));
        match node {
            Some(node) => Command::on_node(node, [script]),
            None => Command::in_node_shell([script]),
        }
    };
    match (node, system.map(|system| system.id.as_str())) {
        (Some(node), Some("talos")) => remedy
            .command(
                "Compare the clock of the node with its time server",
                Command::about_node(node, [talosctl().words("time")]),
            )
            .step(
                StepKind::NodeFile,
                "If it is not synchronized, correct machine.time.servers in the machine configuration",
            ),
        (Some(node), Some("bottlerocket")) => remedy
            .command(LOOK, program_on(node, "chronyc tracking"))
            .command(SET, program_on(node, "chronyc makestep")),
        _ => remedy.command(LOOK, tools("tracking", "status")).command(SET, tools("makestep", "set-ntp true")),
    }
}

fn remedy(ctx: &Context<'_>, node: &str) -> Remedy {
    synchronized(ctx, Remedy::new(), Some(node))
}
