//! The answers of `meshdoctor reach`, as text and as JSON.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};

use super::finding::{check_name, explained_as};
use super::look::Look;
use super::text::{clean, escape_ci_commands, pad, width, wrap, write_hanging};
use crate::checks::words::sentence;
use crate::command::meshdoctor;
use crate::finding::{Evidence, Finding, Place, Severity};
use crate::inspect::reach::{Lack, Outcome, Part, Step, Walk};

/// Widths of the columns for a step's outcome and its name.
const WORDS: usize = 12;
const NAMES: usize = 15;
/// Column of lines to paste.
const PASTED: usize = 6;
/// Maximum number of causes to show.
const CAUSES: usize = 3;

/// As text.
pub fn table(walk: &Walk, look: Look) -> String {
    let mut text = String::new();
    _ = writeln!(text, "{}", look.strong(&clean(&format!("{} to {}", walk.from, walk.to))));
    for line in wrap(&result(walk), look.prose().saturating_sub(2)) {
        _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    // What stops the call comes first; the steps before and after it only confirm that they do not.
    let is_short = walk.outcome() >= Outcome::Partly && !look.verbose;
    let (confirmed, mut shown): (Vec<&Step>, Vec<&Step>) =
        walk.steps.iter().partition(|step| is_short && step.outcome == Outcome::Passes);
    if is_short {
        shown.sort_by_key(|step| std::cmp::Reverse(step.outcome));
    }
    let mut causes_shown = false;
    for step in &shown {
        // Its words hold for the objects that were read.
        let is_likely = step.lacks.as_ref().is_some_and(|lack| lack.without == Outcome::Passes);
        let label = if is_likely { "likely ok" } else { outcome_label(step.outcome) };
        let word = pad(label, WORDS);
        let word = match step.outcome {
            Outcome::Passes => look.good(&word),
            Outcome::NotJudged => look.faint(&word),
            Outcome::Partly => look.severity_like(Severity::Warning, &word),
            Outcome::Stops => look.severity_like(Severity::Error, &word),
        };
        // One line below names all missing evidence.
        let says = if look.verbose { step.in_full() } else { Cow::Borrowed(step.says.as_str()) };
        row(&mut text, &word, step.part.name(), &says, look);
        for evidence in step.evidence.iter().filter(|_| look.verbose || step.outcome != Outcome::Passes) {
            labelled(&mut text, "evidence", &quoted(evidence), look);
        }
        if step.outcome >= Outcome::Partly && !causes_shown {
            causes_shown = true;
            causes(&mut text, walk, look);
        }
        // Steps with one cause share their fix.
        let fixed = |other: &&Step| other.fix == step.fix && other.paste == step.paste;
        let is_repeated = step.fix.is_some()
            && walk.steps.iter().take_while(|other| !std::ptr::eq(*other, *step)).any(|other| fixed(&other));
        if is_repeated {
            continue;
        }
        if step.numbered.len() > 1 {
            numbered(&mut text, &step.numbered, look);
            continue;
        }
        if let Some(fix) = &step.fix {
            labelled(&mut text, "fix", &sentence(fix), look);
        }
        // Lines to paste are never wrapped.
        for line in &step.paste {
            _ = writeln!(text, "{}{}", " ".repeat(PASTED), look.command(&clean(line)));
        }
    }
    if !look.verbose {
        lacking(&mut text, &shown, look);
    }
    let mut names: Vec<&str> = confirmed.iter().map(|step| step.part.name()).collect();
    names.dedup();
    // A name that is shown above would seem to contradict it.
    names.retain(|name| !shown.iter().any(|step| step.part.name() == *name));
    if !names.is_empty() {
        let said = match confirmed.len() {
            1 => format!("{} (-v shows this step)", names.join(", ")),
            _ => format!("{} (-v shows these steps)", names.join(", ")),
        };
        let room = look.prose().saturating_sub(WORDS + 2).max(20);
        for (at, line) in wrap(&said, room).iter().enumerate() {
            let head = if at == 0 { look.good(&pad("ok", WORDS)).to_string() } else { " ".repeat(WORDS) };
            _ = writeln!(text, "  {head}{line}");
        }
    }
    escape_ci_commands(&text).into_owned()
}

/// The missing evidence, once for all steps that depend on it.
fn lacking(text: &mut String, shown: &[&Step], look: Look) {
    let mut lacking: BTreeMap<String, (BTreeSet<String>, Vec<&str>)> = BTreeMap::new();
    for step in shown {
        let Some(Lack { kind, why, .. }) = &step.lacks else { continue };
        let (kinds, parts) = lacking.entry(why.to_string()).or_default();
        kinds.insert(kind.resource());
        parts.push(step.part.name());
        parts.dedup();
    }
    for (why, (kinds, parts)) in lacking {
        let (kinds, parts) = (kinds.into_iter().collect::<Vec<_>>().join(", "), parts.join(", "));
        let says = format!("{why}: {kinds}. The result for {parts} holds only without such objects");
        row(text, &look.faint(&pad(outcome_label(Outcome::NotJudged), WORDS)), "evidence", &says, look);
    }
}

/// The findings that explain the failure, with the command that shows their evidence and repair.
fn causes(text: &mut String, walk: &Walk, look: Look) {
    let shown = || walk.causes.iter().take(look.most(CAUSES));
    for finding in shown() {
        // A row of the walk may have the same words.
        let is_said = walk.steps.iter().any(|step| step.says == finding.message);
        let cause = match is_said {
            true => check_name(finding),
            false => format!("{}: {}", check_name(finding), finding.message),
        };
        labelled(text, "cause", &cause, look);
    }
    let checks: BTreeSet<String> = shown().map(explained_as).collect();
    if !checks.is_empty() {
        let checks = checks.into_iter().collect::<Vec<_>>().join(",");
        let command = meshdoctor().words("check").option("--only", checks);
        labelled(text, "repair", "its report has the steps", look);
        _ = writeln!(text, "{}{}", " ".repeat(PASTED), look.command(&clean(&command.to_string())));
    }
}

/// A row of the table, with its outcome as a padded word.
fn row(text: &mut String, word: &str, name: &str, says: &str, look: Look) {
    let indent = WORDS + NAMES + 2;
    for (at, line) in wrap(&clean(says), look.prose().saturating_sub(indent).max(20)).iter().enumerate() {
        let head = if at == 0 { format!("  {word}{}", pad(name, NAMES)) } else { " ".repeat(indent) };
        _ = writeln!(text, "{head}{line}");
    }
}

/// The steps of a fix, each with its lines to paste.
fn numbered(text: &mut String, steps: &[(String, Vec<String>)], look: Look) {
    for (number, (said, paste)) in (1..).zip(steps) {
        let head = format!("{}{number}. ", " ".repeat(PASTED - 2));
        let indent = " ".repeat(head.len());
        let words = wrap(&clean(&sentence(said)), look.prose().saturating_sub(indent.len()).max(20));
        for (at, line) in words.iter().enumerate() {
            _ = writeln!(text, "{}{line}", if at == 0 { &head } else { &indent });
        }
        for line in paste {
            _ = writeln!(text, "{indent}  {}", look.command(&clean(line)));
        }
    }
}

/// A piece of evidence on one line.
pub(super) fn quoted(evidence: &Evidence) -> String {
    match &evidence.place {
        Place::Field { object, path } => format!("{object}  {path}: {}", evidence.said),
        Place::Other { name } => format!("{name}: {}", evidence.said),
        _ => evidence.said.clone(),
    }
}

/// A labelled text below a step, at the column of lines to paste.
fn labelled(text: &mut String, label: &str, said: &str, look: Look) {
    let head = " ".repeat(PASTED - 2) + &pad(label, 10);
    write_hanging(text, (&head, PASTED + 8), said, look.prose());
}

pub(super) fn outcome_label(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passes => "ok",
        Outcome::NotJudged => "unknown",
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
    if let Some(end) = unknown_end(walk) {
        return format!("not traced: the {end} is unknown");
    }
    match walk.outcome() {
        Outcome::Passes => match walk.conditions().as_slice() {
            [] => "the call succeeds, as far as the cluster's objects show".to_owned(),
            conditions => {
                let conditions: Vec<String> = conditions.iter().map(ToString::to_string).collect();
                format!("the call succeeds, {}", conditions.join(", and "))
            }
        },
        Outcome::Partly => {
            format!("some calls succeed, others fail: see {}", steps(Outcome::Partly))
        }
        Outcome::Stops => {
            let ends = walk.steps.iter().filter(|step| step.outcome == Outcome::Stops);
            let mut answered = ends.filter_map(|step| step.condition.as_ref());
            match answered.next() {
                Some(answer) => format!("the call ends at {}: {answer}", steps(Outcome::Stops)),
                None => format!("the call fails: it stops at {}", steps(Outcome::Stops)),
            }
        }
        Outcome::NotJudged => {
            let those = || walk.steps.iter().filter(|step| step.outcome == Outcome::NotJudged);
            let names = |may_fail: bool| {
                let names = those().filter(|step| step.fix.is_some() == may_fail).map(|step| step.part.name());
                let mut names: Vec<&str> = names.collect();
                names.dedup();
                names.join(", ")
            };
            match (names(true), names(false)) {
                (fail, unknown) if fail.is_empty() => format!("no failure found; not certain: {unknown}"),
                (fail, unknown) if unknown.is_empty() => format!("the call may fail at: {fail}"),
                (fail, unknown) => format!("the call may fail at: {fail}; not certain: {unknown}"),
            }
        }
    }
}

/// The name of the end that the evidence lacks, at which the walk ends without a result.
fn unknown_end(walk: &Walk) -> Option<&'static str> {
    let last = walk.steps.last().filter(|_| walk.outcome() == Outcome::NotJudged)?;
    // Steps about an object that was found show it as evidence.
    let is_lost = last.lacks.as_ref().is_some_and(|lack| lack.without == Outcome::Stops) && last.evidence.is_empty();
    (is_lost && matches!(last.part, Part::Client | Part::Destination)).then(|| last.part.name())
}

