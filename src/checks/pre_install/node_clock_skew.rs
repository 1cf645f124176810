//! `node-clock-skew`: a ready node confirmed its condition at a time that this clock puts too far away.

use jiff::{SignedDuration, Timestamp};

use crate::checks::{Context, Judgement};
use crate::command::{Command, Line, kubectl, program};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::objects::Node;

/// A kubelet writes its node's status every 5 minutes, more or less a half of that, and looks every 10 seconds whether it
/// should; proxies put up with 10 seconds in a certificate's times.
const LATE: SignedDuration = SignedDuration::from_secs(7 * 60 + 30 + 10 + 10);
/// What `linkerd check` allows, either way. Nothing of a cluster is written ahead of time.
const ALLOWED: SignedDuration = SignedDuration::from_secs(5 * 60 + 10);

/// A node whose heartbeat is far away.
struct Off<'a> {
    name: &'a str,
    heartbeat: Timestamp,
    /// How long ago it was; negative where it lies ahead.
    away: SignedDuration,
}

impl Off<'_> {
    /// Whether every clock may be right for all that.
    fn may_be_healthy(&self) -> bool {
        !self.away.is_negative() && self.away <= LATE
    }

    fn evidence(&self, now: Timestamp) -> Evidence {
        let apart = self.away.abs();
        let side = if self.away.is_negative() { "after" } else { "before" };
        let said =
            format!("{}, {} min {} s {side} {now}", self.heartbeat, apart.as_mins(), apart.as_secs() % 60);
        Evidence::field(format!("Node {}", self.name), "status.conditions[Ready].lastHeartbeatTime", said)
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = ctx.seen::<Node>()?;
    if !ctx.knows_its_moment() {
        let part = "when they were listed, which --at can say";
        return Err(ctx.lacking(Item::List(Kind::Node), Why::NotCaptured, part).into());
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
            ctx.gap(ctx.lacking(Item::List(Kind::Node), Why::NotCaptured, part));
            continue;
        };
        let away = ctx.now().duration_since(heartbeat);
        if away.abs() > ALLOWED {
            off.push(Off { name, heartbeat, away });
        }
    }
    let (slow, skewed): (Vec<Off<'_>>, Vec<Off<'_>>) = off.into_iter().partition(Off::may_be_healthy);
    let mut findings: Vec<Finding> = if skewed.len() == judged && judged > 1 && is_one_shift(&skewed) {
        vec![this_clock(ctx, &skewed)]
    } else {
        skewed.iter().map(|off| of_node(ctx, off)).collect()
    };
    findings.extend(slow.iter().map(|off| late_report(ctx, off)));
    Ok(findings.into())
}

/// Whether a single clock that is wrong, the one that all are compared with, would make them look like this.
fn is_one_shift(off: &[Off<'_>]) -> bool {
    let aways = || off.iter().map(|off| off.away);
    aways().min().zip(aways().max()).is_some_and(|(least, most)| most - least <= LATE)
}

fn this_clock(ctx: &Context<'_>, off: &[Off<'_>]) -> Finding {
    let message = "the heartbeats of all nodes are off by about the same: the clock that they are compared with is wrong, \
                   that of \
                   the machine on which meshdoctor ran, or those of all nodes are";
    ctx.finding(Subject::thing("this machine's clock"), message)
        .likely()
        .parameter("this-clock")
        .evidences(off.iter().map(|off| off.evidence(ctx.now())))
        .remedy(Remedy::new().run(
            StepKind::Command,
            "See whether this machine's clock is synchronized",
            program("timedatectl"),
        ))
}

fn of_node(ctx: &Context<'_>, off: &Off<'_>) -> Finding {
    let message = if off.away.is_negative() {
        "the node's last heartbeat lies in the future: its clock is ahead or others are behind, and certificates signed there \
         are not valid yet elsewhere"
    } else {
        "the ready node's last heartbeat is older than a kubelet lets it become: its clock may be behind, and fresh \
         certificates are not valid there yet"
    };
    let remedy = Remedy::new()
        .run(
            StepKind::Command,
            "On the node, see whether its clock is synchronized, and have it be",
            Command::in_node_shell([Line::from(program("chronyc").words("tracking"))
                .and_shell("||")
                .call(program("timedatectl"))]),
        )
        .run(
            StepKind::Command,
            "Compare: its kubelet renews this Lease every 10 seconds by the node's clock. meshdoctor judges by the heartbeat and this \
             machine's clock alone, and reads neither Leases nor the API server's clock",
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
        .step(
            StepKind::Note,
            "If its kubelet is set to report less often than every 5 minutes (nodeStatusReportFrequency), this is no skew",
        );
    let finding = ctx.finding(Subject::node(off.name), message).likely();
    finding.evidence(off.evidence(ctx.now())).remedy(remedy)
}

/// What `linkerd check` warns of though a healthy kubelet reports so.
fn late_report(ctx: &Context<'_>, off: &Off<'_>) -> Finding {
    let message = "the node's last heartbeat is over 5 minutes old, as kubelets vary their interval: no sign of clock skew, \
                   but \
                   linkerd check warns of it";
    ctx.finding(Subject::node(off.name), message)
        .severity(Severity::Info)
        .rows_as(Severity::Warning)
        .explains_nothing()
        .parameter("late-report")
        .evidence(off.evidence(ctx.now()))
        .remedy(Remedy::new().step(StepKind::Note, "Nothing: the next heartbeat follows within minutes"))
}
