//! `proxy-not-ready`: pods of workloads whose proxy is not ready, or was OOM-killed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};

use crate::annotations::VPA_UPDATES;
use crate::checks::control_plane::failing::NOTE;
use crate::checks::probe_events::{ProbeEvents, give_time};
use crate::checks::restart::{Needs, of_namespaces, renew};
use crate::checks::serving::component_missing;
use crate::checks::upgrade;
use crate::checks::{Context, Judgement};
use crate::command::{Call, Command, kubectl, meshdoctor};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::model::events;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::owners::Owner;
use crate::model::pod_status::{container_has_failed, counts_as_unwell, label, lost_readiness, unhealthy};
use crate::model::vertical_autoscaler;
use crate::objects::container::{DEBUG_CONTAINER, PROXY_CONTAINER};
use crate::objects::container_status::{ContainerState, ContainerStatus, Terminated};
use crate::objects::{Event, Node, Pod, Time};

/// Maximum number of quoted pods per workload.
const QUOTED: usize = 3;
/// The field with the statuses of init containers.
const INIT: &str = "initContainerStatuses";
/// The time after which the startup probe of a native proxy has failed for good: 120 times a second by default.
const PROBED_FOR: SignedDuration = SignedDuration::from_mins(10);
/// The longest time between the ends of containers that end together.
const TOGETHER: SignedDuration = SignedDuration::from_secs(30);
/// Maximum number of quoted characters of a container's last output.
const WORDS: usize = 240;

/// The state of a pod whose proxy is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
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
enum RestartCause {
    /// The kubelet restarts it, because it gets no answer of its liveness probe in time.
    Unanswered,
    /// The kubelet restarts it, because its liveness probe fails for another reason.
    Unhealthy,
    /// It exits with this code.
    Exit(i32),
}

/// How a pod that is still listed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PodEnd {
    /// Its containers succeeded, but its proxy did not.
    Succeeded,
    Failed,
    /// The kubelet evicted it.
    Evicted,
    /// It is being deleted.
    Deleted,
}

impl PodEnd {
    fn from_pod(pod: &Pod) -> PodEnd {
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

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let control_plane = ctx.namespaces().control_plane.as_str();
    let injected = |pod: &&Pod| {
        pod.metadata.label(CONTROL_PLANE_NS) == Some(control_plane) && ctx.judges(&pod.metadata.namespace)
    };
    let owners = ctx.owners();
    let mut meshed = 0;
    let mut groups: BTreeMap<(Owner, Stage), Vec<&Pod>> = BTreeMap::new();
    let probes = ProbeEvents::new(ctx.optional_list::<Event>());
    for pod in pods.iter().filter(injected) {
        meshed += 1;
        // Pods of the control plane have their own check. Ended and terminating pods need no proxy.
        if pod.metadata.label(COMPONENT).is_some() {
            continue;
        }
        if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
            if counts_as_unwell(pod) {
                groups.entry((owners.owner(pod), Stage::Over(PodEnd::from_pod(pod)))).or_default().push(pod);
            }
            continue;
        }
        if pod.status.container_statuses.is_empty() && pod.status.phase == "Running" {
            let part = format!("container statuses of {}/{}", pod.metadata.namespace, pod.metadata.name);
            ctx.gap(ctx.missing(Item::List(Kind::Pod), Why::NotCaptured, part));
            continue;
        }
        if let Some(stage) = stage(ctx, pod, &probes) {
            groups.entry((owners.owner(pod), stage)).or_default().push(pod);
        }
    }
    let warnings = if groups.is_empty() { HashMap::new() } else { last_warnings(ctx) };
    let mut findings: Vec<Finding> = groups
        .iter()
        .map(|((owner, stage), pods)| {
            let finding = finding(ctx, owner, *stage, pods, &warnings);
            finding.evidences(pods.iter().take(1).flat_map(|pod| probed(ctx, *stage, pod, &probes)))
        })
        .collect();
    if meshed == 0 && ctx.settings.data_plane && !ctx.settings.namespaces.is_empty() {
        // Only the complete list proves that no pod has a proxy.
        ctx.complete_list::<Pod>()?;
        findings.push(no_pods(ctx));
    }
    Ok(findings.into())
}

