//! `injector-unavailable`: no proxy injector is ready.

use super::unmeshed::{RequestTime, injector_webhook, restart_unmeshed, start_unmeshed, unmeshed};
use crate::checks::prelude::*;
use crate::checks::serving::{component_missing, silent_injector};
use crate::checks::upgrade;
use crate::finding::Moment;
use crate::model::control_plane::{Component, components};
use crate::model::injection::SERVICE;
use crate::model::installed::COMPONENT;
use crate::model::moments;
use crate::objects::{EndpointSlice, ReplicaSet, Webhook, WebhookConfiguration};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let webhook = injector_webhook(ctx);
    let slices = ctx.complete_list::<EndpointSlice>()?;
    let Some((configuration, webhook)) = webhook? else {
        return Err(Unjudged::not_applicable("no webhook of the proxy injector is registered"));
    };
    let Some(service) = &webhook.client_config.service else {
        return Err(Unjudged::not_applicable("the injector's webhook calls a URL, not a Service of this cluster"));
    };
    let (namespace, name) = (service.namespace.as_str(), service.name.as_str());
    let endpoints = || {
        slices
            .iter()
            .filter(|slice| slice.metadata.namespace == namespace)
            .filter(|slice| slice.service() == Some(name))
            .flat_map(|slice| &slice.endpoints)
    };
    // By the rules of the API, a missing condition counts as ready.
    if endpoints().any(|endpoint| endpoint.conditions.ready != Some(false)) {
        return Ok(Verdict::fine());
    }
    let seen = Evidence::field(
        format!("Service {namespace}/{name}"),
        "EndpointSlices",
        match endpoints().count() {
            0 => "no endpoint at all".to_owned(),
            1 => "one endpoint, not ready".to_owned(),
            many => format!("{many} endpoints, none of them ready"),
        },
    );
    let components = components(ctx.optional_list::<Deployment>(), namespace);
    let injector = components.iter().find(|component| component.name == "proxy-injector");
    Ok(finding(ctx, configuration, webhook, injector, seen).into())
}

fn finding(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    injector: Option<&Component<'_>>,
    seen: Evidence,
) -> Finding {
    let fails_open = webhook.failure_policy == "Ignore";
    let serves = serves(ctx, injector);
    let starting = !serves && ctx.are_starting(&injectors(ctx));
    let state = match serves {
        true => "The injector's Service has no endpoint, although its pods are ready",
        false => "The injector has no ready pod",
    };
    let message = if starting {
        "The injector is starting: its pods are less than five minutes old. Pods that are created before it \
         is ready start unmeshed, or cannot start"
            .to_owned()
    } else if fails_open {
        format!("{state}. Its webhook has failurePolicy Ignore, so every pod that is created now starts unmeshed")
    } else {
        format!(
            "{state}. Its webhook has failurePolicy Fail, so no pod and no Service can be created in the namespaces \
             that it covers"
        )
    };
    let namespace = &ctx.namespaces().control_plane;
    let subject = match injector {
        Some(injector) => Subject::object("Deployment", namespace, &injector.deployment.metadata.name),
        None => Subject::object("Service", namespace, SERVICE),
    };
    let finding = ctx
        .finding(subject, message)
        .evidence(seen)
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            "webhooks[].failurePolicy",
            if webhook.failure_policy.is_empty() { "Fail (the default)" } else { &webhook.failure_policy },
        ))
        .evidences(injector.map(replicas))
        .timeline(timeline(ctx, injector))
        .remedy(remedy(ctx, configuration, webhook, injector))
        .tie(component_missing("proxy-injector"));
    let finding = if serves { finding.tie(silent_injector()) } else { finding };
    if starting {
        return finding.severity(Severity::Info).rows_as(Severity::Error).parameter("starting");
    }
    if !fails_open {
        return finding;
    }
    // Pods created since the injector became unavailable lack a proxy because of it.
    let since = injector.and_then(|injector| injector.deployment.unavailable_since());
    let pods = unmeshed(ctx, ctx.optional_list::<Pod>(), ctx.optional_list::<Namespace>(), Some(webhook));
    pods.iter()
        .filter(|unmeshed| unmeshed.asked != RequestTime::Later)
        .filter(|unmeshed| match (unmeshed.pod.metadata.creation_timestamp.get(), since) {
            (Some(created), Some(since)) => created >= since,
            (_, None) | (None, _) => true,
        })
        .fold(finding, |finding, unmeshed| finding.tie(unmeshed.tie()))
}

/// Whether a pod of the injector is ready, so that only its Service is broken. The status of the Deployment may be
/// older than the pods.
fn serves(ctx: &Context<'_>, injector: Option<&Component<'_>>) -> bool {
    injector.is_some_and(|injector| injector.deployment.status.ready_replicas > 0)
        && injectors(ctx).iter().any(|pod| pod.is_ready())
}

/// The injector's pods.
fn injectors<'a>(ctx: &Context<'a>) -> Vec<&'a Pod> {
    let namespace = &ctx.namespaces().control_plane;
    let own =
        |pod: &&Pod| pod.metadata.namespace == *namespace && pod.metadata.label(COMPONENT) == Some("proxy-injector");
    ctx.optional_list::<Pod>().iter().filter(own).collect()
}

/// The rollouts and lifetimes of the injector's pods, and the time since when none is ready.
fn timeline(ctx: &Context<'_>, injector: Option<&Component<'_>>) -> Vec<Moment> {
    let pods = injectors(ctx);
    let lives = pods.iter().flat_map(|pod| moments::of_pod(pod, "injector created", |name| name == "proxy-injector"));
    let since = injector.and_then(|injector| {
        let meta = &injector.deployment.metadata;
        Moment::new(
            injector.deployment.unavailable_since(),
            meta.described("Deployment"),
            "status.conditions[Available]",
            "no injector available",
        )
    });
    let rollouts = moments::rollouts(&pods, ctx.optional_list::<ReplicaSet>());
    rollouts.into_iter().chain(lives).chain(since).collect()
}

fn replicas(injector: &Component<'_>) -> Evidence {
    let mut evidence = injector.replicas("status.readyReplicas", injector.deployment.status.ready_replicas);
    if let Some(since) = injector.deployment.unavailable_since() {
        evidence.said.push_str(&format!(", unavailable since {since}"));
    }
    evidence
}

fn remedy(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    injector: Option<&Component<'_>>,
) -> Remedy {
    let namespace = &ctx.namespaces().control_plane;
    let remedy = match injector {
        Some(injector) if injector.wanted() == 0 => Remedy::new().command(
            "Scale the injector up",
            kubectl()
                .namespace(namespace)
                .words("scale deployment")
                .operand(&injector.deployment.metadata.name)
                .words("--replicas=1"),
        ),
        _ if serves(ctx, injector) => {
            upgrade::reapply(ctx, Remedy::new(), "Reapply the control plane, which writes the Service again")
        }
        _ => Remedy::new().command(
            "Check why the injector's pods are not ready",
            kubectl().namespace(namespace).words("describe pods -l linkerd.io/control-plane-component=proxy-injector"),
        ),
    };
    if webhook.failure_policy == "Ignore" {
        return restart_unmeshed(ctx, remedy, Some(webhook));
    }
    start_unmeshed(remedy, configuration, webhook)
}
