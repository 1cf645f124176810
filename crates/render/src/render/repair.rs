//! The repair plan of a report as text: the findings in the order of their repair, the merged steps under
//! them, and the next step at the end.

mod next;
mod verification;

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Form, Printer, explained_as, named_within};
use super::look::Look;
use super::steps::{describe, in_plan};
use super::subject;
use super::table::Folding;
use super::text::{BOUND, clean, count, pad, some_of, thousands, width, wrap, wrapped_to};
use crate::checks;
use crate::command::{Command, guard_apart, own};
use crate::finding::{Applies, CUTS_OFF, Evidence, Finding, NodeRound, Severity, Step, Subject};
use crate::report::{PlanStep, PlannedFinding, RepairPlan, Report};
pub use next::next;
pub use verification::verify_lines;

/// Maximum number of lines shown of a step's command.
const COMMAND_LINES: usize = 8;

/// Maximum number of verification lines shown in a short plan.
const VERIFY_LINES: usize = 6;

/// Maximum number of lines of a command that the next step repeats.
const NEXT_LINES: usize = 1;

/// Maximum number of subjects of a kind that a heading names; the same in a plan of several findings.
const NAMED: usize = 5;
const NAMED_OF_SEVERAL: usize = 3;

/// Maximum number of findings of one check in a row that a short plan prints in full.
const ALIKE: usize = 1;

/// Number of further steps of a finding that a short plan only counts, if another repair comes first.
const LONG: usize = 6;

