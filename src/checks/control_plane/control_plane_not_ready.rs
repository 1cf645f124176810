//! `control-plane-not-ready`: components of the control plane have too few ready pods; with the cause.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::control_plane_restarting::more_memory;
use super::failing::{Failing, failing};
use super::node_labels::{LABELS, ROOM, labelled, labels_on_no_node, too_large, unplaced};
use super::outage::{expired, outage};
use crate::checks::injection::unmeshed::{injector_webhook, start_unmeshed};
use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::checks::trust_roots::{names_absent_roots, roots_absent};
use crate::checks::words::sentence;
use crate::model::control_plane::{CORE, Component, components, running, serving};
use crate::model::events;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::managed_by::ManagedBy;
use crate::model::pod_status::{counts_as_unwell, label, unhealthy};
use crate::objects::Event;

/// The longest time that a component normally needs to become ready.
const NORMAL_START: SignedDuration = SignedDuration::from_secs(60);
const SCHEDULED: &str = "no unschedulable pods";
const PROXIES: &str = "control plane proxies are healthy";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let namespace = &ctx.namespaces().control_plane;
    let components = components(deployments, namespace);
    let events = ctx.optional_list::<Event>();
    let complete = ctx.complete_list::<Pod>().is_ok();
    let mut findings: Vec<Finding> = Vec::new();
    let mut judged: BTreeSet<&str> = BTreeSet::new();
    for component in &components {
        let (wanted, ready) = (component.wanted(), ready(component, pods, complete, namespace));
        if wanted == 0 && !CORE.contains(&component.name) {
            continue;
        }
        let own = pods.iter().filter(|pod| {
            let meta = &pod.metadata;
            meta.namespace == *namespace
                && meta.label(COMPONENT) == Some(component.name)
                && meta.deletion_timestamp.is_none()
        });
        let enough = ready >= wanted.max(1);
        // Some of the ready pods may be old ones that a stuck rollout should replace.
        let (own, others): (Vec<&Pod>, Vec<&Pod>) = own.partition(|pod| !enough || is_stuck(ctx, pod));
        judged.extend(own.iter().chain(&others).map(|pod| pod.metadata.name.as_str()).filter(|_| !enough));
        findings.extend(starting(ctx, component, &others));
        if enough && own.is_empty() {
            continue;
        }
        // The official check counts the pods of a failed node as ready.
        let none_runs = ready == 0 && running(pods, namespace, component.name).next().is_none();
        let failed = failed_nodes(ctx, &own);
        if !enough && failed.is_empty() && comes_up(ctx, component, ready, &own) {
            findings.push(coming_up(ctx, component, ready, &own, none_runs));
            continue;
        }
        let reason = own
            .iter()
            .filter_map(|pod| failing(pod, events))
            .min_by_key(|failing| failing.container.is_none())
            .filter(|_| failed.is_empty());
        let finding = finding(ctx, component, ready, &own, (reason, &failed), events);
        findings.push(finding.fails_rows(rows(none_runs, &own)).rows_as(Severity::Error));
    }
    let left = other_pods(ctx, pods, &judged, &findings);
    findings.extend(left);
    Ok(findings.into())
}

/// Harmless pods in the control plane's namespace that `linkerd check` counts nevertheless: evicted, failed
/// or terminating pods, and pods of other workloads. One finding for each row that fails only because of
/// them. Pods of a component with too few ready pods are excluded: they belong to that component's finding.
fn other_pods(ctx: &Context<'_>, pods: &[Pod], judged: &BTreeSet<&str>, findings: &[Finding]) -> Vec<Finding> {
    let namespace = &ctx.namespaces().control_plane;
    let reported = |row: &str| findings.iter().any(|finding| finding.rows.names().contains(&row));
    let unhealthy = |pod: &Pod| pod.metadata.label(CONTROL_PLANE_NS).is_some() && counts_as_unwell(pod);
    let first = |row: &'static str, severity, counts: &dyn Fn(&Pod) -> bool| {
        let mut own = pods.iter().filter(|pod| pod.metadata.namespace == *namespace);
        let pod = own.find(|pod| counts(pod) && !judged.contains(pod.metadata.name.as_str()))?;
        (!reported(row)).then_some((row, severity, pod))
    };
    let rest =
        [first(SCHEDULED, Severity::Warning, &Pod::is_unschedulable), first(PROXIES, Severity::Error, &unhealthy)];
    let found = rest.into_iter().flatten().map(|(row, severity, pod)| {
        let name = &pod.metadata.name;
        let message = if pod.metadata.label(COMPONENT).is_some() {
            "a pod of the control plane is unhealthy; enough other replicas are ready, but linkerd check \
            counts it"
        } else {
            "a pod in the control plane's namespace is unhealthy; no component depends on it, but linkerd \
            check counts it"
        };
        let remedy = Remedy::new();
        ctx.finding(Subject::object("Pod", namespace, name), message)
            .severity(Severity::Info)
            .parameter(row)
            .rows_as(severity)
            .fails_rows([row])
            .evidence(Evidence::field(format!("Pod {namespace}/{name}"), "status", label(pod)))
            .remedy(remedy.command(
                "If it is no longer needed, delete it",
                kubectl().namespace(namespace).words("delete pod").operand(name),
            ))
    });
    found.collect()
}

