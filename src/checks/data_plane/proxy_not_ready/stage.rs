//! The states of pods whose proxy is not ready, and what distinguishes them.

use std::borrow::Cow;

use jiff::{SignedDuration, Timestamp};

use crate::checks::Context;
use crate::checks::probe_events::ProbeEvents;
use crate::model::pod_status::{container_has_failed, lost_readiness, unhealthy};
use crate::objects::container::{DEBUG_CONTAINER, PROXY_CONTAINER};
use crate::objects::container_status::{ContainerState, ContainerStatus, Terminated};
use crate::objects::{Pod, Time};

/// The field with the statuses of init containers.
pub(super) const INIT: &str = "initContainerStatuses";
/// The time after which the startup probe of a native proxy has failed for good: 120 times a second by default.
const PROBED_FOR: SignedDuration = SignedDuration::from_mins(10);
/// The longest time between the ends of containers that end together.
const TOGETHER: SignedDuration = SignedDuration::from_secs(30);

/// The state of a pod whose proxy is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The proxy runs, but its readiness probe fails.
    Unready,
    /// The proxy runs and was ready, but its readiness probe fails now.
    Lost,
    /// The proxy runs, but the kubelet no longer runs its startup probe.
    Unprobed,
    /// The proxy started and exited.
    Ended,
    /// The proxy was shut down while other containers run, and the kubelet does not start it again.
    Stopped,
    /// The proxy has not been started.
    NotStarted,
    /// The pod has the label of meshed pods, but no proxy.
    Absent,
    /// The scheduler finds no node for the pod.
    Unscheduled,
    /// The pod was just created, and none of its containers has failed.
    Starting,
    /// The proxy is ready, but another container of its pod does not run.
    OtherContainer,
    /// The application has ended with an error for good, and the proxy of its pod is not ready either.
    ApplicationFailed,
    /// The proxy is ready again after an OOM kill.
    Killed,
    /// The proxy runs, but does not answer the kubelet's probes in time.
    Unanswered,
    /// The proxy is ready in between, but restarts repeatedly.
    Restarting(RestartCause),
    /// All containers of the pod have ended, or the pod is being deleted.
    Over(PodEnd),
}

/// Why a proxy restarts repeatedly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RestartCause {
    /// The kubelet restarts it, because it gets no answer of its liveness probe in time.
    Unanswered,
    /// The kubelet restarts it, because its liveness probe fails for another reason.
    Unhealthy,
    /// It exits with this code.
    Exit(i32),
}

/// How a pod that is still listed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodEnd {
    /// Its containers succeeded, but its proxy did not.
    Succeeded,
    Failed,
    /// The kubelet evicted it.
    Evicted,
    /// It is being deleted.
    Deleted,
}

impl PodEnd {
    pub(super) fn from_pod(pod: &Pod) -> PodEnd {
        match (pod.status.phase.as_str(), pod.status.reason.as_str()) {
            ("Succeeded", _) => PodEnd::Succeeded,
            (_, "Evicted") => PodEnd::Evicted,
            ("Failed", _) => PodEnd::Failed,
            (_, _) => PodEnd::Deleted,
        }
    }

    fn message(self) -> &'static str {
        match self {
            PodEnd::Succeeded => {
                "the pod has succeeded, but its proxy exited with an error. None of its containers run any \
                 more, but linkerd check requires its proxy to be ready"
            }
            PodEnd::Failed => {
                "the pod has failed and is still listed. None of its containers run any more, but linkerd \
                 check requires its proxy to be ready"
            }
            PodEnd::Evicted => {
                "the pod was evicted and is still listed. None of its containers run any more, but linkerd \
                 check requires its proxy to be ready"
            }
            PodEnd::Deleted => {
                "the pod is being deleted. Until it is gone, linkerd check requires its proxy to be ready"
            }
        }
    }
}

