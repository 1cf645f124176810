//! `viz-metrics-missing`: Prometheus has no metrics of meshed pods.

use std::collections::BTreeSet;

use super::external_prometheus::external;
use super::viz_prometheus_missing::no_prometheus;
use crate::checks::extensions::{by_owner, installed_in, names, own};
use crate::checks::prelude::*;
use crate::item::Program;
use crate::item::answer::runs;
use crate::model::installed::CONTROL_PLANE_NS;

/// Prometheus scrapes every ten seconds; a pod that is younger than a few rounds may not have been scraped.
const SOON: i64 = 60;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let labelled = installed_in(ctx, Extension::Viz)?;
    let namespace = labelled.metadata.name.as_str();
    let Some(prometheus) = own(pods, namespace, Extension::Viz).find(|pod| runs(Program::Prometheus, pod)) else {
        // No pod can be queried: only metrics-api can reach the data of an external Prometheus.
        return Err(match external(labelled) {
            Some(_) => ctx.unasked(Program::Prometheus, Why::NotOffered).into(),
            None => no_prometheus(pods, namespace),
        });
    };
    let answer = ctx.probe(Program::Prometheus, namespace, &prometheus.metadata.name)?;
    if !answer.is_well() {
        return Err(Unjudged::blocked("viz-self-check-failing", "Prometheus does not answer"));
    }
    let known: BTreeSet<&str> = answer.pods.iter().map(String::as_str).collect();
    let control_plane = &ctx.namespaces().control_plane;
    let unseen = pods.iter().filter(|pod| {
        let meta = &pod.metadata;
        ctx.judges(&meta.namespace)
            && meta.label(CONTROL_PLANE_NS) == Some(control_plane)
            && pod.status.phase == "Running"
            && meta.deletion_timestamp.is_none()
            && pod.status.start_time.get().is_none_or(|start| ctx.now().as_second() - start.as_second() > SOON)
            && !known.contains(format!("{}/{}", meta.namespace, meta.name).as_str())
    });
    let findings = by_owner(ctx, unseen.map(|pod| ((), pod))).into_iter().map(|((owner, ()), pods)| {
        ctx.finding(
            owner.subject(names(&pods)),
            "Prometheus has no metrics of meshed pods: viz shows no traffic for them",
        )
        .evidence(Evidence::other(
            format!("Pod {namespace}/{} port {}", prometheus.metadata.name, Program::Prometheus.port()),
            format!("has {} pods, not these", known.len()),
        ))
        .remedy(
            Remedy::new()
                .command(
                    "Open http://localhost:9090/targets and read the errors of the targets linkerd-proxy",
                    kubectl().namespace(namespace).words("port-forward deploy/prometheus 9090"),
                )
                .step(
                    StepKind::Note,
                    "Read the errors: a 403 indicates a policy (viz-scrape-unauthorized), a timeout a network \
                     policy or a proxy that is not ready",
                ),
        )
    });
    Ok(findings.collect())
}
