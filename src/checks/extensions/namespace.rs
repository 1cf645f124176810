//! Whether what an extension consists of has a namespace that says so.

use std::collections::BTreeSet;

use super::{absent, extension_namespace, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, StepKind, Subject};
use crate::item::{EXTENSION_LABEL, Extension, Kind};
use crate::model::objects::Workload;

/// Deployments of an extension, and no namespace with its label. Reads `namespaces` and `deployments.apps`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension) -> Judgement {
    let deployments = ctx.seen::<Workload>(Kind::Deployment)?;
    if extension_namespace(ctx, extension)?.is_some() {
        return Ok(Verdict::fine());
    }
    let own = |d: &&Workload| d.metadata.label(EXTENSION_LABEL) == Some(extension.name());
    let found: Vec<&Workload> = deployments.iter().filter(own).collect();
    let homes: BTreeSet<&str> = found.iter().map(|d| d.metadata.namespace.as_str()).collect();
    if homes.is_empty() {
        ctx.every::<Workload>(Kind::Deployment)?;
        return Ok(absent(extension));
    }
    let findings = homes.into_iter().map(|home| {
        let names: Vec<&str> = found
            .iter()
            .filter(|d| d.metadata.namespace == home)
            .map(|d| d.metadata.name.as_str())
            .collect();
        ctx.finding(
            Subject::object("Namespace", "", home),
            format!(
                "the namespace holds the extension {extension} and lacks the label by which it is found: commands of the \
                 extension end with an error, and linkerd check passes it over"
            ),
        )
        .evidence(Evidence::field(
            format!("Namespace {home}"),
            format!("metadata.labels[{EXTENSION_LABEL}]"),
            "not there",
        ))
        .evidence(Evidence::other(format!("Deployments in {home} with that label"), names.join(", ")))
        .remedy(remedy(extension).run(
            StepKind::Annotation,
            "Label the namespace",
            format!("kubectl label namespace {home} {EXTENSION_LABEL}={extension}"),
        ))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
