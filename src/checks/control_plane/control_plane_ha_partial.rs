//! `control-plane-ha-partial`: the control plane is installed with high availability but lacks part
//! of its settings.

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::upgrade::{self, Options};
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Remedy, StepKind, Subject};

/// Settings of the chart's high-availability values other than replicas and failure policies, and
/// the effect without them.
const PARTS: [(&str, &str); 2] = [
    (
        "enablePodAntiAffinity",
        "without anti-affinity all pods of a component may run on one node and fail with it",
    ),
    (
        "enablePodDisruptionBudget",
        "without PodDisruptionBudgets a drain may evict all pods of a component at once",
    ),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let values = values(ctx)?;
    if values.bool("highAvailability") != Some(true) {
        return Err(Unjudged::not_applicable("the control plane is not installed with high availability"));
    }
    let namespace = &ctx.namespaces().control_plane;
    let config = format!("ConfigMap {namespace}/{CONFIG}");
    let lacking = PARTS.iter().filter(|(path, _)| values.bool(path) == Some(false));
    let findings = lacking.map(|(path, why)| {
        ctx.finding(
            Subject::object("ConfigMap", namespace, CONFIG),
            format!("the control plane is installed with high availability, but {path} is false: {why}"),
        )
        .parameter(*path)
        .evidence(Evidence::field(&config, "data.values: highAvailability", "true"))
        .evidence(Evidence::field(&config, format!("data.values: {path}"), "false"))
        .remedy(upgrade::step(
            ctx,
            Remedy::new(),
            StepKind::ChartValue,
            "Set it, as the release's values-ha.yaml does",
            Options::none().set(path, "true"),
        ))
    });
    Ok(findings.collect::<Vec<_>>().into())
}
