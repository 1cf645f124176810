//! `pod-missing-proxy`: pods run without the proxy that they or their namespace request.

use std::collections::BTreeMap;

use super::presence::Presence;
use super::skipped::skipped;
use super::unmeshed::{CREATED_ONLY, RequestTime, Unmeshed, are_predicted, injector_webhook, unmeshed};
use crate::checks::prelude::*;
use crate::checks::restart::{Needs, renew};
use crate::checks::serving::silent_injector;
use crate::command::own;
use crate::item::EXTENSION_LABEL;
use crate::model::injection::INJECT;
use crate::objects::service::{EXPORTED, MIRRORS_CLUSTER};
use crate::objects::{Link, Webhook, WebhookConfiguration};

/// The annotation of a gateway's pods.
const ENABLE_GATEWAY: &str = "config.linkerd.io/enable-gateway";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.partial_list::<Pod>()?;
    let namespaces = ctx.partial_list::<Namespace>()?;
    if are_predicted(ctx) {
        return Err(Unjudged::not_applicable("manifests contain no pods that already run"));
    }
    let webhook = injector_webhook(ctx)?;
    let presence = webhook.map(|(configuration, _)| Presence::from_context(ctx, configuration));
    let mut by_owner: BTreeMap<(Owner, bool), Vec<Unmeshed<'_>>> = BTreeMap::new();
    for pod in unmeshed(ctx, pods, namespaces, webhook.map(|(_, webhook)| webhook)) {
        if !pod.judged_there {
            by_owner.entry((pod.owner.clone(), pod.asked == RequestTime::Later)).or_default().push(pod);
        }
    }
    let findings = by_owner.iter().map(|((owner, later), pods)| match later {
        true => asked_later(ctx, owner, pods),
        false => finding(ctx, owner, pods, Past::new(webhook, presence.as_ref(), pods)),
    });
    Ok(findings.collect())
}

/// Why pods have no proxy, as far as it is known from their creation.
enum Past {
    /// The injector did not exist yet.
    Uninstalled(Evidence),
    /// No injector was ready, and pods are created nevertheless (failurePolicy Ignore).
    Starting(Evidence),
    /// The injector received and skipped them.
    Skipped(Evidence),
    Unknown,
}

impl Past {
    fn new(
        webhook: Option<(&WebhookConfiguration, &Webhook)>,
        presence: Option<&Presence<'_>>,
        pods: &[Unmeshed<'_>],
    ) -> Past {
        let (Some((_, webhook)), Some(presence)) = (webhook, presence) else { return Past::Unknown };
        let of_all = |read: &dyn Fn(&Unmeshed<'_>) -> Option<Evidence>| {
            let all: Option<Vec<Evidence>> = pods.iter().map(read).collect();
            all.and_then(|all| all.into_iter().next())
        };
        if let Some(evidence) = of_all(&|one| presence.installed_later(one.pod)) {
            return Past::Uninstalled(evidence);
        }
        if let Some(evidence) = of_all(&|one| presence.skip_event(one)) {
            return Past::Skipped(evidence);
        }
        match of_all(&|one| presence.started_later(one.pod)).filter(|_| webhook.failure_policy == "Ignore") {
            Some(evidence) => Past::Starting(evidence),
            None => Past::Unknown,
        }
    }

    fn message(&self) -> &'static str {
        match self {
            Past::Uninstalled(_) => {
                "pods were created before the injector was installed, so they have no linkerd-proxy. They run outside \
                 the mesh, unencrypted, and are denied wherever a mesh identity is required"
            }
            Past::Starting(_) => {
                "pods were created before the injector was ready, so they have no linkerd-proxy. They run outside the \
                 mesh, unencrypted, and are denied wherever a mesh identity is required"
            }
            Past::Skipped(_) => {
                "the injector skipped pods when they were created, and injection is requested now. They run outside \
                 the mesh, unencrypted, and are denied wherever a mesh identity is required"
            }
            Past::Unknown => {
                "injection is requested, but pods have no linkerd-proxy. They run outside the mesh, \
                 unencrypted, and are denied wherever a mesh identity is required"
            }
        }
    }

    fn evidence(self) -> Option<Evidence> {
        match self {
            Past::Uninstalled(evidence) | Past::Starting(evidence) | Past::Skipped(evidence) => Some(evidence),
            Past::Unknown => None,
        }
    }
}

