//! Steps that change the control plane: with the tool that installed it, according to its labels and
//! annotations, and at the installed release. If a GitOps controller manages it, the change belongs in Git
//! and no command is printed. `linkerd upgrade` works only if the CLI installed Linkerd, and moves the
//! whole control plane to the CLI's release, so the step checks that release first. Helm installs the
//! newest chart unless given a version, so the step passes the installed one.

mod charts;
mod current_certificates;
mod guard;
mod stored;
mod unsaved_options;

use crate::checks::Context;
use crate::checks::trust_roots::{
    TRUST_ROOT_HASH, changes_templates, chart_writes_bundle, decided_before, strands_proxies,
};
use crate::checks::upgrades::gitops;
use crate::command::{Arg, Call, Command, Line, helm, helm_set, kubectl, linkerd};
use crate::finding::{CUTS_OFF, ChartSetting, ChartSettings, Forced, Remedy, Restarts, Step, StepKind};
use crate::item::Scope;
use crate::knowledge::{Knowledge, Known};
use crate::model::control_plane::{components, installed};
use crate::model::installed::COMPONENT;
use crate::model::managed_by::{GitOps, Installer, ManagedBy, Release};
use crate::objects::{CustomResourceDefinition, Deployment, Pod};
use crate::version::LinkerdVersion;
use charts::by_helm;
pub(super) use charts::crds_by_helm;
pub(super) use charts::{
    CONTROL_PLANE, CRDS_CHART, Chart, chart_number, chart_of, if_chart_known, installed_chart,
};
use current_certificates::Kept;
pub(super) use current_certificates::{BUNDLE as CURRENT_BUNDLE, stored_instead, stored_issuer, without_key};
pub(super) use guard::{IssuerWritten, force};
pub(super) use stored::{
    OVERRIDES_FILE, Stored, issuer_to_files, stored_issuer_to_files, stored_key_to_file,
};
pub(super) use unsaved_options::{Unstored, unstored};

/// The act of a step that applies the installation again, unchanged. The charts make new certificates of the webhooks,
/// whose checksums are annotations of the pods.
pub(super) const REAPPLY: &str = "Reapply the control plane. Destination and the injector may restart";

/// The part of the installation to change.
#[derive(Debug, Clone, Default)]
pub(super) struct Options<'a> {
    /// Chart values by their path, and the variable that the reader sets to the rest of one.
    values: Vec<(&'a str, String, Option<&'static str>)>,
    /// Chart values that are read from files: the CLI's option, the path, the file.
    files: Vec<(&'static str, &'static str, &'static str)>,
    /// Whether the CLI always skips its verification of proxies.
    forced: bool,
    /// Whether every proxy has been restarted by then.
    after_restarts: bool,
    /// Whether steps before it make the installation store the current certificates.
    stores_current: bool,
    /// Whether to pass the chart's values for high availability.
    ha: bool,
    /// The file to which a step before it writes the current trust anchors.
    bundle: Option<&'static str>,
    /// What it keeps by setting the current certificates.
    kept: Kept,
    /// What to change in the stored values first, because the CLI refuses them before it applies any option.
    stored_first: Option<String>,
}

/// The chart values of the issuer.
const CERTIFICATE: &str = "identity.issuer.tls.crtPEM";
const KEY: &str = "identity.issuer.tls.keyPEM";
/// The CLI's option for the issuer's key.
const KEY_OPTION: &str = "--identity-issuer-key-file";

