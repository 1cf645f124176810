//! The result of a run, ordered and complete: the only input of renderers. Built once from the evidence and the
//! findings.

mod coverage;
mod outlook;
mod repair_plan;
mod verdict;

use coverage::coverage;
pub use coverage::{Coverage, Gap, Unread, unread};
pub use outlook::{Lasting, Outlook};
pub use repair_plan::{PlanStep, PlannedFinding, RepairPlan};
pub use verdict::counts;
pub use verdict::{Counts, RunResult};
use verdict::{RunEvidence, none_ran, verdict};

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::card::Mode;
use crate::cause;
use crate::check_outcome::CheckOutcome;
use crate::checks::change::compare;
use crate::checks::{Check, CheckResult, KNOWN_DEFECT, Outcome, Plan, Settings, Upgrade, evaluate, verify_raised};
use crate::collect::Collected;
use crate::command::Connection;
use crate::finding::{Finding, Severity, When};
use crate::inspect::{self, nodes::NodeCni};
use crate::item::Item;
use crate::knowledge::{Knowledge, RowMode};
use crate::model::cluster::TimeSource;
use crate::model::skew::Skew;
use crate::model::traffic::{EarlierTraffic, WorkloadTraffic};
use crate::objects::Link;
use crate::policy::{self, Policy};
use crate::rows::{self, Category, LinkedCluster};
use crate::source::Origin;
use crate::version::{LinkerdVersion, Minor, MinorTable};

/// The schema tag of the JSON form.
pub const SCHEMA: &str = "meshdoctor.report/1";

#[derive(Debug, Clone)]
pub struct Report {
    /// Metadata of the run, including all times.
    pub run: Run,
    /// Origin of the evidence.
    pub origin: Origin,
    /// The evaluation time, and its source.
    pub at: (Timestamp, TimeSource),
    /// Date of the release data.
    pub knowledge_date: String,
    /// The cluster and all versions in it.
    pub subject: Skew,
    /// Namespace of the control plane.
    pub control_plane_namespace: String,
    /// Uid of the namespace `kube-system`, which identifies the cluster; `None` if unknown.
    pub cluster_uid: Option<String>,
    /// The linkerd-cni version of a planned upgrade (`--to-cni`).
    pub to_cni: Option<String>,
    /// The upgrade that was previewed (`--to`).
    pub rehearsal: Option<Rehearsal>,
    /// The change that was applied on top of the cluster (`--with`).
    pub change: Option<ManifestChange>,
    /// Other options of the run.
    pub asked: RunOptions,
    /// The gate, the counts and the status.
    pub verdict: RunResult,
    /// Missing evidence, with the checks that needed it, in order.
    pub coverage: Coverage,
    /// Every selected check, in order.
    pub checks: Vec<CheckOutcome>,
    /// Every finding: root causes in repair order, then their symptoms.
    pub findings: Vec<Finding>,
    /// The merged steps of these findings, in order.
    pub repair: RepairPlan,
    /// Nodes with node evidence.
    pub nodes: Vec<NodeCni>,
    /// The rows of `linkerd check` with these results, in its order.
    pub rows: Vec<Category>,
    /// The way to run `linkerd check` that has these rows.
    pub row_mode: RowMode,
    /// The linked clusters.
    pub links: Vec<LinkedCluster>,
    /// Numbers of the proxies that were read twice, by workload.
    pub traffic: Vec<WorkloadTraffic>,
    /// The earlier numbers (`--before`).
    pub before: Option<EarlierTraffic>,
    /// Connection options of the cluster.
    pub connection: Connection,
    /// Number of objects and files with redacted values.
    pub redacted: usize,
    /// Errors of the run itself.
    pub errors: Vec<String>,
}

/// An upgrade that was previewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehearsal {
    /// `--to` with the resolved release: `2.20 (edge-26.6.3)`.
    pub target: String,
    /// The resolved release.
    pub to: LinkerdVersion,
    /// The minor of the resolved release, if the whole control plane is of this minor.
    pub same_minor: Option<Minor>,
    /// Order of the upgrade; `None` if the target is not a later release.
    pub plan: Option<Plan>,
}

