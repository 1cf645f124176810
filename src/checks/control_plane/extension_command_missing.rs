//! `extension-command-missing`: an extension is in the cluster, and the command that checks it is not on this machine.

use crate::checks::extensions::labelled_namespaces;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::EXTENSION_LABEL;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let cli = ctx.cli_version()?;
    let Some(commands) = ctx.cli_extensions() else {
        return Ok(Verdict::not_applicable(
            "no linkerd command was run, which would look for others beside itself",
        ));
    };
    let (known, minors) = (ctx.knowledge.linkerd_check(), ctx.knowledge.minors());
    let mut homes = labelled_namespaces(ctx)?;
    homes.retain(|extension, _| {
        let command = format!("linkerd-{extension}");
        !commands.contains(&command) && !known.is_built_in(extension, Some(cli), minors)
    });
    let findings = homes.into_iter().map(|(extension, homes)| {
        let command = format!("linkerd-{extension}");
        let beside = if commands.is_empty() { "none".to_owned() } else { commands.join(", ") };
        let finding = ctx
            .finding(
                Subject::object("Namespace", "", homes[0]),
                "the command of an extension is not on PATH: `linkerd check` asks nothing about the extension, and says so with \
                 a warning",
            )
            .parameter(&command)
            .evidence(Evidence::field(
                format!("Namespace {}", homes[0]),
                format!("metadata.labels[{EXTENSION_LABEL}]"),
                extension,
            ))
            .evidence(Evidence::other("commands of extensions on PATH", beside))
            .remedy(Remedy::verified_by(format!("command -v {command}")).step(
                StepKind::Note,
                format!(
                    "Put {command} on PATH, from where the extension comes, if its own questions are to be asked; where the \
                     extension is gone, take the label {EXTENSION_LABEL} off its namespace, or delete that"
                ),
            ));
        homes[1..].iter().fold(finding, |finding, home| finding.subject(Subject::object("Namespace", "", home)))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
