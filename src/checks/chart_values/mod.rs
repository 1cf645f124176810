//! Checks of values for a chart (`--values`) and of the values in `linkerd-config`: whether the chart has
//! them, reads them, and renders with them.

use super::control_plane::installation::{CONFIG, config, installed};
use super::rehearsal::CHART;
use super::{Check, row};
use crate::chart::values::Values;
use crate::chart::values_input::{Leaf, ValuesFile, ValuesInput, values_of};
use crate::checks::prelude::*;
use crate::finding::{ValueChange, ValueEdit};
use crate::knowledge::Chart;
use crate::request::Request;
use crate::version::{Channel, EdgeTag};

mod chart_name;
mod chart_value_refused;
mod chart_value_type;
mod chart_value_unknown;
mod chart_value_unread;

pub use chart_name::{NoChart, chart};

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("chart-values", "chart-value-refused", chart_value_refused),
    row!("chart-values", "chart-value-type", chart_value_type),
    row!("chart-values", "chart-value-unknown", chart_value_unknown),
    row!("chart-values", "chart-value-unread", chart_value_unread),
];

/// A chart and its release.
struct ValuesOrigin<'a> {
    name: &'a str,
    chart: &'a Chart,
    /// The release, its edge release, and its source.
    release: LinkerdVersion,
    edge: EdgeTag,
    seen: Evidence,
    /// The Flux or Argo CD object that contains the values, if any.
    by: Option<&'a str>,
}

/// The source of a chart's release.
fn release_evidence(given: &ValuesInput, release: &LinkerdVersion) -> Evidence {
    match &given.by {
        Some((object, Some((field, text)))) => Evidence::field(object, field, text),
        Some((_, None)) => Evidence::other("--linkerd-version", release.as_str()),
        None => Evidence::other("--chart", release.as_str()),
    }
}

/// The end of steps that correct values before they are applied.
const BEFORE: &str = "before the chart is applied";

impl<'a> ValuesOrigin<'a> {
    /// The findings in each file of values.
    ///
    /// # Errors
    /// As [`Of::given`].
    fn each_file(
        ctx: &Context<'a>,
        of_file: impl Fn(&Context<'a>, &ValuesOrigin<'a>, &ValuesFile) -> Vec<Finding>,
    ) -> Judgement {
        let mut findings = Vec::new();
        for (of, given) in ValuesOrigin::passed_values(ctx)? {
            given.files.iter().for_each(|file| findings.extend(of_file(ctx, &of, file)));
        }
        Ok(findings.into())
    }

    /// The charts that values are about to be passed to, and the values. Reads `deployments.apps` and
    /// `linkerd-config` if the release of a chart is not given. A chart whose release, or whose values in
    /// that release, are not known is noted as a gap, and the others are returned.
    ///
    /// # Errors
    /// No values are about to be passed to a chart, or no chart is known.
    fn passed_values(ctx: &Context<'a>) -> Result<Vec<(ValuesOrigin<'a>, &'a ValuesInput)>, Unjudged> {
        let all = &ctx.settings.values;
        if all.is_empty() {
            return Err(Unjudged::not_applicable(
                "no chart values were provided, with --values or by Flux or Argo CD objects among manifests",
            ));
        }
        let mut known = Vec::new();
        let mut unknown = None;
        for given in all {
            match ValuesOrigin::one(ctx, given) {
                Ok(of) => known.push((of, given)),
                Err(Unjudged::Missing(missing)) if all.len() > 1 => {
                    ctx.gap(missing.clone());
                    unknown = Some(Unjudged::Missing(missing));
                }
                Err(unjudged) => unknown = Some(unjudged),
            }
        }
        match unknown {
            Some(unjudged) if known.is_empty() => Err(unjudged),
            _ => Ok(known),
        }
    }

