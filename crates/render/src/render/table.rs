//! The human-readable report: that everything is healthy, or the numbered steps of the repair; causes in that
//! order, with the findings that they explain folded under them, quoted evidence and steps to paste; then the
//! checks that did not run, and the result.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Form, Printer, explained_as};
use super::look::Look;
use super::repair::Extent;
use super::text::{BOUND, clean, count, shortened, width, wrap};
use super::{change, coverage, header, headline, rehearsal, repair, subject, unchecked};
use crate::cause::FindingLinks;
use crate::check_outcome::CheckOutcome;
use crate::checks::{CheckResult, Outcome};
use crate::command::{Arg, Command, meshdoctor};
use crate::exit;
use crate::finding::{Finding, Severity, Standing, When};
use crate::report::{ConfigUse, Report};

/// The result of a single check, as cards quote it.
pub fn result(result: &CheckResult, width: usize) -> String {
    let look = Look::plain(width);
    let printer = Printer::new(look, Form::Card);
    let findings: Vec<String> = result.findings.iter().map(|finding| printer.finding(finding, &[])).collect();
    let mut text = findings.join("\n");
    let mut say = |indent: &str, words: &str| {
        for (at, line) in wrap(&clean(words), look.prose() - 4).iter().enumerate() {
            text.push_str(if at == 0 { indent } else { "    " });
            text.push_str(line);
            text.push('\n');
        }
    };
    match &result.outcome {
        Outcome::Pass => say("", "pass"),
        Outcome::NotApplicable(reason) => say("", &format!("not applicable: {reason}")),
        Outcome::Crashed(message) => say("", &format!("crashed: {message}")),
        Outcome::Findings | Outcome::Unknown => {}
    }
    for gap in &result.gaps {
        say("", &format!("not checked: {gap}"));
        say("  ", &format!("to check this: {}", gap.close()));
    }
    text
}

/// The whole report.
pub fn report(report: &Report, look: Look) -> String {
    let findings = Findings { report, look, printer: Printer::new(look, Form::of_report(report)) };
    let folding = Folding::from_findings(&report.findings);
    let mut roots: Vec<(usize, &Finding)> =
        report.findings.iter().enumerate().filter(|(at, _)| folding.is_root(*at)).collect();
    let explained = |at| folding.explained_by(at, &report.findings);
    let mut blocks = vec![header::lines(report, look)];
    if let Some(it) = &report.change {
        blocks.push(header::versions_lines(report, look));
        blocks.push(headline::lines(report, look));
        blocks.extend(change::blocks(it, report, &roots, explained, &findings.printer, look));
        return ended(blocks, report, look);
    }
    let extent = if look.verbose { Extent::Full } else { Extent::Short };
    let plan = repair::plan(report, extent, look);
    // Findings without a part in the plan come last.
    roots.sort_by_key(|(at, _)| !report.repair.findings.contains_key(at));
    let (later, today): (Vec<_>, Vec<_>) =
        roots.into_iter().partition(|(_, finding)| finding.when == When::AfterUpgrade);
    match &report.rehearsal {
        Some(rehearsal) => {
            blocks.push(rehearsal::lines(report, rehearsal, look));
            let is_repaired_first = !plan.is_empty();
            let mut now = headline::lines(report, look);
            now.extend(plan);
            let mut now = vec![now];
            now.extend(findings.blocks(&today, &folding));
            let mut then = findings.blocks(&later, &folding);
            if then.iter().any(|lines| !lines.is_empty()) {
                let change = rehearsal::change(report, rehearsal);
                titled(&mut now, &format!("TODAY, before the {change}"), look);
                titled(&mut then, &format!("WITH THE {}", change.to_uppercase()), look);
            }
            // What must be repaired before the upgrade comes first, like its steps.
            let (first, second) = if is_repaired_first { (now, then) } else { (then, now) };
            blocks.extend(first);
            blocks.extend(second);
        }
        None => {
            let mut first = headline::lines(report, look);
            first.extend(plan);
            blocks.push(first);
            blocks.extend(findings.blocks(&today, &folding));
        }
    }
    // The versions are long, and the plan is needed first.
    if !findings.name_versions() {
        blocks.push(header::versions_lines(report, look));
    }
    ended(blocks, report, look)
}

/// Adds a heading to the first block that is not empty.
fn titled(blocks: &mut [Vec<String>], title: &str, look: Look) {
    if let Some(first) = blocks.iter_mut().find(|lines| !lines.is_empty()) {
        first.insert(0, look.strong(title));
    }
}

