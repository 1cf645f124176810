//! `namespace-terminating`: a namespace of the mesh is being deleted.

use std::collections::BTreeSet;

use crate::checks::prelude::*;
use crate::checks::words::some;
use crate::item::EXTENSION_LABEL;
use crate::model::injection::INJECT;
use crate::model::installed::CONTROL_PLANE_NS;

/// The conditions that state why a deletion does not finish.
const BLOCKED: [&str; 4] = [
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceFinalizersRemaining",
    "NamespaceContentRemaining",
];
/// Maximum number of quoted pods.
const QUOTED: usize = 3;

/// The use of a namespace in the mesh.
enum Use<'a> {
    ControlPlane,
    Cni,
    Extension(&'a str),
    /// Of applications: evidence that it is meshed.
    Meshed(Evidence),
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
    let terminating = ctx.partial_list::<Namespace>()?.iter().filter(|namespace| namespace.is_terminating());
    let findings = terminating.filter_map(|namespace| {
        let used = used(ctx, namespace, pods)?;
        Some(finding(ctx, namespace, &used))
    });
    Ok(findings.collect())
}

/// The use of a namespace; `None` outside the mesh and outside the selected namespaces.
fn used<'a>(ctx: &Context<'_>, namespace: &'a Namespace, pods: &[Pod]) -> Option<Use<'a>> {
    let meta = &namespace.metadata;
    if meta.name == ctx.namespaces().control_plane {
        return Some(Use::ControlPlane);
    }
    if meta.label("linkerd.io/cni-resource").is_some() || meta.name == ctx.namespaces().cni {
        return Some(Use::Cni);
    }
    if let Some(extension) = meta.label(EXTENSION_LABEL) {
        return Some(Use::Extension(extension));
    }
    if !ctx.judges(&meta.name) {
        return None;
    }
    if let Some(value @ ("enabled" | "ingress")) = meta.annotation(INJECT) {
        let field = format!("metadata.annotations[{INJECT}]");
        return Some(Use::Meshed(Evidence::field(format!("Namespace {}", meta.name), field, value)));
    }
    let meshed: BTreeSet<&str> = pods
        .iter()
        .filter(|pod| pod.metadata.namespace == meta.name && !pod.is_finished())
        .filter(|pod| pod.metadata.label(CONTROL_PLANE_NS).is_some() && pod.spec.proxy().is_some())
        .map(|pod| pod.metadata.name.as_str())
        .collect();
    (!meshed.is_empty()).then(|| Use::Meshed(Evidence::other("Meshed pods", some(meshed, QUOTED))))
}

fn finding(ctx: &Context<'_>, namespace: &Namespace, used: &Use<'_>) -> Finding {
    let name = namespace.metadata.name.as_str();
    let since = namespace.metadata.deletion_timestamp.get();
    let stuck = since.is_some_and(|since| ctx.now().duration_since(since) > ctx.param_duration("minutes"));
    let (severity, message) = match used {
        Use::ControlPlane => (
            Severity::Error,
            "the control plane's namespace is being deleted: its components stop, and none of their pods or \
             objects can be created again until the deletion ends"
                .to_owned(),
        ),
        Use::Cni => (
            Severity::Warning,
            "the namespace of linkerd-cni is being deleted: if the mesh uses the plugin, new meshed pods fail or \
             start without traffic redirection"
                .to_owned(),
        ),
        Use::Extension(extension) => (
            Severity::Warning,
            format!("the namespace of {extension} is being deleted: the extension stops and cannot be repaired in it"),
        ),
        Use::Meshed(_) if stuck => (
            Severity::Warning,
            format!(
                "the deletion of a meshed namespace has not ended after {}: no pod or object can be created in it",
                ctx.param_text("minutes")
            ),
        ),
        Use::Meshed(_) => {
            (Severity::Info, "a meshed namespace is being deleted: no pod or object can be created in it".to_owned())
        }
    };
    let object = format!("Namespace {name}");
    let finding = ctx.finding(Subject::object("Namespace", "", name), message).severity(severity);
    let finding = match since {
        Some(since) => finding.evidence(Evidence::field(&object, "metadata.deletionTimestamp", since.to_string())),
        None => finding.evidence(Evidence::field(&object, "status.phase", "Terminating")),
    };
    let blocked = namespace.status.conditions.iter().filter(|one| one.status == "True");
    let blocked = blocked.filter(|one| BLOCKED.contains(&one.kind.as_str()));
    let finding = finding.evidences(blocked.map(|one| {
        let said = if one.message.is_empty() { one.reason.as_str() } else { one.message.as_str() };
        Evidence::field(&object, format!("status.conditions[type={}]", one.kind), said)
    }));
    let finding = match used {
        Use::Meshed(evidence) => finding.evidence(evidence.clone()),
        Use::ControlPlane | Use::Cni | Use::Extension(_) => finding,
    };
    finding.remedy(remedy(name, used))
}

fn remedy(name: &str, used: &Use<'_>) -> Remedy {
    let remedy = Remedy::new()
        .command(
            "Find out what blocks the deletion: the conditions name remaining objects, their finalizers and \
             APIs that do not answer",
            kubectl().words("describe namespace").operand(name),
        )
        .step(
            StepKind::Note,
            "Stop the tool that deleted the namespace (a GitOps tool that prunes, an uninstall): a started deletion \
             cannot be canceled",
        );
    match used {
        Use::ControlPlane => remedy.note(
            "When the namespace is gone, install the control plane again, with the same trust anchor, so that \
             running proxies trust it",
        ),
        Use::Cni => remedy.note("When the namespace is gone, install linkerd-cni again"),
        Use::Extension(_) => remedy.note("When the namespace is gone, install the extension again if it is needed"),
        Use::Meshed(_) => remedy,
    }
}
