//! `rollout-stuck`: the rollout of a Linkerd component does not replace its old pods.

use crate::checks::control_plane::failing::{Failing, failing};
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::cni;
use crate::model::events;
use crate::model::installed::COMPONENT;
use crate::model::managed_by::ManagedBy;
use crate::objects::{Condition, DaemonSet, Event, ReplicaSet};

/// The label with the revision of a DaemonSet's pod.
const REVISION: &str = "controller-revision-hash";

/// Why a rollout is stuck.
enum Cause<'a> {
    /// The API server rejects its new pods. The object that describes the rejection, and its answer.
    Refused(String, Evidence),
    /// A new pod does not become ready.
    Unready(&'a Pod),
    /// Only the controller reports it.
    Reported(Evidence),
}

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let sets = ctx.or_note(ctx.partial_list::<ReplicaSet>()).unwrap_or_default();
    let pods = ctx.or_note(ctx.partial_list::<Pod>()).unwrap_or_default();
    let installers = ctx.or_note(ctx.partial_list::<DaemonSet>()).unwrap_or_default();
    let mut findings = Vec::new();
    for deployment in deployments.iter().filter(|deployment| is_linkerds(ctx, deployment)) {
        findings.extend(of_deployment(ctx, deployment, sets, pods));
    }
    for set in installers.iter().filter(|set| cni::is_installer(set)) {
        findings.extend(of_daemon_set(ctx, set, pods));
    }
    Ok(findings.into())
}

/// Whether a Deployment is a component of the control plane or of an extension.
fn is_linkerds(ctx: &Context<'_>, deployment: &Workload) -> bool {
    let meta = &deployment.metadata;
    let is_component = meta.namespace == ctx.namespaces().control_plane.as_str() && meta.label(COMPONENT).is_some();
    let template = &deployment.spec.template.metadata;
    is_component || [meta, template].iter().any(|meta| meta.label(EXTENSION_LABEL).is_some())
}

/// The finding for a Deployment whose old pods still serve.
fn of_deployment(ctx: &Context<'_>, deployment: &Workload, sets: &[Workload], pods: &[Pod]) -> Option<Finding> {
    let is_scaled_down = deployment.spec.replicas == Some(0);
    // Without a ready pod the component is unavailable, which other checks report.
    if is_scaled_down || deployment.spec.paused || deployment.status.ready_replicas == 0 {
        return None;
    }
    let meta = &deployment.metadata;
    let own: Vec<&Workload> = sets.iter().filter(|set| is_owned(&set.metadata, Kind::Deployment, meta)).collect();
    let wanted = own.iter().filter(|set| set.spec.replicas != Some(0));
    let newest = wanted.max_by_key(|set| age_rank(set)).copied();
    let object = meta.described("Deployment");
    let refusal = newest
        .and_then(|set| {
            Some((
                format!("replicaset {}", set.metadata.name),
                set.metadata.described("ReplicaSet"),
                set.replica_failure()?,
            ))
        })
        .or_else(|| Some((format!("deployment {}", meta.name), object.clone(), deployment.replica_failure()?)));
    let overdue = |condition: &Condition| !ctx.within_grace(condition.last_transition_time);
    let cause = if let Some((name, place, failure)) = refusal.filter(|(_, _, failure)| overdue(failure)) {
        let said = format!("{}: {}", failure.reason, failure.message);
        Cause::Refused(name, Evidence::field(place, "status.conditions[ReplicaFailure]", said))
    } else if let Some(pod) = newest.and_then(|newest| unready(ctx, newest, &own, pods)) {
        Cause::Unready(pod)
    } else {
        let condition = exceeded(deployment)?;
        let said = format!("{}: {}", condition.reason, condition.message);
        Cause::Reported(Evidence::field(object, "status.conditions[Progressing]", said))
    };
    Some(finding(ctx, Kind::Deployment, deployment, &cause))
}

/// The condition of a Deployment that exceeded its deadline. It ends when the rollout completes.
fn exceeded(deployment: &Workload) -> Option<&Condition> {
    let exceeded = |condition: &&Condition| {
        condition.kind == "Progressing" && condition.status == "False" && condition.reason == "ProgressDeadlineExceeded"
    };
    deployment.status.conditions.iter().find(exceeded)
}

