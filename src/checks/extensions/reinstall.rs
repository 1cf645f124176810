//! Reinstalls an extension with the tool that installed it, at the installed release. The tool is derived
//! from metadata of the extension's Deployments; if it is unknown, the step states this. No values change:
//! the step warns about options that the CLI resets.

use super::carried;
use crate::checks::prelude::*;
use crate::checks::upgrade::{if_chart_known, installed_chart, own_chart};
use crate::checks::upgrades::mirrors;
use crate::command::{Call, Line, helm, linkerd};
use crate::item::EXTENSION_LABEL;
use crate::model::control_plane::CREATED_BY;
use crate::model::managed_by::{Installer, ManagedBy, Release};
use crate::version::Channel;

/// Another tool may have installed it.
const TOOL: &str = "the tool and ";

/// Adds the step that reinstalls an extension; `why` follows its name. Reads `deployments.apps`, if
/// available.
pub(in crate::checks) fn reinstall(ctx: &Context<'_>, remedy: Remedy, extension: Extension, why: &str) -> Remedy {
    reinstall_with(ctx, remedy, extension, why, &[])
}

/// As [`reinstall`], with values of the chart: arguments of `--set`.
pub(in crate::checks) fn reinstall_with(
    ctx: &Context<'_>,
    remedy: Remedy,
    extension: Extension,
    why: &str,
    values: &[Arg],
) -> Remedy {
    let deployment = deployment(ctx, extension);
    let managed = deployment.map(|d| ManagedBy::from_metadata(&d.metadata)).unwrap_or_default();
    let version = created_by(ctx, extension);
    let act = format!("Reinstall {extension}{why}");
    if let Some(owner) = managed.gitops {
        return remedy.note(format!("{act}: {owner} manages it, so apply it again from Git with that tool"));
    }
    match managed.installer {
        Some(Installer::Release(release)) => {
            if let Some(own) = own_chart(ctx, release) {
                let set: Vec<String> = values.iter().map(ToString::to_string).collect();
                let text = match set.as_slice() {
                    [] => format!("{act}: upgrade that release with your chart, unchanged. {}", own.reason()),
                    set => own.set_text(&act, extension.chart(), &format!(" ({})", set.join(", "))),
                };
                return remedy.step(StepKind::Command, text);
            }
            let text = format!("{act}, with Helm, at the version of the chart that is installed");
            // Vendors have charts and repositories of their own.
            match version.is_some_and(|version| version.channel() == Channel::Edge) {
                true => remedy.command(text, by_helm(extension, release, values)),
                false => remedy.step(
                    StepKind::Command,
                    format!("{text}: release {}, namespace {}", release.name, release.namespace),
                ),
            }
        }
        // The CLI installs viz from the same chart, whose objects name Helm; a real Helm release has its own
        // annotations.
        Some(Installer::Chart) => {
            by_options(ctx, compared(ctx, remedy, extension, values), (extension, values), &act, TOOL)
        }
        Some(Installer::Cli) => {
            by_options(ctx, compared(ctx, remedy, extension, values), (extension, values), &act, "")
        }
        None => {
            let remedy = match deployment {
                Some(_) => compared(ctx, remedy, extension, values),
                None => remedy,
            };
            by_options(ctx, remedy, (extension, values), &act, TOOL)
        }
    }
}

/// The instruction to compare the manifests of an extension with the cluster before they are applied.
pub(in crate::checks) fn preview_text(extension: Extension) -> String {
    format!(
        "Preview the change: if the diff removes options that {extension} was installed with, pass them with --set \
         KEY=VALUE, also in the next step"
    )
}

/// Adds the step that shows which settings the CLI would reset.
fn compared(ctx: &Context<'_>, remedy: Remedy, extension: Extension, values: &[Arg]) -> Remedy {
    remedy.run(StepKind::Note, preview_text(extension), by_cli(ctx, extension, values, kubectl().words("diff -f -")))
}

