//! What was not checked, for forms in which each line is an issue or an annotation that somebody has to look at: gaps of one reason
//! are one of them, as a file that cannot be read keeps every check from its evidence, and what nobody provided would bury the rest.

use std::collections::{BTreeMap, BTreeSet};

use super::super::text::{count, some_of};
use super::{gap_fails, not_checked, path};
use crate::fetched::Why;
use crate::report::{Gap, Report};

/// How many checks are named.
pub(super) const NAMED: usize = 8;

/// Gaps by what is to be done about them.
pub(super) struct Unchecked<'a> {
    /// Those that make the exit status 4, with the same checks and the same way to close them.
    pub failing: Vec<Vec<&'a Gap>>,
    /// Those that a file which cannot be read makes, by what is wrong with it.
    pub unreadable: BTreeMap<&'a str, Vec<&'a Gap>>,
    /// Those that change no exit status.
    pub accepted: Vec<&'a Gap>,
}

impl<'a> Unchecked<'a> {
    /// Of a report.
    pub(super) fn of(report: &'a Report) -> Unchecked<'a> {
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
        Unchecked { failing: alike.into_values().collect(), unreadable, accepted }
    }
}

/// Gaps that are alike, in a line.
pub(super) fn alike(gaps: &[&Gap]) -> String {
    let more = match gaps.len() {
        1 => String::new(),
        many => format!("; and {} more", many - 1),
    };
    format!("{}{more}", not_checked(gaps[0]))
}

/// What a file that cannot be read keeps from being checked, in a line.
pub(super) fn unreadable(message: &str, gaps: &[&Gap]) -> String {
    let named = checks(gaps);
    format!(
        "{message}; {} not run fully: {}; to check this: {}",
        count(named.len(), "check did", "checks did"),
        some_of(&named, NAMED),
        gaps[0].close,
    )
}

/// What did not run because nobody provided the evidence, in a line; nothing where everything was provided.
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

/// The checks that lack something, each once.
pub(super) fn checks<'a>(gaps: &[&'a Gap]) -> Vec<&'a str> {
    let checks: BTreeSet<&str> = gaps.iter().flat_map(|gap| gap.checks.iter().copied()).collect();
    checks.into_iter().collect()
}

/// The file and line that a message begins with: `k8s/web.yaml:3: did not find expected node content`.
pub(super) fn place(report: &Report, message: &str) -> Option<(String, u64)> {
    let (place, _) = message.split_once(": ")?;
    let (file, line) = place.rsplit_once(':')?;
    let line: u64 = line.parse().ok()?;
    Some((path(report, file), line))
}