/// The state of an unhealthy pod; `None` if it is healthy.
fn stage(ctx: &Context<'_>, pod: &Pod, probes: &ProbeEvents<'_>) -> Option<Stage> {
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
    let age =
        pod.metadata.creation_timestamp.get().map_or(window, |at| ctx.now().duration_since(at).as_secs());
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
    let is_other =
        |status: &&ContainerStatus| status.name != PROXY_CONTAINER && status.name != DEBUG_CONTAINER;
    let mut others = pod.status.container_statuses.iter().filter(is_other).peekable();
    others.peek().is_some() && others.all(is_over)
}

/// When the proxy of a pod stopped being ready; `None` if another container may have changed the condition.
fn lost_at(pod: &Pod) -> Option<Timestamp> {
    let is_other = |status: &&ContainerStatus| status.name != PROXY_CONTAINER;
    let are_ready = pod.status.container_statuses.iter().filter(is_other).all(|status| status.ready);
    lost_readiness(pod, Some(PROXY_CONTAINER)).filter(|_| are_ready)
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
    let is_waiting = |status: &ContainerStatus| {
        status.state.waiting().is_some_and(|waiting| waiting.reason == "PodInitializing")
    };
    let waits = pod.status.container_statuses.iter().any(is_waiting);
    pod.spec.restart_policy == "Never" && pod.spec.has_native_proxy() && has_probe && waits && is_late
}

/// How a container's previous run ended, if that was an OOM kill.
fn killed(status: &ContainerStatus) -> Option<&Terminated> {
    status.last_state().terminated().filter(|ended| ended.reason == "OOMKilled")
}

/// Whether a container was OOM-killed within the last day, within the last week if it happens repeatedly,
/// or at an unknown time.
fn was_killed_lately(ctx: &Context<'_>, status: &ContainerStatus) -> bool {
    let often = i64::from(status.restart_count) >= ctx.param("restarts");
    let patience = ctx.param_duration(if often { "days" } else { "hours" });
    killed(status).is_some_and(|ended| {
        ended.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= patience)
    })
}

/// The memory limit of an OOM-killed proxy.
fn memory_limit(pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    let limit = pod.spec.proxy()?.resources.as_ref()?.limits.memory.as_str();
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    let path = format!("spec.containers[{PROXY_CONTAINER}].resources.limits.memory");
    (!limit.is_empty()).then(|| Evidence::field(object, path, limit))
}

/// The label of a node with the architecture of its processor.
const ARCHITECTURE: &str = "kubernetes.io/arch";

/// The allocator of an OOM-killed proxy, if it keeps memory after a peak: the proxy brings its own one for amd64 only.
fn allocator(ctx: &Context<'_>, pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    let node = ctx.optional_list::<Node>().iter().find(|node| node.metadata.name == *pod.node_name)?;
    let architecture = node.metadata.label(ARCHITECTURE).filter(|name| *name == "arm64")?;
    Some(Evidence::field(
        format!("Node {}", node.metadata.name),
        format!("metadata.labels[{ARCHITECTURE}]"),
        format!(
            "{architecture}: the proxy uses glibc's allocator there (jemalloc only on amd64), which keeps memory after \
             a peak"
        ),
    ))
}

/// What a VerticalPodAutoscaler changed in a pod whose proxy was OOM-killed.
fn resize(pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    vertical_autoscaler::of_proxy_memory(pod)?;
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    let said = pod.metadata.annotation(VPA_UPDATES).unwrap_or_default();
    Some(Evidence::field(object, format!("metadata.annotations[{VPA_UPDATES}]"), said))
}

/// The first container that has failed, as opposed to not started: list, status.
fn obstacle(pod: &Pod) -> Option<(&'static str, &ContainerStatus)> {
    let init = pod.status.init_container_statuses.iter().map(|status| (INIT, status));
    let others = pod.status.container_statuses.iter().map(|status| ("containerStatuses", status));
    let proxy = others.filter(|(_, status)| status.name == PROXY_CONTAINER);
    init.chain(proxy).find(|(_, status)| container_has_failed(status))
}