/// The number of ready pods of a component: counted from the pods if their list is complete, else taken from
/// the status of the Deployment, which may be older.
fn ready(component: &Component<'_>, pods: &[Pod], complete: bool, namespace: &str) -> u32 {
    let said = component.deployment.status.ready_replicas;
    match serving(pods, namespace, component.name) {
        seen if complete && (seen == 0 || said == 0) => seen,
        _ => said,
    }
}

/// The nodes of the unready pods, if all of these are on nodes that are not ready.
fn failed_nodes<'a>(ctx: &Context<'a>, own: &[&Pod]) -> Vec<&'a Node> {
    let nodes = ctx.optional_list::<Node>();
    let mut unready = own.iter().filter(|pod| is_unready(pod)).peekable();
    if unready.peek().is_none() {
        return Vec::new();
    }
    let of_pod = |pod: &&Pod| {
        let name = pod.node_name.as_str();
        nodes.iter().find(|node| node.metadata.name == name && node.not_ready().is_some())
    };
    let mut failed: Vec<&Node> = unready.map(of_pod).collect::<Option<Vec<_>>>().unwrap_or_default();
    failed.sort_by(|one, other| one.metadata.name.cmp(&other.metadata.name));
    failed.dedup_by(|one, other| one.metadata.name == other.metadata.name);
    failed
}

/// Pods in addition to enough ready ones that may still become ready. `linkerd check` waits for them.
fn starting(ctx: &Context<'_>, component: &Component<'_>, pods: &[&Pod]) -> Option<Finding> {
    let starting: Vec<&&Pod> = pods.iter().filter(|pod| unhealthy(pod).is_some()).collect();
    let first = starting.first()?;
    let (namespace, pod) = (&first.metadata.namespace, &first.metadata.name);
    let finding = ctx
        .finding(
            Subject::object("Deployment", namespace, &component.deployment.metadata.name),
            "a pod of the control plane is starting, or has just failed; enough others are ready",
        )
        .severity(Severity::Info)
        .rows_as(Severity::Error)
        .fails_rows([PROXIES])
        .parameter("starting")
        .evidences(
            starting
                .iter()
                .map(|pod| Evidence::field(format!("Pod {namespace}/{}", pod.metadata.name), "status", label(pod))),
        )
        .remedy(Remedy::new().command(
            "Wait five minutes; if it is still not ready, find out why",
            kubectl().namespace(namespace).words("describe pod").operand(pod),
        ));
    Some(finding)
}

/// Whether a pod should be ready by now but is not.
fn is_stuck(ctx: &Context<'_>, pod: &Pod) -> bool {
    let created = pod.metadata.creation_timestamp;
    is_unready(pod) && created.is_some() && !ctx.within_grace(created)
}

fn is_unready(pod: &Pod) -> bool {
    pod.condition("Ready").is_none_or(|condition| condition.status != "True") && !pod.is_finished()
}

/// Whether the missing pods of a component are starting. If no pod is ready, unschedulable pods do not count
/// as starting.
fn comes_up(ctx: &Context<'_>, component: &Component<'_>, ready: u32, own: &[&Pod]) -> bool {
    let starting: Vec<&Pod> = own.iter().copied().filter(|pod| is_unready(pod)).collect();
    let serves = ready > 0 || !starting.iter().any(|pod| pod.is_unschedulable());
    let enough = usize::try_from(component.wanted().saturating_sub(ready));
    component.wanted() > 0
        && serves
        && enough.is_ok_and(|lacking| starting.len() >= lacking)
        && ctx.are_starting(&starting)
}

