//! The evidence of findings: quotations, timelines and manifests.

use super::super::text::{clean, lasting, shortened, thousands, width, with_short_ids, wrap, wrap_from};
use super::{IN_PLAN, INDENT, Printer};
use crate::finding::{Evidence, Finding, ManifestLocation, Moment, Place, Subject};
use jiff::Timestamp;
use std::borrow::Cow;

/// Maximum number of pieces of evidence in cards, and of nodes that a step names.
pub(super) const EVIDENCE: usize = 6;

/// Maximum number of pieces of evidence in reports, and the number of lines after which no further one is
/// started.
pub(super) const QUOTED: usize = 3;

pub(super) const QUOTED_LINES: usize = 4;

/// Maximum number of lines of evidence in a plan, except for the first piece: of the only finding, or one of several.
pub(super) const LINES_OF_ONE: usize = 5;

pub(super) const LINES_OF_SEVERAL: usize = 3;

/// Length in characters of the beginning and of the end of a line of a log in a plan. The end often has the reason.
const LOGGED: (usize, usize) = (150, 70);

/// Maximum number of events of a timeline, and the number of latest ones among them.
const MOMENTS: usize = 9;

const LATEST: usize = 4;

/// Maximum number of locations in manifests.
const WRITTEN: usize = 4;

/// Length in characters above which a quotation is truncated in the middle.
const QUOTATION: usize = 420;

/// Whether a piece of evidence only repeats the target of an upgrade.
pub(super) fn is_target(evidence: &Evidence) -> bool {
    matches!(&evidence.place, Place::Other { name } if name == "--to")
}

/// `PLACE: WHAT`.
fn beside(place: &str, said: &str) -> String {
    if place.is_empty() { said.to_owned() } else { format!("{place}: {said}") }
}

/// Wrapped, with all lines but the first indented.
pub(super) fn hanging(text: &str, columns: usize) -> Vec<String> {
    let text = with_breaks(text, columns - 2);
    let lines = wrap_from(&text, columns, columns - 2).into_iter();
    lines.enumerate().map(|(at, line)| if at == 0 { line } else { format!("  {line}") }).collect()
}

/// A text without its middle, in whole words: a line of a log begins with the event and ends with the reason.
fn without_middle(text: &str, (first, last): (usize, usize)) -> String {
    let length = text.chars().count();
    if length <= first + last {
        return text.to_owned();
    }
    let begin: String = text.chars().take(first).collect();
    let end: String = text.chars().skip(length - last).collect();
    let (begin, _) = begin.rsplit_once(' ').unwrap_or((&begin, ""));
    let (_, end) = end.split_once(' ').unwrap_or(("", &end));
    format!("{begin} ... {end}")
}

/// A text whose paths of fields break after a dot if they are too long for a line:
/// `status.initContainerStatuses[linkerd-init].lastState.terminated.message:`. Values stay whole, to be copied.
fn with_breaks(text: &str, columns: usize) -> Cow<'_, str> {
    let is_long_path =
        |word: &str| word.ends_with(':') && word.contains("].") && !word.contains("://") && width(word) > columns;
    if !text.split(' ').any(is_long_path) {
        return Cow::Borrowed(text);
    }
    let words = text.split(' ').map(|word| match is_long_path(word) {
        true => Cow::Owned(word.replacen("].", "]. ", 1)),
        false => Cow::Borrowed(word),
    });
    Cow::Owned(words.collect::<Vec<_>>().join(" "))
}

/// `2 min ago`.
pub(super) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    if seconds < 0 { format!("{then}") } else { format!("{} ago", lasting(seconds)) }
}

impl Printer {
    /// The first pieces of evidence. The name of an object that is the only subject is not repeated.
    pub(super) fn brief_evidence(&self, finding: &Finding, logged: Option<&Evidence>, most: usize) -> Vec<String> {
        let only = match finding.subjects.as_slice() {
            [only @ Subject::Object { .. }] => clean(&only.to_string()).into_owned(),
            _ => String::new(),
        };
        let columns = self.look.columns() - INDENT;
        let rows: Vec<_> = finding.evidence.iter().map(|evidence| self.row(evidence)).collect();
        let mut lines: Vec<String> = Vec::new();
        let mut last = &only;
        for ((who, seen), evidence) in rows.iter().zip(&finding.evidence).take(IN_PLAN) {
            // "does not exist" needs its object.
            let is_clause = matches!(evidence.place, Place::Other { .. }) && who == &only;
            let text = match who == last && !is_clause {
                true => seen.clone(),
                false => format!("{who}  {seen}"),
            };
            let indent = if who == last && *who != only { "  " } else { "" };
            let wrapped = hanging(&text, columns - indent.len());
            if !lines.is_empty() && lines.len() + wrapped.len() > most {
                break;
            }
            lines.extend(wrapped.into_iter().map(|line| format!("{indent}{line}")));
            last = who;
        }
        let is_shown = |one: &&Evidence| finding.evidence.iter().take(IN_PLAN).any(|shown| shown == *one);
        if let Some(logged) = logged.filter(|one| !is_shown(one)) {
            let (who, seen) = self.row(logged);
            lines.extend(hanging(&format!("{who}  {}", without_middle(&seen, LOGGED)), columns));
        }
        lines
    }

