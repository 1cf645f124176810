//! From collected evidence to reports: runs the checks and writes the reports.

use std::time::{Duration, Instant};

use super::args::{Reports, Verbosity};
use super::{change, chart, config, files, manifest_steps, output};
use crate::checks::{self, Settings, TimeLimit};
use crate::collect::Collected;
use crate::knowledge::Knowledge;
use crate::policy::Policy;
use crate::report::{self, Question, RepairPlan, Report, Run};
use crate::source::Origin;
use crate::source::dump::Places;

/// The inputs of a report.
pub(super) struct Examination<'a> {
    pub(super) checks: &'a [&'static checks::Check],
    pub(super) policy: &'a Policy,
    pub(super) settings: &'a Settings,
    pub(super) knowledge: &'a Knowledge,
    pub(super) origin: Origin,
    pub(super) collected: &'a Collected,
    /// The change that was applied on top of the evidence, and the cluster without it.
    pub(super) change: Option<(report::ManifestChange, &'a Collected)>,
    /// Positions of the objects of manifests.
    pub(super) places: Option<&'a Places>,
    pub(super) began: Instant,
    /// `--timeout`.
    pub(super) timeout: Option<Duration>,
    /// `--linkerd-namespace` and `--cni-namespace`, if given.
    pub(super) named: (Option<String>, Option<String>),
    pub(super) reports: &'a Reports,
    pub(super) verbosity: &'a Verbosity,
}

/// Runs the checks, writes every report, and returns the exit status.
pub(super) fn examine(examination: &Examination<'_>) -> anyhow::Result<u8> {
    files::one_standard_output(&examination.reports.output)?;
    print(&judge(examination), examination.reports, examination.verbosity)
}

/// Writes every report, and returns the exit status.
pub(super) fn print(report: &Report, reports: &Reports, verbosity: &Verbosity) -> anyhow::Result<u8> {
    output::report(report, reports, verbosity)?;
    Ok(report.verdict.status)
}

/// Time limit for the checks, unless `--timeout` limits the whole run.
const CHECKS: Duration = Duration::from_secs(5 * 60);

/// Time of the checks at least: reading may have taken the whole of `--timeout`, and what was read is judged.
const CHECKS_AT_LEAST: Duration = Duration::from_secs(10);

/// The time limit of the checks of a run that began at that moment.
pub(super) fn time_limit(began: Instant, timeout: Option<Duration>) -> Option<TimeLimit> {
    match timeout {
        Some(timeout) => TimeLimit::from_start(began, timeout.max(began.elapsed().saturating_add(CHECKS_AT_LEAST))),
        None => TimeLimit::from_start(Instant::now(), CHECKS),
    }
}

/// Runs the checks.
pub(super) fn judge(examination: &Examination<'_>) -> Report {
    let time_limit = time_limit(examination.began, examination.timeout);
    let settings = Settings { time_limit, ..examination.settings.clone() };
    let question = Question {
        checks: examination.checks,
        policy: examination.policy,
        settings: &settings,
        knowledge: examination.knowledge,
        origin: examination.origin.clone(),
        change: examination.change.clone(),
    };
    let mut report = report::judge(&question, examination.collected);
    if let Some(places) = examination.places {
        change::place(&mut report.findings, places);
    }
    chart::place(&mut report.findings, &examination.settings.values);
    chart::place_keys(&mut report.findings, &examination.collected.cluster.value_keys);
    if examination.places.is_some() {
        manifest_steps::rewrite(&mut report.findings, report.origin.kind == "manifests");
        report.repair = RepairPlan::from_findings(&report.findings);
    }
    report.run = run_since(examination.began);
    report.asked.linkerd_namespace = examination.named.0.clone();
    report.asked.cni_namespace = examination.named.1.clone();
    report
}

/// Metadata of a run that ends now.
pub(super) fn run_since(began: Instant) -> Run {
    let took = began.elapsed();
    Run {
        started: jiff::Timestamp::now().checked_sub(jiff::SignedDuration::try_from(took).unwrap_or_default()).ok(),
        milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        command: output::command(),
        folders: files::working_directory(),
        config: config::used(),
    }
}
