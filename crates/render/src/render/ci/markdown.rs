//! The report as Markdown, for a comment on a pull request, a job's summary or a wiki: the result, the repair
//! plan, a table of the findings, each cause in a collapsible section, and what was not checked. Its length
//! is limited. Text of a cluster is never interpreted as Markdown or HTML.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::coverage::{self, Deciding};
use super::super::document::Failure;
use super::super::finding::explained_as;
use super::super::look::Look;
use super::super::repair::{self, Order, PlanRow};
use super::super::table::{Folding, result_and_command};
use super::super::text::{clean, count, fenced, shortened, some_of, thousands};
use super::super::{header, steps, subject};
use super::limited::{TextPart, join};
use super::unchecked::{NAMED, Unchecked, checks};
use super::{earlier, evidence, meaning, remedy};
use crate::checks::Outcome;
use crate::command::Command;
use crate::exit;
use crate::finding::{Finding, NodeRound, Severity, When};
use crate::page;
use crate::report::{Gap, PlannedFinding, Report};

/// Width of fenced text.
const WIDTH: usize = 100;

/// Maximum number of subjects, commands and pieces of evidence shown.
const SUBJECTS: usize = 10;

/// Maximum number of commands of a step shown in full.
const COMMANDS: usize = 20;

/// Maximum number of lines for the steps of a finding that needs no repair.
const REMEDY: usize = 40;

/// Length in characters above which a quotation is truncated in the middle.
const QUOTATION: usize = 600;

/// A report. GitHub takes comments of 65,536 characters at most.
pub fn report(report: &Report) -> String {
    const MOST: usize = 60_000;
    let roots = &report.verdict.roots;
    let counts = [(roots.error, "error", "errors"), (roots.warning, "warning", "warnings")];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, one, several)| count(number, one, several))
        .collect();
    let found = if counts.is_empty() { "failed".to_owned() } else { counts.join(", ") };
    let verdict = match report.verdict.status {
        exit::FINE => "passed",
        exit::FINDINGS => &found,
        exit::COULD_NOT_RUN => "could not run",
        _ if report.verdict.findings.warning > 0 => "warnings, not fully checked",
        _ => "not fully checked",
    };
    let (result, command) = result_and_command(report);
    let command = command.map(|command| format!(" {}", code(&command))).unwrap_or_default();
    let origin = &report.origin;
    let name = header::cluster_name(&origin.kind, &origin.name, report.cluster_uid.as_deref());
    let mut text = format!("# meshdoctor: {verdict} ({})\n\n{}{command}\n\n", plain(&name), plain(&result));
    text.push_str(&fenced(&header::in_full(report, Look::plain(WIDTH)), ""));
    let mut parts = vec![TextPart::first(text)];
    plan(&mut parts, report);
    let folding = Folding::from_findings(&report.findings);
    let roots: Vec<(usize, &Finding)> =
        report.findings.iter().enumerate().filter(|(at, _)| folding.is_root(*at)).collect();
    if !roots.is_empty() {
        parts.push(TextPart::first("\n## Findings\n".to_owned()));
    }
    for (at, finding) in &roots {
        let mut text = String::new();
        let planned = steps::of_finding(report, *at);
        unfolded(
            &mut text,
            finding,
            &folding.explained_by(*at, &report.findings),
            &planned,
            &earlier(report, &folding, *at),
        );
        let rank = match finding.severity {
            Severity::Error => 4,
            Severity::Warning => 5,
            Severity::Info => 6,
        };
        parts.push(TextPart { text, rank, name: format!("details of {}", finding.check) });
    }
    traffic(&mut parts, report);
    unchecked(&mut parts, report);
    join(parts, MOST)
}

/// Number of workloads whose numbers are shown.
const WORKLOADS: usize = 50;

/// The numbers of proxies, before a change and now.
fn traffic(parts: &mut Vec<TextPart>, report: &Report) {
    let Some(before) = &report.before else { return };
    let pairs = before.workloads.iter().filter_map(|then| {
        let now = report.traffic.iter().find(|now| now.is_same_workload(then))?;
        Some((then, now))
    });
    let mut text = "\n<details>\n<summary>numbers of proxies, before and now</summary>\n\n".to_owned();
    text.push_str("| workload | before | now |\n|---|---|---|\n");
    for (then, now) in pairs.take(WORKLOADS) {
        let name = format!("{} {}/{}", now.kind, now.namespace, now.name);
        let (then, now) = (then.to_string(), now.to_string());
        _ = writeln!(text, "| {} | {} | {} |", plain(&name), plain(&then), plain(&now));
    }
    text.push_str("\n</details>\n");
    parts.push(TextPart { text, rank: 7, name: "numbers of proxies".to_owned() });
}

