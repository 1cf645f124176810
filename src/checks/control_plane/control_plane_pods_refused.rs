//! `control-plane-pods-refused`: the API server rejects pods of a ReplicaSet in the control plane's
//! namespace.

use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::objects::ReplicaSet;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let sets = ctx.partial_list::<ReplicaSet>();
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
                "Read the events of the ReplicaSet, which quote the API server",
                kubectl().namespace(namespace).words("describe replicaset").operand(&set.metadata.name),
            )
            .step(
                StepKind::Note,
                "Remove the cause: a quota, a limit range, pod security, an admission policy or an admission \
                 webhook",
            );
        let remedy = match kind {
            "Deployment" => remedy.run(
                StepKind::Command,
                "Then restart the rollout: after several failures the ReplicaSet waits up to 17 minutes until it \
                 retries",
                kubectl().namespace(namespace).words("rollout restart").operand(format!("deployment/{name}")),
            ),
            _ => remedy.step(StepKind::Note, "The ReplicaSet retries automatically, within 17 minutes"),
        };
        let object = format!("ReplicaSet {namespace}/{}", set.metadata.name);
        let said = format!("{}: {}", condition.reason, condition.message);
        let finding = ctx
            .finding(
                Subject::object(kind, namespace, name),
                "the API server rejects new pods of the control plane: running pods continue, but none can \
                be replaced",
            )
            .evidence(Evidence::field(object, "status.conditions[ReplicaFailure]", said))
            .remedy(remedy);
        findings.push(finding);
    }
    Ok(findings.into())
}
