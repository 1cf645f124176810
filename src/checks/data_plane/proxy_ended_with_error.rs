//! `proxy-ended-with-error`: the proxies of finished pods were killed or crashed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::proxy_killed_at_shutdown::{GRACE, LONGER, SHUTDOWN, below, seconds};
use crate::checks::prelude::*;
use crate::checks::rewrite;
use crate::checks::upgrade::{self, Options};
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::objects::container::{PROXY_CONTAINER, SHUTDOWN_GRACE};
use crate::objects::container_status::Terminated;

/// The shutdown grace period of proxies without a setting, in seconds.
const DEFAULT_SHUTDOWN: u64 = 120;
/// Maximum number of quoted pods per owner.
const QUOTED: usize = 3;
/// Exit code of a process that was killed.
const KILLED: i32 = 137;

/// How a proxy ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ProxyExit {
    /// It was killed while it waited for connections, because the pod's termination grace period was over.
    Grace,
    /// It was killed because of its memory.
    Memory,
    /// It rejected its settings.
    Settings,
    /// It could not start.
    Start,
    /// It crashed.
    Crash,
}

/// A finished pod and the end of its proxy.
struct Ended<'a> {
    pod: &'a Pod,
    status: &'a Terminated,
    end: Option<ProxyExit>,
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let mut by_owner: BTreeMap<Owner, Vec<Ended<'_>>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()? {
        let meta = &pod.metadata;
        let is_meshed = meta.label(CONTROL_PLANE_NS) == Some(home) && meta.label(COMPONENT).is_none();
        // The kubelet ends evicted pods and those of a node that shuts down, whatever their settings are.
        let is_forced = !pod.status.reason.is_empty() && pod.status.reason != "DeadlineExceeded";
        if !is_meshed || !pod.is_finished() || is_forced || !ctx.judges(&meta.namespace) {
            continue;
        }
        let status = pod.container_status(PROXY_CONTAINER).and_then(|status| status.state.terminated());
        let Some(status) = status else { continue };
        let is_old = |at: Timestamp| ctx.now().duration_since(at) > ctx.param_duration("hours");
        if !status.finished_at.get().is_some_and(is_old) {
            by_owner.entry(ctx.owners().owner(pod)).or_default().push(Ended { pod, status, end: end(pod, status) });
        }
    }
    let mut findings = Vec::new();
    for (owner, mut pods) in by_owner {
        // The last pod shows whether it is repaired.
        pods.sort_by_key(|ended| ended.status.finished_at.get());
        let Some(last) = pods.last().and_then(|ended| ended.end) else { continue };
        pods.retain(|ended| ended.end == Some(last));
        findings.push(finding(ctx, &owner, last, &pods));
    }
    Ok(findings.into())
}

/// The meaning of a proxy's exit code; `None` if it ended without an error, or the reason is unknown.
fn end(pod: &Pod, status: &Terminated) -> Option<ProxyExit> {
    match (status.exit_code, status.reason.as_str()) {
        (_, "OOMKilled") => Some(ProxyExit::Memory),
        (KILLED, _) => (shutdown(pod).0 >= grace(pod)).then_some(ProxyExit::Grace),
        (64, _) => Some(ProxyExit::Settings),
        (1, _) => Some(ProxyExit::Start),
        (101 | 132 | 134 | 135 | 136 | 139, _) => Some(ProxyExit::Crash),
        _ => None,
    }
}

/// The termination grace period of a pod, in seconds.
fn grace(pod: &Pod) -> u64 {
    pod.spec.termination_grace_period_seconds.unwrap_or(GRACE)
}

/// The shutdown grace period of a pod's proxy in seconds, and its source.
fn shutdown(pod: &Pod) -> (u64, Evidence) {
    let object = pod.described();
    let annotated = pod.metadata.annotation(SHUTDOWN).filter(|text| seconds(text).is_some());
    let path = format!("metadata.annotations[{SHUTDOWN}]");
    if let Some(text) = annotated {
        return (seconds(text).unwrap_or(DEFAULT_SHUTDOWN), Evidence::field(object, path, text));
    }
    let given = pod.spec.proxy().and_then(|proxy| proxy.env_value(SHUTDOWN_GRACE));
    match given.and_then(|text| Some((seconds(text)?, text))) {
        Some((seconds, text)) => {
            let path = format!("containers[{PROXY_CONTAINER}].env[{SHUTDOWN_GRACE}]");
            (seconds, Evidence::field(object, path, text))
        }
        None => {
            let said = format!("not set: {DEFAULT_SHUTDOWN}s is the proxy's default");
            (DEFAULT_SHUTDOWN, Evidence::field(object, path, said))
        }
    }
}

