//! Whether the API server could present a pod to the injector when it was created: since when the injector serves,
//! and the events that it emits for every pod.

use jiff::{SignedDuration, Timestamp};

use super::unmeshed::Unmeshed;
use crate::checks::prelude::*;
use crate::model::control_plane::{components, running};
use crate::model::events;
use crate::model::installed::COMPONENT;
use crate::objects::{Event, ReplicaSet, WebhookConfiguration};

/// The event of a pod that got a proxy, and that of another pod; the injector emits one of them for the owner of each
/// pod that it receives.
const INJECTED: &str = "Injected";
const SKIPPED: &str = "InjectionSkipped";
/// Tolerated difference between the clocks of the API server and of the injector's node.
const SKEW: SignedDuration = SignedDuration::from_secs(60);

/// What is known about the injector in the past.
pub(super) struct Presence<'a> {
    /// When its webhook or its Deployment was created, whichever is later.
    installed: Option<(Timestamp, Evidence)>,
    /// When the oldest of its present pods became ready.
    ready: Option<(Timestamp, Evidence)>,
    /// When the oldest of its present pods was created, if it replaced a lost one, and not in a rollout.
    replaced: Option<Timestamp>,
    events: Vec<&'a Event>,
}

impl<'a> Presence<'a> {
    /// Reads pods, Deployments, ReplicaSets and events, if available.
    pub(super) fn from_context(ctx: &Context<'a>, configuration: &WebhookConfiguration) -> Presence<'a> {
        let home = ctx.namespaces().control_plane.as_str();
        let deployments = components(ctx.optional_list::<Deployment>(), home);
        let deployment = deployments.iter().find(|component| component.name == "proxy-injector");
        let created = |object: String, at: Option<Timestamp>| {
            at.map(|at| (at, Evidence::field(object, "metadata.creationTimestamp", at.to_string())))
        };
        let configured = created(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            configuration.metadata.creation_timestamp.get(),
        );
        let deployed = deployment.and_then(|component| {
            let meta = &component.deployment.metadata;
            created(format!("Deployment {home}/{}", meta.name), meta.creation_timestamp.get())
        });
        let pods: Vec<&Pod> = running(ctx.optional_list::<Pod>(), home, "proxy-injector").collect();
        let sets = ctx
            .optional_list::<ReplicaSet>()
            .iter()
            .filter(|set| set.metadata.namespace == home && set.metadata.label(COMPONENT) == Some("proxy-injector"));
        // A rollout keeps old pods until new ones are ready.
        let newest_set = sets.filter_map(|set| set.metadata.creation_timestamp.get()).max();
        let oldest = pods.iter().filter_map(|pod| pod.metadata.creation_timestamp.get()).min();
        Presence {
            installed: configured.into_iter().chain(deployed).max_by_key(|(at, _)| *at),
            ready: pods.iter().filter_map(|pod| ready(pod)).min_by_key(|(at, _)| *at),
            replaced: oldest.filter(|pod| newest_set.is_some_and(|set| pod.duration_since(set) > SKEW + SKEW)),
            events: ctx.optional_list::<Event>().iter().filter(|event| is_answer(event)).collect(),
        }
    }

    /// Whether a pod was created while the injector served, as far as known, and no later event shows that the API
    /// server reaches the injector.
    pub(super) fn could_have_been_called(&self, pod: &Pod) -> bool {
        let Some(created) = pod.metadata.creation_timestamp.get() else { return false };
        let since = [&self.installed, &self.ready];
        let is_served = since.into_iter().flatten().all(|(at, _)| created > *at);
        let answered = self.events.iter().filter_map(|event| span(event)).map(|(_, last)| last).max();
        is_served && answered.is_none_or(|last| created > last + SKEW)
    }

    /// Evidence that the injector did not exist yet when a pod was created.
    pub(super) fn installed_later(&self, pod: &Pod) -> Option<Evidence> {
        let (at, evidence) = self.installed.as_ref()?;
        let created = pod.metadata.creation_timestamp.get()?;
        (created < *at).then(|| after(evidence))
    }

    /// Evidence that the only injectors were starting when a pod was created, as after a reboot.
    pub(super) fn started_later(&self, pod: &Pod) -> Option<Evidence> {
        let (at, evidence) = self.ready.as_ref()?;
        let created = pod.metadata.creation_timestamp.get()?;
        (created < *at && created + SKEW >= self.replaced?).then(|| after(evidence))
    }

    /// The event that the injector emitted when it skipped a pod.
    pub(super) fn skip_event(&self, of: &Unmeshed<'_>) -> Option<Evidence> {
        let created = of.pod.metadata.creation_timestamp.get()?;
        let namespace = of.pod.metadata.namespace.as_str();
        let controller = of.pod.metadata.controller();
        let found = self.events.iter().find(|event| {
            let about = &event.about;
            let is_owner = (about.kind.as_str(), about.name.as_str())
                == (of.owner.kind.as_str(), of.owner.name.as_str())
                || controller.is_some_and(|own| about.kind == own.kind && about.name == own.name);
            let is_then = span(event).is_some_and(|(first, last)| first <= created + SKEW && created <= last + SKEW);
            event.reason == SKIPPED && about.namespace == namespace && is_owner && is_then
        })?;
        let about = &found.about;
        Some(events::quoted(format!("{} {namespace}/{}", about.kind, about.name), found))
    }
}

fn after(evidence: &Evidence) -> Evidence {
    Evidence { said: format!("{}, after the pod was created", evidence.said), ..evidence.clone() }
}

fn ready(pod: &Pod) -> Option<(Timestamp, Evidence)> {
    let at = pod.condition("Ready").filter(|ready| ready.status == "True")?.last_transition_time.get()?;
    Some((at, Evidence::field(pod.described(), "status.conditions[Ready]", format!("True since {at}"))))
}

fn is_answer(event: &Event) -> bool {
    (event.reason == INJECTED || event.reason == SKIPPED)
        && event.kind == "Normal"
        && event.message.starts_with("Linkerd sidecar proxy inject")
}

/// The times of the first and the last occurrence of an event.
fn span(event: &Event) -> Option<(Timestamp, Timestamp)> {
    let times = [event.first.get(), event.last.get()];
    let known = || times.iter().flatten().copied();
    Some((known().min()?, known().max()?))
}
