//! The plan of an upgrade: its steps in order, one release after the other, with commands that match the
//! installation method, and the verification of each step. Created from the same evidence as the findings.

use super::gateway_api_transfer::HeldDefinitions;
use super::mirrors;
use super::phases::{Phase, Plan};
use super::pull;
use super::reached::Reached;
use super::release;
use super::rollback;
use crate::card::Part;
use crate::checks::Upgrade;
use crate::checks::cni::chart::onto;
use crate::checks::control_plane::installation::values;
use crate::checks::prelude::*;
use crate::checks::restart;
use crate::checks::upgrade::{CRDS_CHART, chart_number, is_one_chart, managed_by, release_of_crds};
use crate::checks::versions::cli_install::install;
use crate::checks::versions::gateway_api::{HTTP, bring, brings_gateway_api, definition, install_bundle, stored_again};
use crate::checks::viz::first_with_ports;
use crate::command::{Call, linkerd, meshdoctor, own, program};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::{Between, ReleaseRow};
use crate::model::cni;
use crate::model::control_plane::proxy_version;
use crate::model::managed_by::{Installer, ManagedBy};
use crate::objects::DaemonSet;
use crate::version::{Channel, Minor};

/// File name of the bundle from before the upgrade to a release.
fn bundle_before(to: &LinkerdVersion) -> String {
    format!("before-{to}.tar.gz")
}

/// File name of the report with numbers of proxies from before the upgrade to a release.
fn numbers_before(to: &LinkerdVersion) -> String {
    format!("before-{to}.json")
}

/// Checks to run after the data plane is upgraded.
const DATA_PLANE: &str = "data-plane-skew,proxy-not-ready,pod-missing-proxy";
/// Checks to run after the control plane is ready: whether all of it has the release.
const CONTROL_PLANE: &str = "control-plane-outdated,control-plane-mixed-versions,control-plane-not-ready,\
                             control-plane-pods-refused";
/// The check of the multicluster extension before its Links are created again.
const LINK_DEFINITION: &str = "link-crd-missing";

/// Extensions with checks of their own, whose categories have the same names.
const EXTENSIONS: [&str; 3] = ["jaeger", "multicluster", "viz"];

/// The plan from the installed release to the target. `None` unless the target is a later minor or release.
pub(in crate::checks) fn plan(ctx: &Context<'_>, upgrade: &Upgrade) -> Option<Plan> {
    let from = super::Upgrade::from_context(ctx).ok()?.from;
    let target = &upgrade.to;
    let lags = oldest_proxy(ctx, &from).is_some();
    let hops = match from.same_release(target) {
        true if lags => Vec::new(),
        true => return None,
        false => hops(ctx, &from, target)?,
    };
    let mut phases = vec![before(ctx, &from, &hops, target)];
    let of_data_plane = |release: &LinkerdVersion| Phase {
        title: format!("Data plane to {release}"),
        part: Part::DataPlane,
        release: Some(release.clone()),
        remedy: data_plane(ctx, release, target),
    };
    // An upgrade that began earlier ends first: no release supports proxies two minors behind.
    phases.extend(lags.then(|| of_data_plane(&from)));
    let mut reached = Reached::now(ctx).with_cli(ctx);
    let mut earlier = from.clone();
    for release in hops.clone() {
        hop(ctx, (&earlier, &release), &mut reached, &mut phases);
        phases.push(of_data_plane(&release));
        earlier = release;
    }
    let moves_plugin = phases.iter().any(|phase| phase.part == Part::LinkerdCni);
    phases.extend((!hops.is_empty()).then(|| rollback::phase(ctx, &from, &hops, moves_plugin)));
    let connection = &ctx.settings.rerun.connection;
    phases.iter_mut().for_each(|phase| phase.remedy = std::mem::take(&mut phase.remedy).aimed(connection));
    Some(Plan { phases, recorded: None })
}

/// Whether the plan has a phase that moves the Gateway API out of Linkerd's charts.
pub(super) fn moves_gateway_api(ctx: &Context<'_>, from: &LinkerdVersion, to: &LinkerdVersion) -> bool {
    let mut reached = Reached::now(ctx);
    let mut hops = hops(ctx, from, to).into_iter().flatten();
    hops.any(|release| reached.next_gateway_api(ctx, &release).is_some())
}

