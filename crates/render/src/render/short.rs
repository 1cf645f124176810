//! The report in lines, for grep, awk and chat windows. The form of a line is a contract:
//!
//! ```text
//! SEVERITY CHECK SUBJECT[, SUBJECT...]: MESSAGE[ [NOTE]]...[ [after CHECK[, CHECK...]]][ [because of CHECK[, ...]]]
//! not-checked CHECK[,CHECK...] WHAT[ (PART[, PART...])]: WHY [HOW TO CHECK IT]
//! not-provided N checks lack WHAT[, WHAT...][ and N more]: HOW TO PROVIDE THEM
//! not-provided N checks lack evidence: add OPTION[, OPTION...]
//! crashed CHECK: MESSAGE
//! trouble: MESSAGE
//! config FILE sets FLAG[, FLAG...]
//! result ERRORS error, WARNINGS warning, INFOS info[, N symptom]; PASSED passed, N not-applicable, N not-checked,
//!   N crashed; exit N
//! ```
//!
//! One line each: a finding (causes in the order of repair, `after` what has to be repaired first; then
//! symptoms; infos last), a piece of requested evidence that could not be read with its checks, all checks for which
//! evidence was not provided, a crash, the configuration file that sets flags of the gate, and always one `result`, so
//! that an empty answer never looks like a good one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::finding::explained_as;
use super::text::clean;
use super::unchecked;
use crate::checks::Outcome;
use crate::command::meshdoctor;
use crate::fetched::Why;
use crate::finding::{Confidence, Finding, Fingerprint, Severity, When};
use crate::item::Item;
use crate::missing::GapRemediation;
use crate::report::{ConfigUse, Report};
use crate::request::Request;

/// The report in lines.
pub fn report(report: &Report) -> String {
    let mut text = String::new();
    let checks: BTreeMap<Fingerprint, String> =
        report.findings.iter().map(|finding| (finding.fingerprint(), explained_as(finding))).collect();
    let (infos, others): (Vec<&Finding>, Vec<&Finding>) =
        report.findings.iter().partition(|finding| finding.severity == Severity::Info);
    for finding in others.into_iter().chain(infos) {
        _ = writeln!(text, "{}", line(finding, &checks));
    }
    let (lists, others): (Gaps<'_>, Gaps<'_>) =
        gaps(report).into_iter().partition(|(reason, parts)| is_list(reason, parts));
    // A dump may lack many kinds.
    let (lists, others) = match lists.len() {
        0..=FEW => (Gaps::new(), others.into_iter().chain(lists).collect()),
        _ => (lists, others),
    };
    for line in others.iter().map(not_checked) {
        _ = writeln!(text, "not-checked {line}");
    }
    if !lists.is_empty() {
        _ = writeln!(text, "not-provided {}", lacking(&lists));
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            _ = writeln!(text, "crashed {}: {}", check.id, clean(message));
        }
    }
    if let Some(words) = unchecked::not_provided(report) {
        _ = writeln!(text, "not-provided {words}");
    }
    for error in &report.errors {
        _ = writeln!(text, "trouble: {}", clean(error));
    }
    if let Some(settings) = report.run.config.as_ref().and_then(ConfigUse::gate_settings) {
        _ = writeln!(text, "config {}", clean(&settings));
    }
    let verdict = &report.verdict;
    let roots = verdict.roots;
    let symptoms = match report.findings.iter().filter(|finding| !finding.caused_by.is_empty()).count() {
        0 => String::new(),
        count => format!(", {count} symptom"),
    };
    _ = writeln!(
        text,
        "result {} error, {} warning, {} info{symptoms}; {} passed, {} not-applicable, {} not-checked, \
         {} crashed; exit {}",
        roots.error,
        roots.warning,
        roots.info,
        verdict.passed,
        verdict.not_applicable,
        verdict.not_judged,
        verdict.crashed,
        verdict.status
    );
    text
}

/// Maximum number of kinds without a list that have lines of their own.
const FEW: usize = 3;
/// Maximum number of kinds that the line for all of them names.
const NAMED: usize = 5;

