//! Rechecks the findings of an earlier report with fresh evidence, subject by subject: fixed, still present, or not
//! checked. Defines fresh evidence and equal findings. Missing evidence, or evidence that is not newer than the report,
//! never counts as fixed.

mod recheck;
mod traffic;

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::checks::{CheckResult, Settings};
use crate::finding::{Finding, Fingerprint, Severity, Subject};
use crate::model::cluster::{Cluster, TimeSource};
use crate::source::Origin;
use recheck::{Recheck, not_checked};
pub use traffic::TrafficCheck;

/// An earlier report, with its findings to recheck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earlier {
    /// Its time of evidence.
    pub judged_at: Timestamp,
    /// Uid of `kube-system`, if the report has it.
    pub cluster_uid: Option<String>,
    /// Origin of its evidence.
    pub origin: Option<Origin>,
    /// Its namespaces (`-n`).
    pub namespaces: Vec<String>,
    /// Its findings, in order.
    pub findings: Vec<EarlierFinding>,
    /// Its missing evidence.
    pub gaps: Vec<EarlierGap>,
}

/// A finding of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierFinding {
    /// Id of the check in the report.
    pub check: String,
    pub severity: Severity,
    /// The problem.
    pub message: String,
    pub fingerprint: String,
    /// Its subjects; reports of 0.1.0 have no fingerprints.
    pub subjects: Vec<(Subject, Option<Fingerprint>)>,
}

/// Missing evidence of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EarlierGap {
    /// The item.
    pub what: String,
    /// Its missing part.
    pub part: Option<String>,
    /// Reason, as a keyword.
    pub why: String,
    /// The check that needed it.
    pub check: String,
}

/// Results with fresh evidence.
pub struct Fresh<'a> {
    /// The evidence.
    pub cluster: &'a Cluster,
    pub origin: &'a Origin,
    /// Current results, by check id.
    pub results: &'a BTreeMap<&'static str, CheckResult>,
    /// Their findings, linked to their causes: a cause has the severity of its symptoms.
    pub findings: &'a [Finding],
    /// The request of this run.
    pub settings: &'a Settings,
}

/// State of a finding or of one of its subjects. Ordered: the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Checked, and no longer present.
    Fixed,
    /// It could not be rechecked.
    NotChecked,
    /// Still present.
    StillThere,
}

impl State {
    /// Name in reports.
    pub fn label(self) -> &'static str {
        match self {
            State::Fixed => "fixed",
            State::NotChecked => "not-checked",
            State::StillThere => "still-there",
        }
    }
}

/// State of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSubject {
    pub subject: Subject,
    /// Its fingerprint, if the report has one.
    pub fingerprint: Option<Fingerprint>,
    pub state: State,
    /// Reason why it was not checked, or a note.
    pub reason: Option<String>,
    /// How to check it.
    pub close: Option<String>,
}

/// State of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    pub finding: EarlierFinding,
    /// State of its subjects, in order.
    pub subjects: Vec<VerifiedSubject>,
}

impl Verified {
    /// The worst state of its subjects.
    pub fn state(&self) -> State {
        self.subjects.iter().map(|subject| subject.state).max().unwrap_or(State::NotChecked)
    }

    /// Number of fixed subjects.
    pub fn fixed(&self) -> usize {
        self.subjects.iter().filter(|subject| subject.state == State::Fixed).count()
    }
}

/// Whether fresh evidence is from the cluster of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameCluster {
    /// Both identify the same cluster.
    Yes,
    /// Both identify different clusters.
    No,
    /// One of them has no identity.
    Unknown,
}

/// Compares the clusters of a report and of evidence. Without uids, two contexts of one kubeconfig are different
/// clusters.
pub fn same_cluster(earlier: &Earlier, cluster: &Cluster, origin: &Origin) -> SameCluster {
    match (&earlier.cluster_uid, cluster.uid()) {
        (Some(then), Some(now)) if *then == now => SameCluster::Yes,
        (Some(_), Some(_)) => SameCluster::No,
        (None, _) | (_, None) => match &earlier.origin {
            Some(then) if then.kind == "live" && origin.kind == "live" && then.name != origin.name => SameCluster::No,
            Some(_) | None => SameCluster::Unknown,
        },
    }
}

/// The state of each finding.
pub fn verify(earlier: &Earlier, fresh: &Fresh<'_>) -> Vec<Verified> {
    let stale = stale(earlier, fresh.cluster);
    let again = Recheck::new(earlier, fresh);
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

/// Reason why the evidence as a whole is not fresh.
fn stale(earlier: &Earlier, cluster: &Cluster) -> Option<String> {
    let (at, then) = (cluster.at, earlier.judged_at);
    let old = match cluster.time_source {
        // It was read after the report was written, possibly within the same second.
        TimeSource::Clock if cluster.live => at < then,
        TimeSource::Clock => {
            return Some("the evidence has no timestamp; set it with --at".to_owned());
        }
        TimeSource::Captured | TimeSource::Flag => at <= then,
    };
    old.then(|| format!("the evidence is from {at}, which is not newer than the report ({then})"))
}

/// Counts of a recheck, without infos and other findings below the gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Fixed findings.
    pub fixed: usize,
    /// Findings that are still present, at least in part.
    pub still_there: usize,
    /// Findings that are not known to be present, and were not checked, at least in part.
    pub not_checked: usize,
    /// Workloads whose numbers of proxies are worse than in the report.
    pub worse: usize,
    /// Whether numbers could not be compared, although metrics were requested.
    pub not_compared: bool,
}

impl Tally {
    /// Counts findings whose severity `counts` accepts.
    pub fn count(findings: &[Verified], counts: impl Fn(Severity) -> bool) -> Tally {
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
            Tally { still_there: 1.., .. } | Tally { worse: 1.., .. } => crate::exit::FINDINGS,
            Tally { not_checked: 1.., .. } | Tally { not_compared: true, .. } => crate::exit::NOT_CHECKED,
            Tally { .. } => crate::exit::FINE,
        }
    }
}

/// The result of a recheck.
#[derive(Debug, Clone)]
pub struct Verification {
    /// File of the report.
    pub file: String,
    /// The report.
    pub earlier: Earlier,
    /// Metadata of the run.
    pub run: crate::report::Run,
    /// Origin of the fresh evidence.
    pub origin: Origin,
    /// The time at which evidence is judged, and its source.
    pub at: (Timestamp, TimeSource),
    /// Date of the release data.
    pub knowledge_date: String,
    /// Whether both are from one cluster, as far as known.
    pub same_cluster: SameCluster,
    pub findings: Vec<Verified>,
    /// The comparison of numbers of proxies, if the report has any.
    pub traffic: Option<TrafficCheck>,
    /// The gate, as a keyword.
    pub gate: &'static str,
    /// Findings at or above the gate.
    pub tally: Tally,
}