/// Prints the findings of a report that are not folded under others.
struct Findings<'a> {
    report: &'a Report,
    look: Look,
    printer: Printer,
}

impl Findings<'_> {
    /// The blocks of some findings. The short plan has all that is printed of its findings.
    fn blocks(&self, findings: &[(usize, &Finding)], folding: &Folding) -> Vec<Vec<String>> {
        let (report, look) = (self.report, self.look);
        let mut blocks: Vec<Vec<String>> = Vec::new();
        let (mut infos, mut set_aside) = (Vec::new(), Vec::new());
        let mut verify = Vec::new();
        for &(at, finding) in findings {
            let explained = folding.explained_by(at, &report.findings);
            let planned = report.repair.findings.get(&at);
            // Infos are short, so they are grouped.
            if finding.severity == Severity::Info && explained.is_empty() && !look.verbose {
                infos.push(finding);
            } else if matches!(finding.standing, Standing::InBaseline | Standing::Waived(_)) && !look.verbose {
                set_aside.extend(self.printer.set_aside(finding));
            } else if planned.is_none() && !look.verbose && finding.when == When::AfterUpgrade {
                let printer = self.printer.of_upgrade();
                verify.extend(finding.remedy.verify.clone());
                blocks.push(vec![printer.planned(finding, &explained, planned).trim_end().to_owned()]);
            } else if planned.is_none() || look.verbose {
                blocks.push(vec![self.printer.planned(finding, &explained, planned).trim_end().to_owned()]);
            }
            if look.verbose {
                let folded = folding.counted_under(at).map(|at| &report.findings[at]);
                let cause = explained_as(finding);
                let symptom = |one| vec![self.printer.symptom(one, &cause).trim_end().to_owned()];
                blocks.extend(folded.map(symptom));
            }
        }
        let verify = repair::verify_lines(&verify).concat();
        let verify = verify.iter().map(|line| look.command(line)).collect();
        blocks.push(self.printer.labelled("verify", verify));
        blocks.push(set_aside);
        // If a repair is needed, the number of infos in the result suffices, unless an upgrade is rehearsed.
        if report.repair.findings.is_empty() || report.rehearsal.is_some() {
            blocks.push(self.infos(&infos));
        }
        blocks
    }

    fn infos(&self, infos: &[&Finding]) -> Vec<String> {
        let column = infos.iter().map(|info| info.check.len()).max().unwrap_or_default();
        infos.iter().map(|info| self.printer.info(info, column).trim_end().to_owned()).collect()
    }

    /// Whether a finding of the plan is about versions, so that its text names them.
    fn name_versions(&self) -> bool {
        let planned: BTreeSet<&str> =
            self.report.repair.findings.keys().map(|&at| self.report.findings[at].check).collect();
        let is_about_versions = |check: &CheckOutcome| check.category == "versions" && planned.contains(check.id);
        !self.look.verbose && self.report.checks.iter().any(is_about_versions)
    }
}

/// Number of rows of the smallest common terminal.
const SCREEN: usize = 24;

/// The report, with the checks that did not run and the result.
fn ended(mut blocks: Vec<Vec<String>>, report: &Report, look: Look) -> String {
    let unchecked = match look.coverage {
        true => coverage::lines(report, look),
        false => unchecked::lines(report, look),
    };
    let more = more(report, &unchecked, look);
    let mut end = unchecked;
    for error in &report.errors {
        end.extend(footer("trouble", &clean(error), look));
    }
    end.extend(result_lines(report, look));
    end.extend(more);
    blocks.push(end);
    // While the first step is still visible, it is not repeated.
    if report.change.is_none() && rows_after_first_step(&blocks, look) >= SCREEN {
        let next = repair::next(report, look);
        blocks.last_mut().into_iter().for_each(|end| end.extend(next.iter().cloned()));
    }
    let blocks: Vec<String> =
        blocks.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n") + "\n").collect();
    blocks.join("\n")
}

/// Whether infos are not printed, because a repair comes first.
fn hides_infos(report: &Report, look: Look) -> bool {
    let is_printed = look.verbose || report.rehearsal.is_some() || report.repair.findings.is_empty();
    !is_printed && report.change.is_none() && report.verdict.roots.info > 0
}

/// The number of rows of the terminal from the first step of the plan to the end, blank lines included.
fn rows_after_first_step(blocks: &[Vec<String>], look: Look) -> usize {
    let lines = blocks
        .iter()
        .filter(|lines| !lines.is_empty())
        .flat_map(|lines| lines.iter().flat_map(|text| text.lines()).chain([""]));
    let from_step = lines.skip_while(|line| !line.trim_start().starts_with("1. "));
    from_step.map(|line| width(line).div_ceil(look.columns()).max(1)).sum()
}

