//! `service-mirror-legacy`: a Link's controller that an upgrade of the extension leaves behind: created by
//! the linkerd CLI, although the chart creates them now, or of an older release than the extension.

use std::cmp::Ordering;

use super::links::{Controllers, chart_makes_controllers, links, subject, with_single_controller};
use crate::checks::prelude::*;
use crate::checks::upgrades::release;
use crate::item::EXTENSION_LABEL;
use crate::knowledge::MirrorKind;
use crate::model::control_plane::{CREATED_BY, tag_version};
use crate::objects::Link;
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>()?;
    let links = links(ctx)?;
    if chart_makes_controllers(ctx) == Contains::No {
        return Err(Unjudged::not_applicable("the chart of this release creates no controllers"));
    }
    let legacy = ctx.knowledge.extensions().service_mirrors().iter().filter(|m| m.kind == MirrorKind::Legacy);
    let legacy: Vec<&str> = legacy.map(|mirror| mirror.component.as_str()).collect();
    let controllers = Controllers::new(ctx, deployments);
    let mut findings = Vec::new();
    let mut judged = false;
    for link in links {
        for &controller in controllers.of_link(link) {
            judged = true;
            let component = controller.metadata.label("component").filter(|c| legacy.contains(c));
            findings.extend(match component {
                Some(component) => Some(created_by_cli(ctx, link, controller, component)),
                None => outdated(ctx, deployments, link, controller),
            });
        }
    }
    if !judged {
        return Err(Unjudged::not_applicable("no Link has a controller"));
    }
    Ok(findings.into())
}

fn object(controller: &Workload) -> String {
    let meta = &controller.metadata;
    Subject::object(Kind::Deployment, &meta.namespace, &meta.name).to_string()
}

fn created_by_cli(ctx: &Context<'_>, link: &Link, controller: &Workload, component: &str) -> Finding {
    let cluster = &link.spec.target_cluster_name;
    let remedy = Remedy::new().step(
        StepKind::ChartValue,
        "Add the link to `controllers` in the values of the multicluster chart: a controller of the chart \
         starts and waits for the lease",
    );
    let remedy = with_single_controller(ctx, remedy, &controller.metadata.namespace, cluster);
    ctx.finding(
        subject(link),
        "the controller of the link was created by the linkerd CLI, not by the chart: an upgrade of the \
         extension does not upgrade it",
    )
    .evidence(Evidence::field(object(controller), "metadata.labels[component]", component))
    .remedy(remedy)
}

/// A controller of the chart of an older release than the extension: the last upgrade of the extension did not list it.
fn outdated(ctx: &Context<'_>, deployments: &[Workload], link: &Link, controller: &Workload) -> Option<Finding> {
    if ctx.upgraded().is_some() {
        return None;
    }
    let containers = controller.spec.template.spec.containers.iter();
    let (image, version) =
        containers.filter(|one| one.name != PROXY).find_map(|one| Some((&one.image, tag_version(one)?)))?;
    let (extension, seen) = extension_release(deployments, &controller.metadata.namespace)?;
    if version.cmp_same_channel(&extension) != Some(Ordering::Less) {
        return None;
    }
    let remedy = release::extension(ctx, Remedy::new(), Extension::Multicluster.name(), (&version, &extension));
    Some(
        ctx.finding(
            subject(link),
            "the controller of the link is of an older release than the multicluster extension: the upgrade \
             of the extension did not list it under controllers",
        )
        .parameter("outdated")
        .rows_as(Severity::Info)
        .evidence(Evidence::field(object(controller), "spec.template.spec.containers[*].image", image.to_string()))
        .evidence(seen)
        .remedy(remedy),
    )
}

/// The container that the injector adds.
const PROXY: &str = "linkerd-proxy";

/// The newest release in the annotation of the extension's Deployments in a namespace.
fn extension_release(deployments: &[Workload], namespace: &str) -> Option<(LinkerdVersion, Evidence)> {
    let own = deployments.iter().filter(|one| {
        one.metadata.namespace == namespace
            && one.metadata.label(EXTENSION_LABEL) == Some(Extension::Multicluster.name())
    });
    let stated = own.filter_map(|one| {
        let text = one.metadata.annotation(CREATED_BY)?;
        let path = format!("metadata.annotations[{CREATED_BY}]");
        Some((LinkerdVersion::from_created_by(text).ok()?, Evidence::field(object(one), path, text)))
    });
    stated.reduce(|newest, other| match newest.0.cmp_same_channel(&other.0) {
        Some(Ordering::Less) => other,
        _ => newest,
    })
}
