//! `meshdoctor check`: evidence in, reports out.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use super::args::{Check, Manifests};
use super::evidence::{self, EvidenceSource, Read};
use super::examine::{self, Examination};
use super::format::{Format, Output};
use super::stop::Stop;
use super::wait::Wait;
use super::{
    before, change, chart, config, evaluation_time, files, fleet, namespaces, output, output_names, params, publish,
    request, rerun_from_bundle, saved, verify, waivers,
};
use crate::chart::gitops::Installed;
use crate::checks::{self, Settings, Upgrade};
use crate::collect::Collected;
use crate::command::{Flag, Repeated, Rerun, meshdoctor};
use crate::inspect::link_endpoints;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::policy::{self, Policy};
use crate::report;
use crate::source::dump::Places;
use crate::version::LinkerdVersion;

pub(super) fn run(args: &Check) -> anyhow::Result<u8> {
    if let Some(saved) = saved_report(args) {
        return saved::show(saved, &args.report, &args.verbosity);
    }
    let args = &with_files(args)?;
    if fleet::is_meant(args) {
        return fleet::run(args);
    }
    one(&output_names::one(args)?, None)
}

/// The saved report that a file alone on the command line holds.
fn saved_report(args: &Check) -> Option<&Path> {
    let [file] = args.files.as_slice() else { return None };
    (args.evidence.bundle.is_empty() && args.verify.is_none() && verify::is_report(file)).then_some(file)
}

/// The flags, with file arguments added as bundles.
///
/// # Errors
/// A file does not exist, or is a report rather than evidence.
fn with_files(args: &Check) -> Result<Check, Stop> {
    let mut args = args.clone();
    let files = std::mem::take(&mut args.files);
    args.evidence = evidence::with_files(&args.evidence, &files, |word| {
        let only = || meshdoctor().words("check --only").arg(word.to_owned());
        is_of_checks(word).then(|| format!("to run only these checks, use {}", only()))
    })?;
    Ok(args)
}

/// Whether a word names a check or a category of checks.
fn is_of_checks(word: &str) -> bool {
    checks::find(word).is_some() || checks::all().any(|check| check.card().front.category == word)
}

/// Receives each cluster that was read, for uses other than its findings.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&Cluster);

/// Checks one cluster.
pub(super) fn one(args: &Check, watch: Option<Watch<'_>>) -> anyhow::Result<u8> {
    depends_on_given(args)?;
    if let Some(path) = &args.verify {
        return verify::run(args, path);
    }
    let began = Instant::now();
    let loaded = request::knowledge(args)?;
    let knowledge = loaded.as_ref().unwrap_or_else(|| Knowledge::embedded());
    let to_install = with_release_to_install(args, knowledge)?;
    let args = to_install.as_ref().unwrap_or(args);
    asks_well(args, knowledge)?;
    let opened = evidence::open(&args.evidence, &args.verbosity)?;
    let again = opened
        .as_ref()
        .and_then(|captured| rerun_from_bundle::with_stored_options(args, captured.run_options()?))
        .transpose()?;
    let args = again.as_ref().unwrap_or(args);
    let earlier = waivers::baseline(args)?;
    let before = before::read(args)?;
    let wait = Wait::new(args, began)?;
    let policy =
        Policy { baseline: earlier.as_ref().map(|earlier| earlier.baseline.clone()), ..request::policy(args)? };
    let checks = selected(args, &policy, knowledge)?;
    let mut settings = change_settings(args, &policy, knowledge)?;
    settings.before = before.as_ref().map(|before| before.traffic.clone());
    let mut items = items(args, &checks, watch.is_some());
    let way = EvidenceSource {
        opened: RefCell::new(opened),
        // Waiting must see changes, and a cache may be stale.
        from_cache: wait.is_none(),
        quiet: args.verbosity.quiet,
        sampled: &args.namespace,
        reports_gaps: true,
        ..EvidenceSource::new(&args.evidence, &args.connection)
    };
    let CheckEvidence { mut read, places, change: mut changed } =
        gathered(args, &way, &mut items, policy.on_change, (knowledge, &mut settings))?;
    heeds_its_time(args, &mut read.collected, changed.as_mut().map(|(_, collected)| collected));
    settings.rerun = rerun(args, &read);
    fits(args, &read.collected, earlier.as_ref(), before.as_ref())?;
    let judge_of = |read: &Read| {
        let judged = changed.as_ref().map_or(&read.collected, |(_, collected)| collected);
        let mut policy = policy.clone();
        policy.waivers.extend(policy::on_objects(&judged.cluster));
        examine::judge(&Examination {
            checks: &checks,
            policy: &policy,
            settings: &settings,
            knowledge,
            origin: read.origin.clone(),
            collected: judged,
            change: changed.as_ref().map(|(change, _)| (change.clone(), &read.collected)),
            places: places.as_ref(),
            began,
            timeout: args.connection.timeout,
            named: (args.evidence.linkerd_namespace.clone(), args.evidence.cni_namespace.clone()),
            reports: &args.report,
            verbosity: &args.verbosity,
        })
    };
    let mut report = judge_of(&read);
    if let Some(mut wait) = wait {
        while wait.wait_for_next(&report)? {
            read = evidence::read(&way, &args.verbosity, &items, args.save.as_deref().into())?;
            report = judge_of(&read);
        }
    }
    let status = examine::print(&report, &args.report, &args.verbosity).and_then(|status| read.saved(status));
    let publish = |status| publish::run(&report, &way, &args.verbosity, status);
    let status = status.map(|status| if args.publish { publish(status) } else { status });
    match watch {
        Some(watch) => watch(&read.collected.cluster),
        None if output::is_captured() => {}
        // The process ends here: freeing the evidence would only take time.
        None => std::mem::forget((read.collected, changed)),
    }
    status
}

