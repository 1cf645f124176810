//! `meshdoctor check`: evidence in, reports out.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use super::args::{Check, EvidenceArgs, FailOn, OnNotChecked, Rehearsal, Reports, Told, Verbosity};
use super::evidence::{self, Read, Way};
use super::output;
use super::stop::Stop;
use super::values::{Format, Output};
use super::wait::Wait;
use super::{accepted, again, change, chart, config, files, fleet, moment, named, params, publish, verify};
use crate::card::Mode;
use crate::chart::gitops::Installed;
use crate::checks::{self, Settings, Upgrade};
use crate::collect::Collected;
use crate::command::{Flag, Repeated, Rerun};
use crate::finding::{Confidence, Severity};
use crate::inspect::ends;
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::nearest::closest;
use crate::policy::{self, Gate, Policy};
use crate::report::{self, Question, Report, Run};
use crate::source::Origin;
use crate::source::dump::Places;
use crate::version::LinkerdVersion;

pub(super) fn run(args: &Check) -> anyhow::Result<u8> {
    if fleet::is_meant(args) {
        return fleet::run(args);
    }
    one(&named::one(args)?, None)
}

/// Sees a cluster that was read, besides what is judged of it.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&Cluster);

/// One cluster.
pub(super) fn one(args: &Check, watch: Option<Watch<'_>>) -> anyhow::Result<u8> {
    if let Some(path) = &args.verify {
        return verify::run(args, path);
    }
    let began = Instant::now();
    asks_well(args)?;
    let opened = evidence::open(&args.evidence, &args.verbosity)?;
    let again = opened.as_ref().and_then(|captured| again::asked(args, captured.asked()?)).transpose()?;
    let args = again.as_ref().unwrap_or(args);
    let earlier = accepted::baseline(args)?;
    let wait = Wait::new(args, began)?;
    let policy =
        Policy { baseline: earlier.as_ref().map(|earlier| earlier.baseline.clone()), ..policy_of(args)? };
    let checks = select(&policy)?;
    let loaded = knowledge(args)?;
    let knowledge = loaded.as_ref().unwrap_or_else(|| Knowledge::embedded());
    let upgrade = upgrade(&args.rehearsal, knowledge)?;
    let values = chart::given(args, knowledge)?;
    let mut manifests = change::flags(args);
    manifests.extend(values.iter().flat_map(|given| chart::flags(args, given, upgrade.as_ref())));
    let mut settings = Settings {
        namespaces: args.namespace.clone(),
        to_cni: args.to_cni.clone(),
        upgrade,
        linkerd_version: None,
        values: values.into_iter().collect(),
        manifests,
        upgraded: false,
        mode: policy.mode,
        cni_expected: args.stage.linkerd_cni_enabled,
        expected_version: args.expected_version.clone(),
        data_plane: args.stage.proxy,
        params: params::set(&args.param)?,
        rerun: Rerun::default(),
    };

    let mut items = policy::run_items(&checks);
    if !args.namespace.is_empty()
        || args.evidence.linkerd_namespace.is_some()
        || args.evidence.cni_namespace.is_some()
    {
        items.insert(Item::List(Kind::Namespace));
    }
    if watch.is_some() {
        items.extend(ends::items());
    }
    let way = Way { opened: RefCell::new(opened), ..Way::new(&args.evidence, &args.connection) };
    let (mut laid, mut places) = (None, None);
    let mut read = if !args.manifests.manifests.is_empty() || chart::is_alone(args) {
        let alone = change::alone(args, &items, knowledge)?;
        let of_chart = || settings.values.first().and_then(|given| given.release.clone());
        settings.linkerd_version = alone.release.clone().or_else(of_chart);
        if settings.upgrade.is_some() && !args.manifests.manifests.is_empty() {
            settings.linkerd_version =
                Some(change::before_upgrade(args, settings.linkerd_version.take(), &alone.read, knowledge)?);
        }
        places = alone.places;
        let mut read = alone.read;
        let told = alone.release.as_ref();
        charts(args, (alone.charts, told), knowledge, &mut settings, &mut read.collected);
        read
    } else if policy.on_change {
        change::items(&mut items);
        let (today, mut then) = change::laid(args, &way, &items, (knowledge, settings.values.first()))?;
        places = then.places;
        charts(args, (then.charts, None), knowledge, &mut settings, &mut then.collected);
        laid = Some((then.change, then.collected));
        today
    } else {
        evidence::read(&way, &args.verbosity, &items, args.save.as_deref().into())?
    };
    heeds_its_time(args, &mut read.collected, laid.as_mut().map(|(_, collected)| collected));
    settings.rerun = read.rerun.clone();
    if let Some(folder) = &args.knowledge {
        let value = Some(super::rerun::text(folder));
        settings.rerun.options.push(Flag { option: Repeated::Knowledge, value });
    }
    if let Some(earlier) = &earlier {
        earlier.is_of(read.collected.cluster.uid())?;
    }
    if !only_rows(&args.report.output) {
        known_namespaces(args, &read.collected)?;
    }
    let judge_of = |read: &Read| {
        let judged = laid.as_ref().map_or(&read.collected, |(_, collected)| collected);
        let mut policy = policy.clone();
        policy.waivers.extend(policy::on_objects(&judged.cluster));
        judge(&Examination {
            checks: &checks,
            policy: &policy,
            settings: &settings,
            knowledge,
            origin: read.origin.clone(),
            collected: judged,
            change: laid.as_ref().map(|(change, _)| (change.clone(), &read.collected)),
            places: places.as_ref(),
            began,
            named: (args.evidence.linkerd_namespace.clone(), args.evidence.cni_namespace.clone()),
            reports: &args.report,
            verbosity: &args.verbosity,
        })
    };
    let mut report = judge_of(&read);
    if let Some(mut wait) = wait {
        while wait.again(&report)? {
            read = evidence::read(&way, &args.verbosity, &items, args.save.as_deref().into())?;
            report = judge_of(&read);
        }
    }
    let status =
        print(&report, &args.report, &args.verbosity).and_then(|status| saved(&read, status)).map(|status| {
            if args.publish { publish::run(&report, &way, &args.verbosity, status) } else { status }
        });
    match watch {
        Some(watch) => watch(&read.collected.cluster),
        // The process ends here: to take the evidence apart, object by object, would only take time.
        None => {
            std::mem::forget(read.collected);
            std::mem::forget(laid);
        }
    }
    status
}

