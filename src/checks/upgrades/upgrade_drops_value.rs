//! `upgrade-drops-value`: a chart value is set that the target ignores or refuses.

use super::Upgrade;
use crate::checks::control_plane::installation::{CONFIG, values};
use crate::checks::prelude::*;
use crate::checks::upgrade::{Unstored, managed_by, unstored};
use crate::knowledge::{Effect, LostValue};
use crate::model::managed_by::Installer;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let way = Upgrade::from_context(ctx)?;
    let values = values(ctx)?;
    let home = ctx.namespaces().control_plane.as_str();
    let set = ctx.knowledge.upgrades().values(way.between(ctx)).filter_map(|row| {
        let written = values.written(&row.value).filter(|written| !row.defaults.contains(written))?;
        let taken = row.unless.as_ref().is_some_and(|path| values.bool(path) == Some(true));
        // linkerd-cni does what linkerd-init would have done.
        let by_cni = row.effect == Effect::Refused && values.bool("cniEnabled") == Some(true);
        (!taken && !by_cni).then_some((row, written))
    });
    let mut findings: Vec<Finding> = set.map(|(row, written)| finding(ctx, &way, home, row, written)).collect();
    let by = managed_by(ctx);
    if by.installer == Some(Installer::Cli) {
        let unstored = unstored(ctx, &values, Some(way.to));
        findings.extend(unstored.iter().map(|one| reset(ctx, &way, home, one)));
    }
    Ok(findings.into())
}

/// A value that the CLI does not take from its stored values.
fn reset(ctx: &Context<'_>, way: &Upgrade<'_>, home: &str, one: &Unstored<'_>) -> Finding {
    let value = &one.row.value;
    let message = format!("`linkerd upgrade` resets the chart value {value}: the CLI does not store it");
    ctx.finding(Subject::object(Kind::ConfigMap, home, CONFIG), message)
        .severity(Severity::Warning)
        .parameter(value.clone())
        .evidence(Evidence::field(format!("ConfigMap {home}/{CONFIG}"), format!("data.values: {value}"), one.written()))
        .evidence(way.target.clone())
        .remedy(Remedy::new().step(
            StepKind::ChartValue,
            format!("Set it in every `linkerd upgrade`, as the plan's commands do: {}", one.options()),
        ))
}

fn finding(ctx: &Context<'_>, way: &Upgrade<'_>, home: &str, row: &LostValue, written: String) -> Finding {
    let (severity, what) = match row.effect {
        Effect::Refused => (Severity::Error, "the target rejects"),
        Effect::Ignored => (Severity::Warning, "the target ignores"),
        Effect::Deprecated => (Severity::Info, "the target advises against"),
    };
    let message = format!("{what} the chart value {}: {}", row.value, row.why);
    let mut instead = row.instead.chars();
    let first = instead.next().map(|c| c.to_ascii_uppercase()).into_iter();
    ctx.finding(Subject::object(Kind::ConfigMap, home, CONFIG), message)
        .severity(severity)
        .parameter(row.value.clone())
        .evidence(Evidence::field(format!("ConfigMap {home}/{CONFIG}"), format!("data.values: {}", row.value), written))
        .evidence(way.target.clone())
        .remedy(Remedy::new().step(
            StepKind::ChartValue,
            format!("{} (in your values, before the upgrade)", first.chain(instead).collect::<String>()),
        ))
}
