//! The options of the run: selected checks, and the gate. The only place that determines the result.

mod baseline;
mod waiver;

pub use baseline::Baseline;
pub use waiver::{NoWaivers, PROBLEMS, Waiver, Waivers, on_objects, read as read_waivers};

use std::collections::{BTreeMap, BTreeSet};

use crate::card::Mode;
use crate::checks::{self, Check, KNOWN_DEFECT};
use crate::finding::{Confidence, Finding, Severity, Standing, Subject, WaivedBy, When};
use crate::item::Item;
use crate::model::skew::Skew;

/// The gate: the lowest severity that fails a run.
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
    /// `--fail-on error:observed`: inferred findings do not fail the run.
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

    /// Whether inferred findings count.
    fn counts(self, confidence: Confidence) -> bool {
        match self {
            Gate::ErrorObserved | Gate::WarningObserved => confidence == Confidence::Observed,
            Gate::Error | Gate::Warning | Gate::Info | Gate::Never => true,
        }
    }

    /// As written on the command line.
    pub fn label(self) -> &'static str {
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

/// Options of the run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Ids, aliases, categories or known defects (`known-defect/ID`) to select; empty means all.
    pub only: Vec<String>,
    /// Ids, aliases, categories or known defects to skip.
    pub skip: Vec<String>,
    /// The stage: checks of other stages are skipped, unless `only` names their ids.
    pub mode: Mode,
    /// Severity overrides, by check id.
    pub severities: BTreeMap<String, Severity>,
    /// Whether inferred findings are listed.
    pub confidence: Confidence,
    pub gate: Gate,
    /// Whether a change is checked: then only findings that it introduces fail the run.
    pub on_change: bool,
    /// Whether unavailable evidence is accepted (`--on-not-checked=pass`).
    pub not_checked_passes: bool,
    /// Accepted findings (`--waivers`).
    pub waivers: Vec<Waiver>,
    /// Known findings (`--baseline`).
    pub baseline: Option<Baseline>,
}

/// A word that is neither a check nor a category.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown check or category {:?}{}",
    crate::nearest::brief(.word),
    .nearest.as_ref().map(|n| format!("; did you mean {n}?")).unwrap_or_default()
)]
pub struct UnknownCheck {
    pub word: String,
    /// The most similar existing name.
    pub nearest: Option<String>,
}

impl Policy {
    /// Effect of a finding on the gate, with its accepted subjects. It is waived if all subjects are.
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
    /// A word is neither a check nor a category.
    pub fn select(&self) -> Result<Vec<&'static Check>, UnknownCheck> {
        let mut checks = self.of_all_modes()?;
        checks
            .retain(|check| self.mode.runs_in(&check.card().front.modes) || self.only.iter().any(|id| id == check.id));
        Ok(checks)
    }

    /// The checks of all modes, those before an installation or upgrade included.
    ///
    /// # Errors
    /// As [`Policy::select`].
    pub fn of_all_modes(&self) -> Result<Vec<&'static Check>, UnknownCheck> {
        let only = check_ids(&self.only)?;
        // Without one of the defects, the check of all others still runs.
        let skip = check_ids(self.skip.iter().filter(|word| known_defect(word).is_none()))?;
        Ok(checks::all()
            .filter(|check| self.only.is_empty() || only.contains(check.id))
            .filter(|check| !skip.contains(check.id))
            .collect())
    }

    /// Whether a finding of a selected check is selected: all are, unless it is a known defect and others are named.
    pub fn selects(&self, finding: &Finding) -> bool {
        if finding.check != KNOWN_DEFECT {
            return true;
        }
        let is_named = |word: &str| known_defect(word).is_some_and(|id| finding.parameters.iter().any(|of| of == id));
        let names_all = |word: &str| known_defect(word).is_none() && selects_check(word, finding.check);
        let only = self.only.is_empty() || self.only.iter().any(|word| names_all(word) || is_named(word));
        only && !self.skip.iter().any(|word| is_named(word))
    }

    /// The known defects to look for, if not all are.
    pub fn only_defects(&self) -> Option<Vec<&str>> {
        let selected = |word: &&String| selects_check(word, KNOWN_DEFECT);
        let named: Vec<Option<&str>> = self.only.iter().filter(selected).map(|word| known_defect(word)).collect();
        named.into_iter().collect::<Option<Vec<&str>>>().filter(|named| !named.is_empty())
    }

    /// The known defects that the options name.
    pub fn known_defects(&self) -> impl Iterator<Item = &str> {
        self.only.iter().chain(&self.skip).filter_map(|word| known_defect(word))
    }
}

/// The defect that `known-defect/ID` names.
fn known_defect(word: &str) -> Option<&str> {
    word.split_once('/').filter(|(check, _)| *check == KNOWN_DEFECT).map(|(_, id)| id)
}

/// Whether a word selects a check: by its id, an alias, its category or a row of `linkerd check`.
fn selects_check(word: &str, check: &str) -> bool {
    check_ids([word]).is_ok_and(|ids| ids.contains(check))
}

/// Items that a set of checks needs or can use.
pub fn items(checks: &[&'static Check]) -> BTreeSet<Item> {
    checks.iter().flat_map(|check| check.card().front.needs.iter().chain(&check.card().front.uses)).cloned().collect()
}

/// Items to request: those of its checks, and the versions for its report.
pub fn run_items(checks: &[&'static Check]) -> BTreeSet<Item> {
    let mut items = items(checks);
    items.extend(Skew::items());
    items
}

fn check_ids(words: impl IntoIterator<Item = impl AsRef<str>>) -> Result<BTreeSet<&'static str>, UnknownCheck> {
    let mut ids = BTreeSet::new();
    for word in words {
        let word = word.as_ref();
        if known_defect(word).is_some() {
            ids.insert(KNOWN_DEFECT);
            continue;
        }
        let category: Vec<&str> = checks::all().filter(|c| c.card().front.category == word).map(|c| c.id).collect();
        match checks::find(word) {
            Some(check) => _ = ids.insert(check.id),
            None if !category.is_empty() => ids.extend(category),
            None if checks::answering(word).next().is_some() => {
                ids.extend(checks::answering(word).map(|check| check.id));
            }
            None => return Err(UnknownCheck { word: word.to_owned(), nearest: nearest(word) }),
        }
    }
    Ok(ids)
}

/// Maximum number of checks to suggest for a pattern.
const SUGGESTED: usize = 8;

fn nearest(word: &str) -> Option<String> {
    // Patterns are not supported, but the checks that they mean can be named.
    if let Some((begin, end)) = word.split_once('*') {
        let fits = |id: &&str| id.len() >= word.len() - 1 && id.starts_with(begin) && id.ends_with(end);
        let meant: Vec<&str> = checks::all().map(|check| check.id).filter(fits).take(SUGGESTED).collect();
        return (!meant.is_empty()).then(|| meant.join(","));
    }
    let mut names: BTreeSet<&str> = checks::all().map(|check| check.id).collect();
    names.extend(checks::all().map(|check| check.card().front.category.as_str()));
    crate::nearest::closest(word, names)
}