/// The order of ReplicaSets: by revision, which a rollback raises, else by creation.
fn age_rank(set: &Workload) -> (u64, Option<jiff::Timestamp>) {
    let revision = set.metadata.annotation("deployment.kubernetes.io/revision");
    let revision = revision.and_then(|text| text.parse().ok()).unwrap_or_default();
    (revision, set.metadata.creation_timestamp.get())
}

/// A pod of the newest ReplicaSet that should be ready by now, while pods of an older one exist.
fn unready<'a>(ctx: &Context<'_>, newest: &Workload, own: &[&Workload], pods: &'a [Pod]) -> Option<&'a Pod> {
    let has_old = own.iter().any(|set| set.metadata.name != newest.metadata.name && set.status.replicas > 0);
    let is_new = |pod: &&Pod| is_owned(&pod.metadata, Kind::ReplicaSet, &newest.metadata);
    pods.iter().filter(is_new).find(|pod| has_old && is_stuck(ctx, pod))
}

fn is_owned(meta: &Meta, kind: Kind, owner: &Meta) -> bool {
    let named = meta.controller().is_some_and(|by| by.kind == kind.to_string() && by.name == owner.name);
    named && meta.namespace == owner.namespace
}

/// Whether a pod should be ready by now but is not.
fn is_stuck(ctx: &Context<'_>, pod: &Pod) -> bool {
    let created = pod.metadata.creation_timestamp;
    let exists = !pod.is_finished() && pod.metadata.deletion_timestamp.is_none();
    !pod.is_ready() && exists && created.is_some() && !ctx.within_grace(created)
}

/// The finding for a DaemonSet with pods of two revisions, one of which is not ready or is rejected.
fn of_daemon_set(ctx: &Context<'_>, set: &Workload, pods: &[Pod]) -> Option<Finding> {
    if set.spec.strategy.kind == "OnDelete" {
        return None;
    }
    let own: Vec<&Pod> = pods.iter().filter(|pod| is_owned(&pod.metadata, Kind::DaemonSet, &set.metadata)).collect();
    let cause = match unready_revision(ctx, &own) {
        Some(pod) => Cause::Unready(pod),
        None => refused(ctx, set, own.len())?,
    };
    Some(finding(ctx, Kind::DaemonSet, set, &cause))
}

/// A pod of the newest revision that should be ready by now, while pods of another revision exist.
fn unready_revision<'a>(ctx: &Context<'_>, pods: &[&'a Pod]) -> Option<&'a Pod> {
    let revision = |pod: &Pod| pod.metadata.label(REVISION).map(str::to_owned);
    let newest = pods.iter().max_by_key(|pod| pod.metadata.creation_timestamp.get())?;
    let newest = revision(newest)?;
    let has_old = pods.iter().any(|pod| revision(pod).is_some_and(|other| other != newest));
    let is_new = |pod: &&&Pod| revision(pod).is_some_and(|own| own == newest);
    pods.iter().filter(is_new).find(|pod| has_old && is_stuck(ctx, pod)).copied()
}

/// The rejection of a DaemonSet's pods, which has no condition: only events report it.
fn refused<'a>(ctx: &Context<'_>, set: &Workload, pods: usize) -> Option<Cause<'a>> {
    let wanted = usize::try_from(set.status.desired_number_scheduled).ok()?;
    if pods >= wanted {
        return None;
    }
    _ = ctx.or_note(ctx.partial_list::<Event>());
    let meta = &set.metadata;
    let its = |event: &&Event| {
        let about = &event.about;
        event.reason == "FailedCreate"
            && about.kind == "DaemonSet"
            && about.name == meta.name
            && about.namespace == meta.namespace
    };
    let event = ctx.optional_list::<Event>().iter().filter(its).max_by_key(|event| event.last)?;
    Some(Cause::Refused(format!("daemonset {}", meta.name), events::quoted(meta.described("DaemonSet"), event)))
}

