//! `job-held-by-proxy`: the application has finished, but an ordinary proxy container keeps its pod
//! running.

use super::family::Switch;
use super::native_sidecar_kubernetes_too_old::ASKED;
use super::wording;
use crate::annotations::HELM_HOOK;
use crate::checks::prelude::*;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::go_bool;
use crate::command::helm;
use crate::knowledge::KeyScope;
use crate::model::annotated::Annotated;
use crate::model::injection::INJECT;
use crate::model::managed_by::{GitOps, ManagedBy};
use crate::model::owners::Owners;
use crate::objects::Job;
use crate::objects::container::{DEBUG_CONTAINER, PROXY_CONTAINER};
use crate::objects::container_status::Terminated;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let held: Vec<_> = pods
        .iter()
        .filter(|pod| ctx.judges(&pod.metadata.namespace))
        .filter_map(|pod| Some((pod, ended(pod, ctx.now(), ctx.param_duration("seconds"))?)))
        .collect();
    if held.is_empty() {
        return Ok(Vec::new().into());
    }
    let switch = Switch::from_context(ctx);
    let owners = Owners::new(&[], ctx.partial_list::<Job>().unwrap_or_default());
    let findings: Vec<Finding> =
        held.into_iter().map(|(pod, ended)| finding(ctx, &switch, &owners.owner(pod), pod, &ended)).collect();
    Ok(findings.into())
}

/// The application containers and how they ended, if only the proxy keeps the pod running.
fn ended(pod: &Pod, now: jiff::Timestamp, grace: jiff::SignedDuration) -> Option<Vec<(&str, &Terminated)>> {
    let of_job = pod.metadata.controller().is_some_and(|owner| owner.kind == "Job");
    let policy = pod.spec.restart_policy.as_str();
    let runs_once = of_job || matches!(policy, "Never" | "OnFailure");
    if !runs_once || pod.is_finished() || pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let status = |name: &str| pod.status.container_statuses.iter().find(|status| status.name == name);
    let ordinary = pod.spec.containers.iter().any(|c| c.name == PROXY_CONTAINER);
    if !ordinary || status(PROXY_CONTAINER)?.state.running().is_none() {
        return None;
    }
    let application = pod.spec.containers.iter().filter(|c| c.name != PROXY_CONTAINER && c.name != DEBUG_CONTAINER);
    let ended: Vec<(&str, &Terminated)> = application
        .map(|container| {
            let terminated = status(&container.name)?.state.terminated()?;
            // Otherwise the kubelet restarts the container.
            (terminated.exit_code == 0 || policy == "Never").then_some((container.name.as_str(), terminated))
        })
        .collect::<Option<_>>()?;
    let last = ended.iter().filter_map(|(_, terminated)| terminated.finished_at.get()).max();
    let just_now = last.is_some_and(|last| last <= now && now.duration_since(last) < grace);
    (!ended.is_empty() && !just_now).then_some(ended)
}

fn finding(ctx: &Context<'_>, switch: &Switch<'_>, owner: &Owner, pod: &Pod, ended: &[(&str, &Terminated)]) -> Finding {
    let waits = match owner.kind.as_str() {
        "Job" | "CronJob" => ", and neither does its Job".to_owned(),
        "Pod" => String::new(),
        kind => format!(", and its {kind} waits for it"),
    };
    let message = format!(
        "the application has finished, but linkerd-proxy, an ordinary container, keeps running. The pod \
        never completes{waits}"
    );
    let object = pod.described();
    let over = ended.iter().map(|(name, terminated)| {
        let at = terminated.finished_at.get().map(|at| format!(" at {at}")).unwrap_or_default();
        let reason = if terminated.reason.is_empty() { "terminated" } else { &terminated.reason };
        let said = format!("{reason}, exit code {}{at}", terminated.exit_code);
        Evidence::field(&object, format!("status.containerStatuses[{name}].state.terminated"), said)
    });
    let proxy = pod.container_status(PROXY_CONTAINER).and_then(|status| status.state.running());
    let since = proxy.and_then(|running| running.started_at.get()).map(|at| format!(" since {at}")).unwrap_or_default();
    let mut finding = ctx
        .finding(owner.subject(vec![pod.metadata.name.clone()]), message)
        .evidences(over)
        .evidence(Evidence::field(
            &object,
            format!("status.containerStatuses[{PROXY_CONTAINER}].state.running"),
            format!("running{since}"),
        ))
        .evidences(switch.reader.evidence())
        .remedy(remedy(ctx, switch, owner, pod))
        .tie(wording::namespace_tie(&pod.metadata.namespace));
    if requests_native_sidecar(ctx, switch, pod) {
        finding = finding.tie(Tie::Fact(ASKED.to_owned())).tie(Tie::Node(pod.node_name.to_string()));
    }
    finding
}

