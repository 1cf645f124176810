//! `extension-namespace-twice`: several namespaces carry the label of one extension.

use std::collections::BTreeSet;

use crate::checks::extensions::labelled_namespaces;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{EXTENSION_LABEL, Kind};
use crate::model::objects::{Meta, Pod, Workload};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let twice = labelled_namespaces(ctx)?.into_iter().filter(|(_, namespaces)| namespaces.len() > 1);
    let findings = twice.map(|(extension, namespaces)| finding(ctx, extension, &namespaces));
    Ok(findings.collect::<Vec<_>>().into())
}

fn finding(ctx: &Context<'_>, extension: &str, namespaces: &[&str]) -> Finding {
    let holders = holders(ctx, extension);
    let seen = namespaces.iter().map(|namespace| {
        let holds = if holders.contains(namespace) { ", and Deployments or pods of it" } else { "" };
        Evidence::field(
            format!("Namespace {namespace}"),
            format!("metadata.labels[{EXTENSION_LABEL}]"),
            format!("{extension}{holds}"),
        )
    });
    let finding = ctx
        .finding(
            Subject::object("Namespace", "", namespaces[0]),
            "several namespaces carry the label of one extension: linkerd and the extension's own command find it in one of \
             them, and not always the same",
        )
        .parameter(extension)
        .evidences(seen)
        .remedy(remedy(extension, namespaces, &holders));
    namespaces[1..]
        .iter()
        .fold(finding, |finding, name| finding.subject(Subject::object("Namespace", "", name)))
}

/// The namespaces that hold Deployments or pods of the extension.
fn holders<'a>(ctx: &Context<'a>, extension: &str) -> BTreeSet<&'a str> {
    let deployments = ctx.hints::<Workload>(Kind::Deployment).iter().map(|deployment| &deployment.metadata);
    let pods = ctx.hints::<Pod>(Kind::Pod).iter().map(|pod| &pod.metadata);
    let of_it = |meta: &&Meta| meta.label(EXTENSION_LABEL) == Some(extension);
    deployments.chain(pods).filter(of_it).map(|meta| meta.namespace.as_str()).collect()
}

/// The label goes where nothing of the extension runs; where that is not known, looking comes first.
fn remedy(extension: &str, namespaces: &[&str], holders: &BTreeSet<&str>) -> Remedy {
    let remedy = Remedy::verified_by(format!("kubectl get namespaces -l {EXTENSION_LABEL}={extension}"));
    let (full, empty): (Vec<&str>, Vec<&str>) =
        namespaces.iter().copied().partition(|namespace| holders.contains(namespace));
    if full.len() == 1 {
        return remedy.run(
            StepKind::Annotation,
            "Take the label off the namespaces in which nothing of the extension runs",
            format!("kubectl label namespace {} {EXTENSION_LABEL}-", empty.join(" ")),
        );
    }
    remedy
        .run(
            StepKind::Command,
            "See in which of the namespaces the extension runs",
            format!("kubectl get deployments --all-namespaces -l {EXTENSION_LABEL}={extension}"),
        )
        .run(
            StepKind::Annotation,
            "Keep the label on that namespace, and take it off the others",
            format!("kubectl label namespace NAMESPACE {EXTENSION_LABEL}-"),
        )
}
