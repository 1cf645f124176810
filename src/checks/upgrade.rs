//! Steps that change the control plane: with the tool that installed it, according to its labels and
//! annotations, and at the installed release. If a GitOps controller manages it, the change belongs in Git
//! and no command is printed. `linkerd upgrade` works only if the CLI installed Linkerd, and moves the
//! whole control plane to the CLI's release, so the step checks that release first. Helm installs the
//! newest chart unless given a version, so the step passes the installed one.

mod charts;
mod cli;
mod current_certificates;
mod guard;
mod held_charts;
mod options;
mod stored;
mod unsaved_options;

use crate::checks::prelude::*;
use crate::checks::trust_roots::{
    TRUST_ROOT_HASH, changes_templates, chart_writes_bundle, decided_before, strands_proxies,
};
use crate::checks::upgrades::gitops;
use crate::command::{Line, helm};
use crate::finding::{CUTS_OFF, Restarts, Step};
use crate::knowledge::Known;
use crate::model::control_plane::{components, installed};
use crate::model::installed::COMPONENT;
use crate::model::managed_by::{GitOps, Installer, ManagedBy, Release};
use crate::objects::CustomResourceDefinition;
use charts::by_helm;
pub(super) use charts::crds_by_helm;
pub(super) use charts::{CONTROL_PLANE, CRDS_CHART, Chart, chart_number, chart_of, if_chart_known, installed_chart};
pub(super) use cli::{FORCED, RenderedTo, apply, cli_of, guarded, release_of_cli, to_release};
use cli::{crds_by_cli, upgraded_by_cli};
pub(super) use current_certificates::{BUNDLE as CURRENT_BUNDLE, stored_instead, stored_issuer, without_key};
pub(super) use guard::signers;
pub(super) use held_charts::{exactly, is_one_chart, only_if_named_holds, only_with_chart, own_chart, version_script};
pub(super) use options::Options;
use options::{CERTIFICATE, KEY, KEY_OPTION};
pub(super) use stored::{OVERRIDES_FILE, Stored, issuer_to_files, stored_issuer_to_files, stored_key_to_file};
pub(super) use unsaved_options::{Unstored, unstored};

/// The act of a step that applies the installation again, unchanged. The charts make new certificates of the webhooks,
/// whose checksums are annotations of the pods.
pub(super) const REAPPLY: &str = "Reapply the control plane. Destination and the injector may restart";

/// Adds the step that performs `act` on the control plane, between the steps for files of the certificates that it
/// keeps. If it changes trust anchors, it states a restart. Reads `deployments.apps`.
pub(super) fn step(ctx: &Context<'_>, remedy: Remedy, kind: StepKind, act: &str, options: Options<'_>) -> Remedy {
    let options = current_certificates::kept(ctx, options);
    let kept = options.kept;
    let changes_anchors = options.sets(stored::ANCHORS) && (!kept.anchors || changes_templates(ctx));
    let cuts_off = !options.after_restarts && strands_proxies(ctx);
    let remedy = kept.to_files(ctx, remedy);
    let remedy = changed(ctx, remedy, kind, act, InstallationPart::ControlPlane(options));
    let remedy = if changes_anchors { restarted_by_chart(ctx, remedy, cuts_off) } else { remedy };
    kept.delete_files(if changes_anchors && cuts_off { decided_before(ctx, remedy) } else { remedy })
}

/// [`step`], to change values of the chart.
pub(super) fn with_values(ctx: &Context<'_>, remedy: Remedy, act: &str, options: Options<'_>) -> Remedy {
    step(ctx, remedy, StepKind::ChartValue, act, options)
}

/// [`step`], to apply the installation again without any change.
pub(super) fn reapply(ctx: &Context<'_>, remedy: Remedy, act: &str) -> Remedy {
    step(ctx, remedy, StepKind::Command, act, Options::none())
}

/// Whether a chart of the installed release reads a value. Reads `deployments.apps`, if available.
pub(super) fn takes(ctx: &Context<'_>, chart: &str, path: &str) -> bool {
    let home = ctx.namespaces().control_plane.as_str();
    let release = installed(ctx.optional_list::<Deployment>(), None, home).map(|(version, _)| version);
    let edge = release.and_then(|release| release.presumed_edge(ctx.knowledge.minors()));
    let chart = ctx.knowledge.charts().get(chart);
    chart.is_some_and(|chart| matches!(chart.known(path, edge), Known::Taken(_)))
}