impl Rehearsal {
    /// The minor of a release, if the whole control plane is of this minor.
    pub fn same_minor(to: &LinkerdVersion, subject: &Skew, minors: &MinorTable) -> Option<Minor> {
        let of = |version: &String| version.parse::<LinkerdVersion>().ok()?.minor(minors);
        to.minor(minors).filter(|minor| subject.control_plane.values().all(|it| of(it) == Some(*minor)))
    }
}

/// A change that was applied on top of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestChange {
    /// Origin of its manifests.
    pub given: String,
    /// Number of objects of kinds that are read.
    pub objects: usize,
}

/// Number of findings that begin and end with an upgrade or change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Errors that begin with it.
    pub breaks: usize,
    /// Other findings that begin with it.
    pub changes: usize,
    /// The infos among them.
    pub infos: usize,
    /// Findings that end with it.
    pub ends: usize,
}

impl ChangeCounts {
    /// Counts findings.
    pub fn from_findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> ChangeCounts {
        findings.into_iter().fold(ChangeCounts::default(), |mut brings, finding| {
            match (finding.when, finding.severity) {
                (When::AfterUpgrade | When::AfterChange, Severity::Error) => brings.breaks += 1,
                (When::AfterUpgrade | When::AfterChange, severity) => {
                    brings.changes += 1;
                    brings.infos += usize::from(severity == Severity::Info);
                }
                (When::UntilUpgrade | When::UntilChange, _) => brings.ends += 1,
                (When::Now, _) => {}
            }
            brings
        })
    }
}

/// Metadata of the run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Start time.
    pub started: Option<Timestamp>,
    /// Duration in milliseconds.
    pub milliseconds: u64,
    /// The command line, without secrets.
    pub command: Vec<String>,
    /// The working directory, with all known names; pipelines need relative paths below it.
    pub folders: Vec<String>,
    /// The configuration file that was used.
    pub config: Option<ConfigUse>,
}

/// The configuration file of a run, and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigUse {
    pub file: String,
    /// Whether the caller named it; otherwise it was found in the working directory or a parent.
    pub named: bool,
    /// The flags that it sets, without their dashes.
    pub settings: Vec<String>,
    /// Flags among them that affect the exit status.
    pub gate: Vec<String>,
    /// Whether notes on standard error are suppressed.
    pub quiet: bool,
}

impl ConfigUse {
    /// The flags that it sets, for people.
    pub fn flags(&self) -> String {
        dashed(&self.settings)
    }

    /// The flags that affect the exit status, for people.
    pub fn gate_flags(&self) -> String {
        dashed(&self.gate)
    }

    /// `FILE sets FLAGS`, with the flags that affect the exit status; `None` if there are none.
    pub fn gate_settings(&self) -> Option<String> {
        (!self.gate.is_empty()).then(|| format!("{} sets {}", self.file, dashed(&self.gate)))
    }

    /// The file and its flags that affect the exit status; empty if there are none.
    pub fn of_gate(&self) -> String {
        self.gate_settings().map(|settings| format!(" ({settings})")).unwrap_or_default()
    }
}

fn dashed(flags: &[String]) -> String {
    flags.iter().map(|flag| format!("--{flag}")).collect::<Vec<_>>().join(", ")
}

/// Options of a run, for reruns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The stage.
    pub mode: Mode,
    /// `--only`.
    pub only: Vec<String>,
    /// `--skip`.
    pub skip: Vec<String>,
    /// `--namespace`.
    pub namespaces: Vec<String>,
    /// `--to`, `--from`, `--to-kubernetes`.
    pub upgrade: Option<Upgrade>,
    /// `--linkerd-cni-enabled`.
    pub cni_expected: bool,
    /// `--expected-version`.
    pub expected_version: Option<String>,
    /// `--linkerd-namespace`.
    pub linkerd_namespace: Option<String>,
    /// `--cni-namespace`.
    pub cni_namespace: Option<String>,
    /// `--param`, by check and name.
    pub params: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

