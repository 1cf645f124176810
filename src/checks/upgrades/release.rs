//! How the control plane and its extensions are brought to another release: by the tool that installed them, with the values
//! that were given and the defaults of the target for all others.

use super::gitops;
use crate::checks::Context;
use crate::checks::upgrade::{
    self, CONTROL_PLANE, Chart, apply, chart_number, chart_of, guarded, managed_by, which_tool,
};
use crate::command::{Arg, Command, Line, helm, kubectl, linkerd};
use crate::finding::{Remedy, StepKind};
use crate::item::EXTENSION_LABEL;
use crate::model::managed_by::{Installer, ManagedBy, Release};
use crate::objects::{Deployment, Namespace};
use crate::version::LinkerdVersion;

/// Adds the step that brings the control plane to a release. Reads `deployments.apps`.
pub(super) fn control_plane(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let by = managed_by(ctx);
    let act = format!("Upgrade the control plane to {to}");
    if let Some(owner) = by.gitops {
        return gitops::bring(remedy, owner, &act, "linkerd-control-plane", chart_number(to).as_deref());
    }
    match by.installer {
        Some(Installer::Release(release)) => remedy.run(
            StepKind::Upgrade,
            format!("{act}, with Helm (3.14 or newer): your values, and the new defaults for all others"),
            by_helm(release, to, CONTROL_PLANE),
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

/// Adds the step that brings an extension to a release, by who manages its Deployments, or else by the tool that installed the
/// control plane. Reads `deployments.apps` and `namespaces`.
pub(super) fn extension(ctx: &Context<'_>, remedy: Remedy, name: &str, to: &LinkerdVersion) -> Remedy {
    let act = format!("Upgrade the extension {name} to {to}");
    let chart: Option<Chart> = match name {
        "viz" => Some(("linkerd-viz", "VIZ_CHART")),
        "multicluster" => Some(("linkerd-multicluster", "MULTICLUSTER_CHART")),
        "jaeger" => Some(("linkerd-jaeger", "JAEGER_CHART")),
        _ => None,
    };
    let own = managed_extension(ctx, name);
    let by = managed_by(ctx);
    let linked = if name == "multicluster" { "; then link the clusters again" } else { "" };
    match (own.gitops, own.release(), chart) {
        (Some(owner), _, Some((chart, _))) => {
            return gitops::bring(
                remedy,
                owner,
                &format!("{act}{linked}"),
                chart,
                chart_number(to).as_deref(),
            );
        }
        (None, Some(release), Some(chart)) => {
            let text = format!(
                "{act}, with Helm (3.14 or newer): your values, and the new defaults for all others{linked}"
            );
            return remedy.run(StepKind::Upgrade, text, by_helm(release, to, chart));
        }
        _ => {}
    }
    let command = match name {
        "viz" => "viz",
        "multicluster" => "multicluster",
        _ => return remedy.step(StepKind::Upgrade, format!("{act}, with what installed it")),
    };
    match (by.gitops, by.installer) {
        (Some(owner), _) => remedy.step(
            StepKind::Upgrade,
            format!("{act}: in Git, as the control plane that {owner} manages{linked}"),
        ),
        (None, Some(Installer::Cli)) => {
            let call =
                linkerd().control_plane(&ctx.namespaces().control_plane).words(command).words("install");
            let text = format!("{act}, with the values that it was installed with{linked}");
            remedy.run(StepKind::Upgrade, text, guarded(Some(to), call.pipe(apply())))
        }
        (None, _) => remedy.step(StepKind::Upgrade, format!("{act}, with what installed it{linked}")),
    }
}

/// Who manages an extension, as its Deployments say it.
fn managed_extension<'a>(ctx: &Context<'a>, name: &str) -> ManagedBy<'a> {
    let named = |namespace: &&Namespace| namespace.metadata.label(EXTENSION_LABEL) == Some(name);
    let homes: Vec<&str> =
        ctx.hints::<Namespace>().iter().filter(named).map(|one| one.metadata.name.as_str()).collect();
    let deployments = ctx.hints::<Deployment>().iter();
    let own = deployments.filter(|one| homes.contains(&one.metadata.namespace.as_str()));
    let each: Vec<ManagedBy<'a>> = own.map(|one| ManagedBy::of(&one.metadata)).collect();
    let release = each.iter().find_map(|by| by.release());
    ManagedBy { installer: release.map(Installer::Release), gitops: each.iter().find_map(|by| by.gitops) }
}

/// Adds the step that brings the CRDs of a release, by who manages them. Reads `deployments.apps` and the CRDs by name.
pub(super) fn crds(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let act = format!("Bring the CRDs of {to}");
    // They may be another Application's than the control plane.
    let owner = upgrade::gitops_of_crds(ctx).or_else(|| managed_by(ctx).gitops);
    match owner {
        Some(owner) => gitops::bring(remedy, owner, &act, "linkerd-crds", chart_number(to).as_deref()),
        None => upgrade::crds(ctx, remedy, &act, to, false),
    }
}

/// Adds the step that takes away what the release has no more, where the CLI installed it: Helm and GitOps do so by themselves.
pub(super) fn pruned(ctx: &Context<'_>, remedy: Remedy, to: &LinkerdVersion) -> Remedy {
    let by = managed_by(ctx);
    if by.gitops.is_some() || by.installer != Some(Installer::Cli) {
        return remedy;
    }
    let prune = || linkerd().control_plane(&ctx.namespaces().control_plane).words("prune");
    remedy
        .run(
            StepKind::Command,
            "See what earlier releases left, which this one has no more. With a CustomResourceDefinition go its objects: leave out \
             those that you use",
            guarded(Some(to), prune().into()),
        )
        .run(
            StepKind::Command,
            "Delete it, where it printed anything that you looked at",
            guarded(Some(to), prune().pipe(kubectl().words("delete -f -"))),
        )
}

fn chart_version(to: &LinkerdVersion) -> Arg {
    chart_number(to).map_or_else(|| Arg::placeholder("CHART_VERSION"), Arg::from)
}

fn by_helm(release: Release<'_>, to: &LinkerdVersion, chart: Chart) -> Command {
    let mut lines = Vec::new();
    let reference = chart_of(&mut lines, Some(to), chart);
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
