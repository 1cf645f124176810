//! One finding as text: heading, message, evidence, explained findings, steps, and the verification. Reports
//! and cards use the same format.

mod evidence;

use jiff::Timestamp;

use super::look::Look;
use super::steps::in_remedy;
use super::text::{clean, pad, width, wrap, wrap_from};
use super::{repair, subject};
use crate::checks::KNOWN_DEFECT;
use crate::command::Command;
use crate::finding::{Confidence, Evidence, Finding, NodeRound, Severity, Standing, Step, Subject, WaivedBy, When};
use crate::knowledge::Knowledge;
use crate::report::{PlannedFinding, Report};
use evidence::{EVIDENCE, LINES_OF_ONE, LINES_OF_SEVERAL, QUOTED, QUOTED_LINES, is_target};

/// Column at which the content of a labelled block starts.
pub const INDENT: usize = 12;

/// Column at which the text of an info continues: after its severity.
const INFO: usize = 6;

/// Maximum number of pieces of evidence in the plan, and the number of lines after which no further one is started.
const IN_PLAN: usize = 2;

/// Columns of the label of a waived or known finding.
const SET_ASIDE: usize = 10;

/// Prints a finding as lines.
pub struct Printer {
    look: Look,
    form: Form,
    /// Whether the findings are those of an upgrade: the heading names its target, the verification follows the last of
    /// them, and the plan orders their steps.
    of_upgrade: bool,
}

/// The context in which findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A card: all fields of a finding, independent of the current time.
    Card,
    /// A report: the age of events is counted from `now`, infos are a heading and a sentence.
    Report { now: Timestamp },
    /// A report with a repair plan of several findings: each has its number in that plan.
    NumberedReport { now: Timestamp },
}

impl Form {
    pub fn of_report(report: &Report) -> Form {
        let now = report.at.0;
        match report.repair.findings.len() {
            0 | 1 => Form::Report { now },
            _ => Form::NumberedReport { now },
        }
    }

    /// The time that ages refer to; without it, times are printed instead.
    fn now(self) -> Option<Timestamp> {
        match self {
            Form::Card => None,
            Form::Report { now } | Form::NumberedReport { now } => Some(now),
        }
    }

    /// Maximum number of pieces of evidence, and of lines for them.
    fn evidence(self) -> (usize, usize) {
        match self {
            Form::Card => (EVIDENCE, usize::MAX),
            Form::Report { .. } | Form::NumberedReport { .. } => (QUOTED, QUOTED_LINES),
        }
    }
}

impl Printer {
    /// A printer for a context.
    pub fn new(look: Look, form: Form) -> Printer {
        Printer { look, form, of_upgrade: false }
    }

    /// A printer for findings of an upgrade.
    pub fn of_upgrade(&self) -> Printer {
        Printer { look: self.look, form: self.form, of_upgrade: true }
    }

    /// The whole finding. `explains` are the findings folded under it, one entry for each symptom.
    pub fn finding(&self, finding: &Finding, explains: &[String]) -> String {
        self.block(finding, explains, None, None)
    }

    /// The finding without the steps in the report's repair plan, unless verbose.
    pub fn planned(&self, finding: &Finding, explains: &[String], planned: Option<&PlannedFinding>) -> String {
        self.block(finding, explains, None, planned)
    }

    /// A waived finding or one of the baseline, in brief: `waived    crd-missing  Service shop/web: until
    /// 2026-12-01 by ...`.
    pub fn set_aside(&self, finding: &Finding) -> Vec<String> {
        let label = if finding.is_waived() { "waived" } else { "baseline" };
        let about = subject::brief(finding.subjects.iter());
        let by = if finding.is_waived() { standing(finding).join("; ") } else { String::new() };
        let words = [finding.severity.label(), finding.check, &about].join("  ");
        let words = if by.is_empty() { words } else { format!("{words}: {by}") };
        let lines = wrap(&clean(&words), self.look.prose() - SET_ASIDE).into_iter().enumerate();
        let label = |at| self.look.faint(&pad(if at == 0 { label } else { "" }, SET_ASIDE));
        lines.map(|(at, line)| format!("{}{line}", label(at))).collect()
    }

