//! What was not checked, as briefly as that can be said: evidence that was asked for with the way to it, then at most four
//! lines for everything that nobody asked for, one for each way to check it. `coverage` says it in full.

use std::collections::{BTreeMap, BTreeSet};

use super::coverage;
use super::look::Look;
use super::text::{clean, count, pad, shortened, some_fitting, some_of, width, wrap};
use crate::checks::Outcome;
use crate::command::own;
use crate::fetched::Why;
use crate::item::{Asked, Item};
use crate::report::{Gap, Report, Unread};

/// Where the text beside the label begins.
const INDENT: usize = 13;

/// Lines for what nobody asked for.
const MOST: usize = 4;

/// How many checks are named beside evidence that was asked for.
const CHECKS: usize = 4;

/// The block, label included; nothing where everything was checked.
pub fn lines(report: &Report, look: Look) -> Vec<String> {
    let mut text = Vec::new();
    for missing in coverage::deciding(report) {
        let words = format!("{} ({})", missing.what, some_of(&missing.checks, CHECKS));
        text.extend(wrap(&words, look.prose() - INDENT));
        for (words, commands) in missing.ways {
            text.extend(way(&words, &commands, look));
        }
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let words =
                format!("{} crashed, a bug in meshdoctor; please report it: {}", check.id, clean(message));
            text.extend(wrap(&shortened(&words, 300), look.prose() - INDENT));
        }
    }
    text.extend(report.coverage.set_aside.iter().flat_map(|what| wrap(&clean(what), look.prose() - INDENT)));
    text.extend(unasked(report, look));
    let label = pad("not checked", INDENT);
    let blank = " ".repeat(INDENT);
    text.into_iter()
        .enumerate()
        .map(|(at, line)| format!("{}{line}", if at == 0 { look.faint(&label) } else { blank.clone() }))
        .collect()
}

/// Words and what to paste, in a line where they fit into one.
fn way(words: &str, commands: &[String], look: Look) -> Vec<String> {
    let room = look.prose() - INDENT - 2;
    let indented = |line: String| format!("  {line}");
    let commands: Vec<_> = commands.iter().map(|command| clean(command)).collect();
    if let [command] = commands.as_slice()
        && width(words) + 2 + width(command) <= room
    {
        let words = if words.is_empty() { String::new() } else { format!("{words}: ") };
        return vec![indented(format!("{words}{}", look.command(command)))];
    }
    let words = if commands.is_empty() || words.is_empty() { words.to_owned() } else { format!("{words}:") };
    let mut lines: Vec<String> = if words.is_empty() { vec![] } else { wrap(&clean(&words), room) };
    lines.extend(commands.iter().map(|command| format!("  {}", look.command(command))));
    lines.into_iter().map(indented).collect()
}

/// How evidence that nobody asked for can be provided. Ordered as it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Nodes,
    Probe,
    Collect,
    Cli,
    Logs,
    Diagnostics,
    With,
    Cluster,
}

impl Way {
    fn of(gap: &Gap) -> Way {
        match (&gap.missing.request.item, &gap.missing.part) {
            _ if gap.missing.why == Why::NotInManifests => Way::With,
            (Item::NodeFiles, _) => Way::Nodes,
            (item, _) if item.asked().is_some_and(Asked::is_probed) => Way::Probe,
            (Item::CliVersion, _) => Way::Cli,
            (Item::Logs, _) => Way::Logs,
            (Item::Diagnostics, _) => Way::Diagnostics,
            // The rest of the object is there: what is missing is what only the cluster itself tells.
            (Item::Named { .. } | Item::List(_), Some(_)) => Way::Collect,
            _ => Way::Cluster,
        }
    }

    fn words(self) -> String {
        let words = match self {
            Way::Nodes => "--nodes DIR",
            Way::Probe => "--probe",
            Way::Collect => return own("collect"),
            Way::Cli => "--linkerd-cli VERSION",
            Way::Logs => "--logs [NAME=FILE]",
            Way::Diagnostics => "--diagnostics FILE",
            Way::With => "check --with",
            Way::Cluster => "a cluster or --bundle",
        };
        words.to_owned()
    }
}

fn unasked(report: &Report, look: Look) -> Vec<String> {
    let mut ways: BTreeMap<Way, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for gap in report.coverage.gaps.iter().filter(|gap| !gap.missing.was_asked_for()) {
        let (checks, parts) = ways.entry(Way::of(gap)).or_default();
        checks.extend(&gap.checks);
        parts.extend(gap.missing.part.as_deref().and_then(|part| part.strip_prefix("node ")));
    }
    // Who collects on the cluster has the operator's command asked as well; who reads it live had it asked already.
    if report.origin.kind != "live"
        && ways.contains_key(&Way::Collect)
        && let Some((cli, _)) = ways.remove(&Way::Cli)
        && let Some((checks, _)) = ways.get_mut(&Way::Collect)
    {
        checks.extend(cli);
    }
    let unread = unread(&report.coverage.unread, look);
    let room = MOST - usize::from(unread.is_some());
    let shown = if ways.len() <= room { ways.len() } else { room - 1 };
    let column = ways.keys().take(shown).map(|way| width(&way.words())).max().unwrap_or_default();
    let columns = look.prose() - INDENT;
    let mut lines: Vec<String> = ways
        .iter()
        .take(shown)
        .map(|(way, (checks, nodes))| {
            let checks: Vec<&str> = checks.iter().copied().collect();
            let nodes = match nodes.len() {
                0 => String::new(),
                n => format!(" on {}", count(n, "node", "nodes")),
            };
            let room = columns.saturating_sub(column + 2 + width(&nodes));
            format!("{}  {}{nodes}", pad(&way.words(), column), some_fitting(&checks, room))
        })
        .collect();
    if shown < ways.len() {
        lines.push(format!("and {} more ways to check more: --coverage", ways.len() - shown));
    }
    lines.extend(unread);
    lines
}

/// Kinds that no check reads, in a line: the objects that are there, else what the kinds are about.
fn unread(unread: &[Unread], look: Look) -> Option<String> {
    const WORDS: &str = ": no check reads them";
    if unread.is_empty() {
        return None;
    }
    let held = coverage::held(unread);
    let about = coverage::about(unread);
    let room = look.prose() - INDENT - WORDS.len();
    let words = match held.is_empty() {
        true => some_fitting(&about, room),
        false => some_fitting(&held, room),
    };
    Some(format!("{words}{WORDS}"))
}
