//! Moments for timelines, read from objects: creation, ends and starts of containers, nodes that return,
//! the validity of certificates. Unknown times are left out.

use jiff::Timestamp;

use crate::certificates::Certificate;
use crate::finding::Moment;
use crate::objects::{ContainerStatus, Event, Meta, Node, Pod, Workload};
use crate::token::Claims;

/// `Pod shop/web-5d9f`
fn object_name(kind: &str, meta: &Meta) -> String {
    match meta.namespace.as_str() {
        "" => format!("{kind} {}", meta.name),
        namespace => format!("{kind} {namespace}/{}", meta.name),
    }
}

/// When an object was created.
pub fn created(kind: &str, meta: &Meta, what: &str) -> Option<Moment> {
    Moment::new(meta.creation_timestamp.get(), object_name(kind, meta), "metadata.creationTimestamp", what)
}

/// When the first and the last of several pods were created, with their number.
pub fn pods_created<'a>(pods: impl IntoIterator<Item = &'a Pod>, what: &str) -> Vec<Moment> {
    let mut pods: Vec<(Timestamp, &Pod)> =
        pods.into_iter().filter_map(|pod| Some((pod.metadata.creation_timestamp.get()?, pod))).collect();
    pods.sort_by_key(|(at, pod)| (*at, pod.metadata.name.as_str()));
    let moment = |(_, pod): &(Timestamp, &Pod), what: String| created("Pod", &pod.metadata, &what);
    match pods.as_slice() {
        [] => Vec::new(),
        [only] => moment(only, what.to_owned()).into_iter().collect(),
        [first, .., last] if first.0 == last.0 => {
            moment(first, format!("{what}, {} pods at once", pods.len())).into_iter().collect()
        }
        [first, .., last] => {
            let all = pods.len();
            let both =
                [moment(first, format!("{what}, first of {all}")), moment(last, format!("{what}, last of {all}"))];
            both.into_iter().flatten().collect()
        }
    }
}

/// When a pod was created, and the last end and start of its restarted containers that `which` selects.
pub fn of_restarts(pod: &Pod, what: &str, which: impl Fn(&str) -> bool) -> Vec<Moment> {
    let object = object_name("Pod", &pod.metadata);
    let restarted = pod.status.container_statuses.iter().filter(|s| s.restart_count > 0 && which(&s.name));
    let restarts = restarted.flat_map(|status| of_container(&object, "containerStatuses", status));
    created("Pod", &pod.metadata, what).into_iter().chain(restarts).collect()
}

/// The lifetime of a pod: created, its containers' last end and start, ready. `which` selects the
/// containers.
pub fn of_pod(pod: &Pod, what: &str, which: impl Fn(&str) -> bool) -> Vec<Moment> {
    let status = &pod.status;
    let object = || object_name("Pod", &pod.metadata);
    let init = status.init_container_statuses.iter().map(|status| (status, "initContainerStatuses"));
    let own = status.container_statuses.iter().map(|status| (status, "containerStatuses"));
    let containers = init.chain(own).filter(|(status, _)| which(&status.name));
    let containers = containers.flat_map(|(status, list)| of_container(&object(), list, status));
    let ready = pod.condition("Ready").and_then(|ready| {
        let what = if ready.status == "True" { "ready" } else { "no longer ready" };
        // For a pod that was never ready, this time is only its creation.
        let never = ready.status != "True" && ready.last_transition_time == pod.metadata.creation_timestamp;
        Moment::new(ready.last_transition_time.get().filter(|_| !never), object(), "status.conditions[Ready]", what)
    });
    created("Pod", &pod.metadata, what).into_iter().chain(containers).chain(ready).collect()
}

/// The last end and the last start of a container.
pub fn of_container(object: &str, list: &str, status: &ContainerStatus) -> Vec<Moment> {
    let path = format!("status.{list}[{}]", status.name);
    let ended = [("lastState", status.last_state()), ("state", &status.state)].into_iter().filter_map(|(of, state)| {
        let ended = state.terminated()?;
        let reason = if ended.reason.is_empty() { String::new() } else { format!("{}, ", ended.reason) };
        let what = format!("{} ended: {reason}exit code {}", status.name, ended.exit_code);
        Moment::new(ended.finished_at.get(), object, format!("{path}.{of}.terminated.finishedAt"), what)
    });
    let started = status.state.running().and_then(|running| {
        let what = match status.restart_count {
            0 => format!("{} started", status.name),
            1 => format!("{} started again", status.name),
            many => format!("{} started again, for the {} time", status.name, ordinal(many)),
        };
        Moment::new(running.started_at.get(), object, format!("{path}.state.running.startedAt"), what)
    });
    ended.chain(started).collect()
}

fn ordinal(n: u32) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