/// The repair plan, in the order of the table: each finding and its steps, numbered throughout.
fn plan(parts: &mut Vec<TextPart>, report: &Report) {
    let plan = &report.repair;
    if plan.steps.is_empty() || report.change.is_some() {
        return;
    }
    parts.push(TextPart::first("\n## Repair plan\n".to_owned()));
    let rounds = plan.node_rounds();
    let order = Order::from_plan(plan);
    for row in order.rows(plan) {
        let (text, name) = match row {
            PlanRow::Findings(numbers) => {
                let own = plan.findings.iter().filter(|(_, planned)| numbers.contains(&planned.number));
                let mut text = String::new();
                own.for_each(|(&at, planned)| {
                    planned_heading(&mut text, report, &order, (&report.findings[at], planned));
                });
                (text, "a finding of the plan".to_owned())
            }
            PlanRow::Step { number, repairs } => (step(report, number, repairs, &rounds), format!("step {number}")),
        };
        parts.push(TextPart { text, rank: 2, name });
    }
    let verify = repair::verify_lines(&plan.verify).concat();
    if !verify.is_empty() {
        let text = format!("\nVerify:\n\n{}", fenced(&some_lines(&verify, COMMANDS), "sh"));
        parts.push(TextPart { text, rank: 2, name: "the commands that verify".to_owned() });
    }
}

/// A step of the plan; `repairs` if it repairs others than the finding above it.
fn step(report: &Report, number: usize, repairs: Option<&BTreeSet<usize>>, rounds: &[NodeRound<'_>]) -> String {
    let plan = &report.repair;
    let step = &plan.steps[number - 1].step;
    let nodes = repair::elsewhere(step, number, rounds, SUBJECTS);
    let repairs = repairs.filter(|_| plan.findings.len() > 1);
    let repairs = repairs.map_or_else(String::new, |numbers| format!(" (for {})", repair::numbered(report, numbers)));
    let words = steps::in_plan(plan, number, &step.text);
    let mut text = format!("\n{number}. {}{}{}\n", plain(&words), plain(&nodes), plain(&repairs));
    let commands: Vec<String> = step.command.iter().flat_map(Command::rendered).collect();
    if !commands.is_empty() {
        let indent = " ".repeat(number.to_string().len() + 2);
        let block = fenced(&some_lines(&commands, COMMANDS), "sh");
        block.lines().for_each(|line| _ = writeln!(text, "{indent}{line}"));
    }
    text
}

/// The heading of a finding above its steps.
fn planned_heading(text: &mut String, report: &Report, order: &Order, (finding, planned): (&Finding, &PlannedFinding)) {
    let number = match report.repair.findings.len() {
        1 => String::new(),
        _ => format!(" {}", planned.number),
    };
    let after = order.note(report, planned);
    _ = writeln!(
        text,
        "\n**{}{number}: {}**, {}{}\n\n{}",
        finding.severity,
        linked(finding),
        plain(&subject::brief(finding.subjects.iter())),
        plain(&after),
        plain(&finding.message)
    );
}

/// Lines, or if there are many commands the first ten and their number.
fn some_lines(lines: &[String], most: usize) -> Vec<String> {
    let lines: Vec<String> = lines.iter().map(|line| clean(line).into_owned()).collect();
    if lines.len() <= most || !steps::are_commands(&lines) {
        return lines;
    }
    let more = format!("# and {} more (-o html and -o json have all)", thousands(lines.len() - SUBJECTS));
    lines[..SUBJECTS].iter().cloned().chain([more]).collect()
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let mut text = String::from("# meshdoctor: no report was produced\n\n");
    for error in &failure.errors {
        _ = writeln!(text, "- {}", plain(error));
    }
    _ = writeln!(text, "\nexit {}: {}", failure.status, plain(meaning(failure.status)));
    text
}

/// Why a finding does not fail the run.
fn standing(finding: &Finding) -> String {
    let words = super::super::finding::standing(finding);
    let in_part = super::super::finding::waived_in_part(finding);
    match (finding.is_waived(), words.is_empty()) {
        (_, true) if !in_part.is_empty() => format!(" (waived for {})", in_part.join("; ")),
        (_, true) => String::new(),
        (true, false) => format!(" (waived {})", words.join("; ")),
        (false, false) => " (in the baseline)".to_owned(),
    }
}

/// The check of a finding, linked to its page if it has one.
fn linked(finding: &Finding) -> String {
    let name = explained_as(finding);
    page::page_url(finding.check).map_or_else(|| plain(&name), |url| format!("[{name}]({url})"))
}

fn world(when: When) -> &'static str {
    match when {
        When::Now => "",
        When::UntilUpgrade => " (ends with the upgrade)",
        When::AfterUpgrade => " (with the upgrade)",
        When::UntilChange => " (fixed by the change)",
        When::AfterChange => " (introduced by the change)",
    }
}