impl RunOptions {
    /// Whether the run covers every check of an installed mesh, in all namespaces.
    pub fn is_whole(&self) -> bool {
        self.only.is_empty() && self.skip.is_empty() && self.mode == Mode::Installed && self.namespaces.is_empty()
    }
}

/// Inputs of a report, in addition to the evidence.
pub struct Question<'a> {
    /// The selected checks.
    pub checks: &'a [&'static Check],
    /// The gate.
    pub policy: &'a Policy,
    /// Settings of the operator.
    pub settings: &'a Settings,
    /// Release data.
    pub knowledge: &'a Knowledge,
    /// Origin of the evidence.
    pub origin: Origin,
    /// The change to check with, and the cluster without it.
    pub change: Option<(ManifestChange, &'a Collected)>,
}

/// Runs every selected check, links causes, and applies the policy.
pub fn judge(question: &Question<'_>, collected: &Collected) -> Report {
    let cluster = &collected.cluster;
    let then = evaluate(question.checks, cluster, question.knowledge, question.settings);
    let results = match &question.change {
        Some((_, before)) => {
            // The state without the change is checked separately.
            let settings = Settings { manifests: Vec::new(), values: Vec::new(), ..question.settings.clone() };
            let today = evaluate(question.checks, &before.cluster, question.knowledge, &settings);
            compare(today, then)
        }
        None => then,
    };
    assemble(question, collected, selected(results, question))
}

/// Removes the known defects that the run does not select, and the gaps in logs that only those need.
fn selected(mut results: Vec<CheckResult>, question: &Question<'_>) -> Vec<CheckResult> {
    let rows = question.knowledge.known_defects();
    let is_in_logs = |id: &&str| {
        rows.row(id).and_then(|row| row.trigger.as_ref()).is_some_and(|trigger| trigger.log_rows().next().is_some())
    };
    let needs_no_logs = question.policy.only_defects().is_some_and(|ids| !ids.iter().any(is_in_logs));
    for result in &mut results {
        if matches!(result.outcome, Outcome::Findings) {
            result.findings.retain(|finding| question.policy.selects(finding));
        } else if !matches!(result.outcome, Outcome::Unknown) {
            continue;
        }
        if result.id == KNOWN_DEFECT && needs_no_logs {
            result.gaps.retain(|gap| gap.request.item != Item::Logs);
        }
        if result.findings.is_empty() {
            result.outcome = if result.gaps.is_empty() { Outcome::Pass } else { Outcome::Unknown };
        }
    }
    results
}

/// Applies severity overrides. A severity below that of the check's card is an upper bound for its findings; any other
/// applies to all of them, so that infos can count. A lowered finding fails its rows of `linkerd check` as before.
fn regraded(results: &mut [CheckResult], policy: &Policy) {
    for finding in results.iter_mut().flat_map(|result| &mut result.findings) {
        let Some(asked) = policy.severities.get(finding.check) else { continue };
        let card = crate::checks::find(finding.check).map(|check| check.card().front.severity);
        let before = finding.severity;
        finding.severity = if card.is_some_and(|card| *asked >= card) { *asked } else { before.min(*asked) };
        if finding.severity < before {
            let rows = finding.rows.weight(before);
            *finding = finding.clone().rows_as(rows);
        }
    }
}