fn message(stage: Stage) -> Cow<'static, str> {
    Cow::Borrowed(match stage {
        Stage::Unready => {
            "linkerd-proxy runs but is not ready, and so is its pod: it lacks its certificate from identity, or its \
             configuration from destination or policy"
        }
        Stage::Unprobed => {
            "linkerd-proxy was restarted, and the kubelet no longer runs its startup probe. The containers after it \
             never start, until the pod is replaced"
        }
        Stage::Lost => {
            "linkerd-proxy was ready, but its readiness probe fails now. Its pod is not ready, and connections through \
             its proxy may hang or fail"
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
            "the pod has the label linkerd.io/control-plane-ns, but no linkerd-proxy. Meshed clients expect its mesh \
             identity, so their connections to it fail"
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
            "the kubelet restarts linkerd-proxy repeatedly, because its liveness probe fails. The pod's connections \
             break each time"
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

/// The kubelet's events about the probes of a proxy, if the finding is about them.
fn probed(ctx: &Context<'_>, stage: Stage, pod: &Pod, probes: &ProbeEvents<'_>) -> Vec<Evidence> {
    if !matches!(
        stage,
        Stage::Unanswered | Stage::Restarting(RestartCause::Unanswered | RestartCause::Unhealthy)
    ) {
        return Vec::new();
    }
    let unanswered = probes.unanswered(ctx, pod, PROXY_CONTAINER);
    let events = probes.killed(pod, PROXY_CONTAINER).into_iter().chain(unanswered);
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    events.map(|event| events::quoted(&object, event)).collect()
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    stage: Stage,
    pods: &[&Pod],
    warnings: &Warnings<'_>,
) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let first = pods[0];
    let pod = &first.metadata.name;
    let namespace = &owner.namespace;
    let remedy = Remedy::new().run(
        StepKind::Command,
        "Check why it is not ready: containers and events",
        kubectl().namespace(namespace).words("describe pod").operand(pod),
    );
    let remedy = match stage {
        Stage::NotStarted => match obstacle(first) {
            Some((list, status)) if list == INIT && status.restart_count > 0 => remedy.run(
                StepKind::Command,
                "Read the log of the failing container",
                last_log(first, status.name.as_str()),
            ),
            Some(_) | None => remedy,
        },
        Stage::Unscheduled
        | Stage::Starting
        | Stage::OtherContainer
        | Stage::ApplicationFailed
        | Stage::Over(_) => remedy,
        Stage::Stopped => stopped(ctx, owner, pods, &names),
        Stage::Absent => absent(ctx, owner, pods, &names),
        Stage::Unprobed => unprobed(ctx, owner, first, &names),
        Stage::Unanswered | Stage::Restarting(RestartCause::Unanswered) => {
            unanswered(ctx, owner, first, &names)
        }
        Stage::Restarting(RestartCause::Exit(64)) => Remedy::new()
            .run(
                StepKind::Command,
                "Read the setting that the proxy rejects in the log of its last run",
                last_log(first, PROXY_CONTAINER),
            )
            .step(StepKind::Annotation, "Correct the setting in the pod template"),
        Stage::Restarting(_) => Remedy::new()
            .run(
                StepKind::Command,
                "Check the events of the pod: the kubelet reports there whether a probe failed",
                kubectl().namespace(namespace).words("describe pod").operand(pod),
            )
            .run(StepKind::Command, "Read the log of the proxy's last run", last_log(first, PROXY_CONTAINER))
            .run(
                StepKind::Command,
                "If it names no reason, compare it with the known defects of the release",
                meshdoctor().words("check --logs --only known-defect,proxy-reports-errors"),
            ),
        Stage::Unready | Stage::Lost | Stage::Ended | Stage::Killed
            if pods.iter().any(|pod| of_proxy(pod).and_then(killed).is_some()) =>
        {
            let mut remedy = more_memory(remedy, pods);
            if pods.iter().any(|pod| allocator(ctx, pod).is_some()) {
                remedy = remedy.step(
                    StepKind::Note,
                    "On arm64 the proxy keeps memory after a peak, since it uses glibc's allocator there. Let the \
                     limit cover the peak and this rest",
                );
            }
            remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, "only new pods get the new limit"));
            remedy
        }
        Stage::Unready | Stage::Lost | Stage::Ended | Stage::Killed => remedy.run(
            StepKind::Command,
            "Read the proxy's log",
            kubectl().namespace(namespace).words("logs").operand(pod).option("-c", PROXY_CONTAINER),
        ),
    };
    let remedy = match stage {
        Stage::Lost => {
            let mut remedy = remedy;
            remedy.steps.push(renew(
                ctx,
                owner,
                &names,
                Needs::NewProxy,
                "a proxy that hangs does not recover",
            ));
            remedy
        }
        _ => remedy,
    };
    let finding = ctx
        .finding(owner.subject(names), message(stage))
        .evidences(pods.iter().take(QUOTED).map(|pod| pod_evidence(pod, warnings)))
        .evidences(pods.iter().find_map(|pod| memory_limit(pod)))
        .evidences(pods.iter().find_map(|pod| resize(pod)))
        .evidences(pods.iter().find_map(|pod| allocator(ctx, pod)))
        .remedy(remedy);
    match stage {
        // An unready proxy waits for answers of these components.
        Stage::Unready => ["identity", "destination"]
            .into_iter()
            .fold(finding, |finding, component| finding.tie(component_missing(component))),
        Stage::Lost
        | Stage::Unprobed
        | Stage::Unanswered
        | Stage::Ended
        | Stage::Stopped
        | Stage::NotStarted
        | Stage::Absent => finding,
        // The proxy is ready, which is all that linkerd check requires.
        Stage::Killed => finding.severity(Severity::Warning).parameter("killed").fails_rows([]),
        Stage::Restarting(_) => finding.severity(Severity::Warning).parameter("restarting").fails_rows([]),
        // These states are not problems of the mesh, or not yet. linkerd check waits for them, and then
        // fails.
        Stage::Unscheduled
        | Stage::Starting
        | Stage::OtherContainer
        | Stage::ApplicationFailed
        | Stage::Over(_) => finding.severity(Severity::Info).rows_as(Severity::Error),
    }
}

