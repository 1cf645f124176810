//! `control-plane-pods-refused`: the API server rejects pods of a ReplicaSet in the control plane's
//! namespace.

use crate::checks::injection::denied;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::refusal::{self, Refusal};
use crate::objects::ReplicaSet;

/// A PriorityClass of every cluster.
const CRITICAL: &str = "system-cluster-critical";

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
        let refusal = refusal::read(&condition.message);
        let is_denied = matches!(refusal, Refusal::Denied { .. }) && refusal::names_linkerds(&condition.message);
        let remedy = match refusal {
            Refusal::Denied { .. } if is_denied => denied::remedy(ctx, &condition.message),
            Refusal::PriorityClass { name } => upgrade::with_values(
                ctx,
                Remedy::new(),
                &format!("Create the PriorityClass {name}, or set one that exists, such as {CRITICAL}"),
                Options::none().set("priorityClassName", CRITICAL),
            ),
            Refusal::Priority => denied::allow_priority(Remedy::new(), namespace),
            _ => Remedy::new()
                .command(
                    "Read the events of the ReplicaSet, which quote the API server",
                    kubectl().namespace(namespace).words("describe replicaset").operand(&set.metadata.name),
                )
                .note(
                    "Remove the cause: a quota, a limit range, pod security, an admission policy or an admission \
                     webhook",
                ),
        };
        let remedy = match kind {
            "Deployment" => remedy.command(
                "Then restart the rollout: after several failures the ReplicaSet waits up to 17 minutes until it \
                 retries",
                kubectl().namespace(namespace).words("rollout restart").operand(format!("deployment/{name}")),
            ),
            _ => remedy.note("The ReplicaSet retries automatically, within 17 minutes"),
        };
        let object = format!("ReplicaSet {namespace}/{}", set.metadata.name);
        let excerpt = denied::excerpt(&condition.message).filter(|_| is_denied);
        let said = format!("{}: {}", condition.reason, excerpt.unwrap_or(&condition.message));
        let message = match set.status.ready_replicas {
            0 => "the API server rejects new pods of the control plane, and no pod of this ReplicaSet is ready",
            _ => {
                "the API server rejects new pods of the control plane: running pods continue, but none can be \
                 replaced"
            }
        };
        let finding = ctx
            .finding(Subject::object(kind, namespace, name), message)
            .evidence(Evidence::field(object, "status.conditions[ReplicaFailure]", said))
            .remedy(remedy);
        findings.push(finding);
    }
    Ok(findings.into())
}
