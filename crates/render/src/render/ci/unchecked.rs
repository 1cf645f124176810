//! Checks that did not run, for formats in which each entry needs attention. Gaps with the same reason are
//! one entry: an unreadable file affects every check of its evidence, and evidence that was not provided
//! would hide the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::super::text::{count, some_of};
use super::{gap_fails, not_checked, path};
use crate::fetched::Why;
use crate::report::{Gap, Report};

/// Maximum number of named checks.
pub(super) const NAMED: usize = 8;

/// Gaps by required action.
pub(super) struct Unchecked<'a> {
    /// Gaps that make the exit status 4, grouped by checks and remedy.
    pub failing: Vec<Vec<&'a Gap>>,
    /// Gaps from unreadable files, by error.
    pub unreadable: BTreeMap<&'a str, Vec<&'a Gap>>,
    /// Gaps without effect on the exit status.
    pub accepted: Vec<&'a Gap>,
}

impl<'a> Unchecked<'a> {
    /// Groups the gaps of a report.
    pub(super) fn from_report(report: &'a Report) -> Unchecked<'a> {
        let mut alike: BTreeMap<(&[&str], String), Vec<&Gap>> = BTreeMap::new();
        let mut unreadable: BTreeMap<&str, Vec<&Gap>> = BTreeMap::new();
        let (failing, accepted): (Vec<&Gap>, Vec<&Gap>) =
            report.coverage.gaps.iter().partition(|gap| gap_fails(report, gap));
        for gap in failing {
            if let Why::Malformed { message } = &gap.missing.why {
                unreadable.entry(message).or_default().push(gap);
                continue;
            }
            alike.entry((gap.checks.as_slice(), gap.close.to_string())).or_default().push(gap);
        }
        for message in report.coverage.set_aside.iter().filter(|message| place(report, message).is_some()) {
            unreadable.entry(message).or_default();
        }
        Unchecked { failing: alike.into_values().collect(), unreadable, accepted }
    }
}

/// A group of equal gaps on one line.
pub(super) fn alike(gaps: &[&Gap]) -> String {
    let more = match gaps.len() {
        1 => String::new(),
        many => format!("; and {} more", many - 1),
    };
    format!("{}{more}", not_checked(gaps[0]))
}

/// The checks that an unreadable file affects, on one line.
pub(super) fn unreadable(message: &str, gaps: &[&Gap]) -> String {
    let named = checks(gaps);
    let Some(first) = gaps.first() else { return message.to_owned() };
    format!(
        "{message}; {} not run fully: {}; to check this: {}",
        count(named.len(), "check did", "checks did"),
        some_of(&named, NAMED),
        first.close,
    )
}

/// The checks that did not run because evidence was not provided, on one line; `None` if there are none.
pub(super) fn nobody_provided(gaps: &[&Gap]) -> Option<String> {
    let named = checks(gaps);
    (!named.is_empty()).then(|| {
        format!(
            "{} not run fully, as the evidence was not provided: {}; check --coverage lists it and how to \
             provide it",
            count(named.len(), "check did", "checks did"),
            some_of(&named, NAMED),
        )
    })
}

/// The checks with gaps, each once.
pub(super) fn checks<'a>(gaps: &[&'a Gap]) -> Vec<&'a str> {
    let checks: BTreeSet<&str> = gaps.iter().flat_map(|gap| gap.checks.iter().copied()).collect();
    checks.into_iter().collect()
}

/// The file and line at the start of a message: `k8s/web.yaml:3: did not find expected node content`.
pub(super) fn place(report: &Report, message: &str) -> Option<(String, u64)> {
    let (place, _) = message.split_once(": ")?;
    let (file, line) = place.rsplit_once(':')?;
    let line: u64 = line.parse().ok()?;
    Some((path(report, file), line))
}
