//! `cni-add-failed`: linkerd-cni refuses pods for any other reason than a dead token or a missing iptables binary.

use super::refusals::{failed_adds, refused};
use super::{cni_add_exit_127, cni_add_unauthorized, remedy};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::knowledge::Signature;
use crate::model::sandbox::FailedAdd;

/// Signatures that have a check of their own.
const ELSEWHERE: [&str; 2] = [cni_add_exit_127::SIGNATURE, cni_add_unauthorized::SIGNATURE];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let adds = failed_adds(ctx)?;
    let others = adds.iter().filter(|add| !ELSEWHERE.iter().any(|id| add.is(id)));
    let findings = others.map(|add| match add.signature {
        Some(signature) => known(ctx, add, signature),
        None => unknown(ctx, add),
    });
    Ok(findings.collect::<Vec<_>>().into())
}

fn known(ctx: &Context<'_>, add: &FailedAdd<'_>, signature: &Signature) -> Finding {
    let remedy = Remedy::verified_by(remedy::VERIFY);
    let remedy = match &signature.confirm {
        Some(confirm) => remedy.step(StepKind::Note, format!("Confirm it: {confirm}")),
        None => remedy,
    };
    refused(ctx, add, format!("pods cannot start because of linkerd-cni: {}", signature.cause))
        .parameter(signature.id.clone())
        .remedy(remedy.step(StepKind::Note, sentence(&signature.remedy)))
}

fn unknown(ctx: &Context<'_>, add: &FailedAdd<'_>) -> Finding {
    let node = if add.node.is_empty() { "<node>" } else { add.node };
    let remedy = Remedy::verified_by(remedy::VERIFY).run(
        StepKind::Note,
        "Read what the plugin wrote before it failed, in the journal of the node's container runtime",
        format!(
            "NODE={node}\nkubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh -c 'journalctl -u containerd -u crio --since -1h | grep -i linkerd-cni'"
        ),
    );
    let message = "pods cannot start: linkerd-cni fails to set up their network, with an answer that meshdoctor does not know";
    refused(ctx, add, message).parameter("unknown").remedy(remedy)
}

/// The text with a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
