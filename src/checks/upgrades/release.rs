//! Upgrades the control plane and its extensions: with the tool that installed them, the given values, and
//! the target's defaults for all others.

use super::upgrade_changes_default::kept;
use super::{gitops, mirrors, one_chart};
use crate::checks::extensions::{carried, preview_text};
use crate::checks::prelude::*;
use crate::checks::upgrade::{
    self, CONTROL_PLANE, CRDS_CHART, Chart, RenderedTo, chart_number, chart_of, crds_by_helm, guarded, is_one_chart,
    managed_by, only_with_chart, own_chart, which_tool,
};
use crate::command::{Call, Line, helm, linkerd, program};
use crate::item::EXTENSION_LABEL;
use crate::model::managed_by::{GitOps, Installer, ManagedBy, Release};
use crate::version::{self, Contains, EdgeTag, Introduced, Minor};

/// Adds the step that upgrades the control plane to a release. Reads `deployments.apps`.
pub(super) fn control_plane(
    ctx: &Context<'_>,
    remedy: Remedy,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let by = managed_by(ctx);
    let act = format!("Upgrade the control plane to {to}");
    if let Some(owner) = by.gitops {
        return match by.is_rendered_by_cli() {
            true => rendered(ctx, remedy, owner, &act, (from, to)),
            false if is_one_chart(ctx.knowledge, from) => moved_in_git(remedy, owner, &act),
            false => in_git(ctx, remedy, owner, &act, CONTROL_PLANE.0, to),
        };
    }
    if let Some(old) = one_chart::old_release(ctx).filter(|old| own_chart(ctx, *old).is_none()) {
        return match is_one_chart(ctx.knowledge, from) {
            true => one_chart::control_plane(ctx, remedy, old, to, &kept(ctx, (from, to))),
            false => {
                let release = one_chart::new_release(ctx, CONTROL_PLANE);
                run_helm(ctx, remedy, &act, release, (from, to), CONTROL_PLANE)
            }
        };
    }
    match by.installer {
        Some(Installer::Release(release)) => run_helm(ctx, remedy, &act, release, (from, to), CONTROL_PLANE),
        Some(Installer::Chart) => remedy.step(
            StepKind::Upgrade,
            format!("{act}: in the tool that renders the chart, as no Helm release in the cluster holds it"),
        ),
        Some(Installer::Cli) => {
            let set = kept(ctx, (from, to));
            let (command, forced, why) = upgrade::to_release(ctx, to, &set, RenderedTo::Cluster);
            let others = others(&set);
            remedy
                .run(
                    StepKind::Upgrade,
                    format!("{act}; it keeps your values, and all others get the new defaults{others}{why}"),
                    command,
                )
                .forced(forced)
        }
        None => remedy.run(
            StepKind::Upgrade,
            format!(
                "{act}, with the tool that installed Linkerd. These commands show which: only the CLI leaves \
             that Secret"
            ),
            which_tool(home),
        ),
    }
}

/// Adds the step that replaces the chart of 2.11 in Git.
fn moved_in_git(remedy: Remedy, owner: GitOps<'_>, act: &str) -> Remedy {
    remedy.step(
        StepKind::Upgrade,
        format!(
            "{act}: in Git, as {owner} manages it. Do not exchange the chart linkerd2 in place: its removal deletes \
             the CRDs. Move the objects to the two new charts first, as the notes of 2.12 describe: \
             https://linkerd.io/2.14/tasks/upgrade/"
        ),
    )
}

