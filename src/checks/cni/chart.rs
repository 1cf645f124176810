//! Steps that change a value of linkerd-cni's chart with the tool that installed it. Helm keeps its values.
//! The linkerd CLI keeps none, so the values that the cluster shows are passed again. GitOps values are
//! changed in Git.

pub(super) use super::chart_value::{ChartValue, image_version};
use super::installed_options::{MODE, carried, replaced_mode};
use super::target::{CniDaemonSet, target};
use crate::checks::prelude::*;
use crate::checks::upgrade::{exactly, only_if_named_holds, only_with_chart, own_chart};
use crate::checks::upgrades::gitops::{committed, synced};
use crate::command::{Call, Line, helm, helm_set, linkerd, program};
use crate::finding::{ChartSetting, ChartSettings};
use crate::model::control_plane::{CREATED_BY, installed};
use crate::model::managed_by::{Installer, Release};
use crate::version::CniVersion;

const CHART: &str = "linkerd2-cni";
/// The file to which the CLI renders manifests that are in Git.
const FILE: &str = "linkerd-cni.yaml";
/// The chart repository of edge releases.
const EDGE: &str = "https://helm.linkerd.io/edge";
/// The default namespace of `linkerd install-cni`.
const USUAL: &str = "linkerd-cni";

/// The values, for values files.
fn settings(values: &[ChartValue]) -> Option<ChartSettings> {
    let each = values.iter().map(|one| ChartSetting::Value {
        path: one.key.to_owned(),
        value: one.value.clone(),
        is_text: one.text,
    });
    ChartSettings::new(CHART, each.collect())
}

fn with(call: Call, values: &[ChartValue]) -> Call {
    values.iter().fold(call, |call, value| {
        let option = if value.text { "--set-string" } else { "--set" };
        call.option(option, helm_set(value.key, &value.value))
    })
}

/// Adds the steps that set values of the installed chart, or of another version (`chart`); `words` is their
/// text. Reads `daemonsets.apps` and `configmaps/cni/linkerd-cni-config`.
pub(super) fn set(
    ctx: &Context<'_>,
    remedy: Remedy,
    words: impl Into<String>,
    chart: Option<&str>,
    values: &[ChartValue],
) -> Remedy {
    let target = target(ctx);
    let words = words.into();
    let Some(managed_by) = target.managed_by else {
        return unknown(ctx, &target, remedy, &words, chart, values);
    };
    if let Some(owner) = managed_by.gitops.filter(|_| managed_by.is_rendered_by_cli()) {
        let remedy = by_cli(ctx, &target, remedy, (&words, Some(FILE)), chart, values);
        return committed(remedy, owner, FILE);
    }
    if let Some(in_git) = managed_by.in_git() {
        let with = if values.is_empty() { String::new() } else { format!(" ({})", listed(values)) };
        let remedy = remedy.step(StepKind::ChartValue, format!("{words}{with}; {in_git}")).settings(settings(values));
        return match managed_by.gitops {
            Some(owner) => synced(remedy, owner),
            None => remedy,
        };
    }
    // Vendors have their own charts and repositories.
    let vendors = matches!(target.version, Some(CniVersion::Unknown(_)) | None);
    match managed_by.installer {
        Some(Installer::Release(release)) if vendors => remedy.run(
            StepKind::ChartValue,
            format!(
                "{words} ({}): upgrade the Helm release with these values, from the vendor's repository and \
                 at the chart version that this command shows",
                listed(values)
            ),
            releases(release),
        ),
        Some(Installer::Release(release)) => match own_chart(ctx, release) {
            Some(own) => {
                let set = format!(" ({})", listed(values));
                remedy.step(StepKind::ChartValue, own.set_text(&words, CHART, &set)).settings(settings(values))
            }
            None => {
                remedy.run(StepKind::ChartValue, words, by_helm(ctx, release, chart, values)).chart(settings(values))
            }
        },
        Some(Installer::Chart) => remedy
            .step(
                StepKind::ChartValue,
                match values {
                    [] => format!("{words}. Render the chart {CHART} with the same tool as before, and apply it"),
                    some => format!(
                        "{words}. Add {} to the values of the chart {CHART}, render it and apply it",
                        listed(some)
                    ),
                },
            )
            .settings(settings(values)),
        Some(Installer::Cli) => by_cli(ctx, &target, remedy, (&words, None), chart, values),
        None => unknown(ctx, &target, remedy, &words, chart, values),
    }
}

/// Adds the steps that upgrade linkerd-cni to a version, with the chart of a Linkerd release. Reads the same
/// evidence as [`set`].
pub(in crate::checks) fn onto(
    ctx: &Context<'_>,
    remedy: Remedy,
    version: &CniVersion,
    release: &LinkerdVersion,
) -> Remedy {
    let chart = release.edge().map(|edge| format!("20{}.{}.{}", edge.year, edge.month, edge.number));
    let words = format!("Upgrade linkerd-cni to {version}, and wait until its DaemonSet is ready on every node");
    // The default of the mode changes with releases of the chart.
    let mode = carried(ctx, &target(ctx)).into_iter().find(|value| value.key == MODE);
    let values: Vec<ChartValue> = std::iter::once(image_version(version)).chain(mode).collect();
    set(ctx, remedy, words, chart.as_deref(), &values)
}

