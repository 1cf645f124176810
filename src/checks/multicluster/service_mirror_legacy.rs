//! `service-mirror-legacy`: a Link's controller was made by the linkerd CLI, where the chart makes them now.

use super::links::{Controllers, chart_makes_controllers, links, subject};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::knowledge::MirrorKind;
use crate::objects::Deployment;
use crate::version::Contains;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Deployment>()?;
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
        let Some(controller) = controllers.of_link(link).first().copied() else { continue };
        judged = true;
        let Some(component) = controller.metadata.label("component").filter(|c| legacy.contains(c)) else {
            continue;
        };
        let meta = &controller.metadata;
        let object = Subject::object(Kind::Deployment, &meta.namespace, &meta.name).to_string();
        findings.push(
            ctx.finding(
                subject(link),
                "the controller of the link was created by the linkerd CLI, not by the chart: an upgrade \
                 of the extension does not upgrade it",
            )
            .evidence(Evidence::field(object, "metadata.labels[component]", component))
            .remedy(
                Remedy::new()
                    .step(
                        StepKind::ChartValue,
                        "Add the link to `controllers` in the values of the multicluster chart: a \
                         controller of the chart starts and waits for the lease",
                    )
                    .run(
                        StepKind::Command,
                        "Then delete the old controller; the new one takes over",
                        kubectl().namespace(&meta.namespace).words("delete deployment").operand(&meta.name),
                    ),
            ),
        );
    }
    if !judged {
        return Err(Unjudged::not_applicable("no Link has a controller"));
    }
    Ok(findings.into())
}