fn assemble(question: &Question<'_>, collected: &Collected, mut results: Vec<CheckResult>) -> Report {
    let cluster = &collected.cluster;
    regraded(&mut results, question.policy);
    let found: Vec<Finding> = results.iter_mut().flat_map(|result| std::mem::take(&mut result.findings)).collect();
    // Skipped checks explain nothing: their symptoms become roots.
    let (found, inferred): (Vec<Finding>, Vec<Finding>) =
        found.into_iter().partition(|finding| finding.confidence >= question.policy.confidence);
    let mut findings = cause::link_by_cards(found, &cluster.namespaces);
    verify_raised(&mut findings, question.settings);
    accept(&mut findings, question.policy, cluster.at);
    let (coverage, evidence) = evidence(question, collected, &results);
    let verdict = RunResult {
        inferred: inferred.len(),
        ..verdict(question.policy, &question.origin, &findings, &results, &evidence)
    };
    let checks = judged_checks(question, results, &findings);
    let subject = Skew::from_cluster(cluster, question.knowledge);
    let release = subject.command_release();
    // Rows cannot show accepted findings, effects of a change, or confidence.
    let of_rows: Vec<Finding> = findings.iter().chain(&inferred).filter(counts).cloned().collect();
    let links = cluster.list::<Link>();
    let links: Vec<LinkedCluster> = links.iter().map(LinkedCluster::from).collect();
    let evidence = rows::RowInput {
        checks: &checks,
        findings: &of_rows,
        release: release.as_ref(),
        mode: question.settings.row_mode(),
        links: &links,
        manifests: question.origin.kind == "manifests",
    };
    let rows = rows::rows(&evidence, question.knowledge);
    let rehearsal = question.settings.upgrade.as_ref().map(|upgrade| Rehearsal {
        target: upgrade.describe(question.knowledge),
        to: upgrade.to.clone(),
        same_minor: Rehearsal::same_minor(&upgrade.to, &subject, question.knowledge.minors()),
        plan: crate::checks::plan(cluster, question.knowledge, question.settings),
    });
    Report {
        run: Run::default(),
        nodes: inspect::nodes::nodes(cluster),
        rows,
        row_mode: question.settings.row_mode(),
        links,
        origin: question.origin.clone(),
        at: (cluster.at, cluster.time_source),
        knowledge_date: question.knowledge.date().to_string(),
        subject,
        control_plane_namespace: cluster.namespaces.control_plane.clone(),
        cluster_uid: cluster.uid(),
        to_cni: question.settings.to_cni.as_ref().map(ToString::to_string),
        rehearsal,
        change: question.change.as_ref().map(|(change, _)| change.clone()),
        asked: run_options(question),
        verdict,
        coverage,
        checks,
        repair: RepairPlan::from_findings(&findings),
        findings,
        traffic: WorkloadTraffic::of_cluster(cluster),
        before: question.settings.before.clone(),
        connection: question.settings.rerun.connection.clone(),
        redacted: collected.redaction.touched,
        errors: Vec::new(),
    }
}

/// What was read, and whether it suffices for a result.
fn evidence(question: &Question<'_>, collected: &Collected, results: &[CheckResult]) -> (Coverage, RunEvidence) {
    let cluster = &collected.cluster;
    let none_ran = none_ran(question.policy, results);
    let is_of_manifests = question.origin.kind == "manifests";
    let coverage = coverage(cluster, results, none_ran, &question.settings.rerun.connection);
    let coverage = Coverage {
        unread: unread(collected, question.knowledge),
        set_aside: set_aside(collected),
        // The pods of workloads are simulated, and not part of the files.
        objects: if is_of_manifests { cluster.applied.len() } else { coverage.objects },
        ..coverage
    };
    // If no check read any of the manifests, the result is not a pass.
    let judged_none = !results.iter().any(|result| matches!(result.outcome, Outcome::Pass | Outcome::Findings));
    let evidence = RunEvidence {
        read_nothing: coverage.objects == 0 && coverage.snapshots == 0,
        none_ran: none_ran || (is_of_manifests && judged_none && question.settings.values.is_empty()),
        unreadable: !collected.uncollected.unreadable.is_empty(),
    };
    (coverage, evidence)
}

/// Applies waivers and the baseline, and adds the problems of waivers.
fn accept(findings: &mut Vec<Finding>, policy: &Policy, at: Timestamp) {
    let waivers = policy::Waivers::new(&policy.waivers, at);
    findings.extend(waivers.problems(findings));
    for finding in &mut *findings {
        let accepted = waivers.accepted(finding);
        finding.standing = policy.standing(finding, &accepted);
        if !finding.is_waived() {
            finding.waived_in_part = accepted;
        }
    }
    stand_alone(findings);
}

