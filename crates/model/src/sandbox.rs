//! Failures of linkerd-cni's CNI ADD, joined from events, journals and pods. Events and journals are
//! history; the pod shows whether it still waits for its sandbox. Checks interpret the failures.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::events;
use super::journal::{Journal, JournalLine};
use super::owners::{Owner, Owners};
use crate::finding::Evidence;
use crate::knowledge::{Knowledge, Signature};
use crate::objects::{ContainerStatus, Event, Pod, Uid};

/// How long an ADD counts as failed after its last event, if the pod is unknown. The kubelet retries at
/// least every few minutes, and the API server keeps events for an hour.
const RECENT: SignedDuration = SignedDuration::from_mins(75);

/// A failed CNI ADD of linkerd-cni for a pod that is not known to have a sandbox since.
#[derive(Debug, Clone)]
pub struct AddFailure<'a> {
    /// The pod's namespace.
    pub namespace: Cow<'a, str>,
    /// The pod's name.
    pub pod: Cow<'a, str>,
    /// The pod's owner.
    pub owner: Owner,
    /// Its node; empty if unknown.
    pub node: &'a str,
    /// The meaning of the error; `None` for an unknown one.
    pub signature: Option<&'a Signature>,
    /// The plugin's error.
    pub error: Cow<'a, str>,
    /// The source of the report.
    pub reported_by: ReportedBy<'a>,
    /// The iptables error, if the node's journal contains it.
    pub detail: Option<(JournalLine<'a>, &'a Signature)>,
    /// Whether the pod itself shows that it still waits; otherwise only the event does.
    pub waits: bool,
}

/// The source of a failure report.
#[derive(Debug, Clone, Copy)]
pub enum ReportedBy<'a> {
    Event(&'a Event),
    /// A line of a journal.
    Journal(JournalLine<'a>),
}

impl ReportedBy<'_> {
    /// When it was last reported.
    fn last(&self) -> Option<Timestamp> {
        match self {
            ReportedBy::Event(event) => event.last.get(),
            ReportedBy::Journal(line) => line.at,
        }
    }
}

impl AddFailure<'_> {
    /// Whether the error has that signature.
    pub fn is(&self, signature: &str) -> bool {
        self.signature.is_some_and(|known| known.id == signature)
    }

    /// The event or journal line as evidence.
    pub fn evidence(&self) -> Evidence {
        let said = format!("plugin type=\"linkerd-cni\" … failed (add): {}", self.error);
        match self.reported_by {
            ReportedBy::Event(event) => {
                let place = events::place(format!("Pod {}/{}", self.namespace, self.pod), event);
                Evidence { place, said }
            }
            ReportedBy::Journal(line) => {
                let when = line.at.map(|at| format!(" (last {at})")).unwrap_or_default();
                let name = format!("node {}, journal", line.node);
                Evidence::other(name, format!("Pod {}/{}: {said}{when}", self.namespace, self.pod))
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum KnownPods<'a> {
    /// All pods: one that is missing does not exist.
    Every(&'a [Pod]),
    /// Some pods, or none.
    Some(&'a [Pod]),
}

/// The pods that wait for a sandbox because of linkerd-cni, each with its last error, ordered by namespace
/// and name. Leaves out pods that are deleted, running or ended.
pub fn add_failures<'a>(
    (events, journals): (&'a [Event], &[Journal<'a>]),
    pods: KnownPods<'a>,
    owners: &Owners<'_>,
    knowledge: &'a Knowledge,
    now: Timestamp,
) -> Vec<AddFailure<'a>> {
    let mut last = last_errors(events, knowledge);
    for journal in journals {
        add_journal(&mut last, *journal, knowledge, now);
    }
    if last.is_empty() {
        return Vec::new();
    }
    let (list, every) = match pods {
        KnownPods::Every(list) => (list, true),
        KnownPods::Some(list) => (list, false),
    };
    let wanted: BTreeSet<(&str, &str)> =
        last.keys().map(|(namespace, name, _)| (namespace.as_ref(), name.as_ref())).collect();
    let known: BTreeMap<(&str, &str), &Pod> = list
        .iter()
        .map(|pod| ((pod.metadata.namespace.as_str(), pod.metadata.name.as_str()), pod))
        .filter(|(key, _)| wanted.contains(key))
        .collect();
    let known: BTreeMap<(String, String), &Pod> =
        known.into_iter().map(|((namespace, name), pod)| ((namespace.to_owned(), name.to_owned()), pod)).collect();
    let mut failed = Vec::new();
    for ((namespace, name, uid), failure) in last {
        let pod = known.get(&(namespace.to_string(), name.to_string())).copied();
        let when = failure.reported_by.last();
        let waits = match pod {
            // Another pod of that name, for example an earlier one of a StatefulSet.
            Some(pod) if !uid.is_empty() && !pod.metadata.uid.is_empty() && uid != pod.metadata.uid => {
                continue;
            }
            Some(pod) if !waits_for_sandbox(pod, when) => continue,
            Some(_) => true,
            None if every || when.is_some_and(|last| now.duration_since(last) > RECENT) => continue,
            None => false,
        };
        let node = pod.map(|pod| pod.node_name.as_str()).filter(|node| !node.is_empty());
        let node = node.unwrap_or(match failure.reported_by {
            ReportedBy::Event(event) => &event.host,
            ReportedBy::Journal(line) => line.node,
        });
        let of_iptables = failure.signature.is_some_and(|signature| signature.id.starts_with("exit-"));
        let journal = journals.iter().filter(|journal| of_iptables && journal.node == node);
        failed.push(AddFailure {
            owner: pod.map_or_else(|| itself(&namespace, &name), |pod| owners.owner(pod)),
            namespace,
            pod: name,
            node,
            signature: failure.signature,
            error: failure.error,
            detail: journal.filter_map(|journal| journal.iptables_error_near(knowledge, now, when)).last(),
            reported_by: failure.reported_by,
            waits,
        });
    }
    failed
}

/// The last error of a pod.
struct LastError<'a> {
    reported_by: ReportedBy<'a>,
    error: Cow<'a, str>,
    signature: Option<&'a Signature>,
}

