//! `viz-metrics-api-not-running`: nothing answers what the command, the dashboard and other tools ask viz.

use crate::checks::extensions::{absent, extension_namespace, own, remedy};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::model::objects::Pod;
use crate::model::pod_status::word;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>(Kind::Pod)?;
    let Some(home) = extension_namespace(ctx, Extension::Viz)? else { return Ok(absent(Extension::Viz)) };
    let home = home.metadata.name.as_str();
    let servers: Vec<&Pod> = own(pods, home, Extension::Viz)
        .filter(|pod| pod.metadata.label("component") == Some("metrics-api"))
        .collect();
    if servers.iter().any(|pod| pod.status.phase == "Running") {
        return Ok(Verdict::fine());
    }
    ctx.every::<Pod>(Kind::Pod)?;
    let seen = match servers.as_slice() {
        [] => vec![Evidence::other(format!("Pods in {home}"), "none has the label component=metrics-api")],
        some => some
            .iter()
            .map(|pod| Evidence::field(format!("Pod {home}/{}", pod.metadata.name), "status", word(pod)))
            .collect(),
    };
    let finding = ctx
        .finding(
            Subject::object("Deployment", home, "metrics-api"),
            "no pod of metrics-api runs: linkerd viz and the dashboard have nobody to ask, and all checks of viz that need \
             an answer fail",
        )
        .evidences(seen)
        .remedy(
            remedy(Extension::Viz)
                .run(
                    StepKind::Command,
                    "See what keeps it",
                    format!("kubectl -n {home} describe deployment,pod -l component=metrics-api"),
                )
                .run(
                    StepKind::Command,
                    "Where it was scaled down, scale it up again",
                    format!("kubectl -n {home} scale deployment metrics-api --replicas 1"),
                ),
        );
    Ok(vec![finding].into())
}
