//! The recent past of a pod for expressions of `defects.yaml`: containers that ended, and lines with a known meaning.

use jiff::SignedDuration;
use serde_json::{Map, Value, json};

use crate::checks::prelude::*;
use crate::checks::reported;

/// How long ago a container that runs again may have ended: the window of the check for restarts.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What happened to a pod lately.
#[derive(Default)]
pub(super) struct Past {
    /// Containers that ended: `container`, `exitCode`, `reason`.
    pub(super) ended: Vec<Value>,
    /// Rows of `mesh-logs.yaml` whose lines are in its logs or last outputs and current.
    pub(super) reported: Map<String, Value>,
    /// The evidence of each, by container or row.
    evidence: Vec<(String, Evidence)>,
}

impl Past {
    pub(super) fn new<'a>(ctx: &Context<'a>, pod: &'a Pod) -> Past {
        let mut past = Past::default();
        past.add_ended(ctx, pod);
        past.add_reported(ctx, pod);
        past
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.ended.is_empty() && self.reported.is_empty()
    }

    /// The evidence for the containers and rows that an expression names.
    pub(super) fn evidence_for<'s>(&'s self, expression: &'s str) -> impl Iterator<Item = &'s Evidence> {
        let named = |name: &str| expression.contains(&format!("'{name}'"));
        self.evidence.iter().filter(move |(name, _)| named(name)).map(|(_, evidence)| evidence)
    }

    fn add_ended(&mut self, ctx: &Context<'_>, pod: &Pod) {
        let all = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        for status in all {
            for (field, state) in [("state", &status.state), ("lastState", status.last_state())] {
                let Some(state) = state.terminated() else { continue };
                let is_recent =
                    field == "state" || state.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= RECENT);
                if !is_recent {
                    continue;
                }
                let (container, reason) = (status.name.as_str(), state.reason.as_str());
                self.ended.push(json!({
                    "container": container,
                    "exitCode": state.exit_code,
                    "reason": reason,
                }));
                let (namespace, name) = pod.metadata.key();
                let evidence = Evidence::field(
                    format!("Pod {namespace}/{name}"),
                    format!("status.containerStatuses[{container}].{field}.terminated"),
                    format!("exit code {}, reason {reason}", state.exit_code),
                );
                self.evidence.push((container.to_owned(), evidence));
            }
        }
    }

    fn add_reported<'a>(&mut self, ctx: &Context<'a>, pod: &'a Pod) {
        let logs = ctx.log_hints();
        for container in reported::containers(ctx, pod) {
            let log = reported::log_of(logs, pod, container);
            for one in reported::reported(ctx, log, pod, container) {
                self.reported.insert(one.id().to_owned(), json!(true));
                self.evidence.push((one.id().to_owned(), one.evidence(pod)));
            }
        }
    }
}
