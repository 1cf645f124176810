//! The observed times in which the pods of one component were not ready, each with its evidence. Statuses
//! and events show only the last change, so most of the past is not observed; nothing is inferred.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::events;
use crate::finding::Evidence;
use crate::objects::{Event, Node, Pod, Workload};

/// The longest time between a container's start and its readiness that counts as startup. After a longer
/// gap the container was ready earlier and lost readiness at an unknown time.
const START_UP: SignedDuration = SignedDuration::from_mins(5);
/// The minimum age difference between a ReplicaSet and a pod that replaces a lost one. In a rollout both
/// are new, and the old pods keep serving.
const REPLACED: SignedDuration = SignedDuration::from_secs(60);

/// The spans in which the pods of a component were unready.
#[derive(Debug, Default)]
pub struct Downtime {
    pods: Vec<PodDowntime>,
}

#[derive(Debug)]
struct PodDowntime {
    created: Timestamp,
    spans: Vec<Span>,
    /// Since when it has been ready without a break, with the evidence.
    ready: Option<(Timestamp, Evidence)>,
}

#[derive(Debug)]
struct Span {
    from: Timestamp,
    until: Timestamp,
    seen: Evidence,
}

impl Downtime {
    /// Reads the spans from the component's existing pods. `deployment`, `replica_sets`, `nodes` and
    /// `events` reveal more of the past; `now` ends open spans.
    pub fn new<'a>(
        pods: impl Iterator<Item = &'a Pod>,
        deployment: Option<&Workload>,
        replica_sets: &[Workload],
        nodes: &[Node],
        events: &[Event],
        now: Timestamp,
    ) -> Downtime {
        let nodes: HashMap<&str, &Node> = nodes.iter().map(|node| (node.metadata.name.as_str(), node)).collect();
        let sets: HashMap<(&str, &str), &Workload> = replica_sets
            .iter()
            .map(|set| ((set.metadata.namespace.as_str(), set.metadata.name.as_str()), set))
            .collect();
        let pods = pods
            .filter_map(|pod| {
                let created = pod.metadata.creation_timestamp.get()?;
                let mut spans: Vec<Span> = match ready_since(pod) {
                    Some(ready) => starting(pod, ready, replaces_a_lost_one(pod, deployment, &sets)),
                    None => vec![unready(pod, created, now)],
                };
                if let Some(node) = nodes.get(pod.node_name.as_str()) {
                    spans.extend(rebooted(pod, node));
                }
                spans.extend(events.iter().filter_map(|event| probed(pod, event)));
                let ready = ready_since(pod).map(|since| {
                    let seen =
                        Evidence::field(pod.described(), "status.conditions[Ready]", format!("True since {since}"));
                    (since, seen)
                });
                Some(PodDowntime { created, spans, ready })
            })
            .collect();
        Downtime { pods }
    }

    /// Evidence that no pod of the component was ready at `moment`, one per pod. `None` if this was not
    /// observed, which does not prove that one was ready.
    pub fn at(&self, moment: Timestamp) -> Option<Vec<&Evidence>> {
        // A pod that was created later replaced an unknown one.
        if self.pods.is_empty() || self.pods.iter().any(|pod| pod.created > moment) {
            return None;
        }
        let down = |pod: &'_ PodDowntime| pod.spans.iter().position(|span| span.from <= moment && moment < span.until);
        self.pods.iter().map(|pod| down(pod).map(|at| &pod.spans[at].seen)).collect()
    }

    /// Evidence that a pod of the component was ready at `moment`. `None` if this was not observed.
    pub fn ready_at(&self, moment: Timestamp) -> Option<&Evidence> {
        let ready = self.pods.iter().filter_map(|pod| pod.ready.as_ref());
        ready.filter(|(since, _)| *since <= moment).min_by_key(|(since, _)| *since).map(|(_, seen)| seen)
    }
}

fn ready_since(pod: &Pod) -> Option<Timestamp> {
    pod.condition("Ready").filter(|ready| ready.status == "True")?.last_transition_time.get()
}

/// The span of a pod that is not ready now.
fn unready(pod: &Pod, created: Timestamp, now: Timestamp) -> Span {
    let condition = pod.condition("Ready");
    let since = condition.and_then(|ready| ready.last_transition_time.get()).unwrap_or(created);
    let status = condition.map_or("no Ready condition", |ready| ready.status.as_str());
    let seen = Evidence::field(pod.described(), "status.conditions[Ready]", format!("{status} since {since}"));
    Span { from: since, until: now.max(since), seen }
}