/// Adds the wait for the injector, which adds proxies with its new settings only then, if the last command
/// changes the control plane.
pub(super) fn injector_awaited(ctx: &Context<'_>, remedy: Remedy) -> Remedy {
    let mut own = remedy.steps.iter().rev().filter(|step| !current_certificates::is_deletion(step));
    let last = own.find_map(|step| step.command.as_ref()).map(Command::rendered);
    let is_change = |line: &String| {
        let renders = line.contains(" upgrade") || line.contains(" install --ignore-cluster");
        let by_cli = line.contains("linkerd") && renders && line.contains(" apply ");
        by_cli || line.contains("helm upgrade ") && line.contains("control-plane")
    };
    if !last.is_some_and(|lines| lines.iter().any(is_change)) {
        return remedy;
    }
    let rollout = kubectl().namespace(&ctx.namespaces().control_plane);
    let rollout = rollout.words("rollout status deployment/linkerd-proxy-injector --timeout=5m");
    remedy.command("Wait until the injector runs with the change", rollout)
}

/// The last step of a remedy that is more than the deletion of files.
pub(super) fn last_change(remedy: &Remedy) -> Option<&Step> {
    remedy.steps.iter().rev().find(|step| !current_certificates::is_deletion(step))
}

/// Marks the last step, which changes the trust anchors, if the chart then restarts the control plane: its
/// pod templates have the hash of the chart's trust anchors. Anchors that another tool writes are not part of
/// the chart. `cuts_off`: whether the restart cuts off running proxies.
fn restarted_by_chart(ctx: &Context<'_>, remedy: Remedy, cuts_off: bool) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let in_chart = chart_writes_bundle(ctx) == Some(true);
    let mut own = ctx.for_steps::<Pod>().iter().map(|pod| &pod.metadata);
    let hashed = own.any(|meta| {
        meta.namespace == home
            && meta.label(COMPONENT) == Some("identity")
            && meta.annotation(TRUST_ROOT_HASH).is_some()
    });
    if !(in_chart && hashed) {
        return remedy;
    }
    let mut remedy = remedy.restarting(Restarts::ControlPlaneByUpgrade);
    if let Some(last) = remedy.steps.last_mut().filter(|_| cuts_off) {
        last.insert(&format!(". The change restarts the control plane{CUTS_OFF}"));
    }
    remedy
}

/// Adds the step that installs the CRDs of a release, with the tool that installed the control plane. Reads
/// `deployments.apps`.
pub(super) fn crds(ctx: &Context<'_>, remedy: Remedy, act: &str, release: &LinkerdVersion, first: bool) -> Remedy {
    changed(ctx, remedy, StepKind::Upgrade, act, InstallationPart::Crds { release, first })
}

/// The part of an installation to change.
enum InstallationPart<'a> {
    ControlPlane(Options<'a>),
    /// The CRDs of this release; `first` if none exist yet.
    Crds {
        release: &'a LinkerdVersion,
        first: bool,
    },
}

/// The installation that steps change, and who manages it.
struct Installation<'c, 'a> {
    ctx: &'c Context<'a>,
    home: &'a str,
    version: Option<LinkerdVersion>,
    by: ManagedBy<'a>,
}

