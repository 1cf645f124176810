//! `injected-container-not-started`: the kubelet or the runtime cannot start a container that the injector
//! added, or the kernel kills it before it has done its work.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::trust_roots::{names_absent_roots, roots_absent};
use crate::checks::upgrade::{self, Options};
use crate::model::refusal::LINKERDS;
use crate::objects::ContainerStatus;
use crate::objects::container::PROXY_CONTAINER;

/// Maximum number of quoted pods per workload.
const QUOTED: usize = 3;
/// The label of a node with its architecture.
const ARCHITECTURE: &str = "kubernetes.io/arch";

/// Why a container does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// Its image is for another architecture.
    Architecture,
    /// It exceeds its memory limit.
    Memory,
    /// The pod forbids the user that it runs as.
    User,
    /// Another error of the kubelet or the runtime.
    Other,
}

/// A container that does not start.
struct UnstartedContainer<'a> {
    pod: &'a Pod,
    status: &'a ContainerStatus,
    evidence: Evidence,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let mut groups: BTreeMap<(Owner, &str, Reason), Vec<UnstartedContainer<'_>>> = BTreeMap::new();
    let home = ctx.namespaces().control_plane.as_str();
    for pod in ctx.partial_list::<Pod>()? {
        let namespace = &pod.metadata.namespace;
        if pod.is_finished()
            || pod.metadata.deletion_timestamp.is_some()
            || !(*namespace == home || ctx.judges(namespace))
        {
            continue;
        }
        let all = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
        for status in all.filter(|status| LINKERDS.contains(&status.name.as_str()) && !status.ready) {
            if let Some((reason, path, said)) = reason(status) {
                let object = format!("Pod {namespace}/{}", pod.metadata.name);
                let evidence = Evidence::field(object, format!("{path} of container {}", status.name), said);
                let group = groups.entry((ctx.owners().owner(pod), status.name.as_str(), reason));
                group.or_default().push(UnstartedContainer { pod, status, evidence });
            }
        }
    }
    let findings = groups.iter().map(|((owner, _, reason), failed)| finding(ctx, owner, *reason, failed));
    Ok(findings.collect())
}

/// Why a container does not start, with the field and the text that show it.
fn reason(status: &ContainerStatus) -> Option<(Reason, &'static str, String)> {
    if let Some(waiting) = status.state.waiting() {
        let is_start = matches!(
            waiting.reason.as_str(),
            "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError"
        );
        if is_start {
            let said = format!("{}: {}", waiting.reason, waiting.message);
            return Some((of_message(&waiting.message).unwrap_or(Reason::Other), "state.waiting", said));
        }
    }
    let now = status.state.terminated().map(|ended| ("state.terminated", ended));
    let (path, ended) =
        now.or_else(|| status.last_state().terminated().map(|ended| ("lastState.terminated", ended)))?;
    let said = format!("exit code {}, {}: {}", ended.exit_code, ended.reason, ended.message.trim());
    if ended.reason == "OOMKilled" && status.name != PROXY_CONTAINER {
        let said = format!("exit code {}, {}", ended.exit_code, ended.reason);
        return Some((Reason::Memory, path, said));
    }
    match of_message(&ended.message) {
        Some(reason) => Some((reason, path, said)),
        None if matches!(ended.reason.as_str(), "StartError" | "ContainerCannotRun") => {
            Some((Reason::Other, path, said))
        }
        None => None,
    }
}

/// A reason that the text of the kubelet or the runtime shows.
fn of_message(message: &str) -> Option<Reason> {
    let users = ["breaks non-root policy", "image will run as root", "runAsNonRoot and image has non-numeric user"];
    match () {
        () if message.contains("exec format error") => Some(Reason::Architecture),
        () if users.iter().any(|piece| message.contains(piece)) => Some(Reason::User),
        () => None,
    }
}

fn finding(ctx: &Context<'_>, owner: &Owner, reason: Reason, group: &[UnstartedContainer<'_>]) -> Finding {
    let names: Vec<String> = group.iter().map(|failed| failed.pod.metadata.name.clone()).collect();
    let container = group[0].status.name.as_str();
    let why = match reason {
        Reason::Architecture => "its image is for another architecture than the node's",
        Reason::Memory => "it needs more memory than its limit",
        Reason::User => "the pod requires that its containers do not run as root, and this one does",
        Reason::Other => "the kubelet or the container runtime reports an error",
    };
    let message = format!("{container} does not start, so the pod does not start: {why}");
    let spec = group[0].pod.spec.container(container);
    let object = format!("Pod {}/{}", owner.namespace, group[0].pod.metadata.name);
    let of_spec = spec.and_then(|container| match reason {
        Reason::Architecture => Some(("image", container.image.to_string())),
        Reason::Memory => {
            let limit = container.resources.as_ref()?.limits.memory.to_string();
            (!limit.is_empty()).then_some(("resources.limits.memory", limit))
        }
        Reason::User | Reason::Other => None,
    });
    let of_spec = of_spec.map(|(path, said)| Evidence::field(object, format!("{path} of container {container}"), said));
    let node = ctx.optional_list::<Node>().iter().find(|node| node.metadata.name == *group[0].pod.node_name.as_str());
    let of_node = node.filter(|_| reason == Reason::Architecture).and_then(|node| {
        let path = format!("metadata.labels[{ARCHITECTURE}]");
        Some(Evidence::field(format!("Node {}", node.metadata.name), path, node.metadata.label(ARCHITECTURE)?))
    });
    let lacks_roots = group.iter().any(|failed| names_absent_roots(&failed.evidence.said));
    let finding = ctx.finding(owner.subject(names.clone()), message);
    let finding = if lacks_roots { finding.tie(roots_absent()) } else { finding };
    finding
        .parameter(container)
        .evidences(group.iter().take(QUOTED).map(|failed| failed.evidence.clone()))
        .evidences(of_spec)
        .evidences(of_node)
        .remedy(remedy(ctx, owner, (reason, container), &names))
}

fn remedy(ctx: &Context<'_>, owner: &Owner, (reason, container): (Reason, &str), names: &[String]) -> Remedy {
    let remedy = Remedy::new();
    let remedy = match reason {
        Reason::Architecture => remedy
            .step(
                StepKind::Note,
                "Use an image for the architectures of all nodes: Linkerd's own images have amd64 and arm64, a mirror \
             may have copied only one",
            )
            .step(
                StepKind::Note,
                "Or keep the pods on nodes of the image's architecture, by a node selector on \
                kubernetes.io/arch",
            ),
        Reason::Memory => remedy.step(
            StepKind::Annotation,
            "Raise the memory limit that the injector writes: config.linkerd.io/proxy-memory-limit on the \
             pod template, or proxy.resources.memory.limit in the values of the control plane. Releases \
             before 2.16 have proxyInit.resources for linkerd-init",
        ),
        Reason::User => {
            let act = "Let linkerd-init run without root";
            let remedy = upgrade::with_values(ctx, remedy, act, Options::none().set("proxyInit.runAsRoot", "false"));
            remedy.note(
                "If the nodes require root for linkerd-init, set runAsNonRoot on the containers of the \
                 application instead of the pod",
            )
        }
        Reason::Other => {
            return remedy
                .run(
                    StepKind::Command,
                    "Read the events of the pod",
                    kubectl().namespace(&owner.namespace).words("describe pod").operand(&names[0]),
                )
                .step(StepKind::Note, format!("Remove the reason: the kubelet then starts {container} again"));
        }
    };
    remedy.with(renew(ctx, owner, names, Needs::NewProxy, "only new pods get the new settings"))
}
