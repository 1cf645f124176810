//! One finding for people: heading, message, evidence, what it explains, steps, the command that verifies. Reports and
//! cards print it alike.

use jiff::Timestamp;

use super::look::Look;
use super::subject;
use super::text::{clean, pad, shortened, some_of, thousands, width, with_short_ids, wrap, wrap_from};
use crate::command::Command;
use crate::finding::{Confidence, Evidence, Finding, Place, Severity, Step};

/// Where the contents of a labelled block begin.
pub const INDENT: usize = 12;

/// How much of the evidence is shown.
const EVIDENCE: usize = 6;

/// How wide the first column of evidence may be: over a wider gap the eye loses the line.
const COLUMN: usize = 44;

/// How many commands of one step are shown.
const COMMANDS: usize = 8;

/// From how many characters on a quotation loses its middle.
const QUOTATION: usize = 420;

/// A finding, in lines.
pub struct Printer {
    look: Look,
    /// The moment that ages are counted from; without it, times are given instead.
    now: Option<Timestamp>,
    /// Whether infos are printed like everything else.
    infos_in_full: bool,
}

impl Printer {
    /// For a report: events are so and so long ago, and infos are a heading and a sentence.
    pub fn of_report(look: Look, now: Timestamp) -> Printer {
        Printer { look, now: Some(now), infos_in_full: look.verbose }
    }

    /// For cards: everything that a finding says, the same on every day.
    pub fn of_card(look: Look) -> Printer {
        Printer { look, now: None, infos_in_full: true }
    }

    /// The whole finding. `explains` is what is folded under it, one entry a symptom.
    pub fn finding(&self, finding: &Finding, explains: &[String]) -> String {
        self.block(finding, explains, None)
    }

    /// A symptom, unfolded: the whole finding, and what accounts for it.
    pub fn symptom(&self, finding: &Finding, cause: &str) -> String {
        self.block(finding, &[], Some(cause))
    }

    fn block(&self, finding: &Finding, explains: &[String], cause: Option<&str>) -> String {
        let in_full = finding.severity > Severity::Info || self.infos_in_full;
        let mut lines = self.heading(finding);
        let message = clean(&finding.message);
        lines.extend(wrap(&message, self.look.prose() - 2).into_iter().map(|line| format!("  {line}")));
        if in_full {
            lines.extend(self.labelled("seen", self.evidence(&finding.evidence)));
        }
        lines.extend(self.labelled("because", cause.map(str::to_owned).into_iter().collect()));
        if !explains.is_empty() {
            let words = explains.join(", ");
            lines.extend(self.labelled("explains", wrap(&words, self.look.prose() - INDENT)));
        }
        if in_full {
            lines.extend(self.steps(&finding.remedy.steps));
            let verify = finding.remedy.verify.iter().flat_map(Command::rendered);
            let verify = verify.map(|line| self.look.command(&clean(&line))).collect();
            lines.extend(self.labelled("check", verify));
        }
        lines.join("\n") + "\n"
    }

    fn heading(&self, finding: &Finding) -> Vec<String> {
        let likely = match finding.confidence {
            Confidence::Likely => " (likely)",
            Confidence::Observed => "",
        };
        let about = subject::heading(&finding.subjects, self.look);
        let plain = format!("{}  {}{likely}  ", finding.severity, finding.check);
        let painted = format!(
            "{}  {}{likely}  ",
            self.look.severity(finding.severity),
            self.look.strong(finding.check)
        );
        let columns = self.look.columns();
        let mut wrapped = wrap_from(&about, columns.saturating_sub(width(&plain)), columns - 9).into_iter();
        let first = wrapped.next().unwrap_or_default();
        let mut lines = vec![format!("{painted}{first}").trim_end().to_owned()];
        lines.extend(wrapped.map(|line| format!("{}{line}", " ".repeat(9))));
        lines
    }

    /// A label, and beside it lines that are already as long as they may be.
    pub fn labelled(&self, label: &str, lines: Vec<String>) -> Vec<String> {
        let blank = " ".repeat(INDENT);
        let label = format!("  {}", self.look.faint(label)) + &" ".repeat(INDENT - 2 - width(label));
        lines
            .into_iter()
            .enumerate()
            .map(|(at, line)| format!("{}{line}", if at == 0 { &label } else { &blank }))
            .collect()
    }

