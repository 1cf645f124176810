//! Deletes pods: those of this run on every exit, and leftovers of killed runs. A pod is deleted when the server no
//! longer lists it.

use std::time::{Duration, Instant};

use futures::StreamExt;
use jiff::Timestamp;
use serde_json::Value;

use super::calls::{self, Pods};
use super::manifest::{DEADLINE_SECONDS, OURS, RUN_LABEL};
use super::{AT_ONCE, Left, Plan, state};
use crate::source::live::api_client::{ApiClient, RequestError};

/// Time limit for deletions.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pauses between looks.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);
/// An active run would have deleted a pod that ended this long ago.
const READ_WITHIN: i64 = 10;
/// Time after its deadline when a pod counts as abandoned, in seconds.
const GRACE: i64 = 60;

/// A pod of another run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignPod {
    pub namespace: String,
    pub name: String,
    /// Id of its run.
    pub run: String,
    uid: String,
    created: Option<Timestamp>,
    /// Time of its end, or else of its creation.
    ended: Option<Timestamp>,
}

impl ForeignPod {
    fn from_pod(pod: &Value) -> ForeignPod {
        let metadata = &pod["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let created = metadata["creationTimestamp"].as_str().and_then(|time| time.parse().ok());
        let ended = if state::is_over(pod) { state::ended_at(pod).or(created) } else { None };
        ForeignPod {
            namespace: text(&metadata["namespace"]),
            name: text(&metadata["name"]),
            run: text(&metadata["labels"][RUN_LABEL]),
            uid: text(&metadata["uid"]),
            created,
            ended,
        }
    }

    /// Whether its run has surely ended.
    pub(super) fn is_abandoned(&self, now: Timestamp) -> bool {
        let age = |since: Option<Timestamp>| since.map_or(i64::MAX, |since| now.duration_since(since).as_secs());
        let deadline = i64::try_from(DEADLINE_SECONDS).unwrap_or(i64::MAX);
        match self.ended {
            Some(ended) => age(Some(ended)) >= READ_WITHIN,
            None => age(self.created) >= deadline + GRACE,
        }
    }
}

/// Pods of other runs: in all namespaces, or only in this one if listing is limited.
pub(super) async fn others(api: &ApiClient, pods: &Pods<'_>, run: &str) -> Result<Vec<ForeignPod>, RequestError> {
    let listed = match calls::everywhere(api, OURS).await {
        Ok(listed) => listed,
        Err(_) => pods.list(OURS).await?,
    };
    let mut others: Vec<ForeignPod> =
        listed.iter().map(ForeignPod::from_pod).filter(|other| other.run != run).collect();
    others.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
    Ok(others)
}

/// Deletes pods of other runs; returns failures with the reason.
pub(super) async fn remove(api: &ApiClient, others: &[ForeignPod]) -> Vec<Left> {
    let one = |other: ForeignPod| async move {
        let pods = Pods::new(api, &other.namespace);
        let trouble = pods.delete(&other.name, Some(&other.uid), false).await.err()?;
        Some(Left {
            namespace: other.namespace.clone(),
            run: other.run.clone(),
            names: vec![other.name],
            why: calls::words(&trouble),
        })
    };
    let removed = futures::stream::iter(others.to_vec()).map(one).buffer_unordered(AT_ONCE);
    removed.filter_map(std::future::ready).collect().await
}

/// Deletes pods of other runs that have become abandoned since the start. Waits a moment for those that have just
/// ended. Returns the remaining ones.
pub(super) async fn remove_abandoned(api: &ApiClient, pods: &Pods<'_>, plan: &Plan) -> Vec<ForeignPod> {
    let (run, seen) = (&plan.pattern.run, &plan.running);
    let until = Instant::now() + Duration::from_secs(READ_WITHIN.unsigned_abs() + 2);
    loop {
        let Ok(mut there) = others(api, pods, run).await else { return seen.clone() };
        there.retain(|other| seen.iter().any(|earlier| earlier.uid == other.uid));
        let (gone, there): (Vec<_>, Vec<_>) = there.into_iter().partition(|other| other.is_abandoned(plan.now()));
        remove(api, &gone).await;
        if !there.iter().any(|other| other.ended.is_some()) || Instant::now() > until {
            return there;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Deletes all pods of this run and verifies it. `names` are the requested pods; `settled` is the time when creations
/// without a response have happened or never will.
pub(super) async fn own(
    pods: &Pods<'_>,
    pattern: &super::manifest::Pattern,
    names: &[String],
    settled: Option<Instant>,
) -> Option<Left> {
    let selector = pattern.selector();
    let until = Instant::now() + PATIENCE;
    let mut pause = FIRST_PAUSE;
    loop {
        let (there, why) = match pods.list(&selector).await {
            Ok(listed) => {
                let name = |pod: &Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                (listed.iter().map(name).collect(), "it still exists".to_owned())
            }
            // Pods can be deleted by name if they cannot be listed.
            Err(trouble) => (names.to_vec(), calls::words(&trouble)),
        };
        let waiting = settled.is_some_and(|settled| Instant::now() < settled);
        if there.is_empty() && !waiting {
            return None;
        }
        let deleted = futures::stream::iter(there.clone())
            .map(|name| async move { pods.delete(&name, None, false).await.err() })
            .buffer_unordered(AT_ONCE);
        let trouble: Vec<_> = deleted.filter_map(std::future::ready).collect().await;
        if Instant::now() > until {
            return Some(Left {
                namespace: pods.namespace.clone(),
                run: pattern.run.clone(),
                names: there,
                why: trouble.first().map_or(why, calls::words),
            });
        }
        // Usually all are deleted now, and the next look confirms it.
        tokio::time::sleep(if there.is_empty() { FIRST_PAUSE } else { pause }).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn other(created: &str, status: Value) -> ForeignPod {
        let metadata = json!({
            "namespace": "kube-system", "name": "meshdoctor-0a-1", "uid": "u", "creationTimestamp": created,
            "labels": { RUN_LABEL: "0a" },
        });
        ForeignPod::from_pod(&json!({ "metadata": metadata, "status": status }))
    }

    #[test]
    fn pod_is_abandoned_after_its_deadline() {
        let now: Timestamp = "2026-01-15T12:00:00Z".parse().unwrap();
        let abandoned = |created: &str, status: Value| other(created, status).is_abandoned(now);
        let running = json!({ "phase": "Running" });
        assert!(!abandoned("2026-01-15T11:59:00Z", running.clone()));
        assert!(abandoned("2026-01-15T11:55:59Z", running));
        let ended = |at: &str| {
            let state = json!({ "terminated": { "exitCode": 0, "finishedAt": at } });
            json!({ "phase": "Succeeded", "containerStatuses": [{ "name": "node-snapshot", "state": state }] })
        };
        assert!(!abandoned("2026-01-15T11:59:00Z", ended("2026-01-15T11:59:55Z")));
        assert!(abandoned("2026-01-15T11:59:00Z", ended("2026-01-15T11:59:50Z")));
        // Without an end time, the creation time counts.
        assert!(abandoned("2026-01-15T11:59:00Z", json!({ "phase": "Failed", "reason": "Evicted" })));
        assert!(!abandoned("2026-01-15T11:59:58Z", json!({ "phase": "Failed", "reason": "Evicted" })));
    }
}