/// Whether a key that some release reads, or the default, requests a native sidecar for the pod.
fn requests_native_sidecar(ctx: &Context<'_>, switch: &Switch<'_>, pod: &Pod) -> bool {
    let keys = ctx.knowledge.native_sidecar().all_keys();
    let said = keys.iter().find_map(|key| go_bool(pod.metadata.annotation(key)?));
    said.or(switch.default) == Some(true)
}

fn remedy(ctx: &Context<'_>, switch: &Switch<'_>, owner: &Owner, pod: &Pod) -> Remedy {
    if let Some(job) = helm_hook(ctx, pod) {
        let remedy = of_hook(ctx, switch, released(wording::remedy(), pod), &pod.metadata.namespace);
        return match ManagedBy::from_metadata(&job.metadata).gitops {
            // It renders charts, and no release of Helm exists.
            Some(GitOps::ArgoCd(_)) => remedy.note("Sync the Application again in Argo CD, which runs the hook"),
            _ => continued(remedy, &pod.metadata.namespace),
        };
    }
    // An operator creates the Job again at once, from the template that it has then.
    let is_made_again = !["CronJob", "Job", "Pod"].contains(&owner.kind.as_str());
    let is_by_operator = is_made_again && is_job_of_operator(owner, pod);
    let template = match is_by_operator {
        true => Some(format!("The operator of the {} writes the Job's pod template. ", owner.kind)),
        false => {
            WITHOUT_TEMPLATE.contains(&owner.kind.as_str()).then(|| format!("A {} has no pod template. ", owner.kind))
        }
    };
    if let (Some(template), Some(key)) = (template, switch.right_key(KeyScope::Namespace)) {
        return released(by_namespace(ctx, owner, &template, key), pod);
    }
    let mut remedy = wording::remedy();
    if !is_made_again {
        remedy = released(remedy, pod);
    }
    match switch.right_key(KeyScope::PodTemplate) {
        Some(key) => {
            let act = format!("{}: set {key}: \"true\"", native(ctx, ""));
            remedy = annotate(remedy, &act, owner, key);
            remedy = wording::shutdown(ctx, switch, remedy, "If native sidecars are not available");
        }
        None => remedy = wording::without(ctx, switch, remedy),
    }
    let remedy = remedy.step(
        StepKind::Annotation,
        format!(
            "Alternatively, if no service that its pods call requires a mesh identity, set {INJECT}: disabled \
             in the pod template"
        ),
    );
    if is_made_again { released(remedy, pod) } else { remedy }
}

/// Kinds whose controllers make pods without a template that users can annotate: KubeVirt's importers and
/// CloudNativePG.
const WITHOUT_TEMPLATE: [&str; 2] = ["PersistentVolumeClaim", "Cluster"];

/// Kinds of other controllers of Jobs whose users write the pod template.
const WITH_TEMPLATE: [&str; 4] = ["AdvancedCronJob", "BroadcastJob", "JobSet", "ScaledJob"];

/// Whether an operator makes the pod's Job for its custom resource, with a template of its own.
fn is_job_of_operator(owner: &Owner, pod: &Pod) -> bool {
    let is_of_job = pod.metadata.controller().is_some_and(|controller| controller.kind == "Job");
    is_of_job && !WITH_TEMPLATE.contains(&owner.kind.as_str())
}

/// The steps for pods without a template that users can edit; `template` states this. The injector copies the
/// annotation of the namespace.
fn by_namespace(ctx: &Context<'_>, owner: &Owner, template: &str, key: &str) -> Remedy {
    let meta = Meta { name: owner.namespace.clone(), ..Meta::default() };
    let object = Annotated { kind: Kind::Namespace, meta: &meta, sites: vec![] };
    let act = format!("{}: set {key}: \"true\"", native(ctx, template));
    let remedy = rewrite::own(wording::remedy(), Act::Put(&act), &object, &[(key, Some("true"))]);
    remedy.step(
        StepKind::Annotation,
        format!(
            "Alternatively, if no service that its pods call requires a mesh identity, set {INJECT}: disabled on the \
             pods, if the controller passes annotations on"
        ),
    )
}

/// `On Kubernetes 1.29 or newer, make the proxy a native sidecar`, after other words; without the condition if the
/// cluster meets it.
pub(super) fn native(ctx: &Context<'_>, before: &str) -> String {
    let free = ctx.knowledge.native_sidecar().kubernetes_on_by_default();
    let act = match wording::is_floor_met(ctx) {
        true => "Make the proxy a native sidecar".to_owned(),
        false => format!("On Kubernetes {free} or newer, make the proxy a native sidecar"),
    };
    let is_within = before.ends_with(", ");
    let act = if is_within { act.replacen('O', "o", 1).replacen('M', "m", 1) } else { act };
    format!("{before}{act}")
}

