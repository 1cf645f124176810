//! Containers that ended in a way that a defect explains, and log lines that only a defect writes.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::Affected;
use super::deciding::Releases;
use crate::checks::{Context, reported};
use crate::finding::{Evidence, Finding};
use crate::knowledge::Decides;
use crate::model::owners::Owner;
use crate::objects::{ContainerStatus, Pod};

/// How long ago a container that runs again may have ended: the window of the check for restarts.
const RECENT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Findings of all rows about endings and log lines, one for each workload.
pub(super) fn findings(ctx: &Context<'_>, affected: &[Affected<'_>]) -> Vec<Finding> {
    let wanted = |row: &&Affected<'_>| row.row.trigger.ended.is_some() || row.row.trigger.log.is_some();
    let rows: Vec<&Affected<'_>> = affected.iter().filter(wanted).collect();
    let Some(pods) = ctx.noted(ctx.seen::<Pod>()).filter(|_| !rows.is_empty()) else { return Vec::new() };
    let owners = ctx.owners();
    let mut found: BTreeMap<(usize, Owner), (Vec<String>, Evidence)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        for (at, row) in rows.iter().enumerate() {
            let Some(evidence) = row.shown_by(ctx, pod) else { continue };
            let name = pod.metadata.name.clone();
            found.entry((at, owners.of(pod))).or_insert_with(|| (Vec::new(), evidence)).0.push(name);
        }
    }
    let finding = |((at, owner), (pods, evidence)): ((usize, Owner), (Vec<String>, Evidence))| {
        rows.get(at).map(|row| row.finding(ctx, owner.subject(pods), evidence).likely())
    };
    found.into_iter().filter_map(finding).collect()
}

impl Affected<'_> {
    /// What shows the defect in a pod.
    fn shown_by<'c>(&self, ctx: &Context<'c>, pod: &'c Pod) -> Option<Evidence> {
        let is_control_plane = pod.metadata.namespace == ctx.namespaces().control_plane;
        let has_it = match self.row.decides {
            Decides::Proxy => Releases::of_pod(ctx, self.row, pod),
            Decides::ControlPlane => is_control_plane,
            Decides::ServiceMirror => true,
        };
        if !has_it {
            return None;
        }
        self.ended(ctx, pod).or_else(|| self.logged(ctx, pod))
    }

    fn ended(&self, ctx: &Context<'_>, pod: &Pod) -> Option<Evidence> {
        let ended = self.row.trigger.ended.as_ref()?;
        let status = pod.container_status(&ended.container)?;
        let states = [("state", Some(&status.state)), ("lastState", Some(status.last_state()))];
        states.into_iter().find_map(|(field, state)| {
            let state = state?.terminated()?;
            let is_recent = field == "state"
                || state.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= RECENT);
            (is_recent && ended.matches(state.exit_code, &state.reason)).then(|| {
                let (namespace, name) = pod.metadata.key();
                Evidence::field(
                    format!("Pod {namespace}/{name}"),
                    format!("status.containerStatuses[{}].{field}.terminated", container(status)),
                    format!("exit code {}, reason {}", state.exit_code, state.reason),
                )
            })
        })
    }

    fn logged<'c>(&self, ctx: &Context<'c>, pod: &'c Pod) -> Option<Evidence> {
        let wanted = self.row.trigger.log.as_ref()?;
        let logs = ctx.log_hints();
        if logs.is_empty() {
            return None;
        }
        reported::containers(ctx, pod).find_map(|container| {
            let log = reported::log_of(logs, pod, container)?;
            let all = reported::reported(ctx, log, pod, container);
            all.iter().find(|one| one.is_of(wanted)).map(|one| one.evidence(pod))
        })
    }
}

fn container(status: &ContainerStatus) -> &str {
    status.name.as_str()
}
