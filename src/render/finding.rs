//! One finding for people: heading, message, evidence, what it explains, steps, the command that verifies. Reports and
//! cards print it alike.

use jiff::Timestamp;

use super::look::Look;
use super::subject;
use super::text::{clean, clean_lines, pad, shortened, thousands, width, wrap, wrap_from};
use crate::finding::{Confidence, Evidence, Finding, Place, Severity, Step};

/// Where the contents of a labelled block begin.
pub const INDENT: usize = 12;

/// How much of the evidence is shown.
const EVIDENCE: usize = 6;

/// From how many characters on a quotation loses its middle.
const QUOTATION: usize = 420;

/// A finding, in lines.
pub struct Printer {
    look: Look,
    /// The moment that ages are counted from; without it, times are given instead.
    now: Option<Timestamp>,
}

impl Printer {
    /// A printer. With `now`, events are so and so long ago.
    pub fn new(look: Look, now: Option<Timestamp>) -> Printer {
        Printer { look, now }
    }

    /// The whole finding. `explains` is what is folded under it, one entry a symptom.
    pub fn finding(&self, finding: &Finding, explains: &[String]) -> String {
        let mut lines = self.heading(finding);
        let message = clean(&finding.message);
        lines.extend(wrap(&message, self.look.prose() - 2).into_iter().map(|line| format!("  {line}")));
        lines.extend(self.labelled("seen", self.evidence(&finding.evidence)));
        if !explains.is_empty() {
            let words = explains.join(", ");
            lines.extend(self.labelled("explains", wrap(&words, self.look.prose() - INDENT)));
        }
        if finding.severity > Severity::Info || self.look.verbose {
            lines.extend(self.steps(&finding.remedy.steps));
            let verify = clean_lines(&finding.remedy.verify).map(|line| self.look.command(&line)).collect();
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

    /// Places in one column and what was seen there in another, where that fits; else one under the other.
    fn evidence(&self, evidence: &[Evidence]) -> Vec<String> {
        let most = self.look.most(EVIDENCE);
        let shown = if evidence.len() <= most + 1 { evidence.len() } else { most };
        let rows: Vec<(String, String)> = evidence[..shown]
            .iter()
            .map(|evidence| {
                let said = clean(&evidence.said);
                let said =
                    if self.look.verbose { said } else { shortened(&said, QUOTATION).into_owned().into() };
                (place(&evidence.place), format!("{said}{}", self.circumstances(&evidence.place)))
            })
            .collect();
        let columns = self.look.columns() - INDENT;
        let column = rows.iter().map(|(place, _)| width(place)).max().unwrap_or_default();
        let longest = rows.iter().map(|(_, said)| width(said)).max().unwrap_or_default();
        // Side by side needs room for what was said: all of it, or enough to read it in a few lines.
        let side_by_side = column + 2 + longest.min(50) <= columns;
        let mut lines = Vec::new();
        for (place, said) in rows {
            if side_by_side {
                let room = (columns - column - 2).min(self.look.prose());
                for (at, line) in wrap(&said, room).into_iter().enumerate() {
                    let place = if at == 0 { pad(&place, column) } else { " ".repeat(column) };
                    lines.push(format!("{}  {line}", self.look.faint(&place)));
                }
            } else if width(&place) + 2 + width(&said) <= columns {
                lines.push(format!("{}  {said}", self.look.faint(&place)));
            } else {
                lines.extend(wrap(&place, columns).into_iter().map(|line| self.look.faint(&line)));
                let room = (columns - 2).min(self.look.prose());
                lines.extend(wrap(&said, room).into_iter().map(|line| format!("  {line}")));
            }
        }
        if shown < evidence.len() {
            lines.push(format!("and {} more (-v or -o json shows all)", thousands(evidence.len() - shown)));
        }
        lines
    }

    /// How often an event was seen and when.
    fn circumstances(&self, place: &Place) -> String {
        let Place::Event { count, last, .. } = place else { return String::new() };
        let times = match count {
            0 | 1 => None,
            count => Some(format!("{} times", thousands(*count as usize))),
        };
        let last = last.map(|last| match self.now {
            Some(now) => format!("last {}", ago(last, now)),
            None => format!("last {last}"),
        });
        match [times, last].into_iter().flatten().collect::<Vec<_>>().join(", ") {
            nothing if nothing.is_empty() => nothing,
            words => format!(" ({words})"),
        }
    }

    fn steps(&self, steps: &[Step]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut at_margin = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let number = format!("{}. ", at + 1);
            let inner = INDENT + number.len();
            for (line, words) in wrap(&clean(&step.text), self.look.prose() - inner).into_iter().enumerate() {
                lines.push(if line == 0 {
                    format!("{number}{words}")
                } else {
                    " ".repeat(number.len()) + &words
                });
            }
            // Whole lines, whatever the width: what is broken cannot be pasted. A here-document ends only at a line
            // that begins with its word, so commands that hold one are not indented at all.
            let command = step.command.as_deref().unwrap_or_default();
            for line in clean_lines(command).filter(|_| !command.is_empty()) {
                let line = self.look.command(&line);
                if command.contains("<<") {
                    at_margin.push((lines.len(), line));
                    lines.push(String::new());
                } else {
                    lines.push(format!("{}{line}", " ".repeat(number.len() + 2)));
                }
            }
        }
        let mut lines = self.labelled("fix", lines);
        for (at, line) in at_margin {
            lines[at] = line;
        }
        lines
    }
}

/// Where something was seen, in words.
pub fn place(place: &Place) -> String {
    match place {
        Place::Field { object, path } if path.is_empty() => clean(object).into_owned(),
        Place::Field { object, path } => format!("{}  {}", clean(object), clean(path)),
        Place::File { node, file, path, line, column } => {
            let mut text = format!("{}  {}", clean(node), clean(file));
            for number in [line, column].into_iter().map_while(|number| number.as_ref()) {
                text.push_str(&format!(":{number}"));
            }
            if let Some(path) = path.as_ref().filter(|path| !path.is_empty()) {
                text.push_str("  ");
                text.push_str(&clean(path));
            }
            text
        }
        Place::Event { object, reason, .. } => format!("Event of {}  {}", clean(object), clean(reason)),
        Place::Other { name } => clean(name).into_owned(),
    }
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
