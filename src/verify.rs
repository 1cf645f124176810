//! Evaluates the findings of an earlier report again on fresh evidence, and reports each subject as fixed,
//! still there, or not checked. This module defines when evidence is fresh and when two findings are the
//! same. Missing evidence, or evidence that is not newer than the report, never makes a finding fixed: it
//! is not checked.

mod again;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::checks::{CheckResult, Settings};
use crate::finding::{Fingerprint, Severity, Subject};
use crate::model::cluster::{Cluster, TimeSource};
use crate::source::Origin;
use again::{Again, not_checked};

/// The parts of an earlier report that are needed to evaluate its findings again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The time for which it was evaluated.
    pub judged_at: Timestamp,
    /// The uid of `kube-system`, if the report has it.
    pub cluster_uid: Option<String>,
    /// The source of its evidence.
    pub origin: Option<Origin>,
    /// Its namespaces (`-n`).
    pub namespaces: Vec<String>,
    /// Its findings, in its order.
    pub findings: Vec<EarlierFinding>,
    /// Its gaps.
    pub gaps: Vec<EarlierGap>,
}

/// A finding of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierFinding {
    /// The check's id as the report has it.
    pub check: String,
    /// How much harm.
    pub severity: Severity,
    /// What was wrong.
    pub message: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Its subjects; the fingerprint is missing in reports of 0.1.0.
    pub subjects: Vec<(Subject, Option<Fingerprint>)>,
}

/// A gap of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EarlierGap {
    /// What was missing.
    pub what: String,
    /// Which part of it.
    pub part: Option<String>,
    /// Why, as one word.
    pub why: String,
    /// The check that needed it.
    pub check: String,
}

/// Fresh evidence and its results.
pub struct Fresh<'a> {
    /// The evidence.
    pub cluster: &'a Cluster,
    /// The source of the evidence.
    pub origin: &'a Origin,
    /// The current outcomes of the checks, by id.
    pub results: &'a BTreeMap<&'static str, CheckResult>,
    /// The settings of this run.
    pub settings: &'a Settings,
}

/// The outcome for a finding, or for one of its subjects. Ordered: the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The check looked, and it is gone.
    Fixed,
    /// It could not be checked again.
    NotChecked,
    /// The check finds it again.
    StillThere,
}

impl State {
    /// As written in reports.
    pub fn word(self) -> &'static str {
        match self {
            State::Fixed => "fixed",
            State::NotChecked => "not-checked",
            State::StillThere => "still-there",
        }
    }
}

/// The outcome for one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSubject {
    /// The subject of the finding.
    pub subject: Subject,
    /// Its fingerprint, if the report has one.
    pub fingerprint: Option<Fingerprint>,
    /// What became of it.
    pub state: State,
    /// Why it was not checked, or another note.
    pub reason: Option<String>,
    /// How to check it.
    pub close: Option<String>,
}

/// The outcome for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The finding.
    pub finding: EarlierFinding,
    /// The outcomes for its subjects, in order.
    pub subjects: Vec<VerifiedSubject>,
}

impl Verified {
    /// The worst outcome of its subjects.
    pub fn state(&self) -> State {
        self.subjects.iter().map(|subject| subject.state).max().unwrap_or(State::NotChecked)
    }

    /// How many of its subjects are fixed.
    pub fn fixed(&self) -> usize {
        self.subjects.iter().filter(|subject| subject.state == State::Fixed).count()
    }
}

/// Whether fresh evidence and the report belong to the same cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameCluster {
    /// Both identify their cluster, and it is the same.
    Yes,
    /// Both identify their cluster, and they differ.
    No,
    /// One of them does not identify its cluster.
    Unknown,
}

/// Compares the clusters of a report and of evidence. Without uids, two contexts of one kubeconfig are two clusters.
pub fn same_cluster(earlier: &Earlier, cluster: &Cluster, origin: &Origin) -> SameCluster {
    match (&earlier.cluster_uid, cluster.uid()) {
        (Some(then), Some(now)) if *then == now => SameCluster::Yes,
        (Some(_), Some(_)) => SameCluster::No,
        (None, _) | (_, None) => match &earlier.origin {
            Some(then) if then.kind == "live" && origin.kind == "live" && then.name != origin.name => {
                SameCluster::No
            }
            Some(_) | None => SameCluster::Unknown,
        },
    }
}

/// Determines the outcome of each finding.
pub fn verify(earlier: &Earlier, fresh: &Fresh<'_>) -> Vec<Verified> {
    let stale = stale(earlier, fresh.cluster);
    let again = Again::of(earlier, fresh);
    let verified = |finding: &EarlierFinding| {
        let each = finding.subjects.iter().map(|(subject, print)| {
            let (state, reason, close) = match &stale {
                Some(reason) => not_checked(reason.clone()),
                None => again.subject(finding, subject, print.as_ref()),
            };
            let fingerprint = print.clone();
            VerifiedSubject { subject: subject.clone(), fingerprint, state, reason, close }
        });
        Verified { subjects: each.collect(), finding: finding.clone() }
    };
    earlier.findings.iter().map(verified).collect()
}

/// Why the evidence as a whole shows nothing about the time since the report.
fn stale(earlier: &Earlier, cluster: &Cluster) -> Option<String> {
    let (at, then) = (cluster.at, earlier.judged_at);
    let old = match cluster.time_source {
        // It was read after the report was written, perhaps within the same second.
        TimeSource::Clock if cluster.live => at < then,
        TimeSource::Clock => {
            return Some("the evidence does not state when it was captured; use --at".to_owned());
        }
        TimeSource::Captured | TimeSource::Flag => at <= then,
    };
    old.then(|| format!("the evidence is of {at}, not newer than the report, which is of {then}"))
}

/// The figures of a verification, infos and all else below the gate aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Findings that are fixed.
    pub fixed: usize,
    /// Findings with at least one subject that is still there.
    pub still_there: usize,
    /// Findings without a subject that is known to be there, and with at least one that could not be
    /// checked.
    pub not_checked: usize,
}

impl Tally {
    /// Counts those that `counts` takes by severity.
    pub fn of(findings: &[Verified], counts: impl Fn(Severity) -> bool) -> Tally {
        let mut tally = Tally::default();
        for finding in findings.iter().filter(|verified| counts(verified.finding.severity)) {
            match finding.state() {
                State::Fixed => tally.fixed += 1,
                State::StillThere => tally.still_there += 1,
                State::NotChecked => tally.not_checked += 1,
            }
        }
        tally
    }

    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Tally { still_there: 1.., .. } => crate::exit::FINDINGS,
            Tally { not_checked: 1.., .. } => crate::exit::NOT_CHECKED,
            Tally { .. } => crate::exit::FINE,
        }
    }
}

/// All results of a verification.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The file of the report.
    pub file: String,
    /// The report.
    pub earlier: Earlier,
    /// How the run went.
    pub run: crate::report::Run,
    /// The source of the fresh evidence.
    pub origin: Origin,
    /// The evaluation time, and its source.
    pub at: (Timestamp, TimeSource),
    /// Date of the release data.
    pub knowledge_date: String,
    /// Whether both belong to one cluster, as far as they identify it.
    pub same_cluster: SameCluster,
    /// The findings.
    pub findings: Vec<Verified>,
    /// The lowest severity that counts: the gate's word.
    pub gate: &'static str,
    /// The counted findings.
    pub tally: Tally,
}