/// The last error of each pod, by namespace, name and uid. The two event APIs return one event twice.
type LastErrors<'a> = BTreeMap<(Cow<'a, str>, Cow<'a, str>, Uid), LastError<'a>>;

fn last_errors<'a>(events: &'a [Event], knowledge: &'a Knowledge) -> LastErrors<'a> {
    let mut last: LastErrors<'a> = BTreeMap::new();
    for event in events.iter().filter(|e| e.about.kind == "Pod" && e.message.contains("linkerd-cni")) {
        let Some(failure) = knowledge.signatures().match_add_failure(&event.message) else { continue };
        let about = &event.about;
        let key = (about.namespace.as_str().into(), about.name.as_str().into(), about.uid.clone());
        if last.get(&key).is_none_or(|held| held.reported_by.last() < event.last.get()) {
            let error = failure.answer.into();
            let reported_by = ReportedBy::Event(event);
            last.insert(key, LastError { reported_by, error, signature: failure.signature });
        }
    }
    last
}

/// Adds failures that only a journal reports, and errors that are later than the event's.
fn add_journal<'a>(last: &mut LastErrors<'a>, journal: Journal<'a>, knowledge: &'a Knowledge, now: Timestamp) {
    for failure in journal.add_failures(knowledge, now) {
        let (namespace, name, uid) = failure.pod;
        let uid = Uid::from(uid.as_str());
        // A line without a uid belongs to the known pod of that name.
        let same = last.keys().find(|(held_namespace, held_name, held_uid)| {
            *held_namespace == namespace
                && *held_name == name
                && (uid.is_empty() || held_uid.is_empty() || *held_uid == uid)
        });
        let key = same.cloned().unwrap_or_else(|| (namespace.into(), name.into(), uid));
        // If the times are equal, the event is used, because it has a count.
        let minute = SignedDuration::from_mins(1);
        let later =
            last.get(&key).is_none_or(|held| match (held.reported_by, held.reported_by.last(), failure.line.at) {
                (ReportedBy::Journal(_), None, _) => true,
                (ReportedBy::Journal(_), Some(held), at) => at.is_some_and(|at| at >= held),
                (ReportedBy::Event(_), Some(held), Some(at)) => at.duration_since(held) > minute,
                (ReportedBy::Event(_), _, _) => false,
            });
        if later {
            let reported_by = ReportedBy::Journal(failure.line);
            let error = failure.error.into();
            last.insert(key, LastError { reported_by, error, signature: failure.signature });
        }
    }
}