fn finding(ctx: &Context<'_>, kind: Kind, workload: &Workload, cause: &Cause<'_>) -> Finding {
    let meta = &workload.metadata;
    let events = ctx.optional_list::<Event>();
    let message = match cause {
        Cause::Refused(..) => {
            "the API server rejects its new pods: the other pods serve, but none can be replaced, and a \
             rollout is stuck"
        }
        Cause::Unready(_) => {
            "a new pod does not become ready, so its rollout is stuck: the old pods serve, and the last change has no \
             effect"
        }
        Cause::Reported(_) => {
            "its rollout makes no progress: the old pods serve, and the last change has no effect on them"
        }
    };
    let failing = match cause {
        Cause::Unready(pod) => failing(pod, events),
        Cause::Refused(..) | Cause::Reported(_) => None,
    };
    let evidence = match (cause, &failing) {
        (Cause::Refused(_, evidence) | Cause::Reported(evidence), _) => evidence.clone(),
        (Cause::Unready(_), Some(failing)) => failing.evidence.clone(),
        (Cause::Unready(pod), None) => Evidence::field(pod.described(), "status.phase", pod.status.phase.to_string()),
    };
    let subject = match cause {
        Cause::Unready(pod) => Subject::Object {
            kind: kind.to_string(),
            namespace: meta.namespace.to_string(),
            name: meta.name.clone(),
            pods: vec![pod.metadata.name.clone()],
        },
        Cause::Refused(..) | Cause::Reported(_) => Subject::object(kind, &meta.namespace, &meta.name),
    };
    let deadline = exceeded(workload).filter(|_| !matches!(cause, Cause::Reported(_)));
    let object = format!("{kind} {}/{}", meta.namespace, meta.name);
    ctx.finding(subject, message)
        .evidence(evidence)
        .evidences(
            deadline.map(|condition| {
                Evidence::field(object, "status.conditions[Progressing]", condition.reason.to_string())
            }),
        )
        .remedy(remedy(kind, meta, cause, failing.as_ref()))
}

fn remedy(kind: Kind, meta: &Meta, cause: &Cause<'_>, failing: Option<&Failing>) -> Remedy {
    let namespace = meta.namespace.as_str();
    let target = format!("{}/{}", kind.to_string().to_ascii_lowercase(), meta.name);
    let rollout = |words: &'static str| kubectl().namespace(namespace).words("rollout").words(words).operand(&target);
    let remedy = Remedy::verified_by(rollout("status").words("--timeout=5m"));
    let remedy = match cause {
        Cause::Refused(name, _) => {
            let (kind, name) = name.split_once(' ').unwrap_or(("replicaset", name));
            return remedy
                .command(
                    "Read its events, which quote the API server",
                    kubectl().namespace(namespace).words("describe").arg(kind).operand(name),
                )
                .note(
                    "Remove the cause: a quota, a limit range, pod security, an admission policy or an admission \
                     webhook. The controller retries within 17 minutes",
                );
        }
        Cause::Unready(pod) => remedy.command(
            "Read the state and the events of the new pod",
            kubectl().namespace(namespace).words("describe pod").operand(&pod.metadata.name),
        ),
        Cause::Reported(_) => remedy.command(
            "Read its state and its events, which name the new ReplicaSet",
            kubectl().namespace(namespace).words("describe").arg(&target),
        ),
    };
    let crashed = failing.filter(|failing| failing.crashed).and_then(|failing| failing.container.as_deref());
    let remedy = match (cause, crashed) {
        (Cause::Unready(pod), Some(container)) => remedy.command(
            "Read the log of the failing container's last run",
            kubectl()
                .namespace(namespace)
                .words("logs")
                .operand(&pod.metadata.name)
                .option("-c", container)
                .words("--previous --tail=50"),
        ),
        _ => remedy,
    };
    if let Some(words) = ManagedBy::from_metadata(meta).in_git() {
        let act = "Correct the cause, or revert the last change";
        return remedy.note(format!("{act}: {words}"));
    }
    remedy
        .step(StepKind::Note, "Correct the cause, most often a value of the chart, before you apply the upgrade again")
        .run(StepKind::Command, "Or return to the template of the pods that serve", rollout("undo"))
}
