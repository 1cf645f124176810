//! `linkerd-image-not-pulled`: nodes cannot pull a Linkerd image.

use std::collections::BTreeMap;

use crate::checks::extensions::reinstall_with;
use crate::checks::host_system::{system_of, talosctl};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::command::program;
use crate::item::EXTENSION_LABEL;
use crate::model::cni;
use crate::model::events;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::container::{DEBUG_CONTAINER, INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};
use crate::objects::{ContainerStatus, Event};
use crate::version::ImageRef;

/// Waiting reasons of containers without an image.
const REASONS: [&str; 5] =
    ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"];
/// The containers that the injector adds.
const INJECTED: [&str; 4] = [INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER, DEBUG_CONTAINER];
/// The label of all pods of Linkerd's charts, also of their hooks.
const PART_OF: &str = "app.kubernetes.io/part-of";
/// The hook that the charts of extensions run after the installation.
const HOOK: &str = "namespace-metadata";
/// Maximum number of pods quoted for a workload.
const QUOTED: usize = 2;

/// A waiting pod and its evidence.
type Seen<'a> = (&'a Pod, Evidence);

/// The reason why an image cannot be pulled, from the kubelet's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Certificate,
    Limit,
    Denied,
    Absent,
    Unreachable,
    Other,
}

impl Cause {
    /// Ordered by priority: the message about an untrusted registry also contains the text of an unreachable
    /// one.
    fn from_message(words: &str) -> Cause {
        let words = words.to_ascii_lowercase();
        let says = |some: &[&str]| some.iter().any(|word| words.contains(word));
        if says(&["x509", "certificate"]) {
            Cause::Certificate
        } else if says(&["toomanyrequests", "429", "rate limit"]) {
            Cause::Limit
        } else if says(&[
            "unauthorized",
            "authentication required",
            "401",
            "403",
            "forbidden",
            "access denied",
            "denied:",
        ]) {
            Cause::Denied
        } else if says(&["not found", "manifest unknown", "invalidimagename", "couldn't parse", "invalid reference"]) {
            Cause::Absent
        } else if says(&[
            "timeout",
            "timed out",
            "deadline exceeded",
            "connection refused",
            "no such host",
            "dial tcp",
            "503",
            "502",
            "eof",
            "unreachable",
        ]) {
            Cause::Unreachable
        } else {
            Cause::Other
        }
    }

    fn message(self) -> &'static str {
        match self {
            Cause::Certificate => {
                "nodes do not trust the certificate of the registry of a Linkerd image: pods with this image \
                do not start"
            }
            Cause::Limit => {
                "the registry limits the pull rate of a Linkerd image: pods with this image do not start \
                until the limit resets"
            }
            Cause::Denied => {
                "the registry denies nodes a Linkerd image: without a pull secret or permission, pods with \
                this image do not start"
            }
            Cause::Absent => {
                "the registry does not have a Linkerd image with this name and tag: pods with this image do \
                not start"
            }
            Cause::Unreachable => {
                "nodes cannot reach the registry of a Linkerd image: pods with this image do not start"
            }
            Cause::Other => "nodes cannot pull a Linkerd image: pods with this image do not start",
        }
    }

    fn remedy(self, namespace: &str) -> (StepKind, &'static str, Option<Command>) {
        let secrets = || {
            kubectl()
                .namespace(namespace)
                .words("get serviceaccounts -o")
                .arg("custom-columns=NAME:.metadata.name,PULL_SECRETS:.imagePullSecrets[*].name")
                .into()
        };
        match self {
            Cause::Certificate => (
                StepKind::Note,
                "Make the container runtime of every node trust the CA of the registry, or of the proxy that \
                intercepts its TLS",
                None,
            ),
            Cause::Limit => (
                StepKind::ChartValue,
                "Wait, or set the chart's image names to a mirror (proxy.image.name, proxyInit.image.name, \
                controllerImage, policyController.image.name)",
                None,
            ),
            Cause::Denied => (
                StepKind::Command,
                "Create a pull secret in every meshed namespace, since injected containers use the \
                workload's pull secrets. Name it in the chart's imagePullSecrets for the control plane. List \
                the ServiceAccounts with one",
                Some(secrets()),
            ),
            Cause::Absent => (
                StepKind::Note,
                "Compare name and tag with the registry: a mirror may lack this release, or an annotation or \
                a chart value may name a version that does not exist",
                None,
            ),
            Cause::Unreachable => (
                StepKind::Note,
                "Allow nodes to reach the registry through firewall and proxy, or mirror the images and set \
                the chart's image names to the mirror",
                None,
            ),
            Cause::Other => (StepKind::Note, "Fix the error that the kubelet reports", None),
        }
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let owners = ctx.owners();
    let mut waiting: Vec<(&Pod, &ContainerStatus)> = Vec::new();
    for pod in pods.iter().filter(|pod| !pod.is_finished() && pod.metadata.deletion_timestamp.is_none()) {
        let statuses = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
        for status in statuses.filter(|status| is_linkerds(pod, &status.name)) {
            let stuck = status.state.waiting().is_some_and(|waiting| REASONS.contains(&&*waiting.reason));
            if stuck && (is_part(pod) || ctx.judges(&pod.metadata.namespace)) {
                waiting.push((pod, status));
            }
        }
    }
    let events = if waiting.is_empty() { &[] } else { ctx.optional_list::<Event>() };
    let mut found: BTreeMap<(Owner, String, Cause), Vec<Seen<'_>>> = BTreeMap::new();
    for (pod, status) in waiting {
        let image = image(pod, status);
        let (cause, evidence) = pull_failure(pod, status, &image, events);
        found.entry((owners.owner(pod), image, cause)).or_default().push((pod, evidence));
    }
    let findings = found.into_iter().map(|((owner, image, cause), pods)| finding(ctx, &owner, &image, cause, pods));
    Ok(findings.collect())
}

