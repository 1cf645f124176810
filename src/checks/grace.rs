//! The grace period: how long a node, a pod or a component may take to become ready before that is a
//! problem. All checks share it, and it ends at the evaluation time.

use jiff::SignedDuration;

use crate::checks::prelude::*;
use crate::model::pod_status::{has_failed, lost_readiness};
use crate::objects::Time;

/// The wait of `linkerd check`.
const GRACE: SignedDuration = SignedDuration::from_mins(5);

impl Context<'_> {
    /// Whether what began at `since` may still be starting. Without a known beginning it may not, and a run
    /// that waits until everything is ready (`--wait`) grants no grace period.
    pub(super) fn within_grace(&self, since: Time) -> bool {
        !self.settings.no_grace && self.is_recent(since)
    }

    /// As [`Context::within_grace`], also in a run that waits: workloads roll out all the time, and a run
    /// cannot wait for that.
    pub(super) fn is_recent(&self, since: Time) -> bool {
        since.get().is_some_and(|since| self.now().duration_since(since) <= GRACE)
    }

    /// Whether a pod is new and has never been ready, and no container of it has failed.
    pub(super) fn is_starting(&self, pod: &Pod) -> bool {
        let is_ready = pod.condition("Ready").is_some_and(|condition| condition.status == "True");
        let was_ready = lost_readiness(pod, None).is_some();
        !is_ready && !was_ready && self.within_grace(pod.metadata.creation_timestamp) && !has_failed(pod)
    }

    /// Whether there are pods, and all of them are starting.
    pub(super) fn are_starting(&self, pods: &[&Pod]) -> bool {
        !pods.is_empty() && pods.iter().all(|pod| self.is_starting(pod))
    }
}

/// A finding about something that may still be starting: worth knowing then, while `linkerd check` waits, and fails.
pub(super) fn spared(finding: Finding, is_starting: bool) -> Finding {
    let weight = finding.rows.weight(finding.severity);
    if is_starting { finding.severity(Severity::Info).rows_as(weight).parameter("starting") } else { finding }
}