/// Adds the steps that render the control plane of a release with its CLI, and put it into Git.
fn rendered(
    ctx: &Context<'_>,
    remedy: Remedy,
    owner: GitOps<'_>,
    act: &str,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
) -> Remedy {
    const FILE: &str = gitops::CONTROL_PLANE_FILE;
    if upgrade::has_unusable_values(ctx) {
        let text = format!(
            "{act}: render it to {FILE} with `linkerd install --ignore-cluster` of its CLI, the options of the \
             installation, and the current trust anchors and issuer. `linkerd upgrade` finds no stored values"
        );
        return gitops::committed(remedy.step(StepKind::Upgrade, text), owner, FILE);
    }
    let set = kept(ctx, (from, to));
    let (command, forced, why) = upgrade::to_release(ctx, to, &set, RenderedTo::File(FILE));
    let text = format!(
        "{act}: render it to {FILE}. It keeps your values, and all others get the new defaults{}{why}",
        others(&set)
    );
    gitops::committed(remedy.run(StepKind::Upgrade, text, command).forced(forced), owner, FILE)
}

/// The exceptions from the new defaults that a command sets, as the end of a sentence.
fn others(set: &[String]) -> String {
    match set {
        [] => String::new(),
        [one] => {
            format!(", except for {one}, which keeps the current behavior. Remove it to get the new default")
        }
        set => format!(
            ", except for {}, which keep the current behavior. Remove one to get its new default",
            set.join(" and ")
        ),
    }
}

/// Adds the step that upgrades an extension to a release, with the manager of its Deployments or else the
/// tool that installed the control plane. Reads `deployments.apps` and `namespaces`.
pub(in crate::checks) fn extension(
    ctx: &Context<'_>,
    remedy: Remedy,
    name: &str,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
) -> Remedy {
    let act = format!("Upgrade the extension {name} to {to}");
    let chart: Option<Chart> = match name {
        "viz" => Some(("linkerd-viz", "VIZ_CHART")),
        "multicluster" => Some(("linkerd-multicluster", "MULTICLUSTER_CHART")),
        "jaeger" => Some(("linkerd-jaeger", "JAEGER_CHART")),
        _ => None,
    };
    let own = managed_extension(ctx, name);
    let by = managed_by(ctx);
    let controllers = if name == "multicluster" { mirrors::chart_controllers(ctx, to) } else { Vec::new() };
    let in_values = |remedy: Remedy| match controllers.iter().any(|one| one.legacy().is_some()) {
        true => remedy.step(
            StepKind::ChartValue,
            format!(
                "In the values of linkerd-multicluster, list every link under controllers: {}",
                mirrors::settings(&controllers).collect::<Vec<_>>().join(", ")
            ),
        ),
        false => remedy,
    };
    match (own.gitops, own.release(), chart) {
        (Some(owner), _, Some((chart, _))) if !own.is_rendered_by_cli() => {
            let remedy = in_git(ctx, in_values(remedy), owner, &act, chart, to);
            return mirrors::awaited(remedy, &controllers);
        }
        (None, Some(release), Some(chart)) => {
            let remedy = in_values(remedy);
            let namespace = own_namespace(ctx, name).unwrap_or(release.namespace);
            let remedy = match one_chart::old_release(ctx).filter(|_| own_chart(ctx, release).is_none()) {
                Some(_) if is_one_chart(ctx.knowledge, from) => {
                    one_chart::extension(ctx, remedy, &act, (release, namespace), (to, chart))
                }
                Some(_) => {
                    let release = Release { name: chart.0, namespace };
                    run_helm(ctx, remedy, &act, release, (from, to), chart)
                }
                None => run_helm(ctx, remedy, &act, release, (from, to), chart),
            };
            return mirrors::awaited(remedy, &controllers);
        }
        _ => {}
    }
    let command = match name {
        "viz" => "viz",
        "multicluster" => "multicluster",
        _ => return remedy.step(StepKind::Upgrade, format!("{act}, with the tool that installed it")),
    };
    let upgrade = CliUpgrade { command, of: Extension::from_name(name), to, act: &act, controllers: &controllers };
    if let Some(owner) = own.gitops.filter(|_| own.is_rendered_by_cli()) {
        let file = if command == "viz" { "linkerd-viz.yaml" } else { "linkerd-multicluster.yaml" };
        let remedy = gitops::committed(upgrade.rendered(ctx, remedy, RenderedTo::File(file)), owner, file);
        return mirrors::awaited(remedy, &controllers);
    }
    let remedy = match (by.gitops, by.installer) {
        (Some(owner), _) => {
            remedy.step(StepKind::Upgrade, format!("{act}: in Git, like the control plane that {owner} manages"))
        }
        (None, Some(Installer::Cli)) => {
            let remedy = upgrade.rendered(ctx, remedy, RenderedTo::Cluster);
            if name == "viz" { pruned_viz(ctx, remedy, to) } else { remedy }
        }
        (None, _) => remedy.step(StepKind::Upgrade, format!("{act}, with the tool that installed it")),
    };
    mirrors::awaited(remedy, &controllers)
}

