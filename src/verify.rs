//! Judges the findings of an earlier report again on fresh evidence, and says of each subject: fixed, still there, or
//! not checked. What counts as fresh, as the same trouble and as looked at is decided here and nowhere else. Nothing is
//! fixed because nobody could look: evidence that is missing, or not newer than the report, leaves a finding not checked.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::checks::{self, CheckResult, Outcome, Settings};
use crate::fetched::{Fetched, Why};
use crate::finding::{Finding, Fingerprint, Severity, Subject};
use crate::item::{Item, Kind};
use crate::missing::Missing;
use crate::model::cluster::{Cluster, TimeSource};
use crate::objects::Node;
use crate::source::Origin;

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
    let mut known: BTreeSet<&Fingerprint> = BTreeSet::new();
    known.extend(earlier.findings.iter().flat_map(|f| &f.subjects).filter_map(|(_, print)| print.as_ref()));
    let again = Again { earlier, fresh, gaps: earlier.gaps.iter().collect(), known, found: found(fresh) };
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

/// What became of a subject, why, and how to have it checked.
type Said = (State, Option<String>, Option<String>);

fn not_checked(reason: String) -> Said {
    (State::NotChecked, Some(reason), None)
}

/// Why the evidence as a whole says nothing about what was done since the report.
fn stale(earlier: &Earlier, cluster: &Cluster) -> Option<String> {
    let (at, then) = (cluster.at, earlier.judged_at);
    let old = match cluster.time_source {
        // It was read after the report was written, perhaps within the same second.
        TimeSource::Clock if cluster.live => at < then,
        TimeSource::Clock => {
            return Some("the evidence does not say when it was captured; --at says it".to_owned());
        }
        TimeSource::Captured | TimeSource::Flag => at <= then,
    };
    old.then(|| format!("the evidence is of {at}, not newer than the report, which is of {then}"))
}

/// The subjects that a check finds something at now, and the fingerprints of that.
type Found = BTreeMap<(&'static str, Anchor), Vec<Fingerprint>>;

fn found(fresh: &Fresh<'_>) -> Found {
    let mut found = Found::new();
    for (id, result) in fresh.results {
        for finding in &result.findings {
            for subject in &finding.subjects {
                let print = Finding::subject_fingerprint(finding, subject);
                found.entry((*id, Anchor::of(subject))).or_default().push(print);
            }
        }
    }
    found
}

/// A subject without the place in it: an object, a node, a thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Anchor {
    Object(String, String, String),
    Node(String),
    Thing(String),
}

impl Anchor {
    fn of(subject: &Subject) -> Anchor {
        match subject.clone() {
            Subject::Object { kind, namespace, name, .. } => Anchor::Object(kind, namespace, name),
            Subject::Node { node, .. } => Anchor::Node(node),
            Subject::Thing { thing } => Anchor::Thing(thing),
        }
    }
}

struct Again<'a> {
    earlier: &'a Earlier,
    fresh: &'a Fresh<'a>,
    gaps: BTreeSet<&'a EarlierGap>,
    /// Every fingerprint of a subject in the report.
    known: BTreeSet<&'a Fingerprint>,
    found: Found,
}

