//! One check's card: for the terminal, as the documentation page, and as JSON.

use std::fmt::Write;

use serde::Serialize;

use super::look::Look;
use super::text::{pad, width, wrap, wrap_from};
use super::{json, subject};
use crate::card::{CaseKind, Front, Requirement, SECTIONS, Shown};
use crate::checks::Check;
use crate::command::{Called, Command, meshdoctor, own};
use crate::finding::Severity;
use crate::item::Item;
use crate::page;

/// The card for the terminal, in the order of a report: severity and name, the consequence, the repair, the command
/// that verifies it. The rest is background.
pub fn text(check: &'static Check, terminal: usize) -> String {
    let columns = Look::plain(terminal).prose();
    let card = check.card();
    let front = &card.front;
    let mut text = format!("{}  {}\n", severities(check).join(" or "), check.id);
    for line in wrap(&front.title, columns - 2) {
        _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    let section = |at: usize, text: &mut String| {
        let gap = if text.ends_with("\n\n") { "" } else { "\n" };
        _ = writeln!(text, "{gap}{}", SECTIONS[at]);
        write_prose(&card.prose[at], columns, text);
    };
    let [finds, why, fix, limits] = [0, 1, 2, 3];
    let example = check.cases().iter().find(|case| case.kind == CaseKind::Fires);
    section(why, &mut text);
    section(fix, &mut text);
    let verify = example.map(|case| verifying(check.id, &case.expect)).unwrap_or_default();
    if !verify.is_empty() {
        let gap = if text.ends_with("\n\n") { "" } else { "\n" };
        _ = writeln!(text, "{gap}Verify");
        verify.iter().for_each(|line| _ = writeln!(text, "    {line}"));
    }
    section(finds, &mut text);
    section(limits, &mut text);
    if let Some(case) = example {
        _ = writeln!(text, "\nExample: {}", case.title);
        write_prose(&case.reason, columns, &mut text);
        text.push('\n');
        write_example(&findings_of(&case.expect), columns, &mut text);
    }
    if !front.references.is_empty() {
        _ = writeln!(text, "\nRead more");
        for reference in &front.references {
            _ = writeln!(text, "  {reference}");
        }
    }
    text.push_str("\nDetails\n");
    write_details((check.id, front), columns, &mut text);
    text
}

/// The details of a card: the category, the evidence that it needs, and the related checks.
fn write_details((id, front): (&str, &Front), columns: usize, text: &mut String) {
    let words = |items: &std::collections::BTreeSet<Item>| -> Vec<String> {
        let names: Vec<String> = items.iter().map(short_name).collect();
        if names.is_empty() { Vec::new() } else { vec![names.join(", ")] }
    };
    let role = format!("{} prints the role", meshdoctor().words("rbac --only").arg(id));
    let facts = [
        ("category", vec![format!("{}, since {}", front.category, front.since)]),
        ("applies to", front.applies.iter().cloned().collect()),
        ("requires", front.requires.iter().map(|required| required.words().to_owned()).collect()),
        ("upgrade", front.with_an_upgrade().map(str::to_owned).into_iter().collect()),
        ("waiting", front.with_waiting().map(str::to_owned).into_iter().collect()),
        ("needs", words(&front.needs)),
        ("uses", words(&front.uses)),
        ("permissions", vec![role]),
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
}

/// The kind or object of an item in a few words: `Pods`, `ConfigMap linkerd-config`.
fn short_name(item: &Item) -> String {
    match item {
        Item::List(kind) => subject::plural(&kind.to_string()),
        Item::Named { kind, name, .. } => format!("{kind} {name}"),
        item => page::item_in_words(item),
    }
}

/// Width of the reports in cards.
const IN_CARD: usize = 100;

/// A line of a report in a card, with the lines that continue it.
struct Quoted<'a> {
    indent: usize,
    /// Column at which its text continues.
    hang: usize,
    /// Label of its row, such as `evidence`.
    row: &'a str,
    text: String,
    /// Width of its last line in the card.
    last: usize,
}

impl<'a> Quoted<'a> {
    fn new(line: &str, row: &'a str) -> Quoted<'a> {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let label = label(text).map_or(0, |(_, columns)| columns);
        // An entry of a timeline continues below its text, behind the time.
        let time = if row == "timeline" { time_column(&text[label..]) } else { 0 };
        let hang = indent + label + time + list_marker(&text[label..]);
        Quoted { indent, hang, row, text: text.to_owned(), last: width(line) }
    }

    /// Column of its further lines. Those of evidence are indented more.
    fn continues_at(&self) -> usize {
        if self.row == "evidence" { self.hang + 2 } else { self.hang }
    }

    /// Whether a line continues this one. A row of commands has one command in each line.
    fn is_continued_by(&self, line: &str) -> bool {
        let text = line.trim_start();
        let is_below = line.len() - text.len() == self.continues_at();
        // The parts of an entry of a timeline are two blanks apart, as a label and its text.
        let is_text = self.row == "timeline" || label(text).is_none();
        // Another value of the same object is as far in as the rest of a long one, which only ends at the right edge.
        let word = text.split(' ').next().unwrap_or_default();
        let is_broken = self.row != "evidence" || self.last + 1 + width(word) > IN_CARD;
        is_below && self.row != "verify" && is_text && is_broken && !self.is_whole()
    }

    /// Whether nothing continues it: a command, which has no text to hang below.
    fn is_whole(&self) -> bool {
        self.row == "fix" && self.hang == self.indent
    }

    /// Whether it is a command, which stays whole: it is there to be copied.
    fn is_command(&self) -> bool {
        self.row == "verify" || self.is_whole()
    }
}

/// The label at the beginning of a row, and the columns up to its text.
fn label(text: &str) -> Option<(&str, usize)> {
    let (label, rest) = text.split_once("  ")?;
    (!label.contains(' ')).then(|| (label, text.len() - rest.trim_start().len()))
}

/// Columns of the time at the beginning of an entry of a timeline.
fn time_column(text: &str) -> usize {
    let Some((time, rest)) = text.split_once("  ") else { return 0 };
    if is_time(time) { text.len() - rest.trim_start().len() } else { 0 }
}

/// Whether a word is a time: `2026-01-10T10:00:00Z`.
fn is_time(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with('Z')
}

/// The severities that the cases of a check show, from the lowest on, in capitals.
fn severities(check: &'static Check) -> Vec<String> {
    let expected = |severity: Severity| {
        let heading = format!("{}  {}", severity.label(), check.id);
        let mut lines = check.cases().iter().flat_map(|case| case.expect.lines());
        lines.any(|line| line.strip_prefix(&heading).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
    };
    let own = check.card().front.severity;
    let all = [Severity::Info, Severity::Warning, Severity::Error];
    let shown = all.into_iter().filter(|severity| *severity == own || (*severity < own && expected(*severity)));
    shown.map(|severity| severity.label().to_uppercase()).collect()
}

/// The commands of a report that verify the repair of its first finding, without what belongs to the cluster of the
/// report: its namespaces and the versions that were asked for.
fn verifying(check: &str, expect: &str) -> Vec<String> {
    const OF_CASE: [&str; 2] = ["--expected-version", "-n"];
    let mut lines = expect.lines().skip_while(|line| !line.starts_with("  verify  "));
    let Some(first) = lines.next().and_then(|line| line.trim_start().strip_prefix("verify")) else {
        return Vec::new();
    };
    let others = lines.take_while(|line| line.starts_with("            "));
    let general = |line: &str| {
        let is_own = line.starts_with(&own("check "));
        let mut words = line.split(' ');
        let mut kept: Vec<&str> = Vec::new();
        while let Some(word) = words.next() {
            match word {
                word if OF_CASE.contains(&word) && is_own => _ = words.next(),
                "-n" if words.clone().next() == Some("shop") => return None,
                "--crds" if is_own => {}
                word => kept.push(word),
            }
        }
        Some(kept.join(" "))
    };
    let commands: Vec<String> = std::iter::once(first).chain(others).map(str::trim).filter_map(general).collect();
    match commands.is_empty() {
        true => vec![Command::from(meshdoctor().words("check --only").arg(check.to_owned())).to_string()],
        false => commands,
    }
}

/// An expected report without the evidence that its case lacks, unless it is about nothing else.
fn findings_of(expect: &str) -> String {
    let mut is_gap = false;
    let lines: Vec<&str> = expect
        .lines()
        .filter(|line| {
            let continues = line.starts_with("  ") && is_gap;
            is_gap = continues || line.starts_with("not checked:");
            !is_gap
        })
        .collect();
    if lines.iter().all(|line| line.trim().is_empty()) { expect.to_owned() } else { lines.join("\n") }
}

/// The report of an example, filled to the width.
fn write_example(report: &str, columns: usize, text: &mut String) {
    let mut quoted: Vec<Quoted<'_>> = Vec::new();
    let mut row = "";
    for line in report.lines() {
        if let Some(last) = quoted.last_mut().filter(|last| last.is_continued_by(line)) {
            last.text.push(' ');
            last.text.push_str(line.trim_start());
            last.last = width(line);
            continue;
        }
        row = label(line.trim_start()).filter(|(label, _)| !is_time(label)).map_or(row, |(label, _)| label);
        quoted.push(Quoted::new(line, row));
    }
    for one in &quoted {
        let (indent, hang) = (one.indent + 2, one.continues_at() + 2);
        let lines = match one.is_command() {
            true => vec![one.text.clone()],
            false => {
                let room = |indent: usize| columns.saturating_sub(indent).max(20);
                wrap_from(&one.text, room(indent), room(hang))
            }
        };
        for (at, line) in lines.iter().enumerate() {
            _ = writeln!(text, "{}{line}", " ".repeat(if at == 0 { indent } else { hang }));
        }
    }
}

/// A page of the documentation for the terminal.
pub fn page(id: &str, title: &str, prose: &str, terminal: usize) -> String {
    let columns = Look::plain(terminal).prose();
    let mut text = format!("{id}\n");
    for line in wrap(title, columns - 2) {
        _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    write_prose(prose, columns, &mut text);
    text
}

/// Markdown prose, wrapped: paragraphs and list items are filled, tables are aligned, blocks stay as they are.
fn write_prose(prose: &str, columns: usize, text: &mut String) {
    let mut paragraph = String::new();
    let mut hanging = 0;
    let mut fenced = false;
    let mut table: Vec<Vec<String>> = Vec::new();
    for line in prose.lines() {
        let marker = list_marker(line);
        let is_row = !fenced && line.starts_with('|');
        let verbatim = fenced || line.starts_with("```");
        let heading = line.trim_start_matches('#');
        let is_heading = !fenced && heading.len() < line.len() && heading.starts_with(' ');
        if verbatim || is_row || is_heading || line.trim().is_empty() || marker > 0 {
            flush(&mut paragraph, hanging, columns, text);
        }
        if is_row {
            table.push(cells(line));
            continue;
        }
        write_table(&mut table, columns, text);
        if is_heading {
            _ = writeln!(text, "{}", heading.trim());
        } else if line.starts_with("```") {
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
            paragraph.push_str(&without_links(line.trim()));
        }
    }
    flush(&mut paragraph, hanging, columns, text);
    write_table(&mut table, columns, text);
}

/// The cells of a row; empty for the separator between head and body of a table.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    if row.chars().all(|c| matches!(c, '-' | ':' | '|' | ' ')) && row.contains('-') {
        return Vec::new();
    }
    // A bar inside a cell is escaped.
    let escaped = row.replace("\\|", "\u{1}");
    escaped.split('|').map(|cell| without_links(cell.trim()).replace('\u{1}', "|")).collect()
}

/// A table, as a line of its first cell and an indented text of the others.
fn write_table(table: &mut Vec<Vec<String>>, columns: usize, text: &mut String) {
    let head = table.first().is_some_and(|head| head.iter().any(|cell| !cell.is_empty()));
    for row in table.drain(..).skip(usize::from(head)).filter(|row| !row.is_empty()) {
        let Some((first, rest)) = row.split_first() else { continue };
        for (at, line) in wrap(first, columns - 2).into_iter().enumerate() {
            _ = writeln!(text, "{}{line}", if at == 0 { "  " } else { "    " });
        }
        let rest: Vec<&str> = rest.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        for line in wrap(&rest.join("; "), columns - 6) {
            _ = writeln!(text, "      {line}");
        }
    }
}

/// A text in which links to other pages, `[text](page.md)`, are their texts.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open..].find("](").and_then(|middle| {
            let label = &rest[open + 1..open + middle];
            let end = rest[open + middle..].find(')')?;
            (!label.contains(['[', '`', ']'])).then_some((label, open + middle + end + 1))
        });
        match link {
            Some((label, end)) => {
                out.push_str(&rest[..open]);
                out.push_str(label);
                rest = &rest[end..];
            }
            None => {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
            }
        }
    }
    out + rest
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
    // A page names commands in code spans.
    let own = format!("`{} ", Called::Own.words());
    let named = paragraph.replace(&own, &format!("`{} ", Called::current().words()));
    for (at, line) in wrap(&named, columns - 2 - hanging).into_iter().enumerate() {
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
struct CheckPage<'a> {
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
    json::write(&CheckPage {
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
    fn example_is_filled_and_commands_stay() {
        let report = "error  a-check  Deployment shop/web\n  a message that is as long as a line of the card may be, which is one \
             hundred columns in\n  all, and goes on\n  evidence  Deployment shop/web  spec.template.metadata.annotations: a \
             value which is longer than\n              the line\n  fix       1. Run it\n                 kubectl -n shop rollout \
             restart deployment/web\n  verify    meshdoctor check\n";
        let mut text = String::new();
        write_example(report, 60, &mut text);
        assert_eq!(
            text,
            "  error  a-check  Deployment shop/web\n    a message that is as long as a line of the card may be,\n    \
             which is one hundred columns in all, and goes on\n    evidence  Deployment shop/web\n                \
             spec.template.metadata.annotations: a value\n                which is longer than the line\n    fix       1. \
             Run it\n                   kubectl -n shop rollout restart deployment/web\n    verify    meshdoctor check\n"
        );
    }

    #[test]
    fn values_of_one_object_stay_on_lines_of_their_own() {
        let report = "error  a-check  Link mesh/east\n  evidence  Link mesh/east  spec.secret: missing\n                \
             spec.port: web\n";
        let mut text = String::new();
        write_example(report, 80, &mut text);
        assert!(text.contains("spec.secret: missing\n                  spec.port: web\n"), "{text}");
    }

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