/// Maximum number of further nodes that a step names.
const NODES: usize = 3;

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
    let hidden: BTreeSet<usize> =
        of_risks.map(|(number, _)| number).chain(brief.values().flatten().copied()).collect();
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
            Row::Findings(numbers) => lines.extend(printer.headings(&(&numbers - &risks))),
            Row::Step { number, .. } if plan.steps[number - 1].repairs.is_subset(&risks) => {}
            Row::Step { number, .. } if brief.values().any(|steps| steps.contains(&number)) => {
                let first = brief.values().find(|steps| steps.first() == Some(&number));
                lines.extend(first.into_iter().flat_map(|steps| printer.further(steps)));
            }
            Row::Step { number, repairs } => {
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

/// A row of a plan, in the order in which it is read.
pub(super) enum Row<'p> {
    /// The headings of findings, by their numbers: above their steps, or below them if others have all of these.
    Findings(BTreeSet<usize>),
    /// A step by its number, from 1; `repairs` if it repairs others than the findings of the last heading.
    Step { number: usize, repairs: Option<&'p BTreeSet<usize>> },
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
    wrapped_to(&words, look.prose() - 2, CONTENTS, "")
        .iter()
        .map(|line| format!("  {}", look.faint(line)))
        .collect()
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
        let has_followers = || {
            plan.findings
                .values()
                .any(|other| other.after.iter().any(|(number, _)| *number == planned.number))
        };
        let has_come_true = || {
            let ties = finding.all_ties();
            let mut errors = plan.findings.keys().map(|&other| &report.findings[other]);
            errors.any(|other| {
                other.severity == Severity::Error && other.all_ties().iter().any(|tie| ties.contains(tie))
            })
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

/// Prints the parts of a plan.
struct PlanPrinter<'a> {
    report: &'a Report,
    extent: Extent,
    look: Look,
    /// Width of the step numbers.
    digits: usize,
    order: Order,
    folding: Folding,
    details: Printer,
    rounds: Vec<NodeRound<'a>>,
    /// The steps that are not printed.
    hidden: BTreeSet<usize>,
    /// The findings whose steps are not printed.
    risks: BTreeSet<usize>,
}

/// Which steps repair which findings of a plan.
pub(super) struct Order {
    /// The steps of each finding, by their numbers.
    steps: BTreeMap<usize, BTreeSet<usize>>,
    /// The findings without a step of their own, each with the findings that have all its steps and more.
    shared: BTreeMap<usize, BTreeSet<usize>>,
}

impl Order {
    pub(super) fn from_plan(plan: &RepairPlan) -> Order {
        let steps = steps_of(plan);
        let shared = shared(plan, &steps);
        Order { steps, shared }
    }

    /// ` (after error 1)`, or ` (fixed by steps 1 and 2)` for a finding whose steps all belong to others, and ` (steps
    /// 1, 2 and 6)` for one with further steps.
    pub(super) fn note(&self, report: &Report, planned: &PlannedFinding) -> String {
        let own = self.steps.get(&planned.number).filter(|_| self.shared.contains_key(&planned.number));
        match (own, planned.after.is_empty()) {
            (Some(own), _) => format!(" (fixed by {})", describe(&own.iter().copied().collect::<Vec<_>>())),
            (None, true) => {
                let own = self.steps.get(&planned.number);
                let repairs = |step: &usize| &report.repair.steps[step - 1].repairs;
                let is_foreign = |step: &usize| {
                    repairs(step)
                        .iter()
                        .filter(|other| !self.shared.contains_key(other))
                        .any(|other| *other < planned.number && self.steps.get(other) != own)
                };
                match own.filter(|own| own.iter().any(is_foreign)) {
                    Some(own) => {
                        let steps = describe(&own.iter().copied().collect::<Vec<_>>());
                        match own.iter().all(is_foreign) {
                            true => format!(" (fixed by {steps})"),
                            false => format!(" ({steps})"),
                        }
                    }
                    None => String::new(),
                }
            }
            (None, false) => {
                let numbers = planned.after.iter().map(|(number, _)| *number).collect();
                format!(" (after {})", numbered(report, &numbers))
            }
        }
    }

    /// The rows of a plan. A finding whose steps all belong to others follows these others; one without a step comes
    /// last.
    pub(super) fn rows<'p>(&self, plan: &'p RepairPlan) -> Vec<Row<'p>> {
        let mut rows = Vec::new();
        let mut current: BTreeSet<usize> = BTreeSet::new();
        let mut introduced: BTreeSet<usize> = BTreeSet::new();
        // Findings whose steps are all above; they follow the last step under the current heading.
        let mut ended: BTreeSet<usize> = BTreeSet::new();
        // Decisions follow the first heading, which states a problem before anything is decided.
        let mut decisions = Vec::new();
        for (number, step) in (1..).zip(&plan.steps) {
            if step.step.applies == Applies::First {
                decisions.push((number, &step.repairs));
                continue;
            }
            let mut new: BTreeSet<usize> = BTreeSet::new();
            for &one in step.repairs.iter().filter(|one| !self.shared.contains_key(*one)) {
                let is_known = |other: &usize| introduced.contains(other) || new.contains(other);
                // A finding that has a step of its own later stands there, so that each heading is above its steps.
                let mut later = self.steps.get(&one).into_iter().flat_map(|own| own.range(number + 1..));
                let is_later = step.repairs.iter().any(is_known)
                    && later.any(|later| !plan.steps[later - 1].repairs.iter().any(is_known));
                if !introduced.contains(&one) && !is_later {
                    new.insert(one);
                }
            }
            if !new.is_empty() {
                introduced.extend(&new);
                current.clone_from(&new);
                // The headings stay in the order of their numbers.
                let later = new.first().map(|first| ended.split_off(first)).unwrap_or_default();
                rows.extend(take_findings(&mut ended));
                ended = later;
                rows.push(Row::Findings(new));
                let first = decisions.drain(..).map(|(number, _)| Row::Step { number, repairs: None });
                rows.extend(first);
            }
            // The headings of others name the steps that they have in common.
            let is_of_heading = !current.is_empty() && step.repairs.is_superset(&current);
            rows.push(Row::Step { number, repairs: (!is_of_heading).then_some(&step.repairs) });
            let is_last = |one: &&usize| {
                !introduced.contains(*one) && self.steps.get(*one).and_then(|own| own.last()) == Some(&number)
            };
            let last: BTreeSet<usize> = self.shared.keys().filter(is_last).copied().collect();
            introduced.extend(&last);
            ended.extend(last);
        }
        rows.extend(take_findings(&mut ended));
        let without_steps = plan.findings.values().map(|planned| planned.number);
        let without_steps: BTreeSet<usize> =
            without_steps.filter(|number| !introduced.contains(number)).collect();
        if !without_steps.is_empty() {
            rows.push(Row::Findings(without_steps));
        }
        rows.extend(
            decisions.into_iter().map(|(number, repairs)| Row::Step { number, repairs: Some(repairs) }),
        );
        rows
    }
}

