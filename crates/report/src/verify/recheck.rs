//! Checks one subject of an earlier finding again: it is fixed only if the check evaluated it and found
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Earlier, EarlierFinding, EarlierGap, Fresh, State};
use crate::checks::{self, Outcome};
use crate::fetched::{Fetched, Why};
use crate::finding::{Finding, Fingerprint, Severity, Subject};
use crate::item::{Item, Kind};
use crate::missing::Missing;
use crate::model::cluster::TimeSource;
use crate::objects::Node;

/// The outcome for a subject, its reason, and how to check it.
pub(super) type SubjectOutcome = (State, Option<String>, Option<String>);

pub(super) fn not_checked(reason: String) -> SubjectOutcome {
    (State::NotChecked, Some(reason), None)
}

/// The subjects for which a check reports a finding now, with their fingerprints and severities.
type CurrentSubjects = BTreeMap<(&'static str, Anchor), Vec<(Fingerprint, Severity)>>;

fn found(fresh: &Fresh<'_>) -> CurrentSubjects {
    let mut found = CurrentSubjects::new();
    for finding in fresh.findings {
        for subject in &finding.subjects {
            let print = Finding::subject_fingerprint(finding, subject);
            found.entry((finding.check, Anchor::from_subject(subject))).or_default().push((print, finding.severity));
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
    fn from_subject(subject: &Subject) -> Anchor {
        match subject.clone() {
            Subject::Object { kind, namespace, name, .. } => Anchor::Object(kind, namespace, name),
            Subject::Node { node, .. } => Anchor::Node(node),
            Subject::Thing { thing } => Anchor::Thing(thing),
        }
    }
}

/// An earlier report and fresh evidence.
pub(super) struct Recheck<'a> {
    earlier: &'a Earlier,
    fresh: &'a Fresh<'a>,
    gaps: BTreeSet<&'a EarlierGap>,
    /// Every fingerprint of a subject in the report.
    known: BTreeSet<&'a Fingerprint>,
    found: CurrentSubjects,
}

impl<'a> Recheck<'a> {
    /// From a report and the current findings.
    pub(super) fn new(earlier: &'a Earlier, fresh: &'a Fresh<'a>) -> Recheck<'a> {
        let subjects = earlier.findings.iter().flat_map(|finding| &finding.subjects);
        let known = subjects.filter_map(|(_, print)| print.as_ref()).collect();
        Recheck { earlier, fresh, gaps: earlier.gaps.iter().collect(), known, found: found(fresh) }
    }

    /// The outcome for a subject of a finding.
    pub(super) fn subject(
        &self,
        finding: &EarlierFinding,
        subject: &Subject,
        print: Option<&Fingerprint>,
    ) -> SubjectOutcome {
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
        let now = self.found.get(&(check.id, Anchor::from_subject(subject))).map_or(&[][..], Vec::as_slice);
        // An info in place of an error or a warning needs no repair.
        let (infos, now): (Vec<_>, Vec<_>) =
            now.iter().partition(|(_, severity)| *severity == Severity::Info && finding.severity > Severity::Info);
        match print {
            Some(print) if now.iter().any(|(one, _)| one == print) => return (State::StillThere, None, None),
            // The same check reports a finding for the same subject that the report does not have.
            Some(_) if now.iter().any(|(print, _)| !self.known.contains(print)) => {
                return (State::StillThere, Some("in another form than in the report".to_owned()), None);
            }
            None if !now.is_empty() => return (State::StillThere, None, None),
            Some(_) | None => {}
        }
        if let Some(reason) = self.not_selected(subject) {
            return not_checked(reason);
        }
        if let (Some(by), Outcome::NotApplicable(reason)) = (result.blocked_by, &result.outcome) {
            return not_checked(format!("{by} prevents the check: {reason}"));
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
            _ if !infos.is_empty() => Some("what remains is an info".to_owned()),
            Outcome::Pass | Outcome::Findings | Outcome::Unknown | Outcome::Crashed(_) => None,
        };
        (State::Fixed, why, None)
    }

    /// Whether a gap could hide the finding: not if it concerns another node, nor if the report had the
    /// same gap and the finding nevertheless.
    fn hides(&self, gap: &Missing, check: &str, subject: &Subject) -> bool {
        let node = gap.part.as_deref().and_then(|part| part.strip_prefix("node "));
        let node = node.map(|rest| rest.split([':', ' ']).next().unwrap_or(rest));
        if let (Some(gone), Subject::Node { node, .. }) = (node, subject)
            && gone != node
        {
            return false;
        }
        // "2 of 3 nodes without a snapshot": not this one, which has one.
        let nodes = self.fresh.cluster.nodes.as_deref().unwrap_or_default();
        if let Subject::Node { node, .. } = subject
            && (&gap.request.item, &gap.why) == (&Item::NodeFiles, &Why::NotOffered)
            && gap.part.as_deref().is_some_and(|part| !part.starts_with("node "))
            && nodes.iter().any(|files| files.node == *node)
        {
            return false;
        }
        let word = gap.why.keyword();
        let same = EarlierGap {
            what: gap.request.to_string(),
            part: gap.part.clone(),
            why: word.to_owned(),
            check: check.to_owned(),
        };
        let whole = matches!(word, "denied" | "not-served" | "not-captured" | "not-offered");
        !(whole && self.gaps.contains(&same))
    }

    /// Set if this run covers fewer namespaces than the report.
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

    /// Why the existing files of a node show nothing about the time since the report.
    fn old_files(&self, name: &str) -> Option<String> {
        let cluster = self.fresh.cluster;
        let files = cluster.nodes.as_ref().ok()?.iter().find(|files| files.node == name)?;
        match files.meta.collected_at {
            Some(at) if at <= self.earlier.judged_at => {
                Some(format!("the files of {name} are of {at}, not newer than the report"))
            }
            None if cluster.time_source != TimeSource::Flag => {
                Some(format!("the files of {name} do not state when they were collected; use --at"))
            }
            Some(_) | None => None,
        }
    }

    /// Why missing or old node files leave a subject not checked. A node that left the cluster has none.
    fn without_files(&self, subject: &Subject) -> Option<String> {
        let cluster = self.fresh.cluster;
        let held: Vec<&str> =
            cluster.nodes.as_ref().map_or(vec![], |nodes| nodes.iter().map(|n| n.node.as_str()).collect());
        match subject {
            Subject::Node { node, .. } => {
                let listed = cluster.answer(&Item::List(Kind::Node));
                let listed = listed.filter(|answer| answer.fetched == Fetched::Complete && answer.count() > 0);
                let gone = listed
                    .is_some_and(|answer| !answer.objects::<Node>().iter().any(|other| other.metadata.name == *node));
                (!held.contains(&node.as_str()) && !gone).then(|| format!("no node evidence of {node}"))
            }
            Subject::Object { .. } | Subject::Thing { .. } => held.into_iter().find_map(|node| self.old_files(node)),
        }
    }
}
