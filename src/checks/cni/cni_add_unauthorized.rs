//! `cni-add-unauthorized`: the API server rejects linkerd-cni's token, so sandboxes cannot be created.

use super::add_failures::{add_failures, refused};
use super::pods::failed_deleted;
use super::remedy;
use crate::checks::prelude::*;

/// The signature of the answer.
pub(super) const SIGNATURE: &str = "unauthorized";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = add_failures(ctx)?;
    let failing: Vec<_> = adds.iter().filter(|add| add.is(SIGNATURE)).collect();
    if failing.is_empty() {
        return Ok(crate::checks::Verdict::fine());
    }
    let remedy = Remedy::new().run(
        StepKind::Note,
        "Provide the node's CNI files: meshdoctor then names the file, the line and the pod of the token",
        remedy::with_node_files(),
    );
    let remedy = failed_deleted(ctx, remedy::through_host_network(ctx, remedy), &failing);
    let message = "pods cannot start: the API server rejects the token that linkerd-cni authenticates with \
                   on their node";
    Ok(failing.iter().map(|add| refused(ctx, add, message).remedy(remedy.clone())).collect())
}
