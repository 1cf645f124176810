//! The repair plan of a report as text: the findings in the order of their repair, the merged steps under
//! them, and the next step at the end.

mod next;
mod order;
mod printer;
mod verification;

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Form, Printer, explained_as};
use super::look::Look;
use super::steps::describe;
use super::table::Folding;
use super::text::{clean, count, some_of, thousands, width, wrapped_to};
use crate::checks;
use crate::command::{Command, guard_apart};
use crate::finding::{NodeRound, Severity, Step};
use crate::report::{PlannedFinding, RepairPlan, Report};
pub use next::next;
pub(super) use order::{Order, PlanRow};
use printer::PlanPrinter;
pub use verification::verify_lines;

/// Maximum number of lines shown of a step's command.
const COMMAND_LINES: usize = 8;

/// Maximum number of lines of a command that the next step repeats.
const NEXT_LINES: usize = 1;

/// Number of further steps of a finding that a short plan only counts, if another repair comes first.
const LONG: usize = 6;

/// Maximum number of lines that name the checks of a plan.
const CONTENTS: usize = 2;

/// The extent of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Nothing is repeated, and few verification commands are shown.
    Short,
    /// Everything.
    Full,
}

/// The verdict as counts, then each finding with its steps. A step that repairs several findings is printed
/// under the first of them, with the numbers of all.
pub fn plan(report: &Report, extent: Extent, look: Look) -> Vec<String> {
    let plan = &report.repair;
    if plan.findings.is_empty() {
        return Vec::new();
    }
    let order = Order::from_plan(plan);
    let rows = order.rows(plan);
    let digits = plan.steps.len().to_string().len();
    let folding = Folding::from_findings(&report.findings);
    let details = Printer::new(look, Form::of_report(report));
    let risks = if extent == Extent::Short { risks(report, &order) } else { BTreeSet::new() };
    let brief = if extent == Extent::Short { brief(plan, report, &order) } else { BTreeMap::new() };
    let of_risks = (1..).zip(&plan.steps).filter(|(_, step)| step.repairs.is_subset(&risks));
    let hidden: BTreeSet<usize> = of_risks.map(|(number, _)| number).chain(brief.values().flatten().copied()).collect();
    let printer = PlanPrinter {
        report,
        extent,
        look,
        digits,
        order,
        folding,
        details,
        rounds: plan.node_rounds(),
        hidden,
        risks: risks.clone(),
    };
    let mut lines = Vec::new();
    if plan.findings.len() > 1 {
        lines.push(verdict(report, look));
        lines.extend(contents(report, look));
    }
    let mut stated: Option<&str> = None;
    for row in rows {
        match row {
            PlanRow::Findings(numbers) => lines.extend(printer.headings(&(&numbers - &risks))),
            PlanRow::Step { number, .. } if plan.steps[number - 1].repairs.is_subset(&risks) => {}
            PlanRow::Step { number, .. } if brief.values().any(|steps| steps.contains(&number)) => {
                let first = brief.values().find(|steps| steps.first() == Some(&number));
                lines.extend(first.into_iter().flat_map(|steps| printer.further(steps)));
            }
            PlanRow::Step { number, repairs } => {
                let step = &plan.steps[number - 1];
                let required = step.step.command.as_ref().and_then(Command::required_cli);
                let is_stated = required.is_some() && required == stated;
                stated = required.or(stated);
                lines.extend(printer.step(number, step, repairs, is_stated));
            }
        }
    }
    lines.extend(printer.risks(&risks));
    lines.extend(printer.verify());
    lines.extend(printer.left_out());
    if extent == Extent::Short {
        lines.extend(printer.symptoms());
    }
    lines
}

/// The checks of a plan's findings, in its order, so that the first screen names all.
fn contents(report: &Report, look: Look) -> Vec<String> {
    let mut findings: Vec<(usize, String)> = report
        .repair
        .findings
        .iter()
        .map(|(&at, planned)| (planned.number, explained_as(&report.findings[at])))
        .collect();
    findings.sort_unstable();
    let mut checks: Vec<String> = Vec::new();
    for (_, check) in findings {
        if !checks.contains(&check) {
            checks.push(check);
        }
    }
    let words = checks.join(", ");
    wrapped_to(&words, look.prose() - 2, CONTENTS, "").iter().map(|line| format!("  {}", look.faint(line))).collect()
}

/// `1 ERROR, 3 WARNINGS: repair plan, in this order`.
fn verdict(report: &Report, look: Look) -> String {
    let planned = || report.repair.findings.keys().map(|&at| &report.findings[at]);
    let of = |severity| planned().filter(|finding| finding.severity == severity).count();
    let errors = count(of(Severity::Error), "ERROR", "ERRORS");
    let warnings = count(of(Severity::Warning), "WARNING", "WARNINGS");
    let verdict = match (of(Severity::Error), of(Severity::Warning)) {
        (_, 0) => look.bad(&errors),
        (0, _) => look.doubtful(&warnings),
        _ => format!("{}, {}", look.bad(&errors), look.doubtful(&warnings)),
    };
    format!("{verdict}: repair plan, in this order")
}