/// Reachability as text: a row for each client, a column for each port of a Service. Names that are too wide
/// are replaced by a number, with a legend; every failed connection is explained below.
pub fn matrix(rows: &[(String, Vec<Walk>)], look: Look) -> String {
    let called: Vec<&str> =
        rows.first().map(|(_, walks)| walks.iter().map(|walk| walk.to.as_str()).collect()).unwrap_or_default();
    let namespace = called.first().and_then(|to| to.split_once('/')).map_or("", |(namespace, _)| namespace);
    let local = |end: &str| {
        let name = end.strip_prefix(namespace).and_then(|rest| rest.strip_prefix('/'));
        clean(name.unwrap_or(end)).into_owned()
    };
    let names: Vec<String> = called.iter().map(|to| local(to)).collect();
    let clients: Vec<String> = rows.iter().map(|(client, _)| local(client)).collect();
    let at = |cell: fn(&Walk) -> String| -> Vec<Vec<String>> {
        rows.iter().map(|(_, walks)| walks.iter().map(cell).collect()).collect()
    };
    let mut text = format!("connections in namespace {}, from (rows) to (columns)\n\n", clean(namespace));
    let full = Grid { heads: &names, clients: &clients, cells: &at(cell) };
    if full.width() <= look.columns() {
        full.write(&mut text, look.columns());
    } else {
        let numbers: Vec<String> = (1..=names.len()).map(|number| number.to_string()).collect();
        Grid { heads: &numbers, clients: &clients, cells: &at(short_cell) }.write(&mut text, look.columns());
        for (number, name) in numbers.iter().zip(&names) {
            _ = writeln!(text, "  {number:>2} = {name}");
        }
    }
    let walks = || rows.iter().flat_map(|(_, walks)| walks);
    let shown: BTreeSet<String> = walks().map(short_cell).collect();
    let legend = [
        ("yes", "yes: succeeds, as far as the cluster's objects show"),
        ("yes?", "yes?: no step is known to fail"),
        ("?", "?: may fail; reach with both names shows why"),
        ("partly", "partly: some of the calls fail, by endpoint or backend"),
        ("no", "no: fails"),
    ];
    let legend: Vec<&str> = legend.iter().filter(|(cell, _)| shown.contains(*cell)).map(|(_, words)| *words).collect();
    text.push('\n');
    for line in wrap(&legend.join("; "), look.prose()) {
        _ = writeln!(text, "{line}");
    }
    failures(walks(), &local, look, &mut text);
    escape_ci_commands(&text).into_owned()
}

