//! What a finding is to the rows of `linkerd check`. Rules say it, because a card may answer more rows than one finding fails;
//! what becomes of it is the business of the rows alone.

use super::Severity;

/// Which of its card's rows of `linkerd check` a finding fails, and how. By default all of them, as severe as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailedRows {
    only: Option<Vec<&'static str>>,
    weight: Option<Severity>,
}

impl FailedRows {
    /// None: `linkerd check` has no row for this.
    pub fn none() -> FailedRows {
        FailedRows { only: Some(Vec::new()), weight: None }
    }

    /// Whether a row of its card, by description, is among them.
    pub fn contain(&self, description: &str) -> bool {
        self.only.as_ref().is_none_or(|rows| rows.contains(&description))
    }

    /// Those that the rule named, by description; none where it named none, or all are meant.
    pub fn named(&self) -> &[&'static str] {
        self.only.as_deref().unwrap_or_default()
    }

    /// Whether they fail otherwise than by the finding's severity.
    pub fn are_weighed(&self) -> bool {
        self.weight.is_some()
    }

    /// How they fail, of a finding of this severity.
    pub fn weight(&self, severity: Severity) -> Severity {
        self.weight.unwrap_or(severity)
    }

    /// The rows that a saved report names, and how they fail.
    pub fn restored(only: Option<Vec<&'static str>>, weight: Option<Severity>) -> FailedRows {
        FailedRows { only, weight }
    }

    /// The rows that the rule named, and how they fail, as reports save them.
    pub fn parts(&self) -> (Option<&[&'static str]>, Option<Severity>) {
        (self.only.as_deref(), self.weight)
    }

    /// These rows alone, by description.
    pub(super) fn only(&mut self, descriptions: impl IntoIterator<Item = &'static str>) {
        self.only = Some(descriptions.into_iter().collect());
    }

    /// Fails them like this, whatever the finding's severity.
    pub(super) fn weigh(&mut self, severity: Severity) {
        self.weight = Some(severity);
    }
}
