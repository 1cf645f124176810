//! The report as one self-contained page: it loads nothing and is complete without its script, which adds
//! search, filters and copy buttons. Created from the report, which a saved document restores in full.

mod findings;
mod head;
mod nodes;
mod outcome;
mod picture;
mod plan;
mod reach;
mod unchecked;

use std::fmt::Write as _;

use super::document::{Document, Failure, Outcome};
use super::headline::is_healthy;
use super::table::Folding;
use super::text::{clean, count};
use crate::report::Report;
use outcome::Headline;

pub use reach::calls;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

pub fn report(report: &Report) -> String {
    let document = Document::from(report);
    let mut body = String::from("<a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n");
    let headline = outcome::headline(&document, is_healthy(report));
    head::section(&document, &headline, &mut body);
    plan::repair_plan(report, &mut body);
    plan::upgrade_plan(&document, &mut body);
    if let Some(picture) = picture::draw(&document) {
        _ = write!(
            body,
            "<section id=\"causes\"><h2>Causes and symptoms</h2>{picture}<p class=\"aside faint\">The \
             diagram continues to the right: scroll sideways.</p></section>"
        );
    }
    let folding = Folding::from_findings(&report.findings);
    findings::Cards { report, document: &document, folding: &folding }.section(&mut body);
    nodes::section(&document, &mut body);
    unchecked::section(&document, &mut body);
    checks(&document, &mut body);
    page(&document, &headline, &format!("{body}\n<script>\n{SCRIPT}</script>"))
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let document = Document::from(failure);
    let mut body = String::new();
    let headline = outcome::headline(&document, false);
    head::section(&document, &headline, &mut body);
    page(&document, &headline, &body)
}

fn page(document: &Document, headline: &Headline, body: &str) -> String {
    whole(&format!("{}: {}", head::name(document), headline.short), body)
}

/// A self-contained page around its body.
fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n",
        escaped(title),
    )
}

/// Text escaped for HTML: text of a cluster is never markup, and control characters have no effect.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

/// Lines to paste, in a box below `note`. Nothing if there are none.
fn script<T: AsRef<str>>(lines: &[T], note: Option<String>, body: &mut String) {
    if lines.is_empty() {
        return;
    }
    let lines: Vec<String> = lines.iter().map(|line| escaped(line.as_ref())).collect();
    _ = write!(
        body,
        "<div class=\"command\"><div class=\"bar\">{}</div><pre tabindex=\"0\">{}</pre></div>",
        note.map(|note| format!("<span>{note}</span>")).unwrap_or_default(),
        lines.join("\n")
    );
}

fn checks(document: &Document, body: &mut String) {
    _ = write!(
        body,
        "<section id=\"checks\"><h2>Checks</h2><details><summary>{}</summary><table \
         class=\"stacked\"><thead><tr><th scope=\"col\">Check</th><th scope=\"col\">Outcome</th><th \
         scope=\"col\">Title</th></tr></thead><tbody>",
        count(document.checks.len(), "check was selected", "checks were selected"),
    );
    for check in &document.checks {
        let (class, word) = match check.outcome {
            Outcome::Pass => ("good", "passed"),
            Outcome::Findings => ("error", "found something"),
            Outcome::NotApplicable => ("faint", "not applicable"),
            Outcome::NotChecked => ("warning", "not checked"),
            Outcome::Crashed => ("error", "crashed"),
        };
        let reason =
            check.reason.as_ref().map(|reason| format!("<br><span class=\"faint\">{}</span>", escaped(reason)));
        _ = write!(
            body,
            "<tr><td><code>{}</code></td><td class=\"{class}\">{word}</td><td>{}{}</td></tr>",
            escaped(&check.id),
            escaped(&check.title),
            reason.unwrap_or_default(),
        );
    }
    body.push_str("</tbody></table></details></section>");
}
