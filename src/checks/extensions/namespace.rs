//! Checks that the components of an extension have a namespace with its label.

use std::collections::BTreeSet;

use super::{absent, extension_namespace, reinstall_with};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::command::helm_set;
use crate::item::EXTENSION_LABEL;

/// The Job of the charts that labels the namespace.
const JOB: &str = "namespace-metadata";
/// The chart value with its tolerations.
const TOLERATIONS: &str = "namespaceMetadata.tolerations";

/// Deployments of an extension, and no namespace with its label. Reads `namespaces` and `deployments.apps`, and `pods`
/// for the cause.
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
        let unplaced = unplaced(ctx, namespace);
        let labelled = Remedy::new().run(
            StepKind::Annotation,
            "Label the namespace",
            kubectl()
                .words("label namespace")
                .operand(namespace)
                .arg(format!("{EXTENSION_LABEL}={extension}")),
        );
        let remedy = match unplaced {
            Some((_, ref why)) => placed(ctx, labelled, extension, why),
            None => labelled,
        };
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
        .evidences(unplaced.as_ref().map(|(pod, why)| {
            let object =
                format!("Pod {namespace}/{} of Job {JOB}, which labels the namespace", pod.metadata.name);
            Evidence::field(object, "status.conditions[PodScheduled]", why.as_str())
        }))
        .remedy(remedy)
    });
    Ok(findings.collect())
}

/// The pod of the Job that labels a namespace, if the scheduler finds no node for it, and its message.
fn unplaced<'a>(ctx: &Context<'a>, namespace: &str) -> Option<(&'a Pod, String)> {
    let is_of_job = |pod: &&Pod| {
        pod.metadata.namespace == namespace
            && pod.metadata.controller().is_some_and(|owner| owner.kind == "Job" && owner.name == JOB)
    };
    // An autoscaler may still add a node.
    let mut pods = ctx.optional_list::<Pod>().iter().filter(is_of_job);
    let pod = pods.find(|pod| pod.is_unschedulable() && !ctx.is_recent(pod.metadata.creation_timestamp))?;
    Some((pod, pod.scheduling_failure()?))
}

/// Adds the steps that let a node accept the Job.
fn placed(ctx: &Context<'_>, remedy: Remedy, extension: Extension, why: &str) -> Remedy {
    let takes = upgrade::takes(ctx, &format!("linkerd-{extension}"), TOLERATIONS);
    match (takes, why.contains("taint")) {
        (true, true) => {
            let set = Arg::from(helm_set(&format!("{TOLERATIONS}[0].operator"), "Exists"));
            let why = format!(
                " with a toleration of all taints in {TOLERATIONS}, so that its Job labels the namespace"
            );
            reinstall_with(ctx, remedy, extension, &why, &[set])
        }
        (true, false) => remedy.step(
            StepKind::ChartValue,
            "Set namespaceMetadata.nodeSelector or tolerations in the values of the extension's chart, so that a node \
             accepts Job namespace-metadata, and install the extension again",
        ),
        (false, _) => remedy,
    }
}
