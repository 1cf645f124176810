//! Checks whether an extension has all of its pods, and whether they run.

use super::{by_owner, installed_in, is_installing, names, own, reinstall};
use crate::checks::control_plane::failing::failing;
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::model::pod_status::{UnhealthyReason, counts_as_unwell, label, unhealthy};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::container_status::{ContainerStatus, Terminated};

/// Labels whose value names a component.
const COMPONENT: [&str; 2] = ["component", "linkerd.io/control-plane-component"];

/// Reports components of an extension without a pod, and pods that do not run or whose proxy is not ready.
/// Reads `namespaces`, `pods`, and, if available, `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn judge(ctx: &Context<'_>, extension: Extension, components: &[String]) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let namespace = installed_in(ctx, extension)?;
    let namespace = namespace.metadata.name.as_str();
    let mut findings = missing(ctx, (pods, namespace), extension, components)?;
    let over = own(pods, namespace, extension).filter(|pod| unhealthy(pod).is_none() && counts_as_unwell(pod));
    let over = by_owner(ctx, over.map(|pod| ((), pod)));
    findings.extend(over.iter().map(|((owner, ()), pods)| evicted(ctx, extension, owner, pods)));
    findings.extend(failing_pods(ctx, extension, own(pods, namespace, extension)));
    Ok(findings.into())
}

/// Reports those of an extension's pods that do not run or whose proxy is not ready, by their owner. Reads, if
/// available, `replicasets.apps` and `jobs.batch`.
pub(in crate::checks) fn failing_pods<'a>(
    ctx: &Context<'a>,
    extension: Extension,
    pods: impl Iterator<Item = &'a Pod>,
) -> Vec<Finding> {
    // Pods without a proxy are a matter of their own.
    let failing = pods.filter(|pod| match unhealthy(pod) {
        Some(UnhealthyReason::Proxy) => pod.spec.proxy().is_some(),
        Some(UnhealthyReason::Pod(_)) => true,
        None => false,
    });
    let failing = by_owner(ctx, failing.map(|pod| ((), pod)));
    let finding = |((owner, ()), pods): (&(Owner, ()), &Vec<&Pod>)| {
        spared(not_running(ctx, extension, owner, pods), ctx.are_starting(pods))
    };
    failing.iter().map(finding).collect()
}

/// The components that no pod carries as a label in which anything runs or will.
fn missing(
    ctx: &Context<'_>,
    (pods, namespace): (&[Pod], &str),
    extension: Extension,
    components: &[String],
) -> Result<Vec<Finding>, Missing> {
    let there = |component: &String| {
        own(pods, namespace, extension)
            .filter(|pod| !pod.is_finished())
            .any(|pod| COMPONENT.iter().any(|label| pod.metadata.label(label) == Some(component)))
    };
    let lost: Vec<&String> = components.iter().filter(|component| !there(component)).collect();
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    ctx.complete_list::<Pod>()?;
    let installing = is_installing(ctx, namespace);
    let findings = lost.into_iter().map(|component| {
        let seen = format!("no running pod has the label component={component}");
        let finding = ctx.finding(
            Subject::object("Deployment", namespace, component),
            format!("a component of the extension {extension} has no pods: its functions are not available"),
        );
        spared(finding, installing)
            .parameter("no-pods")
            .evidence(Evidence::other(format!("Pods in {namespace} with linkerd.io/extension={extension}"), seen))
            .remedy(brought_back(ctx, extension, namespace, component))
    });
    Ok(findings.collect())
}

/// The steps that bring back the pods of a component: its Deployment is scaled to zero, or is missing.
fn brought_back(ctx: &Context<'_>, extension: Extension, namespace: &str, component: &str) -> Remedy {
    let all = ctx.optional_list::<Deployment>();
    let labelled = |one: &&Workload| COMPONENT.iter().any(|label| one.metadata.label(label) == Some(component));
    let own = all.iter().filter(|one| one.metadata.namespace == namespace).find(labelled);
    if let Some(zero) = own.filter(|one| one.spec.replicas == Some(0)) {
        let scale = kubectl().namespace(namespace).words("scale deployment").operand(&zero.metadata.name);
        return Remedy::new().command("Scale its Deployment up again: it has 0 replicas", scale.words("--replicas=1"));
    }
    let look = Remedy::new().command(
        "Check whether its Deployment exists, and how many replicas it has",
        kubectl().namespace(namespace).words("get deployment").operand(component),
    );
    reinstall(ctx, look, extension, ", if the Deployment is missing")
}

