//! One check's card: for the terminal, as the documentation page, and for programs.

use std::fmt::Write;

use serde::Serialize;

use super::json;
use super::look::Look;
use super::text::{pad, wrap};
use crate::card::{CaseKind, Requirement, SECTIONS, Shown};
use crate::checks::Check;
use crate::finding::Severity;
use crate::page;

/// The card for the terminal.
pub fn text(check: &'static Check, width: usize) -> String {
    let columns = Look::plain(width).prose();
    let card = check.card();
    let front = &card.front;
    let mut text = format!("{}  {}\n", check.id, front.severity);
    for line in wrap(&front.title, columns - 2) {
        _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    let words = |items: &std::collections::BTreeSet<crate::item::Item>| -> Vec<String> {
        items.iter().map(page::item_in_words).collect()
    };
    let facts = [
        ("category", vec![format!("{}, since {}", front.category, front.since)]),
        ("applies to", front.applies.iter().cloned().collect()),
        ("requires", front.requires.iter().map(|required| required.words().to_owned()).collect()),
        ("upgrade", front.with_an_upgrade().map(str::to_owned).into_iter().collect()),
        ("waiting", front.with_waiting().map(str::to_owned).into_iter().collect()),
        ("needs", words(&front.needs)),
        ("uses", words(&front.uses)),
        ("parameters", front.parameters().iter().map(ToString::to_string).collect()),
        ("explains", if front.explains.is_empty() { vec![] } else { vec![front.explains.join(", ")] }),
        ("repair before", if front.before.is_empty() { vec![] } else { vec![front.before.join(", ")] }),
        (
            "linkerd check",
            front.linkerd_check.iter().map(|row| format!("{} / {}", row.category, row.description)).collect(),
        ),
    ];
    for (label, values) in facts {
        let lines = values.iter().flat_map(|value| wrap(value, columns - 17));
        for (at, line) in lines.enumerate() {
            let label = if at == 0 { label } else { "" };
            _ = writeln!(text, "  {}{line}", pad(label, 15));
        }
    }
    for (section, prose) in SECTIONS.iter().zip(&card.prose) {
        _ = writeln!(text, "\n{section}");
        write_prose(prose, columns, &mut text);
    }
    if let Some(case) = check.cases().iter().find(|case| case.kind == CaseKind::Fires) {
        _ = writeln!(text, "\nExample: {}", case.title);
        write_prose(&case.reason, columns, &mut text);
        text.push('\n');
        for line in case.expect.lines() {
            _ = writeln!(text, "  {line}");
        }
    }
    if !front.references.is_empty() {
        _ = writeln!(text, "\nRead more");
        for reference in &front.references {
            _ = writeln!(text, "  {reference}");
        }
    }
    text
}

/// Markdown prose, wrapped: paragraphs and list items are filled, blocks and tables stay as they are.
fn write_prose(prose: &str, columns: usize, text: &mut String) {
    let mut paragraph = String::new();
    let mut hanging = 0;
    let mut fenced = false;
    for line in prose.lines() {
        let marker = list_marker(line);
        let verbatim = fenced || line.starts_with("```") || line.starts_with('|');
        if verbatim || line.trim().is_empty() || marker > 0 {
            flush(&mut paragraph, hanging, columns, text);
        }
        if line.starts_with("```") {
            fenced = !fenced;
        } else if verbatim {
            _ = writeln!(text, "  {}{line}", if fenced { "  " } else { "" });
        } else if line.trim().is_empty() {
            text.push('\n');
        } else {
            if paragraph.is_empty() {
                hanging = marker;
            } else {
                paragraph.push(' ');
            }
            paragraph.push_str(line.trim());
        }
    }
    flush(&mut paragraph, hanging, columns, text);
}

/// Columns of `- ` or `1. ` at the start of a line.
fn list_marker(line: &str) -> usize {
    if line.starts_with("- ") || line.starts_with("* ") {
        return 2;
    }
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits > 0 && line[digits..].starts_with(". ") { digits + 2 } else { 0 }
}

fn flush(paragraph: &mut String, hanging: usize, columns: usize, text: &mut String) {
    if paragraph.is_empty() {
        return;
    }
    for (at, line) in wrap(paragraph, columns - 2 - hanging).into_iter().enumerate() {
        let indent = if at == 0 { 2 } else { 2 + hanging };
        _ = writeln!(text, "{}{line}", " ".repeat(indent));
    }
    paragraph.clear();
}

/// The documentation page.
pub fn markdown(check: &'static Check) -> String {
    page::page(check.card(), check.cases())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    schema: &'static str,
    id: &'a str,
    title: &'a str,
    severity: Severity,
    category: &'a str,
    since: &'a str,
    applies: Option<&'a str>,
    requires: &'a [Requirement],
    rehearsed: bool,
    heals: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<Shown<'a>>,
    needs: Vec<String>,
    uses: Vec<String>,
    explains: &'a [String],
    aliases: &'a [String],
    linkerd_check: Vec<&'a str>,
    references: &'a [String],
    what_it_finds: &'a str,
    why_it_matters: &'a str,
    how_to_fix: &'a str,
    what_it_cannot_see: &'a str,
    example: Option<&'a str>,
}

/// The card as one JSON document, schema `meshdoctor.check/1`; prose is markdown.
pub fn json(check: &'static Check) -> String {
    let card = check.card();
    let front = &card.front;
    let [what_it_finds, why_it_matters, how_to_fix, what_it_cannot_see] = &card.prose;
    let example = check.cases().iter().find(|case| case.kind == CaseKind::Fires);
    json::write(&Page {
        schema: "meshdoctor.check/1",
        id: check.id,
        title: &front.title,
        severity: front.severity,
        category: &front.category,
        since: &front.since,
        applies: front.applies.as_deref(),
        requires: &front.requires,
        rehearsed: front.rehearsed,
        heals: front.heals,
        params: front.parameters(),
        needs: front.needs.iter().map(ToString::to_string).collect(),
        uses: front.uses.iter().map(ToString::to_string).collect(),
        explains: &front.explains,
        aliases: &front.aliases,
        linkerd_check: front.linkerd_check.iter().map(|row| row.anchor.as_str()).collect(),
        references: &front.references,
        what_it_finds,
        why_it_matters,
        how_to_fix,
        what_it_cannot_see,
        example: example.map(|case| case.expect.as_str()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_filled_and_blocks_stay() {
        let mut text = String::new();
        write_prose(
            "One two\nthree.\n\n- an item that is\n  long\n- other\n\n```yaml\na:   b\n```\n10. ten and more words",
            18,
            &mut text,
        );
        assert_eq!(
            text,
            "  One two three.\n\n  - an item that\n    is long\n  - other\n\n    a:   b\n  10. ten and\n      more words\n"
        );
    }
}