impl<'a> Options<'a> {
    /// Nothing: the manifests are applied again with the current values.
    pub(super) fn none() -> Options<'a> {
        Options::default()
    }

    /// Sets a value of the chart.
    pub(super) fn set(mut self, path: &'a str, value: impl Into<String>) -> Options<'a> {
        self.values.push((path, value.into(), None));
        self
    }

    /// Sets a value of the chart to a list of these items and the value of a variable that the reader sets.
    pub(super) fn set_with(mut self, path: &'a str, these: String, variable: &'static str) -> Options<'a> {
        self.values.push((path, these, Some(variable)));
        self
    }

    /// The values as arguments of `--set`; `within` is the path of the values in the chart.
    fn settings<'s>(&'s self, within: impl Fn(&str) -> String + 's) -> impl Iterator<Item = Arg> + 's {
        self.values.iter().map(move |(path, value, more)| {
            let set = helm_set(&within(path), value);
            match more {
                None => Arg::from(set),
                Some(variable) if value.is_empty() => Arg::from(set).then(Arg::placeholder(variable)),
                Some(variable) => Arg::from(format!("{set}\\,")).then(Arg::placeholder(variable)),
            }
        })
    }

    /// Sets a value of the chart to the content of a file; `option` is the CLI's flag for it.
    pub(super) fn file(
        mut self,
        option: &'static str,
        path: &'static str,
        file: &'static str,
    ) -> Options<'a> {
        self.files.push((option, path, file));
        self
    }

    /// Sets the issuer to the certificate and key of these files.
    pub(super) fn pair(self, certificate: &'static str, key: &'static str) -> Options<'a> {
        self.file("--identity-issuer-certificate-file", CERTIFICATE, certificate).file(KEY_OPTION, KEY, key)
    }

    /// Sets the trust anchors to the bundle of a file.
    pub(super) fn anchors(self, bundle: &'static str) -> Options<'a> {
        self.file("--identity-trust-anchors-file", stored::ANCHORS, bundle)
    }

    /// For values that `linkerd upgrade` refuses as it reads the stored ones, before its options: there they are
    /// changed in the stored values (`words`: imperative, without the file).
    pub(super) fn stored_first(mut self, words: impl Into<String>) -> Options<'a> {
        self.stored_first = Some(words.into());
        self
    }

    /// For a step after one that writes the current trust anchors to a file.
    pub(super) fn with_bundle_in(mut self, file: &'static str) -> Options<'a> {
        self.bundle = Some(file);
        self
    }

    /// Makes the CLI always skip its verification of proxies.
    pub(super) fn forced(mut self) -> Options<'a> {
        self.forced = true;
        self
    }

    /// For a step after the restart of every proxy, when none has other trust anchors.
    pub(super) fn after_restarts(mut self) -> Options<'a> {
        self.after_restarts = true;
        self
    }

    /// For a step after others of the same remedy that restart every proxy and put the current certificates in place
    /// with the tool that installed Linkerd.
    pub(super) fn in_rotation(mut self) -> Options<'a> {
        self.stores_current = true;
        self.after_restarts()
    }

    /// Whether it sets a value to the content of a file.
    fn sets(&self, path: &str) -> bool {
        self.files.iter().any(|(_, set, _)| *set == path)
    }

    /// The issuer that it writes.
    fn issuer(&self) -> IssuerWritten {
        match self.sets(CERTIFICATE) && !self.kept.issuer {
            true => IssuerWritten::New,
            false => IssuerWritten::Kept,
        }
    }

    /// The values for high availability.
    pub(super) fn ha(mut self) -> Options<'a> {
        self.ha = true;
        self
    }

    /// The settings of the control plane's chart of a release, for values files.
    fn chart_settings(
        &self,
        knowledge: &Knowledge,
        version: Option<&LinkerdVersion>,
    ) -> Option<ChartSettings> {
        let origin = version.and_then(|version| knowledge.channels().origin(version));
        let chart = origin.and_then(|origin| origin.chart(CONTROL_PLANE.0)).unwrap_or(CONTROL_PLANE.0);
        let within =
            |path: &str| origin.map_or_else(|| path.to_owned(), |origin| origin.value(CONTROL_PLANE.0, path));
        let values = self.values.iter().map(|(path, value, more)| match more {
            None => ChartSetting::Value { path: within(path), value: value.clone(), is_text: false },
            Some(variable) => ChartSetting::Variable { path: within(path), value: value.clone(), variable },
        });
        let files = self.files.iter().map(|(_, path, file)| ChartSetting::File { path: within(path), file });
        let ha = self.ha.then_some(ChartSetting::HighAvailability);
        ChartSettings::new(chart, values.chain(files).chain(ha).collect())
    }

    /// The settings as text, for changes elsewhere: `clusterNetworks=10.0.0.0/8; identityTrustAnchorsPEM from
    /// bundle.crt`.
    fn describe(&self) -> Option<String> {
        let values = self.values.iter().map(|(path, value, more)| match more {
            None => format!("{path}={value}"),
            Some(variable) => format!("{path}={value} and {variable}"),
        });
        let files = self.files.iter().map(|(_, path, file)| format!("{path} from {file}"));
        let ha = self.ha.then(|| "the values of values-ha.yaml".to_owned());
        let all: Vec<String> = values.chain(files).chain(ha).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Adds the step that performs `act` on the control plane, between the steps for files of the certificates that it
/// keeps. If it changes trust anchors, it states a restart. Reads `deployments.apps`.
pub(super) fn step(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: StepKind,
    act: &str,
    options: Options<'_>,
) -> Remedy {
    let options = current_certificates::kept(ctx, options);
    let kept = options.kept;
    let changes_anchors = options.sets(stored::ANCHORS) && (!kept.anchors || changes_templates(ctx));
    let cuts_off = !options.after_restarts && strands_proxies(ctx);
    let remedy = kept.to_files(ctx, remedy);
    let remedy = changed(ctx, remedy, kind, act, InstallationPart::ControlPlane(options));
    let remedy = if changes_anchors { restarted_by_chart(ctx, remedy, cuts_off) } else { remedy };
    kept.delete_files(if changes_anchors && cuts_off { decided_before(ctx, remedy) } else { remedy })
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
    remedy.run(StepKind::Command, "Wait until the injector runs with the change", rollout)
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
pub(super) fn crds(
    ctx: &Context<'_>,
    remedy: Remedy,
    act: &str,
    release: &LinkerdVersion,
    first: bool,
) -> Remedy {
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

fn changed(
    ctx: &Context<'_>,
    remedy: Remedy,
    kind: StepKind,
    act: &str,
    part: InstallationPart<'_>,
) -> Remedy {
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
        let text =
            format!("{act}: in Git{set}, since {owner} manages the control plane and reverts other changes");
        return gitops::synced(remedy.step(kind, text).settings(settings), owner);
    }
    match installation.by.installer {
        Some(Installer::Release(release)) => match &part {
            InstallationPart::ControlPlane(options) => {
                let command = by_helm(ctx.knowledge, release, version, options);
                remedy.run(kind, format!("{act}, with Helm"), command)
            }
            InstallationPart::Crds { release: wanted, .. } => remedy.run(
                kind,
                format!("{act}: upgrade the release of chart linkerd-crds, with Helm"),
                crds_by_helm(ctx.knowledge, release_of_crds(ctx), wanted),
            ),
        },
        Some(Installer::Chart) => {
            let text = format!(
                "{act}: in the tool that renders the chart{set}, as no Helm release in the cluster holds it"
            );
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
    fn changed_by_cli(
        &self,
        remedy: Remedy,
        (kind, act): (StepKind, &str),
        part: &InstallationPart<'_>,
    ) -> Remedy {
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

/// Adds the `linkerd upgrade` at the installed release, if it is known.
fn upgraded_by_cli(
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

/// The release of the linkerd CLI that matches the control plane, if known. In the evaluation after an upgrade
/// it is the target. Reads `deployments.apps`.
pub(super) fn release_of_cli(ctx: &Context<'_>) -> Option<String> {
    if let Some(upgrade) = ctx.upgraded() {
        return Some(upgrade.to.to_string());
    }
    let home = ctx.namespaces().control_plane.as_str();
    let version = installed(ctx.optional_list::<Deployment>(), None, home).map(|(version, _)| version);
    version.map(|version| version.to_string())
}

/// The linkerd CLI of that release, as words.
pub(super) fn cli_of(release: Option<&str>) -> String {
    match release {
        Some(release) => format!("linkerd CLI {release}"),
        None => "the linkerd CLI of the control plane's release".to_owned(),
    }
}

/// Runs a line only with the CLI of a release. If the release is unknown, the CLI's version is printed first.
pub(super) fn guarded(wanted: Option<&LinkerdVersion>, line: Line) -> Command {
    match wanted {
        Some(wanted) => Line::only_with_cli(wanted.to_string(), line).into(),
        None => Command::lines([Line::from(linkerd().words("version --client --short").offline()), line]),
    }
}

/// Why a printed `linkerd upgrade` is forced.
pub(super) const FORCED: &str = ". --force is needed while some proxies have other trust anchors";

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
pub(super) enum RenderedTo {
    /// They are applied.
    Cluster,
    /// They are written to a file, for Git.
    File(&'static str),
}

impl RenderedTo {
    /// The line that renders them to it.
    pub(super) fn line(self, call: Call) -> Line {
        match self {
            RenderedTo::Cluster => call.pipe(apply()),
            RenderedTo::File(file) => call.to_file(file),
        }
    }
}

/// `linkerd upgrade` with more options.
fn by_cli(upgrade: Call, options: &Options<'_>, force: Option<&'static str>, to: RenderedTo) -> Line {
    let upgrade = if options.ha { upgrade.words("--ha") } else { upgrade };
    let with_flag = options.values.iter().filter_map(|(path, value, _)| Some((flag(path)?, value)));
    let upgrade = with_flag.fold(upgrade, |upgrade, (flag, value)| upgrade.option(flag, value.as_str()));
    let others = options.values.iter().filter(|(path, ..)| flag(path).is_none()).cloned().collect();
    let others = Options { values: others, ..Options::none() };
    let upgrade = others.settings(str::to_owned).fold(upgrade, |upgrade, set| upgrade.option("--set", set));
    let upgrade =
        options.files.iter().fold(upgrade, |upgrade, (option, _, file)| upgrade.option(option, *file));
    let force = if options.forced { Some("--force") } else { force };
    to.line(force.into_iter().fold(upgrade, |upgrade, option| upgrade.words(option)))
}

/// `linkerd upgrade` with the CLI of a release, the current values and these settings (`PATH=VALUE`); the option,
/// if it is forced; and the end of the step's text.
pub(super) fn to_release(
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

fn crds_by_cli(home: &str, first: bool, to: RenderedTo) -> Line {
    let call = linkerd().control_plane(home);
    to.line(if first { call.words("install --crds") } else { call.words("upgrade --crds") })
}

/// Adds the steps that render CRDs with a command and put them into Git.
fn crds_in_git(remedy: Remedy, owner: GitOps<'_>, act: &str, rendered: Command) -> Remedy {
    let text = format!("{act}: render them to {}", gitops::CRDS_FILE);
    gitops::committed(remedy.run(StepKind::Upgrade, text, rendered), owner, gitops::CRDS_FILE)
}

pub(super) fn apply() -> Call {
    kubectl().words("apply -f -")
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
mod tests {
    use super::*;
    use crate::knowledge::Knowledge;

    fn edge() -> LinkerdVersion {
        "edge-25.4.4".parse().expect("a version")
    }

    #[test]
    fn cli_upgrade_is_guarded_by_its_release() {
        let upgrade = linkerd().control_plane("mesh").words("upgrade");
        let line = by_cli(
            upgrade,
            &Options::none().set("clusterNetworks", "10.0.0.0/8,fd00::/8"),
            None,
            RenderedTo::Cluster,
        );
        let said = guarded(Some(&edge()), line).to_string();
        assert_eq!(
            said,
            "linkerd version --client --short | grep -Fx edge-25.4.4 && \
             linkerd -L mesh upgrade \
             --set 'clusterNetworks=10.0.0.0/8\\,fd00::/8' | kubectl apply -f -"
        );
    }

    #[test]
    fn helm_upgrades_the_release_that_is_there_at_its_own_version() {
        let release = Release { name: "mesh", namespace: "ops" };
        let said = by_helm(Knowledge::embedded(), release, Some(&edge()), &Options::none().ha()).to_string();
        assert!(
            said.contains("helm repo add linkerd-edge https://helm.linkerd.io/edge --force-update"),
            "{said}"
        );
        assert!(said.contains("helm list -n ops --filter '^mesh$'"), "{said}");
        assert!(
            said.contains("helm upgrade mesh linkerd-edge/linkerd-control-plane -n ops --version \"$CHART\""),
            "{said}"
        );
        let of = |version: &str| {
            let version = version.parse().expect("a version");
            by_helm(Knowledge::embedded(), release, Some(&version), &Options::none().set("proxy.cores", "2"))
        };
        let enterprise = of("enterprise-2.17.0").to_string();
        assert!(
            enterprise.contains("helm repo add linkerd-buoyant https://helm.buoyant.cloud --force-update")
                && enterprise
                    .contains("helm upgrade mesh linkerd-buoyant/linkerd-enterprise-control-plane -n ops")
                && enterprise.contains("--set linkerd-control-plane.proxy.cores=2"),
            "{enterprise}"
        );
        // The chart of an unknown vendor.
        assert_eq!(of("2.17.0").placeholders(), ["CONTROL_PLANE_CHART"]);
    }
}
