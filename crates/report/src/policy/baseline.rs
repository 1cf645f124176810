//! The known findings of a run, from an earlier report, which do not count. Findings that were waived then
//! are not known, so an expired waiver is noticed. Findings that became worse or have a new subject count
//! too.

use std::collections::BTreeMap;

use crate::finding::{Finding, Severity, Subject};

/// The findings of an earlier report by fingerprint, with the worst severity of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<String, Severity>);

impl Baseline {
    /// Adds a fingerprint, of a finding or of one of its subjects.
    pub fn add(&mut self, print: &str, severity: Severity) {
        let known = self.0.entry(print.to_owned()).or_insert(severity);
        *known = severity.max(*known);
    }

    /// Whether every subject of a finding, except the accepted ones, was already known with at least this
    /// severity.
    pub fn knows(&self, finding: &Finding, is_accepted: impl Fn(&Subject) -> bool) -> bool {
        let known = |print: &str| self.0.get(print).is_some_and(|then| *then >= finding.severity);
        let at = |subject: &Subject| known(&finding.subject_fingerprint(subject).0);
        known(&finding.fingerprint().0) || finding.subjects.iter().all(|subject| at(subject) || is_accepted(subject))
    }
}