    /// An info, in one line if it fits; `column` is the width of the check names.
    pub fn info(&self, finding: &Finding, column: usize) -> String {
        let name = check_name(finding);
        let told = match &finding.fact {
            Some(fact) => fact.clone(),
            None => {
                let about = subject::brief(finding.subjects.iter());
                // If the message starts with its subject, the subject is not repeated.
                match finding.message.strip_prefix("The ").is_some_and(|told| told.starts_with(&about)) {
                    true => finding.message.clone(),
                    false => format!("{about}: {}", finding.message),
                }
            }
        };
        let fact = clean(&told);
        let plain = INFO + column + 2;
        // A long sentence is put under its heading instead of into a narrow column.
        let beside = width(&fact) <= self.look.prose().saturating_sub(plain);
        let word = self.look.severity(finding.severity);
        if beside {
            let gap = " ".repeat(column.saturating_sub(width(&name)) + 2);
            return format!("{word}  {}{gap}{fact}\n", self.look.strong(&name));
        }
        let mut lines = vec![format!("{word}  {}", self.look.strong(&name))];
        lines.extend(wrap(&fact, self.look.prose() - INFO).into_iter().map(|line| " ".repeat(INFO) + &line));
        lines.join("\n") + "\n"
    }

    /// A symptom: the finding without steps, and its cause.
    pub fn symptom(&self, finding: &Finding, cause: &str) -> String {
        self.block(finding, &[], Some(cause), None)
    }

    /// What the short plan prints between the message of a finding and its steps.
    pub fn in_plan(&self, finding: &Finding, logged: Option<&Evidence>, is_only: bool) -> Vec<String> {
        let most = if is_only { LINES_OF_ONE } else { LINES_OF_SEVERAL };
        let mut lines = self.labelled("evidence", self.brief_evidence(finding, logged, most));
        lines.extend(self.standing(finding));
        lines.extend(self.labelled("manifest", self.written(finding)));
        lines.extend(self.resolved_by_upgrade(finding));
        lines
    }

    /// The owners of waivers, or that the baseline has the finding.
    fn standing(&self, finding: &Finding) -> Vec<String> {
        let wrapped =
            |lines: Vec<String>| lines.iter().flat_map(|line| wrap(&clean(line), self.look.prose() - INDENT)).collect();
        let label = if finding.is_waived() { "waived" } else { "baseline" };
        let mut lines = self.labelled(label, wrapped(standing(finding)));
        lines.extend(self.labelled("waived", wrapped(waived_in_part(finding))));
        lines
    }

    /// The findings that others explain.
    pub fn symptoms(&self, words: &str) -> Vec<String> {
        let lines = wrap(words, self.look.prose() - INDENT);
        self.labelled("symptoms", lines.into_iter().filter(|line| !line.is_empty()).collect())
    }

    fn resolved_by_upgrade(&self, finding: &Finding) -> Vec<String> {
        let words = (finding.when == When::UntilUpgrade).then(|| "the upgrade resolves this finding".to_owned());
        self.labelled("upgrade", words.into_iter().collect())
    }

