//! Checks that the components of an extension have a namespace with its label.

use std::collections::BTreeSet;

use super::{absent, extension_namespace};
use crate::checks::{Context, Judgement, Verdict};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::{EXTENSION_LABEL, Extension};
use crate::objects::{Deployment, Workload};

/// Deployments of an extension, and no namespace with its label. Reads `namespaces` and `deployments.apps`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    if extension_namespace(ctx, extension)?.is_some() {
        return Ok(Verdict::fine());
    }
    let own = |d: &&Workload| d.metadata.label(EXTENSION_LABEL) == Some(extension.name());
    let found: Vec<&Workload> = deployments.iter().filter(own).collect();
    let namespaces: BTreeSet<&str> = found.iter().map(|d| d.metadata.namespace.as_str()).collect();
    if namespaces.is_empty() {
        ctx.complete_list::<Deployment>()?;
        return Err(absent(extension));
    }
    let findings = namespaces.into_iter().map(|namespace| {
        let names: Vec<&str> = found
            .iter()
            .filter(|d| d.metadata.namespace == namespace)
            .map(|d| d.metadata.name.as_str())
            .collect();
        ctx.finding(
            Subject::object("Namespace", "", namespace),
            format!(
                "the namespace of the extension {extension} lacks its label: the extension's commands \
                 fail, and linkerd check skips it"
            ),
        )
        .evidence(Evidence::field(
            format!("Namespace {namespace}"),
            format!("metadata.labels[{EXTENSION_LABEL}]"),
            "missing",
        ))
        .evidence(Evidence::other(format!("Deployments in {namespace} with that label"), names.join(", ")))
        .remedy(
            Remedy::new().run(
                StepKind::Annotation,
                "Label the namespace",
                kubectl()
                    .words("label namespace")
                    .operand(namespace)
                    .arg(format!("{EXTENSION_LABEL}={extension}")),
            ),
        )
    });
    Ok(findings.collect::<Vec<_>>().into())
}