/// The evidence of a run.
struct CheckEvidence {
    read: Read,
    /// The positions of objects in files.
    places: Option<Places>,
    /// Manifests, and the evidence after they are applied.
    change: Option<(report::ManifestChange, Collected)>,
}

/// Gathers the evidence of a run. The settings get the releases and chart values of manifests.
fn gathered(
    args: &Check,
    way: &EvidenceSource<'_>,
    items: &mut BTreeSet<Item>,
    on_change: bool,
    (knowledge, settings): (&Knowledge, &mut Settings),
) -> anyhow::Result<CheckEvidence> {
    if !args.manifests.manifests.is_empty() || chart::is_alone(args) {
        return manifests_alone(args, items, knowledge, settings);
    }
    if on_change {
        return with_change(args, way, items, knowledge, settings);
    }
    let read = evidence::read(way, &args.verbosity, items, args.save.as_deref().into())?;
    Ok(CheckEvidence { read, places: None, change: None })
}

/// The evidence that the checks and flags need; `is_watched`: also that of the ends of Links.
fn items(args: &Check, checks: &[&'static checks::Check], is_watched: bool) -> BTreeSet<Item> {
    let mut items = policy::run_items(checks);
    if names_namespaces(args) || args.before.is_some() {
        items.insert(Item::List(Kind::Namespace));
    }
    if is_watched {
        items.extend(link_endpoints::items());
    }
    items
}

/// The options to request the same evidence again, with the same release data.
fn rerun(args: &Check, read: &Read) -> Rerun {
    let mut rerun = read.rerun.clone();
    if let Some(folder) = &args.knowledge {
        let value = Some(super::rerun::text(folder));
        rerun.options.push(Flag { option: Repeated::Knowledge, value });
    }
    rerun
}

/// The selected checks. Manifests without a cluster are judged by default only by the checks that support it.
fn selected(args: &Check, policy: &Policy, knowledge: &Knowledge) -> anyhow::Result<Vec<&'static checks::Check>> {
    let mut checks = request::select(policy, knowledge)?;
    if !args.manifests.manifests.is_empty() && policy.only.is_empty() {
        checks.retain(|check| check.card().front.judges_manifests());
    }
    Ok(checks)
}

/// Whether flags name namespaces.
fn names_namespaces(args: &Check) -> bool {
    !args.namespace.is_empty() || args.evidence.linkerd_namespace.is_some() || args.evidence.cni_namespace.is_some()
}

/// Reads manifests without a cluster, with the positions of their objects. The settings get their release and
/// chart values.
fn manifests_alone(
    args: &Check,
    items: &BTreeSet<Item>,
    knowledge: &Knowledge,
    settings: &mut Settings,
) -> anyhow::Result<CheckEvidence> {
    let alone = change::evidence_of_change(args, items, knowledge)?;
    let of_chart = || settings.values.first().and_then(|given| given.release.clone());
    settings.linkerd_version = alone.release.clone().or_else(of_chart);
    if settings.upgrade.is_some() && !args.manifests.manifests.is_empty() {
        settings.linkerd_version =
            Some(change::before_upgrade(args, settings.linkerd_version.take(), &alone.read, knowledge)?);
    }
    let mut read = alone.read;
    let told = alone.release.as_ref();
    charts(args, (alone.charts, told), knowledge, settings, &mut read.collected);
    Ok(CheckEvidence { read, places: alone.places, change: None })
}

