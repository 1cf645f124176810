//! `webhook-unreachable`: the API server gets no answer from a Linkerd webhook although its pods are ready,
//! because of the network between them.

use std::collections::{BTreeMap, BTreeSet};

use super::presence::Presence;
use super::skipped::skipped;
use super::unmeshed::{RequestTime, counts, restart_unmeshed, unmeshed};
use crate::checks::admission::Rules;
use crate::checks::firewall::let_api_server_in;
use crate::checks::prelude::*;
use crate::checks::refused::{Refused, refused};
use crate::checks::serving::silent_injector;
use crate::command::program;
use crate::model::control_plane::serving;
use crate::model::events;
use crate::model::moments;
use crate::model::refusal::{self, Refusal, Trouble};
use crate::objects::{EndpointSlice, Event, ValidatingWebhookConfiguration, Webhook, WebhookConfiguration};

/// Maximum number of quoted rejections.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx);
    let refused = refused(ctx);
    let pods = ctx.partial_list::<Pod>();
    let slices = ctx.partial_list::<EndpointSlice>()?;
    let rules = rules?;
    let pods = pods?;
    let mut by_webhook: BTreeMap<&str, Vec<&Refused<'_>>> = BTreeMap::new();
    for one in refused.iter().filter(|one| ctx.judges(one.namespace())) {
        if let Refusal::Uncalled { webhook, trouble: Trouble::Timeout } = one.refusal
            && webhook.ends_with("linkerd.io")
        {
            by_webhook.entry(webhook).or_default().push(one);
        }
    }
    let Some((configuration, webhook)) = rules.webhook else {
        // Rejections prove that the webhook is registered, but the Service that it calls is unknown here.
        return Ok(Vec::new().into());
    };
    // Without a ready pod, the missing answer has another cause.
    if !has_endpoint(slices, webhook) {
        return Ok(Vec::new().into());
    }
    let own = by_webhook.remove(webhook.name.as_str()).unwrap_or_default();
    let mut findings = Vec::new();
    if !own.is_empty() {
        findings.push(refusing(ctx, configuration, webhook, &own));
    } else if webhook.failure_policy == "Ignore"
        && let Some(finding) = passing(ctx, configuration, webhook, pods)
    {
        findings.push(finding);
    }
    findings.extend(others(ctx, slices, webhook));
    Ok(findings.into())
}

/// Findings about other webhooks of Linkerd that did not answer, from events of controllers whose writes
/// failed.
fn others(ctx: &Context<'_>, slices: &[EndpointSlice], injector: &Webhook) -> Vec<Finding> {
    let mut by_webhook: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in ctx.optional_list::<Event>().iter().filter(|event| event.kind == "Warning") {
        if let Refusal::Uncalled { webhook, trouble: Trouble::Timeout } = refusal::read(&event.message)
            && webhook.ends_with("linkerd.io")
            && webhook != injector.name
        {
            by_webhook.entry(webhook).or_default().push(event);
        }
    }
    if by_webhook.is_empty() {
        return Vec::new();
    }
    let configurations = ctx.or_note(ctx.partial_list::<ValidatingWebhookConfiguration>()).unwrap_or_default();
    let finding = |(name, events): (&str, Vec<&Event>)| {
        let (configuration, _) = configurations.iter().find_map(|configuration| {
            let webhook = configuration.webhooks.iter().find(|webhook| webhook.name == name)?;
            has_endpoint(slices, webhook).then_some((configuration, webhook))
        })?;
        let name = &configuration.metadata.name;
        Some(
            ctx.finding(
                Subject::object(Kind::ValidatingWebhookConfiguration, "", name),
                "the API server gets no answer from a Linkerd validating webhook whose pods are ready. Most \
                 likely the network blocks it, and the objects that the webhook validates cannot be written",
            )
            .likely()
            .evidences(events.iter().take(QUOTED).map(|event| {
                let about = &event.about;
                events::quoted(format!("{} {}/{}", about.kind, about.namespace, about.name), event)
            }))
            .timeline(moments::of_events(events.iter().copied()))
            .remedy(remedy(ctx)),
        )
    };
    by_webhook.into_iter().filter_map(finding).collect()
}

/// Whether the webhook's Service has a ready endpoint.
fn has_endpoint(slices: &[EndpointSlice], webhook: &Webhook) -> bool {
    let Some(service) = &webhook.client_config.service else { return false };
    let own = slices.iter().filter(|slice| {
        slice.metadata.namespace == service.namespace && slice.service() == Some(service.name.as_str())
    });
    // By the rules of the API, a missing condition counts as ready.
    own.flat_map(|slice| &slice.endpoints).any(|endpoint| endpoint.conditions.ready != Some(false))
}

