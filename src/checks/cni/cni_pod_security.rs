//! `cni-pod-security`: the namespace of linkerd-cni enforces a Pod Security level that its pods do not meet.

use super::installers::{installers, shown, subject};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Tie};
use crate::model::cni;
use crate::model::events;
use crate::objects::{Event, Namespace, Pod, Workload};

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
        let namespace = namespaces.iter().find(|namespace| namespace.metadata.name == *home);
        let level =
            namespace?.metadata.label(ENFORCE).filter(|level| matches!(*level, "baseline" | "restricted"))?;
        Some(finding(ctx, set, level))
    });
    Ok(findings.collect::<Vec<_>>().into())
}

fn finding(ctx: &Context<'_>, set: &Workload, level: &str) -> Finding {
    let (home, name) = (&set.metadata.namespace, &set.metadata.name);
    let refused = ctx.optional_list::<Event>().iter().filter(|event| {
        let about =
            event.about.kind == "DaemonSet" && event.about.namespace == *home && event.about.name == *name;
        about && event.reason == "FailedCreate" && event.message.contains("PodSecurity")
    });
    let refused = refused.max_by_key(|event| event.last).map(|event| events::quoted(shown(set), event));
    let finding = ctx
        .finding(
            subject(set),
            "the namespace of linkerd-cni enforces a Pod Security level that rejects its pods, because they \
             mount directories of the node. No new pod is created, so new nodes get no plugin",
        )
        .evidence(Evidence::field(format!("Namespace {home}"), format!("metadata.labels[{ENFORCE}]"), level))
        .evidences(refused)
        .remedy(Remedy::new().run(
            StepKind::Command,
            "Allow privileged pods in the namespace. If other applications share it, move linkerd-cni to its \
             own namespace",
            kubectl().words("label --overwrite namespace").operand(home.as_str()).arg(format!("{ENFORCE}=privileged")),
        ));
    ctx.optional_list::<Pod>()
        .iter()
        .filter(|pod| cni::is_installer_pod(pod) && pod.metadata.namespace == *home)
        .fold(finding, |finding, pod| finding.tie(Tie::Pod(home.to_string(), pod.metadata.name.clone())))
}