/// Has the values judged that objects of manifests give to charts, and says of which that cannot be.
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

/// Says where the time that the evidence is judged by is not that of it.
fn heeds_its_time(args: &Check, collected: &mut Collected, judged: Option<&mut Collected>) {
    let doubts = moment::doubts(&args.evidence, &collected.cluster);
    let set_aside = &mut judged.unwrap_or(collected).uncollected.set_aside;
    for doubt in doubts {
        match doubt {
            moment::Doubt::LeftAside(said) => evidence::warn(&[said], &args.verbosity),
            moment::Doubt::TooEarly(said) => {
                evidence::warn(&[format!("not checked: {said}")], &args.verbosity);
                set_aside.push(said);
            }
        }
    }
}

/// Refuses all that a run refuses whatever it reads.
pub(super) fn is_well_asked(args: &Check) -> anyhow::Result<()> {
    if let Some(path) = &args.verify {
        let read = verify::read(path, "--verify").map(|_| ());
        return Ok(read.map_err(|stop| config::placed(stop, "verify", path))?);
    }
    if fleet::is_meant(args) {
        fleet::refuse(args)?;
    }
    asks_well(args)?;
    accepted::baseline(args)?;
    let loaded = knowledge(args)?;
    let knowledge = loaded.as_ref().unwrap_or_else(|| Knowledge::embedded());
    upgrade(&args.rehearsal, knowledge)?;
    chart::given(args, knowledge)?;
    Ok(())
}

/// What is wrong with flags themselves is said before anything is read, so also where what they read is not there.
fn asks_well(args: &Check) -> anyhow::Result<()> {
    let plan = |output: &Output| output.format == Format::Plan;
    if args.rehearsal.to.is_none() && args.report.output.iter().any(plan) {
        let next = "name the release that you are about to upgrade to: --to 2.20";
        return Err(Stop::usage("-o plan is the plan of an upgrade", next).into());
    }
    one_standard_output(&args.report.output)?;
    let save = args.save.as_deref().map(|path| ("--save", path));
    files::apart(&args.report.output, save, Some(&args.evidence))?;
    if let Some((flag, path)) = save {
        files::not_there(flag, path, args.force)?;
    }
    select(&policy_of(args)?)?;
    params::set(&args.param)?;
    evidence::reads_input_once(&args.evidence)
}

/// What is judged and how it counts, without what was found before.
fn policy_of(args: &Check) -> anyhow::Result<Policy> {
    Ok(Policy {
        only: args.selection.only.clone(),
        skip: args.selection.skip.clone(),
        mode: match args.rehearsal.to {
            Some(_) => Mode::Upgrade,
            None => mode(args.stage.pre, args.stage.crds),
        },
        severities: severities(&args.severity)?,
        confidence: match args.confidence {
            Told::Likely => Confidence::Likely,
            Told::Observed => Confidence::Observed,
        },
        gate: args.fail_on.map_or(Gate::Error, gate),
        on_change: !args.manifests.with.is_empty() || values_over_a_cluster(args),
        not_checked_passes: args.on_not_checked == OnNotChecked::Pass,
        waivers: accepted::waivers(args)?,
        baseline: None,
    })
}