/// The finding if pods are rejected because the webhook timed out.
fn refusing(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    refused: &[&Refused<'_>],
) -> Finding {
    let finding = base(
        ctx,
        configuration,
        "the API server gets no answer from the proxy injector, although its pods are ready. Most likely \
         the network blocks it. With failurePolicy Fail, no pod is created in the namespaces that the \
         webhook covers",
    )
    .evidences(refused.iter().take(QUOTED).map(|one| one.evidence.clone()))
    .timeline(refused.iter().flat_map(|one| one.moments.iter().cloned()))
    .evidences(context(ctx, webhook))
    .remedy(remedy(ctx));
    refused.iter().fold(finding, |finding, one| {
        let owner = &one.owner;
        finding.tie(crate::finding::Tie::Workload(owner.kind.clone(), owner.namespace.clone(), owner.name.clone()))
    })
}

/// The finding if no pod is rejected, but none of the recent pods that request a proxy has one.
fn passing(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    pods: &[Pod],
) -> Option<Finding> {
    let recent = |pod: &Pod| {
        let created = pod.metadata.creation_timestamp.get();
        created.is_some_and(|at| at <= ctx.now() && ctx.now().duration_since(at) <= ctx.param_duration("minutes"))
    };
    let namespaces = ctx.partial_list::<Namespace>().ok()?;
    let mut without = unmeshed(ctx, pods, namespaces, Some(webhook));
    let presence = Presence::from_context(ctx, configuration);
    // The injector counts and reports each pod that it receives.
    without.retain(|unmeshed| {
        unmeshed.asked != RequestTime::Later
            && !unmeshed.of_extension
            && recent(unmeshed.pod)
            && presence.could_have_been_called(unmeshed.pod)
            && skipped(ctx, unmeshed).is_empty()
    });
    let owners: BTreeSet<_> = without.iter().map(|unmeshed| &unmeshed.owner).collect();
    let injected = |pod: &Pod| {
        pod.metadata.namespace != ctx.namespaces().control_plane && pod.spec.proxy().is_some() && counts(pod)
    };
    if without.len() < ctx.count_of("pods") || owners.len() < 2 || pods.iter().any(|pod| recent(pod) && injected(pod)) {
        return None;
    }
    let is_requested_at_creation = without.iter().any(|unmeshed| unmeshed.asked == RequestTime::AtCreation);
    let cause = match is_requested_at_creation {
        true => "Most likely the network blocks the API server from the injector",
        false => {
            "Either the network blocks the API server from the injector, or the namespaces were annotated after \
             the pods were created"
        }
    };
    let steps = match is_requested_at_creation {
        true => remedy(ctx),
        false => {
            let steps = remedy(ctx).steps;
            let mut first = decide(ctx);
            first.steps.extend(steps);
            first
        }
    };
    let finding = base(
        ctx,
        configuration,
        &format!(
            "the injector is ready, but no pod of the last {} that requests a proxy has one. {cause}",
            ctx.param_text("minutes")
        ),
    )
    .parameter("ignored")
    .evidences(without.iter().take(QUOTED).map(|unmeshed| {
        let meta = &unmeshed.pod.metadata;
        let created = meta.creation_timestamp.get().map(|at| at.to_string()).unwrap_or_default();
        Evidence::field(meta.described("Pod"), "metadata.creationTimestamp", format!("{created}, no linkerd-proxy"))
    }))
    .evidences(context(ctx, webhook))
    .timeline(moments::pods_created(without.iter().map(|unmeshed| unmeshed.pod), "created without a proxy"))
    .timeline(moments::created("MutatingWebhookConfiguration", &configuration.metadata, "created"))
    .remedy(restart_unmeshed(ctx, steps, Some(webhook)));
    Some(without.iter().fold(finding, |finding, unmeshed| finding.tie(unmeshed.tie())))
}

/// The step that shows whether the API server reaches the injector, which logs each pod that it receives.
fn decide(ctx: &Context<'_>) -> Remedy {
    let log = kubectl()
        .namespace(&ctx.namespaces().control_plane)
        .words("logs -l linkerd.io/control-plane-component=proxy-injector -c proxy-injector --tail=-1 --since=1h");
    Remedy::new().run(
        StepKind::Command,
        "Look for pods that the injector received: if its log lists any, the network is not at fault, and only the \
         restart of the workloads is needed",
        log.pipe(program("grep").arg("received pod/")),
    )
}

fn base(ctx: &Context<'_>, configuration: &WebhookConfiguration, message: &str) -> Finding {
    let name = &configuration.metadata.name;
    ctx.finding(Subject::object(Kind::MutatingWebhookConfiguration, "", name), message).likely().tie(silent_injector())
}

/// Evidence that the injector itself is not at fault.
fn context(ctx: &Context<'_>, webhook: &Webhook) -> Vec<Evidence> {
    let home = ctx.namespaces().control_plane.as_str();
    let own = |pod: &&Pod| {
        pod.metadata.namespace == home
            && pod.metadata.label("linkerd.io/control-plane-component") == Some("proxy-injector")
    };
    let pods = ctx.optional_list::<Pod>();
    let restarts: u32 =
        pods.iter().filter(own).flat_map(|pod| &pod.status.container_statuses).map(|status| status.restart_count).sum();
    let seconds = webhook.timeout_seconds.unwrap_or(10);
    vec![
        Evidence::other(
            format!("Pods of Deployment {home}/linkerd-proxy-injector"),
            format!("{} ready, restarted {restarts} times", serving(pods, home, "proxy-injector")),
        ),
        Evidence::other("Webhook timeout", format!("{seconds} s")),
    ]
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let home = &ctx.namespaces().control_plane;
    Remedy::new()
        .command(
            "Check that the injector is not overloaded: its restarts, and the response times in its log",
            kubectl().namespace(home).words("logs deployment/linkerd-proxy-injector -c proxy-injector --tail=50"),
        )
        .note(let_api_server_in(ctx))
        .command(
            "Check the network policies that select the injector",
            kubectl().namespace(home).words("get networkpolicies"),
        )
}
