//! `proxy-not-ready`: pods of workloads whose proxy is not ready, or was OOM-killed.

mod evidence;
mod remedy;
mod stage;

use std::collections::{BTreeMap, HashMap};

use crate::checks::certificates::identity_deployment;
use crate::checks::prelude::*;
use crate::checks::probe_events::ProbeEvents;
use crate::checks::restart::of_namespaces;
use crate::checks::serving::component_missing;
use crate::model::installed::{COMPONENT, CONTROL_PLANE_NS};
use crate::model::pod_status::counts_as_unwell;
use crate::objects::Event;
use evidence::{Warnings, allocator, last_warnings, memory_limit, pod_evidence, probed, resize};
use stage::{PodEnd, Stage};

/// Maximum number of quoted pods per workload.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let control_plane = ctx.namespaces().control_plane.as_str();
    let injected =
        |pod: &&Pod| pod.metadata.label(CONTROL_PLANE_NS) == Some(control_plane) && ctx.judges(&pod.metadata.namespace);
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
        if let Some(stage) = Stage::from_pod(ctx, pod, &probes) {
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

fn finding(ctx: &Context<'_>, owner: &Owner, stage: Stage, pods: &[&Pod], warnings: &Warnings<'_>) -> Finding {
    let names: Vec<String> = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
    let remedy = remedy::remedy(ctx, owner, stage, pods, &names);
    let finding = ctx
        .finding(owner.subject(names), stage.message())
        .evidences(pods.iter().take(QUOTED).map(|pod| pod_evidence(pod, warnings)))
        .evidences(pods.iter().find_map(|pod| memory_limit(pod)))
        .evidences(pods.iter().find_map(|pod| resize(pod)))
        .evidences(pods.iter().find_map(|pod| allocator(ctx, pod)))
        .remedy(remedy);
    match stage {
        // An unready proxy waits for answers of these components.
        Stage::Unready => ["identity", "destination"]
            .into_iter()
            .fold(finding, |finding, component| finding.tie(component_missing(component)))
            .tie(identity_deployment(ctx)),
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
        Stage::Unscheduled | Stage::Starting | Stage::OtherContainer | Stage::ApplicationFailed | Stage::Over(_) => {
            finding.severity(Severity::Info).rows_as(Severity::Error)
        }
    }
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
