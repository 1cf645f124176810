//! The difference between two reports: new, fixed, changed and unchanged findings, and those that cannot be
//! compared because the evidence differed. A missing finding is only fixed if its check ran fully with the
//! same settings; otherwise its state is unknown.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::document::{Check, Document, Outcome};
use super::json;
use super::text::{clean, count, wrap};
use crate::finding::Severity;

const TWO_CLUSTERS: &str = "the reports are of two different clusters";

/// The change of a finding between the reports, in the order of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingChange {
    /// Only in the second, and the first had checked it.
    New,
    /// In both, with different severities.
    Changed,
    /// In one, and the other had not checked it.
    NotComparable,
    /// Only in the first, and the second had checked it.
    Fixed,
    /// In both.
    Unchanged,
}

impl FindingChange {
    /// The printed word.
    pub fn label(self) -> &'static str {
        match self {
            FindingChange::New => "new",
            FindingChange::Changed => "changed",
            FindingChange::NotComparable => "not comparable",
            FindingChange::Fixed => "fixed",
            FindingChange::Unchanged => "unchanged",
        }
    }
}

/// A finding of one subject, in one of the reports or in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffEntry {
    /// The change.
    pub state: FindingChange,
    pub check: String,
    pub subject: String,
    /// Its severity in the first report.
    pub before: Option<Severity>,
    /// Its severity in the second.
    pub after: Option<Severity>,
    /// What is wrong.
    pub message: String,
    pub fingerprint: String,
    /// Why it cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// `meshdoctor.diff/1`.
    pub schema: &'static str,
    /// Whether both reports are of one cluster; `null` if unknown.
    pub same_cluster: Option<bool>,
    /// Every entry of either report.
    pub entries: Vec<DiffEntry>,
}

type Troubles<'a> = BTreeMap<(&'a str, String), (Severity, String, &'a str)>;

/// Compares two reports.
pub fn compare(before: &Document, after: &Document) -> Difference {
    let (old, new) = (troubles(before), troubles(after));
    let uid = |document: &Document| Some(document.subject.as_ref()?.cluster.as_ref()?.uid.clone());
    let same_cluster = uid(before).zip(uid(after)).map(|(one, other)| one == other);
    let keys: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut entries: Vec<DiffEntry> = keys
        .into_iter()
        .map(|key| {
            let (then, now) = (old.get(key), new.get(key));
            let (_, subject, message) = now.or(then).cloned().unwrap_or((Severity::Info, String::new(), ""));
            let why = |other: &Document, side: &str| match same_cluster {
                Some(false) => Some(TWO_CLUSTERS.to_owned()),
                _ => unlooked(key.0, before, after, other, side),
            };
            let alone = |found: FindingChange, other: &Document, side: &str| match why(other, side) {
                None => (found, None),
                Some(why) => (FindingChange::NotComparable, Some(why)),
            };
            let (state, why) = match (then, now) {
                (Some((then, ..)), Some((now, ..))) if then != now => (FindingChange::Changed, None),
                (Some(_), Some(_)) => (FindingChange::Unchanged, None),
                (None, _) => alone(FindingChange::New, before, "first"),
                (_, None) => alone(FindingChange::Fixed, after, "second"),
            };
            DiffEntry {
                state,
                check: key.0.to_owned(),
                subject,
                before: then.map(|(severity, ..)| *severity),
                after: now.map(|(severity, ..)| *severity),
                message: message.to_owned(),
                fingerprint: key.1.clone(),
                why,
            }
        })
        .collect();
    let worst = |entry: &DiffEntry| entry.after.max(entry.before);
    entries.sort_by(|a, b| {
        a.state
            .cmp(&b.state)
            .then(worst(b).cmp(&worst(a)))
            .then_with(|| a.check.cmp(&b.check))
            .then_with(|| a.subject.cmp(&b.subject))
    });
    Difference { schema: "meshdoctor.diff/1", same_cluster, entries }
}

/// The findings of a report by subject; of equal ones the most severe.
fn troubles(document: &Document) -> Troubles<'_> {
    let mut all: Troubles<'_> = BTreeMap::new();
    for finding in document.findings.iter().filter(|finding| !finding.when.ends()) {
        for about in &finding.subjects {
            let (subject, print) = about.subject();
            let print = print.map_or_else(|| finding.fingerprint.clone(), |print| print.0);
            let told = all.entry((&finding.check, print));
            let told = told.or_insert((finding.severity, subject.to_string(), &finding.message));
            if finding.severity > told.0 {
                told.0 = finding.severity;
            }
        }
    }
    all
}

