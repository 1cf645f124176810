//! The result of a run in one sentence: the problem, that the mesh is healthy, or missing evidence.

use super::super::document::{Document, Outcome};
use super::super::text::{count, some_of};
use super::unchecked;
use crate::exit;
use crate::finding::Severity;

/// Maximum number of checks in the headline.
const NAMED: usize = 3;

/// The result of a run.
pub(super) struct Headline {
    /// The class of its color.
    pub class: &'static str,
    /// In a few words, for the tab of a browser.
    pub short: String,
    /// The reason, if there is one.
    pub why: Option<String>,
}

/// The headline of a report, or of a run without one. `is_healthy`: see [`super::super::headline::is_healthy`].
pub(super) fn headline(document: &Document, is_healthy: bool) -> Headline {
    let line = |class, short: &str, why| Headline { class, short: short.to_owned(), why };
    let roots = document.verdict.roots;
    if document.run.judged_at.is_none() {
        let short = match document.verdict.status {
            exit::USAGE => "Wrong usage",
            exit::INTERRUPTED => "Interrupted",
            _ => "Could not run",
        };
        return line("error", short, None);
    }
    if roots.error + roots.warning > 0 {
        let counts = [(roots.error, "error", "errors"), (roots.warning, "warning", "warnings")];
        let counts = counts.into_iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(n, one, many));
        let class = if roots.error > 0 { "error" } else { "warning" };
        return line(class, &counts.collect::<Vec<_>>().join(", "), checks_found(document));
    }
    if let Some(why) = not_in_full(document) {
        let passed = count(document.verdict.checks.passed, "check", "checks");
        return line("warning", "Not fully checked", Some(format!("{why}. No errors or warnings: {passed} passed")));
    }
    let passed = format!("{} passed", count(document.verdict.checks.passed, "check", "checks"));
    let short = if is_healthy { "Healthy" } else { "No errors or warnings" };
    line("good", short, Some(passed))
}

/// The checks of the findings that count, in the order of repair. Their messages follow in the plan.
fn checks_found(document: &Document) -> Option<String> {
    let counted = document.findings.iter().filter(|finding| {
        let counts = !finding.waived && !finding.in_baseline && !finding.when.ends();
        counts && finding.caused_by.is_empty() && finding.severity > Severity::Info
    });
    let mut names: Vec<&str> = counted.map(|finding| finding.check.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| some_of(&names, NAMED))
}

/// The reason that a run was not complete; `None` if all requested evidence was read.
pub(super) fn not_in_full(document: &Document) -> Option<String> {
    let crashed = document.checks.iter().find(|check| check.outcome == Outcome::Crashed);
    let reason = unchecked::deciding(document)
        .or_else(|| crashed.map(|check| format!("{} crashed", check.id)))
        .or_else(|| document.errors.first().map(|error| error.message.clone()));
    let status = document.verdict.status;
    let is_incomplete = matches!(status, exit::COULD_NOT_RUN | exit::NOT_CHECKED);
    reason.or_else(|| is_incomplete.then(|| "no selected check could run".to_owned()))
}