impl Stage {
    /// The state of an unhealthy pod; `None` if it is healthy.
    pub(super) fn from_pod(ctx: &Context<'_>, pod: &Pod, probes: &ProbeEvents<'_>) -> Option<Stage> {
        if pod.spec.proxy().is_none() && !pod.spec.containers.is_empty() {
            return Some(Stage::Absent);
        }
        let status = pod.container_status(PROXY_CONTAINER);
        if status.is_some_and(|status| status.ready) {
            return match unhealthy(pod) {
                Some(_) => Some(Stage::OtherContainer),
                None if status.is_some_and(|status| was_killed_lately(ctx, status)) => Some(Stage::Killed),
                None => restarting(ctx, pod, status?, probes).map(Stage::Restarting),
            };
        }
        let stage = match status.map(|status| &status.state) {
            // No container uses the proxy any more, and the pod would not be ready with a ready proxy either.
            Some(ContainerState::Running(_)) if has_application_ended(pod) => {
                return unhealthy(pod).map(|_| Stage::ApplicationFailed);
            }
            Some(ContainerState::Running(_)) => match lost_readiness(pod, Some(PROXY_CONTAINER)) {
                Some(_) => return Some(Stage::Lost),
                None if is_unprobed(ctx, pod) => return Some(Stage::Unprobed),
                None if !probes.unanswered(ctx, pod, PROXY_CONTAINER).is_empty() => {
                    return Some(Stage::Unanswered);
                }
                None => Stage::Unready,
            },
            Some(ContainerState::Terminated(ended)) if is_stopped(pod, ended) => return Some(Stage::Stopped),
            Some(ContainerState::Terminated(_)) => Stage::Ended,
            Some(_) if status.is_some_and(|status| status.last_state().terminated().is_some()) => Stage::Ended,
            None if pod.is_unschedulable() => Stage::Unscheduled,
            Some(_) | None => Stage::NotStarted,
        };
        let since = pod.condition("Ready").and_then(|condition| condition.last_transition_time.get());
        let since = since.map_or(pod.metadata.creation_timestamp, Time::from);
        Some(if ctx.is_recent(since) && obstacle(pod).is_none() { Stage::Starting } else { stage })
    }

    /// The state and its effect.
    pub(super) fn message(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Stage::Unready => {
                "linkerd-proxy runs but is not ready, and so is its pod: it lacks its certificate from identity, or \
                 its configuration from destination or policy"
            }
            Stage::Unprobed => {
                "linkerd-proxy was restarted, and the kubelet no longer runs its startup probe. The containers after \
                 it never start, until the pod is replaced"
            }
            Stage::Lost => {
                "linkerd-proxy was ready, but its readiness probe fails now. Its pod is not ready, and connections \
                 through its proxy may hang or fail"
            }
            Stage::Ended => {
                "linkerd-proxy exits after it starts, so its pod is not ready and cannot connect to anything"
            }
            Stage::Stopped => {
                "linkerd-proxy was shut down while other containers run. The kubelet does not start it again, so the \
                 pod's connections fail until it is replaced"
            }
            Stage::NotStarted => {
                "linkerd-proxy has not been started because an earlier container or step fails, so its pod \
                 serves no traffic"
            }
            Stage::Absent => {
                "the pod has the label linkerd.io/control-plane-ns, but no linkerd-proxy. Meshed clients expect its \
                 mesh identity, so their connections to it fail"
            }
            Stage::Unscheduled => {
                "the pod does not run, because the scheduler finds no node that accepts it. Its proxy has not failed"
            }
            Stage::Starting => "The pod is starting, and its proxy is not ready yet",
            Stage::OtherContainer => "linkerd-proxy is ready, but another container of its pod is not running",
            Stage::ApplicationFailed => {
                "The application has ended with an error, and the kubelet does not start it again. Its proxy is not \
                 ready either, which has no further effect"
            }
            Stage::Killed => {
                "linkerd-proxy was OOM-killed and restarted. Its pod's connections broke, and will break again"
            }
            Stage::Unanswered => {
                "linkerd-proxy runs but does not answer the kubelet's probes in time. Its pod is not ready, and the \
                 kubelet restarts the proxy if its liveness probe fails too"
            }
            Stage::Restarting(RestartCause::Unanswered) => {
                "the kubelet restarts linkerd-proxy repeatedly, because its liveness probe gets no answer in time. The \
                 pod's connections break each time"
            }
            Stage::Restarting(RestartCause::Unhealthy) => {
                "the kubelet restarts linkerd-proxy repeatedly, because its liveness probe fails. The pod's \
                 connections break each time"
            }
            Stage::Restarting(RestartCause::Exit(code)) => {
                return Cow::Owned(format!(
                    "linkerd-proxy restarts repeatedly: {}. The pod's connections break each time",
                    meaning(code)
                ));
            }
            Stage::Over(end) => end.message(),
        })
    }
}