/// The warnings that do harm only under a further condition, after the first finding, by their numbers. No other
/// finding has their steps or waits for them.
fn risks(report: &Report, order: &Order) -> BTreeSet<usize> {
    let plan = &report.repair;
    let is_risk = |(&at, planned): (&usize, &PlannedFinding)| {
        let finding = &report.findings[at];
        let is_conditional = || checks::find(finding.check).is_some_and(|one| one.card().front.conditional);
        let is_alone = |step: &usize| plan.steps[step - 1].repairs.len() == 1;
        let has_followers =
            || plan.findings.values().any(|other| other.after.iter().any(|(number, _)| *number == planned.number));
        let has_come_true = || {
            let ties = finding.all_ties();
            let mut errors = plan.findings.keys().map(|&other| &report.findings[other]);
            errors
                .any(|other| other.severity == Severity::Error && other.all_ties().iter().any(|tie| ties.contains(tie)))
        };
        let own = order.steps.get(&planned.number);
        finding.severity == Severity::Warning
            && !has_come_true()
            && own.is_some_and(|own| own.iter().all(is_alone))
            && is_conditional()
            && !has_followers()
    };
    let mut risks: BTreeSet<usize> =
        plan.findings.iter().filter(|one| is_risk(*one)).map(|(_, planned)| planned.number).collect();
    // A plan has at least one finding in full.
    if risks.len() == plan.findings.len() {
        risks.pop_first();
    }
    risks
}

/// The steps that a short plan only counts, for each of the findings with long repairs that do not come first: all but
/// the first, unless they repair other findings too.
fn brief(plan: &RepairPlan, report: &Report, order: &Order) -> BTreeMap<usize, BTreeSet<usize>> {
    let first = plan.steps.first().map(|step| &step.repairs);
    let is_long = |(&at, planned): (&usize, &PlannedFinding)| {
        let is_first = first.is_some_and(|repairs| repairs.contains(&planned.number));
        report.findings[at].severity == Severity::Warning && !is_first
    };
    let of = |planned: &PlannedFinding| {
        let own = order.steps.get(&planned.number).into_iter().flatten().copied();
        let further = own.filter(|step| plan.steps[step - 1].repairs.len() == 1).skip(1);
        (planned.number, further.collect::<BTreeSet<usize>>())
    };
    let long = plan.findings.iter().filter(|one| is_long(*one)).map(|(_, planned)| of(planned));
    long.filter(|(_, steps)| steps.len() >= LONG).collect()
}

fn lines_of(command: &Command) -> Vec<String> {
    command.rendered().iter().map(|line| clean(line).into_owned()).collect()
}

/// The lines of a command. If it has one line for each of very many subjects, the rest is a comment.
pub fn command_lines(command: &Command, look: Look) -> Vec<String> {
    let mut lines = lines_of(command);
    let most = look.most(COMMAND_LINES);
    if lines.len() > most + 1 && !command.is_whole() {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("# and {} more (-v or -o json shows all)", thousands(more)));
    }
    lines
}

/// A long command with the condition for it on a line of its own, which the shell reads as one line.
fn in_two_lines(line: String, room: usize) -> Vec<String> {
    match guard_apart(&line).filter(|_| width(&line) > room) {
        Some((guard, command)) => vec![format!("{guard} &&"), format!("  {command}")],
        None => vec![line],
    }
}

/// Further nodes on which a step must be repeated, alone or with the others of its round. The first of a round names
/// them, at most `most`.
pub fn elsewhere(step: &Step, number: usize, rounds: &[NodeRound<'_>], most: usize) -> String {
    match (NodeRound::find(rounds, number), step.command.as_ref().map(Command::other_nodes)) {
        (Some(NodeRound { first, last, nodes }), _) if *first == number => {
            let round: Vec<usize> = (*first..=*last).collect();
            format!(" (then {} likewise on {})", describe(&round), some_of(&nodes[1..], most))
        }
        (Some(_), _) | (None, None | Some([])) => String::new(),
        (None, Some(nodes)) => format!(" (then likewise on {})", some_of(nodes, most)),
    }
}

/// `1 issuer-expired, 2 injector-unavailable`
pub fn after_in_words(planned: &PlannedFinding) -> String {
    let words: Vec<String> = planned.after.iter().map(|(number, check)| format!("{number} {check}")).collect();
    words.join(", ")
}

/// `errors 1 and 2, warning 4`, or only their number if there are many.
pub(super) fn numbered(report: &Report, numbers: &BTreeSet<usize>) -> String {
    const MOST: usize = 6;
    if numbers.len() > MOST {
        return count(numbers.len(), "finding", "findings");
    }
    let mut groups: Vec<(Severity, Vec<String>)> = Vec::new();
    for (&at, planned) in &report.repair.findings {
        if !numbers.contains(&planned.number) {
            continue;
        }
        let severity = report.findings[at].severity;
        match groups.iter_mut().find(|(known, _)| *known == severity) {
            Some((_, group)) => group.push(planned.number.to_string()),
            None => groups.push((severity, vec![planned.number.to_string()])),
        }
    }
    let each = groups.into_iter().map(|(severity, numbers)| {
        let plural = if numbers.len() > 1 { "s" } else { "" };
        let numbers = match numbers.as_slice() {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            numbers => numbers.concat(),
        };
        format!("{}{plural} {numbers}", severity.label())
    });
    each.collect::<Vec<_>>().join(", ")
}
