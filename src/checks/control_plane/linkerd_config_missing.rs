//! `linkerd-config-missing`: the ConfigMap in which the charts leave their values is not there, or holds none.

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
            "linkerd-config is missing: no new pod of the injector starts, since it mounts it, and linkerd inject and \
             linkerd check cannot read how the control plane was installed",
            Evidence::other(object, "does not exist"),
        ),
        Some(config) => (
            "linkerd-config holds no chart values that can be read: an injector that starts has none to write proxies by, \
             and linkerd inject and linkerd check stop at it",
            Evidence::field(object, "data.values", held(config.data.get("values"))),
        ),
    };
    let remedy = Remedy::new();
    let remedy = remedy.step(
        StepKind::Note,
        "Have the values at hand that the control plane was installed with: what is applied now writes linkerd-config from \
         the values given, not from what runs",
    );
    let again = "Apply the manifests of the control plane again with those values";
    let remedy = upgrade::step(ctx, remedy, StepKind::Command, again, Options::none());
    let finding = ctx
        .finding(Subject::object("ConfigMap", namespace, CONFIG), message)
        .evidence(evidence)
        .remedy(remedy);
    Ok(vec![finding].into())
}

/// What stands where the values should.
fn held(values: Option<&String>) -> &'static str {
    match values.map(|text| text.trim().is_empty()) {
        None => "no such key",
        Some(true) => "empty",
        Some(false) => "not a map of YAML",
    }
}