/// The steps for proxies that were shut down too early.
fn stopped(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], names: &[String]) -> Remedy {
    let remedy = Remedy::new().step(
        StepKind::Note,
        "Find the program that stops the proxy too early: a container that posts to /shutdown, such as \
         `linkerd-await --shutdown`, or a hook that sends SIGTERM",
    );
    let is_vm = pods.iter().any(|pod| pod.metadata.label("kubevirt.io") == Some("virt-launcher"));
    let mut remedy = match is_vm {
        true => remedy.step(
            StepKind::Annotation,
            "If the pods of this virtual machine need no mesh, set linkerd.io/inject: disabled in \
             spec.template.metadata.annotations of its VirtualMachine",
        ),
        false => remedy,
    };
    remedy.steps.push(renew(ctx, owner, names, Needs::NewPods, "a proxy of this pod does not start again"));
    remedy
}

/// The steps for pods that are labelled as meshed, but have no proxy.
fn absent(ctx: &Context<'_>, owner: &Owner, pods: &[&Pod], names: &[String]) -> Remedy {
    let place = if owner.kind == "Pod" { "pod's manifest" } else { "pod template" };
    // The injector passes over pods on the network of their node.
    let mesh = match pods.iter().any(|pod| pod.spec.host_network) {
        true => "",
        false => ". If the pods need a proxy, set linkerd.io/inject: enabled",
    };
    let mut remedy = Remedy::new().step(
        StepKind::Note,
        format!(
            "Remove the label linkerd.io/control-plane-ns from the {place}, or from the object whose labels an \
             operator copies. Only the injector sets it{mesh}"
        ),
    );
    remedy.steps.push(renew(ctx, owner, names, Needs::NewPods, "running pods keep the label"));
    remedy
}

/// The steps for a proxy that does not answer the kubelet's probes in time.
fn unanswered(ctx: &Context<'_>, owner: &Owner, pod: &Pod, names: &[String]) -> Remedy {
    let resources = pod.spec.proxy().and_then(|proxy| proxy.resources.as_ref());
    let limit = resources.map_or("", |resources| resources.limits.cpu.as_str());
    let remedy = match limit.is_empty() {
        true => Remedy::new(),
        false => Remedy::new().step(
            StepKind::Annotation,
            format!(
                "If the proxy uses all of its CPU limit ({limit}), raise it: config.linkerd.io/proxy-cpu-limit on the \
                 pod template"
            ),
        ),
    };
    let remedy = give_time(ctx, remedy, pod, &["proxy.livenessProbe", "proxy.readinessProbe"]);
    let mut remedy = upgrade::injector_awaited(ctx, remedy);
    remedy.steps.push(renew(ctx, owner, names, Needs::NewProxy, "only new pods get the new settings"));
    remedy
}

