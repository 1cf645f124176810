//! Helm commands: the reference of a release's charts, and changes of an installed release: the control plane
//! at its installed chart version, the CRDs at another.

use super::Options;
use super::held_charts::{exactly, is_one_chart, only_if_named_holds, only_with_chart, version_script};
use crate::checks::prelude::*;
use crate::command::{Call, Line, helm, program};
use crate::knowledge::Knowledge;
use crate::model::managed_by::Release;

/// A chart, and the placeholder for it if no public chart is known.
pub(in crate::checks) type Chart = (&'static str, &'static str);
/// The chart of the control plane.
pub(in crate::checks) const CONTROL_PLANE: Chart = ("linkerd-control-plane", "CONTROL_PLANE_CHART");
/// The chart of the CRDs.
pub(in crate::checks) const CRDS_CHART: Chart = ("linkerd-crds", "CRDS_CHART");

/// The chart of both until 2.11.
const ONE_CHART: Chart = ("linkerd2", CONTROL_PLANE.1);

/// The reference with which Helm finds a release's chart. Adds the line for its repository, if a public one
/// is known.
pub(in crate::checks) fn chart_of(
    knowledge: &Knowledge,
    lines: &mut Vec<Line>,
    version: Option<&LinkerdVersion>,
    chart: Chart,
) -> Arg {
    let (chart, unknown) = chart;
    let origin = version.and_then(|version| knowledge.channels().origin(version));
    match origin.and_then(|origin| Some((origin, origin.chart(chart)?))) {
        Some((origin, chart)) => {
            let add = helm().words("repo add").arg(origin.repository.clone()).arg(origin.address.clone());
            lines.push(Line::from(add.words("--force-update").offline()));
            Arg::from(format!("{}/{chart}", origin.repository))
        }
        None => Arg::placeholder(unknown),
    }
}

/// Changes values of the control plane at the installed chart version.
pub(super) fn by_helm(
    knowledge: &Knowledge,
    release: Release<'_>,
    version: Option<&LinkerdVersion>,
    options: &Options<'_>,
) -> Command {
    let mut lines = Vec::new();
    let origin = version.and_then(|version| knowledge.channels().origin(version));
    let within = |path: &str| origin.map_or_else(|| path.to_owned(), |origin| origin.value(CONTROL_PLANE.0, path));
    // Values for high availability are files of the chart, unless it is a vendor's.
    let comes_with = origin.is_some_and(|origin| origin.within(CONTROL_PLANE.0).is_none());
    let chart = match version.is_some_and(|version| is_one_chart(knowledge, version)) {
        true => ONE_CHART,
        false => CONTROL_PLANE,
    };
    let reference = chart_of(knowledge, &mut lines, version, chart);
    lines.push(installed_chart(release, version_script(knowledge, chart.0, version)));
    let chart_version = || Arg::variable("CHART");
    if options.ha && comes_with {
        let pull = helm().words("pull").operand(reference.clone()).option("--version", chart_version());
        lines.push(Line::from(pull.words("--untar").offline()));
    }
    let upgrade = helm()
        .words("upgrade")
        .operand(release.name)
        .operand(reference)
        .namespace(release.namespace)
        .option("--version", chart_version())
        .words("--reuse-values");
    let upgrade = match options.ha {
        true if comes_with => upgrade.option("-f", format!("{}/values-ha.yaml", chart.0)),
        true => upgrade.option("-f", Arg::placeholder("HA_VALUES")),
        false => upgrade,
    };
    let upgrade = options.settings(within).fold(upgrade, |upgrade, set| upgrade.option("--set", set));
    let upgrade = options
        .files
        .iter()
        .fold(upgrade, |upgrade, (_, path, file)| upgrade.option("--set-file", format!("{}={file}", within(path))));
    lines.push(if_chart_known(upgrade));
    Command::lines(lines).whole()
}

/// `CHART=…`: the version of the installed chart, empty without such a release.
pub(in crate::checks) fn installed_chart(release: Release<'_>, script: impl Into<Arg>) -> Line {
    let list =
        helm().words("list").namespace(release.namespace).option("--filter", exactly(release.name)).words("-o yaml");
    Line::set("CHART", Arg::output(list.pipe(program("sed").words("-n").arg(script))))
}

/// Runs a call only if the chart's version is known: without a version Helm uses the newest chart.
pub(in crate::checks) fn if_chart_known(call: Call) -> Line {
    Line::shell("if [ -n \"$CHART\" ]; then")
        .call(call)
        .and_shell("; else echo")
        .arg("nothing was changed: helm lists no such release of this chart")
        .and_shell(">&2; false; fi")
}

/// The chart of the CRDs is a separate Helm release, whose name only the CRDs contain.
pub(in crate::checks) fn crds_by_helm(
    knowledge: &Knowledge,
    release: Option<Release<'_>>,
    wanted: &LinkerdVersion,
) -> Command {
    let mut lines = Vec::new();
    let reference = chart_of(knowledge, &mut lines, Some(wanted), CRDS_CHART);
    let version = chart_number(knowledge, CRDS_CHART.0, wanted);
    if version.is_none() && knowledge.channels().origin(wanted).is_some() {
        let search = helm().words("search repo").operand(reference.clone()).words("--versions");
        lines.push(Line::from(search.offline()));
    }
    let (name, namespace) = match release {
        Some(release) => (Arg::from(release.name), Arg::from(release.namespace)),
        None => {
            lines.push(Line::from(helm().words("list -A --filter crds")));
            (Arg::placeholder("CRDS_RELEASE"), Arg::placeholder("CRDS_NAMESPACE"))
        }
    };
    let upgrade = helm()
        .words("upgrade")
        .operand(name.clone())
        .operand(reference)
        .option("-n", namespace.clone())
        .option("--version", version.map_or_else(|| Arg::placeholder("CHART_VERSION"), Arg::from))
        .words("--reuse-values");
    lines.push(match release {
        Some(release) => only_with_chart(knowledge, release, (CRDS_CHART.0, Some(wanted)), upgrade),
        None => only_if_named_holds(knowledge, (name, namespace), CRDS_CHART.0, upgrade),
    });
    Command::lines(lines)
}

/// The version of a chart for a release, if known.
pub(in crate::checks) fn chart_number(knowledge: &Knowledge, chart: &str, of: &LinkerdVersion) -> Option<String> {
    // The numbering is unknown for a chart that the channel is not known to have.
    knowledge.channels().origin(of).is_none_or(|origin| origin.chart(chart).is_some()).then_some(())?;
    knowledge.charts().version_of(chart, of)
}