/// Why a ready proxy restarts repeatedly; `None` if it does not, or if its pod or node restarts.
fn restarting(
    ctx: &Context<'_>,
    pod: &Pod,
    status: &ContainerStatus,
    probes: &ProbeEvents<'_>,
) -> Option<RestartCause> {
    let ended = status.last_state().terminated()?;
    let at = ended.finished_at.get()?;
    let window = ctx.param_duration("days");
    if ctx.now().duration_since(at) > window || !is_often(ctx, pod, status) {
        return None;
    }
    if probes.killed(pod, PROXY_CONTAINER).is_some() {
        return Some(match probes.unanswered(ctx, pod, PROXY_CONTAINER).is_empty() {
            true => RestartCause::Unhealthy,
            false => RestartCause::Unanswered,
        });
    }
    // The kubelet did not see how they ended: their node restarted, or lost them.
    let is_unseen = matches!(ended.reason.as_str(), "Unknown" | "ContainerStatusUnknown");
    (!is_unseen && !ended_with_pod(pod, at)).then_some(RestartCause::Exit(ended.exit_code))
}

/// Whether a proxy has restarted as often within the time window as the threshold, on average if its pod is older.
fn is_often(ctx: &Context<'_>, pod: &Pod, status: &ContainerStatus) -> bool {
    let window = ctx.param_duration("days").as_secs();
    let age = pod.metadata.creation_timestamp.get().map_or(window, |at| ctx.now().duration_since(at).as_secs());
    let restarts = i64::from(status.restart_count);
    restarts.saturating_mul(window) >= ctx.param("restarts").saturating_mul(age.max(window))
}

/// Whether the other containers of a pod ended together with its proxy: its node or its sandbox restarted.
fn ended_with_pod(pod: &Pod, at: Timestamp) -> bool {
    let is_other = |status: &&ContainerStatus| status.name != PROXY_CONTAINER;
    let mut others = pod.status.container_statuses.iter().filter(is_other).peekable();
    let ended_then = |status: &ContainerStatus| {
        let other = status.last_state().terminated().and_then(|ended| ended.finished_at.get());
        other.is_some_and(|other| other.duration_since(at).abs() <= TOGETHER)
    };
    others.peek().is_some() && others.all(ended_then)
}

/// Whether all containers except for the proxy have ended, and the kubelet starts none of them again.
fn has_application_ended(pod: &Pod) -> bool {
    let policy = pod.spec.restart_policy.as_str();
    let is_over = |status: &ContainerStatus| {
        status.state.terminated().is_some_and(|ended| match policy {
            "Never" => true,
            "OnFailure" => ended.exit_code == 0,
            _ => false,
        })
    };
    let is_other = |status: &&ContainerStatus| status.name != PROXY_CONTAINER && status.name != DEBUG_CONTAINER;
    let mut others = pod.status.container_statuses.iter().filter(is_other).peekable();
    others.peek().is_some() && others.all(is_over)
}

