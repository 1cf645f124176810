//! `service-mirror-legacy`: a Link's controller was made by the command, where the chart does that now.

use super::links::{Links, chart_makes_controllers, controllers, links, no_links, subject};
use crate::checks::extensions::remedy;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, StepKind, Subject};
use crate::item::{Extension, Kind};
use crate::knowledge::MirrorKind;
use crate::model::objects::Workload;
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Workload>(Kind::Deployment)?;
    let links = match links(ctx)? {
        Links::Some(links) => links,
        Links::None => return Ok(no_links()),
        Links::Not(verdict) => return Ok(verdict),
    };
    if chart_makes_controllers(ctx) == Contains::No {
        return Ok(Verdict::not_applicable("the chart of this release makes no controllers"));
    }
    let legacy = ctx.knowledge.extensions().service_mirrors().iter().filter(|m| m.kind == MirrorKind::Legacy);
    let legacy: Vec<&str> = legacy.map(|mirror| mirror.component.as_str()).collect();
    let mut findings = Vec::new();
    let mut judged = false;
    for link in links {
        let Some(controller) = controllers(ctx, deployments, link).first().copied() else { continue };
        judged = true;
        let Some(component) = controller.metadata.label("component").filter(|c| legacy.contains(c)) else {
            continue;
        };
        let meta = &controller.metadata;
        let object = Subject::object(Kind::Deployment, &meta.namespace, &meta.name).to_string();
        let cluster = &link.spec.target_cluster_name;
        findings.push(
            ctx.finding(
                subject(link),
                "the controller of the link was made by the command rather than by the chart: an upgrade of the extension \
                 leaves it as it is",
            )
            .evidence(Evidence::field(object, "metadata.labels[component]", component))
            .remedy(
                remedy(Extension::Multicluster)
                    .step(
                        StepKind::ChartValue,
                        "Add the link to `controllers` in the values of the multicluster chart: a controller of the chart \
                         comes up and waits for the lease",
                    )
                    .run(
                        StepKind::Command,
                        "Then delete the old one, and the new one takes over",
                        format!("kubectl -n {} delete deployment {} # {cluster}", meta.namespace, meta.name),
                    ),
            ),
        );
    }
    if !judged {
        return Ok(Verdict::not_applicable("no Link has a controller"));
    }
    Ok(findings.into())
}
