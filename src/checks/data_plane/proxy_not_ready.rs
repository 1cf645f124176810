//! `proxy-not-ready`: pods of workloads whose proxy is not ready, or was OOM-killed.

use std::collections::{BTreeMap, HashMap};

use crate::checks::restart::{Needs, of_namespaces, renew};
use crate::checks::serving::component_missing;
use crate::checks::{Context, Judgement};
use crate::command::{Command, kubectl};
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::model::events;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::owners::Owner;
use crate::model::pod_status::{container_has_failed, counts_as_unwell, unhealthy, word};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::{ContainerState, ContainerStatus, Terminated};
use crate::objects::{Event, Pod, Time};

/// How many pods of a workload are quoted.
const QUOTED: usize = 3;
/// Where the statuses of init containers are.
const INIT: &str = "initContainerStatuses";
/// How many letters of a container's last words are quoted.
const WORDS: usize = 240;

/// How a pod whose proxy is not ready stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// The proxy runs, and its readiness probe does not pass.
    Unready,
    /// The proxy was started and ended.
    Ended,
    /// The proxy has not been started.
    NotStarted,
    /// The pod has just been made, and nothing in it has failed.
    Starting,
    /// The proxy is ready, and another container of its pod does not run.
    OtherContainer,
    /// The proxy is ready again, after it was killed for its memory.
    Killed,
    /// Nothing runs in the pod any more, or it is about to go.
    Over(End),
}

/// How a pod that is still listed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Its containers succeeded, its proxy did not.
    Succeeded,
    /// It failed.
    Failed,
    /// The kubelet evicted it.
    Evicted,
    /// It is being deleted.
    Deleted,
}

impl End {
    fn of(pod: &Pod) -> End {
        match (pod.status.phase.as_str(), pod.status.reason.as_str()) {
            ("Succeeded", _) => End::Succeeded,
            (_, "Evicted") => End::Evicted,
            ("Failed", _) => End::Failed,
            (_, _) => End::Deleted,
        }
    }

    fn message(self) -> &'static str {
        match self {
            End::Succeeded => {
                "the pod has succeeded, but its proxy ended with an error; nothing runs in it any more, but linkerd check requires a \
                 ready proxy of it"
            }
            End::Failed => {
                "the pod has failed and is still listed; nothing runs in it any more, but linkerd check requires a ready proxy of it"
            }
            End::Evicted => {
                "the pod was evicted and is still listed; nothing runs in it any more, but linkerd check requires a ready proxy of it"
            }
            End::Deleted => {
                "the pod is being deleted; linkerd check requires a ready proxy of it until it is gone"
            }
        }
    }
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>()?;
    let control_plane = ctx.namespaces().control_plane.as_str();
    let injected = |pod: &&Pod| {
        pod.metadata.label(CONTROL_PLANE_NS) == Some(control_plane) && ctx.judges(&pod.metadata.namespace)
    };
    let owners = ctx.owners();
    let mut meshed = 0;
    let mut groups: BTreeMap<(Owner, Stage), Vec<&Pod>> = BTreeMap::new();
    for pod in pods.iter().filter(injected) {
        meshed += 1;
        // Those of the control plane have a check of their own; what has ended, or is about to, needs no proxy.
        if pod.metadata.label(COMPONENT).is_some() {
            continue;
        }
        if pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
            if counts_as_unwell(pod) {
                groups.entry((owners.of(pod), Stage::Over(End::of(pod)))).or_default().push(pod);
            }
            continue;
        }
        if pod.status.container_statuses.is_empty() && pod.status.phase == "Running" {
            let part = format!("container statuses of {}/{}", pod.metadata.namespace, pod.metadata.name);
            ctx.gap(ctx.lacking(Item::List(Kind::Pod), Why::NotCaptured, part));
            continue;
        }
        if let Some(stage) = stage(ctx, pod) {
            groups.entry((owners.of(pod), stage)).or_default().push(pod);
        }
    }
    let warnings = if groups.is_empty() { HashMap::new() } else { last_warnings(ctx) };
    let mut findings: Vec<Finding> =
        groups.iter().map(|((owner, stage), pods)| finding(ctx, owner, *stage, pods, &warnings)).collect();
    if meshed == 0 && ctx.settings.data_plane && !ctx.settings.namespaces.is_empty() {
        // To say that there is none takes the whole list.
        ctx.every::<Pod>()?;
        findings.push(no_pods(ctx));
    }
    Ok(findings.into())
}

/// How a pod stands that does not run as it should; `None` where it does.
fn stage(ctx: &Context<'_>, pod: &Pod) -> Option<Stage> {
    let status = pod.container_status(PROXY_CONTAINER);
    if status.is_some_and(|status| status.ready) {
        return match unhealthy(pod) {
            Some(_) => Some(Stage::OtherContainer),
            None => status.filter(|status| was_killed_lately(ctx, status)).map(|_| Stage::Killed),
        };
    }
    let stage = match status.map(|status| &status.state) {
        Some(ContainerState::Running(_)) => Stage::Unready,
        Some(ContainerState::Terminated(_)) => Stage::Ended,
        Some(_) if status.is_some_and(|status| status.last_state().terminated().is_some()) => Stage::Ended,
        Some(_) | None => Stage::NotStarted,
    };
    let since = pod.condition("Ready").and_then(|condition| condition.last_transition_time.get());
    let since = since.map_or(pod.metadata.creation_timestamp, Time::from);
    Some(if ctx.is_recent(since) && obstacle(pod).is_none() { Stage::Starting } else { stage })
}

