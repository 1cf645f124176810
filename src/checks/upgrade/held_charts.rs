//! The charts that a Helm release holds. `helm upgrade` deletes the objects of a release that the given chart lacks, so
//! a printed one runs only if the release holds that chart, and none is printed for a chart of the user that contains
//! several of Linkerd's.

use std::collections::BTreeSet;

use super::{CONTROL_PLANE, CRDS, CRDS_CHART};
use crate::checks::prelude::*;
use crate::command::{Call, Line, helm, program};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::Knowledge;
use crate::model::cni;
use crate::model::control_plane::{components, installed};
use crate::model::managed_by::{ManagedBy, Release};
use crate::objects::{CustomResourceDefinition, DaemonSet};
use crate::version::Minor;

/// The chart of linkerd-cni.
const CNI_CHART: &str = "linkerd2-cni";

/// A chart of the user that contains several charts of Linkerd, by its release.
#[derive(Debug, Clone)]
pub(in crate::checks) struct OwnChart<'a> {
    pub(in crate::checks) release: Release<'a>,
    /// The charts of Linkerd in it.
    charts: BTreeSet<&'static str>,
}

/// The user's chart that a release holds, if objects of several charts of Linkerd belong to the release. Only the steps
/// may depend on it.
pub(in crate::checks) fn own_chart<'a>(ctx: &Context<'_>, release: Release<'a>) -> Option<OwnChart<'a>> {
    let is_of = |meta: &Meta| ManagedBy::from_metadata(meta).release() == Some(release);
    let mut charts: BTreeSet<&'static str> = BTreeSet::new();
    let deployments = ctx.for_steps::<Deployment>();
    let home = ctx.namespaces().control_plane.as_str();
    if components(deployments, home).iter().any(|one| is_of(&one.deployment.metadata)) {
        charts.insert(CONTROL_PLANE.0);
    }
    let of_crds = |one: &CustomResourceDefinition| {
        CRDS.contains(&one.metadata.name.as_str())
            && ManagedBy::from_labels(&one.metadata.labels, &one.metadata.annotations).release() == Some(release)
    };
    if ctx.for_steps::<CustomResourceDefinition>().iter().any(of_crds) {
        charts.insert(CRDS_CHART.0);
    }
    for deployment in deployments.iter().filter(|one| is_of(&one.metadata)) {
        let extension = deployment.metadata.label(EXTENSION_LABEL).and_then(Extension::from_name);
        charts.extend(extension.map(Extension::chart));
    }
    // Until 2.11 the chart linkerd2 contained both.
    let stated = ctx.upgrade().and_then(|upgrade| upgrade.from.clone());
    let installed = stated.or_else(|| installed(deployments, None, home).map(|(version, _)| version));
    if installed.is_some_and(|version| is_one_chart(ctx.knowledge, &version)) {
        charts.remove(CRDS_CHART.0);
    }
    if ctx.for_steps::<DaemonSet>().iter().any(|set| cni::is_installer(set) && is_of(&set.metadata)) {
        charts.insert(CNI_CHART);
    }
    (charts.len() > 1).then_some(OwnChart { release, charts })
}

/// The first release with charts for the CRDs and the control plane.
const TWO_CHARTS: Minor = Minor::new(2, 12);

/// Whether one chart, linkerd2, contains the CRDs and the control plane of a release.
pub(in crate::checks) fn is_one_chart(knowledge: &Knowledge, version: &LinkerdVersion) -> bool {
    let oldest = knowledge.releases().rows().first().map(|row| row.opened_by);
    let is_older = |edge| oldest.is_some_and(|oldest| edge < oldest);
    version.minor(knowledge.minors()).is_some_and(|minor| minor < TWO_CHARTS) || version.edge().is_some_and(is_older)
}