/// Whether a pod is part of Linkerd itself.
fn is_part(pod: &Pod) -> bool {
    let meta = &pod.metadata;
    meta.label(COMPONENT).is_some()
        || meta.label(EXTENSION_LABEL).is_some()
        || meta.label(PART_OF) == Some("Linkerd")
        || cni::is_installer_pod(pod)
}

fn is_linkerds(pod: &Pod, container: &str) -> bool {
    let injected = pod.metadata.label(CONTROL_PLANE_NS).is_some() && INJECTED.contains(&container);
    injected || is_part(pod)
}

fn image(pod: &Pod, status: &ContainerStatus) -> String {
    let asked = pod.spec.container(&status.name).map(|container| container.image.as_str());
    asked.filter(|image| !image.is_empty()).unwrap_or(&status.image).to_owned()
}

/// The reason and its evidence: the kubelet's message in the status, else its last event about that image.
fn pull_failure(pod: &Pod, status: &ContainerStatus, image: &str, events: &[Event]) -> (Cause, Evidence) {
    let object = pod.described();
    let (reason, message) = status.state.waiting().map_or(("", ""), |waiting| (&waiting.reason, &waiting.message));
    let cause = Cause::from_message(&format!("{reason} {message}"));
    let own = Evidence::field(&object, format!("{}: state.waiting", status.name), format!("{reason}: {message}"));
    if cause != Cause::Other {
        return (cause, own);
    }
    let about = |event: &&Event| {
        event.about.kind == "Pod"
            && event.about.namespace == pod.metadata.namespace
            && event.about.name == pod.metadata.name
            && event.reason == "Failed"
            && event.message.contains(image)
    };
    let told = events.iter().filter(about).filter(|event| Cause::from_message(&event.message) != Cause::Other);
    match told.max_by_key(|event| event.last) {
        Some(event) => (Cause::from_message(&event.message), events::quoted(&object, event)),
        None => (cause, own),
    }
}

fn finding(ctx: &Context<'_>, owner: &Owner, image: &str, cause: Cause, pods: Vec<Seen<'_>>) -> Finding {
    let mut names: Vec<String> = pods.iter().map(|(pod, _)| pod.metadata.name.clone()).collect();
    names.dedup();
    let example = pods[0].0;
    let extension = extension_of(example);
    let remedy = match extension.filter(|_| cause == Cause::Denied) {
        Some(extension) => pull_secret(ctx, extension, &owner.namespace),
        None => {
            let (kind, words, command) = cause.remedy(&owner.namespace);
            match command {
                Some(command) => Remedy::new().run(kind, words, command),
                None => Remedy::new().step(kind, words),
            }
        }
    };
    let source = ValueOfImage::find(ctx, image).filter(|_| !matches!(cause, Cause::Certificate | Cause::Limit));
    let remedy = match &source {
        Some(source) => source.reset(ctx, remedy),
        None => remedy,
    };
    let remedy = if owner.kind == "Job" && owner.name == HOOK {
        remedy.step(
            StepKind::ChartValue,
            "This Job is a hook of the chart, and Helm waits for it until it times out. Set \
             namespaceMetadata.image.registry, name and tag to an image that nodes can pull, and install again",
        )
    } else {
        remedy
    };
    let node = example.node_name.as_str();
    let text = "Pull the image on the host of a node, which shows the answer of the registry";
    let remedy = match system_of(ctx, node).map(|system| system.id.as_str()) {
        // Its tool for images does not use the registry settings of the kubelet.
        Some("bottlerocket") => remedy,
        _ if node.is_empty() => remedy,
        Some("talos") => {
            let pull = talosctl().words("image pull").operand(Arg::from(image));
            remedy.command(text, Command::about_node(node, [pull]))
        }
        Some(_) | None => {
            let pull = program("crictl").words("pull").operand(Arg::from(image));
            remedy.command(text, Command::on_node(node, [pull]))
        }
    };
    let message = match extension.filter(|_| !is_of_linkerd(image)) {
        Some(extension) => {
            cause.message().replace("a Linkerd image", &format!("an image of the extension {extension}"))
        }
        None => cause.message().to_owned(),
    };
    ctx.finding(owner.subject(names), message)
        .evidence(Evidence::other("image", image))
        .evidences(source.map(|source| source.evidence(ctx)))
        .evidences(pods.into_iter().take(QUOTED).map(|(_, evidence)| evidence))
        .parameter(image.to_owned())
        .remedy(remedy)
}