fn finding(ctx: &Context<'_>, owner: &Owner, pods: &[Unmeshed<'_>], past: Past) -> Finding {
    let names: Vec<String> = pods.iter().map(|unmeshed| unmeshed.pod.metadata.name.clone()).collect();
    let first = &pods[0];
    let (object, path) = first.asked_by();
    let remedy = match past {
        Past::Skipped(_) => Remedy::new(),
        Past::Uninstalled(_) | Past::Starting(_) | Past::Unknown => Remedy::new().command(
            "Check that the injector is ready. While it does not answer, new pods start without a proxy too",
            kubectl()
                .namespace(&ctx.namespaces().control_plane)
                .words("get pods -l linkerd.io/control-plane-component=proxy-injector"),
        ),
    };
    let mut remedy = remedy;
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewPods, CREATED_ONLY));
    if matches!(past, Past::Starting(_)) {
        remedy = remedy.note(format!(
            "To prevent this, run three injectors on different nodes and set webhookFailurePolicy: Fail; {} has \
                 the steps",
            own("explain injector-fails-open")
        ));
    }
    // Without its proxy the extension may fail, which its own rows of `linkerd check` report.
    let (severity, message) = if let Some(part) = MulticlusterPart::from_pod(ctx, first.pod) {
        part.without_proxy()
    } else if first.of_extension {
        (
            Severity::Info,
            "pods of a Linkerd extension request injection but have no linkerd-proxy. No application is \
             outside the mesh because of that, but the extension may not work",
        )
    } else {
        (Severity::Error, past.message())
    };
    let is_received = matches!(past, Past::Skipped(_));
    let finding = ctx
        .finding(owner.subject(names), message)
        .severity(severity)
        .evidence(Evidence::field(object, path, first.value))
        .evidence(containers(first.pod, pods.len() - 1))
        .evidences(past.evidence())
        .evidences(skipped(ctx, first))
        .remedy(remedy);
    // An injector that skipped the pods is not silent.
    if is_received { finding } else { finding.tie(silent_injector()) }
}

/// The parts of multicluster that do not work without a proxy, if this cluster needs them.
#[derive(Debug, Clone, Copy)]
enum MulticlusterPart {
    /// The gateway, and whether Services are exported.
    Gateway { exports: bool },
    /// The controller of a Link that uses a gateway.
    Mirror,
}

impl MulticlusterPart {
    fn from_pod(ctx: &Context<'_>, pod: &Pod) -> Option<MulticlusterPart> {
        let meta = &pod.metadata;
        if meta.label(EXTENSION_LABEL) != Some("multicluster") {
            return None;
        }
        if meta.annotation(ENABLE_GATEWAY).is_some() {
            let exported = |service: &Service| service.metadata.label(EXPORTED) == Some("true");
            let services = ctx.or_note(ctx.partial_list::<Service>()).unwrap_or_default();
            return Some(MulticlusterPart::Gateway { exports: services.iter().any(exported) });
        }
        let cluster = meta.label(MIRRORS_CLUSTER)?;
        let of = |link: &Link| link.spec.target_cluster_name == cluster && link.has_gateway();
        let links = ctx.or_note(ctx.partial_list::<Link>()).unwrap_or_default();
        links.iter().any(of).then_some(MulticlusterPart::Mirror)
    }

    fn without_proxy(self) -> (Severity, &'static str) {
        match self {
            MulticlusterPart::Gateway { exports: true } => (
                Severity::Error,
                "the gateway has no linkerd-proxy, and no other container of it accepts connections. Other \
                 clusters get no answer from the Services that this one exports",
            ),
            MulticlusterPart::Gateway { exports: false } => (
                Severity::Info,
                "the gateway has no linkerd-proxy, and no other container of it accepts connections. Other clusters \
                 cannot reach Services through it, but no exported Service was found",
            ),
            MulticlusterPart::Mirror => (
                Severity::Error,
                "the controller of a Link has no linkerd-proxy, so its gateway probes have no identity. The \
                 gateway counts as not alive, and mirror services get no endpoints",
            ),
        }
    }
}

/// A finding for pods that did not request a proxy when they were created. Linkerd is not at fault, and
/// recreating them does not help.
fn asked_later(ctx: &Context<'_>, owner: &Owner, pods: &[Unmeshed<'_>]) -> Finding {
    let names: Vec<String> = pods.iter().map(|unmeshed| unmeshed.pod.metadata.name.clone()).collect();
    let first = &pods[0];
    let (object, path) = first.asked_by();
    let remedy = Remedy::new()
        .step(
            StepKind::Annotation,
            format!(
                "Set {INJECT}: {} in the pod template or on the namespace, so that pods have it when \
                they are created",
                first.value
            ),
        )
        .note(
            "If another webhook adds the annotation, make it run before the injector. The API server calls \
             webhooks in the order of their configurations' names, and the injector only once \
             (reinvocationPolicy: Never)",
        );
    ctx.finding(
        owner.subject(names),
        "pods have the annotation that requests a proxy but no linkerd-proxy. Their template lacks the \
         annotation, so it was added after injection, and a restart adds no proxy",
    )
    .parameter("asked-later")
    .evidence(Evidence::field(object, path, first.value))
    .evidence(containers(first.pod, pods.len() - 1))
    .evidence(Evidence::other(
        format!("the template of Pod {}/{}", first.pod.metadata.namespace, first.pod.metadata.name),
        format!("no annotation {INJECT}"),
    ))
    .remedy(remedy)
}

/// Evidence of a pod's containers, which do not include the proxy.
fn containers(pod: &Pod, more: usize) -> Evidence {
    let names: Vec<&str> = pod.spec.all_containers().map(|container| container.name.as_str()).collect();
    let created = pod.metadata.creation_timestamp.get().map(|at| format!(", created {at}")).unwrap_or_default();
    let more = if more == 0 { String::new() } else { format!(" (and {more} more of its pods)") };
    Evidence::field(pod.described(), "spec.containers", format!("{}{created}{more}", names.join(", ")))
}
