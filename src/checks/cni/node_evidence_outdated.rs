//! `node-evidence-outdated`: a node's files were collected at another time than the other evidence.

use jiff::{SignedDuration, Timestamp};

use super::nodes::Nodes;
use super::remedy::with_node_files;
use crate::checks::prelude::*;
use crate::finding::Place;
use crate::model::node::NodeSnapshot;

/// Tolerated difference between clocks.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let nodes = Nodes::with_files(ctx)?;
    let dated = nodes.snapshots().filter_map(|snapshot| Some((snapshot, snapshot.meta.collected_at?)));
    let findings: Vec<Finding> = dated.filter_map(|(snapshot, taken)| outdated(ctx, snapshot, taken)).collect();
    Ok(findings.into())
}

fn outdated(ctx: &Context<'_>, snapshot: &NodeSnapshot, taken: Timestamp) -> Option<Finding> {
    let age = ctx.now().duration_since(taken);
    let (severity, message) = if age > ctx.param_duration("hours") {
        (
            Severity::Info,
            format!(
                "the node's files were collected more than {} before the other evidence: findings about the \
                 node may be outdated",
                ctx.param_text("hours")
            ),
        )
    } else if age < -SKEW {
        (
            Severity::Warning,
            "the node's files are dated after the time of the check: a clock or --at is wrong, so findings \
             about token expiry on the node may be wrong too"
                .to_owned(),
        )
    } else {
        return None;
    };
    let said = format!("{taken}, checked as of {}", ctx.now());
    let file = Place::File {
        node: snapshot.node.clone(),
        file: "meta.json".to_owned(),
        path: Some("collectedAt".to_owned()),
        line: None,
        column: None,
    };
    let remedy = Remedy::new();
    let remedy = match severity {
        Severity::Warning => remedy
            .step(StepKind::Note, "Compare the node's clock with the API server's")
            .step(StepKind::Note, "If the time of the capture is known, set it with --at"),
        Severity::Error | Severity::Info => remedy,
    };
    let remedy = remedy.command("Collect the files of the nodes again", with_node_files());
    let finding = ctx.finding(Subject::node(&snapshot.node), message).severity(severity);
    Some(finding.evidence(Evidence { place: file, said }).remedy(remedy))
}