/// The extension that a pod is part of.
fn extension_of(pod: &Pod) -> Option<Extension> {
    Extension::from_name(pod.metadata.label(EXTENSION_LABEL)?)
}

/// The names of images of others that the charts of extensions use.
const OF_OTHERS: [&str; 4] = ["pause", "prometheus", "all-in-one", "opentelemetry-collector"];

/// Whether an image in a pod of an extension is of Linkerd, under any registry.
fn is_of_linkerd(image: &str) -> bool {
    let image = image.parse::<ImageRef>();
    !image.is_ok_and(|image| OF_OTHERS.iter().any(|name| image.name().starts_with(name)))
}

/// The steps that give an extension a pull secret. Its chart sets it for the ServiceAccounts of the extension.
fn pull_secret(ctx: &Context<'_>, extension: Extension, namespace: &str) -> Remedy {
    let remedy = Remedy::new().command(
        "Create a pull secret for this registry in the namespace of the extension, if it has none",
        kubectl().namespace(namespace).words("get secrets --field-selector type=kubernetes.io/dockerconfigjson"),
    );
    let since = match extension {
        Extension::Multicluster => " (chart value imagePullSecrets, since edge-23.10.1)",
        Extension::Viz | Extension::Jaeger => " (chart value imagePullSecrets)",
    };
    let why = format!(" with the pull secret{since}");
    let set = Arg::from("imagePullSecrets[0].name=").then(Arg::placeholder("PULL_SECRET"));
    reinstall_with(ctx, remedy, extension, &why, &[set])
}

/// The chart values of images: the name, its default, and the version if that is empty by default.
const IMAGES: [(&str, &str, Option<&str>); 5] = [
    ("policyController.image.name", "cr.l5d.io/linkerd/policy-controller", Some("policyController.image.version")),
    ("proxy.image.name", "cr.l5d.io/linkerd/proxy", Some("proxy.image.version")),
    ("proxyInit.image.name", "cr.l5d.io/linkerd/proxy-init", None),
    ("debugContainer.image.name", "cr.l5d.io/linkerd/debug", None),
    ("controllerImage", "cr.l5d.io/linkerd/controller", Some("controllerImageVersion")),
];

/// The chart value that names another image than the default.
struct ValueOfImage {
    name: &'static str,
    default: &'static str,
    version: Option<&'static str>,
    image: String,
}

impl ValueOfImage {
    fn find(ctx: &Context<'_>, image: &str) -> Option<ValueOfImage> {
        let values = ctx.values_for_steps()?;
        let unpinned = image.split_once('@').map_or(image, |(image, _)| image);
        IMAGES.into_iter().find_map(|(name, default, version)| {
            let set = values.text(name).filter(|set| *set != default)?;
            let is_it = unpinned.strip_prefix(set).is_some_and(|tag| tag.is_empty() || tag.starts_with(':'));
            is_it.then(|| ValueOfImage { name, default, version, image: set.to_owned() })
        })
    }

    fn evidence(&self, ctx: &Context<'_>) -> Evidence {
        let object = format!("ConfigMap {}/linkerd-config", ctx.namespaces().control_plane);
        Evidence::field(object, format!("data.values: {}", self.name), self.image.as_str())
    }

    fn reset(&self, ctx: &Context<'_>, remedy: Remedy) -> Remedy {
        let options = Options::none().set(self.name, self.default);
        let options = self.version.into_iter().fold(options, |options, version| options.set(version, ""));
        let act = format!("If the chart value {} is not meant to be {}, reset it", self.name, self.image);
        upgrade::with_values(ctx, remedy, &act, options)
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn kubelet_messages_give_the_reason() {
        for (words, cause) in [
            (
                "failed to do request: Head \"https://cr.l5d.io/v2\": tls: failed to verify certificate: \
                x509: certificate signed by unknown authority",
                Cause::Certificate,
            ),
            (
                "failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized",
                Cause::Denied,
            ),
            (
                "rpc error: code = NotFound desc = failed to pull and unpack image \"r/proxy:v9\": \
                r/proxy:v9: not found",
                Cause::Absent,
            ),
            ("dial tcp 203.0.113.9:443: i/o timeout", Cause::Unreachable),
            ("unexpected status code 503 Service Unavailable", Cause::Unreachable),
            ("toomanyrequests: You have reached your pull rate limit", Cause::Limit),
            ("Back-off pulling image \"cr.l5d.io/linkerd/proxy:edge-25.4.4\"", Cause::Other),
        ] {
            assert_eq!(Cause::from_message(words), cause, "{words}");
        }
    }
}