    /// What was looked at in one column and what was seen there in another, where that fits; else one under the other.
    fn evidence(&self, evidence: &[Evidence]) -> Vec<String> {
        let most = self.look.most(EVIDENCE);
        let shown = if evidence.len() <= most + 1 { evidence.len() } else { most };
        let rows: Vec<(String, String)> =
            evidence[..shown].iter().map(|evidence| self.row(evidence)).collect();
        let columns = self.look.columns() - INDENT;
        let column = rows.iter().map(|(who, _)| width(who)).max().unwrap_or_default();
        let longest = rows.iter().map(|(_, seen)| width(seen)).max().unwrap_or_default();
        // Side by side needs room for what was seen: all of it, or enough to read it in a few lines.
        let side_by_side = column <= COLUMN && column + 2 + longest.min(50) <= columns;
        let mut lines = Vec::new();
        let mut last = None;
        for (who, seen) in &rows {
            let again = last.replace(who) == Some(who);
            if side_by_side {
                let room = columns - column - 2;
                for (at, line) in hanging(seen, room).into_iter().enumerate() {
                    let who = if at == 0 && !again { pad(who, column) } else { " ".repeat(column) };
                    lines.push(format!("{}  {line}", self.look.faint(&who)));
                }
            } else {
                if !again {
                    lines.extend(wrap(who, columns).into_iter().map(|line| self.look.faint(&line)));
                }
                let room = columns - 2;
                lines.extend(hanging(seen, room).into_iter().map(|line| format!("  {line}")));
            }
        }
        if shown < evidence.len() {
            lines.push(format!("and {} more (-v or -o json shows all)", thousands(evidence.len() - shown)));
        }
        lines
    }

    /// What was looked at, and what was seen there.
    pub fn row(&self, evidence: &Evidence) -> (String, String) {
        let said = clean(&evidence.said);
        let said = match self.look.verbose {
            true => said,
            false => shortened(&with_short_ids(&said), QUOTATION).into_owned().into(),
        };
        match &evidence.place {
            Place::Field { object, path } => (clean(object).into_owned(), beside(&clean(path), &said)),
            Place::File { node, file, path, line, column } => {
                let mut place = clean(file).into_owned();
                for number in [line, column].into_iter().map_while(|number| number.as_ref()) {
                    place.push_str(&format!(":{number}"));
                }
                if let Some(path) = path.as_ref().filter(|path| !path.is_empty()) {
                    place.push_str("  ");
                    place.push_str(&clean(path));
                }
                (clean(node).into_owned(), beside(&place, &said))
            }
            Place::Event { object, reason, count, last } => {
                let seen = beside(&format!("event {}", clean(reason)), &said);
                (clean(object).into_owned(), format!("{seen}{}", self.circumstances(*count, *last)))
            }
            Place::Other { name } => (clean(name).into_owned(), said.into_owned()),
        }
    }

    /// How often an event was seen and when.
    fn circumstances(&self, count: u32, last: Option<Timestamp>) -> String {
        let times = (count > 1).then(|| format!("{} times", thousands(count as usize)));
        let last = last.map(|last| match self.now {
            Some(now) => format!("last {}", ago(last, now)),
            None => format!("last {last}"),
        });
        match [times, last].into_iter().flatten().collect::<Vec<_>>().join(", ") {
            nothing if nothing.is_empty() => nothing,
            words => format!(" ({words})"),
        }
    }

    /// The lines of a command. Where a line stands for each of very many subjects, the rest is a comment.
    fn command(&self, command: &Command) -> Vec<String> {
        let mut lines: Vec<String> = command.rendered().iter().map(|line| clean(line).into_owned()).collect();
        let most = self.look.most(COMMANDS);
        if lines.len() > most + 1 && !command.is_whole() {
            let more = lines.len() - most;
            lines.truncate(most);
            lines.push(format!("# and {} more (-v or -o json shows all)", thousands(more)));
        }
        lines
    }

    /// Further nodes on which the same is to be done.
    fn elsewhere(&self, step: &Step) -> String {
        match step.command.as_ref().map(Command::other_nodes) {
            None | Some([]) => String::new(),
            Some(nodes) => format!(" (then likewise on {})", some_of(nodes, self.look.most(EVIDENCE))),
        }
    }

    fn steps(&self, steps: &[Step]) -> Vec<String> {
        let mut lines = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let number = format!("{}. ", at + 1);
            let inner = INDENT + number.len();
            let text = clean(&(step.text.clone() + &self.elsewhere(step))).into_owned();
            for (line, words) in wrap(&text, self.look.prose() - inner).into_iter().enumerate() {
                lines.push(if line == 0 {
                    format!("{number}{words}")
                } else {
                    " ".repeat(number.len()) + &words
                });
            }
            // Whole lines, whatever the width: what is broken cannot be pasted.
            for line in step.command.iter().flat_map(|command| self.command(command)) {
                lines.push(format!("{}{}", " ".repeat(number.len() + 2), self.look.command(&line)));
            }
        }
        self.labelled("fix", lines)
    }
}

/// `PLACE: WHAT`.
fn beside(place: &str, said: &str) -> String {
    if place.is_empty() { said.to_owned() } else { format!("{place}: {said}") }
}

/// Wrapped, with all lines but the first indented.
fn hanging(text: &str, columns: usize) -> Vec<String> {
    let lines = wrap_from(text, columns, columns - 2).into_iter();
    lines.enumerate().map(|(at, line)| if at == 0 { line } else { format!("  {line}") }).collect()
}

/// `2 min ago`.
fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    match seconds {
        ..0 => format!("{then}"),
        0..90 => format!("{seconds} s ago"),
        90..5400 => format!("{} min ago", seconds / 60),
        5400..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