/// A table of short cells.
struct Grid<'a> {
    heads: &'a [String],
    clients: &'a [String],
    cells: &'a [Vec<String>],
}

impl Grid<'_> {
    fn first_column(&self) -> usize {
        self.clients.iter().map(|client| width(client)).max().unwrap_or_default()
    }

    fn column(&self, at: usize) -> usize {
        let cells = self.cells.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
        cells.chain([width(&self.heads[at])]).max().unwrap_or_default()
    }

    fn width(&self) -> usize {
        1 + self.first_column() + (0..self.heads.len()).map(|at| 2 + self.column(at)).sum::<usize>()
    }

    /// The table, in parts of the given width.
    fn write(&self, text: &mut String, columns: usize) {
        let mut from = 0;
        while from < self.heads.len() {
            let mut used = 1 + self.first_column();
            let fits = (from..self.heads.len()).take_while(|&at| {
                used += 2 + self.column(at);
                used <= columns
            });
            let to = from + fits.count().max(1);
            if from > 0 {
                text.push('\n');
            }
            self.line("", from..to, |at| &self.heads[at], text);
            for (client, row) in self.clients.iter().zip(self.cells) {
                self.line(client, from..to, |at| row.get(at).map_or("", String::as_str), text);
            }
            from = to;
        }
    }

    fn line<'c>(
        &self,
        first: &str,
        columns: std::ops::Range<usize>,
        cell: impl Fn(usize) -> &'c str,
        text: &mut String,
    ) {
        let mut line = format!(" {}", pad(first, self.first_column()));
        for at in columns {
            line.push_str("  ");
            line.push_str(&pad(cell(at), self.column(at)));
        }
        _ = writeln!(text, "{}", line.trim_end());
    }
}