/// Requested evidence that is missing for one reason, and how to get it.
type Reason<'r> = (&'r Request, &'r Why, &'r GapRemediation);
/// The checks and the parts that each concerns.
type Gaps<'r> = BTreeMap<Reason<'r>, (BTreeSet<&'r str>, BTreeSet<&'r str>)>;

fn gaps(report: &Report) -> Gaps<'_> {
    let mut found = Gaps::new();
    for check in &report.checks {
        let requested = check.gaps.iter().zip(&check.closes).filter(|(gap, _)| gap.was_asked_for());
        for (gap, close) in requested {
            let (checks, parts) = found.entry((&gap.request, &gap.why, close)).or_default();
            checks.insert(check.id);
            parts.extend(gap.part.as_deref());
        }
    }
    found
}

/// Whether a whole list was not collected.
fn is_list((request, why, _): &Reason<'_>, (_, parts): &(BTreeSet<&str>, BTreeSet<&str>)) -> bool {
    matches!(request.item, Item::List(_)) && **why == Why::NotCaptured && parts.is_empty()
}

fn listed(words: &BTreeSet<&str>, between: &str) -> String {
    words.iter().copied().collect::<Vec<_>>().join(between)
}

/// Evidence that is missing for one reason; its checks and parts together.
fn not_checked(((request, why, close), (checks, parts)): (&Reason<'_>, &(BTreeSet<&str>, BTreeSet<&str>))) -> String {
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", listed(parts, ", ")) };
    clean(&format!("{} {request}{parts}: {why} [{close}]", listed(checks, ","))).into_owned()
}

/// All lists that were not collected.
fn lacking(lists: &Gaps<'_>) -> String {
    let checks: BTreeSet<&str> = lists.values().flat_map(|(checks, _)| checks).copied().collect();
    let kinds: Vec<String> = lists.keys().map(|(request, ..)| request.to_string()).collect();
    let (named, more) = kinds.split_at(kinds.len().min(NAMED));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    let collect = meshdoctor().words("collect --output bundle.tar.gz");
    format!("{} checks lack {}{more}: collect them, for example with {collect}", checks.len(), named.join(", "))
}

fn line(finding: &Finding, checks: &BTreeMap<Fingerprint, String>) -> String {
    let subjects: Vec<String> =
        finding.subjects.iter().map(|subject| clean(&subject.to_string()).into_owned()).collect();
    let subjects = subjects.join(", ");
    // As in the table, an info has its short form.
    let short = finding.fact.as_ref().filter(|_| finding.severity == Severity::Info);
    let message = clean(short.unwrap_or(&finding.message));
    let mut line = format!("{} {} {subjects}: {message}", finding.severity, explained_as(finding));
    for note in notes(finding) {
        _ = write!(line, " [{note}]");
    }
    for (word, prints) in [("after", &finding.after), ("because of", &finding.caused_by)] {
        let others: BTreeSet<&str> = prints.iter().filter_map(|print| checks.get(print).map(String::as_str)).collect();
        if !others.is_empty() {
            let others: Vec<&str> = others.into_iter().collect();
            _ = write!(line, " [{word} {}]", others.join(", "));
        }
    }
    line
}

/// Notes about a finding in addition to its message.
pub(super) fn notes(finding: &Finding) -> Vec<String> {
    let likely = (finding.confidence == Confidence::Likely).then_some("likely");
    let when = match finding.when {
        When::Now => None,
        When::UntilUpgrade => Some("ends with the upgrade"),
        When::AfterUpgrade => Some("with the upgrade"),
        When::UntilChange => Some("fixed by the change"),
        When::AfterChange => Some("introduced by the change"),
    };
    let standing = super::finding::standing(finding).into_iter().map(|words| match finding.is_waived() {
        true => clean(&format!("waived {words}")).into_owned(),
        false => "in the baseline".to_owned(),
    });
    let in_part = super::finding::waived_in_part(finding);
    let in_part = in_part.iter().map(|words| clean(&format!("waived for {words}")).into_owned());
    likely.into_iter().chain(when).map(str::to_owned).chain(standing).chain(in_part).collect()
}