/// When a container of a ready pod became ready, if soon after its start; else its start.
fn serving(started: Timestamp, ready: Option<Timestamp>) -> Timestamp {
    match ready {
        Some(ready) if ready >= started && ready.duration_since(started) <= START_UP => ready,
        _ => started,
    }
}

/// The time between a node's return and the start of a container whose earlier runs the runtime no longer
/// knows, which only a restart of the node causes. Earlier containers ended with it.
fn rebooted(pod: &Pod, node: &Node) -> Vec<Span> {
    let back = node
        .status
        .conditions
        .iter()
        .find(|condition| condition.kind == "Ready" && condition.status == "True")
        .and_then(|condition| condition.last_transition_time.get());
    let Some(back) = back else { return Vec::new() };
    let forgotten = pod
        .status
        .container_statuses
        .iter()
        .filter(|status| status.restart_count > 0 && status.last_state().terminated().is_none());
    let spans = forgotten.filter_map(|status| {
        let started = status.state.running()?.started_at.get()?;
        let until = serving(started, ready_since(pod));
        let said = format!(
            "restartCount {}, started again {started}; its node {} is Ready since {back}",
            status.restart_count, node.metadata.name
        );
        let path = format!("status.containerStatuses[{}]", status.name);
        Some(Span { from: back, until, seen: Evidence::field(pod.described(), path, said) })
    });
    spans.filter(|span| span.from < span.until).collect()
}

/// The time before the last start of a pod that is ready now: since it replaced a lost pod, or since the
/// end of a container that was restarted.
fn starting(pod: &Pod, ready: Timestamp, replaces: bool) -> Vec<Span> {
    let restarts = pod.status.container_statuses.iter().filter_map(|status| {
        let started = status.state.running()?.started_at.get()?;
        let ended = status.last_state().terminated()?.finished_at.get()?;
        let said = format!("started again {started}, ended {ended}, ready since {ready}");
        let path = format!("status.containerStatuses[{}]", status.name);
        Some(Span {
            from: ended,
            until: serving(started, Some(ready)),
            seen: Evidence::field(pod.described(), path, said),
        })
    });
    let restarted = |pod: &Pod| pod.status.container_statuses.iter().any(|status| status.restart_count > 0);
    let first = pod.metadata.creation_timestamp.get().filter(|_| replaces && !restarted(pod)).and_then(|created| {
        let started = pod.status.container_statuses.iter().filter_map(|s| s.state.running()?.started_at.get()).max()?;
        let said = format!("created {created}, started {started}, ready since {ready}");
        let seen = Evidence::field(pod.described(), "status.conditions[Ready]", said);
        Some(Span { from: created, until: serving(started, Some(ready)), seen })
    });
    restarts.chain(first).filter(|span| span.from < span.until).collect()
}

/// Whether a pod replaced a lost one, as opposed to a rollout or a scale-up: its ReplicaSet is older, and
/// the Deployment was unavailable until after the pod was created.
fn replaces_a_lost_one(pod: &Pod, deployment: Option<&Workload>, sets: &HashMap<(&str, &str), &Workload>) -> bool {
    let Some(created) = pod.metadata.creation_timestamp.get() else { return false };
    let unavailable_until = deployment
        .and_then(|d| d.status.conditions.iter().find(|c| c.kind == "Available" && c.status == "True"))
        .and_then(|condition| condition.last_transition_time.get());
    if unavailable_until.is_some_and(|until| until >= created) {
        return true;
    }
    let wanted = deployment.map(|d| d.spec.replicas.unwrap_or(1));
    let set =
        pod.metadata.controller().and_then(|owner| sets.get(&(pod.metadata.namespace.as_str(), owner.name.as_str())));
    // Other replicas may have been ready in the meantime; each is evaluated separately.
    wanted == Some(1)
        && set
            .and_then(|set| set.metadata.creation_timestamp.get())
            .is_some_and(|of_set| created.duration_since(of_set) >= REPLACED)
}

