//! Reinstalls an extension with the tool that installed it, at the installed release. The tool is derived
//! from metadata of the extension's Deployments; if it is unknown, the step states this. No values change:
//! the step warns about options that the CLI resets.

use crate::checks::Context;
use crate::checks::upgrades::mirrors;
use crate::command::{Arg, Call, Command, Line, helm, kubectl, linkerd, program};
use crate::finding::{Remedy, StepKind};
use crate::item::{EXTENSION_LABEL, Extension};
use crate::model::control_plane::CREATED_BY;
use crate::model::managed_by::{Installer, ManagedBy, Release};
use crate::objects::{Deployment, Workload};
use crate::version::{Channel, LinkerdVersion};

/// Adds the step that reinstalls an extension; `why` follows its name. Reads `deployments.apps`, if
/// available.
pub(in crate::checks) fn reinstall(
    ctx: &Context<'_>,
    remedy: Remedy,
    extension: Extension,
    why: &str,
) -> Remedy {
    let deployment = deployment(ctx, extension);
    let managed = deployment.map(|d| ManagedBy::from_metadata(&d.metadata)).unwrap_or_default();
    let version = created_by(ctx, extension);
    let act = format!("Reinstall {extension}{why}");
    if let Some(owner) = managed.gitops {
        return remedy.step(
            StepKind::Note,
            format!("{act}: {owner} manages it, so apply it again from Git with that tool"),
        );
    }
    match managed.installer {
        Some(Installer::Release(release)) => {
            let text = format!("{act}, with Helm, at the version of the chart that is installed");
            // Vendors have charts and repositories of their own.
            match version.is_some_and(|version| version.channel() == Channel::Edge) {
                true => remedy.run(StepKind::Command, text, by_helm(extension, release)),
                false => remedy.step(
                    StepKind::Command,
                    format!("{text}: release {}, namespace {}", release.name, release.namespace),
                ),
            }
        }
        // The CLI installs viz from the same chart, whose objects name Helm; a real Helm release has its own
        // annotations.
        Some(Installer::Chart) => {
            let otherwise = ". If another tool renders its chart, use that tool";
            by_options(ctx, compared(ctx, remedy, extension, version.as_ref()), extension, &act, otherwise)
        }
        Some(Installer::Cli) => {
            by_options(ctx, compared(ctx, remedy, extension, version.as_ref()), extension, &act, "")
        }
        None => {
            let otherwise = ". If Helm installed it, upgrade its release instead";
            by_options(ctx, remedy, extension, &act, otherwise)
        }
    }
}

/// Adds the step that shows which settings the CLI would reset.
fn compared(
    ctx: &Context<'_>,
    remedy: Remedy,
    extension: Extension,
    version: Option<&LinkerdVersion>,
) -> Remedy {
    let text = format!(
        "Preview the change. If the diff removes options that were set at installation of {extension}, add them with \
         --set KEY=VALUE"
    );
    remedy.run(StepKind::Note, text, by_cli(ctx, extension, version, kubectl().words("diff -f -")))
}

/// Adds the step that installs the extension with the CLI; `otherwise` follows as a sentence.
fn by_options(ctx: &Context<'_>, remedy: Remedy, extension: Extension, act: &str, otherwise: &str) -> Remedy {
    let version = created_by(ctx, extension);
    // The step states the release of the CLI, if it is known.
    let with = if version.is_some() { "" } else { ", with the linkerd CLI of the installed release" };
    let text = format!("{act}{with}, with the options of its installation{otherwise}");
    let command = by_cli(ctx, extension, version.as_ref(), kubectl().words("apply -f -"));
    remedy.run(StepKind::Command, text, command)
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
fn by_cli(ctx: &Context<'_>, extension: Extension, version: Option<&LinkerdVersion>, into: Call) -> Command {
    let verb = match extension {
        Extension::Viz => "viz install",
        Extension::Multicluster => "multicluster install",
        Extension::Jaeger => "jaeger install",
    };
    let install = linkerd().control_plane(&ctx.namespaces().control_plane).words(verb);
    let controllers = match (extension, version) {
        (Extension::Multicluster, Some(version)) => mirrors::chart_controllers(ctx, version),
        _ => Vec::new(),
    };
    let install = mirrors::settings(&controllers).fold(install, |install, set| install.option("--set", set));
    let install = install.pipe(into);
    match version {
        Some(version) => Line::only_with_cli(version.to_string(), install).into(),
        None => install.into(),
    }
}

fn by_helm(extension: Extension, release: Release<'_>) -> Command {
    let (chart, version_of) = match extension {
        Extension::Viz => ("linkerd-edge/linkerd-viz", r#".[0].chart | sub("^linkerd-viz-"; "")"#),
        Extension::Multicluster => {
            ("linkerd-edge/linkerd-multicluster", r#".[0].chart | sub("^linkerd-multicluster-"; "")"#)
        }
        Extension::Jaeger => ("linkerd-edge/linkerd-jaeger", r#".[0].chart | sub("^linkerd-jaeger-"; "")"#),
    };
    let installed = helm()
        .namespace(release.namespace)
        .words("list -o json")
        .option("--filter", format!("^{}$", release.name))
        .pipe(program("jq").words("-r").arg(version_of));
    Command::lines([
        helm().words("repo add linkerd-edge https://helm.linkerd.io/edge").offline().into(),
        Line::set("CHART", Arg::output(installed)),
        helm()
            .namespace(release.namespace)
            .words("upgrade")
            .operand(release.name)
            .words(chart)
            .option("--version", Arg::variable("CHART"))
            .words("--reuse-values")
            .into(),
    ])
    .whole()
}