impl Again<'_> {
    fn subject(&self, finding: &EarlierFinding, subject: &Subject, print: Option<&Fingerprint>) -> Said {
        let Some(check) = checks::find(&finding.check) else {
            return not_checked(format!("this version of meshdoctor has no check {}", finding.check));
        };
        let Some(result) = self.fresh.results.get(check.id) else {
            return not_checked("the check did not run".to_owned());
        };
        if let Outcome::Crashed(message) = &result.outcome {
            return not_checked(format!("the check crashed: {message}"));
        }
        let front = &check.card().front;
        let reads_nodes = front.needs.contains(&Item::NodeFiles) || front.uses.contains(&Item::NodeFiles);
        if reads_nodes
            && let Subject::Node { node, .. } = subject
            && let Some(reason) = self.old_files(node)
        {
            return not_checked(reason);
        }
        let now = self.found.get(&(check.id, Anchor::of(subject))).map_or(&[][..], Vec::as_slice);
        match print {
            Some(print) if now.contains(print) => return (State::StillThere, None, None),
            // The same check finds something at the same subject that is none of the report's findings.
            Some(_) if now.iter().any(|print| !self.known.contains(print)) => {
                return (State::StillThere, Some("in another form than in the report".to_owned()), None);
            }
            None if !now.is_empty() => return (State::StillThere, None, None),
            Some(_) | None => {}
        }
        if let Some(reason) = self.not_selected(subject) {
            return not_checked(reason);
        }
        if let (Some(by), Outcome::NotApplicable(reason)) = (result.blocked_by, &result.outcome) {
            return not_checked(format!("{by} keeps it from being checked: {reason}"));
        }
        if let Some(gap) = result.gaps.iter().find(|gap| self.hides(gap, check.id, subject)) {
            return (
                State::NotChecked,
                Some(gap.to_string()),
                Some(gap.close().aimed(&self.fresh.settings.rerun.connection).to_string()),
            );
        }
        if reads_nodes && let Some(reason) = self.without_files(subject) {
            return not_checked(reason);
        }
        let why = match &result.outcome {
            Outcome::NotApplicable(reason) => Some(format!("no longer applies: {reason}")),
            Outcome::Pass | Outcome::Findings | Outcome::Unknown | Outcome::Crashed(_) => None,
        };
        (State::Fixed, why, None)
    }

    /// Whether a gap could hide the trouble: not where it is about another node, nor where the report had the same gap and
    /// found the trouble all the same.
    fn hides(&self, gap: &Missing, check: &str, subject: &Subject) -> bool {
        let node = gap.part.as_deref().and_then(|part| part.strip_prefix("node "));
        let node = node.map(|rest| rest.split([':', ' ']).next().unwrap_or(rest));
        if let (Some(gone), Subject::Node { node, .. }) = (node, subject)
            && gone != node
        {
            return false;
        }
        // "2 of 3 nodes without a snapshot": not this one, of which there is one.
        let nodes = self.fresh.cluster.nodes.as_deref().unwrap_or_default();
        if let Subject::Node { node, .. } = subject
            && (&gap.request.item, &gap.why) == (&Item::NodeFiles, &Why::NotOffered)
            && gap.part.as_deref().is_some_and(|part| !part.starts_with("node "))
            && nodes.iter().any(|files| files.node == *node)
        {
            return false;
        }
        let word = gap.why.word();
        let same = EarlierGap {
            what: gap.request.to_string(),
            part: gap.part.clone(),
            why: word.to_owned(),
            check: check.to_owned(),
        };
        let whole = matches!(word, "denied" | "not-served" | "not-captured" | "not-offered");
        !(whole && self.gaps.contains(&same))
    }

    /// Where this run looks at fewer namespaces than the report did.
    fn not_selected(&self, subject: &Subject) -> Option<String> {
        let (then, now) = (&self.earlier.namespaces, &self.fresh.settings.namespaces);
        match subject {
            Subject::Object { namespace, .. }
                if !now.is_empty() && now != then && !namespace.is_empty() && !now.contains(namespace) =>
            {
                Some("its namespace is not among those of this run (-n)".to_owned())
            }
            Subject::Object { .. } | Subject::Node { .. } | Subject::Thing { .. } => None,
        }
    }

    /// Why a node's files say nothing about what was done since the report, where they are there.
    fn old_files(&self, name: &str) -> Option<String> {
        let cluster = self.fresh.cluster;
        let files = cluster.nodes.as_ref().ok()?.iter().find(|files| files.node == name)?;
        match files.meta.collected_at {
            Some(at) if at <= self.earlier.judged_at => {
                Some(format!("the files of {name} are of {at}, not newer than the report"))
            }
            None if cluster.time_source != TimeSource::Flag => {
                Some(format!("the files of {name} do not say when they were collected; --at says it"))
            }
            Some(_) | None => None,
        }
    }

    /// Why node files that are not there, or old, leave a subject not checked. A node that left the cluster has none.
    fn without_files(&self, subject: &Subject) -> Option<String> {
        let cluster = self.fresh.cluster;
        let held: Vec<&str> =
            cluster.nodes.as_ref().map_or(vec![], |nodes| nodes.iter().map(|n| n.node.as_str()).collect());
        match subject {
            Subject::Node { node, .. } => {
                let listed = cluster.answer(&Item::List(Kind::Node));
                let listed =
                    listed.filter(|answer| answer.fetched == Fetched::Complete && answer.count() > 0);
                let gone = listed.is_some_and(|answer| {
                    !answer.objects::<Node>().iter().any(|other| other.metadata.name == *node)
                });
                (!held.contains(&node.as_str()) && !gone).then(|| format!("no node evidence of {node}"))
            }
            Subject::Object { .. } | Subject::Thing { .. } => {
                held.into_iter().find_map(|node| self.old_files(node))
            }
        }
    }
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