/// The target releases in order; `None` if the target is older.
pub(in crate::checks) fn hops(
    ctx: &Context<'_>,
    from: &LinkerdVersion,
    to: &LinkerdVersion,
) -> Option<Vec<LinkerdVersion>> {
    let (first, last) = (minor_of(ctx, from)?, minor_of(ctx, to)?);
    // Releases before 2.11 go to 2.11 first, by its own documentation.
    if first < OLDEST && last > first {
        return None;
    }
    if last < first || to.cmp_same_channel(from).is_some_and(std::cmp::Ordering::is_lt) {
        return None;
    }
    let between = |row: &&ReleaseRow| row.minor > first && row.minor < last;
    let rows = ctx.knowledge.releases().rows().iter().filter(between);
    Some(rows.map(|row| stop(row, from, to)).chain([to.clone()]).collect())
}

/// The oldest minor from which a plan goes.
pub(super) const OLDEST: Minor = Minor::new(2, 11);

/// The minor of a release; edges before the oldest known minor belong to the one before it, or are older.
pub(super) fn minor_of(ctx: &Context<'_>, release: &LinkerdVersion) -> Option<Minor> {
    let older = || is_one_chart(ctx.knowledge, release).then_some(OLDEST);
    release.minor(ctx.knowledge.minors()).or_else(older)
}

/// The release of a minor on the way from one release to another: between releases of a vendor, the first one of that
/// vendor.
pub(super) fn stop(row: &ReleaseRow, from: &LinkerdVersion, to: &LinkerdVersion) -> LinkerdVersion {
    let of_vendor = |release: &LinkerdVersion| matches!(release.channel(), Channel::Enterprise | Channel::Preview);
    let own = (of_vendor(from) && of_vendor(to)).then(|| format!("enterprise-{}.0", row.minor).parse().ok());
    own.flatten().unwrap_or_else(|| row.release())
}

/// The oldest release of a running proxy, if its minor is older than that of the control plane: an earlier upgrade has
/// not ended. Reads `pods`.
pub(super) fn oldest_proxy(ctx: &Context<'_>, control_plane: &LinkerdVersion) -> Option<LinkerdVersion> {
    let table = ctx.knowledge.minors();
    let minor = control_plane.minor(table)?;
    let home = ctx.namespaces().control_plane.as_str();
    let meshed = ctx.for_steps::<Pod>().iter().filter(|pod| {
        let meta = &pod.metadata;
        meta.namespace != home && !pod.is_finished() && meta.deletion_timestamp.is_none()
    });
    let versions = meshed.filter(|pod| pod.spec.proxy().is_some()).filter_map(proxy_version);
    let behind = versions.filter_map(|version| Some((version.minor(table)?, version)));
    behind.filter(|(own, _)| *own < minor).min_by_key(|(own, _)| *own).map(|(_, version)| version)
}

/// The preparation: `from` is the installed release, `hops` the releases up to the target in order.
fn before(ctx: &Context<'_>, from: &LinkerdVersion, hops: &[LinkerdVersion], target: &LinkerdVersion) -> Phase {
    let json = format!("json={}", numbers_before(target));
    let remedy = Remedy::new()
        .command(
            "Repair what this lists first: an upgrade does not fix today's problems, and they hide those that it \
             causes",
            meshdoctor().words("check --fail-on warning"),
        )
        .command(
            format!("Save the current state, redacted, for a later comparison with {}", own("diff")),
            meshdoctor().words("collect --output").arg(bundle_before(target)),
        )
        .command(
            "Save the numbers of proxies (failures, latency, memory), at a time with the usual traffic",
            meshdoctor().words("check --proxies=2m --fail-on never --output").arg(json),
        )
        .command(
            "Check that no certificate expires before the data plane is upgraded: renew those that this \
             lists first",
            meshdoctor().words("check --only certificates --fail-on warning"),
        );
    let mut reached = Reached::now(ctx);
    let remedy = hops.iter().fold(remedy, |remedy, to| {
        let plugin = reached.next_plugin(ctx, to);
        pull::tried(ctx, remedy, (from, to), plugin.as_ref())
    });
    Phase { title: "Before".to_owned(), part: Part::Before, release: None, remedy }
}

