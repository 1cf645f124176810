//! `upgrade-changes-default`: a value has the default of the installed release, and the target has another.

use super::Upgrade;
use crate::chart::values::Values;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::rehearsal::CHART;
use crate::checks::upgrade::managed_by;
use crate::checks::words::sentence;
use crate::knowledge::DefaultMatters;
use crate::model::managed_by::Installer;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let values = values(ctx)?;
    let home = ctx.namespaces().control_plane.as_str();
    let findings: Vec<Finding> = changed(ctx, &values, (&way.from, way.to))
        .map(|changed| {
            let matters = changed.matters;
            let subject = Subject::object(Kind::ConfigMap, home, CONFIG);
            let before = changed.from.unwrap_or("not set");
            let message = format!(
                "The default of {} changes from {before} to {}. {}",
                changed.value,
                changed.to,
                sentence(&matters.why)
            );
            let place = format!("ConfigMap {home}/{CONFIG}");
            let said = values.written(changed.value).unwrap_or_else(|| "not set".to_owned());
            ctx.finding(subject, message)
                .severity(matters.severity)
                .likely()
                .parameter(changed.value)
                .evidence(Evidence::field(place, format!("data.values: {}", changed.value), said))
                .evidence(way.target.clone())
                .remedy(Remedy::new().step(StepKind::ChartValue, keep(ctx, &matters.keep)))
                .fact(format!("{}: {before} to {}", changed.value, changed.to))
        })
        .collect();
    Ok(findings.into())
}

/// A default that changes.
struct Changed<'c> {
    /// Path of the value.
    value: &'c str,
    /// The old default, if the release has the value.
    from: Option<&'c str>,
    to: &'c str,
    /// Its effect.
    matters: &'c DefaultMatters,
}

/// The defaults with an effect that change between two releases, and that the values do not override.
fn changed<'c>(
    ctx: &'c Context<'_>,
    values: &'c Values,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
) -> impl Iterator<Item = Changed<'c>> {
    let changed = ctx.knowledge.releases().changed_defaults(CHART, from, to).into_iter();
    changed
        .filter(|changed| values.written(changed.value).is_none_or(|written| Some(&*written) == changed.from))
        // Explicit values for the upgrade stay.
        .filter(|changed| !is_set(ctx, changed.value))
        // With linkerd-cni no linkerd-init exists whose rules could change.
        .filter(|changed| !changed.value.starts_with("proxyInit.") || values.bool("cniEnabled") != Some(true))
        .filter_map(|changed| {
            let matters = ctx.knowledge.upgrades().default(changed.value, changed.to)?;
            Some(Changed { value: changed.value, from: changed.from, to: changed.to, matters })
        })
}

/// The settings `PATH=VALUE` that keep the behavior of the installed release in an upgrade to the next one, in addition
/// to those that are given with `--values`. Reads `linkerd-config`.
pub(super) fn kept(ctx: &Context<'_>, between: (&LinkerdVersion, &LinkerdVersion)) -> Vec<String> {
    let Ok(values) = values(ctx) else { return Vec::new() };
    changed(ctx, &values, between).map(|changed| changed.matters.keep.clone()).collect()
}

/// Whether the values for the chart set this one.
fn is_set(ctx: &Context<'_>, value: &str) -> bool {
    ctx.settings.values.iter().any(|given| given.chart == CHART && given.at(value).is_some())
}

fn keep(ctx: &Context<'_>, how: &str) -> String {
    let by = managed_by(ctx);
    let is_given = ctx.settings.values.iter().any(|given| given.chart == CHART);
    let text = match (is_given, by.gitops.is_none(), by.installer) {
        (true, ..) => format!("set {how} in your Helm values"),
        (false, _, Some(Installer::Cli)) => {
            format!("pass --set {how} to linkerd upgrade, as the upgrade plan does")
        }
        (false, true, Some(Installer::Release(_))) => format!(
            "pass --set {how} to helm upgrade, as the upgrade plan does, or set it in your Helm values. --values \
             FILE checks them"
        ),
        _ => format!("set {how} in your Helm values. --values FILE checks them"),
    };
    format!("To keep the current behavior, {text}")
}