/// The command that prints the log of the last run of a container that has restarted.
fn last_log(pod: &Pod, container: &str) -> Call {
    let log = kubectl().namespace(&pod.metadata.namespace).words("logs --previous");
    log.operand(&pod.metadata.name).option("-c", container)
}

/// The steps for a native sidecar whose startup probe no longer runs.
fn unprobed(ctx: &Context<'_>, owner: &Owner, pod: &Pod, names: &[String]) -> Remedy {
    let mut remedy = Remedy::new().run(
        StepKind::Command,
        "Read why the first run of the proxy ended",
        last_log(pod, PROXY_CONTAINER),
    );
    remedy.steps.push(renew(ctx, owner, names, Needs::NewPods, "the probe of this pod does not run again"));
    remedy.step(
        StepKind::Note,
        "Upgrade the kubelets. Kubernetes 1.35 and later patch releases of 1.33 and 1.34 run the probe again",
    )
}

fn of_proxy(pod: &Pod) -> Option<&ContainerStatus> {
    pod.container_status(PROXY_CONTAINER)
}

/// Adds the step for an OOM-killed proxy.
fn more_memory(remedy: Remedy, pods: &[&Pod]) -> Remedy {
    if let Some((namespace, name)) = resized(pods) {
        return remedy.run(
            StepKind::Command,
            format!(
                "Add {{containerName: {PROXY_CONTAINER}, mode: \"Off\"}} to the containerPolicies of \
                 VerticalPodAutoscaler {name}, which sets the proxy's memory and overrides its annotations"
            ),
            kubectl().namespace(namespace).words("edit verticalpodautoscaler").operand(name),
        );
    }
    remedy.step(
        StepKind::Annotation,
        "Raise the proxy's memory limit: config.linkerd.io/proxy-memory-limit on the pod template, or \
         proxy.resources.memory.limit in the values of the control plane",
    )
}

/// The VerticalPodAutoscaler that set the memory of the proxies: namespace, name.
fn resized<'a>(pods: &[&'a Pod]) -> Option<(&'a str, &'a str)> {
    let name =
        |pod: &&'a Pod| Some((pod.metadata.namespace.as_str(), vertical_autoscaler::of_proxy_memory(pod)?));
    pods.iter().find_map(name)
}

/// The last warning event about each pod, by namespace and name.
type Warnings<'a> = HashMap<(&'a str, &'a str), &'a Event>;

fn last_warnings<'a>(ctx: &Context<'a>) -> Warnings<'a> {
    let mut last: Warnings<'a> = HashMap::new();
    let events = ctx.optional_list::<Event>().iter();
    for event in events.filter(|event| event.kind == "Warning" && event.about.kind == "Pod") {
        let key = (event.about.namespace.as_str(), event.about.name.as_str());
        let held = last.entry(key).or_insert(event);
        if event.last > held.last {
            *held = event;
        }
    }
    last
}

