//! `control-plane-pods-refused`: the API server rejects pods of a ReplicaSet in the control plane's
//! namespace.

use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::objects::ReplicaSet;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = ctx.seen::<ReplicaSet>();
    let namespace = &ctx.namespaces().control_plane;
    let mut findings = Vec::new();
    for set in sets?.iter().filter(|set| set.metadata.namespace == *namespace) {
        let Some(condition) = set.replica_failure() else { continue };
        let (kind, name) = match set.metadata.controller() {
            Some(owner) => (owner.kind.as_str(), owner.name.as_str()),
            None => ("ReplicaSet", set.metadata.name.as_str()),
        };
        let remedy = Remedy::new()
            .run(
                StepKind::Command,
                "Read the API server's messages about the last pods that it rejected",
                kubectl().namespace(namespace).words("describe replicaset").operand(&set.metadata.name),
            )
            .step(
                StepKind::Note,
                "Remove the cause of the rejection: a quota, a limit range, pod security or an admission \
                    webhook; the ReplicaSet retries automatically",
            );
        let object = format!("ReplicaSet {namespace}/{}", set.metadata.name);
        let said = format!("{}: {}", condition.reason, condition.message);
        let finding = ctx
            .finding(
                Subject::object(kind, namespace, name),
                "the API server rejects new control-plane pods: running pods are not replaced when they \
                    fail",
            )
            .evidence(Evidence::field(object, "status.conditions[ReplicaFailure]", said))
            .remedy(remedy);
        findings.push(finding);
    }
    Ok(findings.into())
}