fn take_findings<'p>(findings: &mut BTreeSet<usize>) -> Option<Row<'p>> {
    (!findings.is_empty()).then(|| Row::Findings(std::mem::take(findings)))
}

/// The steps of each finding, by their numbers.
fn steps_of(plan: &RepairPlan) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut steps: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    // Decisions are no finding's own.
    let own = (1..).zip(&plan.steps).filter(|(_, step)| step.step.applies != Applies::First);
    for (number, step) in own {
        for finding in &step.repairs {
            steps.entry(*finding).or_default().insert(number);
        }
    }
    steps
}

/// The findings without a step of their own, each with the findings that have all its steps and more.
fn shared(plan: &RepairPlan, steps: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut shared = BTreeMap::new();
    for (&finding, own) in steps {
        let first = own.first().and_then(|number| plan.steps.get(number - 1));
        let includes = |other: &&usize| {
            steps.get(*other).is_some_and(|all| all.len() > own.len() && all.is_superset(own))
        };
        let others: BTreeSet<usize> =
            first.into_iter().flat_map(|step| &step.repairs).filter(includes).copied().collect();
        if !others.is_empty() {
            shared.insert(finding, others);
        }
    }
    shared
}

impl<'a> PlanPrinter<'a> {
    /// The headings of findings, at most [`ALIKE`] of the same check and severity in a row; then their subjects.
    fn headings(&self, numbers: &BTreeSet<usize>) -> Vec<String> {
        let kind = |number: &usize| {
            let finding = self.finding(*number);
            finding.map(|(_, finding)| (finding.check, finding.severity))
        };
        let numbers: Vec<usize> = numbers.iter().copied().collect();
        let mut lines = Vec::new();
        for group in numbers.chunk_by(|one, next| kind(one) == kind(next)) {
            let is_long = group.len() > ALIKE + 1 && self.extent == Extent::Short;
            let (full, rest) = group.split_at(if is_long { ALIKE } else { group.len() });
            lines.extend(full.iter().flat_map(|&number| self.heading(number)));
            lines.extend(self.alike(rest));
        }
        lines
    }