/// Commands and flags for further information.
fn more(report: &Report, unchecked: &[String], look: Look) -> Vec<String> {
    let first = report.findings.first().filter(|finding| finding.severity > Severity::Info);
    // Problems of waivers have no card.
    let first = first.filter(|first| crate::checks::find(first.check).is_some());
    let command = first.map(explain);
    let has_more = !unchecked.is_empty() && !look.coverage;
    let is_named = unchecked.iter().any(|line| line.contains("--coverage"));
    let names_infos = hides_infos(report, look);
    let names_coverage = || result_lines(report, look).iter().any(|line| line.contains("--coverage"));
    let flags = match (has_more, &command) {
        (true, _) if look.verbose && !is_named => Some("--coverage adds what was not checked"),
        _ if look.verbose => None,
        // The row of the result names both.
        (true, Some(_)) if names_infos && names_coverage() => None,
        (false, Some(_)) if names_infos => None,
        (true, Some(_)) if !is_named => Some("-v adds infos and all evidence, --coverage what was not checked"),
        (true, None) => Some("--coverage lists the reasons, and what each check needs"),
        (_, Some(_)) => Some("-v adds infos and all evidence"),
        (false, None) => None,
    };
    let has_steps = |finding: &Finding| finding.severity == Severity::Info && !finding.remedy.steps.is_empty();
    let infos = (command.is_none() && !look.verbose && report.findings.iter().any(has_steps))
        .then(|| "-v adds the steps of infos".to_owned());
    let is_accepted = report.verdict.crashed == 0
        && report.coverage.set_aside.is_empty()
        && headline::nothing_checked(report).is_none();
    let accept = (report.verdict.status == exit::NOT_CHECKED && is_accepted)
        .then(|| "--on-not-checked pass accepts missing evidence".to_owned());
    let only_warns = report.verdict.status == exit::FINE && report.verdict.gate == "error";
    let warns = only_warns && report.origin.kind == "manifests" && report.verdict.roots.warning > 0;
    let fail = warns.then(|| "--fail-on warning fails the run".to_owned());
    let is_file = report.origin.kind == "manifests" && !report.origin.name.starts_with('-');
    let is_edited = is_file && !report.repair.steps.is_empty();
    let edits = is_edited.then(|| {
        let path = report.origin.name.split(", ").next().unwrap_or_default();
        let fix = Command::from(meshdoctor().words("fix").option("--manifests", Arg::path(path)));
        format!("{fix} shows the edits as a diff")
    });
    let entries = command.iter().cloned().chain(flags.map(str::to_owned));
    let entries = entries.chain([infos, accept, fail, edits].into_iter().flatten());
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(&entry) <= look.columns() - 10 => {
                line.push_str("   ");
                line.push_str(&entry);
            }
            _ => lines.push(entry),
        }
    }
    if let (Some(first), Some(command)) = (lines.first_mut(), &command) {
        *first = first.replacen(command, &look.command(command), 1);
    }
    let label = |at: usize| look.faint(&super::text::pad(if at == 0 { "more" } else { "" }, 10));
    lines.iter().enumerate().map(|(at, line)| format!("{}{line}", label(at))).collect()
}

/// The command that explains a finding: its check, for a custom one with its folder, or its known defect.
fn explain(finding: &Finding) -> String {
    let check = finding.check;
    let call = meshdoctor().words("explain");
    let call = match explained_as(finding) {
        name if name == check => call.arg(Arg::known(check)),
        name => call.arg(name),
    };
    let from = crate::checks::find(check).and_then(crate::checks::Check::brought_from);
    let call = match from {
        Some(from) => call.option("--checks", Arg::path(from)),
        None => call,
    };
    Command::from(call).to_string()
}

fn footer(label: &str, text: &str, look: Look) -> Vec<String> {
    wrap(text, look.prose() - 10)
        .into_iter()
        .enumerate()
        .map(|(at, line)| {
            let label = super::text::pad(if at == 0 { label } else { "" }, 10);
            format!("{}{line}", look.faint(&label))
        })
        .collect()
}

/// The findings that are printed separately, and those folded under them.
pub(super) struct Folding {
    /// For each finding, its root causes; empty for roots.
    roots: Vec<Vec<usize>>,
    /// For each finding, those to repair before it.
    earlier: Vec<Vec<usize>>,
}