/// The message about a pod whose proxy did not end before its termination grace period was over.
fn outlasted(pod: &Pod) -> String {
    let (shutdown, grace) = (shutdown(pod).0, grace(pod));
    let compared = if shutdown > grace { "is longer than" } else { "equals" };
    // Only ordinary containers count for the phase.
    let others = pod.status.container_statuses.iter().filter(|status| status.name != PROXY_CONTAINER);
    let has_worked = others.into_iter().all(|status| status.state.terminated().is_some_and(|end| end.exit_code == 0));
    let seen = match pod.status.phase.as_str() {
        "Succeeded" => "the pod has succeeded, but ended late and with an error of its proxy",
        _ if has_worked && !pod.spec.has_native_proxy() => {
            "the pod is reported as failed, although its other containers succeeded"
        }
        _ => "the pod ended late and with an error of its proxy",
    };
    format!(
        "the proxy's shutdown grace period ({shutdown}s) {compared} terminationGracePeriodSeconds ({grace}s), and \
         the kubelet killed the proxy: {seen}"
    )
}

fn finding(ctx: &Context<'_>, owner: &Owner, end: ProxyExit, pods: &[Ended<'_>]) -> Finding {
    let message = match end {
        ProxyExit::Grace => pods.last().map(|ended| outlasted(ended.pod)).unwrap_or_default(),
        ProxyExit::Memory => {
            "the proxies of finished pods were killed because they reached their memory limit".to_owned()
        }
        ProxyExit::Settings => "the proxies of finished pods rejected their settings and did not start".to_owned(),
        ProxyExit::Start => {
            "the proxies of finished pods could not start, for example because a port was in use".to_owned()
        }
        ProxyExit::Crash => "the proxies of finished pods crashed, which is a defect of the proxy".to_owned(),
    };
    let names: Vec<String> = pods.iter().map(|ended| ended.pod.metadata.name.clone()).collect();
    let quoted = pods.iter().rev().take(QUOTED).map(|Ended { pod, status, .. }| {
        let reason = if status.reason.is_empty() { String::new() } else { format!(" ({})", status.reason) };
        Evidence::field(
            pod.described(),
            format!("status of container {PROXY_CONTAINER}"),
            format!("exited with code {}{reason}", status.exit_code),
        )
    });
    let last = pods.last().map(|ended| ended.pod);
    let periods = last.filter(|_| end == ProxyExit::Grace).map(|pod| {
        let grace = Evidence::field(pod.described(), "spec.terminationGracePeriodSeconds", grace(pod).to_string());
        [shutdown(pod).1, grace]
    });
    ctx.finding(owner.subject(names), message)
        .parameter(match end {
            ProxyExit::Grace => "grace",
            ProxyExit::Memory => "memory",
            ProxyExit::Settings => "settings",
            ProxyExit::Start => "start",
            ProxyExit::Crash => "crash",
        })
        .evidences(quoted)
        .evidences(periods.into_iter().flatten())
        .remedy(deleted(ctx, remedy(ctx, owner, end, last), owner, pods))
}

/// Adds the deletion of the pods, if no later pod of their owner replaces them.
fn deleted(ctx: &Context<'_>, remedy: Remedy, owner: &Owner, pods: &[Ended<'_>]) -> Remedy {
    if owner.recreates_pods() || owner.kind == "CronJob" {
        return remedy;
    }
    let names = pods.iter().map(|ended| ended.pod.metadata.name.as_str());
    remedy.command(
        format!(
            "Delete the finished pods once their logs are no longer needed: until then, or until they are older than \
             {}, this finding remains",
            ctx.param_text("hours")
        ),
        kubectl().namespace(&owner.namespace).words("delete pod").operands(names),
    )
}

fn remedy(ctx: &Context<'_>, owner: &Owner, end: ProxyExit, last: Option<&Pod>) -> Remedy {
    let remedy = Remedy::new();
    let logs = |remedy: Remedy| match last {
        Some(pod) => remedy.command(
            "Read the last lines of the proxy",
            kubectl()
                .namespace(&pod.metadata.namespace)
                .words("logs")
                .operand(&pod.metadata.name)
                .option("-c", PROXY_CONTAINER),
        ),
        None => remedy,
    };
    match end {
        ProxyExit::Grace => {
            let grace = last.map_or(GRACE, grace);
            let Some(period) = below(grace).map(|seconds| format!("{seconds}s")) else {
                return remedy.note(LONGER);
            };
            let act = format!("Set {SHUTDOWN}: {period:?}, below terminationGracePeriodSeconds ({grace}s),");
            let remedy = rewrite::of_owner(ctx, remedy, &act, owner, &[(SHUTDOWN, Some(&period))]);
            let act = "Or set the shutdown period of all proxies of the mesh";
            let all = Options::none().set("proxy.shutdownGracePeriod", period);
            upgrade::with_values(ctx, remedy, act, all)
        }
        ProxyExit::Memory => remedy.step(
            StepKind::Annotation,
            "Raise the proxy's memory limit: config.linkerd.io/proxy-memory-limit on the pod template, or \
             proxy.resources.memory.limit in the values of the control plane",
        ),
        ProxyExit::Settings => logs(remedy.step(
            StepKind::Annotation,
            "Correct the annotation of the pod template or namespace, or the chart value, that the proxy names",
        )),
        ProxyExit::Start => logs(remedy),
        ProxyExit::Crash => logs(remedy).note(
            "Compare the release notes of newer releases with the message, and report the crash if none has the fix",
        ),
    }
}