fn changed(ctx: &Context<'_>, remedy: Remedy, kind: StepKind, act: &str, part: InstallationPart<'_>) -> Remedy {
    let home = ctx.namespaces().control_plane.as_str();
    let version = installed(ctx.optional_list::<Deployment>(), None, home).map(|(version, _)| version);
    let installation = Installation { ctx, home, version, by: managed_by(ctx) };
    let version = installation.version.as_ref();
    let set = match &part {
        InstallationPart::ControlPlane(options) => options.describe().map(|words| format!(" (set {words})")),
        InstallationPart::Crds { release, .. } => Some(format!(" (chart linkerd-crds of {release})")),
    };
    let set = set.unwrap_or_default();
    let settings = match &part {
        InstallationPart::ControlPlane(options) => options.chart_settings(ctx.knowledge, version),
        InstallationPart::Crds { .. } => None,
    };
    if let Some(owner) = installation.by.gitops {
        if let Some(rendered) = installation.rendered_to_git(&remedy, owner, (kind, act), &part) {
            return rendered;
        }
        let text = format!("{act}: in Git{set}, since {owner} manages the control plane and reverts other changes");
        return gitops::synced(remedy.step(kind, text).settings(settings), owner);
    }
    match installation.by.installer {
        Some(Installer::Release(release)) => match &part {
            InstallationPart::ControlPlane(options) => match own_chart(ctx, release) {
                Some(own) => remedy.step(kind, own.set_text(act, CONTROL_PLANE.0, &set)).settings(settings),
                None => {
                    let command = by_helm(ctx.knowledge, release, version, options);
                    remedy.run(kind, format!("{act}, with Helm"), command)
                }
            },
            InstallationPart::Crds { release: wanted, .. } => {
                let held = release_of_crds(ctx);
                match held.and_then(|held| own_chart(ctx, held)) {
                    Some(own) => {
                        let number = chart_number(ctx.knowledge, CRDS_CHART.0, wanted);
                        own.upgraded(remedy, act, (CRDS_CHART.0, number.as_deref()), &[])
                    }
                    None => remedy.run(
                        kind,
                        format!("{act}: upgrade the release of chart linkerd-crds, with Helm"),
                        crds_by_helm(ctx.knowledge, held, wanted),
                    ),
                }
            }
        },
        Some(Installer::Chart) => {
            let text =
                format!("{act}: in the tool that renders the chart{set}, as no Helm release in the cluster holds it");
            remedy.step(kind, text).settings(settings)
        }
        Some(Installer::Cli) => installation.changed_by_cli(remedy, (kind, act), &part),
        None => match &part {
            InstallationPart::Crds { release, first: true } => {
                let applied = crds_by_cli(home, true, RenderedTo::Cluster);
                remedy.run(kind, format!("{act}{set}"), guarded(Some(release), applied))
            }
            InstallationPart::ControlPlane(_) | InstallationPart::Crds { .. } => {
                let text = format!(
                    "{act}{set}, with the tool that installed Linkerd. These commands show which: only the CLI leaves \
                     that Secret"
                );
                remedy.run(kind, text, which_tool(home)).settings(settings)
            }
        },
    }
}

impl Installation<'_, '_> {
    /// The steps that render the manifests with the CLI and put them into Git, if this is how they got there and the
    /// CLI can render them.
    fn rendered_to_git(
        &self,
        remedy: &Remedy,
        owner: GitOps<'_>,
        (kind, act): (StepKind, &str),
        part: &InstallationPart<'_>,
    ) -> Option<Remedy> {
        if !self.by.is_rendered_by_cli() {
            return None;
        }
        match part {
            InstallationPart::Crds { release, first } => {
                let rendered = crds_by_cli(self.home, *first, RenderedTo::File(gitops::CRDS_FILE));
                Some(crds_in_git(remedy.clone(), owner, act, guarded(Some(release), rendered)))
            }
            InstallationPart::ControlPlane(options) => {
                if options.stored_first.is_some() || stored::is_unusable(self.ctx) {
                    return None;
                }
                let to = RenderedTo::File(gitops::CONTROL_PLANE_FILE);
                let act = format!("{act}: render it with these settings to {}", gitops::CONTROL_PLANE_FILE);
                let version = self.version.as_ref();
                let remedy = upgraded_by_cli(self.ctx, remedy.clone(), (kind, &act), options, version, to);
                Some(gitops::committed(remedy, owner, gitops::CONTROL_PLANE_FILE))
            }
        }
    }

    /// Adds the steps that change a part with the CLI. They state its release, if it is known.
    fn changed_by_cli(&self, remedy: Remedy, (kind, act): (StepKind, &str), part: &InstallationPart<'_>) -> Remedy {
        let (ctx, version, to) = (self.ctx, self.version.as_ref(), RenderedTo::Cluster);
        let options = match part {
            InstallationPart::Crds { release, first } => {
                let applied = crds_by_cli(self.home, *first, to);
                return remedy.run(kind, act, guarded(Some(release), applied));
            }
            InstallationPart::ControlPlane(options) => options,
        };
        let remedy = match stored::is_unusable(ctx) {
            true => match stored::instead(ctx, remedy, kind, act, options, version) {
                (remedy, false) => return remedy,
                (remedy, true) => remedy,
            },
            false => remedy,
        };
        match &options.stored_first {
            None => upgraded_by_cli(ctx, remedy, (kind, act), options, version, to),
            Some(words) => {
                let remedy = stored::corrected(ctx, remedy, words);
                let options = Options { values: Vec::new(), ..options.clone() };
                let act = "Apply the control plane with the corrected values";
                upgraded_by_cli(ctx, remedy, (kind, act), &options, version, to)
            }
        }
    }
}

