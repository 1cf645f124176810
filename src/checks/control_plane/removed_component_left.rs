//! `removed-component-left`: a webhook or an API of a removed Linkerd component, or a component of another
//! release.

use crate::checks::prelude::*;
use crate::item::EXTENSION_LABEL;
use crate::model::control_plane::{CORE, components, installed};
use crate::model::installed::CONTROL_PLANE_NS;
use crate::model::managed_by::ManagedBy;
use crate::objects::{APIService, Listed, MutatingWebhookConfiguration, ValidatingWebhookConfiguration, Webhook};

/// The tap API. The checks of viz report it if viz is not installed.
const TAP: &str = "v1alpha1.tap.linkerd.io";
/// The Services of the current control plane's own webhooks: a missing one is not a leftover.
const OWN: [&str; 3] = ["linkerd-proxy-injector", "linkerd-sp-validator", "linkerd-policy-validator"];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let services = ctx.complete_list::<Service>()?;
    let deployments = ctx.partial_list::<Deployment>()?;
    let home = ctx.namespaces().control_plane.as_str();
    let running = !components(deployments, home).is_empty();
    let gone = |namespace: &str, name: &str| {
        !services.iter().any(|s| s.metadata.namespace == namespace && s.metadata.name == name)
    };
    let mut findings = Vec::new();
    for list in [MutatingWebhookConfiguration::LIST, ValidatingWebhookConfiguration::LIST] {
        for config in ctx.seen_of(list)? {
            if !is_linkerds(&config.metadata) {
                continue;
            }
            let left = config.webhooks.iter().find(|webhook| {
                webhook.client_config.service.as_ref().is_some_and(|service| {
                    let is_home = service.namespace == home || config.metadata.label(CONTROL_PLANE_NS) == Some(home);
                    let own = running && is_home && OWN.contains(&service.name.as_str());
                    !own && gone(&service.namespace, &service.name)
                })
            });
            findings.extend(left.map(|webhook| of_webhook(ctx, list.kind(), &config.metadata, webhook)));
        }
    }
    for api in ctx.partial_list::<APIService>()? {
        let name = &api.metadata.name;
        let Some(service) = &api.spec.service else { continue };
        if name.ends_with(".linkerd.io") && gone(&service.namespace, &service.name) && (name != TAP || has_viz(ctx)) {
            findings.push(of_api(ctx, api, &format!("{}/{}, which does not exist", service.namespace, service.name)));
        }
    }
    if let Some((version, seen)) = installed(deployments, None, home) {
        let old = components(deployments, home).into_iter().filter(|component| {
            let other = component.version().is_some_and(|own| !own.same_release(&version));
            !CORE.contains(&component.name) && other
        });
        findings.extend(old.map(|component| {
            let meta = &component.deployment.metadata;
            let own = component.version().map(|own| own.to_string()).unwrap_or_default();
            of_component(ctx, meta, &own, seen.clone())
        }));
    }
    Ok(findings.into())
}

/// Whether viz is installed: if not, its own check reports leftovers.
fn has_viz(ctx: &Context<'_>) -> bool {
    let namespaces = ctx.or_note(ctx.complete_list::<Namespace>()).unwrap_or_default();
    namespaces.iter().any(|namespace| namespace.metadata.label(EXTENSION_LABEL) == Some(Extension::Viz.name()))
}

fn is_linkerds(meta: &Meta) -> bool {
    meta.label(CONTROL_PLANE_NS).is_some() || meta.label(EXTENSION_LABEL).is_some() || meta.name.starts_with("linkerd-")
}

/// The remedy for an unused object.
fn delete(kind: Kind, meta: &Meta, words: &str) -> Remedy {
    let git = ManagedBy::from_metadata(meta).in_git().map(|git| format!("; {git}")).unwrap_or_default();
    let call = kubectl();
    let call = if meta.namespace.is_empty() { call } else { call.namespace(&meta.namespace) };
    Remedy::new().command(format!("{words}{git}"), call.words("delete").arg(kind.resource()).operand(&meta.name))
}

fn of_webhook(ctx: &Context<'_>, kind: Kind, meta: &Meta, webhook: &Webhook) -> Finding {
    let object = format!("{kind} {}", meta.name);
    let fails = webhook.failure_policy != "Ignore";
    let message = if fails {
        "the Service of a Linkerd webhook does not exist, so the API server rejects the objects that the \
        webhook covers: an extension or an older release was only partly removed"
    } else {
        "the Service of a Linkerd webhook does not exist, so each call waits for it in vain: an \
        extension or an older release was only partly removed"
    };
    let service = webhook.client_config.service.as_ref();
    let service = service.map(|s| format!("{}/{}, which does not exist", s.namespace, s.name)).unwrap_or_default();
    ctx.finding(Subject::object(kind, "", &meta.name), message)
        .severity(if fails { Severity::Error } else { Severity::Warning })
        .parameter("webhook")
        .evidence(Evidence::field(&object, format!("webhooks[{}].clientConfig.service", webhook.name), service))
        .evidence(Evidence::field(
            &object,
            format!("webhooks[{}].failurePolicy", webhook.name),
            &*webhook.failure_policy,
        ))
        .remedy(delete(kind, meta, "Unless its extension or release will be reinstalled, delete it"))
}

fn of_api(ctx: &Context<'_>, api: &APIService, service: &str) -> Finding {
    let name = &api.metadata.name;
    let object = format!("APIService {name}");
    let available = api.status.conditions.iter().find(|condition| condition.kind == "Available");
    let said = available.map(|c| format!("{}: {}: {}", c.status, c.reason, c.message));
    ctx.finding(
        Subject::object(Kind::APIService, "", name),
        "the Service of a Linkerd API does not exist: deleted namespaces stay Terminating, and kubectl \
        reports errors when it lists all APIs",
    )
    .severity(Severity::Error)
    .parameter("api")
    .evidence(Evidence::field(&object, "spec.service", service))
    .evidences(said.map(|said| Evidence::field(&object, "status.conditions[Available]", said)))
    .remedy(delete(Kind::APIService, &api.metadata, "Unless its server will be reinstalled, delete it"))
    .tie(Tie::Fact(format!("api:{name}")))
}

fn of_component(ctx: &Context<'_>, meta: &Meta, own: &str, seen: Evidence) -> Finding {
    ctx.finding(
        Subject::object(Kind::Deployment, &meta.namespace, &meta.name),
        "a component of another release runs alongside the control plane, whose release no longer has it: \
        upgrades do not update it",
    )
    .severity(Severity::Warning)
    .likely()
    .parameter("component")
    .evidence(Evidence::field(meta.described("Deployment"), "its version", own))
    .evidence(seen)
    .remedy(
        Remedy::new()
            .command(
                "List the Linkerd objects that the installed release no longer has",
                crate::command::linkerd().words("prune"),
            )
            .command(
                "When it is no longer used, delete it",
                kubectl().namespace(&meta.namespace).words("delete deployment").operand(&meta.name),
            ),
    )
}