    fn block(
        &self,
        finding: &Finding,
        explains: &[String],
        cause: Option<&str>,
        planned: Option<&PlannedFinding>,
    ) -> String {
        let in_full = finding.severity > Severity::Info || self.look.verbose || self.form == Form::Card;
        let message = clean(&finding.message);
        let mut lines = self.heading(finding, planned);
        // The plan has the message and the steps.
        if planned.is_none() {
            let message = wrap(&message, self.look.prose() - 2).into_iter();
            lines.extend(message.map(|line| format!("  {line}")));
        }
        lines.extend(self.standing(finding));
        if in_full {
            let is_shown = |evidence: &&Evidence| !self.of_upgrade || !is_target(evidence);
            let evidence: Vec<Evidence> = finding.evidence.iter().filter(is_shown).cloned().collect();
            lines.extend(self.labelled("evidence", self.evidence(&evidence)));
            lines.extend(self.labelled("manifest", self.written(finding)));
            if self.look.verbose || self.form == Form::Card {
                lines.extend(self.labelled("timeline", self.timeline(&finding.timeline)));
            }
        }
        lines.extend(self.labelled("caused by", cause.map(str::to_owned).into_iter().collect()));
        lines.extend(self.symptoms(&explains.join(", ")));
        // The short plan has it in the finding's heading.
        let after = planned.filter(|planned| self.look.verbose && !planned.after.is_empty());
        if let Some(planned) = after {
            let words = repair::after_in_words(planned);
            lines.extend(self.labelled("after", wrap(&words, self.look.prose() - INDENT)));
        }
        lines.extend(self.resolved_by_upgrade(finding));
        // The repair of the cause is that of the symptom.
        if in_full && planned.is_none() && cause.is_none() {
            lines.extend(self.steps(&finding.remedy.steps));
            let verify = finding.remedy.verify.iter().filter(|_| !self.of_upgrade);
            let verify = verify.flat_map(Command::rendered);
            let verify = verify.map(|line| self.look.command(&clean(&line))).collect();
            lines.extend(self.labelled("verify", verify));
        }
        lines.join("\n") + "\n"
    }

    fn heading(&self, finding: &Finding, planned: Option<&PlannedFinding>) -> Vec<String> {
        let number = planned
            .filter(|_| matches!(self.form, Form::NumberedReport { .. }))
            .map_or_else(String::new, |planned| format!(" {}", planned.number));
        let room = self.look.columns().saturating_sub(width(finding.severity.label()) + width(&number) + 2);
        let (name, moved) = named_within(finding, room);
        // The pods of an info are evidence, which it does not show.
        let is_brief = finding.severity == Severity::Info && self.form != Form::Card && !self.look.verbose;
        let without_pods = |subject: &Subject| match subject.clone() {
            Subject::Object { kind, namespace, name, .. } => {
                Subject::Object { kind, namespace, name, pods: Vec::new() }
            }
            other => other,
        };
        let subjects: Vec<Subject> = match is_brief {
            true => finding.subjects.iter().map(without_pods).collect(),
            false => finding.subjects.clone(),
        };
        let about = format!("{moved}{}", subject::heading(&subjects, self.look));
        let plain = format!("{}{number}  {name}  ", finding.severity);
        let painted = format!("{}{number}  {}  ", self.look.severity(finding.severity), self.look.strong(&name));
        let columns = self.look.columns();
        let mut wrapped = wrap_from(&about, columns.saturating_sub(width(&plain)), columns - 9).into_iter();
        let first = wrapped.next().unwrap_or_default();
        let mut lines = vec![format!("{painted}{first}").trim_end().to_owned()];
        lines.extend(wrapped.map(|line| format!("{}{line}", " ".repeat(9))));
        lines
    }

    /// A label, followed by lines that already have their full width.
    pub fn labelled(&self, label: &str, lines: Vec<String>) -> Vec<String> {
        let blank = " ".repeat(INDENT);
        let label = format!("  {}", self.look.faint(label)) + &" ".repeat(INDENT - 2 - width(label));
        lines
            .into_iter()
            .enumerate()
            .map(|(at, line)| format!("{}{line}", if at == 0 { &label } else { &blank }))
            .collect()
    }

    fn steps(&self, steps: &[Step]) -> Vec<String> {
        let mut lines = Vec::new();
        let rounds = NodeRound::all(steps);
        for (at, step) in steps.iter().enumerate() {
            let number = format!("{}. ", at + 1);
            let indent = if self.form == Form::Card { INDENT } else { 2 };
            let inner = indent + number.len();
            let nodes = repair::elsewhere(step, at + 1, &rounds, self.look.most(EVIDENCE));
            let text = format!("{}{nodes}", in_remedy(steps, at + 1, &step.text));
            let text = clean(&text);
            for (line, words) in wrap(&text, self.look.prose() - inner).into_iter().enumerate() {
                lines.push(if line == 0 { format!("{number}{words}") } else { " ".repeat(number.len()) + &words });
            }
            // Commands are never wrapped, so that they can be pasted.
            for line in step.command.iter().flat_map(|command| repair::command_lines(command, self.look)) {
                lines.push(format!("{}{}", " ".repeat(number.len() + 2), self.look.command(&line)));
            }
        }
        match self.form {
            Form::Card => self.labelled("fix", lines),
            // As in the plan.
            Form::Report { .. } | Form::NumberedReport { .. } => {
                lines.into_iter().map(|line| format!("  {line}")).collect()
            }
        }
    }
}