/// The upgrade of an extension by the linkerd CLI.
struct CliUpgrade<'a> {
    /// The CLI's command of the extension.
    command: &'static str,
    of: Option<Extension>,
    to: &'a LinkerdVersion,
    /// What the step does.
    act: &'a str,
    controllers: &'a [mirrors::ChartController<'a>],
}

impl CliUpgrade<'_> {
    /// Adds the preview and the step that renders the extension with the options of its installation.
    fn rendered(&self, ctx: &Context<'_>, remedy: Remedy, to_it: RenderedTo) -> Remedy {
        let call = linkerd().control_plane(&ctx.namespaces().control_plane).words(self.command).words("install");
        let options: Vec<Arg> = self.of.map(|of| carried(ctx, of, &[])).unwrap_or_default();
        let call = mirrors::settings(self.controllers).fold(call, |call, set| call.option("--set", set));
        let call = options.into_iter().fold(call, |call, set| call.option("--set", set));
        let text = format!("{}, with the values that it was installed with", self.act);
        let text = match self.controllers.is_empty() {
            true => text,
            false => format!("{text}, with a controller of the chart for each link"),
        };
        let text = match to_it {
            RenderedTo::Cluster => text,
            RenderedTo::File(file) => format!("{text}: render it to {file}"),
        };
        let remedy = match self.of {
            Some(of) => {
                let preview = guarded(Some(self.to), call.clone().pipe(kubectl().words("diff -f -")));
                remedy.run(StepKind::Note, preview_text(of), preview)
            }
            None => remedy,
        };
        remedy.run(StepKind::Upgrade, text, guarded(Some(self.to), to_it.line(call)))
    }
}

/// The namespace of an extension.
fn own_namespace<'a>(ctx: &Context<'a>, name: &str) -> Option<&'a str> {
    ctx.namespaces().extensions.get(&Extension::from_name(name)?).map(String::as_str)
}

/// The manager of an extension, from metadata of its Deployments.
fn managed_extension<'a>(ctx: &Context<'a>, name: &str) -> ManagedBy<'a> {
    let named = |namespace: &&Namespace| namespace.metadata.label(EXTENSION_LABEL) == Some(name);
    let homes: Vec<&str> =
        ctx.optional_list::<Namespace>().iter().filter(named).map(|one| one.metadata.name.as_str()).collect();
    let deployments = ctx.optional_list::<Deployment>().iter();
    let own = deployments.filter(|one| homes.contains(&one.metadata.namespace.as_str()));
    let each: Vec<ManagedBy<'a>> = own.map(|one| ManagedBy::from_metadata(&one.metadata)).collect();
    let release = each.iter().find_map(|by| by.release());
    let rendered = || each.iter().any(ManagedBy::is_rendered_by_cli).then_some(Installer::Cli);
    let installer = release.map(Installer::Release).or_else(rendered);
    ManagedBy { installer, gitops: each.iter().find_map(|by| by.gitops) }
}