impl Folding {
    pub(super) fn from_findings(findings: &[Finding]) -> Folding {
        let FindingLinks { roots, earlier } = FindingLinks::from_findings(findings);
        Folding { roots, earlier }
    }

    /// The findings to repair before it.
    pub(super) fn earlier(&self, at: usize) -> &[usize] {
        &self.earlier[at]
    }

    /// Its root causes; empty for a root.
    pub(super) fn roots(&self, at: usize) -> &[usize] {
        &self.roots[at]
    }

    /// Whether it is printed in full.
    pub(super) fn is_root(&self, at: usize) -> bool {
        self.roots[at].is_empty()
    }

    /// The findings folded under a root and under no earlier one.
    fn counted_under(&self, root: usize) -> impl Iterator<Item = usize> {
        self.roots.iter().enumerate().filter(move |(_, roots)| roots.first() == Some(&root)).map(|(at, _)| at)
    }

    /// The checks of the findings folded under a root.
    pub(super) fn symptoms_of(&self, root: usize, findings: &[Finding]) -> Vec<String> {
        let folded = findings.iter().zip(&self.roots).filter(|(_, roots)| roots.contains(&root));
        let checks: BTreeSet<String> = folded.map(|(finding, _)| explained_as(finding)).collect();
        checks.into_iter().collect()
    }

    /// The findings folded under a root, grouped by check. A symptom of several roots is counted under the
    /// first of them and only mentioned under the others.
    pub(super) fn explained_by(&self, root: usize, findings: &[Finding]) -> Vec<String> {
        let mut counted: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
        let mut mentioned: BTreeMap<String, String> = BTreeMap::new();
        for (finding, roots) in findings.iter().zip(&self.roots) {
            match roots.first() {
                Some(&first) if first == root => {
                    counted.entry(explained_as(finding)).or_default().push(finding);
                }
                Some(&first) if roots.contains(&root) => {
                    _ = mentioned.insert(explained_as(finding), explained_as(&findings[first]))
                }
                _ => {}
            }
        }
        let counted = counted.iter().map(|(check, symptoms)| {
            format!("{check} ({})", subject::brief(symptoms.iter().flat_map(|s| &s.subjects)))
        });
        let mentioned = mentioned.iter().map(|(check, first)| format!("{check} (counted under {first})"));
        counted.chain(mentioned).collect()
    }
}

/// `exit 1: 1 error, 1 warning; 41 checks passed, 6 not applicable, 2 not checked`.
pub fn result_line(report: &Report) -> String {
    let (words, command) = result_and_command(report);
    words + &command.map(|command| format!(" {command}")).unwrap_or_default()
}

/// The same without the command at its end, which provides the missing evidence, and the command.
pub fn result_and_command(report: &Report) -> (String, Option<String>) {
    let result = result_with(report, "", true);
    match report.verdict.status {
        exit::NOT_CHECKED => {
            let (why, command) = undecided(report);
            (format!("{result}. {why}"), command)
        }
        _ => (result, None),
    }
}

/// `1 error, 1 warning; 41 checks passed, 6 not applicable, 2 not checked`. Without `in_full`, checks that do not apply
/// are not counted.
pub fn counts_line(report: &Report, in_full: bool) -> String {
    let verdict = &report.verdict;
    let roots = [
        (verdict.roots.error, Severity::Error, "errors"),
        (verdict.roots.warning, Severity::Warning, "warnings"),
        (verdict.roots.info, Severity::Info, "infos"),
    ];
    let found: Vec<String> =
        roots.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(*n, one.label(), many)).collect();
    let found = if found.is_empty() { "no findings".to_owned() } else { found.join(", ") };
    let mut found = vec![found];
    if verdict.waived > 0 {
        found.push(format!("{} waived", verdict.waived));
    }
    if verdict.waived_in_part > 0 {
        found.push(format!("{} waived in part", verdict.waived_in_part));
    }
    if verdict.in_baseline > 0 {
        found.push(format!("{} in the baseline", verdict.in_baseline));
    }
    if verdict.inferred > 0 {
        found.push(format!("{} inferred and left out", verdict.inferred));
    }
    let found = found.join(", ");
    let ran_one = report.checks.len() == 1;
    let mut checks = match verdict.passed {
        0 if ran_one => Vec::new(),
        passed => vec![format!("{} passed", count(passed, "check", "checks"))],
    };
    for (n, words) in
        [(verdict.not_applicable, "not applicable"), (verdict.not_judged, "not checked"), (verdict.crashed, "crashed")]
    {
        if n > 0 && (in_full || words != "not applicable") {
            checks.push(format!("{n} {words}"));
        }
    }
    let counted: Vec<String> = [found, checks.join(", ")].into_iter().filter(|words| !words.is_empty()).collect();
    counted.join("; ")
}

