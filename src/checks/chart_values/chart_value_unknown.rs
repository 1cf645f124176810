//! `chart-value-unknown`: a value is set that the chart does not have.

use std::collections::BTreeMap;

use super::chart_value_type::{corrected, typed};
use super::{ValuesOrigin, kept_at, stored_values};
use crate::chart::values_input::Leaf;
use crate::checks::control_plane::installation::CONFIG;
use crate::checks::prelude::*;
use crate::checks::rehearsal::CHART;
use crate::finding::{ValueAction, ValueEdit};
use crate::knowledge::{ChartType, Known};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let given = &ctx.settings.values;
    if given.is_empty() {
        return Ok(installed(ctx)?.into());
    }
    let mut findings = about_to_be(ctx)?;
    // Values of another chart do not replace those of linkerd-config.
    if given.iter().all(|given| given.chart != CHART) {
        findings.extend(installed(ctx).unwrap_or_default());
    }
    Ok(findings.into())
}

/// Values about to be applied. A value that several files set is reported once, for the last file.
fn about_to_be(ctx: &Context<'_>) -> Result<Vec<Finding>, Unjudged> {
    let mut all = Vec::new();
    for (of, given) in ValuesOrigin::passed_values(ctx)? {
        if let Some(last) = of.chart.last_release().filter(|last| *last < of.edge) {
            all.push(removed_value(ctx, &of, last));
            continue;
        }
        let typed = typed(ctx, &of);
        let mut findings: BTreeMap<String, (Finding, String)> = BTreeMap::new();
        let mut edits: BTreeMap<String, Vec<ValueEdit>> = BTreeMap::new();
        for file in &given.files {
            // A value that the parent chart reads has an effect there.
            for leaf in file.leaves().into_iter().filter(|leaf| !file.is_shared(&leaf.path())) {
                if let Some((message, act)) = message_and_step(&of, &leaf) {
                    let place = leaf.place();
                    let edit = action(&typed, &of, &leaf).and_then(|action| file.edit(&leaf.names, action));
                    edits.entry(place.clone()).or_default().extend(edit);
                    let finding = of.finding(ctx, (file, &place), leaf.describe(), message);
                    findings.insert(place, (finding, act));
                }
            }
        }
        all.extend(findings.into_iter().map(|(place, (finding, act))| {
            ValuesOrigin::with_edits(finding, act, edits.remove(&place).unwrap_or_default())
        }));
    }
    Ok(all)
}

/// Values in `linkerd-config`. Values of older releases remain after upgrades that reuse them, and do no
/// harm, so only values that no release ever had are reported.
fn installed(ctx: &Context<'_>) -> Result<Vec<Finding>, Unjudged> {
    let (of, values) = stored_values(ctx)?;
    let home = &ctx.namespaces().control_plane;
    // The CLI writes more values there than the chart has: those that the injector reads.
    let findings = values.leaves().into_iter().filter_map(|leaf| {
        let path = leaf.path();
        let never = match of.chart.known(&path, None) {
            Known::Never(_) => !ctx.knowledge.chart_values().has(&path),
            Known::Resources(_) => true,
            Known::Taken(_) | Known::Above | Known::Gone(_) | Known::Later(_) => false,
        };
        let (message, act) = message_and_step(&of, &leaf).filter(|_| never)?;
        let (object, path) = kept_at(ctx, &leaf);
        let finding = ctx
            .finding(Subject::object(Kind::ConfigMap, home, CONFIG), message)
            .parameter(leaf.place())
            .evidence(Evidence::field(object, path, leaf.describe()))
            .evidence(of.seen.clone());
        Some(ValuesOrigin::with_step(finding, act, "in your installation values"))
    });
    Ok(findings.collect())
}

/// The message and the step for a value that the chart does not have.
fn message_and_step(of: &ValuesOrigin<'_>, leaf: &Leaf<'_>) -> Option<(String, String)> {
    let path = leaf.path();
    let release = &of.release;
    if let Some(dotted) = dotted(of, leaf) {
        let message = format!(
            "{} is a single dotted key: only --set splits such names, so in a file it has no effect",
            leaf.place()
        );
        return Some((message, format!("replace {} with nested maps for {dotted}", leaf.place())));
    }
    match of.chart.known(&path, Some(of.edge)) {
        Known::Taken(_) | Known::Above => None,
        Known::Resources(instead) => Some((
            format!(
                "{path} has the Kubernetes form of requests and limits, but the chart expects another form: \
                 it has no effect"
            ),
            format!("set {instead} instead"),
        )),
        Known::Gone(last) => Some((
            format!(
                "the chart of {release} no longer has {path}, which {last} was the last to support: it \
                     has no effect"
            ),
            format!("remove {path}"),
        )),
        Known::Later(first) => Some((
            format!(
                "the chart of {release} does not have {path} yet, which {first} is the first to support: \
                     it has no effect"
            ),
            format!("remove {path}, or install {first} or newer"),
        )),
        Known::Never(None) => Some((
            format!("no release of the chart since 2.12 has {path}: it has no effect"),
            format!("remove {path}, or look up the correct name with helm show values"),
        )),
        Known::Never(Some(meant)) => Some((
            format!("no release of the chart since 2.12 has {path}: it has no effect. Did you mean {}?", meant.path),
            format!("replace {path} with {}, or remove it", meant.path),
        )),
    }
}

/// The change that gives a value its effect, or removes it if the chart no longer has it; `None` if several are
/// possible, or another name is only a guess.
fn action(typed: &BTreeMap<&str, ChartType>, of: &ValuesOrigin<'_>, leaf: &Leaf<'_>) -> Option<ValueAction> {
    let path = leaf.path();
    let meant = match (dotted(of, leaf), of.chart.known(&path, Some(of.edge))) {
        (Some(nested), _) => nested,
        (None, Known::Gone(_)) => return Some(ValueAction::Remove),
        (None, Known::Resources(instead)) if !instead.contains(' ') => instead,
        (None, Known::Never(Some(meant))) if meant.is_spelling => meant.path,
        (None, _) => return None,
    };
    let new = corrected(typed, of, &meant, leaf.value);
    Some(ValueAction::Rename(meant.split('.').map(str::to_owned).collect(), new))
}

/// The intended path of a dotted key: in a file `proxy.cores: 1` has no effect, unlike `--set proxy.cores=1`.
fn dotted(of: &ValuesOrigin<'_>, leaf: &Leaf<'_>) -> Option<String> {
    let at = leaf.names.iter().position(|name| name.contains('.'))?;
    let above = leaf.names[..at].join(".");
    let inside_open = at > 0 && matches!(of.chart.known(&format!("{above}.x"), Some(of.edge)), Known::Taken(_));
    (!inside_open).then(|| leaf.path())
}

fn removed_value(ctx: &Context<'_>, of: &ValuesOrigin<'_>, last: crate::version::EdgeTag) -> Finding {
    let message = format!("release {} has no chart {}: {last} was the last release with one", of.release, of.name);
    let finding = ctx.finding(of.subject(), message).severity(Severity::Warning).evidence(of.seen.clone());
    ValuesOrigin::with_edits(finding, format!("remove {} from your installation", of.name), Vec::new())
}
