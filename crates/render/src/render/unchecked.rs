//! A short list of the checks that did not run: requested evidence that is missing, with the command that
//! provides it; then one line for all evidence that was not provided. `coverage` lists everything.

use std::collections::BTreeSet;

use super::coverage::{self, Deciding};
use super::look::Look;
use super::text::{clean, count, pad, shortened, some_fitting, width, wrap};
use crate::checks::Outcome;
use crate::command::{Arg, Command, meshdoctor, own};
use crate::exit;
use crate::fetched::Why;
use crate::item::{Item, Query};
use crate::report::{Gap, Report, Unread};

/// Column at which the text next to a label starts.
const INDENT: usize = 13;

/// The block, including its label; empty if everything was checked. If findings need a repair and missing evidence
/// does not decide the exit status, evidence that was not provided is only counted in the result, and each other gap
/// is one line, with its remedy only if that is one line too (two if it decides); `coverage` has the rest.
pub fn lines(report: &Report, look: Look) -> Vec<String> {
    let mut text = Vec::new();
    let collect = coverage::collect_them();
    let everything = Command::from(meshdoctor().words("collect --output bundle.tar.gz")).to_string();
    let is_brief = is_brief(report, look);
    let decides = report.verdict.status == exit::NOT_CHECKED;
    let deciding: Vec<Deciding<'_>> = coverage::deciding(report)
        .into_iter()
        .filter(|missing| !is_brief || decides || !missing.is_not_provided)
        .collect();
    text.extend(manifests_hint(report, look).filter(|_| !is_brief).into_iter().flatten());
    // A command at the end that collects everything makes those before it superfluous.
    let is_collected_at_end =
        !is_brief && missing_evidence(report, |_, _| String::new()).is_some_and(|missing| missing.is_collected);
    let mut shown: Vec<Vec<Vec<String>>> = Vec::new();
    for missing in &deciding {
        let ways = missing.ways.iter().filter(|(words, commands)| {
            !is_collected_at_end || (*words != collect && *commands != [everything.as_str()])
        });
        let ways = ways.map(|(words, commands)| match *words == collect {
            // The commands for each kind are long; `coverage` has them.
            true if is_brief || commands.len() > 1 || *commands == [everything.as_str()] => {
                sentence_with_commands("", std::slice::from_ref(&everything), look)
            }
            _ => sentence_with_commands(words, commands, look),
        });
        let most = if decides { 2 } else { 1 };
        shown.push(ways.filter(|lines| !is_brief || lines.len() <= most).collect());
    }
    for (at, missing) in deciding.iter().enumerate() {
        let what = if is_brief { &missing.brief } else { &missing.what };
        let words = match missing.checks.as_slice() {
            [check] => format!("{what} ({check})"),
            checks => format!("{what} ({} checks)", checks.len()),
        };
        text.extend(wrap(&words, look.prose() - INDENT));
        // A remedy for several gaps follows the last of them.
        let is_last = |way: &&Vec<String>| !shown[at + 1..].iter().any(|later| later.contains(way));
        text.extend(shown[at].iter().filter(is_last).flatten().cloned());
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let words = format!("{} crashed, a bug in meshdoctor; please report it: {}", check.id, clean(message));
            text.extend(wrap(&shortened(&words, 300), look.prose() - INDENT));
        }
    }
    text.extend(report.coverage.set_aside.iter().flat_map(|what| wrap(&clean(what), look.prose() - INDENT)));
    let not_provided = match (is_brief, text.is_empty()) {
        (true, _) => None,
        (false, true) => missing_evidence(report, not_provided_words),
        // Below the requested evidence that is missing.
        (false, false) => missing_evidence(report, |checks, ways| {
            let ways = ways.replace(USE_COLLECT, "collect it and check the bundle");
            format!("other evidence ({}): {ways}", count(checks, "check", "checks"))
        }),
    };
    let not_provided = not_provided.map(|MissingEvidence { words, command, is_collected }| match command {
        Some(command) => {
            let mut lines = wrap(&format!("{words}:"), look.prose() - INDENT);
            lines.push(format!("  {}", look.command(&command)));
            if is_collected {
                let check = Command::from(meshdoctor().words("check bundle.tar.gz")).to_string();
                lines.push(format!("  {}", look.command(&check)));
            }
            lines
        }
        None => wrap(&words, look.prose() - INDENT),
    });
    text.extend(not_provided.into_iter().flatten());
    text.extend(unread(&report.coverage.unread, look));
    let label = pad("not checked", INDENT);
    let blank = " ".repeat(INDENT);
    text.into_iter()
        .enumerate()
        .map(|(at, line)| format!("{}{line}", if at == 0 { look.faint(&label) } else { blank.clone() }))
        .collect()
}

