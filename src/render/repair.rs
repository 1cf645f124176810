//! The repair plan of a report for people: the numbered findings, the merged steps under them, and the next step at the end.

use super::look::Look;
use super::subject;
use super::text::{clean, count, pad, shortened_to, width, wrap};
use crate::command::Command;
use crate::finding::Severity;
use crate::report::{PlanStep, PlannedFinding, RepairPlan, Report};

/// How many findings are listed before the plan.
const LISTED: usize = 9;

/// How many lines of the command of one step are shown.
const COMMAND_LINES: usize = 8;

/// The verdict in figures, and one line for each finding to repair if there are several.
pub fn overview(report: &Report, look: Look) -> Vec<String> {
    let planned: Vec<_> =
        report.repair.findings.iter().map(|(&at, planned)| (&report.findings[at], planned)).collect();
    if planned.is_empty() {
        return Vec::new();
    }
    let of = |severity| planned.iter().filter(|(finding, _)| finding.severity == severity).count();
    let errors = count(of(Severity::Error), "ERROR", "ERRORS");
    let warnings = count(of(Severity::Warning), "WARNING", "WARNINGS");
    let verdict = match (of(Severity::Error), of(Severity::Warning)) {
        (_, 0) => look.bad(&errors),
        (0, _) => look.doubtful(&warnings),
        _ => format!("{}, {}", look.bad(&errors), look.doubtful(&warnings)),
    };
    if planned.len() == 1 {
        return vec![verdict];
    }
    let mut lines = vec![format!("{verdict}, in repair order")];
    let numbers = planned.len().to_string().len();
    let checks =
        planned.iter().take(LISTED).map(|(finding, _)| width(finding.check)).max().unwrap_or_default();
    for (finding, planned) in planned.iter().take(LISTED) {
        let after = match planned.after.is_empty() {
            true => String::new(),
            false => format!("  after {}", in_numbers(&planned.after)),
        };
        let severity = pad(finding.severity.word(), 7);
        let number = format!("{:>numbers$}", planned.number);
        let left = 2 + numbers + 2 + 7 + 2 + checks + 2;
        let room = look.columns().saturating_sub(left + width(&after));
        let subjects = subject::brief(finding.subjects.iter());
        let about = shortened_to(&subjects, room);
        let line = format!(
            "  {number}  {}  {}  {about}{}",
            look.severity_like(finding.severity, &severity),
            look.strong(&pad(finding.check, checks)),
            look.faint(&after)
        );
        lines.push(line.trim_end().to_owned());
    }
    if planned.len() > LISTED {
        lines.push(format!("  and {} more, see below", planned.len() - LISTED));
    }
    lines
}

/// The steps with their commands, each with the numbers of the findings that it repairs, and the commands that verify.
pub fn steps(plan: &RepairPlan, look: Look) -> Vec<String> {
    if plan.steps.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![look.strong("repair plan")];
    let digits = plan.steps.len().to_string().len();
    let indent = " ".repeat(2 + digits + 2);
    for (number, step) in (1..).zip(&plan.steps) {
        let repairs = match plan.findings.len() {
            1 => String::new(),
            _ => {
                format!(" [{}]", step.repairs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
        };
        let text = format!("{}{}{repairs}", clean(&step.step.text), elsewhere(step));
        for (at, line) in wrap(&text, look.prose() - indent.len()).into_iter().enumerate() {
            lines.push(if at == 0 {
                format!("  {number:>digits$}. {line}")
            } else {
                format!("{indent}{line}")
            });
        }
        for line in step.step.command.iter().flat_map(|command| command_lines(command, look)) {
            lines.push(format!("{indent}  {}", look.command(&line)));
        }
    }
    for (at, command) in plan.verify.iter().enumerate() {
        for (line, text) in command.rendered().iter().enumerate() {
            let label = if at == 0 && line == 0 { "verify" } else { "" };
            lines.push(format!("  {}{}", look.faint(&pad(label, 8)), look.command(&clean(text))));
        }
    }
    lines
}

/// The first step again, as the last lines of a report: the check, the object, and its command.
pub fn next(report: &Report, look: Look) -> Vec<String> {
    let plan = &report.repair;
    let Some(step) = plan.steps.first() else { return Vec::new() };
    let repaired = plan.findings.iter().find(|(_, planned)| step.repairs.contains(&planned.number));
    let about = repaired.map_or_else(String::new, |(&at, _)| {
        let finding = &report.findings[at];
        format!("{}, {}: ", finding.check, subject::brief(finding.subjects.iter()))
    });
    let words = format!("{about}{}{}", clean(&step.step.text), elsewhere(step));
    let mut lines: Vec<String> = wrap(&words, look.prose() - 10)
        .into_iter()
        .enumerate()
        .map(|(at, line)| format!("{}{line}", look.faint(&pad(if at == 0 { "next" } else { "" }, 10))))
        .collect();
    let command = step.step.command.iter().flat_map(|command| command_lines(command, look));
    lines.extend(command.map(|line| format!("{}{}", " ".repeat(12), look.command(&line))));
    lines
}

/// The lines of a command. If it has one line for each of very many subjects, the rest is a comment.
pub fn command_lines(command: &Command, look: Look) -> Vec<String> {
    let mut lines: Vec<String> = command.rendered().iter().map(|line| clean(line).into_owned()).collect();
    let most = look.most(COMMAND_LINES);
    if lines.len() > most + 1 && !command.is_whole() {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("# and {} more (-v or -o json shows all)", super::text::thousands(more)));
    }
    lines
}

/// Further nodes on which the same is to be done.
fn elsewhere(step: &PlanStep) -> String {
    match step.step.command.as_ref().map(Command::other_nodes) {
        None | Some([]) => String::new(),
        Some(nodes) => format!(" (then on {})", super::text::some_of(nodes, 3)),
    }
}

/// `1 issuer-expired, 2 injector-unavailable`
pub fn after_in_words(planned: &PlannedFinding) -> String {
    let words: Vec<String> =
        planned.after.iter().map(|(number, check)| format!("{number} {check}")).collect();
    words.join(", ")
}

/// `1, 2, 4`, or only their number if there are many.
fn in_numbers(after: &[(usize, &str)]) -> String {
    if after.len() > 6 {
        return count(after.len(), "finding", "findings");
    }
    after.iter().map(|(number, _)| number.to_string()).collect::<Vec<_>>().join(", ")
}
