//! `proxy-prestop-failing`: the hook that lets a stopping proxy wait for the application fails.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use crate::checks::prelude::*;
use crate::model::events;
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Event, ReplicaSet};

/// Maximum age of an event.
const RECENT: SignedDuration = SignedDuration::from_hours(1);
/// Maximum number of quoted events per workload.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
    let events = ctx.partial_list::<Event>()?;
    let by_name: BTreeMap<_, &Pod> = pods.iter().map(|pod| (pod.metadata.key(), pod)).collect();
    let mut groups: BTreeMap<Owner, Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.reason == "FailedPreStopHook") {
        let about = &event.about;
        let is_recent = event.last.get().is_some_and(|last| ctx.now().duration_since(last) <= RECENT);
        if about.kind != "Pod" || !is_recent || !ctx.judges(&about.namespace) {
            continue;
        }
        let pod = by_name.get(&(about.namespace.as_str(), about.name.as_str())).copied();
        let is_of_proxy = match about.container() {
            Some(name) => name == PROXY_CONTAINER,
            None => pod.is_some_and(has_only_its_hook),
        };
        if is_of_proxy {
            groups.entry(owner(ctx, event, pod)).or_default().push(event);
        }
    }
    // The ReplicaSets of deleted pods may be deleted, too: their pods count by the name of the workload.
    let mut totals: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for event in groups.values().flatten() {
        *totals.entry(workload(event)).or_default() += event.count;
    }
    let is_repeated = |group: &[&Event]| group.iter().any(|event| totals[&workload(event)] > 1);
    let findings = groups.iter().map(|(owner, group)| finding(ctx, owner, group, is_repeated(group)));
    Ok(findings.collect())
}

/// The namespace and the probable name of the workload of an event's pod: its name without two generated parts.
fn workload(event: &Event) -> (&str, &str) {
    let name = event.about.name.rsplitn(3, '-').nth(2).unwrap_or(&event.about.name);
    (event.about.namespace.as_str(), name)
}

/// Whether no other container of the pod has such a hook.
fn has_only_its_hook(pod: &Pod) -> bool {
    let has_hook = |container: &&crate::objects::Container| {
        container.lifecycle.as_ref().is_some_and(|lifecycle| lifecycle.pre_stop.is_some())
    };
    pod.spec.all_containers().any(|one| one.name == PROXY_CONTAINER && has_hook(&one))
        && !pod.spec.all_containers().any(|one| one.name != PROXY_CONTAINER && has_hook(&one))
}

/// The workload of the pod. Most of these pods are deleted: then the name of its ReplicaSet is part of its own.
fn owner(ctx: &Context<'_>, event: &Event, pod: Option<&Pod>) -> Owner {
    if let Some(pod) = pod {
        return ctx.owners().owner(pod);
    }
    let (namespace, name) = (event.about.namespace.as_str(), event.about.name.as_str());
    let (above, _) = name.rsplit_once('-').unwrap_or((name, ""));
    let sets = ctx.optional_list::<ReplicaSet>();
    let set = sets.iter().find(|set| set.metadata.key() == (namespace, above));
    let (kind, name) = match set.and_then(|set| set.metadata.controller()) {
        Some(owner) => (owner.kind.as_str(), owner.name.as_str()),
        None => ("Pod", name),
    };
    Owner { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

fn finding(ctx: &Context<'_>, owner: &Owner, group: &[&Event], is_repeated: bool) -> Finding {
    let names: Vec<String> = group.iter().map(|event| event.about.name.clone()).collect();
    let subject = match owner.kind.as_str() {
        "Pod" => Subject::object("Pod", &owner.namespace, &owner.name),
        _ => owner.subject(names),
    };
    let message = "the proxy's preStop hook failed: the proxy stops while the application still shuts down, and \
        connections of that time fail";
    let is_missing = |event: &&Event| {
        ["no such file", "not found", "exited with 126", "exited with 127"]
            .iter()
            .any(|text| event.message.contains(text))
    };
    let remedy = match group.iter().any(is_missing) {
        true => Remedy::new().note("Use a proxy image that contains /bin/sleep, as Linkerd's own images since 2.11 do"),
        false => Remedy::new().note(
            "Read the reason in the kubelet's log of the node, on the line with PreStopHook: exit code 137 means that \
             the hook takes longer than terminationGracePeriodSeconds",
        ),
    };
    let finding = ctx
        .finding(subject, message)
        .evidences(
            group
                .iter()
                .take(QUOTED)
                .map(|event| events::quoted(format!("Pod {}/{}", event.about.namespace, event.about.name), event)),
        )
        .remedy(remedy.note(
            "Or use native sidecars (Kubernetes 1.29 and newer), which stop after the application and need no hook",
        ));
    // A pod that is deleted at once has no time for a hook.
    if is_repeated { finding } else { finding.severity(Severity::Info) }
}