    /// `warnings 4 to 8 are like warning 3: 5 Pods: shop/a, shop/b, shop/c and 2 more`.
    fn alike(&self, numbers: &[usize]) -> Vec<String> {
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Vec::new() };
        let findings =
            || numbers.iter().filter_map(|&number| self.finding(number)).map(|(_, finding)| finding);
        let word = findings().next().map_or("finding", |finding| finding.severity.label());
        let mut subjects: Vec<Subject> = findings().flat_map(|finding| &finding.subjects).cloned().collect();
        subjects.sort();
        subjects.dedup();
        let subjects = subject::naming(&subjects, NAMED_OF_SEVERAL, self.look);
        let words = format!("{word}s {first} to {last} are like {word} {}: {subjects}", first - 1);
        wrap(&words, self.look.prose())
    }

    /// A finding of the plan by its number.
    fn finding(&self, number: usize) -> Option<(&PlannedFinding, &Finding)> {
        let (&at, planned) = self.report.repair.findings.iter().find(|(_, one)| one.number == number)?;
        Some((planned, &self.report.findings[at]))
    }

    /// `error 2 (after error 1)  check  subjects` and the message; a single finding is the verdict:
    /// `ERROR  check  subjects`. The short plan has the evidence too.
    fn heading(&self, number: usize) -> Vec<String> {
        let Some((planned, finding)) = self.finding(number) else { return Vec::new() };
        let is_single = self.report.repair.findings.len() == 1;
        let word = finding.severity.label();
        let word = if is_single { word.to_uppercase() } else { format!("{word} {number}") };
        let note = self.order.note(self.report, planned);
        let columns = self.look.columns();
        let (name, moved) = named_within(finding, columns.saturating_sub(width(&word) + width(&note) + 2));
        let most = if is_single { NAMED } else { NAMED_OF_SEVERAL };
        let about = format!("{moved}{}", subject::naming(&finding.subjects, most, self.look));
        let painted = self.look.severity_like(finding.severity, &word);
        let mut lines = vec![format!("{painted}{}  {}", self.look.faint(&note), self.look.strong(&name))];
        let taken = width(&word) + width(&note) + width(&name) + 4;
        match taken + width(&about) <= columns {
            true => lines[0] = format!("{}  {about}", lines[0]).trim_end().to_owned(),
            false => lines.extend(wrap(&about, columns - 2).iter().map(|line| format!("  {line}"))),
        }
        let message = wrap(&clean(&finding.message), self.look.prose() - 2).into_iter();
        lines.extend(message.map(|line| format!("  {line}")));
        if self.extent == Extent::Short {
            let is_only = self.report.repair.findings.len() == 1;
            lines.extend(self.details.in_plan(finding, self.logged(finding), is_only));
        }
        lines
    }

    /// The line of a log that shows a finding, quoted by the finding itself or by one that it explains.
    fn logged(&self, finding: &Finding) -> Option<&'a Evidence> {
        let print = finding.fingerprint();
        let is_its = |other: &&Finding| other.fingerprint() == print || other.caused_by.contains(&print);
        let mut own = self.report.findings.iter().filter(is_its).flat_map(|other| &other.evidence);
        own.find(|evidence| evidence.is_line_of_log())
    }

    /// `warnings 2 and 3 (CHECK, CHECK) do no harm now; -v shows steps 3 to 5`.
    fn risks(&self, numbers: &BTreeSet<usize>) -> Vec<String> {
        if numbers.is_empty() {
            return Vec::new();
        }
        let steps: BTreeSet<usize> =
            numbers.iter().filter_map(|number| self.order.steps.get(number)).flatten().copied().collect();
        let verb = if numbers.len() == 1 { "does" } else { "do" };
        let found = numbers.iter().filter_map(|&number| self.finding(number));
        let checks: BTreeSet<String> = found.map(|(_, finding)| explained_as(finding)).collect();
        let words = format!(
            "{} ({}) {verb} no harm now; -v shows {}",
            numbered(self.report, numbers),
            checks.into_iter().collect::<Vec<_>>().join(", "),
            describe(&steps.into_iter().collect::<Vec<_>>())
        );
        wrap(&words, self.look.prose())
    }

    /// `symptoms  CHECK, CHECK`, after the steps: they need no repair of their own.
    fn symptoms(&self) -> Vec<String> {
        let findings = &self.report.findings;
        let planned = self.report.repair.findings.keys();
        let all: BTreeSet<String> = planned.flat_map(|&at| self.folding.symptoms_of(at, findings)).collect();
        self.details.symptoms(&all.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// A step with its command; `repairs` if it repairs others than the finding above it. `is_stated`: an
    /// earlier step states the release of the linkerd CLI that it needs.
    fn step(
        &self,
        number: usize,
        step: &PlanStep,
        repairs: Option<&BTreeSet<usize>>,
        is_stated: bool,
    ) -> Vec<String> {
        let indent = " ".repeat(2 + self.digits + 2);
        let repairs = repairs
            .filter(|_| self.report.repair.findings.len() > 1)
            .map(|numbers| format!(" (for {})", numbered(self.report, numbers).replace(' ', BOUND)));
        let plain = step.step.without_requirement();
        let requirement = if is_stated { String::new() } else { self.requirement(number, step) };
        let text = in_plan(&self.report.repair, number, plain);
        let text = clean(&text);
        let end =
            elsewhere(&step.step, number, &self.rounds, self.look.most(NODES)) + &repairs.unwrap_or_default();
        let room = self.look.prose() - indent.len();
        let words = wrap(&format!("{text}{end}"), room).into_iter();
        let mut lines: Vec<String> =
            words.map(|line| format!("{indent}{}", line.replace(BOUND, " "))).collect();
        if let Some(first) = lines.first_mut() {
            *first = format!("  {number:>digits$}. {}", &first[indent.len()..], digits = self.digits);
        }
        let is_required = !requirement.is_empty();
        if is_required {
            lines.extend(wrap(&requirement, room).iter().map(|line| format!("{indent}{line}")));
        }
        let room = self.look.columns().saturating_sub(indent.len() + 2);
        let install = if is_required { self.installation(step) } else { Vec::new() };
        lines.extend(install.iter().map(|line| format!("{indent}  {}", self.look.command(line))));
        if let Some(same) = self.same_commands(number, step) {
            let room = self.look.prose() - indent.len();
            lines.extend(
                wrap(&format!("(the commands of step {same})"), room)
                    .iter()
                    .map(|line| format!("{indent}{line}")),
            );
            return lines;
        }
        let command = step.step.command.iter().flat_map(|command| command_lines(command, self.look));
        let command = command.flat_map(|line| in_two_lines(line, room));
        lines.extend(command.map(|line| format!("{indent}  {}", self.look.command(&line))));
        let other = self.with_other_cli(step).filter(|_| !is_stated);
        let other = other.iter().flat_map(|words| wrap(words, self.look.prose() - indent.len()));
        lines.extend(other.map(|line| format!("{indent}{line}")));
        lines
    }

    /// `steps 4 to 13 follow (-v)`, with the command that prints the steps of a rotation one by one, if they are such.
    fn further(&self, steps: &BTreeSet<usize>) -> Vec<String> {
        let all: Vec<usize> = steps.iter().copied().collect();
        let is_rotation = |step: &usize| {
            let command = self.report.repair.steps[step - 1].step.command.as_ref();
            command.is_some_and(|command| command.to_string().contains(&own("rotate")))
        };
        let rotation = match steps.iter().any(is_rotation) {
            true => format!("{} prints each once it is safe, ", own("rotate")),
            false => String::new(),
        };
        let words = format!("{}: {rotation}-v prints all", describe(&all));
        let indent = " ".repeat(2 + self.digits + 2);
        let words = wrap(&words, self.look.prose() - indent.len());
        words.iter().map(|line| format!("{indent}{line}")).collect()
    }

    /// The earlier step that prints the same commands, if they are several lines and the plan is short.
    fn same_commands(&self, number: usize, step: &PlanStep) -> Option<usize> {
        let command = step.step.command.as_ref().filter(|_| self.extent == Extent::Short)?;
        let earlier = self.report.repair.steps.iter().take(number - 1);
        let is_same = |(other, number): &(&PlanStep, usize)| {
            other.step.command.as_ref() == Some(command) && !self.hidden.contains(number)
        };
        let at = earlier.zip(1..).find(is_same).map(|(_, number)| number);
        at.filter(|_| lines_of(command).len() > 1)
    }

    /// The release of the linkerd CLI that the command of a step needs, with the step that installs it, if any.
    /// Nothing if an earlier step installs it.
    fn requirement(&self, number: usize, step: &PlanStep) -> String {
        let Some(release) = step.step.command.as_ref().and_then(Command::required_cli) else {
            return String::new();
        };
        match self.report.repair.installing_cli(release) {
            Some(at) if at + 1 < number => String::new(),
            Some(at) => format!("(first do step {}, which installs the linkerd CLI {release})", at + 1),
            None if self.is_to_install(release) => {
                format!(
                    "(needs linkerd CLI {release}, which the first lines install; with another, the command does \
                     nothing)"
                )
            }
            // The reader has that CLI, and the command checks it.
            None => String::new(),
        }
    }

    /// What a command does with another linkerd CLI than the one it requires, which the reader of a dump may use.
    fn with_other_cli(&self, step: &PlanStep) -> Option<String> {
        let release = step.step.command.as_ref().and_then(Command::required_cli)?;
        let is_installed =
            !self.is_to_install(release) && self.report.repair.installing_cli(release).is_none();
        (is_installed && self.report.origin.kind != "live")
            .then(|| format!("(needs linkerd CLI {release}; with another, the command does nothing)"))
    }

    /// Whether the reader may lack the linkerd CLI of a release, and no step installs it.
    fn is_to_install(&self, release: &str) -> bool {
        let plan = &self.report.repair;
        self.report.subject.cli.as_deref() != Some(release) && plan.installing_cli(release).is_none()
    }

    /// The commands that install the linkerd CLI for a step, if the reader may lack it.
    fn installation(&self, step: &PlanStep) -> Vec<String> {
        let release = step.step.command.as_ref().and_then(Command::required_cli);
        let command =
            release.filter(|release| self.is_to_install(release)).and_then(checks::cli_installation);
        command.iter().flat_map(lines_of).collect()
    }

    /// The checks that the run left out and whose findings would be repaired before those of the plan.
    fn left_out(&self) -> Vec<String> {
        let asked = &self.report.asked;
        if asked.only.is_empty() && asked.skip.is_empty() {
            return Vec::new();
        }
        let findings = self.report.repair.findings.keys().map(|&at| self.report.findings[at].check);
        let found: BTreeSet<&str> = findings.collect();
        let is_selected = |id: &str| self.report.checks.iter().any(|check| check.id == id);
        let cuts_off = self.report.repair.steps.iter().any(|step| step.step.text.contains(CUTS_OFF));
        let after = found.iter().filter(|_| cuts_off).filter_map(|id| checks::find(id));
        let after = after.flat_map(|check| &check.card().front.before).filter(|id| !is_selected(id));
        let after: BTreeSet<&String> = after.collect();
        let comes_before = |check: &&checks::Check| {
            let before = &check.card().front.before;
            !is_selected(check.id) && before.iter().any(|id| found.contains(id.as_str()))
        };
        let names: Vec<String> =
            checks::all().filter(comes_before).map(|check| check.id.to_owned()).collect();
        let mut lines = Vec::new();
        for (label, when, names) in
            [("first", "first", names), ("then", "after these steps", after.into_iter().cloned().collect())]
        {
            if !names.is_empty() {
                let words =
                    format!("not selected, but repaired {when} if found: {}", some_of(&names, LEFT_OUT));
                lines.extend(self.details.labelled(label, wrap(&words, self.look.prose() - 12)));
            }
        }
        lines
    }

    /// The verification of the findings whose steps are printed.
    fn verified(&self) -> Vec<Command> {
        let plan = &self.report.repair;
        if self.risks.is_empty() {
            return plan.verify.clone();
        }
        let shown = plan.findings.iter().filter(|(_, planned)| !self.risks.contains(&planned.number));
        let mut commands: Vec<Command> = Vec::new();
        for command in shown.filter_map(|(&at, _)| self.report.findings[at].remedy.verify.as_ref()) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        commands
    }

    /// The commands that show whether the repair worked.
    fn verify(&self) -> Vec<String> {
        let commands = &self.verified();
        let all = match self.extent {
            Extent::Short => verify_lines(commands),
            Extent::Full => commands.iter().map(lines_of).collect(),
        };
        let mut shown = Vec::new();
        let mut left_out = all.len();
        for command in all {
            // The first is always shown, and a command is never cut.
            let fits = self.extent == Extent::Full || shown.len() + command.len() <= VERIFY_LINES;
            if !fits && !shown.is_empty() {
                break;
            }
            shown.extend(command);
            left_out -= 1;
        }
        let mut lines: Vec<String> = shown.iter().map(|line| self.look.command(line)).collect();
        if left_out > 0 {
            lines.push(format!("and {left_out} more (-v or -o json shows all)"));
        }
        if shown.iter().any(|line| line.contains(IMAGE)) {
            let words = "IMAGE: a meshdoctor image that the nodes can pull (see its Dockerfile)";
            lines.extend(wrap(words, self.look.prose().saturating_sub(12)));
        }
        let label = |at| self.look.faint(&pad(if at == 0 { "verify" } else { "" }, 10));
        lines.iter().enumerate().map(|(at, line)| format!("  {}{line}", label(at))).collect()
    }
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

/// Maximum number of named checks that a run left out.
const LEFT_OUT: usize = 4;

/// The variable for the image of the pods that read nodes.
const IMAGE: &str = "\"${IMAGE:?}\"";

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
    let words: Vec<String> =
        planned.after.iter().map(|(number, check)| format!("{number} {check}")).collect();
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
