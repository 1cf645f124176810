//! The answers of `meshdoctor reach`, for people and for programs.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, harmless, pad, wrap, wrap_from};
use crate::finding::{Evidence, Place, Severity};
use crate::inspect::reach::{Outcome, Step, Walk};

/// Widths of the columns for a step's outcome and its name.
const WORDS: usize = 12;
const NAMES: usize = 15;

/// As text.
pub fn table(walk: &Walk, look: Look) -> String {
    let mut text = String::new();
    _ = writeln!(text, "{}", look.strong(&clean(&format!("{} to {}", walk.from, walk.to))));
    let indent = WORDS + NAMES + 2;
    let room = look.prose().saturating_sub(indent).max(20);
    for step in &walk.steps {
        let word = pad(word(step.outcome), WORDS);
        let word = match step.outcome {
            Outcome::Passes => look.good(&word),
            Outcome::NotJudged => look.faint(&word),
            Outcome::Partly => look.severity_like(Severity::Warning, &word),
            Outcome::Stops => look.severity_like(Severity::Error, &word),
        };
        for (at, line) in wrap(&clean(&step.says), room).iter().enumerate() {
            let head = if at == 0 {
                format!("  {word}{}", pad(step.part.name(), NAMES))
            } else {
                " ".repeat(indent)
            };
            _ = writeln!(text, "{head}{line}");
        }
        for evidence in step.evidence.iter().filter(|_| look.verbose || step.outcome != Outcome::Passes) {
            labelled(&mut text, "evidence", &quoted(evidence), indent, room);
        }
        if let Some(fix) = &step.fix {
            labelled(&mut text, "fix", fix, indent, room);
        }
    }
    for (at, line) in wrap_from(&result(walk), look.prose(), look.prose()).iter().enumerate() {
        _ = writeln!(text, "{}{line}", if at == 0 { "\n" } else { "" });
    }
    harmless(&text).into_owned()
}

/// A piece of evidence in a line.
pub(super) fn quoted(evidence: &Evidence) -> String {
    match &evidence.place {
        Place::Field { object, path } => format!("{object}  {path}: {}", evidence.said),
        Place::Other { name } => format!("{name}: {}", evidence.said),
        _ => evidence.said.clone(),
    }
}

fn labelled(text: &mut String, label: &str, said: &str, indent: usize, room: usize) {
    let label = pad(label, 10);
    for (at, line) in wrap(&clean(said), room.saturating_sub(10).max(20)).iter().enumerate() {
        let head = if at == 0 { label.as_str() } else { "          " };
        _ = writeln!(text, "{}{head}{line}", " ".repeat(indent));
    }
}

pub(super) fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passes => "ok",
        Outcome::NotJudged => "not judged",
        Outcome::Partly => "partly",
        Outcome::Stops => "stops here",
    }
}

/// The result of the walk, in a sentence.
pub(super) fn result(walk: &Walk) -> String {
    let steps = |outcome: Outcome| {
        let those = walk.steps.iter().filter(|step| step.outcome == outcome);
        let mut names: Vec<&str> = those.map(|step| step.part.name()).collect();
        names.dedup();
        names.join(", ")
    };
    match walk.outcome() {
        Outcome::Passes => match walk.conditions().as_slice() {
            [] => "the call succeeds".to_owned(),
            conditions => format!("the call succeeds, {}", conditions.join(", and ")),
        },
        Outcome::Partly => {
            format!("some calls succeed, others fail: see {}", steps(Outcome::Partly))
        }
        Outcome::Stops => format!("the call fails: it stops at {}", steps(Outcome::Stops)),
        Outcome::NotJudged => {
            format!("nothing that was judged stops the call; not judged: {}", steps(Outcome::NotJudged))
        }
    }
}

/// Reachability as text: a row per client, a column per port of a Service.
pub fn matrix(rows: &[(String, Vec<Walk>)], look: Look) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(look.columns()).unwrap_or(u16::MAX));
    let called = rows
        .first()
        .map(|(_, walks)| walks.iter().map(|walk| clean(&walk.to).into_owned()).collect::<Vec<_>>());
    let mut head = vec!["FROM".to_owned()];
    head.extend(called.unwrap_or_default());
    table.set_header(head);
    for (client, walks) in rows {
        let mut row = vec![clean(client).into_owned()];
        row.extend(walks.iter().map(cell));
        table.add_row(row);
    }
    let mut text = String::new();
    for line in table.lines() {
        _ = writeln!(text, "{}", line.trim_end());
    }
    text.push_str(
        "\nyes: succeeds; yes?: nothing that was judged stops it; partly: some calls fail; no: \
     fails, and where\n",
    );
    harmless(&text).into_owned()
}

fn cell(walk: &Walk) -> String {
    match walk.outcome() {
        Outcome::Passes => "yes".to_owned(),
        Outcome::NotJudged => "yes?".to_owned(),
        Outcome::Partly => "partly".to_owned(),
        Outcome::Stops => {
            let at = walk
                .steps
                .iter()
                .find(|step| step.outcome == Outcome::Stops)
                .map_or("", |step| step.part.name());
            format!("no: {at}")
        }
    }
}

/// As JSON.
pub fn json(walks: &[&Walk], gaps: &[String]) -> Value {
    json!({
        "schema": "meshdoctor.io/reach/v1",
        "calls": walks.iter().map(|walk| call(walk)).collect::<Vec<_>>(),
        "notChecked": gaps,
    })
}

fn key(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passes => "passes",
        Outcome::NotJudged => "not-judged",
        Outcome::Partly => "partly",
        Outcome::Stops => "stops",
    }
}

fn call(walk: &Walk) -> Value {
    json!({
        "from": walk.from,
        "to": walk.to,
        "outcome": key(walk.outcome()),
        "conditions": walk.conditions(),
        "steps": walk.steps.iter().map(step).collect::<Vec<_>>(),
    })
}

fn step(step: &Step) -> Value {
    json!({
        "name": step.part.name(),
        "outcome": key(step.outcome),
        "says": step.says,
        "evidence": step.evidence,
        "condition": step.condition,
        "fix": step.fix,
    })
}
