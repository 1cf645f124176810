//! Workloads whose pods the API server rejects: ReplicaSets by their condition, others by the last event
//! about them, as long as they still lack pods.

use std::collections::BTreeMap;

use crate::checks::prelude::*;
use crate::finding::Moment;
use crate::model::events;
use crate::model::moments;
use crate::model::refusal::{self, Refusal};
use crate::objects::{DaemonSet, Event, Job, PodTemplate, ReplicaSet, StatefulSet};

/// A workload whose pods are rejected.
#[derive(Debug)]
pub(super) struct Refused<'a> {
    /// Its kind and name as users know them.
    pub owner: Owner,
    /// What creates the pods: `replicaset`, and its name.
    pub by: (&'static str, &'a str),
    /// The template of its pods; without containers for truncated ReplicaSets.
    pub template: &'a PodTemplate,
    /// The message of the API server.
    pub said: &'a str,
    /// The rejecting component.
    pub refusal: Refusal<'a>,
    /// The source of the message.
    pub evidence: Evidence,
    /// The first and the last time of the message.
    pub moments: Vec<Moment>,
}

impl Refused<'_> {
    /// As a finding's subject.
    pub(super) fn subject(&self) -> Subject {
        self.owner.subject(Vec::new())
    }

    /// The namespace of its pods.
    pub(super) fn namespace(&self) -> &str {
        &self.owner.namespace
    }
}

/// The rejected workloads, in order. Reads `replicasets.apps`, `statefulsets.apps`, `daemonsets.apps`,
/// `jobs.batch` and `events`; missing ones are a gap.
pub(super) fn refused<'a>(ctx: &Context<'a>) -> &'a [Refused<'a>] {
    let found: &Vec<Refused<'a>> = ctx.get_or_build(&ctx.joins.refusals, build);
    found
}

fn build<'a>(ctx: &Context<'a>) -> Vec<Refused<'a>> {
    let mut found = Vec::new();
    for set in ctx.seen_or_gap::<ReplicaSet>() {
        let Some(condition) = set.replica_failure().filter(|_| set.spec.replicas != Some(0)) else {
            continue;
        };
        let object = set.metadata.described("ReplicaSet");
        let said = format!("{}: {}", condition.reason, condition.message);
        let path = "status.conditions[ReplicaFailure]";
        let since = Moment::new(condition.last_transition_time.get(), &object, path, "pods refused");
        let created = moments::created("ReplicaSet", &set.metadata, "rolled out");
        let evidence = Evidence::field(object, path, said);
        let by = ("replicaset", set.metadata.name.as_str());
        found.push(new(
            owner("ReplicaSet", &set.metadata),
            by,
            &set.spec.template,
            &condition.message,
            (evidence, created.into_iter().chain(since).collect()),
        ));
    }
    let events = last_events(ctx);
    let said = |kind: &'static str, meta: &'a Meta| {
        let event = events.get(&(kind, meta.namespace.as_str(), meta.name.as_str()))?;
        let evidence = events::quoted(format!("{kind} {}/{}", meta.namespace, meta.name), event);
        let created = moments::created(kind, meta, "created");
        Some((&*event.message, (evidence, moments::of_event(event).into_iter().chain(created).collect())))
    };
    let lacking = |workload: &Workload| workload.status.replicas < workload.spec.replicas.unwrap_or(1);
    for set in ctx.seen_or_gap::<StatefulSet>().iter().filter(|set| lacking(set)) {
        if let Some((message, evidence)) = said("StatefulSet", &set.metadata) {
            let by = ("statefulset", set.metadata.name.as_str());
            found.push(new(owner("StatefulSet", &set.metadata), by, &set.spec.template, message, evidence));
        }
    }
    let lacking = |set: &Workload| set.status.current_number_scheduled < set.status.desired_number_scheduled;
    for set in ctx.seen_or_gap::<DaemonSet>().iter().filter(|set| lacking(set)) {
        if let Some((message, evidence)) = said("DaemonSet", &set.metadata) {
            let by = ("daemonset", set.metadata.name.as_str());
            found.push(new(owner("DaemonSet", &set.metadata), by, &set.spec.template, message, evidence));
        }
    }
    for job in ctx.seen_or_gap::<Job>() {
        let over = job.status.completion_time.is_some() || job.status.active > 0 || job.status.succeeded > 0;
        if let Some((message, evidence)) = said("Job", &job.metadata).filter(|_| !over) {
            let by = ("job", job.metadata.name.as_str());
            found.push(new(owner("Job", &job.metadata), by, &job.spec.template, message, evidence));
        }
    }
    found.sort_by(|a, b| (&a.owner, a.by).cmp(&(&b.owner, b.by)));
    found
}

fn new<'a>(
    owner: Owner,
    by: (&'static str, &'a str),
    template: &'a PodTemplate,
    said: &'a str,
    (evidence, moments): (Evidence, Vec<Moment>),
) -> Refused<'a> {
    Refused { owner, by, template, said, refusal: refusal::read(said), evidence, moments }
}

/// Its owner, if any.
fn owner(kind: &str, meta: &Meta) -> Owner {
    let (kind, name) = match meta.controller() {
        Some(above) => (above.kind.as_str(), above.name.as_str()),
        None => (kind, meta.name.as_str()),
    };
    Owner { kind: kind.to_owned(), namespace: meta.namespace.to_string(), name: name.to_owned() }
}

/// The last event about a pod that could not be created, by its owner.
fn last_events<'a>(ctx: &Context<'a>) -> BTreeMap<(&'a str, &'a str, &'a str), &'a Event> {
    let mut last: BTreeMap<(&str, &str, &str), &Event> = BTreeMap::new();
    for event in ctx.seen_or_gap::<Event>().iter().filter(|event| event.reason == "FailedCreate") {
        let about = &event.about;
        let held = last.entry((&about.kind, &about.namespace, &about.name)).or_insert(event);
        if event.last > held.last {
            *held = event;
        }
    }
    last
}
