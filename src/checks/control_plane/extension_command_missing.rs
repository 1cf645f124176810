//! `extension-command-missing`: an extension is installed in the cluster, but its CLI is not on this machine.

use crate::checks::extensions::labelled_namespaces;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let cli = ctx.cli_version()?;
    let Some(commands) = ctx.cli_extensions() else {
        return Err(Unjudged::not_applicable("the linkerd CLI was not run, so its extensions are not known"));
    };
    let (known, minors) = (ctx.knowledge.linkerd_check(), ctx.knowledge.minors());
    let mut homes = labelled_namespaces(ctx)?;
    homes.retain(|extension, _| {
        let command = format!("linkerd-{extension}");
        !commands.contains(&command) && !known.is_built_in(extension, Some(cli), minors)
    });
    let findings = homes.into_iter().map(|(extension, homes)| {
        let command = format!("linkerd-{extension}");
        let found = if commands.is_empty() { "none".to_owned() } else { commands.join(", ") };
        let finding = ctx
            .finding(
                Subject::object("Namespace", "", homes[0]),
                "the CLI of an extension is not on PATH: `linkerd check` warns and does not check the \
                extension",
            )
            .parameter(&command)
            .evidence(Evidence::field(
                format!("Namespace {}", homes[0]),
                format!("metadata.labels[{EXTENSION_LABEL}]"),
                extension,
            ))
            .evidence(Evidence::other("extension CLIs on PATH", found))
            .remedy(
                Remedy::new()
                    .note(format!("If `linkerd check` should check the extension, install {command} on PATH"))
                    .command(
                        "If the extension was removed, remove its label from the namespace, or delete the namespace",
                        Command::lines(homes.iter().map(|home| {
                            kubectl().words("label namespace").operand(*home).operand(format!("{EXTENSION_LABEL}-"))
                        })),
                    ),
            );
        homes[1..].iter().fold(finding, |finding, home| finding.subject(Subject::object("Namespace", "", home)))
    });
    Ok(findings.collect())
}
