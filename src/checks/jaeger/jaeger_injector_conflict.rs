//! `jaeger-injector-conflict`: the injector adds the volume of traces, and the injector of jaeger adds it again.

use crate::checks::prelude::*;
use crate::model::control_plane::installed;
use crate::objects::{EndpointSlice, MutatingWebhookConfiguration, Webhook, WebhookConfiguration};
use crate::version::{Contains, EdgeTag, Introduced};

/// The volume that both injectors add.
pub(in crate::checks) const VOLUME: &str = "linkerd-podinfo";
/// The webhook of jaeger's injector, which ended with edge-25.10.1.
const WEBHOOK: &str = "jaeger-injector.linkerd.io";
/// The releases from which on the injector adds the volume, each with the value that lets it (`patch.json` of the
/// chart): edge-25.10.1 renamed the value, but the patch reads the new name only since edge-25.11.1.
const SWITCHES: [(EdgeTag, &str); 2] = [
    (EdgeTag { year: 25, month: 11, number: 1 }, "proxy.tracing.enabled"),
    (EdgeTag { year: 25, month: 6, number: 4 }, "proxy.tracing.enable"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let home = ctx.namespaces().control_plane.as_str();
    let configurations = ctx.partial_list::<MutatingWebhookConfiguration>()?;
    let deployments = ctx.complete_list::<Deployment>()?;
    let config = ctx.object::<ConfigMap>(Scope::ControlPlane, "linkerd-config")?;
    let slices = ctx.partial_list::<EndpointSlice>()?;
    let Some((configuration, webhook)) = injector(configurations) else {
        ctx.complete_list::<MutatingWebhookConfiguration>()?;
        return Ok(Verdict::fine());
    };
    let Some((version, seen)) = installed(deployments, None, home) else {
        return Err(Unjudged::not_applicable("the release of the injector is not known"));
    };
    let is_from =
        |edge: &EdgeTag| version.contains(&Introduced::at_edge(*edge), ctx.knowledge.minors()) == Contains::Yes;
    let Some((_, key)) = SWITCHES.iter().find(|(edge, _)| is_from(edge)) else { return Ok(Verdict::fine()) };
    let values = config.and_then(ConfigMap::chart_values);
    if values.and_then(|values| values.bool(key)) != Some(true) {
        return Ok(Verdict::fine());
    }
    if !answers(slices, webhook) {
        ctx.complete_list::<EndpointSlice>()?;
        return Ok(Verdict::fine());
    }
    let name = &configuration.metadata.name;
    let act = "Delete the webhook of jaeger: the injector configures traces itself";
    let remedy = removed(Remedy::new(), act, configuration);
    let finding: Finding = ctx
        .finding(
            Subject::object(Kind::MutatingWebhookConfiguration, "", name),
            format!(
                "the injector and the injector of jaeger both add the volume {VOLUME}: the API server rejects every \
                 new meshed pod"
            ),
        )
        .evidence(Evidence::field(format!("ConfigMap {home}/linkerd-config"), format!("data.values: {key}"), "true"))
        .evidence(Evidence::field(
            format!("MutatingWebhookConfiguration {name}"),
            "webhooks",
            format!("{WEBHOOK}, whose Service has an endpoint"),
        ))
        .evidence(seen)
        .tie(crate::checks::serving::volume_added_twice())
        .remedy(remedy);
    Ok(finding.into())
}

/// The webhook of jaeger's injector, with its configuration.
pub(in crate::checks) fn injector(
    configurations: &[WebhookConfiguration],
) -> Option<(&WebhookConfiguration, &Webhook)> {
    configurations.iter().find_map(|configuration| {
        let webhook = configuration.webhooks.iter().find(|webhook| webhook.name == WEBHOOK)?;
        Some((configuration, webhook))
    })
}

/// Adds the steps that remove that webhook.
pub(in crate::checks) fn removed(remedy: Remedy, act: &str, configuration: &WebhookConfiguration) -> Remedy {
    let name = configuration.metadata.name.as_str();
    remedy
        .command(act, kubectl().words("delete mutatingwebhookconfiguration").operand(name))
        .note("Uninstall the extension with the tool that installed it, which would create the webhook again")
}

/// Whether the webhook is answered. By its failurePolicy Ignore it has no effect otherwise.
fn answers(slices: &[EndpointSlice], webhook: &Webhook) -> bool {
    let Some(service) = &webhook.client_config.service else { return false };
    let own = slices.iter().filter(|slice| {
        slice.metadata.namespace == service.namespace && slice.service() == Some(service.name.as_str())
    });
    own.flat_map(|slice| &slice.endpoints).any(|endpoint| endpoint.conditions.ready != Some(false))
}
