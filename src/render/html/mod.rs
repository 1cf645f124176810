//! The report as one page that needs nothing else: nothing is fetched, and nothing of it takes a script to be read; a small one
//! adds search and filters. Made of the [`Document`] alone, like every form that machines read.

mod findings;
mod head;
mod nodes;
mod picture;
mod reach;

use std::fmt::Write as _;

use super::document::{Document, Failure, Outcome};
use super::text::{clean, count};
use crate::report::Report;

pub use reach::calls;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// A report.
pub fn report(report: &Report) -> String {
    page(&Document::from(report))
}

/// A run that never came to a report.
pub fn failure(failure: &Failure) -> String {
    page(&Document::from(failure))
}

fn page(document: &Document) -> String {
    let name = document.origin.as_ref().map_or("meshdoctor", |origin| short_name(&origin.name));
    let title = format!("{name}: {}", outcome(document));
    let mut body = String::new();
    head::section(document, name, &mut body);
    findings::repair_plan(document, &mut body);
    if let Some(picture) = picture::of(document) {
        _ = write!(
            body,
            "<section id=\"causes\"><h2>Causes and symptoms</h2>{picture}<p class=\"aside faint\">The \
             diagram continues to the right: scroll sideways.</p></section>"
        );
    }
    findings::section(document, &mut body);
    plan(document, &mut body);
    nodes::section(document, &mut body);
    unchecked(document, &mut body);
    checks(document, &mut body);
    let skip = "<a class=\"skip\" href=\"#findings\">Skip to the findings</a>";
    whole(&title, &format!("{skip}\n{body}\n<script>\n{SCRIPT}</script>"))
}

/// The name of a cluster: the context's, or the last part of a path.
fn short_name(name: &str) -> &str {
    let last = name.trim_end_matches('/').rsplit('/').next().filter(|last| !last.is_empty());
    // Contexts of cloud providers hold slashes too, and are names as a whole.
    if name.starts_with(['/', '.']) { last.unwrap_or(name) } else { name }
}

/// The verdict for a browser's tab.
fn outcome(document: &Document) -> String {
    let roots = document.verdict.roots;
    match (roots.error, roots.warning) {
        (0, 0) => format!("exit {}", document.verdict.status),
        (0, warnings) => count(warnings, "warning", "warnings"),
        (errors, _) => count(errors, "error", "errors"),
    }
}

/// A page that needs nothing else, around its body.
fn whole(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n",
        escaped(title),
    )
}

/// Text as HTML has it: nothing that a cluster says is markup, and no control character drives anything.
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

/// The plan of an upgrade that was rehearsed.
fn plan(document: &Document, body: &mut String) {
    let Some(rehearsal) = document.rehearsal.as_ref().filter(|rehearsal| !rehearsal.plan.is_empty()) else {
        return;
    };
    _ = write!(body, "<section id=\"plan\"><h2>Upgrade plan to {}</h2><ol>", escaped(&rehearsal.target));
    for phase in &rehearsal.plan {
        _ = write!(body, "<li><strong>{}</strong>", escaped(&phase.title));
        findings::steps(&phase.remedy, body);
        body.push_str("</li>");
    }
    body.push_str("</ol></section>");
}

fn unchecked(document: &Document, body: &mut String) {
    body.push_str("<section id=\"not-checked\"><h2>Not checked in full</h2>");
    let gaps = &document.coverage.gaps;
    if gaps.is_empty() {
        body.push_str("<p>All requested evidence was available.</p></section>");
        return;
    }
    body.push_str(
        "<table><thead><tr><th scope=\"col\">What is missing</th><th scope=\"col\">Why</th><th scope=\"col\">Needed by</th>\
         <th scope=\"col\">How to check it</th></tr></thead><tbody>",
    );
    for gap in gaps {
        let part = gap.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        // What is to be pasted stands below the words.
        let pasted = gap.close_command.as_deref().unwrap_or_default();
        let close = gap.close.strip_suffix(pasted).unwrap_or(&gap.close).trim_end_matches([':', ' ']);
        let command = gap
            .close_command
            .as_ref()
            .map(|command| format!("<pre tabindex=\"0\">{}</pre>", findings::lines(command)));
        _ = write!(
            body,
            "<tr><td{}>{}{}</td><td>{}</td><td>{}</td><td>{}{}</td></tr>",
            if gap.asked_for { " class=\"warning\"" } else { "" },
            escaped(&gap.what),
            escaped(&part),
            escaped(&gap.message),
            escaped(&gap.checks.join(", ")),
            escaped(close),
            command.unwrap_or_default(),
        );
    }
    body.push_str("</tbody></table></section>");
}

fn checks(document: &Document, body: &mut String) {
    _ = write!(
        body,
        "<section id=\"checks\"><h2>Checks</h2><details><summary>{}</summary><table><thead><tr><th scope=\"col\">Check</th><th scope=\"col\">Outcome</th>\
         <th scope=\"col\">Title</th></tr></thead><tbody>",
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
        let reason = check
            .reason
            .as_ref()
            .map(|reason| format!("<br><span class=\"faint\">{}</span>", escaped(reason)));
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