/// How a container ended before it was started again, if that was for its memory.
fn killed(status: &ContainerStatus) -> Option<&Terminated> {
    status.last_state().terminated().filter(|ended| ended.reason == "OOMKilled")
}

/// Whether a container was killed for its memory within the last day, within a week where that happens again and again, or at a
/// moment that nobody wrote down.
fn was_killed_lately(ctx: &Context<'_>, status: &ContainerStatus) -> bool {
    let often = i64::from(status.restart_count) >= ctx.param("restarts");
    let patience = ctx.span_of(if often { "days" } else { "hours" });
    killed(status).is_some_and(|ended| {
        ended.finished_at.get().is_none_or(|at| ctx.now().duration_since(at) <= patience)
    })
}

/// What the proxy of a pod that was killed for its memory may use of it.
fn memory_limit(pod: &Pod) -> Option<Evidence> {
    of_proxy(pod).and_then(killed)?;
    let limit = pod.spec.proxy()?.resources.as_ref()?.limits.memory.as_str();
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    let path = format!("spec.containers[{PROXY_CONTAINER}].resources.limits.memory");
    (!limit.is_empty()).then(|| Evidence::field(object, path, limit))
}

/// The first container that has failed rather than merely not started: list, status.
fn obstacle(pod: &Pod) -> Option<(&'static str, &ContainerStatus)> {
    let init = pod.status.init_container_statuses.iter().map(|status| (INIT, status));
    let others = pod.status.container_statuses.iter().map(|status| ("containerStatuses", status));
    let proxy = others.filter(|(_, status)| status.name == PROXY_CONTAINER);
    init.chain(proxy).find(|(_, status)| container_has_failed(status))
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    stage: Stage,
    pods: &[&Pod],
    warnings: &Warnings<'_>,
) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let message = match stage {
        Stage::Unready => {
            "linkerd-proxy is running and not ready, so its pod gets no traffic: it lacks a certificate from identity, or the configuration from destination and policy"
        }
        Stage::Ended => {
            "linkerd-proxy exits after it was started, so its pod gets no traffic and can't reach anything"
        }
        Stage::NotStarted => {
            "linkerd-proxy has not been started, so its pod serves nothing: something before it fails"
        }
        Stage::Starting => "the pod is starting: its proxy is not ready yet",
        Stage::OtherContainer => "linkerd-proxy is ready, and another container of its pod is not running",
        Stage::Killed => {
            "linkerd-proxy was OOM-killed and started again: the connections of its pod broke, and will again"
        }
        Stage::Over(end) => end.message(),
    };
    let first = pods[0];
    let pod = &first.metadata.name;
    let namespace = &owner.namespace;
    let remedy = Remedy::new().run(
        StepKind::Command,
        "See why it is not ready: containers and events",
        kubectl().namespace(namespace).words("describe pod").operand(pod),
    );
    let remedy = match stage {
        Stage::NotStarted => match obstacle(first) {
            Some((list, status)) if list == INIT && status.restart_count > 0 => remedy.run(
                StepKind::Command,
                "Read the log of the container that fails",
                kubectl()
                    .namespace(namespace)
                    .words("logs --previous")
                    .operand(pod)
                    .option("-c", status.name.as_str()),
            ),
            Some(_) | None => remedy,
        },
        Stage::Starting | Stage::OtherContainer | Stage::Over(_) => remedy,
        Stage::Unready | Stage::Ended | Stage::Killed
            if pods.iter().any(|pod| of_proxy(pod).and_then(killed).is_some()) =>
        {
            let mut remedy = more_memory(remedy);
            remedy.steps.push(renew(ctx, owner, &names, Needs::NewProxy, "new pods have the new limit"));
            remedy
        }
        Stage::Unready | Stage::Ended | Stage::Killed => remedy.run(
            StepKind::Command,
            "Read the proxy's log",
            kubectl().namespace(namespace).words("logs").operand(pod).option("-c", PROXY_CONTAINER),
        ),
    };
    let finding = ctx
        .finding(owner.subject(names), message)
        .evidences(pods.iter().take(QUOTED).map(|pod| seen(pod, warnings)))
        .evidences(pods.iter().find_map(|pod| memory_limit(pod)))
        .remedy(remedy);
    match stage {
        // What it waits for is what those components would tell it.
        Stage::Unready => ["identity", "destination"]
            .into_iter()
            .fold(finding, |finding, component| finding.tie(component_missing(component))),
        Stage::Ended | Stage::NotStarted => finding,
        // It is ready, which is all that linkerd check asks.
        Stage::Killed => finding.severity(Severity::Warning).parameter("killed").fails_rows([]),
        // None is the mesh's trouble yet, or at all; linkerd check waits for them, and fails then.
        Stage::Starting | Stage::OtherContainer | Stage::Over(_) => {
            finding.severity(Severity::Info).rows_as(Severity::Error)
        }
    }
}

