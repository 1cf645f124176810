//! Runs a script on a node's host, depending on its operating system. The whole script runs there, and no
//! part of it on the user's machine.

use crate::command::{Arg, Command, Line, kubectl, program};
use crate::finding::{Remedy, StepKind};
use crate::knowledge::System;

/// Adds a step that runs a script as root on the host of a node.
pub(super) fn on_host(
    remedy: Remedy,
    system: Option<&System>,
    node: &str,
    text: &str,
    script: impl IntoIterator<Item = impl Into<Line>>,
) -> Remedy {
    match system.map(|system| system.id.as_str()) {
        Some("talos") => replaced(remedy, node, &format!("Talos has no shell for this: {text}")),
        Some("bottlerocket") => bottlerocket_shell(remedy, node).run(
            StepKind::NodeFile,
            format!("In that shell on the node's host: {}", decapitalized(text)),
            Command::in_node_shell(script),
        ),
        Some(_) | None => remedy.run(
            StepKind::NodeFile,
            format!("{text} (runs as root on the node's host)"),
            Command::on_node(node, script),
        ),
    }
}

/// Adds the step that opens a root shell on the host of a node with Bottlerocket, which has no shell for `chroot`.
fn bottlerocket_shell(remedy: Remedy, node: &str) -> Remedy {
    let provider = kubectl().words("get node").operand(Arg::node()).words("-o jsonpath={.spec.providerID}");
    let instance = provider.pipe(program("sed").arg("s|.*/||"));
    let session = program("aws").words("ssm start-session --target").arg(Arg::output(instance));
    remedy.run(
        StepKind::NodeFile,
        "Open a root shell on the node's host. Bottlerocket has one in its admin container: in this session run \
         enter-admin-container, then sudo sheltie. Without Session Manager, replace the node instead",
        Command::about_node(node, [session]),
    )
}

/// Adds a step that drains and replaces a node whose files cannot be changed.
pub(super) fn replaced(remedy: Remedy, node: &str, why: &str) -> Remedy {
    let drain = kubectl().words("drain --ignore-daemonsets --delete-emptydir-data").operand(Arg::node());
    remedy.run(
        StepKind::NodeFile,
        format!("Drain the node and replace it. {why}"),
        Command::about_node(node, [drain]),
    )
}

/// Adds a read-only step on the host of a node, or none if the node is not known.
pub(super) fn look(
    remedy: Remedy,
    node: &str,
    text: &str,
    script: impl IntoIterator<Item = impl Into<Line>>,
) -> Remedy {
    match node {
        "" => remedy.step(StepKind::Note, text),
        node => remedy.run(StepKind::Note, text, Command::on_node(node, script)),
    }
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

/// A text in the middle of a sentence.
fn decapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
