//! `extension-namespace-twice`: several namespaces have the label of the same extension.

use std::collections::BTreeSet;

use crate::checks::extensions::labelled_namespaces;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let twice = labelled_namespaces(ctx)?.into_iter().filter(|(_, namespaces)| namespaces.len() > 1);
    let findings = twice.map(|(extension, namespaces)| finding(ctx, extension, &namespaces));
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, extension: &str, namespaces: &[&str]) -> Finding {
    let holders = holders(ctx, extension);
    let known_empty = ctx.namespaces().empty_extensions.iter().any(|one| one.name() == extension);
    let seen = namespaces.iter().map(|namespace| {
        let holds = if holders.contains(namespace) { ", has Deployments or pods of it" } else { "" };
        Evidence::field(
            format!("Namespace {namespace}"),
            format!("metadata.labels[{EXTENSION_LABEL}]"),
            format!("{extension}{holds}"),
        )
    });
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", namespaces[0]),
            "several namespaces have the label of the same extension: linkerd and the extension's CLI use \
            one of them, and not always the same one",
        )
        .parameter(extension)
        .evidences(seen)
        .remedy(remedy(extension, namespaces, &holders, known_empty));
    namespaces[1..].iter().fold(finding, |finding, name| finding.subject(Subject::object("Namespace", "", name)))
}

/// The namespaces that contain Deployments or pods of the extension.
fn holders<'a>(ctx: &Context<'a>, extension: &str) -> BTreeSet<&'a str> {
    let deployments = ctx.optional_list::<Deployment>().iter().map(|deployment| &deployment.metadata);
    let pods = ctx.optional_list::<Pod>().iter().map(|pod| &pod.metadata);
    let of_it = |meta: &&Meta| meta.label(EXTENSION_LABEL) == Some(extension);
    deployments.chain(pods).filter(of_it).map(|meta| meta.namespace.as_str()).collect()
}

/// Removes the label from the namespaces without the extension; if they are not known, the first step lists
/// its Deployments.
fn remedy(extension: &str, namespaces: &[&str], holders: &BTreeSet<&str>, known_empty: bool) -> Remedy {
    let (full, empty): (Vec<&str>, Vec<&str>) =
        namespaces.iter().copied().partition(|namespace| holders.contains(namespace));
    let unlabel = || kubectl().words("label namespace");
    let label = format!("{EXTENSION_LABEL}-");
    if full.is_empty() && known_empty {
        return Remedy::new().run(
            StepKind::Annotation,
            "Remove the label: the extension runs in none of them. To install it later, keep the label on \
            its namespace",
            unlabel().operands(empty).arg(label),
        );
    }
    if full.len() == 1 {
        return Remedy::new().run(
            StepKind::Annotation,
            "Remove the label from the namespaces in which the extension does not run",
            unlabel().operands(empty).arg(label),
        );
    }
    Remedy::new()
        .command(
            "Find the namespace in which the extension runs",
            kubectl().words("get deployments --all-namespaces").option("-l", format!("{EXTENSION_LABEL}={extension}")),
        )
        .run(
            StepKind::Annotation,
            "Set NAMESPACE to each of the other namespaces, and remove the label from it",
            unlabel().arg(Arg::placeholder("NAMESPACE")).arg(label),
        )
}