/// Evidence of a pod's state.
fn pod_evidence(pod: &Pod, warnings: &Warnings<'_>) -> Evidence {
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    if let Some(ended) = of_proxy(pod).filter(|status| status.ready).and_then(killed)
        && unhealthy(pod).is_none()
    {
        let path = format!("lastState of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    if let Some(status) = of_proxy(pod).filter(|status| status.ready && !pod.is_finished())
        && let Some(ended) = status.last_state().terminated()
        && unhealthy(pod).is_none()
    {
        let path = format!("lastState of container {PROXY_CONTAINER}");
        let said = format!("{}; restarted {} times", last_words(ended), status.restart_count);
        return Evidence::field(object, path, said);
    }
    let ended = of_proxy(pod).and_then(|status| status.state.terminated());
    if let Some(ended) = ended.filter(|ended| pod.is_finished() && ended.exit_code != 0) {
        let path = format!("status of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    if pod.spec.proxy().is_none() && !pod.spec.containers.is_empty() && !pod.is_finished() {
        let names: Vec<&str> = pod.spec.containers.iter().map(|one| one.name.as_str()).collect();
        return Evidence::field(object, "spec.containers", names.join(", "));
    }
    if pod.is_finished() || of_proxy(pod).is_some_and(|status| status.ready) {
        return Evidence::field(object, "status", label(pod));
    }
    if let Some((list, status)) = obstacle(pod) {
        return Evidence::field(object, format!("status.{list}[{}]", status.name), state(status, None));
    }
    if let Some(said) = pod.scheduling_failure() {
        return Evidence::field(object, "status.conditions[PodScheduled]", said);
    }
    let key = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
    let started =
        pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.state.running().is_some());
    // If no container has started, only events show the kubelet's reason.
    if let Some(event) = warnings.get(&key).filter(|_| !started) {
        return events::quoted(object, event);
    }
    match pod.container_status(PROXY_CONTAINER) {
        Some(status) => Evidence::field(
            object,
            format!("status of container {PROXY_CONTAINER}"),
            state(status, lost_at(pod)),
        ),
        None => Evidence::field(
            object,
            "status.phase",
            format!("{}, no status of {PROXY_CONTAINER}", pod.status.phase),
        ),
    }
}

/// Formats a container's state in one line. `lost`: when its pod stopped being ready.
fn state(status: &ContainerStatus, lost: Option<Timestamp>) -> String {
    let mut said = match (status.state.waiting(), status.state.running(), status.state.terminated()) {
        (Some(waiting), _, _) if waiting.message.is_empty() => waiting.reason.clone(),
        (Some(waiting), _, _) => format!("{}: {}", waiting.reason, waiting.message),
        (None, Some(running), _) => match running.started_at.get() {
            Some(since) => format!(
                "running since {since}, not ready{}",
                lost.map(|at| format!(" since {at}")).unwrap_or_default()
            ),
            None => "running, not ready".to_owned(),
        },
        (None, None, Some(ended)) => last_words(ended),
        (None, None, None) => "not ready".to_owned(),
    };
    if let Some(before) = status.last_state().terminated() {
        said.push_str(&format!("; before that {}", last_words(before)));
    }
    if status.restart_count > 0 {
        said.push_str(&format!("; restarted {} times", status.restart_count));
    }
    said
}

/// Formats how a container ended, with the end of its output, which the runtime keeps as the message if the
/// container failed.
fn last_words(ended: &Terminated) -> String {
    let at = ended.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
    let reason = if ended.reason.is_empty() { String::new() } else { format!(" ({})", ended.reason) };
    let words = ended.message.trim();
    let words = words.split(&format!("\n{NOTE}")).next().unwrap_or(words).trim_end();
    let from = words.char_indices().rev().nth(WORDS - 1).map_or(0, |(at, _)| at);
    let cut = if from == 0 { "" } else { "…" };
    let words = if words.is_empty() { String::new() } else { format!(": {cut}{}", &words[from..]) };
    format!("exited with code {}{reason}{at}{words}", ended.exit_code)
}

/// A finding for selected namespaces in which no pod is meshed.
fn no_pods(ctx: &Context<'_>) -> Finding {
    let names: Vec<&str> = ctx.settings.namespaces.iter().map(String::as_str).collect();
    let listed = ctx.settings.namespaces.join(", ");
    let mut subjects = ctx.settings.namespaces.iter().map(|name| Subject::object(Kind::Namespace, "", name));
    // Without selected namespaces this is not called.
    let first = subjects.next().unwrap_or_else(|| Subject::thing("namespaces"));
    let finding = ctx
        .finding(
            first,
            "no pod of the namespace has a proxy of this control plane, so nothing in it is \
            meshed",
        )
        .severity(Severity::Error)
        .parameter("none")
        .evidence(Evidence::other("Pods", format!("none in {listed} with the label {CONTROL_PLANE_NS}")))
        .remedy(of_namespaces(
            ctx,
            Remedy::new().run(
                StepKind::Annotation,
                "Annotate the namespace (or its pod templates)",
                Command::lines(names.iter().map(|name| {
                    kubectl().words("annotate namespace").operand(*name).words("linkerd.io/inject=enabled")
                })),
            ),
            "Restart its workloads: a proxy is only added when a pod is created",
            &names,
        ));
    subjects.fold(finding, Finding::subject)
}
