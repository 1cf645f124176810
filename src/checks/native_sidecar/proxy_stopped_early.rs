//! `proxy-stopped-early`: an ordinary proxy of a pod that runs once was stopped before another container, which
//! then failed.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::family::Switch;
use super::job_held_by_proxy::{annotate, native};
use super::wording;
use crate::checks::prelude::*;
use crate::knowledge::KeyScope;
use crate::model::owners::Owners;
use crate::objects::Job;
use crate::objects::container::{DEBUG_CONTAINER, PROXY_CONTAINER};
use crate::objects::container_status::Terminated;

/// Containers that end within this time of each other end together.
const TOGETHER: SignedDuration = SignedDuration::from_secs(2);
/// Exit codes of a container that the kubelet ended: SIGKILL and SIGTERM.
const SIGNALS: [i32; 2] = [137, 143];
/// The annotation with which Argo Workflows ends the proxy when the main container ends.
const KILL_COMMAND: &str = "workflows.argoproj.io/kill-cmd-linkerd-proxy";

/// A proxy that ended, and the container that failed after it.
struct Early<'a> {
    pod: &'a Pod,
    at: Timestamp,
    proxy: &'a Terminated,
    container: &'a str,
    failed: &'a Terminated,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let early: Vec<Early<'_>> =
        pods.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)).filter_map(early).collect();
    if early.is_empty() {
        return Ok(Vec::new().into());
    }
    let switch = Switch::from_context(ctx);
    let owners = Owners::new(&[], ctx.partial_list::<Job>().unwrap_or_default());
    let mut by_owner: BTreeMap<Owner, Vec<Early<'_>>> = BTreeMap::new();
    for one in early {
        by_owner.entry(owners.owner(one.pod)).or_default().push(one);
    }
    let findings: Vec<Finding> =
        by_owner.iter().filter_map(|(owner, early)| finding(ctx, &switch, owner, early)).collect();
    Ok(findings.into())
}

/// The first container that failed after the proxy of a pod had ended by itself.
fn early(pod: &Pod) -> Option<Early<'_>> {
    let runs_once = matches!(pod.spec.restart_policy.as_str(), "Never" | "OnFailure");
    // Otherwise the kubelet ends all containers: a deletion, an eviction, or a deadline.
    if !runs_once || pod.metadata.deletion_timestamp.is_some() || !pod.status.reason.is_empty() {
        return None;
    }
    pod.spec.containers.iter().find(|container| container.name == PROXY_CONTAINER)?;
    let ended =
        |name: &str| pod.status.container_statuses.iter().find(|status| status.name == name)?.state.terminated();
    let proxy = ended(PROXY_CONTAINER).filter(|proxy| proxy.exit_code == 0)?;
    let at = proxy.finished_at.get()?;
    let names = pod.spec.containers.iter().map(|container| container.name.as_str());
    let mut after: Vec<(Timestamp, &str, &Terminated)> = names
        .filter(|name| *name != PROXY_CONTAINER && *name != DEBUG_CONTAINER)
        .filter_map(|name| {
            let failed = ended(name).filter(|failed| failed.exit_code != 0 && !SIGNALS.contains(&failed.exit_code))?;
            let is_after = failed.started_at.get().is_none_or(|started| started < at)
                && failed.finished_at.get()?.duration_since(at) > TOGETHER;
            is_after.then_some((failed.finished_at.get()?, name, failed))
        })
        .collect();
    after.sort_by_key(|(at, ..)| *at);
    let (_, container, failed) = after.into_iter().next()?;
    Some(Early { pod, at, proxy, container, failed })
}

fn finding(ctx: &Context<'_>, switch: &Switch<'_>, owner: &Owner, early: &[Early<'_>]) -> Option<Finding> {
    let newest = early.iter().max_by_key(|one| one.at)?;
    let message = format!(
        "The proxy was stopped while container {} still ran, which then failed. Without the proxy, connections of \
         the pod are refused",
        newest.container
    );
    let pod = newest.pod;
    let object = pod.described();
    let ended = |name: &str, terminated: &Terminated| {
        let at = terminated.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
        let said = format!("exit code {}{at}", terminated.exit_code);
        Evidence::field(&object, format!("status.containerStatuses[{name}].state.terminated"), said)
    };
    let stopping = pod.spec.containers.iter().find(|container| container.ends_proxy);
    let finding = ctx
        .finding(owner.subject(early.iter().map(|one| one.pod.metadata.name.clone()).collect()), message)
        .likely()
        .evidence(ended(PROXY_CONTAINER, newest.proxy))
        .evidence(ended(newest.container, newest.failed))
        .evidences(stopping.map(|container| {
            let path = format!("spec.containers[{}].command", container.name);
            Evidence::field(&object, path, "stops the proxy")
        }))
        .evidences(switch.reader.evidence())
        .remedy(remedy(ctx, switch, owner, stopping.map(|container| container.name.as_str())))
        .tie(wording::namespace_tie(&pod.metadata.namespace));
    Some(finding)
}

fn remedy(ctx: &Context<'_>, switch: &Switch<'_>, owner: &Owner, stopping: Option<&str>) -> Remedy {
    let remedy = match switch.right_key(KeyScope::PodTemplate) {
        Some(key) => {
            let act = format!("{}, which ends last: set {key}: \"true\"", native(ctx, ""));
            annotate(wording::remedy(), &act, owner, key)
        }
        None => wording::without(ctx, switch, wording::remedy()),
    };
    let text = match (stopping, owner.kind.as_str()) {
        (Some(name), _) => format!(
            "Remove the command of container {name} that stops the proxy, or run it after the last container has ended"
        ),
        (None, "Workflow") => format!(
            "Remove the annotation {KILL_COMMAND} from the pod's metadata in the CronWorkflow, WorkflowTemplate or \
             manifest that creates the Workflow: it ends the proxy with the main container"
        ),
        (None, _) => {
            "Find out what stops the proxy (a request to /shutdown, linkerd-await --shutdown), and remove it".to_owned()
        }
    };
    remedy.note(text)
}