fn not_running(ctx: &Context<'_>, extension: Extension, owner: &Owner, pods: &[&Pod]) -> Finding {
    let reason = |pod: &Pod| failing(pod, &[]).map(|failing| failing.evidence);
    let evidence = pods.iter().flat_map(|pod| [Some(status(pod)), reason(pod)]).flatten();
    let finding = ctx
        .finding(
            owner.subject(names(pods)),
            format!("pods of the extension {extension} are not running, or their proxy is not ready"),
        )
        .evidences(evidence);
    let pod = pods[0].metadata.name.as_str();
    let namespaced = || kubectl().namespace(&owner.namespace);
    let Some(status) = pods.iter().find_map(|pod| crashed(pod)) else {
        return finding.remedy(
            Remedy::new().command("Find out why the pod is not ready", namespaced().words("describe pod").operand(pod)),
        );
    };
    let container = status.name.as_str();
    let log = namespaced().words("logs").operand(pod).option("-c", container).words("--previous --tail=50");
    let is_out_of_memory = ended(status).is_some_and(|ended| ended.reason == "OOMKilled");
    finding.remedy(match is_out_of_memory && container != PROXY_CONTAINER {
        true => Remedy::new().step(
            StepKind::ChartValue,
            match extension {
                Extension::Viz => {
                    format!("Raise the memory limit of {container} in the values of viz: {}", limit(container))
                }
                _ => format!("Raise the memory limit of {container} in the values of {extension}"),
            },
        ),
        false => Remedy::new().command(format!("Read the last log of {container}"), log),
    })
}

/// The first container that restarts again and again.
fn crashed(pod: &Pod) -> Option<&ContainerStatus> {
    let mut statuses = pod.status.container_statuses.iter();
    statuses.find(|status| !status.ready && status.restart_count > 0 && ended(status).is_some())
}

/// How a container ended last.
fn ended(status: &ContainerStatus) -> Option<&Terminated> {
    status.state.terminated().or_else(|| status.last_state().terminated())
}

/// The value of the chart of viz with the memory limit of a container.
fn limit(container: &str) -> String {
    let component = match container {
        "metrics-api" => "metricsAPI",
        "tap-injector" => "tapInjector",
        "web" => "dashboard",
        other => other,
    };
    format!("{component}.resources.memory.limit")
}

/// The finding for evicted pods. Whether other pods replace them is a finding of its own.
pub(super) fn evicted(ctx: &Context<'_>, extension: Extension, owner: &Owner, pods: &[&Pod]) -> Finding {
    ctx.finding(
        owner.subject(names(pods)),
        format!(
            "evicted pods of the extension {extension} are still listed: nothing runs in them, and \
             `linkerd check` counts them as pods whose proxy is not ready"
        ),
    )
    .severity(Severity::Info)
    .rows_as(Severity::Warning)
    .parameter("evicted")
    .evidences(pods.iter().map(|pod| status(pod)))
    .remedy(Remedy::new().command(
        "Delete them once you know why they were evicted",
        kubectl().namespace(&owner.namespace).words("delete pod").operands(names(pods)),
    ))
}

/// The status of a pod as evidence.
pub(super) fn status(pod: &Pod) -> Evidence {
    let object = pod.described();
    match unhealthy(pod) {
        Some(UnhealthyReason::Proxy) => {
            Evidence::field(object, "status.containerStatuses[linkerd-proxy].ready", "false")
        }
        Some(UnhealthyReason::Pod(_)) | None => Evidence::field(object, "status", label(pod)),
    }
}
