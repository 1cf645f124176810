//! `cni-add-exit-127`: linkerd-cni runs an iptables binary that the node does not have.

use super::add_failures::{add_failures, refused};
use super::remedy::{self, delete_failed, first_with};
use crate::checks::{Context, Judgement};
use crate::finding::{Remedy, StepKind};
use crate::knowledge::IptablesMode;

/// The signature of the answer.
pub(super) const SIGNATURE: &str = "exit-127";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = add_failures(ctx)?;
    let refusals: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    let node = refusals.iter().map(|add| add.node).find(|node| !node.is_empty()).unwrap_or("<node>");
    let remedy = Remedy::verified_by(remedy::VERIFY).run(
        StepKind::Note,
        "See which iptables binaries the node has",
        which_binaries(node),
    );
    let words = format!(
        "Set iptablesMode of linkerd-cni to a mode whose two binaries the node has. plain runs iptables and iptables-save; it needs plugin {} or newer, and older ones fail for every pod with it",
        first_with(ctx, IptablesMode::Plain)
    );
    let remedy = remedy::changed(ctx, remedy, words, None, &["iptablesMode=plain".to_owned()]).run(
        StepKind::Command,
        "Delete the pods that could not start",
        delete_failed(&refusals),
    );
    let message =
        "meshed pods cannot start: linkerd-cni runs an iptables binary that their node does not have";
    Ok(refusals
        .iter()
        .map(|add| refused(ctx, add, message).remedy(remedy.clone()))
        .collect::<Vec<_>>()
        .into())
}

/// Looks for the binaries of every mode on a node.
pub(super) fn which_binaries(node: &str) -> String {
    format!(
        "NODE={node}\nkubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh -c 'command -v iptables iptables-save iptables-nft iptables-nft-save iptables-legacy iptables-legacy-save'"
    )
}
