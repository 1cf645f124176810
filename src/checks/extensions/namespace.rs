//! Checks that the components of an extension have a namespace with its label.

use std::collections::BTreeMap;

use super::{absent, extension_namespace, is_labelled, reinstall_with};
use crate::checks::prelude::*;
use crate::checks::upgrade;
use crate::command::helm_set;
use crate::item::EXTENSION_LABEL;
use crate::objects::Link;

/// The Job of the charts that labels the namespace.
const JOB: &str = "namespace-metadata";
/// The chart value with its tolerations.
const TOLERATIONS: &str = "namespaceMetadata.tolerations";

/// Components of an extension in a namespace without its label, and no namespace with the label has any. Reads
/// `namespaces` and `deployments.apps`, and `pods` for the cause. Without Deployments, `links` show where multicluster
/// is used.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, links: &[Link]) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let home = extension_namespace(ctx, extension)?;
    if home.is_some_and(|home| is_labelled(home, extension)) {
        return Ok(Verdict::fine());
    }
    let own = |d: &&Workload| d.metadata.label(EXTENSION_LABEL) == Some(extension.name());
    let named = |d: &'_ Workload| (d.metadata.namespace.to_string(), d.metadata.name.to_string());
    let mut found: Vec<(String, String)> = deployments.iter().filter(own).map(named).collect();
    let mut kind = "Deployments";
    if found.is_empty() {
        kind = "Links";
        found = links.iter().map(|link| (link.metadata.namespace.to_string(), link.metadata.name.clone())).collect();
    }
    let mut components: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (namespace, name) in &found {
        components.entry(namespace).or_default().push(name);
    }
    if components.is_empty() {
        ctx.complete_list::<Deployment>()?;
        return Err(absent(extension));
    }
    let all = ctx.partial_list::<Namespace>()?;
    let elsewhere: Vec<&str> = all
        .iter()
        .filter(|namespace| is_labelled(namespace, extension) && !namespace.is_terminating())
        .map(|namespace| namespace.metadata.name.as_str())
        .collect();
    let findings = components.into_iter().map(|(namespace, names)| {
        let of = all.iter().find(|one| one.metadata.name == namespace);
        let set = of.and_then(|of| of.metadata.label(EXTENSION_LABEL));
        // The label of an extension without Deployments there is superfluous.
        let is_used = |other: &&str| {
            deployments
                .iter()
                .any(|d| d.metadata.namespace == namespace && d.metadata.label(EXTENSION_LABEL) == Some(*other))
        };
        let home = HomeWithoutLabel { extension, namespace, set, other: set.filter(is_used), elsewhere: &elsewhere };
        let listed = match kind {
            "Links" => "Links".to_owned(),
            _ => format!("{kind} in {namespace} with that label"),
        };
        let unplaced = unplaced(ctx, namespace);
        home.finding(ctx)
            .evidence(Evidence::field(
                format!("Namespace {namespace}"),
                format!("metadata.labels[{EXTENSION_LABEL}]"),
                set.unwrap_or("missing"),
            ))
            .evidences(elsewhere.iter().map(|elsewhere| {
                let object = format!("Namespace {elsewhere}");
                Evidence::field(object, format!("metadata.labels[{EXTENSION_LABEL}]"), extension.name())
            }))
            .evidence(Evidence::other(listed, names.join(", ")))
            .evidences(unplaced.as_ref().map(|(pod, why)| {
                let object = format!("Pod {namespace}/{} of Job {JOB}, which labels the namespace", pod.metadata.name);
                Evidence::field(object, "status.conditions[PodScheduled]", why.as_str())
            }))
            .remedy(home.remedy(ctx, unplaced.as_ref().map(|(_, why)| why.as_str())))
    });
    Ok(findings.collect())
}

/// A namespace with components of an extension, without its label.
struct HomeWithoutLabel<'a> {
    extension: Extension,
    namespace: &'a str,
    /// The value of the label, of another extension.
    set: Option<&'a str>,
    /// The same, if that extension has Deployments in the namespace.
    other: Option<&'a str>,
    /// Namespaces with the label but without components.
    elsewhere: &'a [&'a str],
}

impl HomeWithoutLabel<'_> {
    fn finding(&self, ctx: &Context<'_>) -> Finding {
        let HomeWithoutLabel { extension, namespace, other, elsewhere, .. } = self;
        let message = match (other, elsewhere) {
            (Some(other), _) => format!(
                "the namespace of the extension {extension} has the label of {other}, and the label holds one \
                 extension: the commands of {extension} fail, and linkerd check skips it"
            ),
            (None, []) => format!(
                "the namespace of the extension {extension} lacks its label: the extension's commands fail, and \
                 linkerd check skips it"
            ),
            (None, elsewhere) => format!(
                "the label of the extension {extension} is on another namespace, {}: the extension's commands and \
                 linkerd check do not find its components",
                elsewhere.join(", ")
            ),
        };
        let finding = ctx.finding(Subject::object("Namespace", "", namespace), message);
        if other.is_some() { finding.severity(Severity::Warning) } else { finding }
    }

    /// The steps that put the label where the components are. `why`: why the scheduler finds no node for the Job that
    /// sets it.
    fn remedy(&self, ctx: &Context<'_>, why: Option<&str>) -> Remedy {
        let HomeWithoutLabel { extension, namespace, set, other, elsewhere } = *self;
        if let Some(other) = other {
            return Remedy::new().note(format!(
                "Install {extension} into a namespace of its own, linkerd-{extension}, with the options of its \
                 installation. Then uninstall it from {namespace}, whose label names {other}"
            ));
        }
        let mut remedy = Remedy::new();
        if !elsewhere.is_empty() {
            remedy = remedy.run(
                StepKind::Annotation,
                "Remove the label from the namespace without the components",
                kubectl()
                    .words("label namespace")
                    .operands(elsewhere.iter().copied())
                    .arg(format!("{EXTENSION_LABEL}-")),
            );
        }
        let labelled = remedy.run(
            StepKind::Annotation,
            "Label the namespace",
            kubectl()
                .words(if set.is_some() { "label --overwrite namespace" } else { "label namespace" })
                .operand(namespace)
                .arg(format!("{EXTENSION_LABEL}={extension}")),
        );
        match why {
            Some(why) => placed(ctx, labelled, extension, why),
            None => labelled,
        }
    }
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
    let takes = upgrade::takes(ctx, extension.chart(), TOLERATIONS);
    match (takes, why.contains("taint")) {
        (true, true) => {
            let set = Arg::from(helm_set(&format!("{TOLERATIONS}[0].operator"), "Exists"));
            let why =
                format!(" with a toleration of all taints in {TOLERATIONS}, so that its Job labels the namespace");
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
