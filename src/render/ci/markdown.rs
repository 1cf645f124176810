//! The report as Markdown, for a comment on a pull request, a job's summary or a wiki: the result, a table of what is
//! wrong, each cause unfolded on demand, and what was not checked. No text of a cluster is Markdown or HTML here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::document::Failure;
use super::super::header;
use super::super::look::Look;
use super::super::subject;
use super::super::table::{Folding, result_line};
use super::super::text::{clean, count, some_of};
use super::unchecked::{NAMED, Unchecked, alike, checks};
use super::{evidence, meaning, remedy};
use crate::checks::Outcome;
use crate::exit;
use crate::finding::{Finding, Severity, When};
use crate::page;
use crate::report::{Gap, Report};

/// How wide fenced text is.
const WIDTH: usize = 100;

/// A report.
pub fn report(report: &Report) -> String {
    let verdict = match report.verdict.status {
        exit::FINE => "passed",
        exit::FINDINGS => "failed",
        exit::COULD_NOT_RUN => "could not run",
        _ => "not checked",
    };
    let mut text = format!("# meshdoctor: {verdict}\n\n{}\n\n", plain(&result_line(report)));
    text.push_str(&fenced(&header::in_full(report, Look::plain(WIDTH)), ""));
    let folding = Folding::of(&report.findings);
    let roots: Vec<(usize, &Finding)> =
        report.findings.iter().enumerate().filter(|(at, _)| folding.is_root(*at)).collect();
    if !roots.is_empty() {
        text.push_str("\n| | check | where | what |\n|---|---|---|---|\n");
        for (_, finding) in &roots {
            _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                finding.severity,
                linked(finding.check),
                plain(&subject::brief(finding.subjects.iter())),
                plain(&format!("{}{}{}", finding.message, world(finding.when), standing(finding)))
            );
        }
    }
    for (at, finding) in &roots {
        unfolded(&mut text, finding, &folding.explained_by(*at, &report.findings));
    }
    unchecked(&mut text, report);
    text
}

/// A run that came to no report.
pub fn failure(failure: &Failure) -> String {
    let mut text = String::from("# meshdoctor: no report was produced\n\n");
    for error in &failure.errors {
        _ = writeln!(text, "- {}", plain(error));
    }
    _ = writeln!(text, "\nexit {}: {}", failure.status, plain(meaning(failure.status)));
    text
}

/// Why a finding does not count.
fn standing(finding: &Finding) -> String {
    let words = super::super::finding::standing(finding);
    let in_part = super::super::finding::waived_in_part(finding);
    match (finding.is_waived(), words.is_empty()) {
        (_, true) if !in_part.is_empty() => format!(" (waived for {})", in_part.join("; ")),
        (_, true) => String::new(),
        (true, false) => format!(" (waived {})", words.join("; ")),
        (false, false) => " (in the baseline)".to_owned(),
    }
}

/// A check's id with its page, where it has one.
fn linked(check: &str) -> String {
    match crate::checks::find(check) {
        Some(known) if !known.is_brought() => format!("[{check}]({})", page::page_url(check)),
        Some(_) | None => plain(check),
    }
}

fn world(when: When) -> &'static str {
    match when {
        When::Now => "",
        When::UntilUpgrade => " (ends with the upgrade)",
        When::AfterUpgrade => " (with the upgrade)",
        When::UntilChange => " (fixed by the change)",
        When::AfterChange => " (introduced by the change)",
    }
}

