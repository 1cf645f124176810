//! `node-clock-skew`: a ready node confirmed its condition at a time that this clock puts too far away.

use jiff::SignedDuration;

use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::model::objects::Node;
use crate::source::Why;

/// A kubelet writes its node's status at least every 5 minutes; proxies put up with 10 seconds in a certificate's times.
const ALLOWED: SignedDuration = SignedDuration::from_secs(5 * 60 + 10);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    if let Some(verdict) = super::not_the_moment(ctx) {
        return Ok(verdict);
    }
    let nodes = ctx.seen::<Node>(Kind::Node)?;
    if !ctx.knows_its_moment() {
        let part = "when they were listed, which --at can say";
        return Err(ctx.lacking(Item::List(Kind::Node), Why::NotCaptured, part));
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
            off.push((name, heartbeat, away));
        }
    }
    let all = off.len() == judged && judged > 1;
    let findings: Vec<_> = off
        .into_iter()
        .map(|(name, heartbeat, away)| {
            let remedy = Remedy::verified_by("meshdoctor check --pre");
            let remedy = if all {
                remedy.run(
                    StepKind::Command,
                    "All nodes are off: look first at the clock of the machine that meshdoctor runs on",
                    "timedatectl",
                )
            } else {
                remedy
            };
            let remedy = remedy
                .run(
                    StepKind::Command,
                    "On the node, see whether its clock is synchronised, and have it be",
                    "chronyc tracking || timedatectl",
                )
                .step(
                    StepKind::Note,
                    "If its kubelet is set to report less often than every 5 minutes (nodeStatusReportFrequency), this is no skew",
                );
            let message = if away.is_negative() {
                "the node's last heartbeat lies in the future: its clock is ahead or others are behind, and certificates signed there are not valid yet elsewhere"
            } else {
                "the ready node's last heartbeat is over 5 minutes old: its clock may be behind, and fresh certificates are not valid there yet"
            };
            let apart = away.abs();
            let said = format!(
                "{heartbeat}, {} min {} s {} {}",
                apart.as_mins(),
                apart.as_secs() % 60,
                if away.is_negative() { "after" } else { "before" },
                ctx.now()
            );
            ctx.finding(Subject::node(name), message)
                .likely()
                .evidence(Evidence::field(
                    format!("Node {name}"),
                    "status.conditions[Ready].lastHeartbeatTime",
                    said,
                ))
                .remedy(remedy)
        })
        .collect();
    Ok(findings.into())
}
