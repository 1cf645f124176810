//! `other-mesh-sidecar`: pods request Linkerd's proxy but have another mesh's, so the injector skips them.

use std::collections::{BTreeMap, BTreeSet};

use super::injector_not_called::restart;
use super::passed_over::{PassedOver, passed_over};
use super::unmeshed::counts;
use crate::annotations::AMBIENT_REDIRECTION;
use crate::checks::admission::Rules;
use crate::checks::prelude::*;
use crate::checks::restart::of_namespaces;
use crate::model::injection::{INJECT, Skip};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::{MutatingWebhookConfiguration, Webhook};

/// The name of Istio's webhooks.
const OF_ISTIO: &str = "sidecar-injector.istio.io";
/// The labels of namespaces that request Istio's proxy.
const ASK_ISTIO: [&str; 2] = ["istio-injection", "istio.io/rev"];
/// The label of namespaces and pods that requests Istio's ambient mode.
const ASK_AMBIENT: &str = "istio.io/dataplane-mode";

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let rules = Rules::from_context(ctx)?;
    let mut findings: Vec<Finding> = Vec::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    let namespaces = ctx.partial_list::<Namespace>()?;
    for passed in &passed_over(ctx, &rules)? {
        let Skip::Sidecar(name) = &passed.skip else { continue };
        let namespace = namespaces.iter().find(|namespace| namespace.metadata.name == passed.maker.namespace());
        told.insert(passed.maker.namespace());
        let asks_istio = namespace.and_then(|namespace| label_of(&namespace.metadata));
        findings.push(
            ctx.finding(
                passed.maker.subject(),
                "Linkerd's proxy is requested, but the pods have a sidecar that the injector treats as a \
                 proxy. It skips them, so they stay outside Linkerd's mesh",
            )
            .evidence(passed.request_evidence())
            .evidence(passed.maker.field("spec.containers", *name))
            .evidences(asks_istio.map(|(key, value)| of_namespace(passed.maker.namespace(), key, value)))
            .remedy(remedy(ctx, passed.maker.namespace(), asks_istio.map(|(key, _)| key), Some(passed))),
        );
    }
    findings.extend(redirected(ctx, namespaces)?);
    let webhooks = ctx.partial_list::<MutatingWebhookConfiguration>()?;
    let istios: Vec<(&str, &Webhook)> = webhooks
        .iter()
        .flat_map(|c| c.webhooks.iter().map(move |webhook| (c.metadata.name.as_str(), webhook)))
        .filter(|(_, webhook)| webhook.name.ends_with(OF_ISTIO))
        .collect();
    for namespace in namespaces {
        let meta = &namespace.metadata;
        let asks = matches!(meta.annotation(INJECT), Some("enabled" | "ingress"));
        if !asks || told.contains(meta.name.as_str()) || !ctx.judges(&meta.name) {
            continue;
        }
        let Some((key, value)) = label_of(meta) else { continue };
        let selects = |webhook: &Webhook| {
            webhook.namespace_selector.as_ref().is_some_and(|selector| selector.matches(&meta.labels))
        };
        let Some((configuration, _)) = istios.iter().find(|(_, webhook)| selects(webhook)) else { continue };
        if !rules.admission.calls(&meta.name) {
            continue;
        }
        findings.push(
            ctx.finding(
                Subject::object(Kind::Namespace, "", &meta.name),
                "the namespace requests the proxies of two meshes. The webhook that is called first decides \
                 which proxy a new pod gets, and Linkerd's injector skips pods with Istio's proxy",
            )
            .parameter("both")
            .evidence(Evidence::field(
                format!("Namespace {}", meta.name),
                format!("metadata.annotations[{INJECT}]"),
                meta.annotation(INJECT).unwrap_or_default(),
            ))
            .evidence(of_namespace(&meta.name, key, value))
            .evidence(Evidence::field(
                format!("MutatingWebhookConfiguration {configuration}"),
                "webhooks[].namespaceSelector",
                "selects it",
            ))
            .remedy(remedy(ctx, &meta.name, Some(key), None)),
        );
    }
    Ok(findings.into())
}