/// How to check manifests, if they were given like the dump of a cluster: no check passed on them.
fn manifests_hint(report: &Report, look: Look) -> Option<Vec<String>> {
    let is_dump = report.origin.kind == "dump" && report.verdict.passed == 0 && report.coverage.objects > 0;
    let file = report.origin.name.as_str();
    let is_path = !file.contains(' ');
    (is_dump && is_path && report.findings.is_empty()).then(|| {
        let check = Command::from(meshdoctor().words("check").option("--manifests", Arg::path(file)));
        let words = "if these are manifests and not a dump of a cluster, check them as such";
        sentence_with_commands(words, &[check.to_string()], look)
    })
}

/// Whether a repair comes first, and missing evidence only matters in brief.
pub fn is_brief(report: &Report, look: Look) -> bool {
    !report.repair.steps.is_empty() && !look.verbose && !look.coverage
}

/// A sentence and its commands, on one line if they fit.
fn sentence_with_commands(words: &str, commands: &[String], look: Look) -> Vec<String> {
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

/// The way to provide evidence that was not requested. Ordered as printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EvidenceSource {
    Nodes,
    Probe,
    Cli,
    Logs,
    Diagnostics,
    Collect,
    With,
    Cluster,
}

impl EvidenceSource {
    fn from_gap(gap: &Gap) -> EvidenceSource {
        match (&gap.missing.request.item, &gap.missing.part) {
            _ if gap.missing.why == Why::NotInManifests => EvidenceSource::With,
            (Item::NodeFiles, _) => EvidenceSource::Nodes,
            (item, _) if item.query().is_some_and(Query::is_probed) => EvidenceSource::Probe,
            (Item::CliVersion, _) => EvidenceSource::Cli,
            (Item::Logs, _) => EvidenceSource::Logs,
            (Item::Diagnostics, _) => EvidenceSource::Diagnostics,
            // The rest of the object is available: only the cluster has the missing part.
            (Item::Named { .. } | Item::List(_), Some(_)) => EvidenceSource::Collect,
            _ => EvidenceSource::Cluster,
        }
    }

    fn words(self, is_live: bool) -> String {
        let words = match self {
            EvidenceSource::Diagnostics if is_live => "--proxies",
            EvidenceSource::Nodes => "--nodes",
            EvidenceSource::Probe => "--probe",
            EvidenceSource::Collect => return own("collect"),
            EvidenceSource::Cli => "--linkerd-cli",
            EvidenceSource::Logs => "--logs",
            EvidenceSource::Diagnostics => "--diagnostics",
            EvidenceSource::With => "check --with",
            EvidenceSource::Cluster => "--bundle",
        };
        words.to_owned()
    }
}

impl EvidenceSource {
    /// The flag of `check` that reads it from the cluster, if there is one.
    fn flag_of_check(&self) -> Option<&'static str> {
        match self {
            EvidenceSource::Probe => Some("--probe"),
            EvidenceSource::Logs => Some("--logs"),
            EvidenceSource::Diagnostics => Some("--proxies"),
            EvidenceSource::Nodes
            | EvidenceSource::Cli
            | EvidenceSource::Collect
            | EvidenceSource::With
            | EvidenceSource::Cluster => None,
        }
    }
}

/// The gaps of evidence that was not requested.
fn optional(report: &Report) -> impl Iterator<Item = &Gap> {
    report.coverage.gaps.iter().filter(|gap| !gap.missing.was_asked_for())
}

/// The number of checks without evidence that was not provided, and the options that provide it, on one line:
/// `11 checks lack evidence: add --nodes`.
pub fn not_provided(report: &Report) -> Option<String> {
    missing_evidence(report, not_provided_words).map(|missing| match missing.command {
        Some(command) => format!("{} {command}", missing.words),
        None => missing.words,
    })
}

