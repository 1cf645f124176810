//! The step of a remedy that has pods created again: one way for each kind of workload. The words hold for every workload
//! of that kind, the command names the one.

use crate::command::{Command, kubectl};
use crate::finding::{Step, StepKind};
use crate::model::owners::Owner;

/// How the pods of a workload are created again; `because` is a clause that says what that brings.
pub(super) fn renew(owner: &Owner, pods: &[String], because: &str) -> Step {
    let namespace = &owner.namespace;
    let delete = || Some(kubectl().namespace(namespace).words("delete pod").operands(pods).into());
    let (kind, text, command): (_, _, Option<Command>) = match (owner.restartable(), owner.kind.as_str()) {
        (Some(target), _) => (
            StepKind::Command,
            "Restart the workload",
            Some(kubectl().namespace(namespace).words("rollout restart").operand(target).into()),
        ),
        (None, "Pod") => (
            StepKind::Note,
            "Delete the pod and create it again from its manifest, since nothing else does",
            None,
        ),
        (None, "Job" | "CronJob") => (
            StepKind::Command,
            "Delete the pod once its work may start again: the Job makes a new one",
            delete(),
        ),
        (None, _) => (StepKind::Command, "Delete the pods: what owns them makes new ones", delete()),
    };
    Step { kind, text: format!("{text}; {because}"), command }
}
