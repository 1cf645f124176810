//! `pod-missing-proxy`: pods run without the proxy that their namespace or they themselves request.

use std::collections::BTreeMap;

use super::unmeshed::{Asked, CREATED_ONLY, Unmeshed, injector_webhook, unmeshed};
use crate::checks::restart::{Needs, renew};
use crate::checks::serving::silent_injector;
use crate::checks::{Context, Judgement};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, Severity, StepKind};
use crate::item::EXTENSION_LABEL;
use crate::model::injection::INJECT;
use crate::model::owners::Owner;
use crate::objects::service::MIRRORS_CLUSTER;
use crate::objects::{Link, Namespace, Pod, Service, WebhookConfiguration};

/// The annotation of the pods of a gateway.
const ENABLE_GATEWAY: &str = "config.linkerd.io/enable-gateway";
/// The label of a Service that is mirrored into other clusters.
const EXPORTED: &str = "mirror.linkerd.io/exported";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let pods = ctx.seen::<Pod>()?;
    let namespaces = ctx.seen::<Namespace>()?;
    let webhook = injector_webhook(ctx)?;
    let mut by_owner: BTreeMap<(Owner, bool), Vec<Unmeshed<'_>>> = BTreeMap::new();
    for pod in unmeshed(ctx, pods, namespaces, webhook.map(|(_, webhook)| webhook)) {
        if !pod.judged_there {
            by_owner.entry((pod.owner.clone(), pod.asked == Asked::Later)).or_default().push(pod);
        }
    }
    let findings = by_owner.iter().map(|((owner, later), pods)| match later {
        true => asked_later(ctx, owner, pods),
        false => finding(ctx, owner, pods, webhook.map(|(configuration, _)| configuration)),
    });
    Ok(findings.collect::<Vec<_>>().into())
}

fn finding(
    ctx: &Context<'_>,
    owner: &Owner,
    pods: &[Unmeshed<'_>],
    configuration: Option<&WebhookConfiguration>,
) -> Finding {
    let names: Vec<String> = pods.iter().map(|unmeshed| unmeshed.pod.metadata.name.clone()).collect();
    let first = &pods[0];
    let (object, path) = first.asked_by();
    let mut remedy = Remedy::new().run(
        StepKind::Command,
        "See that the injector is ready; while it does not answer, new pods start without a proxy too",
        kubectl()
            .namespace(&ctx.namespaces().control_plane)
            .words("get pods -l linkerd.io/control-plane-component=proxy-injector"),
    );
    remedy.steps.push(renew(ctx, owner, &names, Needs::NewPods, CREATED_ONLY));
    // What is broken when an extension's pod has no proxy is the extension, which its own rows of `linkerd check` judge.
    let (severity, message) = if let Some(part) = Part::of(ctx, first.pod) {
        (Severity::Error, part.without_proxy())
    } else if first.of_extension {
        (
            Severity::Info,
            "pods of a Linkerd extension request injection and have no linkerd-proxy: no application is outside the mesh because \
             of that, but the extension may not work",
        )
    } else {
        (
            Severity::Error,
            "injection is requested, and pods have no linkerd-proxy: they run outside the mesh, unencrypted, and are refused \
             wherever a mesh identity is required",
        )
    };
    ctx.finding(owner.subject(names), message)
        .severity(severity)
        .evidence(Evidence::field(object, path, first.value))
        .evidence(containers(first.pod, pods.len() - 1))
        .evidences(configuration.and_then(|configuration| created_earlier(first.pod, configuration)))
        .remedy(remedy)
        .tie(silent_injector())
}

/// The parts of multicluster that are nothing without their proxy, as far as something here needs them.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// The gateway, of a cluster that exports Services.
    Gateway,
    /// What mirrors for a Link that goes through a gateway.
    Mirror,
}

impl Part {
    fn of(ctx: &Context<'_>, pod: &Pod) -> Option<Part> {
        let meta = &pod.metadata;
        if meta.label(EXTENSION_LABEL) != Some("multicluster") {
            return None;
        }
        if meta.annotation(ENABLE_GATEWAY).is_some() {
            let exported = |service: &Service| service.metadata.label(EXPORTED) == Some("true");
            let services = ctx.noted(ctx.seen::<Service>()).unwrap_or_default();
            return services.iter().any(exported).then_some(Part::Gateway);
        }
        let cluster = meta.label(MIRRORS_CLUSTER)?;
        let of = |link: &Link| link.spec.target_cluster_name == cluster && link.has_gateway();
        let links = ctx.noted(ctx.seen::<Link>()).unwrap_or_default();
        links.iter().any(of).then_some(Part::Mirror)
    }

    fn without_proxy(self) -> &'static str {
        match self {
            Part::Gateway => {
                "the gateway has no linkerd-proxy, and nothing else in it takes connections: other clusters get no answer from the \
                 Services that this one exports"
            }
            Part::Mirror => {
                "the controller of a Link has no linkerd-proxy, and so no identity to show to the gateway that it probes: the gateway \
                 counts as not alive, and mirror services get no endpoints"
            }
        }
    }
}

/// Pods that did not ask when they were created: nothing of Linkerd's is at fault, and creating them again changes nothing.
fn asked_later(ctx: &Context<'_>, owner: &Owner, pods: &[Unmeshed<'_>]) -> Finding {
    let names: Vec<String> = pods.iter().map(|unmeshed| unmeshed.pod.metadata.name.clone()).collect();
    let first = &pods[0];
    let (object, path) = first.asked_by();
    let remedy = Remedy::new()
        .step(
            StepKind::Annotation,
            format!("Set {INJECT}: {} in the pod template or on the namespace, so that pods have it when they are created", first.value),
        )
        .step(
            StepKind::Note,
            "If another webhook adds the annotation, make it run before the injector: the API server calls webhooks in the order of their \
             configurations' names, and the injector's only once (reinvocationPolicy: Never)",
        );
    ctx.finding(
        owner.subject(names),
        "pods have the annotation that requests a proxy, and no linkerd-proxy: their template lacks it, so it was added after the \
         injector was called, and a restart adds no proxy",
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

/// The containers of a pod, none of which is the proxy.
fn containers(pod: &Pod, more: usize) -> Evidence {
    let names: Vec<&str> = pod.spec.all_containers().map(|container| container.name.as_str()).collect();
    let created =
        pod.metadata.creation_timestamp.get().map(|at| format!(", created {at}")).unwrap_or_default();
    let more = if more == 0 { String::new() } else { format!(" (and {more} more of its pods)") };
    let object = format!("Pod {}/{}", pod.metadata.namespace, pod.metadata.name);
    Evidence::field(object, "spec.containers", format!("{}{created}{more}", names.join(", ")))
}

/// That the pod is older than the webhook, which then could not change it.
fn created_earlier(pod: &Pod, configuration: &WebhookConfiguration) -> Option<Evidence> {
    let (pod, webhook) =
        (pod.metadata.creation_timestamp.get()?, configuration.metadata.creation_timestamp.get()?);
    (pod < webhook).then(|| {
        Evidence::field(
            format!("MutatingWebhookConfiguration {}", configuration.metadata.name),
            "metadata.creationTimestamp",
            format!("{webhook}, after the pod"),
        )
    })
}
