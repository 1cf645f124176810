//! `control-plane-below-ha`: the control plane was installed with high availability but runs one
//! pod of a component.

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::serving::component_missing;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::model::control_plane::{CORE, components};
use crate::model::installed::COMPONENT;
use crate::objects::{Deployment, Workload};

/// Minimum number of ready pods for which one loss is not an outage.
const AN_OUTAGE: u32 = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Deployment>();
    let values = values(ctx)?;
    if values.bool("highAvailability") != Some(true) {
        return Err(Unjudged::not_applicable("the control plane is not installed with high availability"));
    }
    let enough = u32::try_from(ctx.param("replicas")).unwrap_or(AN_OUTAGE);
    let namespace = &ctx.namespaces().control_plane;
    let components = components(deployments?, namespace);
    let short = components
        .iter()
        .filter(|component| CORE.contains(&component.name))
        .filter(|component| available(component.deployment) < enough);
    let short = short.map(|component| {
        let meta = &component.deployment.metadata;
        let (wanted, available) = (component.wanted(), available(component.deployment));
        let object = format!("Deployment {namespace}/{}", meta.name);
        let ready = component.deployment.status.ready_replicas == available;
        let path = if ready { "status.readyReplicas" } else { "status.availableReplicas" };
        let remedy = Remedy::new();
        let remedy = if wanted < enough {
            upgrade::step(
                ctx,
                remedy,
                StepKind::ChartValue,
                "Find out what scaled it down, then apply the replicas of the release's values-ha.yaml again",
                Options::none().ha(),
            )
        } else {
            remedy.run(
                StepKind::Command,
                "Find out why the others do not become ready: nodes, resources, spread constraints",
                kubectl()
                    .namespace(namespace)
                    .words("describe pods")
                    .option("-l", format!("{COMPONENT}={}", component.name)),
            )
        };
        let finding = ctx
            .finding(
                Subject::object("Deployment", namespace, &meta.name),
                match available < AN_OUTAGE {
                    true => "the control plane is installed with high availability, but fewer than two pods \
                    of a component are ready: if their node fails, so does the component"
                        .to_owned(),
                    false => format!(
                        "a component of the control plane has fewer than its {enough} replicas \
                    ready"
                    ),
                },
            )
            .evidence(Evidence::field(object, path, format!("{available} of {wanted}")))
            .evidence(Evidence::field(
                format!("ConfigMap {namespace}/{CONFIG}"),
                "data.values: highAvailability",
                "true",
            ))
            .remedy(remedy);
        // The row of `linkerd check` requires two.
        if available < AN_OUTAGE { finding } else { finding.parameter("as-set").fails_rows([]) }
    });
    let mut findings: Vec<Finding> = short.collect();
    // Missing Deployments are known only if the list is complete.
    if ctx.every::<Deployment>().is_ok() {
        let there = |name: &str| components.iter().any(|component| component.name == name);
        findings.extend(CORE.into_iter().filter(|name| !there(name)).map(|name| gone(ctx, name)));
    }
    Ok(findings.into())
}

/// The pods that have been ready for the Deployment's `minReadySeconds`.
fn available(deployment: &Workload) -> u32 {
    deployment.status.available_replicas.min(deployment.status.ready_replicas)
}

/// The finding for a component without a Deployment, which `control-plane-missing` explains.
fn gone(ctx: &Context<'_>, component: &str) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = upgrade::step(
        ctx,
        Remedy::new(),
        StepKind::ChartValue,
        "Restore the Deployment with the values of the installation",
        Options::none().ha(),
    );
    ctx.finding(
        Subject::object("Deployment", namespace, &format!("linkerd-{component}")),
        "the control plane is installed with high availability, but a component has no Deployment: its \
            pods are not replaced",
    )
    .evidence(Evidence::other("Deployments", format!("no Deployment in {namespace} belongs to {component}")))
    .parameter("gone")
    .tie(component_missing(component))
    .remedy(remedy)
}
