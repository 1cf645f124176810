//! `chart-value-unknown`: a value is set that the chart does not take.

use std::collections::BTreeMap;

use super::{BEFORE, Of, kept, kept_at};
use crate::chart::given::Leaf;
use crate::checks::control_plane::installation::CONFIG;
use crate::checks::rehearsal::CHART;
use crate::checks::{Context, Judgement, Unjudged};
use crate::finding::{Evidence, Finding, Severity, Subject};
use crate::item::Kind;
use crate::knowledge::Known;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let given = &ctx.settings.values;
    if given.is_empty() {
        return Ok(installed(ctx)?.into());
    }
    let mut findings = about_to_be(ctx)?;
    // Values of another chart say nothing of what linkerd-config keeps.
    if given.iter().all(|given| given.chart != CHART) {
        findings.extend(installed(ctx).unwrap_or_default());
    }
    Ok(findings.into())
}

/// What is about to be given. A value that several files set is told once, where it counts.
fn about_to_be(ctx: &Context<'_>) -> Result<Vec<Finding>, Unjudged> {
    let mut all = Vec::new();
    for (of, given) in Of::given(ctx)? {
        if let Some(last) = of.chart.until().filter(|last| *last < of.edge) {
            all.push(gone(ctx, &of, last));
            continue;
        }
        let mut findings: BTreeMap<String, Finding> = BTreeMap::new();
        for file in &given.files {
            for leaf in file.leaves() {
                if let Some((message, act)) = said(&of, &leaf) {
                    let place = leaf.place();
                    let finding = of.finding(ctx, (file, &place), leaf.said(), message);
                    findings.insert(place, Of::with_step(finding, act, BEFORE));
                }
            }
        }
        all.extend(findings.into_values());
    }
    Ok(all)
}

/// What `linkerd-config` keeps. Values of older releases stay there over upgrades that reuse them, and do no harm: only what no
/// release ever took is told.
fn installed(ctx: &Context<'_>) -> Result<Vec<Finding>, Unjudged> {
    let (of, values) = kept(ctx)?;
    let home = &ctx.namespaces().control_plane;
    // The command writes more there than its chart takes: what the injector reads.
    let findings = values.leaves().into_iter().filter_map(|leaf| {
        let path = leaf.path();
        let never = match of.chart.known(&path, None) {
            Known::Never(_) => !ctx.knowledge.chart_values().has(&path),
            Known::Resources(_) => true,
            Known::Taken(_) | Known::Above | Known::Gone(_) | Known::Later(_) => false,
        };
        let (message, act) = said(&of, &leaf).filter(|_| never)?;
        let (object, path) = kept_at(ctx, &leaf);
        let finding = ctx
            .finding(Subject::object(Kind::ConfigMap, home, CONFIG), message)
            .parameter(leaf.place())
            .evidence(Evidence::field(object, path, leaf.said()))
            .evidence(of.seen.clone());
        Some(Of::with_step(finding, act, "in the values that you install with"))
    });
    Ok(findings.collect())
}

/// What is wrong with a value, and what to do about it.
fn said(of: &Of<'_>, leaf: &Leaf<'_>) -> Option<(String, String)> {
    let path = leaf.path();
    let release = &of.release;
    if let Some(dotted) = dotted(of, leaf) {
        let message = format!(
            "{} is one name with a dot in it, as --set alone takes it apart: in a file it sets nothing",
            leaf.place()
        );
        return Some((
            message,
            format!("write {dotted} as maps within each other, in the place of {}", leaf.place()),
        ));
    }
    match of.chart.known(&path, Some(of.edge)) {
        Known::Taken(_) | Known::Above => None,
        Known::Resources(instead) => Some((
            format!(
                "{path} is how Kubernetes writes requests and limits, and the chart reads another form: it has no effect"
            ),
            format!("write {instead}"),
        )),
        Known::Gone(last) => Some((
            format!("the chart of {release} does not take {path} any more: {last} was the last that did"),
            format!("leave {path} out"),
        )),
        Known::Later(first) => Some((
            format!("the chart of {release} does not take {path} yet: {first} is the first that does"),
            format!("leave {path} out, or install {first} or newer"),
        )),
        Known::Never(None) => Some((
            format!("no release of the chart from 2.12 on takes {path}: it has no effect"),
            format!("leave {path} out, or look up its name with helm show values"),
        )),
        Known::Never(Some(meant)) => Some((
            format!(
                "no release of the chart from 2.12 on takes {path}: it has no effect; {meant} was perhaps meant"
            ),
            format!("write {meant} in the place of {path}, or leave it out"),
        )),
    }
}

/// The path that a name with dots in it was meant for: `proxy.cores: 1` sets nothing, as `--set proxy.cores=1` would.
fn dotted(of: &Of<'_>, leaf: &Leaf<'_>) -> Option<String> {
    let at = leaf.names.iter().position(|name| name.contains('.'))?;
    let above = leaf.names[..at].join(".");
    let inside_open =
        at > 0 && matches!(of.chart.known(&format!("{above}.x"), Some(of.edge)), Known::Taken(_));
    (!inside_open).then(|| leaf.path())
}

fn gone(ctx: &Context<'_>, of: &Of<'_>, last: crate::version::EdgeTag) -> Finding {
    let message =
        format!("there is no chart {} of {}: {last} was the last release with one", of.name, of.release);
    let finding = ctx.finding(of.subject(), message).severity(Severity::Warning).evidence(of.seen.clone());
    Of::with_step(finding, format!("take {} out of what you install", of.name), BEFORE)
}
