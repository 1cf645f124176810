//! What the checks of this category start from: the injector's webhook, and the pods that ask for a proxy and have none.

use std::collections::{BTreeMap, HashMap};

use crate::checks::Context;
use crate::checks::restart::{Needs, renew};
use crate::command::meshdoctor;
use crate::finding::{Remedy, Step, StepKind, Tie};
use crate::item::{EXTENSION_LABEL, Scope};
use crate::missing::Missing;
use crate::model::injection::{Admission, Decision, INJECT, Level, stored_without_token, webhook};
use crate::model::owners::{self, Owner};
use crate::objects::{
    ConfigMap, Job, Meta, MutatingWebhookConfiguration, Namespace, Pod, ReplicaSet, Webhook,
    WebhookConfiguration, Workload,
};

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
    /// Since when it has asked, as far as that is known.
    pub asked: Asked,
}

/// Since when a pod has asked for a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// From the start: its template says so.
    AtCreation,
    /// Not from the start: it has the annotation and what made it has not, nor has the namespace. Something wrote it onto the
    /// pod once the injector had looked: another webhook, which the injector is not called again after, or a person.
    Later,
    /// The annotation may be younger than the pod.
    Unknown,
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
        Tie::Pod(self.pod.metadata.namespace.to_string(), self.pod.metadata.name.clone())
    }
}

/// Why pods have to be created again.
pub(super) const CREATED_ONLY: &str = "a proxy is only added when a pod is created";

/// The injector's webhook with its configuration; `None` when it is known that nothing registers it.
///
/// # Errors
/// Webhook configurations could not be had, or not all, and it is not among those that are there.
pub(in crate::checks) fn injector_webhook<'a>(
    ctx: &Context<'a>,
) -> Result<Option<(&'a WebhookConfiguration, &'a Webhook)>, Missing> {
    match webhook(ctx.seen::<MutatingWebhookConfiguration>()?, &ctx.namespaces().control_plane) {
        Some(found) => Ok(Some(found)),
        None => ctx.every::<MutatingWebhookConfiguration>().map(|_| None),
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
    ctx: &Context<'_>,
    pods: &'a [Pod],
    namespaces: &'a [Namespace],
    webhook: Option<&'a Webhook>,
) -> Vec<Unmeshed<'a>> {
    let config = ctx.named::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    let values = config.and_then(ConfigMap::chart_values);
    let admission = Admission::new(namespaces, webhook, values.as_ref());
    let (replica_sets, jobs) = (ctx.hints::<ReplicaSet>(), ctx.hints::<Job>());
    let owners = ctx.owners();
    let templates = Templates::of(replica_sets, jobs);
    pods.iter()
        .filter(|pod| ctx.judges(&pod.metadata.namespace))
        .filter(|pod| pod.spec.proxy().is_none() && counts(pod))
        .filter(|pod| admission.projects_token() || !stored_without_token(&pod.spec))
        .filter_map(|pod| match admission.decide(&pod.metadata.namespace, &pod.metadata, &pod.spec) {
            Decision::Inject { level, value } => {
                let namespace = admission.namespace(&pod.metadata.namespace).map(|found| &found.metadata);
                let of_extension =
                    namespace.into_iter().chain([&pod.metadata]).any(|m| m.label(EXTENSION_LABEL).is_some());
                let judged_there = matches!(pod.metadata.label(EXTENSION_LABEL), Some("viz" | "jaeger"));
                let asked = match level {
                    Level::Namespace => Asked::Unknown,
                    Level::Pod => templates.asked(pod, namespace),
                };
                Some(Unmeshed { pod, owner: owners.of(pod), level, value, of_extension, judged_there, asked })
            }
            Decision::Skip(_) | Decision::Unknown => None,
        })
        .collect()
}

/// The templates that pods were made from, of owners whose template never changes: ReplicaSets and Jobs.
struct Templates<'a>(HashMap<(&'a str, &'a str, &'a str), &'a Meta>);

impl<'a> Templates<'a> {
    fn of(replica_sets: &'a [Workload], jobs: &'a [Job]) -> Templates<'a> {
        let sets = replica_sets.iter().map(|set| ("ReplicaSet", &set.metadata, &set.spec.template));
        let jobs = jobs.iter().map(|job| ("Job", &job.metadata, &job.spec.template));
        // A template without containers was cut, and says nothing.
        let whole = sets.chain(jobs).filter(|(_, _, template)| !template.spec.containers.is_empty());
        Templates(
            whole
                .map(|(kind, meta, template)| {
                    ((kind, meta.namespace.as_str(), meta.name.as_str()), &template.metadata)
                })
                .collect(),
        )
    }

    /// Since when a pod that has the annotation itself has had it.
    fn asked(&self, pod: &Pod, namespace: Option<&Meta>) -> Asked {
        let asks = |meta: &Meta| matches!(meta.annotation(INJECT), Some("enabled" | "ingress"));
        let template = pod.metadata.controller().and_then(|owner| {
            self.0.get(&(owner.kind.as_str(), pod.metadata.namespace.as_str(), owner.name.as_str()))
        });
        match template {
            Some(template) if asks(template) => Asked::AtCreation,
            Some(_) if namespace.is_some_and(|namespace| !asks(namespace)) => Asked::Later,
            Some(_) | None => Asked::Unknown,
        }
    }
}

/// How pods without a proxy get one: a step for each kind of workload.
pub(super) fn renewals(ctx: &Context<'_>, victims: &[Unmeshed<'_>]) -> Vec<Step> {
    let mut by_owner: BTreeMap<&Owner, Vec<String>> = BTreeMap::new();
    for victim in victims {
        by_owner.entry(&victim.owner).or_default().push(victim.pod.metadata.name.clone());
    }
    let mut steps: Vec<Step> = Vec::new();
    for (owner, pods) in by_owner {
        let step = renew(ctx, owner, &pods, Needs::NewPods, CREATED_ONLY);
        match steps.iter_mut().find(|held| held.text == step.text) {
            None => steps.push(step),
            Some(Step { command: Some(held), .. }) => held.join(&step.command),
            Some(_) => {}
        }
    }
    steps
}

/// Adds what is left to do once the injector answers again: with failurePolicy Fail its pods come by themselves, otherwise
/// as [`restart_unmeshed`], whose reads it has.
pub(in crate::checks) fn once_it_answers(
    ctx: &Context<'_>,
    remedy: Remedy,
    webhook: Option<&Webhook>,
) -> Remedy {
    if webhook.is_some_and(|webhook| webhook.failure_policy == "Fail") {
        return remedy.step(
            StepKind::Note,
            "Pods that could not be created meanwhile, since the webhook has failurePolicy Fail, are created by themselves",
        );
    }
    restart_unmeshed(ctx, remedy, webhook)
}

/// Adds the steps for the pods that lack a proxy today, to be done once the injector works. Reads `pods`, `namespaces`, and
/// what [`unmeshed`] reads.
pub(super) fn restart_unmeshed(ctx: &Context<'_>, mut remedy: Remedy, webhook: Option<&Webhook>) -> Remedy {
    let (pods, namespaces) = (ctx.hints::<Pod>(), ctx.hints::<Namespace>());
    let mut victims = unmeshed(ctx, pods, namespaces, webhook);
    victims.retain(|victim| victim.asked != Asked::Later);
    if victims.is_empty() {
        return remedy.run(
            StepKind::Command,
            "Then restart the workloads that this names, with the commands that it prints: a proxy is only added when a pod is created",
            meshdoctor().words("check --only pod-missing-proxy"),
        );
    }
    remedy.steps.extend(renewals(ctx, &victims));
    remedy
}