/// A finding for a component whose missing pods are starting: an info, and a warning if the component has been
/// unavailable for longer than a normal start. `linkerd check` waits for them.
fn coming_up(ctx: &Context<'_>, component: &Component<'_>, ready: u32, own: &[&Pod], none_runs: bool) -> Finding {
    let meta = &component.deployment.metadata;
    let starting: Vec<&&Pod> = own.iter().filter(|pod| is_unready(pod)).collect();
    let down = outage(ctx, component, own).filter(|down| down.length > NORMAL_START);
    let is_down = ready == 0 && (down.is_some() || !ctx.is_recent(meta.creation_timestamp));
    let name = component.name;
    let message = match is_down {
        true => format!(
            "{}. Its pods are less than five minutes old, and no container has failed",
            unavailable(component, (None, &[]), injector_policy(ctx), expired(ctx, component, down))
        ),
        false => {
            format!("{name} is starting: the missing pods are less than five minutes old, and no container has failed")
        }
    };
    let rollout = kubectl()
        .namespace(&meta.namespace)
        .words("rollout status")
        .operand(format!("deployment/{}", meta.name))
        .words("--timeout=5m");
    let steps = Remedy::new().command("Wait until its pods are ready", rollout);
    let log = kubectl().namespace(&meta.namespace).words("logs").operand(format!("deployment/{}", meta.name));
    let steps = match is_down {
        true => steps.command("If they do not become ready, read the log", log.words("--all-containers --tail=50")),
        false => steps,
    };
    let finding =
        ctx.finding(Subject::object("Deployment", &meta.namespace, &meta.name), message)
            .severity(match down {
                Some(_) if expired(ctx, component, down).is_some() => Severity::Error,
                Some(_) => Severity::Warning,
                None => Severity::Info,
            })
            .parameter("starting")
            .evidences(starting.iter().map(|pod| {
                Evidence::field(format!("Pod {}/{}", meta.namespace, pod.metadata.name), "status", label(pod))
            }))
            .evidences(down.map(|down| down.evidence(component)))
            .fails_rows(rows(none_runs, own))
            .rows_as(Severity::Error)
            .remedy(steps);
    if ready == 0 { finding.tie(component_missing(component.name)) } else { finding }
}

/// The rows of `linkerd check` that a component with these pods fails.
fn rows(none_runs: bool, own: &[&Pod]) -> Vec<&'static str> {
    let proxyless = |pod: &Pod| pod.metadata.label(CONTROL_PLANE_NS).is_some() && counts_as_unwell(pod);
    let fails = [
        (none_runs, "control plane pods are ready"),
        (own.iter().any(|pod| pod.is_unschedulable()), SCHEDULED),
        (own.iter().any(|pod| proxyless(pod)), PROXIES),
    ];
    fails.into_iter().filter(|(fails, _)| *fails).map(|(_, row)| row).collect()
}

fn finding(
    ctx: &Context<'_>,
    component: &Component<'_>,
    ready: u32,
    own: &[&Pod],
    (reason, failed): (Option<Failing>, &[&Node]),
    events: &[Event],
) -> Finding {
    let deployment = component.deployment;
    let (namespace, name) = (&deployment.metadata.namespace, &deployment.metadata.name);
    let (wanted, said) = (component.wanted(), deployment.status.ready_replicas);
    let object = format!("Deployment {namespace}/{name}");
    let replicas = match said == ready {
        true => component.replicas("status.readyReplicas", ready),
        false => Evidence::other(
            format!("Pods of {object}"),
            format!("{ready} ready, but the status shows {said} of {wanted}"),
        ),
    };
    let down = outage(ctx, component, own);
    let (severity, message) = match ready {
        0 => {
            let expired = expired(ctx, component, down);
            let reason = (reason.as_ref(), failed);
            (Severity::Error, unavailable(component, reason, injector_policy(ctx), expired))
        }
        some if some >= wanted.max(1) => (
            Severity::Warning,
            format!(
                "The rollout of {} is stuck: a new pod does not become ready. The old pods still serve, \
                 until a node fails",
                component.name
            ),
        ),
        _ => (
            Severity::Warning,
            format!(
                "{} has {ready} of {wanted} ready pods. The loss of a node may make it unavailable",
                component.name
            ),
        ),
    };
    let steps = match failed.is_empty() {
        true => remedy(ctx, component, reason.as_ref()),
        false => nodes_repaired(failed),
    };
    let remedy = if ready == 0 { emergency(ctx, component, steps) } else { steps };
    let why = reason.map(|reason| reason.evidence).or_else(|| refused(component, events));
    let lacks_roots = why.as_ref().is_some_and(|why| names_absent_roots(&why.said));
    let finding = ctx.finding(Subject::object("Deployment", namespace, name), message);
    let finding = if lacks_roots { finding.tie(roots_absent()) } else { finding };
    let finding = finding
        .severity(severity)
        .evidences(why)
        .evidences(failed.iter().filter_map(|node| node_evidence(node)))
        .evidence(replicas)
        .evidences(down.filter(|down| down.is_reported).map(|down| down.evidence(component)))
        .remedy(remedy);
    // Without a ready pod the component is as unavailable as without a Deployment.
    if ready == 0 { finding.tie(component_missing(component.name)) } else { finding }
}