/// The findings about pods with a proxy whose connections Istio's ambient mode redirects too.
fn redirected(ctx: &Context<'_>, namespaces: &[Namespace]) -> Result<Vec<Finding>, Missing> {
    let home = ctx.namespaces().control_plane.as_str();
    let owners = ctx.owners();
    let mut groups: BTreeMap<Owner, Vec<&Pod>> = BTreeMap::new();
    for pod in ctx.partial_list::<Pod>()?.iter().filter(|pod| ctx.judges(&pod.metadata.namespace)) {
        let is_meshed = pod.metadata.label(CONTROL_PLANE_NS) == Some(home) && pod.spec.proxy().is_some();
        let is_redirected = pod.metadata.annotation(AMBIENT_REDIRECTION).is_some();
        if is_meshed && is_redirected && counts(pod) {
            groups.entry(owners.owner(pod)).or_default().push(pod);
        }
    }
    let finding = |(owner, pods): (&Owner, &Vec<&Pod>)| {
        let pod = pods[0];
        let own = pod.metadata.label(ASK_AMBIENT);
        let namespace = namespaces.iter().find(|namespace| *namespace.metadata.name == *owner.namespace);
        let inherited = namespace.and_then(|namespace| namespace.metadata.label(ASK_AMBIENT)).filter(|_| own.is_none());
        let object = pod.described();
        let remedy = match inherited {
            Some(_) => Remedy::new().run(
                StepKind::Annotation,
                "Remove the label that requests ambient mode from the namespace. istio-cni removes its rules from \
                 running pods",
                kubectl().words("label namespace").operand(&owner.namespace).arg(format!("{ASK_AMBIENT}-")),
            ),
            None => Remedy::new().step(
                StepKind::Annotation,
                format!("Set label {ASK_AMBIENT}: none in the pod template, or let Linkerd not inject the pods"),
            ),
        };
        let names = pods.iter().map(|pod| pod.metadata.name.clone()).collect();
        ctx.finding(
            owner.subject(names),
            "Linkerd's proxy and Istio's ambient mode both redirect the connections of the pods. The order of their \
             rules decides which mesh gets a connection",
        )
        .parameter("ambient")
        .evidence(Evidence::field(object.clone(), format!("metadata.annotations[{AMBIENT_REDIRECTION}]"), "set"))
        .evidences(own.map(|value| Evidence::field(object, format!("metadata.labels[{ASK_AMBIENT}]"), value)))
        .evidences(inherited.map(|value| of_namespace(&owner.namespace, ASK_AMBIENT, value)))
        .remedy(remedy)
    };
    Ok(groups.iter().map(finding).collect())
}

/// The label by which a namespace requests Istio's proxy.
fn label_of(meta: &Meta) -> Option<(&'static str, &str)> {
    ASK_ISTIO.iter().find_map(|key| meta.label(key).filter(|value| *value != "disabled").map(|value| (*key, value)))
}

fn of_namespace(namespace: &str, key: &str, value: &str) -> Evidence {
    Evidence::field(format!("Namespace {namespace}"), format!("metadata.labels[{key}]"), value)
}

/// The steps for a namespace, or for one of its workloads.
fn remedy(ctx: &Context<'_>, namespace: &str, label: Option<&str>, passed: Option<&PassedOver<'_>>) -> Remedy {
    let mut remedy = match label {
        Some(key) => Remedy::new().run(
            StepKind::Annotation,
            "Remove the label that requests Istio's proxy from the namespace",
            kubectl().words("label namespace").operand(namespace).arg(format!("{key}-")),
        ),
        None => Remedy::new().note(
            "Remove the sidecar from the pod template, or remove its source (a label of the namespace, a \
             manual injection)",
        ),
    };
    match passed {
        // A label of the namespace concerns all of its workloads.
        Some(passed) if label.is_none() => {
            restart(ctx, &mut remedy, std::slice::from_ref(passed));
            remedy
        }
        _ => of_namespaces(
            ctx,
            remedy,
            "Then restart the workloads of the namespace: proxies are only added when a pod is created",
            &[namespace],
        ),
    }
}
