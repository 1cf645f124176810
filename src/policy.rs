//! What was asked of the run: which checks, and what counts as failing. The one place that decides the verdict.

mod baseline;
mod waiver;

pub use baseline::Baseline;
pub use waiver::{NoWaivers, PROBLEMS, Waiver, Waivers, on_objects, read as read_waivers};

use std::collections::{BTreeMap, BTreeSet};

use crate::card::Mode;
use crate::checks::{self, Check};
use crate::finding::{Confidence, Finding, Severity, Standing, Subject, WaivedBy, When};
use crate::item::Item;
use crate::model::skew::Skew;

/// From which severity on a finding fails the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gate {
    /// `--fail-on error`, the default.
    #[default]
    Error,
    /// `--fail-on warning`.
    Warning,
    /// `--fail-on info`.
    Info,
    /// `--fail-on never`.
    Never,
    /// `--fail-on error:observed`: what is inferred does not fail the run.
    ErrorObserved,
    /// `--fail-on warning:observed`.
    WarningObserved,
}

impl Gate {
    /// Every one of them.
    pub const ALL: [Gate; 6] =
        [Gate::Error, Gate::Warning, Gate::Info, Gate::Never, Gate::ErrorObserved, Gate::WarningObserved];

    /// Whether a finding of that severity fails the run.
    pub fn fails(self, severity: Severity) -> bool {
        match self {
            Gate::Error | Gate::ErrorObserved => severity >= Severity::Error,
            Gate::Warning | Gate::WarningObserved => severity >= Severity::Warning,
            Gate::Info => true,
            Gate::Never => false,
        }
    }

    /// Whether what is inferred counts as well.
    fn counts(self, confidence: Confidence) -> bool {
        match self {
            Gate::ErrorObserved | Gate::WarningObserved => confidence == Confidence::Observed,
            Gate::Error | Gate::Warning | Gate::Info | Gate::Never => true,
        }
    }

    /// As written on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Gate::Error => "error",
            Gate::Warning => "warning",
            Gate::Info => "info",
            Gate::Never => "never",
            Gate::ErrorObserved => "error:observed",
            Gate::WarningObserved => "warning:observed",
        }
    }
}

/// What was asked of the run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Ids, aliases or categories to judge; empty means all.
    pub only: Vec<String>,
    /// Ids, aliases or categories to leave out.
    pub skip: Vec<String>,
    /// The moment in the life of the mesh: checks of other moments are left out, unless `only` names them by id.
    pub mode: Mode,
    /// How bad the findings of a check are, by its id, where its card is not to say it.
    pub severities: BTreeMap<String, Severity>,
    /// What is told: everything, or what was seen alone.
    pub confidence: Confidence,
    /// What fails the run.
    pub gate: Gate,
    /// Whether a change is judged: then what it brings in fails the run, and nothing else.
    pub on_change: bool,
    /// Whether evidence that could not be had is accepted (`--on-not-checked=pass`).
    pub not_checked_passes: bool,
    /// What is accepted (`--waivers`).
    pub waivers: Vec<Waiver>,
    /// What is known already (`--baseline`).
    pub baseline: Option<Baseline>,
}

/// A word that names no check and no category.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no check or category is named {word:?}{}", .nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default())]
pub struct UnknownCheck {
    /// What was written.
    pub word: String,
    /// The nearest real name.
    pub nearest: Option<String>,
}

impl Policy {
    /// What a finding is to the gate, with the subjects that waivers accept. It is waived if every one of its subjects is.
    pub fn standing(&self, finding: &Finding, accepted: &[(Subject, WaivedBy)]) -> Standing {
        let subjects: BTreeSet<&Subject> = accepted.iter().map(|(of, _)| of).collect();
        let is_accepted = |subject: &Subject| subjects.contains(subject);
        if !accepted.is_empty() && finding.subjects.iter().all(is_accepted) {
            let mut waived: Vec<WaivedBy> = accepted.iter().map(|(_, by)| by.clone()).collect();
            waived.sort();
            waived.dedup();
            return Standing::Waived(waived);
        }
        match &self.baseline {
            Some(baseline) if baseline.knows(finding, is_accepted) => Standing::InBaseline,
            _ if self.fails(finding) => Standing::Fails,
            _ => Standing::Passes,
        }
    }

    /// Whether a finding fails the run.
    fn fails(&self, finding: &Finding) -> bool {
        let counts = match finding.when {
            When::AfterChange => true,
            When::UntilChange => false,
            When::Now | When::UntilUpgrade | When::AfterUpgrade => !self.on_change,
        };
        counts && self.gate.fails(finding.severity) && self.gate.counts(finding.confidence)
    }

    /// The selected checks, in table order.
    ///
    /// # Errors
    /// A word that names no check and no category.
    pub fn select(&self) -> Result<Vec<&'static Check>, UnknownCheck> {
        let only = named(&self.only)?;
        let skip = named(&self.skip)?;
        Ok(checks::all()
            .filter(|check| self.only.is_empty() || only.contains(check.id))
            .filter(|check| {
                self.mode.asks(&check.card().front.modes) || self.only.iter().any(|id| id == check.id)
            })
            .filter(|check| !skip.contains(check.id))
            .collect())
    }
}

/// What a set of checks needs or can use.
pub fn items(checks: &[&'static Check]) -> BTreeSet<Item> {
    checks
        .iter()
        .flat_map(|check| check.card().front.needs.iter().chain(&check.card().front.uses))
        .cloned()
        .collect()
}

/// What a run asks for: what its checks need or can use, and the versions that its report names besides.
pub fn run_items(checks: &[&'static Check]) -> BTreeSet<Item> {
    let mut items = items(checks);
    items.extend(Skew::items());
    items
}

fn named(words: &[String]) -> Result<BTreeSet<&'static str>, UnknownCheck> {
    let mut ids = BTreeSet::new();
    for word in words {
        let category: Vec<&str> =
            checks::all().filter(|c| c.card().front.category == *word).map(|c| c.id).collect();
        match checks::find(word) {
            Some(check) => _ = ids.insert(check.id),
            None if !category.is_empty() => ids.extend(category),
            None if checks::answering(word).next().is_some() => {
                ids.extend(checks::answering(word).map(|check| check.id));
            }
            None => return Err(UnknownCheck { word: word.clone(), nearest: nearest(word) }),
        }
    }
    Ok(ids)
}

fn nearest(word: &str) -> Option<String> {
    let mut names: BTreeSet<&str> = checks::all().map(|check| check.id).collect();
    names.extend(checks::all().map(|check| check.card().front.category.as_str()));
    crate::nearest::closest(word, names)
}