/// Whether values are laid over what a cluster keeps; before an upgrade they only say what is set.
fn values_over_a_cluster(args: &Check) -> bool {
    !args.manifests.values.is_empty() && !chart::is_alone(args) && args.rehearsal.to.is_none()
}

/// Severities by the ids of checks.
fn severities(asked: &[(String, Severity)]) -> Result<BTreeMap<String, Severity>, Stop> {
    let known = |(name, severity): &(String, Severity)| {
        let check = checks::find(name).ok_or_else(|| {
            let near = closest(name, checks::all().map(|check| check.id));
            let perhaps = near.map(|near| format!("; {near} was perhaps meant")).unwrap_or_default();
            let place = config::place("severity", &format!("{name}={severity}"));
            let place = place.unwrap_or_else(|| "--severity".to_owned());
            Stop::usage(
                format!("{place}: there is no check {name}{perhaps}"),
                "meshdoctor list shows every check",
            )
        })?;
        Ok((check.id.to_owned(), *severity))
    };
    asked.iter().map(known).collect()
}

/// The upgrade that `--to` means.
pub(super) fn upgrade(rehearsal: &Rehearsal, knowledge: &Knowledge) -> Result<Option<Upgrade>, Stop> {
    let Rehearsal { to: Some(given), from, to_kubernetes } = rehearsal.clone() else { return Ok(None) };
    let upgrade = Upgrade::new(&given, from, to_kubernetes, knowledge.releases());
    upgrade.map(Some).map_err(|error| {
        Stop::usage(
            format!("--to: {error}"),
            "name a minor such as 2.20 or a release such as edge-26.8.3; what a newer one brings is read from --knowledge",
        )
    })
}

/// The facts of `--knowledge`, where it is given.
pub(super) fn knowledge(args: &Check) -> Result<Option<Knowledge>, Stop> {
    let load = |folder: &PathBuf| {
        Knowledge::load(folder).map_err(|e| Stop::usage(e.to_string(), "see checks/knowledge for the form"))
    };
    args.knowledge.as_ref().map(load).transpose()
}

/// What `--fail-on` means.
pub(super) fn gate(fail_on: FailOn) -> Gate {
    match fail_on {
        FailOn::Error => Gate::Error,
        FailOn::Warning => Gate::Warning,
        FailOn::Info => Gate::Info,
        FailOn::Never => Gate::Never,
        FailOn::ErrorObserved => Gate::ErrorObserved,
        FailOn::WarningObserved => Gate::WarningObserved,
    }
}

/// How a run went that began then and ends now.
pub(super) fn run_since(began: Instant) -> Run {
    let took = began.elapsed();
    Run {
        started: jiff::Timestamp::now()
            .checked_sub(jiff::SignedDuration::try_from(took).unwrap_or_default())
            .ok(),
        milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        command: output::command(),
        folders: files::working_directory(),
    }
}

/// The moment that `--pre` and `--crds` mean.
pub(super) fn mode(pre: bool, crds: bool) -> Mode {
    match (pre, crds) {
        (true, _) => Mode::Pre,
        (false, true) => Mode::Crds,
        (false, false) => Mode::Installed,
    }
}

/// A bundle that could not be saved is said after the report, and makes a run that was fine one that could not run.
pub(super) fn saved(read: &Read, status: u8) -> anyhow::Result<u8> {
    match &read.save_trouble {
        None => Ok(status),
        Some(trouble) => {
            output::say_error(&format!("the bundle was not saved: {trouble}"), None);
            Ok(if status == crate::exit::FINE { crate::exit::COULD_NOT_RUN } else { status })
        }
    }
}

pub(super) fn select(policy: &Policy) -> anyhow::Result<Vec<&'static checks::Check>> {
    let checks = policy.select().map_err(|error| {
        let flag = if policy.only.contains(&error.word) { "only" } else { "skip" };
        let said = config::flag(flag, &error.word);
        Stop::usage(format!("{said}: {error}"), "meshdoctor list shows every check")
    })?;
    if checks.is_empty() {
        return Err(
            Stop::usage("no check is left to run", "--skip takes away everything that --only names").into()
        );
    }
    Ok(checks)
}

