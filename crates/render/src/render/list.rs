//! The list of checks: a table for each category, and the same as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::json;
use super::look::Look;
use super::text::{count, pad, wrap_from};
use crate::card::{Mode, Shown};
use crate::checks::Check;
use crate::command::own;
use crate::finding::Severity;

/// One line for each check: severity, id and title; one block for each category.
pub fn table(checks: &[&'static Check], width: usize) -> String {
    let line = Look::plain(width).prose();
    let ids = checks.iter().map(|check| check.id.len()).max().unwrap_or_default();
    let titles = checks.iter().map(|check| check.card().front.title.len()).max().unwrap_or_default();
    let mut text = String::new();
    let severities = Severity::Warning.label().len();
    for (category, checks) in by_category(checks) {
        _ = writeln!(text, "{category}{}", stage(&checks));
        for check in checks {
            let front = &check.card().front;
            // On a narrow terminal, a title follows its id at once: most of them fit into one line.
            let id = if line >= severities + ids + titles + 6 { pad(check.id, ids) } else { check.id.to_owned() };
            let start = format!("  {}  {id}  ", pad(front.severity.label(), severities));
            let indent = " ".repeat(severities + 6);
            let columns = line.saturating_sub(indent.len());
            let lines = wrap_from(&front.title, line.saturating_sub(start.len()), columns);
            _ = writeln!(text, "{start}{}", lines.join(&format!("\n{indent}")));
        }
        text.push('\n');
    }
    _ = writeln!(text, "{}; {} shows one in full", count(checks.len(), "check", "checks"), own("explain CHECK"));
    text
}

/// The flag without which no check of a category runs: ` (with --to)`.
fn stage(checks: &[&'static Check]) -> &'static str {
    let runs = |mode: Mode| checks.iter().all(|check| check.card().front.modes.contains(&mode));
    let installed = checks.iter().any(|check| check.card().front.modes.contains(&Mode::Installed));
    match () {
        () if installed => "",
        () if runs(Mode::Upgrade) => " (with --to)",
        () if runs(Mode::Pre) => " (with --pre)",
        () => "",
    }
}

fn by_category(checks: &[&'static Check]) -> BTreeMap<&'static str, Vec<&'static Check>> {
    let mut categories: BTreeMap<&str, Vec<&Check>> = BTreeMap::new();
    for check in checks {
        categories.entry(&check.card().front.category).or_default().push(check);
    }
    categories
}

/// A check in the JSON list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckRow<'a> {
    id: &'a str,
    category: &'a str,
    title: &'a str,
    severity: Severity,
    since: &'a str,
    needs: Vec<String>,
    uses: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<Shown<'a>>,
    explains: &'a [String],
    aliases: &'a [String],
}

#[derive(Serialize)]
struct List<'a> {
    schema: &'static str,
    checks: Vec<CheckRow<'a>>,
}

/// The list as one JSON document, schema `meshdoctor.list/1`.
pub fn json(checks: &[&'static Check]) -> String {
    let checks = checks
        .iter()
        .map(|check| {
            let front = &check.card().front;
            CheckRow {
                id: check.id,
                category: &front.category,
                title: &front.title,
                severity: front.severity,
                since: &front.since,
                needs: front.needs.iter().map(ToString::to_string).collect(),
                uses: front.uses.iter().map(ToString::to_string).collect(),
                params: front.parameters(),
                explains: &front.explains,
                aliases: &front.aliases,
            }
        })
        .collect();
    json::write(&List { schema: "meshdoctor.list/1", checks })
}