/// The check, and whether the finding is inferred.
pub(super) fn check_name(finding: &Finding) -> String {
    let name = explained_as(finding);
    match finding.confidence {
        Confidence::Likely => format!("{name} (likely)"),
        Confidence::Observed => name,
    }
}

/// [`named`], or only the name if that is too wide, and `(likely)` for what follows it.
pub(super) fn named_within(finding: &Finding, room: usize) -> (String, &'static str) {
    let whole = check_name(finding);
    match finding.confidence {
        Confidence::Likely if width(&whole) > room => (explained_as(finding), "(likely)  "),
        _ => (whole, ""),
    }
}

/// The name that `explain` accepts: the check, or `known-defect/DEFECT`.
pub(super) fn explained_as(finding: &Finding) -> String {
    let check = finding.check;
    match finding.parameters.as_slice() {
        [row] if check == KNOWN_DEFECT && Knowledge::embedded().known_defects().row(row).is_some() => {
            format!("{check}/{row}")
        }
        _ => check.to_owned(),
    }
}

/// Why a finding does not fail the run; empty if it does.
pub fn standing(finding: &Finding) -> Vec<String> {
    match &finding.standing {
        Standing::Passes | Standing::Fails => Vec::new(),
        Standing::InBaseline => vec!["it already has it, so it does not count".to_owned()],
        Standing::Waived(by) => by
            .iter()
            .map(|by| format!("until {} by {}: {} ({})", by.expires, by.owner, by.reason, by.place()))
            .collect(),
    }
}

/// The accepted subjects, if not all are; empty otherwise.
pub fn waived_in_part(finding: &Finding) -> Vec<String> {
    let line = |(subject, by): &(Subject, WaivedBy)| {
        format!("{subject} alone, until {} by {}: {} ({})", by.expires, by.owner, by.reason, by.place())
    };
    finding.waived_in_part.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::evidence::ago;
    use super::*;
    use crate::finding::Moment;

    #[test]
    fn a_timeline_is_shown_where_several_objects_tell_it_and_the_middle_of_a_long_one_is_counted() {
        let moment = |at: usize, object: &str| Moment {
            at: format!("2026-01-15T06:{at:02}:00Z").parse().expect("a time"),
            object: object.to_owned(),
            field: "metadata.creationTimestamp".to_owned(),
            what: format!("created {at}"),
        };
        let printer = Printer::new(Look::plain(100), Form::Card);
        let one: Vec<Moment> = (0..3).map(|at| moment(at, "Pod shop/web")).collect();
        assert!(printer.timeline(&one).is_empty());
        let many: Vec<Moment> = (0..12).map(|at| moment(at, &format!("Pod shop/web-{at}"))).collect();
        let lines = printer.timeline(&many);
        assert_eq!(lines[0], "2026-01-15T06:00:00Z  created 0  Pod shop/web-0  metadata.creationTimestamp");
        assert_eq!(lines[5], "and 3 more (-v or -o json shows all)");
        assert!(lines[6].starts_with("2026-01-15T06:08:00Z") && lines.len() == 10, "{lines:#?}");
    }

    #[test]
    fn ages_are_rounded_down() {
        let now: Timestamp = "2026-01-15T12:00:00Z".parse().expect("a time");
        for (then, words) in [
            ("2026-01-15T11:59:30Z", "30 s ago"),
            ("2026-01-15T11:57:10Z", "2 min ago"),
            ("2026-01-15T09:00:00Z", "3 h ago"),
            ("2026-01-10T09:00:00Z", "5 days ago"),
            ("2026-01-15T12:00:01Z", "2026-01-15T12:00:01Z"),
        ] {
            assert_eq!(ago(then.parse().expect("a time"), now), words);
        }
    }
}
