//! `cni-add-exit-127`: linkerd-cni runs an iptables binary that the node does not have.

use super::add_failures::{add_failures, refused};
use super::chart::ChartValue;
use super::host::look;
use super::pods::failed_deleted;
use super::remedy::{self, first_with};
use crate::checks::{Context, Judgement};
use crate::command::program;
use crate::finding::Remedy;
use crate::knowledge::IptablesMode;

/// The signature of the answer.
pub(super) const SIGNATURE: &str = "exit-127";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = add_failures(ctx)?;
    let failing: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    let node = failing.iter().map(|add| add.node).find(|node| !node.is_empty()).unwrap_or_default();
    let remedy = which_binaries(Remedy::new(), node);
    let words = format!(
        "Set iptablesMode of linkerd-cni to a mode whose two binaries the node has. plain runs iptables and \
         iptables-save, and needs plugin {} or newer",
        first_with(ctx, IptablesMode::Plain)
    );
    let remedy = remedy::changed(ctx, remedy, words, None, &[ChartValue::new("iptablesMode", "plain")]);
    let remedy = failed_deleted(ctx, remedy, &failing);
    let message =
        "meshed pods cannot start: linkerd-cni runs an iptables binary that their node does not have";
    Ok(failing.iter().map(|add| refused(ctx, add, message).remedy(remedy.clone())).collect::<Vec<_>>().into())
}

/// Adds a step that lists the binaries of every mode on a node.
pub(super) fn which_binaries(remedy: Remedy, node: &str) -> Remedy {
    let all = [
        "iptables",
        "iptables-save",
        "iptables-nft",
        "iptables-nft-save",
        "iptables-legacy",
        "iptables-legacy-save",
    ];
    let script = all.map(|name| program("command").words("-v").words(name).or_say(format!("no {name}")));
    look(remedy, node, "List the iptables binaries of the node", script)
}
