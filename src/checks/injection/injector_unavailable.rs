//! `injector-unavailable`: no injector answers the API server right now.

use jiff::Timestamp;

use super::unmeshed::{Asked, injector_webhook, unmeshed};
use crate::checks::serving::component_missing;
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::control_plane::{Component, components};
use crate::model::injection::SERVICE;
use crate::model::objects::{EndpointSlice, Namespace, Pod, Webhook, WebhookConfiguration, Workload};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let webhook = injector_webhook(ctx);
    let slices = ctx.every::<EndpointSlice>(Kind::EndpointSlice)?;
    let Some((configuration, webhook)) = webhook? else {
        return Ok(Verdict::not_applicable("no webhook of the proxy injector is registered"));
    };
    let Some(service) = &webhook.client_config.service else {
        return Ok(Verdict::not_applicable(
            "the injector's webhook calls a URL, not a Service of this cluster",
        ));
    };
    let (namespace, name) = (service.namespace.as_str(), service.name.as_str());
    let endpoints = || {
        slices
            .iter()
            .filter(|slice| slice.metadata.namespace == namespace)
            .filter(|slice| slice.metadata.label("kubernetes.io/service-name") == Some(name))
            .flat_map(|slice| &slice.endpoints)
    };
    // A missing condition counts as ready, by the rules of the API.
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
    let components = components(ctx.hints::<Workload>(Kind::Deployment), namespace);
    let injector = components.iter().find(|component| component.name == "proxy-injector");
    Ok(vec![finding(ctx, configuration, webhook, injector, seen)].into())
}

fn finding(
    ctx: &Context<'_>,
    configuration: &WebhookConfiguration,
    webhook: &Webhook,
    injector: Option<&Component<'_>>,
    seen: Evidence,
) -> Finding {
    let fails_open = webhook.failure_policy == "Ignore";
    let message = if fails_open {
        "no proxy injector is ready, and its webhook fails open: every pod that is created now starts outside the mesh"
    } else {
        "no proxy injector is ready, and its webhook fails closed: no pod starts in any namespace that the webhook covers"
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
        .remedy(remedy(namespace, &configuration.metadata.name, fails_open, injector))
        .tie(component_missing("proxy-injector"));
    if !fails_open {
        return finding;
    }
    // What was created since it is away came up without a proxy because of it.
    let since = injector.and_then(unavailable_since);
    let pods =
        unmeshed(ctx, ctx.hints::<Pod>(Kind::Pod), ctx.hints::<Namespace>(Kind::Namespace), Some(webhook));
    pods.iter()
        .filter(|unmeshed| unmeshed.asked != Asked::Later)
        .filter(|unmeshed| match (unmeshed.pod.metadata.creation_timestamp, since) {
            (Some(created), Some(since)) => created >= since,
            (_, None) | (None, _) => true,
        })
        .fold(finding, |finding, unmeshed| finding.tie(unmeshed.tie()))
}

fn unavailable_since(injector: &Component<'_>) -> Option<Timestamp> {
    let conditions = &injector.deployment.status.conditions;
    conditions.iter().find(|c| c.kind == "Available" && c.status == "False")?.last_transition_time
}

fn replicas(injector: &Component<'_>) -> Evidence {
    let deployment = injector.deployment;
    let since =
        unavailable_since(injector).map(|since| format!(", unavailable since {since}")).unwrap_or_default();
    Evidence::field(
        format!("Deployment {}/{}", deployment.metadata.namespace, deployment.metadata.name),
        "status.readyReplicas",
        format!("{} of {}{since}", deployment.status.ready_replicas, injector.wanted()),
    )
}

fn remedy(namespace: &str, webhook: &str, fails_open: bool, injector: Option<&Component<'_>>) -> Remedy {
    let remedy = Remedy::verified_by("meshdoctor check --only injection,control-plane");
    let remedy = match injector {
        Some(injector) if injector.wanted() == 0 => remedy.run(
            StepKind::Command,
            "Scale the injector up again",
            format!(
                "kubectl -n {namespace} scale deployment/{} --replicas=1",
                injector.deployment.metadata.name
            ),
        ),
        _ => remedy.run(
            StepKind::Command,
            "See what keeps the injector's pods from being ready",
            format!(
                "kubectl -n {namespace} describe pods -l linkerd.io/control-plane-component=proxy-injector"
            ),
        ),
    };
    if fails_open {
        remedy.step(
            StepKind::Note,
            "When it is back, restart what was created meanwhile: a proxy is only ever added while a pod is created",
        )
    } else {
        remedy.run(
            StepKind::Command,
            "If pods must start before it is back, let the webhook fail open meanwhile; what starts then has no proxy \
             until it is restarted, and the next upgrade sets Fail again",
            format!(
                "kubectl patch mutatingwebhookconfiguration {webhook} --type=json \
                 -p='[{{\"op\":\"replace\",\"path\":\"/webhooks/0/failurePolicy\",\"value\":\"Ignore\"}}]'"
            ),
        )
    }
}