/// The counts with the exit status. `why` follows one that missing evidence decides.
fn result_with(report: &Report, why: &str, in_full: bool) -> String {
    let verdict = &report.verdict;
    let why = match verdict.status {
        exit::FINE | exit::FINDINGS if verdict.gate != "error" => format!(" (--fail-on {})", verdict.gate),
        exit::NOT_CHECKED => why.to_owned(),
        exit::COULD_NOT_RUN => " (nothing could be checked)".to_owned(),
        _ => String::new(),
    };
    let by = report.run.config.as_ref().map(ConfigUse::of_gate).unwrap_or_default();
    format!("exit {}{why}{}: {}", verdict.status, clean(&by), counts_line(report, in_full))
}

/// Maximum width of a "not checked" entry that is repeated at the end, in columns.
const SAID_TWICE: usize = 180;

/// Why a run without a failing finding is not successful, as sentences: the first gap, the number of others, and the
/// remedy of the first; its command is separate.
fn undecided(report: &Report) -> (String, Option<String>) {
    let crashed = report.checks.iter().filter(|check| matches!(check.outcome, Outcome::Crashed(_)));
    let crashed = crashed.map(|check| (format!("{} crashed", check.id), None));
    let missing = coverage::deciding(report).into_iter().map(|missing| {
        let way = missing.ways.into_iter().next().map(|(words, commands)| {
            let command = commands.into_iter().next();
            (clean(command.as_ref().unwrap_or(&words)).into_owned(), command.is_some())
        });
        // Longer entries are printed in full above; here they would hide the status.
        match way.filter(|(way, _)| width(&missing.what) + width(way) <= SAID_TWICE) {
            Some(way) => (missing.what, Some(way)),
            None => (missing.brief, None),
        }
    });
    let mut reasons = missing.chain(crashed);
    let (first, way) = reasons.next().unwrap_or_else(|| {
        if let Some(first) = report.coverage.set_aside.first().filter(|_| report.coverage.objects > 0) {
            return (shortened(&clean(first), SAID_TWICE).into_owned(), None);
        }
        let nothing = report.coverage.objects == 0 && !report.coverage.set_aside.is_empty();
        let words = if nothing { "no object can be judged as it is" } else { "a check could not be made" };
        (words.to_owned(), None)
    });
    let first = opened(&first);
    let first = match (reasons.count(), &way) {
        (0, Some(_)) => first,
        (0, None) => format!("{first}; --coverage lists the reasons"),
        (more, _) => format!("{first}; and {more} more (--coverage)"),
    };
    match way {
        Some((command, true)) => (format!("{first}. To check this:"), Some(command)),
        Some((words, false)) => (format!("{first}. To check this, {words}"), None),
        None => (first, None),
    }
}

/// A sentence with a capital letter, unless it begins with the name of a file, a check or a resource.
fn opened(sentence: &str) -> String {
    let word = sentence.split(' ').next().unwrap_or_default();
    let is_word = sentence.contains(' ') && word.bytes().all(|byte| byte.is_ascii_lowercase());
    match is_word {
        true => format!("{}{}", sentence[..1].to_ascii_uppercase(), &sentence[1..]),
        false => sentence.to_owned(),
    }
}

/// The same, labelled, with the status in color.
fn result_lines(report: &Report, look: Look) -> Vec<String> {
    let status = report.verdict.status;
    let words = format!("exit {status}");
    let painted = if status == exit::FINE { look.good(&words) } else { look.bad(&words) };
    // The reason is in the lines above.
    let why = if report.verdict.crashed == 0 { " (not fully checked)" } else { "" };
    let text = result_with(report, why, look.verbose);
    let text = match unchecked::is_brief(report, look) {
        true => text.replace(" not checked", " not checked (--coverage)").replace(" checks passed", " passed"),
        false => text,
    };
    let infos = count(report.verdict.roots.info, "info", "infos");
    let text = if hides_infos(report, look) { text.replacen(&infos, &format!("{infos} (-v)"), 1) } else { text };
    // Keeps the number on the line of its word.
    let lines = footer("result", &text.replace(&words, &words.replace(' ', BOUND)), look);
    let mut lines: Vec<String> = lines.iter().map(|line| line.replace(BOUND, " ")).collect();
    if let Some(last) = lines.iter_mut().rfind(|line| line.contains(&words)) {
        *last = last.replacen(&words, &painted, 1);
    }
    lines
}