fn not_provided_words(checks: usize, ways: &str) -> String {
    format!("{} evidence: {ways}", count(checks, "check lacks", "checks lack"))
}

/// Evidence that was not provided.
struct MissingEvidence {
    /// The number of checks, and the options that provide it.
    words: String,
    /// The command that provides it, for the end of the sentence.
    command: Option<String>,
    /// Whether that command is `collect`, which reads all other evidence of the cluster too.
    is_collected: bool,
}

/// The words before the command that collects.
const USE_COLLECT: &str = "use";

/// The evidence that was not provided, and the command that provides it.
fn missing_evidence(report: &Report, words: impl Fn(usize, &str) -> String) -> Option<MissingEvidence> {
    let said = |words: String, command: Option<String>| MissingEvidence { words, command, is_collected: false };
    let mut ways: BTreeSet<EvidenceSource> = optional(report).map(EvidenceSource::from_gap).collect();
    // `collect` on the cluster runs the linkerd CLI too; a live check already did.
    if report.origin.kind != "live" {
        if ways.contains(&EvidenceSource::Collect) {
            ways.remove(&EvidenceSource::Cli);
        }
        // Probes ask a cluster.
        ways.remove(&EvidenceSource::Probe);
    }
    if ways.is_empty() {
        return None;
    }
    let checks: BTreeSet<&str> = optional(report).flat_map(|gap| &gap.checks).copied().collect();
    // Manifests are checked without logs or nodes; only a cluster has them.
    if report.origin.kind == "manifests" {
        let checks = count(checks.len(), "check needs", "checks need");
        let words = format!("{checks} a cluster: {}, live or with --bundle FILE", own("check --with PATH"));
        return Some(said(words, None));
    }
    let is_live = report.origin.kind == "live";
    let again = only_again(report, &ways);
    if is_live && let Some(command) = again {
        return Some(said(words(checks.len(), "use"), Some(command)));
    }
    let collect = ways.remove(&EvidenceSource::Collect);
    // The options of `collect` that read the same from the cluster. Files of nodes need pods on the nodes.
    let reads = [(EvidenceSource::Logs, "--logs"), (EvidenceSource::Diagnostics, "--proxies")];
    let reads = reads.iter().filter(|(way, _)| ways.contains(way));
    let from_cluster = reads.fold(meshdoctor().words("collect"), |call, (_, flag)| call.words(flag));
    let from_cluster = from_cluster.words("--output bundle.tar.gz");
    let ways: Vec<String> = ways.into_iter().map(|way| way.words(is_live)).collect();
    let options = match ways.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("add {} or {last}", first.join(", ")),
        [] => String::new(),
        ways => format!("add {}", ways.concat()),
    };
    let command = if collect { Some(from_cluster.to_string()) } else { again };
    let way = match (collect, command.is_some()) {
        (true, _) => Some(USE_COLLECT.to_owned()),
        (false, true) => Some("check the cluster".to_owned()),
        (false, false) => None,
    };
    let each: Vec<String> = [options].into_iter().filter(|options| !options.is_empty()).chain(way).collect();
    let words = words(checks.len(), &each.join(", or "));
    Some(MissingEvidence { words, command, is_collected: collect })
}

/// The command that repeats a run of selected checks with their evidence, if a cluster provides all of it.
fn only_again(report: &Report, ways: &BTreeSet<EvidenceSource>) -> Option<String> {
    let flags: Option<Vec<&str>> = ways.iter().map(|way| way.flag_of_check()).collect();
    let flags = flags.filter(|_| !report.asked.only.is_empty() && report.verdict.passed == 0)?;
    let check = flags.iter().fold(meshdoctor().words("check"), |call, flag| call.words(flag));
    let check = match report.asked.namespaces.is_empty() {
        true => check,
        false => check.option("-n", report.asked.namespaces.join(",")),
    };
    let check = check.option("--only", report.asked.only.join(","));
    Some(Command::from(check).aimed(&report.connection).to_string())
}

/// Objects that no check reads, on one line.
fn unread(unread: &[Unread], look: Look) -> Option<String> {
    const WORDS: &str = "read by no check: ";
    let held = coverage::unread_kinds(unread);
    let room = look.prose() - INDENT - WORDS.len();
    (!held.is_empty()).then(|| format!("{WORDS}{}", some_fitting(&held, room)))
}