/// The message about a component without a ready pod: the state, its reason if known, and what fails.
fn unavailable(
    component: &Component<'_>,
    (reason, failed): (Option<&Failing>, &[&Node]),
    policy: Option<&str>,
    expired: Option<SignedDuration>,
) -> String {
    let unmeshed = match policy {
        Some("Fail") => "its webhook has failurePolicy Fail, so no pod can be created in the namespaces that it covers",
        Some("Ignore") => "its webhook has failurePolicy Ignore, so new pods are created without a proxy",
        _ => "new pods are created without a proxy, or cannot be created",
    };
    let (name, effect) = match component.name {
        "identity" if expired.is_some() => (
            "identity",
            "new proxies get no certificate, and meshed connections of running proxies whose certificates have \
             expired since then fail",
        ),
        "identity" => ("identity", "new proxies get no certificate, and running ones cannot renew theirs"),
        "destination" => (
            "destination",
            "proxies cannot discover endpoints or policies, and requests time out, except to Services that a \
             proxy already uses",
        ),
        "proxy-injector" => ("the injector", unmeshed),
        _ => (component.name, "the component is unavailable"),
    };
    let state = match reason {
        _ if component.wanted() == 0 => "is scaled to 0 replicas".to_owned(),
        Some(Failing { container: Some(container), out_of_memory: true, .. }) => {
            format!("has no ready pod, because its container {container} runs out of memory and is killed")
        }
        Some(Failing { container: Some(container), crashed: true, .. }) => {
            format!("has no ready pod, because its container {container} crashes")
        }
        Some(Failing { container: Some(container), running: true, .. }) => {
            format!("has no ready pod, because its container {container} is not ready")
        }
        Some(Failing { container: Some(container), .. }) => {
            format!("has no ready pod, because its container {container} does not start")
        }
        Some(reason) if reason.evidence.said.contains("nodes are available") => {
            "has no ready pod, because no node accepts its pods".to_owned()
        }
        _ => match failed {
            [] => "has no ready pod".to_owned(),
            [node] => format!("has no ready pod, because node {} is not ready", node.metadata.name),
            several => format!("has no ready pod, because {} nodes are not ready", several.len()),
        },
    };
    format!("{name} {state}. {}", sentence(effect))
}

/// `Node NAME  status.conditions[Ready]: Unknown, NodeStatusUnknown: Kubelet stopped posting node status.`
fn node_evidence(node: &Node) -> Option<Evidence> {
    let ready = node.not_ready()?;
    let said = [&ready.status, &ready.reason].map(String::as_str).join(", ");
    let said = if ready.message.is_empty() { said } else { format!("{said}: {}", ready.message) };
    Some(Evidence::field(format!("Node {}", node.metadata.name), "status.conditions[Ready]", said))
}

/// The steps for pods on failed nodes.
fn nodes_repaired(failed: &[&Node]) -> Remedy {
    let names = || failed.iter().map(|node| node.metadata.name.clone());
    let with = |words: &'static str| names().fold(kubectl().words(words), |call, name| call.operand(name));
    Remedy::new()
        .command(
            "Find out why the node is not ready, and repair it. Five minutes after it failed, Kubernetes starts the \
             pods on other nodes",
            with("describe node"),
        )
        .command(
            "If the machine no longer exists, delete its Node object, so that its pods start elsewhere at once",
            with("delete node"),
        )
}

/// Adds the step that lets pods start while the injector is down, if its webhook prevents that.
fn emergency(ctx: &Context<'_>, component: &Component<'_>, remedy: Remedy) -> Remedy {
    let found = injector_webhook(ctx).ok().flatten().filter(|_| component.name == "proxy-injector");
    match found {
        Some((configuration, webhook)) if webhook.failure_policy != "Ignore" => {
            start_unmeshed(remedy, configuration, webhook)
        }
        _ => remedy,
    }
}