/// Why a report without a finding does not prove its absence; `None` if it does.
fn unlooked(id: &str, before: &Document, after: &Document, other: &Document, side: &str) -> Option<String> {
    let asked = |document: &Document| {
        let asked = document.run.asked.clone().unwrap_or_default();
        (asked.mode, asked.to, asked.namespaces)
    };
    if asked(before) != asked(after) {
        return Some("the two runs selected different namespaces or times".to_owned());
    }
    let params = |document: &Document| Some(document.checks.iter().find(|check| check.id == id)?.params.clone());
    if let (Some(then), Some(now)) = (params(before), params(after))
        && then != now
        && !then.is_empty()
        && !now.is_empty()
    {
        return Some("the two runs set different parameters of the check".to_owned());
    }
    let Some(Check { outcome, reason, blocked_by, .. }) = other.checks.iter().find(|check| check.id == id) else {
        return Some(format!("the {side} run skipped the check"));
    };
    let reason = reason.clone().unwrap_or_default();
    match (outcome, blocked_by) {
        (Outcome::Pass, _) => None,
        (Outcome::NotApplicable, None) => None,
        (Outcome::Findings, _) if other.verdict.inferred > 0 => {
            Some(format!("inferred findings were excluded from the {side} report (--confidence)"))
        }
        (Outcome::Findings, _) if reason.is_empty() => None,
        (Outcome::NotApplicable, Some(other)) => Some(format!("in the {side} run {other} blocks the check")),
        (Outcome::Crashed, _) => Some(format!("the check crashed in the {side} run")),
        (Outcome::Findings | Outcome::NotChecked, _) => Some(format!("not checked in the {side} run: {reason}")),
    }
}

impl Difference {
    fn in_state(&self, state: FindingChange) -> impl Iterator<Item = &DiffEntry> {
        self.entries.iter().filter(move |entry| entry.state == state)
    }

    /// The highest severity of new findings and of those that became more severe.
    pub fn worst_new(&self) -> Option<Severity> {
        let worse = self.in_state(FindingChange::Changed).filter(|entry| entry.after > entry.before);
        self.in_state(FindingChange::New).chain(worse).filter_map(|entry| entry.after).max()
    }

    /// The highest severity of those that cannot be compared.
    pub fn worst_unknown(&self) -> Option<Severity> {
        self.in_state(FindingChange::NotComparable).filter_map(|entry| entry.after.max(entry.before)).max()
    }

    pub fn json(&self) -> String {
        json::write(self)
    }

    /// As text; unchanged findings are only counted.
    pub fn table(&self, columns: usize) -> String {
        let mut text = String::new();
        let is_listed = |entry: &&DiffEntry| match self.same_cluster {
            // One reason applies to all of them.
            Some(false) => !matches!(entry.state, FindingChange::Unchanged | FindingChange::NotComparable),
            _ => entry.state != FindingChange::Unchanged,
        };
        if self.same_cluster == Some(false) {
            let words = match self.in_state(FindingChange::NotComparable).count() {
                0 => TWO_CLUSTERS.to_owned(),
                some => format!(
                    "{TWO_CLUSTERS}; {} of one of them cannot be compared (-o json lists them)",
                    count(some, "finding", "findings")
                ),
            };
            wrap(&words, columns).iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
        for entry in self.entries.iter().filter(is_listed) {
            let severity = match (entry.before, entry.after) {
                (Some(then), Some(now)) => format!("{then} -> {now}"),
                (one, other) => other.or(one).map(Severity::label).unwrap_or_default().to_owned(),
            };
            let head = format!("{:<14}  {severity}  {}  {}", entry.state.label(), entry.check, entry.subject);
            _ = writeln!(text, "{}", clean(&head));
            let said = entry.why.as_ref().unwrap_or(&entry.message);
            for line in wrap(&clean(said), columns.saturating_sub(16)) {
                _ = writeln!(text, "{:16}{line}", "");
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let counted = [
            FindingChange::New,
            FindingChange::Changed,
            FindingChange::NotComparable,
            FindingChange::Fixed,
            FindingChange::Unchanged,
        ]
        .map(|state| {
            // Two clusters do not change into each other.
            let words = match state {
                FindingChange::Unchanged if self.same_cluster == Some(false) => "in both",
                state => state.label(),
            };
            count(self.in_state(state).count(), words, words)
        });
        _ = writeln!(text, "{}", counted.join(", "));
        text
    }
}
