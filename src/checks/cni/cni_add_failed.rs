//! `cni-add-failed`: linkerd-cni refuses pods for any other reason than a dead token or a missing iptables binary.

use super::add_failures::{add_failures, refused};
use super::{cni_add_exit_127, cni_add_unauthorized, logs, remedy};
use crate::checks::{Context, Judgement};
use crate::finding::{Finding, Remedy, StepKind};
use crate::knowledge::Signature;
use crate::model::sandbox::AddFailure;

/// Signatures that have a check of their own.
const ELSEWHERE: [&str; 2] = [cni_add_exit_127::SIGNATURE, cni_add_unauthorized::SIGNATURE];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    logs::unmatched_logs(ctx);
    let adds = add_failures(ctx)?;
    let others = adds.iter().filter(|add| !ELSEWHERE.iter().any(|id| add.is(id)));
    let findings = others.map(|add| match add.signature {
        Some(signature) => known(ctx, add, signature),
        None => unknown(ctx, add),
    });
    Ok(findings.collect::<Vec<_>>().into())
}

fn known(ctx: &Context<'_>, add: &AddFailure<'_>, signature: &Signature) -> Finding {
    // What iptables said itself says more than how it ended.
    let (detail, meant) = match add.detail {
        Some((_, row)) => (Some(row), row),
        None => (None, signature),
    };
    let remedy = Remedy::verified_by(remedy::VERIFY);
    let remedy = match &meant.confirm {
        Some(confirm) => remedy.step(StepKind::Note, format!("Confirm it: {confirm}")),
        None => remedy,
    };
    let unsaid = detail.is_none() && signature.id.starts_with("exit-");
    let remedy = if unsaid { journal(remedy, add) } else { remedy };
    let finding = refused(ctx, add, format!("pods cannot start because linkerd-cni fails: {}", meant.cause))
        .parameter(signature.id.clone())
        .remedy(remedy.step(StepKind::Note, remedy::sentence(&meant.remedy)));
    detail.into_iter().fold(finding, |finding, row| finding.parameter(row.id.clone()))
}

/// How to get at iptables' own words.
fn journal(remedy: Remedy, add: &AddFailure<'_>) -> Remedy {
    let node = if add.node.is_empty() { "<node>" } else { add.node };
    remedy.run(
        StepKind::Note,
        "Provide the journal of the node's container runtime, which has the error of iptables itself",
        format!(
            "NODE={node}\nkubectl debug node/\"$NODE\" -i --profile=sysadmin --image=busybox -- chroot /host journalctl -u containerd -u crio --since -1h --no-pager > journal.txt\nmeshdoctor check --live --logs \"$NODE\"=journal.txt"
        ),
    )
}

fn unknown(ctx: &Context<'_>, add: &AddFailure<'_>) -> Finding {
    let node = if add.node.is_empty() { "<node>" } else { add.node };
    let remedy = Remedy::verified_by(remedy::VERIFY).run(
        StepKind::Note,
        "Read what the plugin logged before it failed, in the journal of the node's container runtime",
        format!(
            "NODE={node}\nkubectl debug node/\"$NODE\" -it --profile=sysadmin --image=busybox -- chroot /host sh -c 'journalctl -u containerd -u crio --since -1h | grep -i linkerd-cni'"
        ),
    );
    let message = "pods cannot start: linkerd-cni fails to set up their network, with an error that meshdoctor does not know";
    refused(ctx, add, message).parameter("unknown").remedy(remedy)
}
