//! `cni-add-failed`: linkerd-cni fails for pods for another reason than a dead token or a missing iptables
//! binary.

use super::add_failures::{add_failures, refused};
use super::host;
use super::nodes::Nodes;
use super::{cni_add_exit_127, cni_add_unauthorized, logs, remedy};
use crate::checks::prelude::*;
use crate::command::{meshdoctor, program};
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
    Ok(findings.collect())
}

fn known(ctx: &Context<'_>, add: &AddFailure<'_>, signature: &Signature) -> Finding {
    // The error of iptables is more precise than the exit status.
    let (detail, meant) = match add.detail {
        Some((_, row)) => (Some(row), row),
        None => (None, signature),
    };
    let remedy = Remedy::new();
    let remedy = match &meant.confirm {
        Some(confirm) => remedy.note(format!("Confirm the cause: {confirm}")),
        None => remedy,
    };
    let unsaid = detail.is_none() && signature.id.starts_with("exit-");
    let remedy = if unsaid { journal(ctx, remedy, add) } else { remedy };
    let finding = refused(ctx, add, format!("pods cannot start because linkerd-cni fails: {}", meant.cause))
        .parameter(signature.id.clone())
        .remedy(remedy::of_signature(ctx, remedy, meant));
    detail.into_iter().fold(finding, |finding, row| finding.parameter(row.id.clone()))
}

/// Adds the step that provides the error of iptables itself.
fn journal(ctx: &Context<'_>, remedy: Remedy, add: &AddFailure<'_>) -> Remedy {
    let text = "Provide the journal of the node's container runtime, which has the error of iptables itself";
    if add.node.is_empty() {
        return remedy.note(text);
    }
    let read = host::journal(Nodes::for_steps(ctx).system(ctx, add.node)).to_file("journal.txt");
    let check = meshdoctor().words("check --live --logs").arg(Arg::node().then("=journal.txt"));
    remedy.run(StepKind::Note, text, Command::about_node(add.node, [read.and(check)]))
}

fn unknown(ctx: &Context<'_>, add: &AddFailure<'_>) -> Finding {
    let text = "Read the plugin's log lines before the failure, in the journal of the node's container runtime";
    let remedy = match add.node {
        "" => Remedy::new().note(text),
        node => {
            let journal = host::journal(Nodes::for_steps(ctx).system(ctx, node));
            let read = journal.pipe(program("grep").words("-i linkerd-cni"));
            Remedy::new().run(StepKind::Note, text, Command::about_node(node, [read]))
        }
    };
    let message = "pods cannot start: linkerd-cni fails to set up their network, with an error that \
                   meshdoctor does not know";
    refused(ctx, add, message).parameter("unknown").remedy(remedy)
}
