//! `cni-add-exit-127`: linkerd-cni runs an iptables binary that the node does not have.

use super::add_failures::{add_failures, refused};
use super::mode::mode_remedy_without_node;
use crate::checks::{Context, Judgement};

/// The signature of the answer.
pub(super) const SIGNATURE: &str = "exit-127";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = add_failures(ctx)?;
    let failing: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    let node = failing.iter().map(|add| add.node).find(|node| !node.is_empty()).unwrap_or_default();
    let remedy = mode_remedy_without_node(ctx, node, &failing);
    let message = "meshed pods cannot start: linkerd-cni runs an iptables binary that their node does not have";
    Ok(failing.iter().map(|add| refused(ctx, add, message).remedy(remedy.clone())).collect())
}
