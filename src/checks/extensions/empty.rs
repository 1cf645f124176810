//! Checks whether a namespace has the label of an extension that is not installed.

use super::{absent, is_labelled, reinstall};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;

/// Reports namespaces with the label of an extension but no pod of it. `rows` are the failing rows of
/// `linkerd check`. Reads `namespaces` and `deployments.apps`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, rows: &'static [&'static str]) -> Judgement {
    let all = ctx.partial_list::<Namespace>()?.iter();
    let namespaces: Vec<&Namespace> = all.filter(|one| is_labelled(one, extension)).collect();
    if namespaces.is_empty() {
        ctx.complete_list::<Namespace>()?;
        return Err(absent(extension));
    }
    if !ctx.namespaces().empty_extensions.contains(&extension) {
        ctx.complete_list::<Deployment>()?;
        return Err(Unjudged::not_applicable(format!("the extension {extension} is installed")));
    }
    let staying = namespaces.iter().filter(|one| !one.is_terminating());
    let names: Vec<&str> = staying.map(|one| one.metadata.name.as_str()).collect();
    let findings = namespaces.iter().map(|namespace| {
        let name = &namespace.metadata.name;
        let finding = ctx
            .finding(
                Subject::object("Namespace", "", name),
                format!(
                    "the namespace has the label of {extension}, but {extension} is not installed: \
                     `linkerd check` expects it there and reports failures"
                ),
            )
            .evidence(Evidence::field(
                format!("Namespace {name}"),
                format!("metadata.labels[{EXTENSION_LABEL}]"),
                extension.name(),
            ))
            .evidence(Evidence::other(
                format!("Deployments and pods with {EXTENSION_LABEL}={extension}"),
                format!("none in {name}"),
            ))
            .fails_rows(rows.iter().copied())
            .rows_as(Severity::Error)
            .remedy(match namespace.is_terminating() {
                true => until_deleted(),
                false => label_or_install(ctx, Remedy::new(), extension, &names),
            });
        spared(finding, ctx.within_grace(namespace.metadata.creation_timestamp))
    });
    Ok(findings.collect())
}

/// A namespace that is being deleted accepts no objects, and loses its label when it is gone.
fn until_deleted() -> Remedy {
    Remedy::new().note(
        "Wait until the namespace is deleted; its label goes with it, and nothing can be installed into it \
         until then",
    )
}

/// Adds the two remedies: removing the label, or installing the extension.
pub(in crate::checks) fn label_or_install(
    ctx: &Context<'_>,
    remedy: Remedy,
    extension: Extension,
    namespaces: &[&str],
) -> Remedy {
    let remedy = remedy.run(
        StepKind::Annotation,
        format!("If you do not need {extension}, remove the label, or delete the namespace"),
        kubectl().words("label namespace").operands(namespaces.iter().copied()).arg(format!("{EXTENSION_LABEL}-")),
    );
    // The CLI installs an extension into a namespace of a fixed name.
    let home = format!("linkerd-{extension}");
    match namespaces.iter().all(|name| *name == home) {
        true => reinstall(ctx, remedy, extension, ", if you need it"),
        false => {
            let why = format!(", if you need it, after the label is removed: it gets the namespace {home}");
            reinstall(ctx, remedy, extension, &why)
        }
    }
}