/// Adds the changes that the release introduces and no object shows. Reads `linkerd-config`.
fn heeded(ctx: &Context<'_>, remedy: Remedy, from: &LinkerdVersion, to: &LinkerdVersion) -> Remedy {
    let cni = values(ctx).ok().and_then(|values| values.bool("cniEnabled")) == Some(true);
    let between = Between { from, to, minors: ctx.knowledge.minors() };
    let rows = ctx.knowledge.upgrades().notes_between(between).filter(|row| row.cni.is_none_or(|only| only == cni));
    rows.fold(remedy, |remedy, row| {
        let when = if row.is_certain(between) { "With" } else { "Perhaps with" };
        remedy.note(format!("{when} {to} {}", row.what))
    })
}

/// Adds the phases up to the control plane and its extensions of a release.
fn hop(
    ctx: &Context<'_>,
    (from, to): (&LinkerdVersion, &LinkerdVersion),
    reached: &mut Reached,
    phases: &mut Vec<Phase>,
) {
    let phase = |title: String, part, remedy| Phase { title, part, release: Some(to.clone()), remedy };
    phases.extend(gateway_api(ctx, to, reached));
    phases.push(phase(format!("CLI and CRDs of {to}"), Part::Crds, cli_and_crds(ctx, to, reached)));
    phases.extend(linkerd_cni(ctx, to, reached));
    phases.push(phase(format!("Control plane to {to}"), Part::ControlPlane, control_plane(ctx, (from, to))));
    if let Some(remedy) = extensions(ctx, (from, to)) {
        phases.push(phase(format!("Extensions to {to}"), Part::Extensions, remedy));
        phases.extend(mirrors::phase(ctx, to));
    }
}

fn cli_and_crds(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached) -> Remedy {
    let act = format!("Install the linkerd CLI {to}");
    let origin = ctx.knowledge.channels().origin(to);
    let remedy = match origin {
        _ if !reached.needs_cli(to) => Remedy::new(),
        Some(_) => Remedy::new().command(act, install(ctx.knowledge, to)),
        None => Remedy::new().step(StepKind::Command, format!("{act}, from its vendor")),
    };
    let remedy = match origin.and_then(|origin| origin.license.as_deref()) {
        Some(variable) => remedy.note(format!(
            "Have the license key ready: the CLI reads it from {variable}, the chart from its \
             value license"
        )),
        None => remedy,
    };
    let remedy = match to.channel() == Channel::Enterprise && ctx.upgrade().is_some_and(|way| way.to != *to) {
        true => remedy.note(format!(
            "{to} stands for its minor: take the newest release of that minor, in all commands up to the next release"
        )),
        false => remedy,
    };
    let remedy = release::crds(ctx, remedy, to);
    let remedy = match keeps_gateway_api(ctx, to, reached) {
        true => remedy.note(
            "--reuse-values keeps the Gateway API CRDs in the Helm release that holds them. Without it, \
             and without their annotation helm.sh/resource-policy=keep, Helm deletes them with every route",
        ),
        false => remedy,
    };
    let remedy = remedy.note(
        "From here on keep the CRDs, even in a rollback: older ones may lack a version in which objects \
         are stored by now",
    );
    let check = meshdoctor().words("check --crds --expected-version").arg(to.to_string()).words("--only crd-missing");
    let applied = mark_of_crds(ctx, to).map(|mark| {
        let read = kubectl().words("get crd servers.policy.linkerd.io -o yaml");
        read.pipe(program("grep").words("-F").arg(mark))
    });
    remedy.shown_by(Command::lines(applied.into_iter().chain([check.into()])))
}

/// The text in Linkerd's CRDs that names the release that installed them, as the CLI or Helm writes it. Reads CRDs and
/// `deployments.apps`.
fn mark_of_crds(ctx: &Context<'_>, to: &LinkerdVersion) -> Option<String> {
    let by = managed_by(ctx);
    if by.gitops.is_some() {
        return None;
    }
    match (release_of_crds(ctx), by.installer) {
        (Some(_), _) => chart_number(ctx.knowledge, CRDS_CHART.0, to).map(|it| format!("{}-{it}", CRDS_CHART.0)),
        (None, Some(Installer::Cli)) => Some(format!("linkerd/cli {to}")),
        (None, _) => None,
    }
}