/// Each selected check with its outcome, and those of the waivers.
fn judged_checks(question: &Question<'_>, results: Vec<CheckResult>, findings: &[Finding]) -> Vec<CheckOutcome> {
    let connection = &question.settings.rerun.connection;
    let judged = question.checks.iter().zip(results).map(|(check, result)| CheckOutcome {
        id: check.id,
        category: check.card().front.category.clone(),
        title: check.card().front.title.clone(),
        severity: check.card().front.severity,
        outcome: result.outcome,
        closes: result.gaps.iter().map(|missing| missing.close().aimed(connection)).collect(),
        gaps: result.gaps,
        blocked_by: result.blocked_by,
        params: check.parameters(question.settings),
    });
    let mut checks: Vec<CheckOutcome> = judged.collect();
    if !question.policy.waivers.is_empty() {
        checks.extend(policy::PROBLEMS.map(|(id, title)| of_waivers(id, title, findings)));
    }
    checks
}

/// The options of the run, for reruns.
fn run_options(question: &Question<'_>) -> RunOptions {
    let Question { settings, policy, .. } = question;
    RunOptions {
        mode: settings.mode,
        only: policy.only.clone(),
        skip: policy.skip.clone(),
        namespaces: settings.namespaces.clone(),
        upgrade: settings.upgrade.clone(),
        cni_expected: settings.cni_expected,
        expected_version: settings.expected_version.as_ref().map(ToString::to_string),
        linkerd_namespace: None,
        cni_namespace: None,
        params: settings.params.clone(),
    }
}

/// The evidence that was not judged.
fn set_aside(collected: &Collected) -> Vec<String> {
    let unreadable = collected.uncollected.unreadable.iter().map(|what| unreadable(what));
    unreadable.chain(collected.uncollected.set_aside.iter().cloned()).collect()
}

/// A file of manifests that could not be read: the rest of them was checked.
fn unreadable(what: &str) -> String {
    format!("{what}: repair the file, and check again")
}

/// Result of a check of the waivers.
fn of_waivers(id: &'static str, title: &str, findings: &[Finding]) -> CheckOutcome {
    let found = findings.iter().any(|finding| finding.check == id);
    CheckOutcome {
        id,
        category: "waivers".to_owned(),
        title: title.to_owned(),
        severity: Severity::Warning,
        outcome: if found { Outcome::Findings } else { Outcome::Pass },
        gaps: Vec::new(),
        closes: Vec::new(),
        blocked_by: None,
        params: Default::default(),
    }
}

/// Accepted findings do not explain others: accepting a cause does not accept its symptoms, which become roots.
fn stand_alone(findings: &mut [Finding]) {
    let waived: BTreeSet<_> = findings.iter().filter(|finding| finding.is_waived()).map(Finding::fingerprint).collect();
    for finding in findings.iter_mut().filter(|finding| !finding.is_waived()) {
        finding.caused_by.retain(|cause| !waived.contains(cause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Subject;

    #[test]
    fn lowered_severity_still_fails_the_row() {
        let of = |severity| {
            let finding = Finding::new("some-check", Severity::Error, Subject::thing("issuer"), "it has expired");
            let mut results = [CheckResult {
                id: "some-check",
                outcome: Outcome::Findings,
                findings: vec![finding],
                gaps: Vec::new(),
                blocked_by: None,
            }];
            let severities = [("some-check".to_owned(), severity)].into();
            regraded(&mut results, &Policy { severities, ..Policy::default() });
            let [CheckResult { findings, .. }] = results;
            (findings[0].severity, findings[0].rows.weight(findings[0].severity))
        };
        assert_eq!(of(Severity::Info), (Severity::Info, Severity::Error));
        assert_eq!(of(Severity::Error), (Severity::Error, Severity::Error));
    }
}
