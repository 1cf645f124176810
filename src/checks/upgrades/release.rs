//! How the control plane and its extensions are brought to another release: by the tool that installed them, with the values
//! that were given and the defaults of the target for all others.

use crate::checks::Context;
use crate::checks::upgrade::{CONTROL_PLANE, apply, chart_of, guarded, managed_by, which_tool};
use crate::command::{Arg, Command, Line, helm, linkerd};
use crate::finding::{Remedy, StepKind};
use crate::model::managed_by::{Installer, Release};
use crate::version::LinkerdVersion;

/// Adds the step that brings the control plane to a release. Reads `deployments.apps`.
pub(super) fn control_plane(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let by = managed_by(ctx);
    let act = format!("Upgrade the control plane to {to}");
    if let Some(owner) = by.gitops {
        return remedy.step(
            StepKind::Upgrade,
            format!(
                "{act}: in Git (the version of the chart linkerd-control-plane), and have {owner} sync it"
            ),
        );
    }
    match by.installer {
        Some(Installer::Release(release)) => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with Helm (3.14 or newer): your values, and the new defaults for all others"),
            by_helm(release, to),
        ),
        Some(Installer::Chart) => remedy.step(
            StepKind::Upgrade,
            format!("{act}: where the chart is rendered, as no Helm release in the cluster holds it"),
        ),
        Some(Installer::Cli) => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with the linkerd CLI: your values, and the new defaults for all others"),
            guarded(Some(to), linkerd().control_plane(home).words("upgrade").pipe(apply())),
        ),
        None => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with the tool that installed Linkerd; see which it was (only the CLI leaves that Secret)"),
            which_tool(home),
        ),
    }
}

/// Adds the step that brings an extension to a release, by the tool that installed the control plane.
pub(super) fn extension(ctx: &Context<'_>, remedy: Remedy, name: &str, to: &LinkerdVersion) -> Remedy {
    let by = managed_by(ctx);
    let act = format!("Upgrade the extension {name} to {to}");
    let by_cli = |command: &'static str| {
        guarded(
            Some(to),
            linkerd()
                .control_plane(&ctx.namespaces().control_plane)
                .words(command)
                .words("install")
                .pipe(apply()),
        )
    };
    match (by.gitops, by.installer, name) {
        (Some(owner), ..) => {
            remedy.step(StepKind::Upgrade, format!("{act}: in Git, and have {owner} sync it"))
        }
        (None, Some(Installer::Cli), "viz") => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with the values that it was installed with"),
            by_cli("viz"),
        ),
        (None, Some(Installer::Cli), "multicluster") => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with the values that it was installed with; then link the clusters again"),
            by_cli("multicluster"),
        ),
        _ => remedy.step(StepKind::Upgrade, format!("{act}, with what installed it")),
    }
}

/// The version of the chart of a release: edges have charts of their own date. Others are told by whoever releases them.
fn chart_version(to: &LinkerdVersion) -> Arg {
    match to.edge() {
        Some(edge) => Arg::from(format!("20{}.{}.{}", edge.year, edge.month, edge.number)),
        None => Arg::placeholder("CHART_VERSION"),
    }
}

fn by_helm(release: Release<'_>, to: &LinkerdVersion) -> Command {
    let mut lines = Vec::new();
    let reference = chart_of(&mut lines, Some(to), CONTROL_PLANE);
    lines.push(Line::from(
        helm()
            .words("upgrade")
            .operand(release.name)
            .operand(reference)
            .namespace(release.namespace)
            .option("--version", chart_version(to))
            .words("--reset-then-reuse-values"),
    ));
    Command::lines(lines).whole()
}