fn control_plane(ctx: &Context<'_>, (from, to): (&LinkerdVersion, &LinkerdVersion)) -> Remedy {
    let remedy = release::control_plane(ctx, heeded(ctx, Remedy::new(), from, to), (from, to));
    let remedy = remedy
        .command("Watch the rollout: each Deployment completes, and new pods get a proxy and start", watched(ctx));
    let checked = linkerd().control_plane(&ctx.namespaces().control_plane).words("check");
    let remedy = remedy.command("Run linkerd check", checked);
    let all = meshdoctor().words("check");
    let (remedy, all) = match mirrors::link_version_changes(ctx, from, to) {
        false => (remedy, all),
        true => (
            remedy.note(
                "Until the next step installs the Link CRD of this release, linkerd check fails on it and \
                 existing links keep working",
            ),
            all.words("--skip multicluster"),
        ),
    };
    let of_control_plane = meshdoctor()
        .words("check --expected-version")
        .arg(to.to_string())
        .words("--only")
        .arg(CONTROL_PLANE)
        .words("--fail-on warning");
    let remedy = remedy.shown_by(Command::lines([of_control_plane, all]));
    release::pruned(ctx, remedy, to)
}

/// The steps for the installed extensions; `None` without any. Links have a phase of their own.
fn extensions(ctx: &Context<'_>, (from, to): (&LinkerdVersion, &LinkerdVersion)) -> Option<Remedy> {
    let namespaces = ctx.optional_list::<Namespace>();
    let extensions = namespaces.iter().filter_map(|namespace| namespace.metadata.label(EXTENSION_LABEL));
    // A finding covers an extension without further releases.
    let is_gone = |name: &&str| ctx.knowledge.upgrades().is_extension_gone(name, to, ctx.knowledge.minors());
    let mut names: Vec<&str> = extensions.filter(|name| !is_gone(name)).collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let remedy = names.iter().fold(Remedy::new(), |remedy, name| release::extension(ctx, remedy, name, (from, to)));
    let checked = names.iter().filter(|name| EXTENSIONS.contains(name));
    let checked: Vec<&str> =
        checked.map(|name| if *name == "multicluster" { LINK_DEFINITION } else { *name }).collect();
    // What the release of viz brings itself ends with a later one, and no step of this phase repairs it.
    let later = first_with_ports(ctx, to).filter(|_| names.contains(&"viz"));
    let remedy = match &later {
        Some(later) => remedy.note(format!(
            "viz of {to} does not scrape the renamed ports of the control plane (viz-scrape-mismatch): \
                 viz of {later} or later does"
        )),
        None => remedy,
    };
    if checked.is_empty() {
        return Some(remedy);
    }
    let check = meshdoctor().words("check --only").arg(checked.join(","));
    let check = if later.is_some() { check.words("--skip viz-scrape-mismatch") } else { check };
    Some(remedy.shown_by(check.words("--fail-on warning")))
}

/// Whether the chart of the CRDs manages the Gateway API by then, and the release's chart would omit it by
/// default.
fn keeps_gateway_api(ctx: &Context<'_>, to: &LinkerdVersion, reached: &Reached) -> bool {
    let http = definition(ctx, HTTP).ok().flatten();
    let held = http.and_then(|http| HeldDefinitions::find(ctx, http));
    !reached.is_brought() && !brings_gateway_api(ctx, to) && held.is_some_and(|held| held.by_helm())
}

/// The command that watches the rollout of the control plane.
fn watched(ctx: &Context<'_>) -> Command {
    let home = ctx.namespaces().control_plane.as_str();
    Command::from(kubectl().namespace(home).words("rollout status deployment --timeout=10m"))
}

/// The sentence about the point after which this hop cannot be undone.
fn no_return(release: &LinkerdVersion) -> String {
    format!(
        "This is the point of no return of {release}: once a pod runs its proxy, an older control plane \
         would be behind it, which no release supports. Begin with one expendable namespace, and watch its \
         success rate and latency through its usual traffic before you continue"
    )
}

/// The steps that upgrade the data plane after the control plane of a release.
fn data_plane(ctx: &Context<'_>, release: &LinkerdVersion, target: &LinkerdVersion) -> Remedy {
    let act = "Restart meshed workloads, one namespace at a time: each pod gets the new proxy when it is \
     created";
    let remedy = Remedy::new().note(no_return(release));
    let controllers = mirrors::chart_controllers(ctx, release);
    let successors: Vec<_> = controllers.iter().filter(|one| one.legacy().is_some()).collect();
    let is_gone = |owner: &Owner| successors.iter().any(|one| one.replaces(owner));
    let remedy = restart::meshed_after(ctx, remedy, act, &is_gone, release);
    let remedy = match successors.is_empty() {
        true => remedy,
        false => remedy.command(
            "Restart the chart's controllers, which replaced those that `linkerd multicluster link` created",
            Command::lines(successors.iter().map(|one| one.restart())),
        ),
    };
    remedy
        // A proxy that is one minor behind is only an info, and would be left otherwise.
        .shown_by(Command::lines([
            meshdoctor().words("check --only").arg(DATA_PLANE).words("--fail-on info"),
            meshdoctor()
                .words("check --proxies=2m --before")
                .arg(numbers_before(target))
                .words("--only")
                .arg(crate::checks::TRAFFIC)
                .words("--fail-on warning"),
        ]))
}

