//! Judges the findings of an earlier report again on fresh evidence, and says of each subject: fixed, still there, or
//! not checked. What counts as fresh, as the same trouble and as looked at is decided here and nowhere else. Nothing is
//! fixed because nobody could look: evidence that is missing, or not newer than the report, leaves a finding not checked.

mod again;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::checks::{CheckResult, Settings};
use crate::finding::{Fingerprint, Severity, Subject};
use crate::model::cluster::{Cluster, TimeSource};
use crate::source::Origin;
use again::{Again, not_checked};

/// An earlier report, as far as its findings can be judged again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// The moment that it judged.
    pub judged_at: Timestamp,
    /// The uid of `kube-system`, where the report has it.
    pub cluster_uid: Option<String>,
    /// Where its evidence came from.
    pub origin: Option<Origin>,
    /// Its namespaces (`-n`).
    pub namespaces: Vec<String>,
    /// Its findings, in its order.
    pub findings: Vec<EarlierFinding>,
    /// What it could not check either.
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
    /// What it was about; the fingerprint is missing in reports of 0.1.0.
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

/// Fresh evidence, judged again.
pub struct Fresh<'a> {
    /// The evidence.
    pub cluster: &'a Cluster,
    /// Where it came from.
    pub origin: &'a Origin,
    /// What the checks say now, by id.
    pub results: &'a BTreeMap<&'static str, CheckResult>,
    /// What was asked of this run.
    pub settings: &'a Settings,
}

/// What became of a finding, or of one of its subjects. Ordered: the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The check looked, and it is gone.
    Fixed,
    /// It could not be looked at again.
    NotChecked,
    /// The check finds it again.
    StillThere,
}

impl State {
    /// As reports write it.
    pub fn word(self) -> &'static str {
        match self {
            State::Fixed => "fixed",
            State::NotChecked => "not-checked",
            State::StillThere => "still-there",
        }
    }
}

/// What became of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSubject {
    /// What the finding was about.
    pub subject: Subject,
    /// Its fingerprint, where the report has one.
    pub fingerprint: Option<Fingerprint>,
    /// What became of it.
    pub state: State,
    /// Why it was not checked, or what else is to be said.
    pub reason: Option<String>,
    /// How to have it checked.
    pub close: Option<String>,
}

/// What became of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The finding.
    pub finding: EarlierFinding,
    /// What became of its subjects, in order.
    pub subjects: Vec<VerifiedSubject>,
}

impl Verified {
    /// The worst of its subjects'.
    pub fn state(&self) -> State {
        self.subjects.iter().map(|subject| subject.state).max().unwrap_or(State::NotChecked)
    }

    /// How many of its subjects are fixed.
    pub fn fixed(&self) -> usize {
        self.subjects.iter().filter(|subject| subject.state == State::Fixed).count()
    }
}

/// Whether fresh evidence is of the cluster of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameCluster {
    /// Both name it, and it is one.
    Yes,
    /// Both name it, and these are two.
    No,
    /// One of them does not tell.
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

/// Says of each finding what became of it.
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

/// Why the evidence as a whole says nothing about what was done since the report.
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
    /// Findings that are still there, at least in part.
    pub still_there: usize,
    /// Findings of which nothing is known to be there, and that could not be checked, at least in part.
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

/// Everything that is said of a verification.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The file of the report.
    pub file: String,
    /// The report.
    pub earlier: Earlier,
    /// How the run went.
    pub run: crate::report::Run,
    /// Where the fresh evidence came from.
    pub origin: Origin,
    /// The moment of judgement, and where it comes from.
    pub at: (Timestamp, TimeSource),
    /// Date of the release data.
    pub knowledge_date: String,
    /// Whether both are of one cluster, as far as they tell.
    pub same_cluster: SameCluster,
    /// The findings.
    pub findings: Vec<Verified>,
    /// From which severity on a finding counts: the gate's word.
    pub gate: &'static str,
    /// Those that count.
    pub tally: Tally,
}
