//! `node-clock-skew`: a ready node's last heartbeat is too far from the reference clock.

use jiff::{SignedDuration, Timestamp};

use crate::checks::certificates::synchronized;
use crate::checks::prelude::*;
use crate::command::{Line, program};

/// A kubelet writes its node's status every 5 minutes, varied by half, and checks every 10 seconds whether it
/// is due; proxies tolerate 10 seconds in a certificate's times.
const LATE: SignedDuration = SignedDuration::from_secs(7 * 60 + 30 + 10 + 10);
/// Tolerance of `linkerd check` in both directions.
const ALLOWED: SignedDuration = SignedDuration::from_secs(5 * 60 + 10);

/// A node whose heartbeat is outside of the tolerance.
struct Off<'a> {
    name: &'a str,
    heartbeat: Timestamp,
    /// Age of the heartbeat; negative if it is in the future.
    away: SignedDuration,
}

impl Off<'_> {
    /// Whether a healthy kubelet explains the age.
    fn may_be_healthy(&self) -> bool {
        !self.away.is_negative() && self.away <= LATE
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let apart = self.away.abs();
        let side = if self.away.is_negative() { "after" } else { "before" };
        let said = format!("{}, {} min {} s {side} {now}", self.heartbeat, apart.as_mins(), apart.as_secs() % 60);
        Evidence::field(format!("Node {}", self.name), "status.conditions[Ready].lastHeartbeatTime", said)
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.partial_list::<Node>()?;
    if !ctx.knows_its_moment() {
        let part = "the time when they were listed, set with --at";
        return Err(ctx.missing(Item::List(Kind::Node), Why::NotCaptured, part).into());
    }
    let mut judged = 0;
    let mut off = Vec::new();
    for node in nodes {
        let name = &node.metadata.name;
        let ready = node.status.conditions.iter().find(|c| c.kind == "Ready" && c.status == "True");
        let Some(ready) = ready else { continue };
        judged += 1;
        let Some(heartbeat) = ready.last_heartbeat_time else {
            let part = format!("node {name}");
            ctx.gap(ctx.missing(Item::List(Kind::Node), Why::NotCaptured, part));
            continue;
        };
        let away = ctx.now().duration_since(heartbeat);
        if away.abs() > ALLOWED {
            off.push(Off { name, heartbeat, away });
        }
    }
    let (slow, skewed): (Vec<Off<'_>>, Vec<Off<'_>>) = off.into_iter().partition(Off::may_be_healthy);
    if ctx.is_time_given() && !skewed.is_empty() && skewed.len() == judged && is_one_shift(&skewed) {
        return Err(ctx.missing(Item::List(Kind::Node), Why::NotCaptured, other_time(&skewed)).into());
    }
    let mut findings: Vec<Finding> = if skewed.len() == judged && judged > 1 && is_one_shift(&skewed) {
        vec![this_clock(ctx, &skewed)]
    } else {
        skewed.iter().map(|off| of_node(ctx, off)).collect()
    };
    findings.extend(slow.iter().map(|off| late_report(ctx, off)));
    Ok(findings.into())
}

/// Whether a wrong reference clock alone would explain all differences.
fn is_one_shift(off: &[Off<'_>]) -> bool {
    let aways = || off.iter().map(|off| off.away);
    aways().min().zip(aways().max()).is_some_and(|(least, most)| most - least <= LATE)
}

/// The missing time of the list, if the given one does not fit the heartbeats.
fn other_time(off: &[Off<'_>]) -> String {
    let nearest = off.iter().map(|off| off.away).min_by_key(|away| away.abs()).unwrap_or_default();
    let side = if nearest.is_negative() { "before" } else { "after" };
    let minutes = nearest.abs().as_mins();
    format!("the time when they were listed: --at is {minutes} min {side} the last heartbeat of every node")
}

fn this_clock(ctx: &Context<'_>, off: &[Off<'_>]) -> Finding {
    let message = "the heartbeats of all nodes are off by about the same amount: the clock of the machine on \
                   which meshdoctor ran is wrong, or those of all nodes are";
    ctx.finding(Subject::thing("this machine's clock"), message)
        .likely()
        .parameter("this-clock")
        .evidences(off.iter().map(|off| off.evidence(ctx.now())))
        .remedy(Remedy::new().command("Check whether this machine's clock is synchronized", program("timedatectl")))
}

fn of_node(ctx: &Context<'_>, off: &Off<'_>) -> Finding {
    let message = if off.away.is_negative() {
        "the node's last heartbeat is in the future: its clock is ahead or others are behind. Certificates \
         signed there are not valid yet on other nodes"
    } else {
        "the last heartbeat of a ready node is older than a healthy kubelet allows: its clock may be behind, \
         so new certificates are not valid there yet"
    };
    let remedy = synchronized(ctx, Remedy::new(), Some(off.name))
        .command(
            "Compare the time with the node's Lease, which its kubelet renews every 10 seconds by the node's \
             clock",
            Command::lines([
                Line::from(program("date").words("-u +%Y-%m-%dT%H:%M:%SZ")),
                kubectl()
                    .namespace("kube-node-lease")
                    .words("get lease")
                    .operand(off.name)
                    .words("-o")
                    .arg("jsonpath={.spec.renewTime}")
                    .into(),
            ]),
        )
        .note(
            "If its kubelet reports less often than every 5 minutes (nodeStatusReportFrequency), ignore this \
             finding",
        );
    let finding = ctx.finding(Subject::node(off.name), message).likely();
    finding.evidence(off.evidence(ctx.now())).remedy(remedy)
}

/// A late heartbeat that `linkerd check` warns about although the kubelet may be healthy.
fn late_report(ctx: &Context<'_>, off: &Off<'_>) -> Finding {
    let message = "the node's last heartbeat is over 5 minutes old, because kubelets vary their interval: \
                   this is not clock skew, but linkerd check warns about it";
    ctx.finding(Subject::node(off.name), message)
        .severity(Severity::Info)
        .rows_as(Severity::Warning)
        .explains_nothing()
        .parameter("late-report")
        .evidence(off.evidence(ctx.now()))
        .remedy(Remedy::new().note("Wait: the next heartbeat follows within minutes"))
}