/// The pod's Job, if it is a hook of a Helm chart.
fn helm_hook<'a>(ctx: &Context<'a>, pod: &Pod) -> Option<&'a Job> {
    let owner = pod.metadata.controller().filter(|owner| owner.kind == "Job")?;
    ctx.optional_list::<Job>().iter().find(|job| {
        let meta = &job.metadata;
        meta.namespace == pod.metadata.namespace && meta.name == owner.name && meta.annotation(HELM_HOOK).is_some()
    })
}

/// Adds the steps for a hook, for which Helm waits until its timeout.
fn of_hook(ctx: &Context<'_>, switch: &Switch<'_>, remedy: Remedy, namespace: &str) -> Remedy {
    let remedy = remedy.step(
        StepKind::Annotation,
        format!(
            "If no service that the hook calls requires a mesh identity, set {INJECT}: disabled in the Job's pod \
             template, through a value of its chart"
        ),
    );
    let remedy = match switch.right_key(KeyScope::PodTemplate) {
        Some(key) => {
            let act = format!(
                "{}: set {key}: \"true\" in the Job's pod template, through a value of its chart",
                native(ctx, "Otherwise, ")
            );
            remedy.step(StepKind::Annotation, act)
        }
        None => wording::without(ctx, switch, remedy),
    };
    match switch.right_key(KeyScope::Namespace) {
        Some(key) => {
            let meta = Meta { name: namespace.to_owned(), ..Meta::default() };
            let object = Annotated { kind: Kind::Namespace, meta: &meta, sites: vec![] };
            let act = format!("If the chart has no such value, make all new proxies native sidecars: set {key}");
            rewrite::own(remedy, Act::Put(&act), &object, &[(key, Some("true"))])
        }
        None => remedy,
    }
}

/// Adds the steps after which Helm runs again. Helm refuses every operation on a release that it left pending.
fn continued(remedy: Remedy, namespace: &str) -> Remedy {
    let helm = || helm().namespace(namespace);
    let release = || Arg::placeholder("RELEASE");
    remedy
        .run(
            StepKind::Note,
            "Check the status of the hook's release. If Helm still runs, it continues without the Job",
            helm().words("list --deployed --failed --pending"),
        )
        .step(StepKind::Note, "If the release has failed, run the Helm command again")
        .run(
            StepKind::Command,
            "If the status is pending-upgrade or pending-rollback and Helm no longer runs, return to the last \
             revision \
             that was deployed: Helm refuses every other command meanwhile",
            Command::lines([
                helm().words("history").operand(release()),
                helm().words("rollback").operand(release()).operand(Arg::placeholder("REVISION")),
            ]),
        )
        .run(
            StepKind::Command,
            "If the status is pending-install and Helm no longer runs, remove the release with its objects",
            helm().words("uninstall").operand(release()),
        )
        .step(StepKind::Note, "If you removed the release or returned to a revision, run the Helm command again")
}

/// Adds the step that ends the hanging pod.
fn released(remedy: Remedy, pod: &Pod) -> Remedy {
    let namespace = &pod.metadata.namespace;
    match pod.metadata.controller().filter(|controller| controller.kind == "Job") {
        Some(job) => remedy.command(
            "Delete the hanging Job. If you delete only its pod, the Job repeats the work",
            kubectl().namespace(namespace).words("delete job").operand(&job.name),
        ),
        None => remedy.command(
            "Delete the hanging pod",
            kubectl().namespace(namespace).words("delete pod").operand(&pod.metadata.name),
        ),
    }
}

/// Adds the step that annotates the pod's owner.
pub(super) fn annotate(remedy: Remedy, act: &str, owner: &Owner, key: &str) -> Remedy {
    let meta = Meta { name: owner.name.clone(), namespace: owner.namespace.as_str().into(), ..Meta::default() };
    match owner.kind.as_str() {
        "CronJob" => {
            let object = Annotated { kind: Kind::CronJob, meta: &meta, sites: vec![] };
            rewrite::template_only(remedy, Act::Put(act), &object, &[(key, Some("true"))])
        }
        "Job" => remedy.step(
            StepKind::Annotation,
            format!("{act} in the pod template of the Job's manifest, for its next creation"),
        ),
        "Pod" => remedy.step(StepKind::Annotation, format!("{act} in the pod's manifest, for its next creation")),
        _ => remedy.step(StepKind::Annotation, format!("{act} in the pod template of the pod's owner")),
    }
}
