//! The parts of a plan as text: headings, steps with their commands, and the verification.

use super::super::finding::{Printer, explained_as, named_within};
use super::super::look::Look;
use super::super::steps::{describe, in_plan};
use super::super::subject;
use super::super::table::Folding;
use super::super::text::{BOUND, clean, pad, some_of, width, wrap};
use super::order::Order;
use super::verification::verify_lines;
use super::{Extent, command_lines, elsewhere, in_two_lines, lines_of, numbered};
use crate::checks;
use crate::command::{Command, own};
use crate::finding::{CUTS_OFF, Evidence, Finding, NodeRound, Subject};
use crate::report::{PlanStep, PlannedFinding, Report};
use std::collections::BTreeSet;

/// Maximum number of named checks that a run left out.
const LEFT_OUT: usize = 4;

/// The variable for the image of the pods that read nodes.
const IMAGE: &str = "\"${IMAGE:?}\"";

/// Maximum number of verification lines shown in a short plan.
const VERIFY_LINES: usize = 6;

/// Maximum number of subjects of a kind that a heading names; the same in a plan of several findings.
const NAMED: usize = 5;

const NAMED_OF_SEVERAL: usize = 3;

/// Maximum number of findings of one check in a row that a short plan prints in full.
const ALIKE: usize = 1;

/// Maximum number of further nodes that a step names.
const NODES: usize = 3;

/// Prints the parts of a plan.
pub(super) struct PlanPrinter<'a> {
    pub(super) report: &'a Report,
    pub(super) extent: Extent,
    pub(super) look: Look,
    /// Width of the step numbers.
    pub(super) digits: usize,
    pub(super) order: Order,
    pub(super) folding: Folding,
    pub(super) details: Printer,
    pub(super) rounds: Vec<NodeRound<'a>>,
    /// The steps that are not printed.
    pub(super) hidden: BTreeSet<usize>,
    /// The findings whose steps are not printed.
    pub(super) risks: BTreeSet<usize>,
}

impl<'a> PlanPrinter<'a> {
    /// The headings of findings, at most [`ALIKE`] of the same check and severity in a row; then their subjects.
    pub(super) fn headings(&self, numbers: &BTreeSet<usize>) -> Vec<String> {
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
        let findings = || numbers.iter().filter_map(|&number| self.finding(number)).map(|(_, finding)| finding);
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
    pub(super) fn risks(&self, numbers: &BTreeSet<usize>) -> Vec<String> {
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
    pub(super) fn symptoms(&self) -> Vec<String> {
        let findings = &self.report.findings;
        let planned = self.report.repair.findings.keys();
        let all: BTreeSet<String> = planned.flat_map(|&at| self.folding.symptoms_of(at, findings)).collect();
        self.details.symptoms(&all.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// A step with its command; `repairs` if it repairs others than the finding above it. `is_stated`: an
    /// earlier step states the release of the linkerd CLI that it needs.
    pub(super) fn step(
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
        let end = elsewhere(&step.step, number, &self.rounds, self.look.most(NODES)) + &repairs.unwrap_or_default();
        let room = self.look.prose() - indent.len();
        let words = wrap(&format!("{text}{end}"), room).into_iter();
        let mut lines: Vec<String> = words.map(|line| format!("{indent}{}", line.replace(BOUND, " "))).collect();
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
                wrap(&format!("(the commands of step {same})"), room).iter().map(|line| format!("{indent}{line}")),
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
    pub(super) fn further(&self, steps: &BTreeSet<usize>) -> Vec<String> {
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

    /// The effect of a command with another linkerd CLI than the one it requires, which the reader of a dump may use.
    fn with_other_cli(&self, step: &PlanStep) -> Option<String> {
        let release = step.step.command.as_ref().and_then(Command::required_cli)?;
        let is_installed = !self.is_to_install(release) && self.report.repair.installing_cli(release).is_none();
        (is_installed && self.report.origin.kind != "live")
            .then(|| format!("(only with linkerd CLI {release}; with another, it does nothing)"))
    }

    /// Whether the reader may lack the linkerd CLI of a release, and no step installs it.
    fn is_to_install(&self, release: &str) -> bool {
        let plan = &self.report.repair;
        self.report.subject.cli.as_deref() != Some(release) && plan.installing_cli(release).is_none()
    }

    /// The commands that install the linkerd CLI for a step, if the reader may lack it.
    fn installation(&self, step: &PlanStep) -> Vec<String> {
        let release = step.step.command.as_ref().and_then(Command::required_cli);
        let command = release.filter(|release| self.is_to_install(release)).and_then(checks::cli_installation);
        command.iter().flat_map(lines_of).collect()
    }

    /// The checks that the run left out and whose findings would be repaired before those of the plan.
    pub(super) fn left_out(&self) -> Vec<String> {
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
        let names: Vec<String> = checks::all().filter(comes_before).map(|check| check.id.to_owned()).collect();
        let mut lines = Vec::new();
        for (label, when, names) in
            [("first", "first", names), ("then", "after these steps", after.into_iter().cloned().collect())]
        {
            if !names.is_empty() {
                let words = format!("not selected, but repaired {when} if found: {}", some_of(&names, LEFT_OUT));
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
    pub(super) fn verify(&self) -> Vec<String> {
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
            let words = "IMAGE: a meshdoctor image that the nodes can pull (https://github.com/meshdoctor/meshdoctor)";
            lines.extend(wrap(words, self.look.prose().saturating_sub(12)));
        }
        let label = |at| self.look.faint(&pad(if at == 0 { "verify" } else { "" }, 10));
        lines.iter().enumerate().map(|(at, line)| format!("  {}{line}", label(at))).collect()
    }
}