/// A span in which the kubelet's readiness probe failed repeatedly.
fn probed(pod: &Pod, event: &Event) -> Option<Span> {
    let about = &event.about;
    let (first, last) = (event.first.get()?, event.last.get()?);
    let its = about.kind == "Pod"
        && about.name == pod.metadata.name
        && about.namespace == pod.metadata.namespace
        && event.reason == "Unhealthy"
        && event.message.starts_with("Readiness probe failed")
        && event.count >= 3;
    its.then(|| {
        let place = events::place(pod.described(), event);
        let seen = Evidence { place, said: format!("{} (since {first})", event.message) };
        Span { from: first, until: last, seen }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(time: &str) -> Timestamp {
        format!("2026-01-15T{time}Z").parse().expect("a time")
    }

    fn pod(created: &str, ended: Option<&str>, started: &str, ready: (&str, &str)) -> Pod {
        let day = |time: &str| format!("2026-01-15T{time}Z");
        let last = ended.map_or(json!({}), |ended| json!({"terminated": {"exitCode": 255, "finishedAt": day(ended)}}));
        serde_json::from_value(json!({
            "metadata": {"namespace": "linkerd", "name": "i", "creationTimestamp": day(created),
                "ownerReferences": [{"kind": "ReplicaSet", "name": "i-rs", "controller": true}]},
            "status": {
                "conditions": [{"type": "Ready", "status": ready.0, "lastTransitionTime": day(ready.1)}],
                "containerStatuses": [{"name": "proxy-injector", "restartCount": u32::from(ended.is_some()),
                    "lastState": last, "state": {"running": {"startedAt": day(started)}}}]
            }
        }))
        .expect("a pod")
    }

    fn set(created: &str) -> Workload {
        serde_json::from_value(json!({"metadata": {"namespace": "linkerd", "name": "i-rs",
            "creationTimestamp": format!("2026-01-15T{created}Z")}, "spec": {"replicas": 1}}))
        .expect("a ReplicaSet")
    }

    fn down(pods: &[Pod], sets: &[Workload], moment: &str) -> bool {
        let deployment = set("01:00:00");
        Downtime::new(pods.iter(), Some(&deployment), sets, &[], &[], at("12:00:00")).at(at(moment)).is_some()
    }

    #[test]
    fn restarted_container_was_down_until_ready() {
        let restarted = [pod("01:00:00", Some("08:00:00"), "08:01:00", ("True", "08:01:20"))];
        assert!(!down(&restarted, &[], "07:59:59"));
        assert!(down(&restarted, &[], "08:00:00"));
        assert!(down(&restarted, &[], "08:01:19"));
        assert!(!down(&restarted, &[], "08:01:20"));
        let flapped = [pod("01:00:00", Some("08:00:00"), "08:01:00", ("True", "10:00:00"))];
        assert!(!down(&flapped, &[], "08:30:00"));
    }

    #[test]
    fn container_without_history_was_down_since_node_ready() {
        let node: Node = serde_json::from_value(json!({"metadata": {"name": "n"}, "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-15T08:00:00Z"}]}}))
        .expect("a node");
        let mut back = pod("01:00:00", None, "08:01:00", ("True", "08:01:20"));
        back.node_name = "n".into();
        let down = |pod: &Pod, moment: &str| {
            let pods = std::iter::once(pod);
            let nodes = std::slice::from_ref(&node);
            Downtime::new(pods, None, &[], nodes, &[], at("12:00:00")).at(at(moment)).is_some()
        };
        assert!(!down(&back, "08:00:30"), "never restarted: it came up with nothing lost");
        let again = json!([{"name": "proxy-injector", "restartCount": 1,
            "state": {"running": {"startedAt": "2026-01-15T08:01:00Z"}}}]);
        back.status.container_statuses = serde_json::from_value(again).expect("a status");
        assert!(!down(&back, "07:59:59"));
        assert!(down(&back, "08:00:00"));
        assert!(down(&back, "08:01:19"));
        assert!(!down(&back, "08:01:20"));
    }

    #[test]
    fn new_pod_shows_a_gap_only_if_it_replaces_a_lost_one() {
        let fresh = [pod("08:00:00", None, "08:00:30", ("True", "08:00:40"))];
        assert!(down(&fresh, &[set("01:00:00")], "08:00:10"));
        assert!(!down(&fresh, &[set("08:00:00")], "08:00:10"), "a rollout: the old pod served on");
        assert!(!down(&fresh, &[], "08:00:10"), "nothing tells");
        assert!(!down(&fresh, &[set("01:00:00")], "07:59:00"), "before it, another pod");
    }

    #[test]
    fn one_ready_pod_is_enough() {
        let unready = pod("01:00:00", None, "01:00:10", ("False", "09:00:00"));
        let steady = pod("01:00:00", None, "01:00:10", ("True", "01:00:20"));
        assert!(down(std::slice::from_ref(&unready), &[], "10:00:00"));
        assert!(!down(&[unready, steady], &[], "10:00:00"));
        assert!(!down(&[], &[], "10:00:00"));
    }
}