/// An error is expanded, so that the required work is visible. `planned`: its steps in the repair plan; `earlier`: the
/// checks of the findings to repair before it.
fn unfolded(text: &mut String, finding: &Finding, explains: &[String], planned: &[usize], earlier: &[String]) {
    let open = if finding.severity == Severity::Error { " open" } else { "" };
    let about = plain(&subject::brief(finding.subjects.iter()));
    _ = writeln!(
        text,
        "\n<details{open}>\n<summary>{}: {}, {about}</summary>\n",
        finding.severity,
        plain(&explained_as(finding))
    );
    // The repair plan has the message of each of its findings.
    let message = if planned.is_empty() { finding.message.as_str() } else { "" };
    let words = format!("{message}{}{}", world(finding.when), standing(finding));
    if !words.is_empty() {
        _ = writeln!(text, "{}: {}\n", linked(finding), plain(words.trim_start()));
    }
    let subjects: Vec<String> = subject::groups(&finding.subjects)
        .into_iter()
        .map(|group| match group.heading.is_empty() {
            true => some_of(&group.names, SUBJECTS),
            false => format!("{}: {}", group.heading, some_of(&group.names, SUBJECTS)),
        })
        .collect();
    text.push_str(&fenced(&subjects, ""));
    for written in finding.written.iter().take(SUBJECTS) {
        _ = writeln!(text, "\n{}", plain(&format!("at {}:{}:{}", written.file, written.line, written.column)));
    }
    if finding.written.len() > SUBJECTS {
        _ = writeln!(text, "\nand {} more places", thousands(finding.written.len() - SUBJECTS));
    }
    text.push_str("\nEvidence:\n\n");
    let shown = finding.evidence.iter().take(SUBJECTS);
    let mut seen: Vec<String> = shown.map(|one| shortened(&evidence(one), QUOTATION).into_owned()).collect();
    if finding.evidence.len() > SUBJECTS {
        seen.push(format!("and {} more", thousands(finding.evidence.len() - SUBJECTS)));
    }
    text.push_str(&fenced(&seen, "text"));
    if !explains.is_empty() {
        _ = writeln!(text, "\nSymptoms, repaired with it: {}", plain(&some_of(explains, SUBJECTS)));
    }
    let own = remedy(finding, &[], earlier);
    if !planned.is_empty() {
        _ = writeln!(text, "\nWhat to do: {} of the repair plan", steps::describe(planned));
    } else if !own.is_empty() {
        let more = own.len().saturating_sub(REMEDY);
        let more = (more > 0).then(|| format!("and {} more (-o json has all)", count(more, "line", "lines")));
        let own: Vec<String> = own.into_iter().take(REMEDY).chain(more).collect();
        _ = write!(text, "\nWhat to do:\n\n{}", fenced(&own, "text"));
    }
    text.push_str("\n</details>\n");
}