/// Whether the CLI manages the control plane and its `linkerd upgrade` cannot read the stored values, which
/// include the issuer.
pub(super) fn lacks_stored_values(ctx: &Context<'_>) -> bool {
    managed_by(ctx).is_by_cli() && stored::is_unusable(ctx)
}

/// Whether `linkerd upgrade` is known to find no usable values. Only for control planes that the CLI rendered.
pub(super) fn has_unusable_values(ctx: &Context<'_>) -> bool {
    stored::is_unusable(ctx)
}

/// Whether a printed change of the control plane starts from values that its installation stores, which include the
/// issuer.
pub(super) fn uses_stored_values(ctx: &Context<'_>) -> bool {
    managed_by(ctx).is_by_command() && !lacks_stored_values(ctx)
}

/// The tool that manages the control plane. Reads `deployments.apps`.
pub(super) fn managed_by<'a>(ctx: &Context<'a>) -> ManagedBy<'a> {
    let home = ctx.namespaces().control_plane.as_str();
    let deployments = ctx.optional_list::<Deployment>();
    let each = components(deployments, home);
    let each = each.iter().map(|component| ManagedBy::from_metadata(&component.deployment.metadata));
    // A Helm release is the most reliable sign, whatever the labels of a component are.
    let rank = |installer: &Installer<'_>| match installer {
        Installer::Release(_) => 0,
        Installer::Chart => 1,
        Installer::Cli => 2,
    };
    ManagedBy {
        installer: each.clone().filter_map(|by| by.installer).min_by_key(rank),
        gitops: each.clone().find_map(|by| by.gitops),
    }
}

/// Adds the steps that render CRDs with a command and put them into Git.
fn crds_in_git(remedy: Remedy, owner: GitOps<'_>, act: &str, rendered: Command) -> Remedy {
    let text = format!("{act}: render them to {}", gitops::CRDS_FILE);
    gitops::committed(remedy.run(StepKind::Upgrade, text, rendered), owner, gitops::CRDS_FILE)
}

/// CRDs that every release has.
const CRDS: [&str; 3] =
    ["serviceprofiles.linkerd.io", "servers.policy.linkerd.io", "authorizationpolicies.policy.linkerd.io"];

/// The Helm release of the CRD chart, according to the existing CRDs. Reads them by name.
pub(super) fn release_of_crds<'a>(ctx: &Context<'a>) -> Option<Release<'a>> {
    CRDS.iter().find_map(|name| {
        let found = ctx.object::<CustomResourceDefinition>(Scope::Cluster, name);
        let meta = &found.ok().flatten()?.metadata;
        ManagedBy::from_labels(&meta.labels, &meta.annotations).release()
    })
}

/// The tools that manage Linkerd's CRDs, according to the existing CRDs, if a GitOps controller is one of them. Reads
/// them by name.
pub(super) fn crds_managed_in_git<'a>(ctx: &Context<'a>) -> Option<ManagedBy<'a>> {
    CRDS.iter().find_map(|name| {
        let found = ctx.object::<CustomResourceDefinition>(Scope::Cluster, name);
        let meta = &found.ok().flatten()?.metadata;
        Some(ManagedBy::from_labels(&meta.labels, &meta.annotations)).filter(|by| by.gitops.is_some())
    })
}

/// Adds the steps that render the CRDs of a release with its CLI, and put them into Git.
pub(super) fn rendered_crds(
    ctx: &Context<'_>,
    remedy: Remedy,
    owner: GitOps<'_>,
    act: &str,
    to: &LinkerdVersion,
) -> Remedy {
    let home = &ctx.namespaces().control_plane;
    let rendered = crds_by_cli(home, false, RenderedTo::File(gitops::CRDS_FILE));
    crds_in_git(remedy, owner, act, guarded(Some(to), rendered))
}

/// Signs of the tool that installed Linkerd.
pub(super) fn which_tool(home: &str) -> Command {
    Command::lines([
        Line::from(kubectl().namespace(home).words("get secret linkerd-config-overrides -o name")),
        Line::from(helm().namespace(home).words("list")),
    ])
}

#[cfg(test)]
mod tests;
