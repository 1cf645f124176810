//! `multicluster-pods-not-running`: the local service mirror has no pods, or its pods do not run. Gateways and the
//! controllers of Links have checks of their own.

use super::exports::has_federated;
use crate::checks::extensions::{failing_pods, installed_in, is_installing};
use crate::checks::grace::spared;
use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let home = installed_in(ctx, Extension::Multicluster)?.metadata.name.as_str();
    let own: Vec<&Pod> = pods.iter().filter(|pod| component(ctx, &pod.metadata, home).is_some()).collect();
    let mut findings = failing_pods(ctx, Extension::Multicluster, own.iter().copied());
    let mut known = 0;
    for deployment in deployments {
        let Some(name) = component(ctx, &deployment.metadata, home) else { continue };
        known += 1;
        let is_of_it = |pod: &&Pod| !pod.is_finished() && component(ctx, &pod.metadata, home) == Some(name);
        if own.iter().copied().any(|pod| is_of_it(&pod)) {
            continue;
        }
        ctx.complete_list::<Pod>()?;
        let is_new = ctx.within_grace(deployment.metadata.creation_timestamp) || is_installing(ctx, home);
        findings.push(spared(without_pod(ctx, deployment), is_new));
    }
    if known == 0 && own.is_empty() {
        ctx.complete_list::<Deployment>()?;
        return Err(Unjudged::not_applicable("the extension has no local service mirror"));
    }
    // `linkerd check` has no row about these pods.
    let without_rows = |finding| Finding { rows: Default::default(), ..finding };
    Ok(findings.into_iter().map(without_rows).collect())
}

/// The component of an object in the extension's namespace, if this check judges it.
fn component<'a>(ctx: &Context<'_>, meta: &'a Meta, home: &str) -> Option<&'a str> {
    let components = ctx.knowledge.extensions().multicluster_components();
    let is_own = meta.namespace == home && meta.label(EXTENSION_LABEL) == Some(Extension::Multicluster.name());
    meta.label("component").filter(|name| is_own && components.iter().any(|known| known == name))
}

/// A Deployment without a pod. Without federated Services, it may be scaled to zero.
fn without_pod(ctx: &Context<'_>, deployment: &Workload) -> Finding {
    let (namespace, name) = deployment.metadata.key();
    let is_scaled = deployment.spec.replicas == Some(0);
    let services = is_scaled.then(|| ctx.or_note(ctx.complete_list::<Service>())).flatten();
    let is_unused = services.is_some_and(|services| !has_federated(services));
    let severity = if is_unused { Severity::Info } else { Severity::Warning };
    let target = format!("deployment/{name}");
    let namespaced = || kubectl().namespace(namespace);
    let remedy = if is_scaled {
        Remedy::new().run(
            StepKind::Command,
            "Scale it up (also localServiceMirror.replicas in the values of the multicluster chart)",
            namespaced().words("scale --replicas 1").operand(target),
        )
    } else {
        Remedy::new().command("Find out why the Deployment has no pod", namespaced().words("describe").operand(target))
    };
    let message = "the local service mirror has no pods: federated Services do not follow their members in this \
        cluster";
    let subject = || Subject::object(Kind::Deployment, namespace, name);
    let replicas = deployment.spec.replicas.unwrap_or(1).to_string();
    ctx.finding(subject(), message)
        .severity(severity)
        .parameter("no-pods")
        .evidence(Evidence::field(subject(), "spec.replicas", replicas))
        .remedy(remedy)
}