/// Reads a cluster, and applies manifests to a copy of its evidence. The settings get their chart values.
fn with_change(
    args: &Check,
    way: &EvidenceSource<'_>,
    items: &mut BTreeSet<Item>,
    knowledge: &Knowledge,
    settings: &mut Settings,
) -> anyhow::Result<CheckEvidence> {
    change::items(items);
    let (read, mut then) = change::overlay(args, way, items, (knowledge, settings.values.first()))?;
    charts(args, (then.charts, None), knowledge, settings, &mut then.collected);
    Ok(CheckEvidence { read, places: then.places, change: Some((then.change, then.collected)) })
}

/// Rejects a baseline, earlier numbers and namespaces that do not belong to the evidence.
fn fits(
    args: &Check,
    collected: &Collected,
    earlier: Option<&waivers::Earlier>,
    before: Option<&before::Before>,
) -> anyhow::Result<()> {
    if let Some(earlier) = earlier {
        earlier.is_of(collected.cluster.uid())?;
    }
    if let Some((before, path)) = before.zip(args.before.as_ref()) {
        before.is_before(&collected.cluster, path)?;
    }
    if !only_rows(&args.report.output) {
        namespaces::of_check(args, collected)?;
    }
    Ok(())
}

/// The settings of a run, with its upgrade, values and manifests.
fn change_settings(args: &Check, policy: &Policy, knowledge: &Knowledge) -> anyhow::Result<Settings> {
    let upgrade = request::upgrade(&args.rehearsal, knowledge)?;
    let values = chart::chart_values(args, knowledge)?;
    let mut manifests = change::flags(args);
    manifests.extend(values.iter().flat_map(|given| chart::flags(args, given, upgrade.as_ref())));
    Ok(Settings { upgrade, values: values.into_iter().collect(), manifests, ..settings(args, policy)? })
}

/// The settings of a run, without an upgrade, values and manifests.
pub(super) fn settings(args: &Check, policy: &Policy) -> anyhow::Result<Settings> {
    Ok(Settings {
        namespaces: args.namespace.clone(),
        before: None,
        to_cni: args.to_cni.clone(),
        upgrade: None,
        linkerd_version: None,
        values: Vec::new(),
        manifests: Vec::new(),
        upgraded: false,
        mode: policy.mode,
        cni_expected: args.stage.linkerd_cni_enabled,
        expected_version: args.expected_version.clone(),
        data_plane: args.stage.proxy,
        no_grace: args.wait.is_some(),
        params: params::set(&args.param)?,
        rerun: Rerun::default(),
        time_limit: None,
    })
}

/// Adds the chart values in manifests to the evidence, and warns about those that cannot be checked.
fn charts(
    args: &Check,
    (installed, told): (Vec<Installed>, Option<&LinkerdVersion>),
    knowledge: &Knowledge,
    settings: &mut Settings,
    collected: &mut Collected,
) {
    let over_a_cluster = !args.manifests.with.is_empty();
    let (given, unknown) = chart::of_manifests(installed, (over_a_cluster, told), knowledge);
    settings.values.extend(given);
    let said: Vec<String> = unknown.iter().map(|what| format!("not checked: {what}")).collect();
    evidence::warn(&said, &args.verbosity);
    collected.uncollected.set_aside.extend(unknown);
}

/// Warns if the evidence is judged at a time that is not its own.
fn heeds_its_time(args: &Check, collected: &mut Collected, judged: Option<&mut Collected>) {
    let doubts = evaluation_time::doubts(&args.evidence, &collected.cluster);
    let set_aside = &mut judged.unwrap_or(collected).uncollected.set_aside;
    for doubt in doubts {
        match doubt {
            evaluation_time::Doubt::LeftAside(said) => evidence::warn(&[said], &args.verbosity),
            evaluation_time::Doubt::TooEarly(said) => {
                evidence::warn(&[format!("not checked: {said}")], &args.verbosity);
                set_aside.push(said);
            }
        }
    }
}