/// Adds the step that upgrades the CRDs to a release, with their manager. Reads `deployments.apps` and the
/// CRDs by name.
pub(super) fn crds(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let act = format!("Install the CRDs of {to}");
    // They may belong to another Application than the control plane.
    let by = upgrade::crds_managed_in_git(ctx).unwrap_or_else(|| managed_by(ctx));
    match by.gitops {
        Some(owner) if by.is_rendered_by_cli() => upgrade::rendered_crds(ctx, remedy, owner, &act, to),
        Some(owner) if is_first_with_two_charts(ctx, to) => moved_in_git(remedy, owner, &act),
        Some(owner) => in_git(ctx, remedy, owner, &act, "linkerd-crds", to),
        None => match one_chart::old_release(ctx).filter(|old| own_chart(ctx, *old).is_none()) {
            Some(old) if is_first_with_two_charts(ctx, to) => one_chart::crds(ctx, remedy, old, to),
            Some(_) => {
                let release = one_chart::new_release(ctx, CRDS_CHART);
                let command = crds_by_helm(ctx.knowledge, Some(release), to);
                remedy.run(StepKind::Upgrade, format!("{act}, with Helm"), command)
            }
            None => upgrade::crds(ctx, remedy, &act, to, false),
        },
    }
}

/// Whether a hop to this release replaces the chart linkerd2: the installed release has it, and the target is the first
/// with two.
fn is_first_with_two_charts(ctx: &Context<'_>, to: &LinkerdVersion) -> bool {
    let from = super::Upgrade::from_context(ctx).map(|way| way.from);
    let is_old = from.is_ok_and(|from| is_one_chart(ctx.knowledge, &from));
    is_old && to.minor(ctx.knowledge.minors()) == Some(Minor::new(2, 12))
}

/// The file with the leftovers.
const LEFTOVERS: &str = "leftovers.yaml";

/// Adds the step that deletes objects that the release does not contain any more, if the CLI installed it:
/// Helm and GitOps do this themselves.
pub(super) fn pruned(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let by = managed_by(ctx);
    if by.gitops.is_some() || by.installer != Some(Installer::Cli) || !has_prune(ctx, to) {
        return remedy;
    }
    let prune = linkerd().control_plane(&ctx.namespaces().control_plane).words("prune");
    remedy
        .command(
            "Write leftovers of earlier releases, which this one no longer has, to a file",
            guarded(Some(to), prune.to_file(LEFTOVERS)),
        )
        .command(
            "If the file lists objects, remove from it what you use, and delete the rest. Deleting a \
             CustomResourceDefinition deletes its objects",
            kubectl().words("delete -f").arg(LEFTOVERS),
        )
}

/// Adds the same steps for viz.
fn pruned_viz(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    const FILE: &str = "viz-leftovers.yaml";
    if !has_prune(ctx, to) {
        return remedy;
    }
    let prune = linkerd().control_plane(&ctx.namespaces().control_plane).words("viz prune");
    remedy
        .command("Write leftovers of earlier releases of viz to a file", guarded(Some(to), prune.to_file(FILE)))
        .command(
            "If the file lists objects, remove from it what you use, and delete the rest",
            kubectl().words("delete -f").arg(FILE),
        )
}

/// Whether the CLI of a release has the command `prune` (linkerd2 commit e9eac4c67).
fn has_prune(ctx: &Context<'_>, release: &LinkerdVersion) -> bool {
    let first = EdgeTag { year: 23, month: 2, number: 3 };
    let stable = version::Release { major: 2, minor: 13, patch: Some(0) };
    let change = Introduced::at_edge(first).and_stable(stable);
    release.contains(&change, ctx.knowledge.minors()) != Contains::No
}

/// The change in Git that upgrades a chart to a release.
pub(super) fn in_git(
    ctx: &Context<'_>,
    remedy: Remedy,
    owner: GitOps<'_>,
    act: &str,
    chart: &str,
    to: &LinkerdVersion,
) -> Remedy {
    let origin = ctx.knowledge.channels().origin(to);
    let called = origin.and_then(|origin| origin.chart(chart)).unwrap_or(chart);
    gitops::bring(remedy, owner, act, called, chart_number(ctx.knowledge, chart, to).as_deref())
}

fn chart_version(ctx: &Context<'_>, chart: &str, to: &LinkerdVersion) -> Arg {
    chart_number(ctx.knowledge, chart, to).map_or_else(|| Arg::placeholder("CHART_VERSION"), Arg::from)
}