/// The failurePolicy of the injector's webhook, if it is known.
fn injector_policy<'a>(ctx: &Context<'a>) -> Option<&'a str> {
    injector_webhook(ctx).ok().flatten().map(|(_, webhook)| webhook.failure_policy.as_str())
}

/// Why no pod exists: a condition of the Deployment, or one of its ReplicaSet.
fn refused(component: &Component<'_>, events: &[Event]) -> Option<Evidence> {
    let meta = &component.deployment.metadata;
    if let Some(condition) = component.deployment.replica_failure() {
        return Some(Evidence::field(
            meta.described("Deployment"),
            "status.conditions[ReplicaFailure]",
            &condition.message,
        ));
    }
    let its = |event: &&Event| {
        event.about.kind == "ReplicaSet"
            && event.about.namespace == meta.namespace
            && event.reason == "FailedCreate"
            && event.about.name.rsplit_once('-').is_some_and(|(owner, _)| owner == meta.name)
    };
    let event = events.iter().filter(its).max_by_key(|event| event.last)?;
    Some(events::quoted(format!("ReplicaSet {}/{}", meta.namespace, event.about.name), event))
}

/// The step for a component that was scaled to zero.
fn scaled_up(component: &Component<'_>) -> Remedy {
    let meta = &component.deployment.metadata;
    let act = format!("Scale {} to 1 replica", component.name);
    match ManagedBy::from_metadata(meta).in_git() {
        Some(words) => Remedy::new().step(StepKind::Command, format!("{act}: {words}")),
        None => {
            let scale = kubectl().namespace(&meta.namespace).words("scale");
            let scale = scale.arg(format!("deployment/{}", meta.name)).words("--replicas=1");
            Remedy::new().command(act, scale)
        }
    }
}

fn remedy(ctx: &Context<'_>, component: &Component<'_>, reason: Option<&Failing>) -> Remedy {
    let namespace = component.deployment.metadata.namespace.as_str();
    let remedy = Remedy::new();
    let selector = format!("{COMPONENT}={}", component.name);
    if component.wanted() == 0 {
        return scaled_up(component);
    }
    if let Some(Failing { container: Some(container), out_of_memory: true, .. }) = reason {
        return more_memory(ctx, remedy, "Raise its memory limit", component.name, container);
    }
    let logs = |container| {
        let logs = kubectl().namespace(namespace).words("logs").option("-l", &selector);
        logs.option("-c", container)
    };
    let remedy = match reason {
        Some(Failing { container: Some(container), crashed: true, .. }) => remedy
            .command("Read the log of the failing container's last run", logs(container).words("--previous --tail=50")),
        Some(Failing { container: Some(container), running: true, .. }) => remedy
            .command("Read the log of the container that does not become ready", logs(container).words("--tail=50")),
        _ => remedy,
    };
    let unplaced = reason.map(|reason| unplaced(&reason.evidence.said)).unwrap_or_default();
    let is_unplaced = !unplaced.is_empty();
    let remedy = unplaced.into_iter().fold(remedy, |remedy, act| match labels_on_no_node(ctx, component) {
        labels if act == LABELS && !labels.is_empty() => labelled(ctx, component, remedy, &labels),
        _ => {
            let larger = if act == ROOM { too_large(ctx, component) } else { None };
            remedy.step(StepKind::ChartValue, larger.unwrap_or_else(|| act.to_owned()))
        }
    });
    if is_unplaced {
        return remedy;
    }
    let (described, may_restart) = match reason {
        Some(Failing { container: Some(_), crashed: true, .. }) => {
            ("Repair the cause in this log. If it shows none, read the state and the events of its pods", false)
        }
        Some(Failing { running: true, .. }) => ("Show the state and the events of its pods", true),
        Some(_) | None => ("Repair the cause that the state and the events of its pods report", false),
    };
    let remedy =
        remedy.command(described, kubectl().namespace(namespace).words("describe pods").option("-l", selector));
    match may_restart {
        true => remedy.command(
            "If neither shows the cause, restart the component",
            kubectl()
                .namespace(namespace)
                .words("rollout restart")
                .operand(format!("deployment/{}", component.deployment.metadata.name)),
        ),
        false => remedy,
    }
}
