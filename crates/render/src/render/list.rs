//! The list of checks: a table for each category, and the same as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde::Serialize;

use super::json;
use super::look::Look;
use super::text::count;
use crate::card::{Mode, Shown};
use crate::checks::Check;
use crate::command::own;
use crate::finding::Severity;

/// Tables of id, severity and title, one for each category.
pub fn table(checks: &[&'static Check], width: usize) -> String {
    let mut text = String::new();
    // One width for the ids of all categories, so that the columns align.
    let ids = checks.iter().map(|check| check.id.len()).max().unwrap_or_default();
    for (category, checks) in by_category(checks) {
        _ = writeln!(text, "{category}{}", stage(&checks));
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(Look::plain(width).prose()).unwrap_or(u16::MAX));
        for check in checks {
            let front = &check.card().front;
            table.add_row([check.id, front.severity.label(), &front.title]);
        }
        for (column, width) in [ids, Severity::Warning.label().len()].into_iter().enumerate() {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Left);
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(
                    u16::try_from(width + 2).unwrap_or(u16::MAX),
                )));
            }
        }
        for line in table.lines() {
            _ = writeln!(text, " {}", line.trim_end());
        }
        text.push('\n');
    }
    _ = writeln!(
        text,
        "{}; {} shows one in full",
        count(checks.len(), "check", "checks"),
        own("explain CHECK")
    );
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