fn unchecked(parts: &mut Vec<TextPart>, report: &Report) {
    let crashed = report.checks.iter().filter_map(|check| match &check.outcome {
        Outcome::Crashed(message) => Some(format!("{} crashed, a bug in meshdoctor: {message}", check.id)),
        Outcome::Pass | Outcome::Findings | Outcome::NotApplicable(_) | Outcome::Unknown => None,
    });
    let crashed: Vec<String> = crashed.chain(report.errors.iter().cloned()).collect();
    if report.coverage.gaps.is_empty() && crashed.is_empty() {
        return;
    }
    let unchecked = Unchecked::from_report(report);
    let deciding = coverage::deciding(report).into_iter().filter(|missing| !missing.is_unreadable);
    let requested = deciding.filter(|_| !unchecked.failing.is_empty()).map(|missing| requested(&missing));
    let unreadable = unchecked.unreadable.iter().map(|(why, gaps)| {
        let why = plain(&format!("{why}; to check this: {}", gaps[0].close));
        format!("**requested**, {}: {why}", some_of(&checks(gaps), NAMED))
    });
    let lines: Vec<String> = crashed.iter().map(|line| plain(line)).chain(requested).chain(unreadable).collect();
    let gap = if lines.is_empty() { "" } else { "\n" };
    parts.push(TextPart::first(format!("\n## Not checked\n{gap}")));
    for line in lines {
        let name = format!("not checked: {}", shortened(&line, 60));
        parts.push(TextPart { text: format!("- {line}\n"), rank: 1, name });
    }
    if !unchecked.accepted.is_empty() {
        let n = count(unchecked.accepted.len(), "piece of evidence", "pieces of evidence");
        let mut text = format!("\n<details>\n<summary>{n} not provided</summary>\n\n");
        for line in accepted(&unchecked.accepted) {
            _ = writeln!(text, "- {}", plain(&line));
        }
        text.push_str("\n</details>\n");
        parts.push(TextPart { text, rank: 7, name: "evidence that was not provided".to_owned() });
    }
}

/// Requested evidence that is missing for one reason, and how to provide it.
fn requested(missing: &Deciding<'_>) -> String {
    let checks = &missing.checks;
    let mut text = format!(
        "**requested**: {} ({}: {})",
        plain(&missing.what),
        count(checks.len(), "check", "checks"),
        some_of(checks, NAMED)
    );
    for (words, commands) in &missing.ways {
        _ = write!(text, "\n  - {}", plain(words));
        if !commands.is_empty() {
            let block = fenced(&some_lines(commands, COMMANDS), "sh");
            block.lines().for_each(|line| _ = write!(text, "\n    {line}"));
        }
    }
    text
}

/// Evidence that was not provided, with one line for each way to provide it.
fn accepted(gaps: &[&Gap]) -> Vec<String> {
    let mut alike: BTreeMap<(String, String), Vec<&Gap>> = BTreeMap::new();
    for gap in gaps {
        alike.entry((gap.missing.why.to_string(), gap.close.to_string())).or_default().push(gap);
    }
    let line = |((why, close), gaps): ((String, String), Vec<&Gap>)| {
        let request = |gap: &&Gap| {
            let request = &gap.missing.request;
            let asked = request.item.query().filter(|asked| !asked.is_one_of_many());
            asked.map_or_else(|| request.to_string(), |asked| asked.describe(None))
        };
        let what: BTreeSet<String> = gaps.iter().map(request).collect();
        // A part that is missing everywhere is named once.
        let parts: BTreeSet<&str> = gaps.iter().filter_map(|gap| gap.missing.part.as_deref()).collect();
        let part = parts.first().filter(|_| parts.len() == 1).map(|part| format!(" ({part})"));
        let (what, checks) = (what.into_iter().collect::<Vec<_>>(), checks(&gaps));
        format!(
            "{}{}: {why}; {} ({}); to check this: {close}",
            some_of(&what, NAMED),
            part.unwrap_or_default(),
            count(checks.len(), "check", "checks"),
            some_of(&checks, NAMED)
        )
    };
    alike.into_iter().map(line).collect()
}

/// A command within a line.
fn code(command: &str) -> String {
    let command = clean(command);
    if command.contains('`') { format!("`` {command} ``") } else { format!("`{command}`") }
}

/// Text without active Markdown, HTML, mentions or links.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 16);
    for c in clean(text).chars() {
        match c {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            '@' => plain.push_str("&#64;"),
            '#' => plain.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                plain.push('\\');
                plain.push(c);
            }
            c => plain.push(c),
        }
    }
    // GitHub turns bare URLs into links.
    plain.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_text_is_markdown() {
        assert_eq!(plain("a|b <i> [x](http://y) @z"), "a\\|b &lt;i&gt; \\[x\\](http:&#47;&#47;y) &#64;z");
    }
}