/// Open where it is an error, so that what has to be done is seen.
fn unfolded(text: &mut String, finding: &Finding, explains: &[String]) {
    let open = if finding.severity == Severity::Error { " open" } else { "" };
    _ = writeln!(text, "\n<details{open}>\n<summary>{}: {}</summary>\n", finding.severity, finding.check);
    let subjects: Vec<String> =
        finding.subjects.iter().map(|subject| clean(&subject.to_string()).into_owned()).collect();
    text.push_str(&fenced(&subjects, ""));
    for written in &finding.written {
        _ = writeln!(
            text,
            "\n{}",
            plain(&format!("at {}:{}:{}", written.file, written.line, written.column))
        );
    }
    text.push_str("\nEvidence:\n\n");
    text.push_str(&fenced(&finding.evidence.iter().map(evidence).collect::<Vec<_>>(), "text"));
    if !explains.is_empty() {
        _ = writeln!(text, "\nExplains: {}", plain(&explains.join(", ")));
    }
    let steps = remedy(finding);
    if !steps.is_empty() {
        _ = write!(text, "\nWhat to do:\n\n{}", fenced(&steps, "text"));
    }
    text.push_str("\n</details>\n");
}

fn unchecked(text: &mut String, report: &Report) {
    let crashed = report.checks.iter().filter_map(|check| match &check.outcome {
        Outcome::Crashed(message) => Some(format!("{} crashed, a bug in meshdoctor: {message}", check.id)),
        Outcome::Pass | Outcome::Findings | Outcome::NotApplicable(_) | Outcome::Unknown => None,
    });
    let crashed: Vec<String> = crashed.chain(report.errors.iter().cloned()).collect();
    if report.coverage.gaps.is_empty() && crashed.is_empty() {
        return;
    }
    let unchecked = Unchecked::of(report);
    text.push_str("\n## Not checked\n");
    if !crashed.is_empty() || !unchecked.failing.is_empty() || !unchecked.unreadable.is_empty() {
        text.push('\n');
    }
    for line in crashed {
        _ = writeln!(text, "- {}", plain(&line));
    }
    for gaps in &unchecked.failing {
        _ = writeln!(text, "- **requested**, {}: {}", some_of(&gaps[0].checks, NAMED), plain(&alike(gaps)));
    }
    for (why, gaps) in &unchecked.unreadable {
        let named = some_of(&checks(gaps), NAMED);
        _ = writeln!(
            text,
            "- **requested**, {named}: {}",
            plain(&format!("{why}; to check this: {}", gaps[0].close))
        );
    }
    if !unchecked.accepted.is_empty() {
        let n = count(unchecked.accepted.len(), "piece of evidence", "pieces of evidence");
        _ = writeln!(text, "\n<details>\n<summary>{n} not provided</summary>\n");
        for line in accepted(&unchecked.accepted) {
            _ = writeln!(text, "- {}", plain(&line));
        }
        text.push_str("\n</details>\n");
    }
}

/// What nobody provided, a line for each way to provide it.
fn accepted(gaps: &[&Gap]) -> Vec<String> {
    let mut alike: BTreeMap<(String, String), Vec<&Gap>> = BTreeMap::new();
    for gap in gaps {
        alike.entry((gap.missing.why.to_string(), gap.close.to_string())).or_default().push(gap);
    }
    let line = |((why, close), gaps): ((String, String), Vec<&Gap>)| {
        let part = |gap: &Gap| gap.missing.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        let what: BTreeSet<String> =
            gaps.iter().map(|gap| format!("{}{}", gap.missing.request, part(gap))).collect();
        let (what, checks) = (what.into_iter().collect::<Vec<_>>(), checks(&gaps));
        format!(
            "{}: {why}; {} ({}); to check this: {close}",
            some_of(&what, NAMED),
            count(checks.len(), "check", "checks"),
            some_of(&checks, NAMED)
        )
    };
    alike.into_iter().map(line).collect()
}

/// Lines in a fence that is longer than any in them.
fn fenced(lines: &[String], language: &str) -> String {
    let longest =
        lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

/// Text in which nothing is Markdown, HTML, a mention or a link.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    for c in clean(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '@' => plain.push_str("&#64;"),
            '#' => plain.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                plain.push('\\');
                plain.push(c);
            }
            c => plain.push(c),
        }
    }
    // A link that nobody wrote as one is a link all the same.
    plain.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_text_is_markdown() {
        assert_eq!(plain("a|b <i> [x](http://y) @z"), "a\\|b &lt;i&gt; \\[x\\](http:&#47;&#47;y) &#64;z");
    }
}