/// Adds the step that installs the extension with the CLI; `tool` names other tools.
fn by_options(
    ctx: &Context<'_>,
    remedy: Remedy,
    (extension, values): (Extension, &[Arg]),
    act: &str,
    tool: &str,
) -> Remedy {
    let version = created_by(ctx, extension);
    // The step states the release of the CLI, if it is known.
    let with = if version.is_some() { "" } else { ", with the linkerd CLI of the installed release" };
    let text = format!("{act}{with}, with {tool}the options of its installation");
    let command = by_cli(ctx, extension, values, kubectl().words("apply -f -"));
    remedy.command(text, command)
}

/// The release that created an extension. Reads `deployments.apps`, if available.
pub(in crate::checks) fn created_by(ctx: &Context<'_>, extension: Extension) -> Option<LinkerdVersion> {
    let mut stated = own(ctx, extension).filter_map(|one| one.metadata.annotation(CREATED_BY));
    stated.find_map(|text| LinkerdVersion::from_created_by(text).ok())
}

/// The first Deployment of an extension.
fn deployment<'a>(ctx: &Context<'a>, extension: Extension) -> Option<&'a Workload> {
    own(ctx, extension).next()
}

fn own<'a>(ctx: &Context<'a>, extension: Extension) -> impl Iterator<Item = &'a Workload> {
    let namespace = ctx.namespaces().extensions.get(&extension);
    ctx.optional_list::<Deployment>().iter().filter(move |deployment| {
        let meta = &deployment.metadata;
        meta.label(EXTENSION_LABEL) == Some(extension.name())
            && namespace.is_some_and(|namespace| *namespace == meta.namespace)
    })
}

/// The manifests of the extension as the CLI renders them, piped into a program.
fn by_cli(ctx: &Context<'_>, extension: Extension, values: &[Arg], into: Call) -> Command {
    let version = created_by(ctx, extension);
    let verb = match extension {
        Extension::Viz => "viz install",
        Extension::Multicluster => "multicluster install",
        Extension::Jaeger => "jaeger install",
    };
    let install = linkerd().control_plane(&ctx.namespaces().control_plane).words(verb);
    let controllers = match (extension, &version) {
        (Extension::Multicluster, Some(version)) => mirrors::chart_controllers(ctx, version),
        _ => Vec::new(),
    };
    let install = mirrors::settings(&controllers).fold(install, |install, set| install.option("--set", set));
    let kept = carried(ctx, extension, values).into_iter();
    let install = kept.fold(install, |install, set| install.option("--set", set));
    let install = values.iter().cloned().fold(install, |install, set| install.option("--set", set));
    let install = install.pipe(into);
    match version {
        Some(version) => Line::only_with_cli(version.to_string(), install).into(),
        None => install.into(),
    }
}

fn by_helm(extension: Extension, release: Release<'_>, values: &[Arg]) -> Command {
    let (chart, version_of) = match extension {
        Extension::Viz => ("linkerd-edge/linkerd-viz", "s/^ *chart: linkerd-viz-//p"),
        Extension::Multicluster => ("linkerd-edge/linkerd-multicluster", "s/^ *chart: linkerd-multicluster-//p"),
        Extension::Jaeger => ("linkerd-edge/linkerd-jaeger", "s/^ *chart: linkerd-jaeger-//p"),
    };
    let upgrade = helm()
        .namespace(release.namespace)
        .words("upgrade")
        .operand(release.name)
        .words(chart)
        .option("--version", Arg::variable("CHART"))
        .words("--reuse-values");
    let upgrade = values.iter().cloned().fold(upgrade, |upgrade, set| upgrade.option("--set", set));
    Command::lines([
        helm().words("repo add linkerd-edge https://helm.linkerd.io/edge").offline().into(),
        installed_chart(release, version_of),
        if_chart_known(upgrade),
    ])
    .whole()
}
