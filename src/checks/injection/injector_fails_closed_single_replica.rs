//! `injector-fails-closed-single-replica`: no pod starts while the single injector is down.

use super::unmeshed::injector_webhook;
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::model::control_plane::components;
use crate::objects::Deployment;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.seen::<Deployment>();
    let Some((configuration, webhook)) = injector_webhook(ctx)? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    let deployments = deployments?;
    // The API server's default is Fail.
    if !matches!(webhook.failure_policy.as_str(), "Fail" | "") {
        return Ok(Verdict::fine());
    }
    let namespace = &ctx.namespaces().control_plane;
    let injector = |deployments| {
        components(deployments, namespace).into_iter().find(|component| component.name == "proxy-injector")
    };
    let found = match injector(deployments) {
        Some(found) => Some(found),
        None => injector(ctx.every::<Deployment>()?),
    };
    let Some(found) = found else {
        return Err(Unjudged::not_applicable("the proxy injector is no Deployment of this cluster"));
    };
    if found.wanted() != 1 {
        return Ok(Verdict::fine());
    }
    let name = &found.deployment.metadata.name;
    let remedy = Remedy::new();
    let remedy = upgrade::step(
        ctx,
        remedy,
        StepKind::ChartValue,
        "Run the injector with three replicas on different nodes (the chart's values-ha.yaml)",
        Options::none().ha(),
    );
    let remedy = upgrade::step(
        ctx,
        remedy,
        StepKind::ChartValue,
        "Or let pods start unmeshed rather than not at all, and look for them afterwards",
        Options::none().set("webhookFailurePolicy", "Ignore"),
    );
    let finding = ctx
        .finding(
            Subject::object("Deployment", namespace, name),
            "the injector has a single replica and its webhook has failurePolicy Fail: while that pod is down, no pod starts in \
             any namespace that the webhook covers",
        )
        .evidence(Evidence::field(
            format!("Deployment {namespace}/{name}"),
            "spec.replicas",
            found.wanted().to_string(),
        ))
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            "webhooks[].failurePolicy",
            if webhook.failure_policy.is_empty() { "Fail (the default)" } else { "Fail" },
        ))
        .remedy(remedy);
    Ok(vec![finding].into())
}