/// The phase of linkerd-cni, if it is installed and older than the version of the release or of `--to-cni`.
fn linkerd_cni(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached) -> Option<Phase> {
    let plugin = reached.next_plugin(ctx, to)?;
    let remedy = Remedy::new().command(
        format!("Check what linkerd-cni {plugin} changes on these nodes"),
        meshdoctor().words("check --to-cni").arg(plugin.to_string()).words("--only cni-plugin-upgrade-hazard"),
    );
    let remedy = match ctx.knowledge.cni_plugin().is_beyond(&plugin) {
        true => remedy.note(format!(
            "The changes of {plugin} are not known to this version: read its release notes, and \
             try it on one node first"
        )),
        false => remedy,
    };
    let installer = ctx.optional_list::<DaemonSet>().iter().find(|set| cni::is_installer(set));
    let by = installer.map(|set| ManagedBy::from_metadata(&set.metadata)).unwrap_or_default();
    let remedy = match by.gitops.filter(|_| !by.is_rendered_by_cli()) {
        Some(owner) => {
            let act = format!("Upgrade linkerd-cni to {plugin} (image.version={plugin})");
            release::in_git(ctx, remedy, owner, &act, "linkerd2-cni", to)
        }
        None => onto(ctx, remedy, &plugin, to),
    };
    let remedy = installer.into_iter().fold(remedy, |remedy, set| {
        let of_it = |call: Call| call.operand(format!("daemonset/{}", set.metadata.name));
        let home = || kubectl().namespace(&set.metadata.namespace);
        let rollout = of_it(home().words("rollout status")).words("--timeout=15m");
        let images = of_it(home().words("get")).words("-o").arg("jsonpath={.spec.template.spec.containers[*].image}");
        remedy.command("Wait until it is ready on every node", rollout).shown_by(Command::lines([
            images.pipe(program("grep").words("-F").arg(plugin.to_string())),
            meshdoctor().words("check --only cni").into(),
        ]))
    });
    Some(Phase { title: format!("linkerd-cni to {plugin}"), part: Part::LinkerdCni, release: Some(to.clone()), remedy })
}

/// The phase of the Gateway API, if its version by then is too old for the release and the release's charts
/// do not install it.
fn gateway_api(ctx: &Context<'_>, to: &LinkerdVersion, reached: &mut Reached) -> Option<Phase> {
    let step = reached.next_gateway_api(ctx, to)?;
    if let Some(older) = &step.replaced_with {
        let held = HeldDefinitions::find(ctx, step.definition)?;
        let remedy = held.handed_over(ctx, Remedy::new());
        return Some(Phase {
            title: format!("Gateway API v{}, which the CRDs of {to} would replace with v{older}", step.there),
            part: Part::GatewayApi,
            release: Some(to.clone()),
            remedy: remedy.shown_by(
                meshdoctor()
                    .words("check --to")
                    .arg(to.to_string())
                    .words("--only upgrade-orphans-gateway-api --fail-on info"),
            ),
        });
    }
    let remedy = match step.stored_as_alpha {
        Some(grpc) => stored_again(Remedy::new(), grpc, step.stores_v1),
        None => Remedy::new(),
    };
    let remedy = match HeldDefinitions::find(ctx, step.definition) {
        // Their chart has no version of the range, so they are transferred from it.
        Some(held) => install_bundle(held.handed_over(ctx, remedy), Some(step.definition), step.wanted),
        None => bring(ctx, remedy, Some(step.definition), step.wanted),
    };
    let remedy = remedy.shown_by(
        meshdoctor()
            .words("check --to")
            .arg(to.to_string())
            .words("--only gateway-api-missing,gateway-api-unsupported --fail-on warning"),
    );
    Some(Phase {
        title: format!("Gateway API for {to}, which finds v{}", step.there),
        part: Part::GatewayApi,
        release: Some(to.clone()),
        remedy,
    })
}
