//! `viz-metrics-api-not-running`: no pod of metrics-api runs, which the CLI, the dashboard and other tools
//! query.

use crate::checks::extensions::{installed_in, is_installing, own};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::model::pod_status::label;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let namespace = installed_in(ctx, Extension::Viz)?;
    let namespace = namespace.metadata.name.as_str();
    let servers: Vec<&Pod> = own(pods, namespace, Extension::Viz)
        .filter(|pod| pod.metadata.label("component") == Some("metrics-api"))
        .collect();
    if servers.iter().any(|pod| pod.status.phase == "Running") {
        return Ok(Verdict::fine());
    }
    ctx.complete_list::<Pod>()?;
    let seen = match servers.as_slice() {
        [] => {
            vec![Evidence::other(format!("Pods in {namespace}"), "none has the label component=metrics-api")]
        }
        some => some
            .iter()
            .map(|pod| Evidence::field(format!("Pod {namespace}/{}", pod.metadata.name), "status", label(pod)))
            .collect(),
    };
    let finding = ctx
        .finding(
            Subject::object("Deployment", namespace, "metrics-api"),
            "no pod of metrics-api is running: linkerd viz and the dashboard have no metrics source, and \
             the checks of viz that need one fail",
        )
        .evidences(seen)
        .remedy(
            Remedy::new()
                .command(
                    "Find out why it is not Running",
                    kubectl().namespace(namespace).words("describe deployment,pod -l component=metrics-api"),
                )
                .command(
                    "If it was scaled to 0, scale it up",
                    kubectl().namespace(namespace).words("scale deployment metrics-api --replicas 1"),
                ),
        );
    let starting = match servers.as_slice() {
        [] => is_installing(ctx, namespace),
        some => ctx.are_starting(some),
    };
    Ok(spared(finding, starting).into())
}
