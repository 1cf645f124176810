//! Runs a script on a node's host, depending on its operating system. The whole script runs there, and no
//! part of it on the user's machine.

use crate::checks::host_system::talosctl;
use crate::checks::prelude::*;
use crate::command::{Line, program};
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

/// Adds a step that runs a script about CNI files as root. Without a shell on the host, it runs in a debug pod that
/// mounts the files: the directories of CNI files are writable also where the rest of the host is read-only.
pub(super) fn on_files(
    remedy: Remedy,
    system: Option<&System>,
    node: &str,
    text: &str,
    script: impl IntoIterator<Item = impl Into<Line>>,
) -> Remedy {
    match system.filter(|system| system.lacks_shell()) {
        Some(system) => remedy.run(
            StepKind::NodeFile,
            format!("{text} (runs as root in a debug pod, since {} has no shell)", system.title),
            Command::on_node_files(node, script),
        ),
        None => on_host(remedy, system, node, text, script),
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

/// Adds a step that drains and replaces a node that cannot be changed.
fn replaced(remedy: Remedy, node: &str, why: &str) -> Remedy {
    let drain = kubectl().words("drain --ignore-daemonsets --delete-emptydir-data").operand(Arg::node());
    remedy.run(StepKind::NodeFile, format!("Drain the node and replace it. {why}"), Command::about_node(node, [drain]))
}

/// Adds a read-only step about CNI files of a node, or none if the node is not known.
pub(super) fn look_at_files(
    remedy: Remedy,
    system: Option<&System>,
    node: &str,
    text: &str,
    script: impl IntoIterator<Item = impl Into<Line>>,
) -> Remedy {
    match node {
        "" => remedy.note(text),
        node if system.is_some_and(System::lacks_shell) => {
            remedy.run(StepKind::Note, text, Command::on_node_files(node, script))
        }
        node => remedy.run(StepKind::Note, text, Command::on_node(node, script)),
    }
}

/// Reads the journal of a node's container runtime. The host needs no shell for it.
pub(super) fn journal(system: Option<&System>) -> Line {
    if system.is_some_and(|system| system.id == "talos") {
        return talosctl().words("logs cri").into();
    }
    kubectl()
        .words("debug")
        .arg(Arg::known("node/").then(Arg::node()))
        .words("-i --profile=sysadmin --image=busybox -- chroot /host")
        .words("journalctl -u containerd -u crio --since -1h --no-pager")
        .into()
}

/// Adds a step that lists the binaries of every mode on a node.
pub(super) fn which_binaries(remedy: Remedy, system: Option<&System>, node: &str) -> Remedy {
    let text = "List the iptables binaries of the node";
    if system.is_some_and(System::lacks_shell) {
        let list = Line::shell("ls -l /host/usr/sbin /host/usr/bin /host/sbin | grep -E iptables");
        return match node {
            "" => remedy.note(text),
            node => remedy.run(StepKind::Note, text, Command::on_node_files(node, [list])),
        };
    }
    let all =
        ["iptables", "iptables-save", "iptables-nft", "iptables-nft-save", "iptables-legacy", "iptables-legacy-save"];
    let script = all.map(|name| program("command").words("-v").words(name).or_say(format!("no {name}")));
    look_at_files(remedy, system, node, text, script)
}

/// A text in the middle of a sentence.
fn decapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