    /// Location and value, one under the other: a separate column would leave too little space for the value.
    /// Several values of one location are indented under it.
    pub(super) fn evidence(&self, evidence: &[Evidence]) -> Vec<String> {
        let (most, most_lines) = self.form.evidence();
        let (most, most_lines) = (self.look.most(most), self.look.most(most_lines));
        let most = if evidence.len() <= most + 1 { evidence.len() } else { most };
        let columns = self.look.columns() - INDENT;
        let mut lines = Vec::new();
        let mut last = None;
        let mut shown = 0;
        for (who, seen) in evidence[..most].iter().map(|evidence| self.row(evidence)) {
            if lines.len() >= most_lines {
                break;
            }
            shown += 1;
            if last.as_ref() == Some(&who) {
                lines.extend(hanging(&seen, columns - 2).into_iter().map(|line| format!("  {line}")));
                continue;
            }
            let mut stacked = hanging(&format!("{who}  {seen}"), columns);
            if let Some(rest) = stacked.first().and_then(|first| first.strip_prefix(&who)) {
                stacked[0] = format!("{}{rest}", self.look.faint(&who));
            }
            lines.append(&mut stacked);
            last = Some(who);
        }
        if shown < evidence.len() {
            lines.push(format!("and {} more (-v or -o json shows all)", thousands(evidence.len() - shown)));
        }
        lines
    }

    /// `web.yaml:9:9 (from shop/templates/web.yaml)`.
    pub(super) fn written(&self, finding: &Finding) -> Vec<String> {
        let written = &finding.written;
        let line = |one: &ManifestLocation| {
            let source = one.source.as_ref().map(|source| format!(" (from {})", clean(source)));
            format!("{}:{}:{}{}", clean(&one.file), one.line, one.column, source.unwrap_or_default())
        };
        let most = self.look.most(WRITTEN);
        let mut lines: Vec<String> = written.iter().take(most).map(line).collect();
        if written.len() > most {
            lines.push(format!("and {} more places", written.len() - most));
        }
        let commands = finding.remedy.steps.iter().any(|step| step.command.is_some());
        if !lines.is_empty() && commands {
            let words = "change it there; the commands below change the applied object";
            lines.extend(wrap(words, self.look.prose() - INDENT));
        }
        lines
    }

    /// The timeline, a line for each event; of many, the first and the last. Events of a single object are
    /// part of the evidence: only those of several objects need an order.
    pub(super) fn timeline(&self, moments: &[Moment]) -> Vec<String> {
        let Some(first) = moments.first().filter(|first| moments.iter().any(|m| m.object != first.object)) else {
            return Vec::new();
        };
        let columns = self.look.columns() - INDENT;
        let indent = " ".repeat(first.at.to_string().len() + 2);
        let line = |moment: &Moment| {
            let time = moment.at.to_string();
            let (what, field) = (clean(&moment.what), clean(&moment.field));
            let words = format!("{what}  {}  {field}", clean(&moment.object));
            let mut lines = wrap(&words, columns.saturating_sub(indent.len())).into_iter();
            let first = format!("{}  {}", self.look.faint(&time), lines.next().unwrap_or_default());
            std::iter::once(first).chain(lines.map(|line| format!("{indent}{line}"))).collect::<Vec<_>>()
        };
        let most = self.look.most(MOMENTS);
        if moments.len() <= most.saturating_add(1) {
            return moments.iter().flat_map(line).collect();
        }
        let (before, after) = (&moments[..most - LATEST], &moments[moments.len() - LATEST..]);
        let left_out = moments.len() - most;
        let more = format!("and {} more (-v or -o json shows all)", thousands(left_out));
        before.iter().flat_map(line).chain([more]).chain(after.iter().flat_map(line)).collect()
    }

    /// Location and value of a piece of evidence.
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

    /// Count and time of an event.
    fn circumstances(&self, count: u32, last: Option<Timestamp>) -> String {
        let times = (count > 1).then(|| format!("{} times", thousands(count as usize)));
        let last = last.map(|last| match self.form.now() {
            Some(now) => format!("last {}", ago(last, now)),
            None => format!("last {last}"),
        });
        match [times, last].into_iter().flatten().collect::<Vec<_>>().join(", ") {
            nothing if nothing.is_empty() => nothing,
            words => format!(" ({words})"),
        }
    }
}
