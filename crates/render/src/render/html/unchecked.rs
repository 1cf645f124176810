//! Checks that did not run: missing evidence grouped by reason, with the evidence that decides the exit
//! status first.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::document::{Document, Gap, Outcome};
use super::super::text::{count, some_of};
use super::{escaped, script};
use crate::exit;
use crate::item::Item;

/// Maximum number of pieces of evidence and checks in a row.
const NAMED: usize = 8;

/// Maximum number of remedies in a row.
const WAYS: usize = 3;

/// Missing evidence of one sort with one reason.
struct GapRow<'a> {
    key: (bool, &'a str, String),
    gaps: Vec<&'a Gap>,
}

/// The rows, requested evidence first.
fn rows(document: &Document) -> Vec<GapRow<'_>> {
    let mut rows: Vec<GapRow<'_>> = Vec::new();
    for gap in &document.coverage.gaps {
        let key = (gap.asked_for, gap.why.as_str(), sort(gap));
        match rows.iter_mut().find(|row| row.key == key) {
            Some(row) => row.gaps.push(gap),
            None => rows.push(GapRow { key, gaps: vec![gap] }),
        }
    }
    rows.sort_by_key(|row| !row.key.0);
    rows
}

/// The common property of gaps in one row: lists of objects, single objects, or one query.
fn sort(gap: &Gap) -> String {
    match gap.item.parse::<Item>() {
        Ok(Item::List(_)) => "list".to_owned(),
        Ok(Item::Named { .. }) => "object".to_owned(),
        Ok(_) | Err(_) => gap.item.split(['/', ' ', ':']).next().unwrap_or_default().to_owned(),
    }
}

/// The missing evidence as text.
fn what(gap: &Gap) -> String {
    match gap.item.parse::<Item>() {
        Ok(item @ (Item::ServerVersion | Item::CliVersion | Item::NodeFiles | Item::Logs | Item::Diagnostics)) => {
            item.query().map_or_else(|| gap.what.clone(), |asked| asked.describe(None))
        }
        Ok(_) | Err(_) => gap.what.clone(),
    }
}

fn checks_of<'a>(gaps: &[&'a Gap]) -> Vec<&'a str> {
    let checks: BTreeSet<&str> = gaps.iter().flat_map(|gap| &gap.checks).map(String::as_str).collect();
    checks.into_iter().collect()
}

/// The requested evidence that is missing, in one sentence: `the API server's version is missing (3 checks)`.
pub(super) fn deciding(document: &Document) -> Option<String> {
    let requested: Vec<&Gap> = document.coverage.gaps.iter().filter(|gap| gap.asked_for).collect();
    let first = requested.first()?;
    let words = match (first.why.as_str(), first.item.parse::<Item>()) {
        ("perhaps-more", _) => format!("the list of {} may be incomplete", what(first)),
        ("denied", _) => format!("the API server denied access to {}", what(first)),
        (_, Ok(Item::List(_))) => format!("the list of {} is missing", what(first)),
        ("not-captured" | "not-offered" | "not-in-manifests", Ok(Item::Named { .. })) => {
            format!("{} was not provided", what(first))
        }
        (_, Ok(Item::Named { .. }) | Err(_)) => format!("{} could not be read", what(first)),
        (_, Ok(_)) => format!("{} is missing", what(first)),
    };
    let all: BTreeSet<&str> = requested.iter().map(|gap| gap.what.as_str()).collect();
    let checks = checks_of(&requested).len();
    Some(match all.len() {
        0 | 1 => format!("{words} ({})", count(checks, "check", "checks")),
        n => format!("{} evidence: {} and {} more", count(checks, "check lacks", "checks lack"), what(first), n - 1),
    })
}