/// When a node became ready or stopped being ready.
pub fn of_node(node: &Node) -> Option<Moment> {
    let ready = node.status.conditions.iter().find(|condition| condition.kind == "Ready")?;
    let what = if ready.status == "True" { "node ready" } else { "node no longer ready" };
    Moment::new(ready.last_transition_time.get(), object_name("Node", &node.metadata), "status.conditions[Ready]", what)
}

/// When the ReplicaSets of these pods were created: their rollouts.
pub fn rollouts<'a>(pods: &[&Pod], sets: &'a [Workload]) -> Vec<Moment> {
    let owns = |set: &&'a Workload| {
        pods.iter().any(|pod| {
            pod.metadata.namespace == set.metadata.namespace
                && pod
                    .metadata
                    .controller()
                    .is_some_and(|owner| owner.name == set.metadata.name && owner.kind == "ReplicaSet")
        })
    };
    sets.iter().filter(owns).filter_map(|set| created("ReplicaSet", &set.metadata, "rolled out")).collect()
}

/// When an event was first and last seen.
pub fn of_event(event: &Event) -> Vec<Moment> {
    let about = &event.about;
    let object = match about.namespace.as_str() {
        "" => format!("{} {}", about.kind, about.name),
        namespace => format!("{} {namespace}/{}", about.kind, about.name),
    };
    let reason = &event.reason;
    let first = event.first.get().filter(|_| event.count > 1 && event.first != event.last);
    let begun =
        Moment::new(first, &object, "event.firstTimestamp", format!("{reason}, first of {} times", event.count));
    let what = if first.is_some() { format!("{reason}, last of {} times", event.count) } else { reason.to_string() };
    let last = Moment::new(event.last.get(), &object, "event.lastTimestamp", what);
    begun.into_iter().chain(last).collect()
}

/// When several events were first and last seen.
pub fn of_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<Moment> {
    let mut all: Vec<Moment> = events.into_iter().flat_map(of_event).collect();
    all.sort();
    match all.as_slice() {
        [first, .., last] => vec![first.clone(), last.clone()],
        _ => all,
    }
}

/// When a certificate became valid, and when it expired, if in the past.
pub fn of_certificate(object: &str, field: &str, certificate: &Certificate, now: Timestamp) -> Vec<Moment> {
    let of = |at: Timestamp, end: &str, what: &str| {
        let what = format!("{} {what}", certificate.subject());
        Moment::new(Some(at).filter(|at| *at <= now), object, format!("{field} {end}"), what)
    };
    let ends = [
        of(certificate.not_before(), "notBefore", "valid from this time"),
        of(certificate.not_after(), "notAfter", "expired"),
    ];
    ends.into_iter().flatten().collect()
}

/// When a token was issued, and when it expired, if in the past.
pub fn of_token(node: &str, file: &str, claims: &Claims, now: Timestamp) -> Vec<Moment> {
    let object = format!("node {node}");
    let expired = claims.expires_at().filter(|at| *at <= now);
    let moments = [
        Moment::new(claims.issued_at(), &object, format!("{file} iat"), "the token was issued"),
        Moment::new(expired, &object, format!("{file} exp"), "the token expired"),
    ];
    moments.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(json: serde_json::Value) -> Pod {
        serde_json::from_value(json).expect("a pod")
    }

    #[test]
    fn unknown_times_are_left_out_and_known_ones_quoted() {
        let said = |moments: Vec<Moment>| {
            crate::finding::timeline_of(moments)
                .iter()
                .map(|m| format!("{} {}: {}", m.at, m.field, m.what))
                .collect::<Vec<_>>()
        };
        let never = pod(serde_json::json!({"metadata": {"namespace": "shop", "name": "web"}}));
        assert!(of_pod(&never, "created", |_| true).is_empty());
        assert!(pods_created([&never], "created").is_empty());
        let restarted = pod(serde_json::json!({
            "metadata": {"namespace": "shop", "name": "web", "creationTimestamp": "2026-01-15T06:00:00Z"},
            "status": {"containerStatuses": [
                {"name": "web", "restartCount": 2, "state": {"running": {"startedAt": "2026-01-15T07:00:05Z"}},
                 "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-15T07:00:00Z"}}},
                {"name": "other", "state": {"running": {"startedAt": "2026-01-15T06:00:09Z"}}}],
             "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-15T07:00:10Z"}]}
        }));
        assert_eq!(
            said(of_pod(&restarted, "created", |name| name == "web")),
            [
                "2026-01-15T06:00:00Z metadata.creationTimestamp: created",
                "2026-01-15T07:00:00Z status.containerStatuses[web].lastState.terminated.finishedAt: web ended: OOMKilled, exit code 137",
                "2026-01-15T07:00:05Z status.containerStatuses[web].state.running.startedAt: web started again, for the 2nd time",
                "2026-01-15T07:00:10Z status.conditions[Ready]: ready",
            ]
        );
    }
}
