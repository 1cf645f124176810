//! What the checks of this category start from: the injector's webhook, and the pods that ask for a proxy and have none.

use crate::checks::Context;
use crate::finding::Tie;
use crate::item::{EXTENSION_LABEL, Kind, Scope};
use crate::missing::Missing;
use crate::model::injection::{Admission, Decision, INJECT, Level, webhook};
use crate::model::objects::{ConfigMap, Job, Namespace, Pod, Webhook, WebhookConfiguration, Workload};
use crate::model::owners::{self, Owner, Owners};
use crate::model::values::Values;

/// A pod that asks for a proxy and has none.
pub(super) struct Unmeshed<'a> {
    /// The pod.
    pub pod: &'a Pod,
    /// What it belongs to.
    pub owner: Owner,
    /// Who asks.
    pub level: Level,
    /// `enabled` or `ingress`.
    pub value: &'a str,
    /// Whether it is part of one of Linkerd's extensions, which carry no application's traffic.
    pub of_extension: bool,
    /// Whether the checks of that extension say what its pods lack.
    pub judged_there: bool,
}

impl Unmeshed<'_> {
    /// The object that asks and the field in which it does.
    pub(super) fn asked_by(&self) -> (String, String) {
        let meta = &self.pod.metadata;
        let object = match self.level {
            Level::Pod => format!("Pod {}/{}", meta.namespace, meta.name),
            Level::Namespace => format!("Namespace {}", meta.namespace),
        };
        (object, format!("metadata.annotations[{INJECT}]"))
    }

    /// What ties it to the cause of its state.
    pub(super) fn tie(&self) -> Tie {
        Tie::Pod(self.pod.metadata.namespace.clone(), self.pod.metadata.name.clone())
    }
}

/// Why pods have to be created again.
pub(super) const CREATED_ONLY: &str = "a proxy is only ever added while a pod is created";

/// The injector's webhook with its configuration; `None` when it is known that nothing registers it.
///
/// # Errors
/// Webhook configurations could not be had, or not all, and it is not among those that are there.
pub(super) fn injector_webhook<'a>(
    ctx: &Context<'a>,
) -> Result<Option<(&'a WebhookConfiguration, &'a Webhook)>, Missing> {
    let kind = Kind::MutatingWebhookConfiguration;
    match webhook(ctx.seen(kind)?, &ctx.namespaces().control_plane) {
        Some(found) => Ok(Some(found)),
        None => ctx.every::<WebhookConfiguration>(kind).map(|_| None),
    }
}

/// Whether a pod runs, or soon will, in a way that a proxy could have been added: not finished, not going away, and not
/// made by a kubelet on its own.
pub(super) fn counts(pod: &Pod) -> bool {
    !pod.is_finished() && pod.metadata.deletion_timestamp.is_none() && !owners::is_static(pod)
}

/// The pods among `pods` that ask for a proxy and have none, in order. Pods whose namespace is not among `namespaces` are
/// left out. Reads, where they are there: ReplicaSets, Jobs and `linkerd-config`.
pub(super) fn unmeshed<'a>(
    ctx: &Context<'a>,
    pods: &'a [Pod],
    namespaces: &'a [Namespace],
    webhook: Option<&'a Webhook>,
) -> Vec<Unmeshed<'a>> {
    let config =
        ctx.named::<ConfigMap>(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config").ok().flatten();
    let values = config.and_then(Values::of);
    let admission = Admission::new(namespaces, webhook, values.as_ref());
    let owners = Owners::new(ctx.hints::<Workload>(Kind::ReplicaSet), ctx.hints::<Job>(Kind::Job));
    pods.iter()
        .filter(|pod| ctx.judges(&pod.metadata.namespace))
        .filter(|pod| pod.spec.proxy().is_none() && counts(pod))
        .filter_map(|pod| match admission.decide(&pod.metadata.namespace, &pod.metadata, &pod.spec) {
            Decision::Inject { level, value } => {
                let home = admission.namespace(&pod.metadata.namespace).map(|namespace| &namespace.metadata);
                let of_extension =
                    home.into_iter().chain([&pod.metadata]).any(|m| m.label(EXTENSION_LABEL).is_some());
                let judged_there = matches!(pod.metadata.label(EXTENSION_LABEL), Some("viz" | "jaeger"));
                Some(Unmeshed { pod, owner: owners.of(pod), level, value, of_extension, judged_there })
            }
            Decision::Skip(_) | Decision::Unknown => None,
        })
        .collect()
}
