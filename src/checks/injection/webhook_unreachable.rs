//! `webhook-unreachable`: the API server gets no answer from a webhook of Linkerd's whose pods are ready: the network between them.

use std::collections::{BTreeMap, BTreeSet};

use super::unmeshed::{Asked, counts, unmeshed};
use crate::checks::admission::Rules;
use crate::checks::refused::{Refused, refused};
use crate::checks::serving::silent_injector;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::control_plane::serving;
use crate::model::events;
use crate::model::moments;
use crate::model::refusal::{self, Refusal, Trouble};
use crate::objects::{
    EndpointSlice, Event, Namespace, Node, Pod, ValidatingWebhookConfiguration, Webhook, WebhookConfiguration,
};

/// How many refusals are quoted.
const QUOTED: usize = 3;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::of(ctx);
    let refused = refused(ctx);
    let pods = ctx.seen::<Pod>();
    let slices = ctx.seen::<EndpointSlice>()?;
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
        // What cannot be called is registered; which Service it calls is not known here.
        return Ok(Vec::new().into());
    };
    // Where no pod of it is ready, that is why nobody answers.
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

/// Other webhooks of Linkerd's that did not answer, by what controllers say who wrote what these validate.
fn others(ctx: &Context<'_>, slices: &[EndpointSlice], injector: &Webhook) -> Vec<Finding> {
    let mut by_webhook: BTreeMap<&str, Vec<&Event>> = BTreeMap::new();
    for event in ctx.hints::<Event>().iter().filter(|event| event.kind == "Warning") {
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
    let configurations = ctx.noted(ctx.seen::<ValidatingWebhookConfiguration>()).unwrap_or_default();
    let finding = |(name, events): (&str, Vec<&Event>)| {
        let (configuration, _) = configurations.iter().find_map(|configuration| {
            let webhook = configuration.webhooks.iter().find(|webhook| webhook.name == name)?;
            has_endpoint(slices, webhook).then_some((configuration, webhook))
        })?;
        let name = &configuration.metadata.name;
        Some(
            ctx.finding(
                Subject::object(Kind::ValidatingWebhookConfiguration, "", name),
                "the API server gets no answer from a validating webhook of Linkerd whose pods are ready: most likely the network does not let it \
                 through to them, and what the webhook validates cannot be written",
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

/// Whether the Service of a webhook has an endpoint that is ready.
fn has_endpoint(slices: &[EndpointSlice], webhook: &Webhook) -> bool {
    let Some(service) = &webhook.client_config.service else { return false };
    let own = slices.iter().filter(|slice| {
        slice.metadata.namespace == service.namespace && slice.service() == Some(service.name.as_str())
    });
    // A missing condition counts as ready, by the rules of the API.
    own.flat_map(|slice| &slice.endpoints).any(|endpoint| endpoint.conditions.ready != Some(false))
}

/// Pods are refused, and the answer says that the webhook did not answer in time.
fn refusing(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    refused: &[&Refused<'_>],
) -> Finding {
    let finding = base(
        ctx,
        configuration,
        "the API server gets no answer from the proxy injector, whose pods are ready: most likely the network does not let it through \
         to them, and while the webhook has failurePolicy Fail no pod is created in the namespaces that it covers",
    )
    .evidences(refused.iter().take(QUOTED).map(|one| one.evidence.clone()))
    .timeline(refused.iter().flat_map(|one| one.moments.iter().cloned()))
    .evidences(context(ctx, webhook))
    .remedy(remedy(ctx));
    refused.iter().fold(finding, |finding, one| {
        let owner = &one.owner;
        finding.tie(crate::finding::Tie::Workload(
            owner.kind.clone(),
            owner.namespace.clone(),
            owner.name.clone(),
        ))
    })
}

/// Nothing is refused, and of the pods that were created lately none that asks for a proxy has one.
fn passing(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    pods: &[Pod],
) -> Option<Finding> {
    let recent = |pod: &Pod| {
        let created = pod.metadata.creation_timestamp.get();
        created.is_some_and(|at| at <= ctx.now() && ctx.now().duration_since(at) <= ctx.span_of("minutes"))
    };
    let namespaces = ctx.seen::<Namespace>().ok()?;
    let mut without = unmeshed(ctx, pods, namespaces, Some(webhook));
    without
        .retain(|unmeshed| unmeshed.asked != Asked::Later && !unmeshed.of_extension && recent(unmeshed.pod));
    let owners: BTreeSet<_> = without.iter().map(|unmeshed| &unmeshed.owner).collect();
    let injected = |pod: &Pod| {
        pod.metadata.namespace != ctx.namespaces().control_plane && pod.spec.proxy().is_some() && counts(pod)
    };
    if without.len() < ctx.count_of("pods")
        || owners.len() < 2
        || pods.iter().any(|pod| recent(pod) && injected(pod))
    {
        return None;
    }
    let finding = base(
        ctx,
        configuration,
        &format!(
            "the injector is ready, and of the pods that were created in the last {} none that requests a proxy has one: most likely \
             the network does not let the API server through to the injector, and with failurePolicy Ignore pods then start unmeshed",
            ctx.said_of("minutes")
        ),
    )
    .parameter("ignored")
    .evidences(without.iter().take(QUOTED).map(|unmeshed| {
        let meta = &unmeshed.pod.metadata;
        let created = meta.creation_timestamp.get().map(|at| at.to_string()).unwrap_or_default();
        Evidence::field(format!("Pod {}/{}", meta.namespace, meta.name), "metadata.creationTimestamp", format!("{created}, no linkerd-proxy"))
    }))
    .evidences(context(ctx, webhook))
    .timeline(moments::pods_created(without.iter().map(|unmeshed| unmeshed.pod), "created without a proxy"))
    .timeline(moments::created("MutatingWebhookConfiguration", &configuration.metadata, "created"))
    .remedy(remedy(ctx));
    Some(without.iter().fold(finding, |finding, unmeshed| finding.tie(unmeshed.tie())))
}

fn base(ctx: &Context<'_>, configuration: &WebhookConfiguration, message: &str) -> Finding {
    let name = &configuration.metadata.name;
    ctx.finding(Subject::object(Kind::MutatingWebhookConfiguration, "", name), message)
        .likely()
        .tie(silent_injector())
}

/// What speaks against the injector itself being at fault.
fn context(ctx: &Context<'_>, webhook: &Webhook) -> Vec<Evidence> {
    let home = ctx.namespaces().control_plane.as_str();
    let own = |pod: &&Pod| {
        pod.metadata.namespace == home
            && pod.metadata.label("linkerd.io/control-plane-component") == Some("proxy-injector")
    };
    let pods = ctx.hints::<Pod>();
    let restarts: u32 = pods
        .iter()
        .filter(own)
        .flat_map(|pod| &pod.status.container_statuses)
        .map(|status| status.restart_count)
        .sum();
    let seconds = webhook.timeout_seconds.unwrap_or(10);
    vec![
        Evidence::other(
            format!("Pods of Deployment {home}/linkerd-proxy-injector"),
            format!("{} ready, restarted {restarts} times", serving(pods, home, "proxy-injector")),
        ),
        Evidence::other("The API server waits", format!("{seconds} s")),
    ]
}

fn remedy(ctx: &Context<'_>) -> Remedy {
    let provider =
        ctx.hints::<Node>().iter().map(|node| node.spec.provider_id.as_str()).find(|id| !id.is_empty());
    let rule = match provider.unwrap_or_default() {
        id if id.starts_with("gce://") => {
            "On GKE with private nodes the API server reaches only ports 443 and 10250 of nodes: add a firewall rule from the address \
             range of the control plane to the nodes for TCP 8443 (injector and validator), 9443 (policy validator) and 8089 (tap)"
        }
        id if id.starts_with("aws://") => {
            "On EKS let the security group of the cluster reach that of the nodes at TCP 8443 (injector and validator), 9443 (policy \
             validator) and 8089 (tap); with another network than the VPC CNI the API server may not reach pods at all, and the \
             injector then needs the node's network"
        }
        id if id.starts_with("azure://") => {
            "On AKS see the network security group of the nodes, and network policies: the API server comes through konnectivity-agent in \
             kube-system, which must reach TCP 8443 (injector and validator), 9443 (policy validator) and 8089 (tap)"
        }
        _ => {
            "Let the API server reach the pods of the control plane at TCP 8443 (injector and validator), 9443 (policy validator) and 8089 \
             (tap): firewalls between it and the nodes, and network policies in the namespace of the control plane"
        }
    };
    let home = &ctx.namespaces().control_plane;
    Remedy::new()
        .run(
            StepKind::Command,
            "See that the injector is not merely overloaded: its restarts, and the time it takes in its log",
            kubectl()
                .namespace(home)
                .words("logs deployment/linkerd-proxy-injector -c proxy-injector --tail=50"),
        )
        .step(StepKind::Note, rule)
        .run(
            StepKind::Command,
            "See network policies that hold for the injector",
            kubectl().namespace(home).words("get networkpolicies"),
        )
}