fn upgrade_call(
    ctx: &Context<'_>,
    lines: &mut Vec<Line>,
    release: Release<'_>,
    to: &LinkerdVersion,
    chart: Chart,
) -> Call {
    let reference = chart_of(ctx.knowledge, lines, Some(to), chart);
    let upgrade = helm().words("upgrade").operand(release.name).operand(reference);
    upgrade.namespace(release.namespace).option("--version", chart_version(ctx, chart.0, to))
}

fn by_helm(ctx: &Context<'_>, release: Release<'_>, to: &LinkerdVersion, chart: Chart, set: &[String]) -> Command {
    let mut lines = Vec::new();
    let upgrade = upgrade_call(ctx, &mut lines, release, to, chart).words("--reset-then-reuse-values");
    let upgrade = set.iter().fold(upgrade, |call, one| call.option("--set", one.as_str()));
    lines.push(only_with_chart(ctx.knowledge, release, (chart.0, Some(to)), upgrade));
    Command::lines(lines).whole()
}

/// Adds the step that upgrades a Helm release of a chart.
fn run_helm(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    release: Release<'_>,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
    chart: Chart,
) -> Remedy {
    let set = if chart.0 == CONTROL_PLANE.0 { kept(ctx, (from, to)) } else { Vec::new() };
    if let Some(own) = own_chart(ctx, release) {
        let number = chart_number(ctx.knowledge, chart.0, to);
        let origin = ctx.knowledge.channels().origin(to);
        let called = origin.and_then(|origin| origin.chart(chart.0)).unwrap_or(chart.0);
        return own.upgraded(remedy, act, (called, number.as_deref()), &set);
    }
    match moved_values(ctx, release, (from, to), chart, &set) {
        Some(moved) => remedy.run(
            StepKind::Upgrade,
            format!(
                "{act}, with Helm: your values go where this chart reads them, and all others get the new defaults{}. \
                 values.json can hold the issuer's key, so delete it afterwards",
                others(&set)
            ),
            moved,
        ),
        None => remedy.run(
            StepKind::Upgrade,
            format!(
                "{act}, with Helm (3.14 or newer): your values, and the new defaults for all others{}",
                others(&set)
            ),
            by_helm(ctx, release, to, chart, &set),
        ),
    }
}

/// The upgrade command for a chart whose values are at another path in the target: Helm would keep them at a
/// path that the chart does not read. `None` if the path is the same.
fn moved_values(
    ctx: &Context<'_>,
    release: Release<'_>,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
    chart: Chart,
    set: &[String],
) -> Option<Command> {
    const FILE: &str = "values.json";
    let channels = ctx.knowledge.channels();
    let (before, after) = (channels.origin(from)?, channels.origin(to)?);
    let place = match (before.within(chart.0), after.within(chart.0)) {
        (None, Some(within)) => format!("{{\"{within}\": (. // {{}})}}"),
        (Some(within), None) => format!(".\"{within}\" // {{}}"),
        (None, None) | (Some(_), Some(_)) => return None,
    };
    let values = helm().words("get values").operand(release.name).namespace(release.namespace).words("-o json");
    let mut lines = vec![values.pipe(program("jq").arg(place)).to_file(FILE)];
    let upgrade = upgrade_call(ctx, &mut lines, release, to, chart).words("--reset-values -f").arg(FILE);
    let within = |one: &String| match after.within(chart.0) {
        Some(within) => format!("{within}.{one}"),
        None => one.clone(),
    };
    let upgrade = set.iter().fold(upgrade, |call, one| call.option("--set", within(one)));
    let upgrade = match after.license {
        Some(_) => upgrade.option("--set", Arg::from("license=").then(Arg::placeholder("LICENSE"))),
        None => upgrade,
    };
    lines.push(only_with_chart(ctx.knowledge, release, (chart.0, Some(to)), upgrade));
    Some(Command::lines(lines).whole())
}
