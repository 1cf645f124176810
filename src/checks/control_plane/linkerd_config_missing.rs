//! `linkerd-config-missing`: the ConfigMap in which the charts store their values is missing or empty.

use crate::checks::control_plane::installation::{CONFIG, config, none_installed, present};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, managed_by};
use crate::command::helm;
use crate::model::managed_by::Installer;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let found = config(ctx)?;
    if found.and_then(ConfigMap::chart_values).is_some() {
        return Ok(Verdict::fine());
    }
    if found.is_none() && !present(ctx)? {
        return Err(none_installed());
    }
    let namespace = &ctx.namespaces().control_plane;
    let object = format!("ConfigMap {namespace}/{CONFIG}");
    let (message, evidence) = match found {
        None => (
            "linkerd-config is missing: new injector pods cannot start, since they mount it. linkerd inject \
            and linkerd check cannot read the chart values",
            Evidence::other(object, "does not exist"),
        ),
        Some(config) => (
            "linkerd-config contains no readable chart values: a restarted injector cannot configure \
            proxies, and linkerd inject and linkerd check stop",
            Evidence::field(object, "data.values", content(config.data.get("values"))),
        ),
    };
    let finding =
        ctx.finding(Subject::object("ConfigMap", namespace, CONFIG), message).evidence(evidence).remedy(remedy(ctx));
    Ok(finding.into())
}

/// Applies the manifests again, with the values that the tool of the installation keeps.
fn remedy(ctx: &Context<'_>) -> Remedy {
    let by = managed_by(ctx);
    let (remedy, again) = match by.installer {
        _ if by.gitops.is_some() => (Remedy::new(), "Reapply the control plane with the values in Git"),
        Some(Installer::Cli) if upgrade::lacks_stored_values(ctx) => {
            (Remedy::new(), "Reapply the control plane with those values")
        }
        Some(Installer::Cli) => {
            (Remedy::new(), "Reapply the control plane with the values in Secret linkerd-config-overrides")
        }
        Some(Installer::Release(release)) => (
            Remedy::new().command(
                "Check the values that Helm keeps: the next step writes them to linkerd-config",
                helm().namespace(release.namespace).words("get values").operand(release.name),
            ),
            "Reapply the control plane with those values",
        ),
        Some(Installer::Chart) | None => (
            Remedy::new().note(
                "Get the values that the control plane was installed with: the next step writes linkerd-config \
                 from the given values, not from the running objects",
            ),
            "Reapply the control plane with those values",
        ),
    };
    upgrade::reapply(ctx, remedy, again)
}

/// The content found instead of the values.
fn content(values: Option<&String>) -> &'static str {
    match values.map(|text| text.trim().is_empty()) {
        None => "no such key",
        Some(true) => "empty",
        Some(false) => "not a YAML map",
    }
}