/// Everything that makes a report from collected evidence.
pub(super) struct Examination<'a> {
    pub(super) checks: &'a [&'static checks::Check],
    pub(super) policy: &'a Policy,
    pub(super) settings: &'a Settings,
    pub(super) knowledge: &'a Knowledge,
    pub(super) origin: Origin,
    pub(super) collected: &'a Collected,
    /// The change that is in what was collected, and the cluster without it.
    pub(super) change: Option<(report::Change, &'a Collected)>,
    /// Where the objects of manifests stand.
    pub(super) places: Option<&'a Places>,
    pub(super) began: Instant,
    /// `--linkerd-namespace` and `--cni-namespace`, where they were given.
    pub(super) named: (Option<String>, Option<String>),
    pub(super) reports: &'a Reports,
    pub(super) verbosity: &'a Verbosity,
}

/// Judges, writes every report, and gives the exit status.
pub(super) fn examine(examination: &Examination<'_>) -> anyhow::Result<u8> {
    one_standard_output(&examination.reports.output)?;
    print(&judge(examination), examination.reports, examination.verbosity)
}

/// Writes every report, and gives the exit status.
fn print(report: &Report, reports: &Reports, verbosity: &Verbosity) -> anyhow::Result<u8> {
    output::report(report, reports, verbosity)?;
    Ok(report.verdict.status)
}

/// Judges.
fn judge(examination: &Examination<'_>) -> Report {
    let question = Question {
        checks: examination.checks,
        policy: examination.policy,
        settings: examination.settings,
        knowledge: examination.knowledge,
        origin: examination.origin.clone(),
        change: examination.change.clone(),
    };
    let mut report = report::judge(&question, examination.collected);
    if let Some(places) = examination.places {
        change::place(&mut report.findings, places);
    }
    chart::place(&mut report.findings, &examination.settings.values);
    report.run = run_since(examination.began);
    report.asked.linkerd_namespace = examination.named.0.clone();
    report.asked.cni_namespace = examination.named.1.clone();
    report
}

/// Two reports cannot share standard output.
pub(super) fn one_standard_output(outputs: &[Output]) -> Result<(), Stop> {
    let mut plain = outputs.iter().filter(|output| output.file.is_none()).map(|output| output.format);
    match (plain.next(), plain.next()) {
        (Some(first), Some(second)) => Err(Stop::usage(
            format!("-o {} and -o {} both write to standard output", word(first), word(second)),
            format!("write one of them to a file: -o {}=FILE", word(second)),
        )),
        _ => Ok(()),
    }
}

pub(super) fn word(format: Format) -> &'static str {
    super::values::formats().into_iter().find(|(_, f)| *f == format).map_or("table", |(word, _)| word)
}

/// Whether nothing but the rows of `linkerd check` was asked for: that command has a row for a namespace that is not there.
fn only_rows(outputs: &[Output]) -> bool {
    let rows = |output: &Output| matches!(output.format, Format::Linkerd | Format::LinkerdTable);
    !outputs.is_empty() && outputs.iter().all(rows)
}

/// A namespace that was named and does not exist is a mistake of the command line, not a healthy cluster.
pub(super) fn known_namespaces(args: &Check, collected: &Collected) -> Result<(), Stop> {
    let before = args.stage.pre || args.stage.crds;
    are_known(&args.namespace, &args.evidence, before, collected)
}

/// The same, of what another command takes; `before` an installation its namespaces need not be there.
pub(super) fn are_known(
    namespaces: &[String],
    evidence: &EvidenceArgs,
    before: bool,
    collected: &Collected,
) -> Result<(), Stop> {
    use crate::objects::Namespace;
    let Some(answer) = collected.cluster.answer(&Item::List(Kind::Namespace)) else { return Ok(()) };
    if answer.fetched != crate::fetched::Fetched::Complete {
        return Ok(());
    }
    let names: Vec<&str> = answer.objects::<Namespace>().iter().map(|n| n.metadata.name.as_str()).collect();
    let homes = evidence.linkerd_namespace.iter().map(|name| ("-L", name));
    let homes = homes.chain(evidence.cni_namespace.iter().map(|name| ("--cni-namespace", name)));
    let homes = homes.filter(|_| !before);
    let asked = namespaces.iter().map(|name| ("-n", name)).chain(homes);
    for (flag, name) in asked {
        if !names.contains(&name.as_str()) {
            let nearest = crate::nearest::closest(name, names.iter().copied());
            let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            return Err(Stop::usage(
                format!("there is no namespace {name:?} ({flag}){hint}"),
                format!("the cluster has {}", shown(&names)),
            ));
        }
    }
    Ok(())
}

fn shown(names: &[&str]) -> String {
    match names {
        [] => "no namespaces".to_owned(),
        few if few.len() <= 12 => few.join(", "),
        many => format!("{} and {} more", many[..12].join(", "), many.len() - 12),
    }
}