/// Maximum number of failure reasons that a matrix explains.
const REASONS: usize = 12;

/// The reasons why connections fail, each with its connections.
fn failures<'w>(walks: impl Iterator<Item = &'w Walk>, local: &dyn Fn(&str) -> String, look: Look, text: &mut String) {
    let mut reasons: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for walk in walks.filter(|walk| walk.outcome() >= Outcome::Partly) {
        let worst = walk.steps.iter().find(|step| step.outcome == walk.outcome());
        let Some(step) = worst else { continue };
        let word = if step.outcome == Outcome::Stops { "no" } else { "partly" };
        let call = format!("{} to {}", local(&walk.from), local(&walk.to));
        reasons.entry((word, step.part.name(), step.says.as_str())).or_default().push(call);
    }
    for ((word, part, says), calls) in reasons.iter().take(REASONS) {
        let said = format!("{word}: {part}: {}: {says}", calls.join(", "));
        for (at, line) in wrap(&clean(&said), look.prose().saturating_sub(2)).iter().enumerate() {
            _ = writeln!(text, "{}{line}", if at == 0 { "" } else { "  " });
        }
    }
    if reasons.len() > REASONS {
        _ = writeln!(text, "and {} more reasons (-o json lists them)", reasons.len() - REASONS);
    }
}

fn cell(walk: &Walk) -> String {
    let stops = || walk.steps.iter().find(|step| step.outcome == Outcome::Stops);
    match stops().filter(|_| walk.outcome() == Outcome::Stops) {
        Some(step) => format!("no: {}", step.part.name()),
        None => short_cell(walk),
    }
}

/// Whether a step of a walk without a result is known to fail at times.
fn may_fail(walk: &Walk) -> bool {
    walk.steps.iter().any(|step| step.outcome == Outcome::NotJudged && step.fix.is_some())
}

fn short_cell(walk: &Walk) -> String {
    match walk.outcome() {
        Outcome::Passes => "yes",
        Outcome::NotJudged if may_fail(walk) => "?",
        Outcome::NotJudged => "yes?",
        Outcome::Partly => "partly",
        Outcome::Stops => "no",
    }
    .to_owned()
}

pub fn json(walks: &[&Walk], gaps: &[String]) -> Value {
    json!({
        "schema": "meshdoctor.reach/1",
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
        "conditions": walk.conditions().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "steps": walk.steps.iter().map(step).collect::<Vec<_>>(),
        "causes": walk.causes.iter().map(cause).collect::<Vec<_>>(),
    })
}

fn cause(finding: &Finding) -> Value {
    let subjects: Vec<String> = finding.subjects.iter().map(ToString::to_string).collect();
    json!({
        "check": explained_as(finding),
        "severity": finding.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "subjects": subjects,
    })
}

fn step(step: &Step) -> Value {
    json!({
        "name": step.part.name(),
        "outcome": key(step.outcome),
        "says": step.in_full(),
        "evidence": step.evidence,
        "condition": step.condition.as_ref().map(ToString::to_string),
        "fix": step.fix,
        "paste": step.paste,
    })
}
