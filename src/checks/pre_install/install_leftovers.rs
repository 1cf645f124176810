//! `install-leftovers`: objects outside of namespaces that an earlier installation left, or that another one owns.

use crate::checks::{Context, Judgement, Unjudged};
use crate::command::kubectl;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;
use crate::model::control_plane::components;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::rbac::{ClusterRole, ClusterRoleBinding};
use crate::objects::{
    Deployment, Listed, Meta, MutatingWebhookConfiguration, Service, ValidatingWebhookConfiguration,
    WebhookConfiguration,
};
/// Whose objects are no part of the control plane.
const OTHERS: [&str; 2] = ["linkerd.io/cni-resource", "linkerd.io/extension"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let deployments = ctx.every::<Deployment>()?;
    if !components(deployments, home).is_empty() {
        return Err(Unjudged::blocked("control-plane-namespace-exists", "a control plane is installed"));
    }
    let services = ctx.every::<Service>()?;
    let mut found: Vec<(Kind, &Meta)> = Vec::new();
    for role in ctx.seen::<ClusterRole>()? {
        found.push((Kind::ClusterRole, &role.metadata));
    }
    for binding in ctx.seen::<ClusterRoleBinding>()? {
        found.push((Kind::ClusterRoleBinding, &binding.metadata));
    }
    let mut findings = Vec::new();
    for list in [MutatingWebhookConfiguration::LIST, ValidatingWebhookConfiguration::LIST] {
        let kind = list.kind();
        for config in ctx.seen_of(list)? {
            match refusing(ctx, kind, config, services) {
                Some(finding) => findings.push(finding),
                None => found.push((kind, &config.metadata)),
            }
        }
    }
    let left = found.into_iter().filter(|(_, meta)| is_part(meta));
    findings.extend(left.map(|(kind, meta)| {
        let owner = meta.label(CONTROL_PLANE_NS).unwrap_or_default();
        let in_use = !components(deployments, owner).is_empty();
        leftover(ctx, kind, meta, in_use)
    }));
    Ok(findings.into())
}

fn is_part(meta: &Meta) -> bool {
    meta.label(CONTROL_PLANE_NS).is_some() && OTHERS.iter().all(|label| meta.label(label).is_none())
}

fn leftover(ctx: &Context<'_>, kind: Kind, meta: &Meta, in_use: bool) -> Finding {
    let owner = meta.label(CONTROL_PLANE_NS).unwrap_or_default();
    let subject = Subject::object(kind, "", &meta.name);
    let (message, parameter, remedy) = if in_use {
        (
            "another control plane owns this: a cluster has room for one, as both have objects of the same name",
            "in-use",
            Remedy::new().step(
                StepKind::Note,
                "Use the control plane that is there, or uninstall it before another is installed",
            ),
        )
    } else {
        (
            "an earlier installation left this behind: creating it again is refused, and Helm does not adopt what it did not \
             create",
            "left",
            Remedy::new().run(
                StepKind::Command,
                "Delete what is left, once nothing uses that control plane any more",
                kubectl().words("delete").arg(kind.resource()).operand(&meta.name),
            ),
        )
    };
    ctx.finding(subject, message)
        .parameter(parameter)
        .evidence(Evidence::field(
            format!("{kind} {}", meta.name),
            format!("metadata.labels[{CONTROL_PLANE_NS}]"),
            owner,
        ))
        .remedy(remedy)
}

/// A webhook of Linkerd that lets nothing pass, with no service to answer.
fn refusing(
    ctx: &Context<'_>,
    kind: Kind,
    config: &WebhookConfiguration,
    services: &[Service],
) -> Option<Finding> {
    let meta = &config.metadata;
    let linkerds =
        meta.label(CONTROL_PLANE_NS).is_some() || OTHERS.iter().any(|label| meta.label(label).is_some());
    if !linkerds {
        return None;
    }
    let gone = config.webhooks.iter().find_map(|webhook| {
        let service = webhook.client_config.service.as_ref()?;
        let fails = webhook.failure_policy != "Ignore";
        let there = services
            .iter()
            .any(|s| s.metadata.namespace == service.namespace && s.metadata.name == service.name);
        (fails && !there).then_some((webhook, service))
    });
    let (webhook, service) = gone?;
    let object = format!("{kind} {}", meta.name);
    let remedy = Remedy::new().run(
        StepKind::Command,
        "Delete it: nothing answers it, and an installation brings its own",
        kubectl().words("delete").arg(kind.resource()).operand(&meta.name),
    );
    let finding = ctx
        .finding(
            Subject::object(kind, "", &meta.name),
            "a webhook is left whose service is gone, and what it is asked about is refused: pods or policies can't be created",
        )
        .parameter("refusing")
        .evidence(Evidence::field(
            &object,
            format!("webhooks[{}].clientConfig.service", webhook.name),
            format!("{}/{}, which does not exist", service.namespace, service.name),
        ))
        .evidence(Evidence::field(&object, format!("webhooks[{}].failurePolicy", webhook.name), "Fail"))
        .remedy(remedy);
    // An extension's webhook is none that an installation of the control plane creates.
    Some(if is_part(meta) { finding } else { finding.fails_rows([]) })
}