/// Validates the options before anything is read.
pub(super) fn is_well_asked(args: &Check) -> anyhow::Result<()> {
    depends_on_given(args)?;
    if let Some(path) = &args.verify {
        let read = verify::read(path, "--verify").map(|_| ());
        return Ok(read.map_err(|stop| config::placed(stop, "verify", path))?);
    }
    if fleet::is_meant(args) {
        fleet::refuse(args)?;
    }
    let loaded = request::knowledge(args)?;
    let knowledge = loaded.as_ref().unwrap_or_else(|| Knowledge::embedded());
    asks_well(args, knowledge)?;
    with_release_to_install(args, knowledge)?;
    waivers::baseline(args)?;
    request::upgrade(&args.rehearsal, knowledge)?;
    chart::chart_values(args, knowledge)?;
    Ok(())
}

/// Whether Linkerd is not installed yet.
fn is_before_install(args: &Check) -> bool {
    args.stage.pre || args.stage.crds
}

/// Rejects flags without the flag that they belong to. The parser accepts them next to a flag that excludes it.
fn depends_on_given(args: &Check) -> Result<(), Stop> {
    let Manifests { manifests, linkerd_version, kubernetes_version, with, prune, values, chart, .. } = &args.manifests;
    request::has_target(&args.rehearsal)?;
    let has_manifests = !manifests.is_empty() || !values.is_empty();
    let has_release = has_manifests || is_before_install(args);
    let read = "leave it out: the version of the cluster is read";
    let dependent = [
        ("--linkerd-version", linkerd_version.is_some(), has_release, "--manifests, --pre or --crds", "leave it out"),
        ("--kubernetes-version", kubernetes_version.is_some(), has_manifests, "--manifests", read),
        ("--prune", prune.is_some(), !with.is_empty(), "--with", "leave it out"),
        ("--chart", chart.is_some(), !values.is_empty(), "--values", "leave it out"),
    ];
    match dependent.into_iter().find(|(_, is_given, has_needed, ..)| *is_given && !has_needed) {
        Some((flag, _, _, needed, next)) => Err(Stop::usage(format!("{flag} needs {needed}"), next)),
        None => Ok(()),
    }
}

/// Before an installation, `--linkerd-version` names the expected release. A minor resolves as that of `--to`.
fn with_release_to_install(args: &Check, knowledge: &Knowledge) -> Result<Option<Check>, Stop> {
    let Some(given) = args.manifests.linkerd_version.as_ref().filter(|_| is_before_install(args)) else {
        return Ok(None);
    };
    if args.expected_version.is_some() {
        let next = "name the release to install with one of them";
        return Err(Stop::usage("--linkerd-version and --expected-version are given", next));
    }
    let release = Upgrade::target(given.as_str(), knowledge.releases()).map_err(|error| {
        let next = "name a minor such as 2.20 or a release such as edge-26.8.3; for a newer release, give current \
                    release data with --knowledge";
        Stop::usage(format!("--linkerd-version: {error}"), next)
    })?;
    let mut check = args.clone();
    check.manifests.linkerd_version = None;
    check.expected_version = Some(release);
    Ok(Some(check))
}

/// Errors in flags are reported before anything is read, and therefore even if files are missing.
fn asks_well(args: &Check, knowledge: &Knowledge) -> anyhow::Result<()> {
    let plan = |output: &Output| output.format == Format::Plan;
    if args.rehearsal.to.is_none() && args.report.output.iter().any(plan) {
        let next = "name the release to upgrade to: --to 2.20";
        return Err(Stop::usage("-o plan needs an upgrade", next).into());
    }
    before::asks_for_metrics(args)?;
    files::one_standard_output(&args.report.output)?;
    let save = args.save.as_deref().map(|path| ("--save", path));
    files::reject_overwriting(&args.report.output, save, Some(&args.evidence))?;
    if let Some((flag, path)) = save {
        files::not_there(flag, path, args.force)?;
    }
    request::select(&request::policy(args)?, knowledge)?;
    params::set(&args.param)?;
    evidence::reads_input_once(&args.evidence)
}

/// Whether only the rows of `linkerd check` were requested; these include a row for a missing namespace.
fn only_rows(outputs: &[Output]) -> bool {
    let rows = |output: &Output| matches!(output.format, Format::Linkerd | Format::LinkerdTable);
    !outputs.is_empty() && outputs.iter().all(rows)
}
