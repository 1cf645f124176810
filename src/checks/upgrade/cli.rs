//! Commands that render the control plane and the CRDs with the linkerd CLI.

use super::guard::{IssuerWritten, force};
use super::{Options, current_certificates, guard, unsaved_options};
use crate::checks::prelude::*;
use crate::command::{Call, Line, linkerd};
use crate::finding::Forced;
use crate::model::control_plane::installed;

/// Adds the `linkerd upgrade` at the installed release, if it is known.
pub(super) fn upgraded_by_cli(
    ctx: &Context<'_>,
    remedy: Remedy,
    (kind, act): (StepKind, &str),
    options: &Options<'_>,
    version: Option<&LinkerdVersion>,
    to: RenderedTo,
) -> Remedy {
    let issuer = options.issuer();
    let force = if options.after_restarts { None } else { force(ctx, version, issuer) };
    let set: Vec<&str> = options.values.iter().map(|(path, ..)| *path).collect();
    let line = |force| {
        let base = linkerd().control_plane(&ctx.namespaces().control_plane).words("upgrade");
        guarded(version, by_cli(unsaved_options::options(ctx, base, version, &set), options, force, to))
    };
    let is_always = options.forced || force.is_none();
    let forced = if is_always { None } else { guard::until_replaced(ctx, issuer, &line(None)) };
    let with = if version.is_some() { "" } else { ", with the linkerd CLI" };
    let why = if force.is_some() { FORCED } else { "" };
    remedy.run(kind, format!("{act}{with}{why}"), line(force)).forced(forced)
}

/// The release of the linkerd CLI that matches the control plane, if known. In the evaluation after an upgrade
/// it is the target. Reads `deployments.apps`.
pub(in crate::checks) fn release_of_cli(ctx: &Context<'_>) -> Option<String> {
    if let Some(upgrade) = ctx.upgraded() {
        return Some(upgrade.to.to_string());
    }
    let home = ctx.namespaces().control_plane.as_str();
    let version = installed(ctx.optional_list::<Deployment>(), None, home).map(|(version, _)| version);
    version.map(|version| version.to_string())
}

/// The linkerd CLI of that release, as words.
pub(in crate::checks) fn cli_of(release: Option<&str>) -> String {
    match release {
        Some(release) => format!("linkerd CLI {release}"),
        None => "the linkerd CLI of the control plane's release".to_owned(),
    }
}

/// Runs a line only with the CLI of a release. If the release is unknown, the CLI's version is printed first.
pub(in crate::checks) fn guarded(wanted: Option<&LinkerdVersion>, line: Line) -> Command {
    match wanted {
        Some(wanted) => Line::only_with_cli(wanted.to_string(), line).into(),
        None => Command::lines([Line::from(linkerd().words("version --client --short").offline()), line]),
    }
}

/// Why a printed `linkerd upgrade` is forced.
pub(in crate::checks) const FORCED: &str = ". --force is needed while some proxies have other trust anchors";

/// The flag of a value that `linkerd upgrade` validates: it applies flags before the validation, `--set` after it.
fn flag(path: &str) -> Option<&'static str> {
    Some(match path {
        "controllerLogLevel" => "--controller-log-level",
        "proxy.defaultInboundPolicy" => "--default-inbound-policy",
        "proxy.logLevel" => "--proxy-log-level",
        "proxy.resources.cpu.limit" => "--proxy-cpu-limit",
        "proxy.resources.cpu.request" => "--proxy-cpu-request",
        "proxy.resources.memory.limit" => "--proxy-memory-limit",
        "proxy.resources.memory.request" => "--proxy-memory-request",
        _ => return None,
    })
}

/// The target of manifests that the CLI renders.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) enum RenderedTo {
    /// They are applied.
    Cluster,
    /// They are written to a file, for Git.
    File(&'static str),
}

impl RenderedTo {
    /// The line that renders them to it.
    pub(in crate::checks) fn line(self, call: Call) -> Line {
        match self {
            RenderedTo::Cluster => call.pipe(apply()),
            RenderedTo::File(file) => call.to_file(file),
        }
    }
}

/// `linkerd upgrade` with more options.
pub(super) fn by_cli(upgrade: Call, options: &Options<'_>, force: Option<&'static str>, to: RenderedTo) -> Line {
    let upgrade = if options.ha { upgrade.words("--ha") } else { upgrade };
    let with_flag = options.values.iter().filter_map(|(path, value, _)| Some((flag(path)?, value)));
    let upgrade = with_flag.fold(upgrade, |upgrade, (flag, value)| upgrade.option(flag, value.as_str()));
    let others = options.values.iter().filter(|(path, ..)| flag(path).is_none()).cloned().collect();
    let others = Options { values: others, ..Options::none() };
    let upgrade = others.settings(str::to_owned).fold(upgrade, |upgrade, set| upgrade.option("--set", set));
    let upgrade = options.files.iter().fold(upgrade, |upgrade, (option, _, file)| upgrade.option(option, *file));
    let force = if options.forced { Some("--force") } else { force };
    to.line(force.into_iter().fold(upgrade, |upgrade, option| upgrade.words(option)))
}

/// `linkerd upgrade` with the CLI of a release, the current values and these settings (`PATH=VALUE`); the option,
/// if it is forced; and the end of the step's text.
pub(in crate::checks) fn to_release(
    ctx: &Context<'_>,
    to: &LinkerdVersion,
    set: &[String],
    rendered_to: RenderedTo,
) -> (Command, Option<Forced>, String) {
    let options = current_certificates::kept(ctx, Options::none());
    let paths: Vec<&str> = set.iter().filter_map(|one| Some(one.split_once('=')?.0)).collect();
    let force = force(ctx, Some(to), IssuerWritten::Kept);
    let line = |force| {
        let upgrade = linkerd().control_plane(&ctx.namespaces().control_plane).words("upgrade");
        let upgrade = unsaved_options::options(ctx, upgrade, Some(to), &paths);
        let upgrade = set.iter().fold(upgrade, |call, one| call.option("--set", one.as_str()));
        current_certificates::with_files(
            ctx,
            guarded(Some(to), by_cli(upgrade, &options, force, rendered_to)),
            &options,
        )
    };
    let forced = force.and_then(|_| guard::until_replaced(ctx, IssuerWritten::Kept, &line(None).0));
    let (command, passed) = line(force);
    (command, forced, format!("{passed}{}", if force.is_some() { FORCED } else { "" }))
}

pub(super) fn crds_by_cli(home: &str, first: bool, to: RenderedTo) -> Line {
    let call = linkerd().control_plane(home);
    to.line(if first { call.words("install --crds") } else { call.words("upgrade --crds") })
}

pub(in crate::checks) fn apply() -> Call {
    kubectl().words("apply -f -")
}
