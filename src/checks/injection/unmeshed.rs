//! Shared by the checks of this category: the injector's webhook, and the pods that request a proxy and
//! have none.

use std::collections::{BTreeMap, HashMap};

use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::command::meshdoctor;
use crate::finding::Step;
use crate::item::EXTENSION_LABEL;
use crate::model::injection::{Admission, Decision, INJECT, Level, stored_without_token, webhook};
use crate::model::owners;
use crate::objects::{Job, MutatingWebhookConfiguration, ReplicaSet, Webhook, WebhookConfiguration};

/// A pod that requests a proxy and has none.
pub(super) struct Unmeshed<'a> {
    pub pod: &'a Pod,
    /// The owner of the pod.
    pub owner: Owner,
    /// The level of the request.
    pub level: Level,
    /// `enabled` or `ingress`.
    pub value: &'a str,
    /// Whether it belongs to a Linkerd extension, which carries no application traffic.
    pub of_extension: bool,
    /// Whether the checks of that extension report its missing proxies.
    pub judged_there: bool,
    /// When the pod first requested it, as far as known.
    pub asked: RequestTime,
}

/// When a pod first requested a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestTime {
    /// At its creation: the template has the annotation.
    AtCreation,
    /// After its creation: the pod has the annotation, but neither its template nor its namespace does.
    /// Another webhook or a user added it after the injector ran.
    Later,
    /// Unknown: the annotation may be newer than the pod.
    Unknown,
}

impl Unmeshed<'_> {
    /// The object and field of the request.
    pub(super) fn asked_by(&self) -> (String, String) {
        let meta = &self.pod.metadata;
        let object = match self.level {
            Level::Pod => meta.described("Pod"),
            Level::Namespace => format!("Namespace {}", meta.namespace),
        };
        (object, format!("metadata.annotations[{INJECT}]"))
    }

    /// The tie to the cause of the pod's state.
    pub(super) fn tie(&self) -> Tie {
        Tie::Pod(self.pod.metadata.namespace.to_string(), self.pod.metadata.name.clone())
    }
}

/// The reason for recreating pods.
pub(super) const CREATED_ONLY: &str = "only new pods get a proxy";

/// The injector's webhook with its configuration; `None` if it is certain that none is registered.
///
/// # Errors
/// If webhook configurations are missing or incomplete, and the injector's is not among the available ones.
pub(in crate::checks) fn injector_webhook<'a>(
    ctx: &Context<'a>,
) -> Result<Option<(&'a WebhookConfiguration, &'a Webhook)>, Missing> {
    match webhook(ctx.partial_list::<MutatingWebhookConfiguration>()?, &ctx.namespaces().control_plane) {
        Some(found) => Ok(Some(found)),
        None => ctx.complete_list::<MutatingWebhookConfiguration>().map(|_| None),
    }
}

/// Whether a proxy could have been added to a pod: it is not finished, not terminating, and not a static
/// pod.
pub(super) fn counts(pod: &Pod) -> bool {
    !pod.is_finished() && pod.metadata.deletion_timestamp.is_none() && !owners::is_static(pod)
}

/// Whether the pods are those that manifests alone would create: none of them ran past an injector.
pub(super) fn are_predicted(ctx: &Context<'_>) -> bool {
    ctx.is_only_in_manifests(Kind::Pod)
}

/// The pods among `pods` that request a proxy and have none, in order. Leaves out pods whose namespace is
/// not in `namespaces`. Reads ReplicaSets, Jobs and `linkerd-config` if available.
pub(super) fn unmeshed<'a>(
    ctx: &Context<'_>,
    pods: &'a [Pod],
    namespaces: &'a [Namespace],
    webhook: Option<&'a Webhook>,
) -> Vec<Unmeshed<'a>> {
    if are_predicted(ctx) {
        return Vec::new();
    }
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config").ok().flatten();
    let values = config.and_then(ConfigMap::chart_values);
    let admission = Admission::new(namespaces, webhook, values.as_ref());
    let (replica_sets, jobs) = (ctx.optional_list::<ReplicaSet>(), ctx.optional_list::<Job>());
    let owners = ctx.owners();
    let templates = Templates::new(replica_sets, jobs);
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
                    Level::Namespace => RequestTime::Unknown,
                    Level::Pod => templates.requested_since(pod, namespace),
                };
                Some(Unmeshed { pod, owner: owners.owner(pod), level, value, of_extension, judged_there, asked })
            }
            Decision::Skip(_) | Decision::Unknown => None,
        })
        .collect()
}

/// The templates of pods whose owner's template never changes: ReplicaSets and Jobs.
struct Templates<'a>(HashMap<(&'a str, &'a str, &'a str), &'a Meta>);