pub(super) fn section(document: &Document, body: &mut String) {
    body.push_str("<section id=\"not-checked\"><h2>Not checked</h2>");
    let rows = rows(document);
    let (requested, optional): (Vec<&GapRow<'_>>, Vec<&GapRow<'_>>) = rows.iter().partition(|row| row.key.0);
    let crashed: Vec<_> = document.checks.iter().filter(|check| check.outcome == Outcome::Crashed).collect();
    let status = document.verdict.status;
    if requested.is_empty() && crashed.is_empty() {
        body.push_str(match status {
            exit::NOT_CHECKED => "<p class=\"warning\">No selected check could run, so the exit status is 4.</p>",
            _ => "<p>All requested evidence was read.</p>",
        });
    }
    for check in crashed {
        _ = write!(
            body,
            "<div class=\"gap decides\"><p><strong>{}</strong> <span class=\"error\">crashed</span>, a bug in \
             meshdoctor: {}</p></div>",
            escaped(&check.id),
            escaped(check.reason.as_deref().unwrap_or_default())
        );
    }
    let mark = match status {
        exit::NOT_CHECKED => "requested: makes the exit status 4",
        exit::FINE => "requested: accepted (--on-not-checked=pass)",
        _ => "requested: the exit status would be 4 without findings",
    };
    requested.iter().for_each(|row| self::row(row, Some(mark), body));
    if !optional.is_empty() {
        let gaps: Vec<&Gap> = optional.iter().flat_map(|row| row.gaps.iter().copied()).collect();
        let first = |row: &&GapRow<'_>| {
            let mut whats: Vec<String> = row.gaps.iter().map(|gap| what(gap)).collect();
            whats.dedup();
            some_of(&whats, 1)
        };
        let whats: Vec<String> = optional.iter().map(first).collect();
        _ = write!(
            body,
            "<details class=\"optional\"><summary>{} further evidence, which was not provided: {}</summary>",
            count(checks_of(&gaps).len(), "check needs", "checks need"),
            escaped(&some_of(&whats, NAMED))
        );
        optional.iter().for_each(|row| self::row(row, None, body));
        body.push_str("</details>");
    }
    for what in &document.coverage.set_aside {
        _ = write!(body, "<p>Not checked: {}</p>", escaped(what));
    }
    let unread = document.coverage.unread.iter().map(|kind| match kind.objects {
        Some(objects) => format!("{} ({})", kind.resource, count(objects, "object", "objects")),
        None => kind.resource.clone(),
    });
    let unread: Vec<String> = unread.collect();
    if !unread.is_empty() {
        _ = write!(body, "<p class=\"faint\">No check reads {}.</p>", escaped(&some_of(&unread, NAMED)));
    }
    body.push_str("</section>");
}

fn row(row: &GapRow<'_>, mark: Option<&str>, body: &mut String) {
    let mut whats: Vec<String> = row.gaps.iter().map(|gap| what(gap)).collect();
    whats.dedup();
    let parts: BTreeSet<&str> = row.gaps.iter().filter_map(|gap| gap.part.as_deref()).collect();
    let parts: Vec<&str> = parts.into_iter().collect();
    let parts = if parts.is_empty() { String::new() } else { format!(" ({})", some_of(&parts, NAMED)) };
    let mut messages: Vec<&str> = row.gaps.iter().map(|gap| gap.message.as_str()).collect();
    messages.dedup();
    let more = if messages.len() > 1 { format!(" (and {} more like it)", messages.len() - 1) } else { String::new() };
    let checks = checks_of(&row.gaps);
    _ = write!(
        body,
        "<div class=\"gap{}\"><p><strong>{}</strong>{}: {}{more}{}</p><p>Needed by {}: {}</p>",
        if mark.is_some() { " decides" } else { "" },
        escaped(&some_of(&whats, NAMED)),
        escaped(&parts),
        escaped(messages.first().copied().unwrap_or_default()),
        mark.map(|mark| format!(" <em class=\"warning\">{mark}</em>")).unwrap_or_default(),
        count(checks.len(), "check", "checks"),
        escaped(&some_of(&checks, NAMED)),
    );
    let ways = remediations(&row.gaps);
    for (words, commands) in ways.iter().take(WAYS) {
        _ = write!(body, "<p>To check this: {}</p>", escaped(words));
        script(commands, None, body);
    }
    if ways.len() > WAYS {
        _ = write!(body, "<p>and {} more like it (-o json has all)</p>", ways.len() - WAYS);
    }
    body.push_str("</div>");
}

/// The ways to provide evidence, each once: a sentence, and the commands of all gaps with this sentence.
fn remediations<'a>(gaps: &[&'a Gap]) -> Vec<(String, Vec<&'a str>)> {
    let mut ways: Vec<(String, Vec<&str>)> = Vec::new();
    for gap in gaps {
        let command = gap.close_command.as_deref();
        let words = gap.close.strip_suffix(command.unwrap_or_default()).unwrap_or(&gap.close);
        let words = words.trim_end_matches([':', ' ']);
        let lines: Vec<&str> = command.iter().flat_map(|command| command.lines()).collect();
        match ways.iter_mut().find(|(other, _)| other == words) {
            Some((_, known)) if lines.iter().all(|line| known.contains(line)) => {}
            Some((_, known)) => known.extend(lines),
            None => ways.push((words.to_owned(), lines)),
        }
    }
    ways
}