fn of_proxy(pod: &Pod) -> Option<&ContainerStatus> {
    pod.container_status(PROXY_CONTAINER)
}

/// What helps a proxy that was killed for its memory.
fn more_memory(remedy: Remedy) -> Remedy {
    remedy.step(
        StepKind::Annotation,
        "Raise the proxy's memory limit: config.linkerd.io/proxy-memory-limit on the pod template, or proxy.resources.memory.limit in \
         the values of the control plane",
    )
}

/// The last warning about each pod, by namespace and name.
type Warnings<'a> = HashMap<(&'a str, &'a str), &'a Event>;

fn last_warnings<'a>(ctx: &Context<'a>) -> Warnings<'a> {
    let mut last: Warnings<'a> = HashMap::new();
    let events = ctx.hints::<Event>().iter();
    for event in events.filter(|event| event.kind == "Warning" && event.about.kind == "Pod") {
        let key = (event.about.namespace.as_str(), event.about.name.as_str());
        let held = last.entry(key).or_insert(event);
        if event.last > held.last {
            *held = event;
        }
    }
    last
}

/// What a pod says of itself.
fn seen(pod: &Pod, warnings: &Warnings<'_>) -> Evidence {
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    if let Some(ended) = of_proxy(pod).filter(|status| status.ready).and_then(killed)
        && unhealthy(pod).is_none()
    {
        let path = format!("lastState of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    let ended = of_proxy(pod).and_then(|status| status.state.terminated());
    if let Some(ended) = ended.filter(|ended| pod.is_finished() && ended.exit_code != 0) {
        let path = format!("status of container {PROXY_CONTAINER}");
        return Evidence::field(object, path, last_words(ended));
    }
    if pod.is_finished() || of_proxy(pod).is_some_and(|status| status.ready) {
        return Evidence::field(object, "status", word(pod));
    }
    if let Some((list, status)) = obstacle(pod) {
        return Evidence::field(object, format!("status.{list}[{}]", status.name), state(status));
    }
    if let Some(condition) = pod.condition("PodScheduled").filter(|condition| condition.status == "False") {
        let said = format!("{}: {}", condition.reason, condition.message);
        return Evidence::field(object, "status.conditions[PodScheduled]", said);
    }
    let key = (pod.metadata.namespace.as_str(), pod.metadata.name.as_str());
    let started =
        pod.container_status(PROXY_CONTAINER).is_some_and(|status| status.state.running().is_some());
    // Where nothing has started, the kubelet tells why in events only.
    if let Some(event) = warnings.get(&key).filter(|_| !started) {
        return events::quoted(object, event);
    }
    match pod.container_status(PROXY_CONTAINER) {
        Some(status) => {
            Evidence::field(object, format!("status of container {PROXY_CONTAINER}"), state(status))
        }
        None => Evidence::field(
            object,
            "status.phase",
            format!("{}, no status of {PROXY_CONTAINER}", pod.status.phase),
        ),
    }
}

/// A container's state in a line.
fn state(status: &ContainerStatus) -> String {
    let mut said = match (status.state.waiting(), status.state.running(), status.state.terminated()) {
        (Some(waiting), _, _) if waiting.message.is_empty() => waiting.reason.clone(),
        (Some(waiting), _, _) => format!("{}: {}", waiting.reason, waiting.message),
        (None, Some(running), _) => match running.started_at.get() {
            Some(since) => format!("running since {since}, not ready"),
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

/// How a container ended, with the end of what it said: the runtime keeps that as its message where it failed.
fn last_words(ended: &Terminated) -> String {
    let at = ended.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
    let reason = if ended.reason.is_empty() { String::new() } else { format!(" ({})", ended.reason) };
    let words = ended.message.trim();
    let from = words.char_indices().rev().nth(WORDS - 1).map_or(0, |(at, _)| at);
    let cut = if from == 0 { "" } else { "…" };
    let words = if words.is_empty() { String::new() } else { format!(": {cut}{}", &words[from..]) };
    format!("exited with code {}{reason}{at}{words}", ended.exit_code)
}

/// Nothing in the namespaces that were named is meshed.
fn no_pods(ctx: &Context<'_>) -> Finding {
    let names: Vec<&str> = ctx.settings.namespaces.iter().map(String::as_str).collect();
    let listed = ctx.settings.namespaces.join(", ");
    let mut subjects = ctx.settings.namespaces.iter().map(|name| Subject::object(Kind::Namespace, "", name));
    // There is one, or this is not asked.
    let first = subjects.next().unwrap_or_else(|| Subject::thing("namespaces"));
    let finding = ctx
        .finding(first, "no pod of the namespace has a proxy of this control plane: nothing in it is meshed")
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
