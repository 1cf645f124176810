//! `cni-pod-security`: the namespace of linkerd-cni enforces a Pod Security level that its pods do not meet.

use super::cni_ds_coverage::{bare, pods_restarted};
use super::installers::{installers, pods_refused, refused_by_pod_security, shown, subject};
use super::nodes::cni_enabled;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::cni;
use crate::model::events;
use crate::objects::Event;

/// The label with the Pod Security level of a namespace.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let namespaces = ctx.partial_list::<Namespace>()?;
    let sets = installers(ctx)?;
    if sets.is_empty() {
        return Err(Unjudged::not_applicable("linkerd-cni is not installed"));
    }
    let findings = sets.iter().filter_map(|set| {
        let home = &set.metadata.namespace;
        let namespace = namespaces.iter().find(|namespace| namespace.metadata.name == *home)?;
        match namespace.metadata.label(ENFORCE) {
            Some("baseline" | "restricted") => {}
            Some(_) => return None,
            // The level may be the default of the API server, which only its answer shows.
            None => {
                ctx.or_note(ctx.complete_list::<Event>());
                refused_by_pod_security(ctx, set)?;
            }
        }
        Some(finding(ctx, set, namespace))
    });
    Ok(findings.collect())
}

fn finding(ctx: &Context<'_>, set: &Workload, namespace: &Namespace) -> Finding {
    let home = &set.metadata.namespace;
    let refused = refused_by_pod_security(ctx, set).map(|event| events::quoted(shown(set), event));
    let field = |label: &str, value: &str| {
        Evidence::field(format!("Namespace {home}"), format!("metadata.labels[{label}]"), value)
    };
    let writer = writer(ctx, namespace);
    let extension = namespace.metadata.label(EXTENSION_LABEL).filter(|_| writer.is_some());
    let finding = ctx
        .finding(
            subject(set),
            "the namespace of linkerd-cni enforces a Pod Security level that rejects its pods, because they \
             mount directories of the node. No new pod is created, so new nodes get no plugin",
        )
        .evidences(namespace.metadata.label(ENFORCE).map(|level| field(ENFORCE, level)))
        .evidences(extension.map(|name| field(EXTENSION_LABEL, name)))
        .evidences(refused)
        .remedy(remedy(ctx, home, writer.as_deref()))
        .tie(pods_refused(set));
    ctx.optional_list::<Pod>()
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && pod.metadata.namespace == *home)
        .fold(finding, |finding, pod| finding.tie(Tie::Pod(home.to_string(), pod.metadata.name.clone())))
}

/// The part of Linkerd that writes the level of a namespace at each upgrade, if it is known to write this one.
fn writer(ctx: &Context<'_>, namespace: &Namespace) -> Option<String> {
    let meta = &namespace.metadata;
    if meta.label(ENFORCE) != Some("restricted") || cni_enabled(ctx) != Some(true) {
        return None;
    }
    match meta.label(EXTENSION_LABEL) {
        Some(extension) => Some(format!("the Job namespace-metadata of the extension {extension}")),
        None => (meta.name == ctx.namespaces().control_plane).then(|| "the control plane's chart".to_owned()),
    }
}

fn remedy(ctx: &Context<'_>, home: &str, writer: Option<&str>) -> Remedy {
    let allow = kubectl().words("label --overwrite namespace").operand(home).arg(format!("{ENFORCE}=privileged"));
    let remedy = match writer {
        Some(writer) => Remedy::new()
            .note(format!(
                "Move linkerd-cni to its own namespace: {writer} sets the level restricted again at each upgrade, \
                     since cniEnabled is true"
            ))
            .run(StepKind::Command, "Until then, allow privileged pods in the namespace", allow),
        None => Remedy::new()
            .run(StepKind::Command, "Allow privileged pods in the namespace", allow)
            .step(StepKind::Note, "Or, if other applications share it, move linkerd-cni to its own namespace"),
    };
    // Only a complete list of pods proves that a node has no installer.
    let without = bare(ctx, ctx.complete_list::<Pod>().unwrap_or_default(), ctx.optional_list::<Node>());
    let nodes: Vec<&str> = without.iter().map(|(node, _)| node.metadata.name.as_str()).collect();
    if nodes.is_empty() { remedy } else { pods_restarted(ctx, remedy, &nodes) }
}
