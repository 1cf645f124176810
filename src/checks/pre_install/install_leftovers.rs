//! `install-leftovers`: cluster-scoped objects that an earlier installation left or that another one owns.

use crate::checks::prelude::*;
use crate::model::control_plane::components;
use crate::model::installed::CONTROL_PLANE_NS;
use crate::objects::rbac::{ClusterRole, ClusterRoleBinding};
use crate::objects::{Listed, MutatingWebhookConfiguration, ValidatingWebhookConfiguration, WebhookConfiguration};
/// Labels of objects that are not part of the control plane.
const OTHERS: [&str; 2] = ["linkerd.io/cni-resource", "linkerd.io/extension"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let deployments = ctx.complete_list::<Deployment>()?;
    if !components(deployments, home).is_empty() {
        return Err(Unjudged::blocked("control-plane-namespace-exists", "a control plane is installed"));
    }
    let services = ctx.complete_list::<Service>()?;
    let mut found: Vec<(Kind, &Meta)> = Vec::new();
    for role in ctx.partial_list::<ClusterRole>()? {
        found.push((Kind::ClusterRole, &role.metadata));
    }
    for binding in ctx.partial_list::<ClusterRoleBinding>()? {
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
            "another control plane owns this object: a cluster supports only one, because both have objects \
             with the same names",
            "in-use",
            Remedy::new().note("Use the existing control plane, or uninstall it before installing another one"),
        )
    } else {
        (
            "an earlier installation left this object behind: creating it again fails, and Helm does not \
             adopt objects that it did not create",
            "left",
            Remedy::new().command(
                "Delete the leftover object, once nothing uses that control plane",
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

/// A Linkerd webhook that fails closed and whose Service does not exist.
fn refusing(ctx: &Context<'_>, kind: Kind, config: &WebhookConfiguration, services: &[Service]) -> Option<Finding> {
    let meta = &config.metadata;
    let linkerds = meta.label(CONTROL_PLANE_NS).is_some() || OTHERS.iter().any(|label| meta.label(label).is_some());
    if !linkerds {
        return None;
    }
    let gone = config.webhooks.iter().find_map(|webhook| {
        let service = webhook.client_config.service.as_ref()?;
        let fails = webhook.failure_policy != "Ignore";
        let there =
            services.iter().any(|s| s.metadata.namespace == service.namespace && s.metadata.name == service.name);
        (fails && !there).then_some((webhook, service))
    });
    let (webhook, service) = gone?;
    let object = format!("{kind} {}", meta.name);
    let remedy = Remedy::new().command(
        "Delete it: it has no backend, and an installation creates its own",
        kubectl().words("delete").arg(kind.resource()).operand(&meta.name),
    );
    let finding = ctx
        .finding(
            Subject::object(kind, "", &meta.name),
            "a leftover webhook fails closed and its Service does not exist: the pods or policies that it \
             covers cannot be created",
        )
        .parameter("refusing")
        .evidence(Evidence::field(
            &object,
            format!("webhooks[{}].clientConfig.service", webhook.name),
            format!("{}/{}, which does not exist", service.namespace, service.name),
        ))
        .evidence(Evidence::field(&object, format!("webhooks[{}].failurePolicy", webhook.name), "Fail"))
        .remedy(remedy);
    // An installation of the control plane does not create an extension's webhook.
    Some(if is_part(meta) { finding } else { finding.fails_rows([]) })
}
