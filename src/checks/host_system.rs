//! The operating system of a node, for steps that run on its host.

use crate::checks::prelude::*;
use crate::command::{Call, program};
use crate::knowledge::System;

/// The operating system that a node reports, if it is known.
pub(super) fn system_of<'k>(ctx: &Context<'k>, node: &str) -> Option<&'k System> {
    let object = ctx.for_steps::<Node>().iter().find(|one| one.metadata.name == node)?;
    ctx.knowledge.platforms().system_by_os_image(&object.status.node_info.os_image)
}

/// A program of a node's host, without a shell there.
pub(super) fn program_on(node: &str, words: &'static str) -> Command {
    let debug = kubectl()
        .words("debug")
        .arg(Arg::known("node/").then(Arg::node()))
        .words("-it --profile=sysadmin --image=busybox -- chroot /host")
        .words(words);
    Command::about_node(node, [debug])
}

/// `talosctl` for the node of a command.
pub(super) fn talosctl() -> Call {
    let address = "jsonpath={.status.addresses[?(@.type==\"InternalIP\")].address}";
    let address = kubectl().words("get node").operand(Arg::node()).words("-o").arg(address);
    program("talosctl").option("-n", Arg::output(address))
}