impl<'a> Templates<'a> {
    fn new(replica_sets: &'a [Workload], jobs: &'a [Job]) -> Templates<'a> {
        let sets = replica_sets.iter().map(|set| ("ReplicaSet", &set.metadata, &set.spec.template));
        let jobs = jobs.iter().map(|job| ("Job", &job.metadata, &job.spec.template));
        // A template without containers comes from an incomplete dump.
        let whole = sets.chain(jobs).filter(|(_, _, template)| !template.spec.containers.is_empty());
        Templates(
            whole
                .map(|(kind, meta, template)| ((kind, meta.namespace.as_str(), meta.name.as_str()), &template.metadata))
                .collect(),
        )
    }

    /// When a pod with the annotation got it.
    fn requested_since(&self, pod: &Pod, namespace: Option<&Meta>) -> RequestTime {
        let asks = |meta: &Meta| matches!(meta.annotation(INJECT), Some("enabled" | "ingress"));
        let template = pod
            .metadata
            .controller()
            .and_then(|owner| self.0.get(&(owner.kind.as_str(), pod.metadata.namespace.as_str(), owner.name.as_str())));
        match template {
            Some(template) if asks(template) => RequestTime::AtCreation,
            Some(_) if namespace.is_some_and(|namespace| !asks(namespace)) => RequestTime::Later,
            Some(_) | None => RequestTime::Unknown,
        }
    }
}

/// Steps that give pods a proxy, one for each kind of workload.
pub(super) fn renewals(ctx: &Context<'_>, victims: &[Unmeshed<'_>]) -> Vec<Step> {
    let mut by_owner: BTreeMap<&Owner, Vec<String>> = BTreeMap::new();
    for victim in victims {
        by_owner.entry(&victim.owner).or_default().push(victim.pod.metadata.name.clone());
    }
    let mut steps: Vec<Step> = Vec::new();
    for (owner, pods) in by_owner {
        let step = renew(ctx, owner, &pods, Needs::NewPods, CREATED_ONLY);
        let several = step.of_several();
        match steps.iter_mut().find(|held| held.text == step.text || held.text == several) {
            None => steps.push(step),
            Some(held) => {
                held.text = several;
                if let Some(command) = &mut held.command {
                    command.join(&step.command);
                }
            }
        }
    }
    steps
}

/// Adds the step that lets pods start at once while no injector is ready and its webhook has failurePolicy Fail.
pub(in crate::checks) fn start_unmeshed(
    remedy: Remedy,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
) -> Remedy {
    let at = configuration.webhooks.iter().position(|other| other.name == webhook.name).unwrap_or_default();
    remedy.command(
        "If pods must start before it is ready, set failurePolicy Ignore in the meantime. These pods have \
         no proxy until they are restarted, and the next upgrade sets Fail again",
        kubectl()
            .words("patch mutatingwebhookconfiguration")
            .operand(&configuration.metadata.name)
            .words("--type=json -p")
            .arg(format!(r#"[{{"op":"replace","path":"/webhooks/{at}/failurePolicy","value":"Ignore"}}]"#)),
    )
}

/// Adds the steps for the time after the injector is repaired. With failurePolicy Fail its pods are created
/// automatically; otherwise as [`restart_unmeshed`], whose reads it shares.
pub(in crate::checks) fn once_it_answers(ctx: &Context<'_>, remedy: Remedy, webhook: Option<&Webhook>) -> Remedy {
    if webhook.is_some_and(|webhook| webhook.failure_policy == "Fail") {
        return remedy.note(
            "With failurePolicy Fail, wait for the pods that could not be created: they are created \
             automatically",
        );
    }
    restart_unmeshed(ctx, remedy, webhook)
}

/// Adds the steps for pods that lack a proxy, to be done after the injector is repaired. Reads `pods`,
/// `namespaces`, and the inputs of [`unmeshed`].
pub(super) fn restart_unmeshed(ctx: &Context<'_>, mut remedy: Remedy, webhook: Option<&Webhook>) -> Remedy {
    let (pods, namespaces) = (ctx.optional_list::<Pod>(), ctx.optional_list::<Namespace>());
    let mut victims = unmeshed(ctx, pods, namespaces, webhook);
    victims.retain(|victim| victim.asked != RequestTime::Later);
    if victims.is_empty() {
        return remedy.command(
            "List the pods that started without a proxy while the webhook was down, and restart their workloads",
            meshdoctor().words("check --only pod-missing-proxy"),
        );
    }
    remedy.steps.extend(renewals(ctx, &victims));
    remedy
}