/// Whether a proxy ended on request, cannot start again, and leaves a running container without network. A
/// proxy ends with code 0 only after SIGTERM or a request to shut down.
fn is_stopped(pod: &Pod, ended: &Terminated) -> bool {
    let stays_ended = matches!(pod.spec.restart_policy.as_str(), "Never" | "OnFailure");
    let mut others = pod.status.container_statuses.iter().filter(|status| status.name != PROXY_CONTAINER);
    ended.exit_code == 0
        && stays_ended
        && !pod.spec.has_native_proxy()
        && others.any(|status| status.state.running().is_some())
}

/// Whether the kubelet no longer runs the startup probe of a native proxy. In a pod that never restarts it stops
/// when the first run ends (kubernetes/kubernetes#132826). Otherwise it kills a proxy whose probe fails too often.
fn is_unprobed(ctx: &Context<'_>, pod: &Pod) -> bool {
    let Some(status) = of_proxy(pod).filter(|status| status.restart_count > 0) else { return false };
    let started = status.state.running().and_then(|running| running.started_at.get());
    let is_late = started.is_some_and(|at| ctx.now().duration_since(at) > PROBED_FOR);
    let has_probe = pod.spec.proxy().is_some_and(|proxy| proxy.startup_probe.is_some());
    // The kubelet starts them once the startup probe of the proxy has passed.
    let is_waiting =
        |status: &ContainerStatus| status.state.waiting().is_some_and(|waiting| waiting.reason == "PodInitializing");
    let waits = pod.status.container_statuses.iter().any(is_waiting);
    pod.spec.restart_policy == "Never" && pod.spec.has_native_proxy() && has_probe && waits && is_late
}

/// Whether a container was OOM-killed within the last day, within the last week if it happens repeatedly,
/// or at an unknown time.
fn was_killed_lately(ctx: &Context<'_>, status: &ContainerStatus) -> bool {
    let often = i64::from(status.restart_count) >= ctx.param("restarts");
    let patience = ctx.param_duration(if often { "days" } else { "hours" });
    killed(status)
        .is_some_and(|ended| ended.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= patience))
}

/// The first container that has failed, as opposed to not started: list, status.
pub(super) fn obstacle(pod: &Pod) -> Option<(&'static str, &ContainerStatus)> {
    let init = pod.status.init_container_statuses.iter().map(|status| (INIT, status));
    let others = pod.status.container_statuses.iter().map(|status| ("containerStatuses", status));
    let proxy = others.filter(|(_, status)| status.name == PROXY_CONTAINER);
    init.chain(proxy).find(|(_, status)| container_has_failed(status))
}

/// When the proxy of a pod stopped being ready; `None` if another container may have changed the condition.
pub(super) fn lost_at(pod: &Pod) -> Option<Timestamp> {
    let is_other = |status: &&ContainerStatus| status.name != PROXY_CONTAINER;
    let are_ready = pod.status.container_statuses.iter().filter(is_other).all(|status| status.ready);
    lost_readiness(pod, Some(PROXY_CONTAINER)).filter(|_| are_ready)
}

/// How a container's previous run ended, if that was an OOM kill.
pub(super) fn killed(status: &ContainerStatus) -> Option<&Terminated> {
    status.last_state().terminated().filter(|ended| ended.reason == "OOMKilled")
}

pub(super) fn of_proxy(pod: &Pod) -> Option<&ContainerStatus> {
    pod.container_status(PROXY_CONTAINER)
}

/// The meaning of an exit code of the proxy, as a clause.
fn meaning(code: i32) -> Cow<'static, str> {
    Cow::Borrowed(match code {
        0 | 143 => "it ends on request, by SIGTERM or /shutdown",
        1 => "it fails and exits with code 1",
        64 => "it rejects its settings (exit code 64)",
        101 => "it panics (exit code 101)",
        132 => "it runs an instruction that the processor does not have (exit code 132, SIGILL)",
        134 => "it aborts itself (exit code 134, SIGABRT)",
        135 => "it accesses memory that it must not access (exit code 135, SIGBUS)",
        137 => "it is killed (exit code 137, SIGKILL)",
        139 => "it accesses memory that it must not access (exit code 139, SIGSEGV)",
        _ => return Cow::Owned(format!("it exits with code {code}")),
    })
}
