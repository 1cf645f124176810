//! `injector-fails-closed-single-replica`: no pod starts while the single injector, or the only node that
//! runs injectors, is down.

use super::unmeshed::injector_webhook;
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};
use crate::model::control_plane::{Component, components};
use crate::model::installed::COMPONENT;
use crate::objects::{ValidatingWebhookConfiguration, Webhook};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let deployments = ctx.partial_list::<Deployment>();
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
        None => injector(ctx.complete_list::<Deployment>()?),
    };
    let Some(found) = found else {
        return Err(Unjudged::not_applicable("the proxy injector is not a Deployment of this cluster"));
    };
    let mut findings: Vec<Finding> = Vec::new();
    let policy = if webhook.failure_policy.is_empty() { "Fail (the default)" } else { "Fail" };
    let of_webhook = Evidence::field(
        format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
        "webhooks[].failurePolicy",
        policy,
    );
    if found.wanted() == 1 {
        let message = "the injector has a single replica and its webhook has failurePolicy Fail. While that \
            pod is down, no pod starts in any namespace that the webhook covers";
        findings.push(base(ctx, &found, message).evidence(replicas(&found)).evidence(of_webhook).remedy(remedy(
            ctx,
            "the injector",
            UNMESHED,
        )));
    } else if let Some(node) = one_node(ctx, namespace) {
        let message = "all replicas of the injector run on one node and its webhook has failurePolicy Fail. \
            While that node is down or drained, no pod starts in any namespace that the webhook covers";
        findings.push(
            base(ctx, &found, message)
                .parameter("one-node")
                .evidence(replicas(&found))
                .evidence(Evidence::other("Node of all replicas", node))
                .evidence(of_webhook)
                .remedy(remedy(ctx, "the injector", UNMESHED)),
        );
    }
    findings.extend(validators(ctx, deployments, namespace));
    Ok(findings.into())
}

fn base(ctx: &Context<'_>, component: &Component<'_>, message: &str) -> Finding {
    let meta = &component.deployment.metadata;
    ctx.finding(Subject::object("Deployment", &meta.namespace, &meta.name), message)
}

fn replicas(component: &Component<'_>) -> Evidence {
    let meta = &component.deployment.metadata;
    Evidence::field(meta.described("Deployment"), "spec.replicas", component.wanted().to_string())
}

/// The node that runs all of several injector pods, if the cluster has other nodes.
fn one_node<'a>(ctx: &Context<'a>, namespace: &str) -> Option<&'a str> {
    let pods = ctx.or_note(ctx.partial_list::<Pod>())?;
    let nodes = ctx.or_note(ctx.partial_list::<Node>())?;
    let own = pods.iter().filter(|pod| {
        pod.metadata.namespace == namespace
            && pod.metadata.label(COMPONENT) == Some("proxy-injector")
            && !pod.is_finished()
            && !pod.node_name.is_empty()
    });
    let used: Vec<&str> = own.map(|pod| pod.node_name.as_str()).collect();
    let schedulable = nodes.iter().filter(|node| !node.spec.unschedulable).count();
    let first = used.first()?;
    (used.len() > 1 && schedulable > 1 && used.iter().all(|node| node == first)).then_some(first)
}

/// A finding about the validating webhooks, which run in the destination pods: while these are down, the
/// objects that they validate cannot be written.
fn validators(ctx: &Context<'_>, deployments: &[Workload], namespace: &str) -> Option<Finding> {
    let all = components(deployments, namespace);
    let found = all.iter().find(|component| component.name == "destination" && component.wanted() == 1)?;
    let own = |webhook: &&Webhook| {
        webhook.client_config.service.as_ref().is_some_and(|service| service.namespace == namespace)
            && matches!(webhook.failure_policy.as_str(), "Fail" | "")
    };
    let (configuration, webhook) = ctx
        .or_note(ctx.partial_list::<ValidatingWebhookConfiguration>())?
        .iter()
        .find_map(|configuration| Some((configuration, configuration.webhooks.iter().find(own)?)))?;
    let message = "destination has a single replica and its validating webhooks have failurePolicy Fail. \
        While that pod is down, objects such as Servers and ServiceProfiles cannot be written";
    Some(
        base(ctx, found, message)
            // Pods still start.
            .severity(Severity::Info)
            .parameter("validators")
            .evidence(replicas(found))
            .evidence(Evidence::field(
                format!("ValidatingWebhookConfiguration {}", configuration.metadata.name),
                format!("webhooks[{}].failurePolicy", webhook.name),
                if webhook.failure_policy.is_empty() { "Fail (the default)" } else { "Fail" },
            ))
            .remedy(remedy(ctx, "destination", UNVALIDATED)),
    )
}

/// What failurePolicy Ignore allows.
const UNMESHED: &str = "pods start without a proxy while the injector is down (failurePolicy Ignore), \
    and check for such pods afterwards";
const UNVALIDATED: &str = "the API server accept objects unvalidated while destination is down (failurePolicy \
    Ignore)";

/// The steps for a component with one replica: more replicas, or the policy that allows this.
fn remedy(ctx: &Context<'_>, component: &str, allowed: &str) -> Remedy {
    let step = |remedy, act: &str, options| upgrade::with_values(ctx, remedy, act, options);
    let ignore = || Options::none().set("webhookFailurePolicy", "Ignore");
    let remedy = Remedy::new();
    // The replicas require different nodes: on fewer, some stay Pending.
    match ctx.optional_list::<Node>().len() {
        nodes @ 1..3 => {
            let unmeshed = format!("Let {allowed}");
            let replicas = format!(
                "Once the cluster has three nodes (now {nodes}), run three replicas of {component} \
                 instead, one per node (the chart's values-ha.yaml)"
            );
            step(step(remedy, &unmeshed, ignore()), &replicas, Options::none().ha())
        }
        _ => {
            let replicas =
                format!("Run {component} with three replicas on different nodes (the chart's values-ha.yaml)");
            let unmeshed = format!("Or let {allowed}");
            step(step(remedy, &replicas, Options::none().ha()), &unmeshed, ignore())
        }
    }
}