    fn one(ctx: &Context<'a>, given: &'a ValuesInput) -> Result<ValuesOrigin<'a>, Unjudged> {
        let (release, seen) = match (&given.release, ctx.upgrade()) {
            (Some(release), _) => (release.clone(), release_evidence(given, release)),
            (None, Some(upgrade)) => (upgrade.to.clone(), upgrade.evidence()),
            (None, None) => installed(ctx)?.ok_or_else(|| {
                Unjudged::not_applicable("no control plane is installed, and the release of the chart is not given")
            })?,
        };
        let by = given.by.as_ref().map(|(object, _)| object.as_str());
        Ok(ValuesOrigin { by, ..ValuesOrigin::chart(ctx, &given.chart, release, seen)? })
    }

    fn chart(
        ctx: &Context<'a>,
        name: &'a str,
        release: LinkerdVersion,
        seen: Evidence,
    ) -> Result<ValuesOrigin<'a>, Unjudged> {
        let charts = ctx.knowledge.charts();
        let unknown = || {
            let (first, through) = charts.range();
            let message = format!("chart values are known from {first} to {through}, but this chart is of {release}");
            Missing::part(
                Request::new(Item::List(Kind::Deployment)),
                Why::NotJudged { message },
                format!("chart {name}"),
            )
        };
        let chart = charts.get(name).ok_or_else(unknown)?;
        let edge = release.presumed_edge(ctx.knowledge.minors()).filter(|edge| charts.covers(*edge));
        Ok(ValuesOrigin { name, chart, edge: edge.ok_or_else(unknown)?, release, seen, by: None })
    }

    fn subject(&self) -> Subject {
        Subject::Thing { thing: values_of(self.name, self.by) }
    }

    /// A finding about a value, with its location.
    fn finding(&self, ctx: &Context<'a>, place: (&ValuesFile, &str), said: String, message: String) -> Finding {
        let (file, path) = place;
        ctx.finding(self.subject(), message)
            .parameter(path)
            .evidence(Evidence::field(&file.name, file.field(path), said))
            .evidence(self.seen.clone())
    }

    /// Adds the step that repairs a finding; `when` ends its text.
    fn with_step(finding: Finding, act: String, when: &str) -> Finding {
        let mut letters = act.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let act: String = first.into_iter().chain(letters).collect();
        finding.remedy(Remedy::new().step(StepKind::ChartValue, format!("{act}, {when}")))
    }

    /// Adds the step that repairs a finding before the chart is applied, with its edits of the values.
    fn with_edits(finding: Finding, act: String, edits: Vec<ValueEdit>) -> Finding {
        let mut finding = ValuesOrigin::with_step(finding, act, BEFORE);
        finding.remedy = finding.remedy.value(ValueChange::new(edits));
        finding
    }
}

/// The values in `linkerd-config` and their chart.
///
/// # Errors
/// No values or no control plane, or a distribution whose charts have values of their own.
fn stored_values<'a>(ctx: &Context<'a>) -> Result<(ValuesOrigin<'a>, Values), Unjudged> {
    let values = config(ctx)?.and_then(crate::objects::ConfigMap::chart_values);
    let Some(values) = values else {
        return Err(Unjudged::not_applicable("linkerd-config contains no values"));
    };
    let Some((release, seen)) = installed(ctx)? else {
        return Err(Unjudged::not_applicable("no control plane is installed"));
    };
    if release.channel() == Channel::Enterprise || values.text("license").is_some() {
        return Err(Unjudged::not_applicable("the charts of this distribution have their own values"));
    }
    Ok((ValuesOrigin::chart(ctx, CHART, release, seen)?, values))
}

/// The object and path of a value in `linkerd-config`.
fn kept_at(ctx: &Context<'_>, leaf: &Leaf<'_>) -> (String, String) {
    (format!("ConfigMap {}/{CONFIG}", ctx.namespaces().control_plane), format!("data.values: {}", leaf.place()))
}

/// Whether another tool replaces a string before the chart reads it: Flux and envsubst `${NAME}`, Argo CD `$NAME`,
/// templates `{{ }}` and `[[ ]]`, Argo CD plugins `<path:...>`, SOPS `ENC[...]`, helmfile `ref+...`, and the marks
/// `@NAME@`, `__NAME__`, `#{NAME}` and `%{NAME}`.
pub(super) fn is_put_in(value: &serde_yaml::Value) -> bool {
    let marked = |text: &str| {
        let is_within = |mark: &str| text.len() > 2 * mark.len() && text.starts_with(mark) && text.ends_with(mark);
        ["${", "$(", "#{", "%{", "{{", "[["].iter().any(|mark| text.contains(mark))
            || text.strip_prefix('$').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
            || is_within("@")
            || is_within("__")
            || text.starts_with("ref+")
            || text.starts_with("ENC[")
            || (text.starts_with('<') && text.ends_with('>'))
    };
    value.as_str().is_some_and(marked)
}
