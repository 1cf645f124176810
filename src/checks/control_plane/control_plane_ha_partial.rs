//! `control-plane-ha-partial`: the control plane is installed for high availability, but a part of its
//! settings is off.

use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::upgrade::{self, Options};

/// Chart values that `values-ha.yaml` sets in addition to replicas and failure policies, and the consequence
/// of leaving them off.
const PARTS: [(&str, &str); 2] = [
    ("enablePodAntiAffinity", "without anti-affinity all pods of a component may run on one node, and fail with it"),
    ("enablePodDisruptionBudget", "without PodDisruptionBudgets a drain may evict all pods of a component at once"),
];

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let values = values(ctx)?;
    if values.bool("highAvailability") != Some(true) {
        return Err(Unjudged::not_applicable("the control plane is not installed for high availability"));
    }
    let namespace = &ctx.namespaces().control_plane;
    let config = format!("ConfigMap {namespace}/{CONFIG}");
    let lacking = PARTS.iter().filter(|(path, _)| values.bool(path) == Some(false));
    let findings = lacking.map(|(path, why)| {
        ctx.finding(
            Subject::object("ConfigMap", namespace, CONFIG),
            format!("the control plane is installed for high availability, and {path} is false: {why}"),
        )
        .parameter(*path)
        .evidence(Evidence::field(&config, "data.values: highAvailability", "true"))
        .evidence(Evidence::field(&config, format!("data.values: {path}"), "false"))
        .remedy(upgrade::with_values(
            ctx,
            Remedy::new(),
            "Set it as in the release's values-ha.yaml",
            Options::none().set(path, "true"),
        ))
    });
    Ok(findings.collect())
}