impl OwnChart<'_> {
    /// The reason why no chart of Linkerd may be given to the release.
    pub(in crate::checks) fn reason(&self) -> String {
        format!(
            "Release {} holds a chart of yours with {}. Never give Helm one of these alone: it would delete the rest",
            self.release.name,
            self.listed()
        )
    }

    /// The charts of Linkerd in it, as words.
    fn listed(&self) -> String {
        let mut charts: Vec<&str> = self.charts.iter().copied().collect();
        let last = charts.pop().unwrap_or_default();
        match charts.as_slice() {
            [] => last.to_owned(),
            others => format!("{} and {last}", others.join(", ")),
        }
    }

    /// Adds the step that upgrades one of its charts to a version; `set` are values that keep the current behavior.
    pub(in crate::checks) fn upgraded(
        &self,
        remedy: Remedy,
        act: &str,
        (chart, version): (&str, Option<&str>),
        set: &[String],
    ) -> Remedy {
        let version = version.map_or_else(|| "that release".to_owned(), |version| format!("version {version}"));
        let set = match set {
            [] => String::new(),
            set => format!(". To keep the current behavior, set {} below {chart} in its values", set.join(" and ")),
        };
        let text = format!(
            "{act}. {}. Set {chart} to {version} under dependencies of its Chart.yaml{set}. \
             MESH_CHART is your chart",
            self.reason()
        );
        let source = || Arg::placeholder("MESH_CHART");
        let updated = helm().words("dependency update").operand(source()).offline();
        let upgrade = helm().words("upgrade").operand(self.release.name).operand(source());
        let upgrade = upgrade.namespace(self.release.namespace).words("--reset-then-reuse-values");
        remedy.run(StepKind::Upgrade, text, Command::lines([Line::from(updated), Line::from(upgrade)]).whole())
    }

    /// The effect of a rollback of its release.
    pub(in crate::checks) fn all_go_back(&self) -> String {
        let crds = match self.charts.contains(CRDS_CHART.0) {
            true => ", and older CRDs may lack a version in which objects are stored by now",
            false => "",
        };
        format!("{} go back together{crds}", self.listed())
    }

    /// The text of a step that sets values of one of its charts.
    pub(in crate::checks) fn set_text(&self, act: &str, chart: &str, set: &str) -> String {
        format!("{act}{set}: below {chart}, or its alias, in the values of that release. {}", self.reason())
    }
}

/// The names of a chart in all channels, as a pattern of `grep -E`. A vendor's chart with an unknown name ends like
/// that of the open-source project.
fn pattern(knowledge: &Knowledge, chart: &str, version: Option<&LinkerdVersion>) -> String {
    let names = knowledge.channels().names(chart);
    match version.is_some_and(|version| knowledge.channels().origin(version).is_none()) {
        true => format!("^ *chart: .*{}-v?[0-9]", chart.strip_prefix("linkerd").unwrap_or(chart)),
        false => match names.as_slice() {
            [one] => format!("^ *chart: {one}-v?[0-9]"),
            names => format!("^ *chart: ({})-v?[0-9]", names.join("|")),
        },
    }
}

/// Runs `helm upgrade` only if the release holds the chart; `version` is the target, if it is known.
pub(in crate::checks) fn only_with_chart(
    knowledge: &Knowledge,
    release: Release<'_>,
    (chart, version): (&str, Option<&LinkerdVersion>),
    upgrade: Call,
) -> Line {
    let list = helm().words("list").namespace(release.namespace);
    let list = list.option("--filter", exactly(release.name)).words("-o yaml");
    let is_held = program("grep").words("-E").arg(pattern(knowledge, chart, version));
    list.pipe(is_held).and(upgrade)
}

/// The same for a release whose name the reader sets.
pub(in crate::checks) fn only_if_named_holds(
    knowledge: &Knowledge,
    (name, namespace): (Arg, Arg),
    chart: &str,
    upgrade: Call,
) -> Line {
    let last = helm().words("history").operand(name).option("-n", namespace).words("--max 1 -o yaml");
    last.pipe(program("grep").words("-E").arg(pattern(knowledge, chart, None))).and(upgrade)
}

/// The filter for a release. In Kubernetes names only dots have a meaning in patterns.
pub(in crate::checks) fn exactly(name: &str) -> String {
    format!("^{}$", name.replace('.', "\\."))
}

/// The script for `sed -n` that prints the version of a chart in a list of releases.
pub(in crate::checks) fn version_script(
    knowledge: &Knowledge,
    chart: &str,
    version: Option<&LinkerdVersion>,
) -> String {
    let origin = version.and_then(|version| knowledge.channels().origin(version));
    let name = match origin.and_then(|origin| origin.chart(chart)) {
        Some(known) => known.to_owned(),
        None => format!(".*{}", chart.strip_prefix("linkerd-").unwrap_or(chart)),
    };
    format!("s/^ *chart: {name}-\\([0-9v].*\\)$/\\1/p")
}
