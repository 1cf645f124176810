//! Checks of values that are about to be given to a chart (`--values`), and of those that `linkerd-config` keeps of one: whether
//! the chart takes them, reads them, and can be rendered with them.

use super::control_plane::installation::{CONFIG, config, installed};
use super::rehearsal::CHART;
use super::{Check, Context, Unjudged, row};
use crate::chart::given::{Given, Leaf};
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
}

/// When values that are about to be given are put right.
const BEFORE: &str = "before the chart is applied";

impl<'a> Of<'a> {
    /// The chart that values are about to be given to. Reads `deployments.apps` and `linkerd-config` where nobody said which
    /// release it is of.
    ///
    /// # Errors
    /// No values are about to be given; or it is not known which release the chart is of, or what that one takes.
    fn given(ctx: &Context<'a>) -> Result<(Of<'a>, &'a Given), Unjudged> {
        let Some(given) = &ctx.settings.values else {
            return Err(Unjudged::not_applicable(
                "asked of values that are about to be given to a chart, with --values",
            ));
        };
        let (release, seen) = match (&given.release, ctx.upgrade()) {
            (Some(release), _) => (release.clone(), Evidence::other("--chart", release.as_str())),
            (None, Some(upgrade)) => (upgrade.to.clone(), upgrade.evidence()),
            (None, None) => installed(ctx)?.ok_or_else(|| {
                Unjudged::not_applicable("no control plane is installed, and --chart names no release")
            })?,
        };
        Ok((Of::chart(ctx, &given.chart, release, seen)?, given))
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
        Ok(Of { name, chart, edge: edge.ok_or_else(unknown)?, release, seen })
    }

    fn subject(&self) -> Subject {
        Subject::Thing { thing: format!("values of {}", self.name) }
    }

    /// A finding about a value, with where it stands.
    fn finding(&self, ctx: &Context<'a>, place: (&str, &str), said: String, message: String) -> Finding {
        let (file, path) = place;
        ctx.finding(self.subject(), message)
            .parameter(path)
            .evidence(Evidence::field(file, path, said))
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