fn listed(values: &[ChartValue]) -> String {
    match values {
        [] => "with the same values".to_owned(),
        some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// The steps if the installing tool is not known.
fn unknown(
    ctx: &Context<'_>,
    target: &CniDaemonSet<'_>,
    remedy: Remedy,
    words: &str,
    chart: Option<&str>,
    values: &[ChartValue],
) -> Remedy {
    let columns = "custom-columns=NAMESPACE:.metadata.namespace,NAME:.metadata.name,\
                   TOOL:.metadata.annotations.linkerd\\.io/created-by,\
                   RELEASE:.metadata.annotations.meta\\.helm\\.sh/release-name,\
                   RELEASE_NAMESPACE:.metadata.annotations.meta\\.helm\\.sh/release-namespace";
    let look = kubectl().words("get daemonsets -A -l linkerd.io/cni-resource=true -o").arg(columns);
    let remedy = remedy.run(StepKind::Note, "Find out whether Helm or the linkerd CLI installed linkerd-cni", look);
    let release = HelmRelease { name: Arg::placeholder("RELEASE"), namespace: Arg::placeholder("RELEASE_NAMESPACE") };
    let upgrade = match chart {
        Some(chart) => release.to_chart(chart, values),
        None => release.upgrade(Arg::placeholder("CHART_VERSION"), "--reuse-values", values),
    };
    let by_helm = only_if_named_holds(ctx.knowledge, (release.name, release.namespace), CHART, upgrade);
    let remedy = remedy.run(StepKind::ChartValue, format!("{words} (if Helm installed it)"), by_helm);
    let applied = cli(ctx, target, values).pipe(kubectl().words("apply -f -"));
    remedy
        .run(StepKind::ChartValue, format!("{words} (if the linkerd CLI installed it)"), applied)
        .chart(settings(values))
}

/// A release of Helm, as arguments.
struct HelmRelease {
    name: Arg,
    namespace: Arg,
}

impl HelmRelease {
    fn from_release(release: Release<'_>) -> HelmRelease {
        HelmRelease { name: release.name.into(), namespace: release.namespace.into() }
    }

    fn upgrade(&self, version: impl Into<Arg>, keep: &'static str, values: &[ChartValue]) -> Call {
        let upgrade = helm()
            .words("upgrade")
            .operand(self.name.clone())
            .words(CHART)
            .option("--repo", EDGE)
            .option("-n", self.namespace.clone())
            .option("--version", version)
            .words(keep);
        with(upgrade, values)
    }

    /// Upgrades to another chart version of the edge releases: values that are new in it get its defaults.
    fn to_chart(&self, chart: &str, values: &[ChartValue]) -> Call {
        self.upgrade(chart, "--reset-then-reuse-values", values)
    }
}

fn by_helm(ctx: &Context<'_>, release: Release<'_>, chart: Option<&str>, values: &[ChartValue]) -> Command {
    match chart {
        Some(chart) => {
            let upgrade = HelmRelease::from_release(release).to_chart(chart, values);
            only_with_chart(ctx.knowledge, release, (CHART, None), upgrade).into()
        }
        None => same_chart(release, CHART, "s/^ *chart: linkerd2-cni-//p", REPOSITORY, values),
    }
}

/// Charts of edge releases begin with their year, or end with `-edge` before 2024; those of stable releases are in
/// another repository.
const REPOSITORY: &str = "case \"$CHART\" in 20*|*-edge) REPO=https://helm.linkerd.io/edge ;; *) \
                          REPO=https://helm.linkerd.io/stable ;; esac";

/// Sets values of a release at its installed chart version: without `--version` Helm uses the newest.
pub(super) fn same_chart(
    release: Release<'_>,
    chart: &'static str,
    version: &'static str,
    repository: &'static str,
    values: &[ChartValue],
) -> Command {
    let HelmRelease { name, namespace } = HelmRelease::from_release(release);
    let installed = listing(release).words("-o yaml").pipe(program("sed").words("-n").arg(version));
    let upgrade = helm()
        .words("upgrade")
        .operand(name)
        .words(chart)
        .option("--repo", Arg::variable("REPO"))
        .option("-n", namespace)
        .option("--version", Arg::variable("CHART"))
        .words("--reuse-values");
    let guarded = Line::shell("if [ -n \"$CHART\" ]; then")
        .call(with(upgrade, values))
        .and_shell("; else echo")
        .arg(format!("no release {} of the chart {chart} in {}", release.name, release.namespace))
        .and_shell(">&2; fi");
    Command::lines([Line::set("CHART", Arg::output(installed)), Line::shell(repository), guarded]).whole()
}

fn listing(release: Release<'_>) -> Call {
    helm().words("list").option("-n", release.namespace).option("--filter", exactly(release.name))
}

/// A command that shows the chart of a release.
fn releases(release: Release<'_>) -> Call {
    listing(release)
}

/// Steps for the CLI, which keeps no values: those that are not passed again get their defaults. The manifests are
/// applied, or written to a file.
fn by_cli(
    ctx: &Context<'_>,
    target: &CniDaemonSet<'_>,
    remedy: Remedy,
    (words, file): (&str, Option<&'static str>),
    chart: Option<&str>,
    values: &[ChartValue],
) -> Remedy {
    let guarded = |line: Line| {
        // Other CLI versions have other templates and defaults, so require that of the chart, or the one that
        // installed it.
        match (chart.and_then(|chart| chart.strip_prefix("20")), installed_cli(target)) {
            (Some(edge), _) => Line::only_with_cli(format!("edge-{edge}"), line),
            (None, Some(version)) => Line::only_with_cli(version.to_string(), line),
            (None, None) => line,
        }
    };
    let rendered = || cli(ctx, target, values);
    let preview = guarded(rendered().pipe(kubectl().words("diff -f -")));
    let remedy = remedy.run(StepKind::Note, compare(ctx, target, values), preview).chart(settings(values));
    let (words, line) = match file {
        None => (words.to_owned(), rendered().pipe(kubectl().words("apply -f -"))),
        Some(file) => (format!("{words}: first render it to {file}"), rendered().to_file(file)),
    };
    remedy.run(StepKind::ChartValue, words, guarded(line)).chart(settings(values))
}

/// `linkerd install-cni` with its earlier options and the new values.
fn cli(ctx: &Context<'_>, target: &CniDaemonSet<'_>, values: &[ChartValue]) -> Call {
    let carried: Vec<ChartValue> = carried(ctx, target)
        .into_iter()
        .filter(|old| !values.iter().any(|new| new.key == old.key))
        .chain(values.iter().cloned())
        .collect();
    let install = linkerd().words("install-cni");
    let install = match target.namespace {
        USUAL => install,
        other => install.option("--cni-namespace", other),
    };
    with(install, &carried)
}

/// The release of the CLI that installed it.
fn installed_cli(target: &CniDaemonSet<'_>) -> Option<LinkerdVersion> {
    let tool = target.set?.metadata.annotation(CREATED_BY)?;
    tool.strip_prefix("linkerd/cli ")?.trim().parse().ok()
}

/// Installs linkerd-cni again with the values that the cluster still shows, with the known tool or else with
/// the CLI of the installed release. Reads `daemonsets.apps` and `configmaps/cni/linkerd-cni-config`.
pub(super) fn install_again(ctx: &Context<'_>, remedy: Remedy, words: &str) -> Remedy {
    let target = target(ctx);
    if target.managed_by.is_some_and(|by| by.installer.is_some() || by.gitops.is_some()) {
        return set(ctx, remedy, words, None, &[]);
    }
    let home = ctx.namespaces().control_plane.as_str();
    let release = installed(ctx.for_steps::<Deployment>(), None, home).map(|(release, _)| release);
    let into = |with: Call| {
        let line = cli(ctx, &target, &[]).pipe(with);
        match &release {
            Some(release) => Line::only_with_cli(release.to_string(), line),
            None => line,
        }
    };
    let preview = match target.set {
        Some(_) => compare(ctx, &target, &[]),
        None => format!(
            "Preview the objects: options of the earlier installation, such as tolerations or privileged, need \
             --set KEY=VALUE{}",
            replaced(ctx, &target, &[])
        ),
    };
    remedy.run(StepKind::Note, preview, into(kubectl().words("diff -f -"))).command(
        format!("{words}. If Helm or a GitOps tool installed it, apply the chart {CHART} with that tool instead"),
        into(kubectl().words("apply -f -")),
    )
}

/// The end of a step that states a mode other than the installed one, unless `values` set it.
fn replaced(ctx: &Context<'_>, target: &CniDaemonSet<'_>, values: &[ChartValue]) -> String {
    let other = replaced_mode(ctx, target).filter(|_| values.iter().all(|value| value.key != MODE));
    other.map_or_else(String::new, |(old, new)| {
        format!(". A node lacks the iptables mode {old}, so iptablesMode={new} replaces it")
    })
}

/// The step before `linkerd install-cni`.
fn compare(ctx: &Context<'_>, target: &CniDaemonSet<'_>, values: &[ChartValue]) -> String {
    let mode = replaced(ctx, target, values);
    format!(
        "Preview the change: if the diff removes options of the installation, such as tolerations, pass them with \
         --set KEY=VALUE{mode}"
    )
}
