//! The findings that a run knows already, from an earlier report: they do not count. What was waived then is not among
//! them, so that a waiver that expires is noticed; nor is what has become worse, or is at a new subject.

use std::collections::BTreeMap;

use crate::finding::{Finding, Severity, Subject};

/// The troubles of an earlier report, with the worst severity of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<String, Severity>);

impl Baseline {
    /// Adds one, by its fingerprint: that of a finding or of one of its subjects.
    pub fn add(&mut self, print: &str, severity: Severity) {
        let known = self.0.entry(print.to_owned()).or_insert(severity);
        *known = severity.max(*known);
    }

    /// Whether a finding was there, as bad as it is, at every one of its subjects but for those that are accepted.
    pub fn knows(&self, finding: &Finding, is_accepted: impl Fn(&Subject) -> bool) -> bool {
        let known = |print: &str| self.0.get(print).is_some_and(|then| *then >= finding.severity);
        let at = |subject: &Subject| known(&finding.subject_fingerprint(subject).0);
        known(&finding.fingerprint().0)
            || finding.subjects.iter().all(|subject| at(subject) || is_accepted(subject))
    }
}
