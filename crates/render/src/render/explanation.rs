//! The meanings of pasted texts: for the terminal, and as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::json;
use super::look::Look;
use super::text::{clean, pad, wrap};
use crate::checks;
use crate::command::{meshdoctor, own};
use crate::explanation::{Explained, Explanation, TextKind};
use crate::item::Item;
use crate::knowledge::AnsweredBy;

/// Width of the labels.
const LABEL: usize = 10;

/// The meanings for the terminal.
pub fn text(explained: &Explained, terminal: usize) -> String {
    let columns = Look::plain(terminal).prose();
    let mut text = String::new();
    for (at, meaning) in explained.meanings.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        write_meaning(meaning, columns, &mut text);
    }
    if explained.unknown > 0 {
        let lines = if explained.unknown == 1 { "line has" } else { "lines have" };
        _ = writeln!(text, "\n{} {lines} no known meaning", explained.unknown);
    }
    text
}

fn write_meaning(meaning: &Explanation, columns: usize, text: &mut String) {
    let kind = meaning.kind.label();
    let head = match &meaning.program {
        Some(program) if meaning.certain => format!("{kind} of {program}: {}", meaning.text),
        Some(program) if meaning.kind == TextKind::ExitCode => {
            let words = meaning.text.to_lowercase();
            let is_named = words.contains(kind) || words.starts_with("exit ");
            let text = if is_named { meaning.text.clone() } else { format!("{kind}: {}", meaning.text) };
            format!("{text} (if {program} ended with it)")
        }
        Some(program) => format!("{kind} (if {program} wrote it): {}", meaning.text),
        None => format!("{kind}: {}", meaning.text),
    };
    for line in wrap(&clean(&head), columns) {
        _ = writeln!(text, "{line}");
    }
    let next = next(meaning);
    let references = meaning.references.join(", ");
    let facts = [
        ("meaning", Some(meaning.means.as_str())),
        ("origin", origin(meaning)),
        ("confirm", meaning.confirm.as_deref()),
        ("fix", meaning.remedy.as_deref()),
        ("source", place(&meaning.source)),
        ("issues", Some(references.as_str()).filter(|references| !references.is_empty())),
    ];
    for (label, value) in facts {
        let lines = value.map(|value| wrap(&clean(value), columns - LABEL - 2)).unwrap_or_default();
        for (at, line) in lines.iter().enumerate() {
            _ = writeln!(text, "  {}{line}", pad(if at == 0 { label } else { "" }, LABEL));
        }
    }
    // A command stays one line, so that it can be pasted.
    _ = writeln!(text, "  {}{next}", pad("next", LABEL));
}

/// The origin of a response or an error; logs and exit codes name their program.
fn origin(meaning: &Explanation) -> Option<&'static str> {
    if !matches!(meaning.kind, TextKind::ProxyError | TextKind::Response) {
        return None;
    }
    Some(match meaning.answered_by {
        AnsweredBy::Mesh => "Linkerd; the application did not see the request",
        AnsweredBy::Application => "the application, or something between it and the mesh",
        AnsweredBy::Either => "Linkerd or the application",
    })
}

/// The next step: the checks of the meaning, or the trace of the connection.
fn next(meaning: &Explanation) -> String {
    if let Some(arguments) = meaning.next {
        return own(arguments);
    }
    if meaning.checks.is_empty() {
        return own("reach NAMESPACE/CLIENT NAMESPACE/SERVICE:PORT");
    }
    let needs = |item: Item| {
        let mut cards = meaning.checks.iter().filter_map(|id| checks::find(id)).map(|check| &check.card().front);
        cards.any(|front| front.needs.contains(&item))
    };
    let check = meshdoctor().words("check");
    let check = if needs(Item::Diagnostics) { check.words("--proxies") } else { check };
    let check = if needs(Item::Logs) { check.words("--logs") } else { check };
    check.words("--only").arg(meaning.checks.join(",")).to_string()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExplanationDocument<'a> {
    schema: &'static str,
    meanings: Vec<Meaning<'a>>,
    unknown_lines: usize,
}

#[derive(Serialize)]
struct Meaning<'a> {
    #[serde(flatten)]
    meaning: &'a Explanation,
    next: String,
}

/// The meanings as one JSON document, schema `meshdoctor.explanation/1`.
pub fn json(explained: &Explained) -> String {
    let each = explained.meanings.iter();
    let meanings = each.map(|meaning| Meaning { meaning, next: next(meaning) }).collect();
    json::write(&ExplanationDocument { schema: "meshdoctor.explanation/1", meanings, unknown_lines: explained.unknown })
}

/// The place of a text in the source of its program, without the name of the table that quotes it.
fn place(source: &str) -> Option<&str> {
    match source.split_once(".yaml: ") {
        Some((_, row)) => row.split_once("; ").map(|(_, place)| place),
        None => Some(source),
    }
}
