//! `control-plane-below-ha`: the control plane was installed for high availability, and a component has too
//! few ready pods.

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::serving::component_missing;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::{CORE, Component, components};
use crate::model::installed::COMPONENT;

/// Number of ready pods that `linkerd check` requires; with fewer, the loss of one pod is an outage.
const AN_OUTAGE: u32 = 2;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>();
    let values = values(ctx)?;
    if values.bool("highAvailability") != Some(true) {
        return Err(Unjudged::not_applicable("the control plane is not installed for high availability"));
    }
    let enough = u32::try_from(ctx.param("replicas")).unwrap_or(AN_OUTAGE);
    let namespace = &ctx.namespaces().control_plane;
    let components = components(deployments?, namespace);
    let short = components
        .iter()
        .filter(|component| CORE.contains(&component.name))
        .filter(|component| available(component.deployment) < enough);
    let mut findings: Vec<Finding> = short.map(|component| finding(ctx, component, enough)).collect();
    // Missing Deployments are known only if the list is complete.
    if ctx.complete_list::<Deployment>().is_ok() {
        let there = |name: &str| components.iter().any(|component| component.name == name);
        findings.extend(CORE.into_iter().filter(|name| !there(name)).map(|name| deployment_missing(ctx, name)));
    }
    Ok(findings.into())
}

/// The finding about a component with too few ready pods.
fn finding(ctx: &Context<'_>, component: &Component<'_>, enough: u32) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let meta = &component.deployment.metadata;
    let available = available(component.deployment);
    let ready = component.deployment.status.ready_replicas == available;
    let (path, state) = match ready {
        true => ("status.readyReplicas", "ready"),
        false => ("status.availableReplicas", "available"),
    };
    let finding = ctx
        .finding(
            Subject::object("Deployment", namespace, &meta.name),
            match available {
                0 => format!(
                    "{} has no {state} pod, although the control plane is installed for high availability",
                    component.name
                ),
                1 => format!(
                    "{} has 1 {state} pod, although the control plane is installed for high availability: \
                     losing its node is an outage of {}",
                    component.name, component.name
                ),
                _ => format!(
                    "{} has {available} {state} pods, fewer than the configured minimum of {enough}",
                    component.name
                ),
            },
        )
        .evidence(component.replicas(path, available))
        .evidence(Evidence::field(format!("ConfigMap {namespace}/{CONFIG}"), "data.values: highAvailability", "true"))
        .remedy(remedy(ctx, component, enough));
    // The row of `linkerd check` requires two.
    if available < AN_OUTAGE { finding } else { finding.parameter("as-set").fails_rows([]) }
}

/// Lists who set fields of an object, the subresource, and when.
const MANAGERS: &str = r#"{range .metadata.managedFields[*]}{.manager}{" "}{.subresource}{" "}{.time}{"\n"}{end}"#;

fn remedy(ctx: &Context<'_>, component: &Component<'_>, enough: u32) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = Remedy::new();
    if component.wanted() < enough {
        let remedy = remedy.command(
            format!(
                "Check whether a HorizontalPodAutoscaler or a GitOps tool sets its replicas: it then needs at least \
                 {enough} (minReplicas, or in Git) instead of the next step"
            ),
            Command::lines([
                kubectl().namespace(namespace).words("get horizontalpodautoscalers"),
                kubectl()
                    .namespace(namespace)
                    .words("get deployment")
                    .operand(&component.deployment.metadata.name)
                    .option("-o", format!("jsonpath={MANAGERS}")),
            ]),
        );
        upgrade::with_values(
            ctx,
            remedy,
            "Apply the replicas of the release's values-ha.yaml again",
            Options::none().ha(),
        )
    } else {
        remedy.command(
            "Read why the other pods are not ready: nodes, resources, or spreading rules",
            kubectl()
                .namespace(namespace)
                .words("describe pods")
                .option("-l", format!("{COMPONENT}={}", component.name)),
        )
    }
}

/// The number of pods that have been ready for `minReadySeconds`.
fn available(deployment: &Workload) -> u32 {
    deployment.status.available_replicas.min(deployment.status.ready_replicas)
}

/// The finding about a component without a Deployment. `control-plane-missing` explains it.
fn deployment_missing(ctx: &Context<'_>, component: &str) -> Finding {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = upgrade::with_values(
        ctx,
        Remedy::new(),
        "Restore the Deployment with the values of the installation",
        Options::none().ha(),
    );
    ctx.finding(
        Subject::object("Deployment", namespace, &format!("linkerd-{component}")),
        format!(
            "{component} has no Deployment, although the control plane is installed for high availability: its \
             pods are not replaced"
        ),
    )
    .evidence(Evidence::other("Deployments", format!("no Deployment of {component} in {namespace}")))
    .parameter("gone")
    .tie(component_missing(component))
    .remedy(remedy)
}
