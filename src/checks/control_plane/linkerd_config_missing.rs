//! `linkerd-config-missing`: the ConfigMap in which the charts store their values is missing or empty.

use crate::checks::control_plane::installation::{CONFIG, config, none_installed, present};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Verdict};
use crate::finding::{Evidence, Remedy, StepKind, Subject};
use crate::objects::ConfigMap;

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
            Evidence::field(object, "data.values", held(config.data.get("values"))),
        ),
    };
    let remedy = Remedy::new();
    let remedy = remedy.step(
        StepKind::Note,
        "Get the values that the control plane was installed with: the next step writes linkerd-config from \
        the given values, not from the running objects",
    );
    let again = "Apply the manifests of the control plane again with those values";
    let remedy = upgrade::step(ctx, remedy, StepKind::Command, again, Options::none());
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, CONFIG), message)
        .evidence(evidence)
        .remedy(remedy);
    Ok(vec![finding].into())
}

/// The content found instead of the values.
fn held(values: Option<&String>) -> &'static str {
    match values.map(|text| text.trim().is_empty()) {
        None => "no such key",
        Some(true) => "empty",
        Some(false) => "not a YAML map",
    }
}
