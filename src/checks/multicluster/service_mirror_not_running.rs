//! `service-mirror-not-running`: a Link has no controller that runs, or several.

use super::links::{
    CLUSTER, Links, ask_controller, controllers, links, mirrors_of, no_links, subject, with_controller,
};
use crate::checks::extensions::remedy;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, StepKind, Subject, Tie};
use crate::item::{Extension, Kind};
use crate::model::objects::{Link, Workload};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Workload>(Kind::Deployment)?;
    let links = match links(ctx)? {
        Links::Some(links) => links,
        Links::None => return Ok(no_links()),
        Links::Not(verdict) => return Ok(verdict),
    };
    let mut findings = Vec::new();
    for link in links {
        match controllers(ctx, deployments, link).as_slice() {
            [] => {
                ctx.every::<Workload>(Kind::Deployment)?;
                findings.push(none(ctx, link));
            }
            [one] if one.status.ready_replicas > 0 => {}
            [one] => findings.push(not_ready(ctx, link, one)),
            several => findings.push(too_many(ctx, link, several)),
        }
    }
    Ok(findings.into())
}

fn name(deployment: &Workload) -> String {
    format!("{}/{}", deployment.metadata.namespace, deployment.metadata.name)
}

fn none(ctx: &Context<'_>, link: &Link) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(
        subject(link),
        "the link has no controller: nothing of the other cluster is mirrored, and what was mirrored is not kept up to \
         date",
    )
    .parameter("none")
    .tie(mirrors_of(cluster))
    .evidence(Evidence::other("every Deployment", format!("none mirrors: {CLUSTER}={cluster}")))
    .remedy(with_controller(ctx, remedy(Extension::Multicluster), link))
}

fn not_ready(ctx: &Context<'_>, link: &Link, controller: &Workload) -> Finding {
    let meta = &controller.metadata;
    let home = &meta.namespace;
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(
        subject(link),
        "the controller of the link is not available: nothing of the other cluster is mirrored or kept up to date",
    )
    .parameter("not-available")
    .tie(mirrors_of(cluster))
    .tie(Tie::Workload(Kind::Deployment.to_string(), home.clone(), meta.name.clone()))
    .evidence(Evidence::field(
        Subject::object(Kind::Deployment, home, &meta.name),
        "status.readyReplicas",
        controller.status.ready_replicas.to_string(),
    ))
    .remedy(
        remedy(Extension::Multicluster)
            .run(
                StepKind::Command,
                "See what keeps it",
                format!("kubectl -n {home} describe pod -l {CLUSTER}={cluster}"),
            )
            .run(
                StepKind::Command,
                "And what it says",
                format!("kubectl -n {home} logs deployment/{} --tail 30", meta.name),
            ),
    )
}

fn too_many(ctx: &Context<'_>, link: &Link, controllers: &[&Workload]) -> Finding {
    let names: Vec<String> = controllers.iter().map(|controller| name(controller)).collect();
    let cluster = &link.spec.target_cluster_name;
    ctx.finding(
        subject(link),
        "the link has several controllers: only the one that holds the lease mirrors, and which that is changes with every \
         restart",
    )
    .parameter("several")
    .evidence(Evidence::other(format!("Deployments with {CLUSTER}={cluster}"), names.join(", ")))
    .remedy(ask_controller(remedy(Extension::Multicluster), &link.metadata.namespace, cluster, ", to see which holds the lease").step(
        StepKind::Note,
        "Keep the one that the chart made, where there is one, and delete the others",
    ))
}
