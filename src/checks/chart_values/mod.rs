//! Checks of values that are about to be given to a chart (`--values`), and of those that `linkerd-config` keeps of one: whether
//! the chart takes them, reads them, and can be rendered with them.

use super::control_plane::installation::{CONFIG, config, installed};
use super::rehearsal::CHART;
use super::{Check, Context, Unjudged, row};
use crate::chart::given::{Given, Leaf, ValuesFile};
use crate::chart::values::Values;
use crate::fetched::Why;
use crate::finding::{Evidence, Finding, Remedy, StepKind, Subject};
use crate::item::{Item, Kind};
use crate::knowledge::Chart;
use crate::missing::Missing;
use crate::request::Request;
use crate::version::{Channel, EdgeTag, LinkerdVersion};

mod chart_value_refused;
mod chart_value_type;
mod chart_value_unknown;
mod chart_value_unread;
mod named;

pub use named::{NoChart, chart};

/// In alphabetical order.
pub(super) static TABLE: &[Check] = &[
    row!("chart-values", "chart-value-refused", chart_value_refused),
    row!("chart-values", "chart-value-type", chart_value_type),
    row!("chart-values", "chart-value-unknown", chart_value_unknown),
    row!("chart-values", "chart-value-unread", chart_value_unread),
];

/// Values, the chart that they are for, and its release.
struct Of<'a> {
    name: &'a str,
    chart: &'a Chart,
    /// The release, its edge, and where it was seen.
    release: LinkerdVersion,
    edge: EdgeTag,
    seen: Evidence,
    /// The object that gives the values, where one does.
    by: Option<&'a str>,
}

/// Where the release of a chart was said.
fn told(given: &Given, release: &LinkerdVersion) -> Evidence {
    match &given.by {
        Some((object, Some((field, text)))) => Evidence::field(object, field, text),
        Some((_, None)) => Evidence::other("--linkerd-version", release.as_str()),
        None => Evidence::other("--chart", release.as_str()),
    }
}

/// When values that are about to be given are put right.
const BEFORE: &str = "before the chart is applied";

impl<'a> Of<'a> {
    /// The charts that values are about to be given to, and the values. Reads `deployments.apps` and `linkerd-config` where nobody
    /// said which release one is of. Of which release one is, or what that takes, may not be known: then it is noted, and the others
    /// are there.
    ///
    /// # Errors
    /// No values are about to be given; or nothing is known of any of them.
    fn given(ctx: &Context<'a>) -> Result<Vec<(Of<'a>, &'a Given)>, Unjudged> {
        let all = &ctx.settings.values;
        if all.is_empty() {
            return Err(Unjudged::not_applicable(
                "asked of values that are about to be given to a chart, with --values or by objects among manifests",
            ));
        }
        let mut known = Vec::new();
        let mut unknown = None;
        for given in all {
            match Of::one(ctx, given) {
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

    fn one(ctx: &Context<'a>, given: &'a Given) -> Result<Of<'a>, Unjudged> {
        let (release, seen) = match (&given.release, ctx.upgrade()) {
            (Some(release), _) => (release.clone(), told(given, release)),
            (None, Some(upgrade)) => (upgrade.to.clone(), upgrade.evidence()),
            (None, None) => installed(ctx)?.ok_or_else(|| {
                Unjudged::not_applicable(
                    "no control plane is installed, and nothing names the release of the chart",
                )
            })?,
        };
        let by = given.by.as_ref().map(|(object, _)| object.as_str());
        Ok(Of { by, ..Of::chart(ctx, &given.chart, release, seen)? })
    }

    fn chart(
        ctx: &Context<'a>,
        name: &'a str,
        release: LinkerdVersion,
        seen: Evidence,
    ) -> Result<Of<'a>, Unjudged> {
        let charts = ctx.knowledge.charts();
        let unknown = || {
            let (first, through) = charts.range();
            let message = format!(
                "the values of charts are known from {first} to {through}, and this one is of {release}"
            );
            Missing::part(
                Request::of(Item::List(Kind::Deployment)),
                Why::Malformed { message },
                format!("chart {name}"),
            )
        };
        let chart = charts.get(name).ok_or_else(unknown)?;
        let edge = release.presumed_edge(ctx.knowledge.minors()).filter(|edge| charts.covers(*edge));
        Ok(Of { name, chart, edge: edge.ok_or_else(unknown)?, release, seen, by: None })
    }

    fn subject(&self) -> Subject {
        let by = self.by.map_or_else(String::new, |object| format!(", {object}"));
        Subject::Thing { thing: format!("values of {}{by}", self.name) }
    }

    /// A finding about a value, with where it stands.
    fn finding(
        &self,
        ctx: &Context<'a>,
        place: (&ValuesFile, &str),
        said: String,
        message: String,
    ) -> Finding {
        let (file, path) = place;
        ctx.finding(self.subject(), message)
            .parameter(path)
            .evidence(Evidence::field(&file.name, file.field(path), said))
            .evidence(self.seen.clone())
    }

    /// A finding with the one step that takes it away, and when that is to be done.
    fn with_step(finding: Finding, act: String, when: &str) -> Finding {
        let mut letters = act.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        let act: String = first.into_iter().chain(letters).collect();
        finding.remedy(Remedy::new().step(StepKind::ChartValue, format!("{act}, {when}")))
    }
}

/// The values that `linkerd-config` keeps, with what their chart is; nothing where they are about to be given anew, or where they
/// are of a distribution whose charts take more.
fn kept<'a>(ctx: &Context<'a>) -> Result<(Of<'a>, Values), Unjudged> {
    let values = config(ctx)?.and_then(crate::objects::ConfigMap::chart_values);
    let Some(values) = values else {
        return Err(Unjudged::not_applicable("linkerd-config keeps no values"));
    };
    let Some((release, seen)) = installed(ctx)? else {
        return Err(Unjudged::not_applicable("no control plane is installed"));
    };
    if release.channel() == Channel::Enterprise || values.text("license").is_some() {
        return Err(Unjudged::not_applicable("the charts of this distribution take values of their own"));
    }
    Ok((Of::chart(ctx, CHART, release, seen)?, values))
}

/// Where `linkerd-config` keeps a value.
fn kept_at(ctx: &Context<'_>, leaf: &Leaf<'_>) -> (String, String) {
    (
        format!("ConfigMap {}/{CONFIG}", ctx.namespaces().control_plane),
        format!("data.values: {}", leaf.place()),
    )
}

/// Whether another tool puts something in the place of a text before the chart sees it: Flux and envsubst in that of `${NAME}`, templates
/// in that of `{{ }}`, plugins of Argo CD in that of `<path:...>`, SOPS in that of `ENC[...]`.
fn is_put_in(value: &serde_yaml::Value) -> bool {
    let marked = |text: &str| {
        text.contains("${")
            || text.contains("{{")
            || text.starts_with("ENC[")
            || (text.starts_with('<') && text.ends_with('>'))
    };
    value.as_str().is_some_and(marked)
}
