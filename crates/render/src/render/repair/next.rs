//! The next step, as the last lines of a report.

use super::{NEXT_LINES, command_lines, in_two_lines};
use crate::command::Command;
use crate::finding::{Applies, Finding, Severity, Standing, When};
use crate::render::look::Look;
use crate::render::steps::{alternatives_to_first, describe};
use crate::render::subject;
use crate::render::text::{clean, pad, wrap};
use crate::report::{PlanStep, Report};

/// The first step again, as the last lines of a report: the check, the object, and the command. If the step
/// has only words, they are printed, and the first command of the finding after them. If it depends on a
/// condition, only its words are.
pub fn next(report: &Report, look: Look) -> Vec<String> {
    let steps = &report.repair.steps;
    let Some(first) = steps.first() else { return of_upgrade(report, look) };
    let label = |words: &str| look.faint(&pad(words, 10));
    let instead = alternatives_to_first(&report.repair);
    let step = match instead.as_slice() {
        [] => "step 1: ".to_owned(),
        numbers => format!("step 1, or instead {}: ", describe(numbers)),
    };
    let command = |step: &PlanStep| -> Vec<String> {
        let lines: Vec<String> = step.step.command.iter().flat_map(|command| command_lines(command, look)).collect();
        // An assignment alone does nothing.
        let is_set =
            lines.first().is_some_and(|line| line.split_once('=').is_some_and(|(name, _)| !name.contains(' ')));
        // The shell only finds an installed CLI after this line.
        let until_path = lines.iter().position(|line| line.starts_with("export PATH=")).unwrap_or_default();
        let shown = lines.into_iter().take(NEXT_LINES + until_path.max(usize::from(is_set)));
        let shown = shown.flat_map(|line| in_two_lines(line, look.columns().saturating_sub(12)));
        shown.map(|line| format!("{}{}", " ".repeat(12), look.command(&line))).collect()
    };
    let about = repaired_by(report, first).map_or_else(String::new, |finding| {
        format!("{step}{}, {}", finding.check, subject::brief(finding.subjects.iter()))
    });
    let room = look.prose() - 10;
    let about = wrap(&about, room).into_iter().enumerate();
    let mut lines: Vec<String> =
        about.map(|(at, line)| format!("{}{line}", label(if at == 0 { "next" } else { "" }))).collect();
    let applies_always = first.step.applies == Applies::Always;
    let is_whole = first.step.command.is_some() && (applies_always || first.step.applies == Applies::First);
    let words = clean(first.step.without_requirement());
    let words = wrap(if is_whole && applies_always { first_sentence(&words) } else { &words }, room);
    lines.extend(words.into_iter().map(|line| format!("{}{line}", label(""))));
    if is_whole {
        let required = first.step.command.as_ref().and_then(Command::required_cli);
        if let Some(release) = required.filter(|release| report.subject.cli.as_deref() != Some(release)) {
            lines.push(format!("{}(needs linkerd CLI {release})", label("")));
        }
        lines.extend(command(first));
        return lines;
    }
    // The plan has its command after the other cases.
    if first.step.is_conditional() {
        return lines;
    }
    let same = |step: &PlanStep| step.repairs.intersection(&first.repairs).next().is_some();
    let then = steps.iter().zip(1..).find(|(step, _)| step.step.command.is_some() && same(step));
    if let Some((step, number)) = then {
        lines.push(format!("{}step {number}", label("then")));
        lines.extend(command(step));
    }
    lines
}

/// The first sentence of a step; the plan has the others.
fn first_sentence(words: &str) -> &str {
    words.split_once(". ").map_or(words, |(first, _)| first)
}

/// The first step of what a rehearsed upgrade brings. That of a downgrade leads back.
fn of_upgrade(report: &Report, look: Look) -> Vec<String> {
    let begins = |finding: &&Finding| {
        finding.when == When::AfterUpgrade
            && finding.caused_by.is_empty()
            && finding.severity > Severity::Info
            && matches!(finding.standing, Standing::Passes | Standing::Fails)
    };
    let mut found = report.findings.iter().filter(begins);
    let Some((finding, step)) = found.find_map(|finding| Some((finding, finding.remedy.steps.first()?))) else {
        return Vec::new();
    };
    let words = format!("{}: {}", finding.check, clean(step.without_requirement()));
    let label = |at| look.faint(&pad(if at == 0 { "next" } else { "" }, 10));
    let words = wrap(&words, look.prose() - 10).into_iter().enumerate();
    let mut lines: Vec<String> = words.map(|(at, line)| format!("{}{line}", label(at))).collect();
    let command = step.command.iter().flat_map(|command| command_lines(command, look)).take(NEXT_LINES);
    lines.extend(command.map(|line| format!("{}{}", " ".repeat(12), look.command(&line))));
    lines
}

/// The first finding that a step repairs; the first of the plan for a decision about it.
fn repaired_by<'a>(report: &'a Report, step: &PlanStep) -> Option<&'a Finding> {
    let is_decision = step.step.applies == Applies::First;
    let findings = report.repair.findings.iter();
    let repaired = findings.filter(|(_, planned)| is_decision || step.repairs.contains(&planned.number));
    let (&at, _) = repaired.min_by_key(|(_, planned)| planned.number)?;
    Some(&report.findings[at])
}
