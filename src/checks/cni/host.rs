//! How a command is run on a node's host, fitted to its operating system.

use crate::finding::{Remedy, StepKind};
use crate::knowledge::System;

/// Adds a step that works on the files of `$NODE`'s host; `NODE` was set by an earlier step, or is set by `node`.
pub(super) fn on_host(
    remedy: Remedy,
    system: Option<&System>,
    node: Option<&str>,
    text: &str,
    command: &str,
) -> Remedy {
    let set = node.map(|node| format!("NODE={node}\n")).unwrap_or_default();
    match system.map(|system| system.id.as_str()) {
        Some("talos") => remedy.step(
            StepKind::NodeFile,
            format!("Drain the node and replace it, for it has no shell. On another system one would: {text}"),
        ),
        Some("bottlerocket") => remedy.run(
            StepKind::NodeFile,
            format!("{text}. On Bottlerocket: from the control container run enter-admin-container, in the admin container sudo sheltie, and there the command below"),
            format!("{set}{command}"),
        ),
        Some(_) | None => remedy.run(
            StepKind::NodeFile,
            format!("{text} (as root on the node's host)"),
            format!(
                "{set}kubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh\n{command}"
            ),
        ),
    }
}
