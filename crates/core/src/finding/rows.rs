//! The rows of `linkerd check` that a finding fails. The rule sets them if a finding fails fewer rows than
//! its card answers; `crate::rows` evaluates them.

use super::Severity;

/// The rows of its card that a finding fails, and their severity. By default all of them, with the finding's
/// severity.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedRows {
    only: Option<Vec<&'static str>>,
    weight: Option<Severity>,
}

impl FailedRows {
    /// No rows: `linkerd check` has none for this.
    pub fn none() -> FailedRows {
        FailedRows { only: Some(Vec::new()), weight: None }
    }

    /// Whether they include a row of its card, by description.
    pub fn contain(&self, description: &str) -> bool {
        self.only.as_ref().is_none_or(|rows| rows.contains(&description))
    }

    /// The rows that the rule named, by description; empty if it named none, or all apply.
    pub fn names(&self) -> &[&'static str] {
        self.only.as_deref().unwrap_or_default()
    }

    /// Whether they fail with another severity than the finding's.
    pub fn are_weighed(&self) -> bool {
        self.weight.is_some()
    }

    /// The severity of the rows, for a finding of this severity.
    pub fn weight(&self, severity: Severity) -> Severity {
        self.weight.unwrap_or(severity)
    }

    /// The rows in a saved report, and their severity.
    pub fn restored(only: Option<Vec<&'static str>>, weight: Option<Severity>) -> FailedRows {
        FailedRows { only, weight }
    }

    /// The rows that the rule named, and their severity, for saved reports.
    pub fn parts(&self) -> (Option<&[&'static str]>, Option<Severity>) {
        (self.only.as_deref(), self.weight)
    }

    /// Only these rows, by description.
    pub(super) fn only(&mut self, descriptions: impl IntoIterator<Item = &'static str>) {
        self.only = Some(descriptions.into_iter().collect());
    }

    /// Sets the severity of the rows, whatever the finding's.
    pub(super) fn weigh(&mut self, severity: Severity) {
        self.weight = Some(severity);
    }
}
