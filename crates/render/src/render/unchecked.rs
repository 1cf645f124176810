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
    let missing = (!is_brief).then(|| MissingEvidence::from_report(report)).flatten();
    // A command at the end that collects everything makes those before it superfluous.
    let is_collected_at_end = missing.as_ref().is_some_and(|missing| missing.is_collected);
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
    if let Some(missing) = &missing {
        let words = if text.is_empty() { missing.words() } else { missing.words_below_others() };
        let end = if missing.command.is_some() { ":" } else { "" };
        text.extend(wrap(&format!("{words}{end}"), look.prose() - INDENT));
        let check = || Command::from(meshdoctor().words("check bundle.tar.gz")).to_string();
        let commands = missing.command.iter().cloned().chain(missing.is_collected.then(check));
        text.extend(commands.map(|command| format!("  {}", look.command(&command))));
    }
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
    MissingEvidence::from_report(report).map(|missing| match &missing.command {
        Some(command) => format!("{} {command}", missing.words()),
        None => missing.words(),
    })
}

/// Evidence that was not provided.
struct MissingEvidence {
    /// The number of checks.
    checks: usize,
    /// The options that provide it; may be empty.
    options: String,
    /// The words before the command, if they name another way.
    way: Option<&'static str>,
    /// The command that provides it.
    command: Option<String>,
    /// Whether that command is `collect`, which reads all other evidence of the cluster too.
    is_collected: bool,
    /// Whether only a cluster provides it, for manifests.
    needs_cluster: bool,
}

impl MissingEvidence {
    fn from_report(report: &Report) -> Option<MissingEvidence> {
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
        let none = MissingEvidence {
            checks: checks.len(),
            options: String::new(),
            way: None,
            command: None,
            is_collected: false,
            needs_cluster: false,
        };
        // Manifests are checked without logs or nodes; only a cluster has them.
        if report.origin.kind == "manifests" {
            return Some(MissingEvidence { needs_cluster: true, ..none });
        }
        let is_live = report.origin.kind == "live";
        let again = only_again(report, &ways);
        if is_live && again.is_some() {
            return Some(MissingEvidence { way: Some("use"), command: again, ..none });
        }
        let is_collected = ways.remove(&EvidenceSource::Collect);
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
        let (way, command) = match (is_collected, again) {
            (true, _) => (Some("use"), Some(from_cluster.to_string())),
            (false, Some(again)) => (Some("check the cluster"), Some(again)),
            (false, None) => (None, None),
        };
        Some(MissingEvidence { options, way, command, is_collected, ..none })
    }

    /// `11 checks lack evidence: add --nodes`.
    fn words(&self) -> String {
        if self.needs_cluster {
            let checks = count(self.checks, "check needs", "checks need");
            return format!("{checks} a cluster: {}, live or with --bundle FILE", own("check --with PATH"));
        }
        format!("{} evidence: {}", count(self.checks, "check lacks", "checks lack"), self.ways(self.way))
    }

    /// The same below the requested evidence that is missing, which `collect` provides too.
    fn words_below_others(&self) -> String {
        if self.needs_cluster {
            return self.words();
        }
        let way = if self.is_collected { Some("collect it and check the bundle") } else { self.way };
        format!("other evidence ({}): {}", count(self.checks, "check", "checks"), self.ways(way))
    }

    fn ways(&self, way: Option<&str>) -> String {
        let options = Some(self.options.as_str()).filter(|options| !options.is_empty());
        options.into_iter().chain(way).collect::<Vec<_>>().join(", or ")
    }
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
