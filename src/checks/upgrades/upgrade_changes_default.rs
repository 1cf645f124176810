//! `upgrade-changes-default`: a value has the default of the installed release, and the target has another.

use super::Way;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::rehearsal::CHART;
use crate::checks::upgrade::managed_by;
use crate::checks::words::sentence;
use crate::checks::{Context, Judgement};
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::Kind;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Way::of(ctx)?;
    let values = values(ctx)?;
    let changed = ctx.knowledge.releases().changed_defaults(CHART, &way.from, way.to);
    let home = ctx.namespaces().control_plane.as_str();
    let findings: Vec<Finding> = changed
        .into_iter()
        .filter(|changed| values.written(changed.value).is_none_or(|written| Some(&*written) == changed.from))
        // Explicit values for the upgrade stay.
        .filter(|changed| !said(ctx, changed.value))
        // With linkerd-cni no linkerd-init exists whose rules could change.
        .filter(|changed| !changed.value.starts_with("proxyInit.") || values.bool("cniEnabled") != Some(true))
        .filter_map(|changed| {
            let matters = ctx.knowledge.upgrades().default(changed.value, changed.to)?;
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
            Some(
                ctx.finding(subject, message)
                    .severity(matters.severity)
                    .likely()
                    .parameter(changed.value)
                    .evidence(Evidence::field(place, format!("data.values: {}", changed.value), said))
                    .evidence(way.target.clone())
                    .remedy(Remedy::new().step(StepKind::ChartValue, keep(ctx, &matters.keep)))
                    .fact(format!("{}: {before} to {}", changed.value, changed.to)),
            )
        })
        .collect();
    Ok(findings.into())
}

/// Whether the values for the chart set this one.
fn said(ctx: &Context<'_>, value: &str) -> bool {
    ctx.settings.values.iter().any(|given| given.chart == CHART && given.at(value).is_some())
}

fn keep(ctx: &Context<'_>, how: &str) -> String {
    match ctx.settings.values.iter().any(|given| given.chart == CHART) {
        true => format!("To keep the current behavior, set {how} in your Helm values"),
        false if managed_by(ctx).is_by_cli() => {
            format!("To keep the current behavior, pass --set {how} to linkerd upgrade")
        }
        false => {
            format!("To keep the current behavior, set {how} in your Helm values. --values FILE checks them")
        }
    }
}