fn itself(namespace: &str, name: &str) -> Owner {
    Owner { kind: "Pod".to_owned(), namespace: namespace.to_owned(), name: name.to_owned() }
}

/// Whether a pod still lacks the sandbox whose ADD failed at that moment. After a node restarts, earlier
/// pods need a new one, so earlier container starts prove nothing.
fn waits_for_sandbox(pod: &Pod, failed: Option<Timestamp>) -> bool {
    if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
        return false;
    }
    // Since Kubernetes 1.29 the kubelet reports it in a condition.
    if let Some(condition) = pod.condition("PodReadyToStartContainers") {
        return condition.status != "True";
    }
    let Some(failed) = failed else { return has_started_nothing(pod) };
    let since = |started: Option<Timestamp>| started.is_some_and(|started| started >= failed);
    !statuses(pod).any(|status| {
        let (now, before) = (&status.state, status.last_state());
        let ended = [now.terminated(), before.terminated()];
        now.running().is_some()
            || ended.into_iter().flatten().any(|ended| since(ended.started_at.get().or(ended.finished_at.get())))
            || waits_for_something_else(status)
    })
}

/// Whether a pod is scheduled but none of its containers has ever started.
pub fn has_started_nothing(pod: &Pod) -> bool {
    let waiting = !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
    let bound = !pod.node_name.is_empty();
    waiting
        && bound
        && !statuses(pod).any(|status| {
            let state = &status.state;
            state.running().is_some() || state.terminated().is_some() || status.restart_count > 0
        })
}

/// Whether a container waits for a step after the sandbox: its image, its restart.
pub fn waits_for_something_else(status: &ContainerStatus) -> bool {
    let waiting = status.state.waiting();
    waiting.is_some_and(|waiting| !matches!(waiting.reason.as_str(), "" | "ContainerCreating" | "PodInitializing"))
}

fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: &str = "2026-01-15T12:00:00Z";
    const REFUSED: &str = "2026-01-15T11:58:00Z";

    fn event(uid: &str, answer: &str, last: &str) -> Event {
        let message =
            format!("Failed to create pod sandbox: plugin type=\"linkerd-cni\" name=\"x\" failed (add): {answer}");
        serde_json::from_value(json!({
            "metadata": {"namespace": "shop", "name": format!("e-{last}")},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web", "uid": uid},
            "reason": "FailedCreatePodSandBox", "message": message, "lastTimestamp": last, "source": {"host": "n1"},
        }))
        .expect("an event")
    }

    fn pod(status: &Value) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"namespace": "shop", "name": "web", "uid": "u1"},
            "spec": {"nodeName": "n1"}, "status": status,
        }))
        .expect("a pod")
    }

    fn found(events: &[Event], pods: KnownPods<'_>) -> Vec<(String, bool)> {
        let now = NOW.parse().expect("a time");
        add_failures((events, &[]), pods, &Owners::default(), Knowledge::embedded(), now)
            .into_iter()
            .map(|add| (add.signature.map_or("none", |s| s.id.as_str()).to_owned(), add.waits))
            .collect()
    }

    fn waits(status: &Value) -> bool {
        !found(&[event("u1", "Unauthorized", REFUSED)], KnownPods::Every(&[pod(status)])).is_empty()
    }

    #[test]
    fn a_pod_waits_until_something_in_it_has_started_since() {
        let container = |state: Value| json!({"phase": "Pending", "containerStatuses": [state]});
        assert!(waits(&json!({"phase": "Pending"})));
        assert!(waits(&container(json!({"state": {"waiting": {"reason": "ContainerCreating"}}}))));
        assert!(!waits(&container(json!({"state": {"running": {"startedAt": "2026-01-15T11:59:00Z"}}}))));
        assert!(!waits(&container(json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}}))));
        assert!(!waits(&json!({"phase": "Succeeded"})));
        // The node restarted: the pod ran before, and waits for a new sandbox.
        let before =
            json!({"exitCode": 255, "startedAt": "2026-01-13T09:00:00Z", "finishedAt": "2026-01-15T11:50:00Z"});
        assert!(waits(&container(json!({"restartCount": 1, "state": {"terminated": before}}))));
        let after = json!({"exitCode": 95, "startedAt": "2026-01-15T11:59:00Z", "finishedAt": "2026-01-15T11:59:10Z"});
        assert!(!waits(&container(json!({"state": {"terminated": after}}))));
        let ready = |status: &str| json!({"conditions": [{"type": "PodReadyToStartContainers", "status": status}]});
        assert!(waits(&ready("False")) && !waits(&ready("True")));
    }

    #[test]
    fn events_of_deleted_or_replaced_pods_are_history() {
        let refused = [event("u0", "Unauthorized", REFUSED)];
        assert!(found(&refused, KnownPods::Every(&[pod(&json!({}))])).is_empty());
        assert!(found(&refused, KnownPods::Every(&[])).is_empty());
        assert_eq!(found(&refused, KnownPods::Some(&[])), [("unauthorized".to_owned(), false)]);
        let old = [event("u0", "Unauthorized", "2026-01-15T09:00:00Z")];
        assert!(found(&old, KnownPods::Some(&[])).is_empty());
    }

    #[test]
    fn one_event_of_both_apis_is_one_failure() {
        let core = event("u1", "exit status 127", REFUSED);
        let other: Event = serde_json::from_value(json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event",
            "metadata": {"namespace": "shop", "name": "e-2"},
            "regarding": {"kind": "Pod", "namespace": "shop", "name": "web", "uid": "u1"},
            "reason": "FailedCreatePodSandBox", "note": core.message, "deprecatedLastTimestamp": REFUSED,
            "deprecatedCount": 3, "reportingInstance": "n1",
        }))
        .expect("an event");
        let both = [core, other];
        assert_eq!(found(&both, KnownPods::Some(&[])), [("exit-127".to_owned(), false)]);
        assert_eq!(found(&both[1..], KnownPods::Some(&[])), [("exit-127".to_owned(), false)]);
    }

    #[test]
    fn journal_supplies_expired_failures_and_iptables_errors() {
        let lines: Vec<String> = [
            "Jan 15 11:57:30 n1 containerd[1]: Another app is currently holding the xtables lock.",
            r#"Jan 15 11:58:00 n1 kubelet[9]: err="plugin type=\"linkerd-cni\" failed (add): exit status 4" pod="shop/web" podUID="u1""#,
        ]
        .map(str::to_owned)
        .into();
        let journals = [Journal { node: "n1", lines: &lines }];
        let now = NOW.parse().expect("a time");
        let look = |events: &[Event], pods: &[Pod]| -> Vec<(String, Option<String>, bool)> {
            let knowledge = Knowledge::embedded();
            add_failures((events, &journals), KnownPods::Every(pods), &Owners::default(), knowledge, now)
                .into_iter()
                .map(|add| {
                    let id = add.signature.map_or("none", |s| s.id.as_str()).to_owned();
                    let event = matches!(add.reported_by, ReportedBy::Event(_));
                    (id, add.detail.map(|(_, row)| row.id.clone()), event)
                })
                .collect()
        };
        let waiting = [pod(&json!({}))];
        let lock = || Some("lock-held".to_owned());
        assert_eq!(look(&[], &waiting), [("exit-4".to_owned(), lock(), false)]);
        // The event with the same time is used, and counts only once.
        let event = event("u1", "exit status 4", REFUSED);
        assert_eq!(look(&[event], &waiting), [("exit-4".to_owned(), lock(), true)]);
        assert_eq!(look(&[], &[]), []);
    }

    #[test]
    fn the_last_error_counts() {
        let events = [
            event("u1", "exit status 127", REFUSED),
            event("u1", "Unauthorized", "2026-01-15T11:50:00Z"),
            event("u1", "something new", "2026-01-15T11:40:00Z"),
        ];
        assert_eq!(found(&events, KnownPods::Every(&[pod(&json!({}))])), [("exit-127".to_owned(), true)]);
    }
}
