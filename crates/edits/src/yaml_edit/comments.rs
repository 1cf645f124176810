//! Comments that belong to a field: the lines directly above it, and the end of its line. They go with the
//! field when it is removed, and come back where an edit puts the same field with the same value.

use std::ops::Range;

use serde_json::Value;

use super::layout::{Entry, Holds, TextNode};
use super::scalar;

/// A field that an edit removes, with its comments.
#[derive(Debug)]
pub(super) struct Removed {
    /// The field in one line, as an edit writes it.
    line: String,
    /// The comments above it, without indentation.
    above: Vec<String>,
    /// The comment at the end of its line.
    behind: Option<String>,
}

/// Start of the comment lines directly above a line, with the indentation of its field.
pub(super) fn start(text: &str, line: usize, column: usize) -> usize {
    let mut at = line;
    while let Some(before) = text[..at].strip_suffix('\n') {
        let begin = before.rfind('\n').map_or(0, |end| end + 1);
        let above = &before[begin..];
        let indent = above.len() - above.trim_start_matches(' ').len();
        if indent != column || !above[indent..].starts_with('#') {
            break;
        }
        at = begin;
    }
    at
}

/// The comment at the end of a line, from a position behind the field.
pub(super) fn behind(text: &str, at: usize) -> Option<&str> {
    let line = text[at..].split('\n').next().unwrap_or_default().trim();
    line.starts_with('#').then_some(line)
}

/// The comment lines of a text, without its first line, which is the end of another one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').skip(1).map(str::trim).filter(|line| line.starts_with('#'))
}

/// The comment lines of a collection that are not directly above one of its fields or items.
pub(super) fn of_no_field<'a>(text: &'a str, range: Range<usize>, node: &TextNode) -> Vec<&'a str> {
    let mut fields = Vec::new();
    taken(text, node, &mut fields);
    let mut found = Vec::new();
    let mut at = range.start;
    for (number, line) in text[range.clone()].split_inclusive('\n').enumerate() {
        let is_comment = number > 0 && line.trim_start().starts_with('#');
        if is_comment && !fields.iter().any(|field| field.contains(&at)) {
            found.push(line.trim_end());
        }
        at += line.len();
    }
    found
}

/// The lines of fields and items, with the comments directly above them.
fn taken(text: &str, node: &TextNode, into: &mut Vec<Range<usize>>) {
    let field = |begin: usize, column: Option<usize>, value: &TextNode, into: &mut Vec<Range<usize>>| {
        let line = text[..begin].rfind('\n').map_or(0, |at| at + 1);
        let first = start(text, line, column.unwrap_or(begin - line));
        match value.holds {
            Holds::Scalar => into.push(first..value.end.max(begin)),
            _ if value.is_flow => into.push(first..value.end),
            _ => into.push(first..begin),
        }
    };
    match &node.holds {
        Holds::Map(entries) => {
            for entry in entries {
                field(entry.start, Some(entry.column), &entry.value, into);
                taken(text, &entry.value, into);
            }
        }
        Holds::List(items) => {
            for item in items {
                let dash = text[..item.start].trim_end().len().saturating_sub(1);
                field(dash, None, item, into);
                taken(text, item, into);
            }
        }
        Holds::Scalar => {}
    }
}

/// The fields with comments that a change of `before` to `after` removes.
pub(super) fn removed(text: &str, node: &TextNode, before: &Value, after: Option<&Value>) -> Vec<Removed> {
    let mut found = Vec::new();
    collect(text, node, before, after, &mut found);
    found
}

fn collect(text: &str, node: &TextNode, before: &Value, after: Option<&Value>, into: &mut Vec<Removed>) {
    match (&node.holds, before) {
        (Holds::Map(entries), Value::Object(old)) => {
            for entry in entries {
                let Some(value) = old.get(&entry.key) else { continue };
                let new = after.and_then(|after| after.get(&entry.key));
                if new.is_none() && !node.is_flow {
                    into.extend(of_entry(text, entry, value));
                }
                if new != Some(value) {
                    collect(text, &entry.value, value, new, into);
                }
            }
        }
        (Holds::List(items), Value::Array(old)) => {
            for (at, (item, value)) in items.iter().zip(old).enumerate() {
                collect(text, item, value, after.and_then(|after| after.get(at)), into);
            }
        }
        _ => {}
    }
}

fn of_entry(text: &str, entry: &Entry, value: &Value) -> Option<Removed> {
    if value.is_object() || value.is_array() {
        return None;
    }
    let line = text[..entry.start].rfind('\n').map_or(0, |at| at + 1);
    let is_own_line = text[line..entry.start].trim().is_empty();
    let from = if is_own_line { start(text, line, entry.column) } else { line };
    let above: Vec<String> = text[from..line].lines().map(|line| line.trim().to_owned()).collect();
    let behind = behind(text, entry.end()).map(str::to_owned);
    let line = format!("{}: {}", scalar::key(&entry.key), scalar::flow(value));
    (!above.is_empty() || behind.is_some()).then_some(Removed { line, above, behind })
}

/// A text with the comments of the fields that moved: those whose only line has no comment.
pub(super) fn restored(text: &str, removed: &[Removed]) -> String {
    removed.iter().fold(text.to_owned(), |text, one| one.attached(&text).unwrap_or(text))
}

impl Removed {
    /// The text with the comments at the only line of the field.
    fn attached(&self, text: &str) -> Option<String> {
        let is_field = |line: &&str| line.trim_start_matches([' ', '-']).trim_end() == self.line;
        let mut lines = text.split_inclusive('\n').filter(is_field);
        let line = lines.next().filter(|_| lines.next().is_none())?;
        let at = line.as_ptr() as usize - text.as_ptr() as usize;
        let content = line.trim_end();
        // Comments above the first field of a list item stay in front of its dash.
        let column = content.len() - content.trim_start_matches(' ').len();
        if start(text, at, column) != at {
            return None;
        }
        let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let above: String = self.above.iter().map(|above| format!("{}{above}{end}", &content[..column])).collect();
        let behind = self.behind.as_ref().map_or_else(String::new, |behind| format!(" {behind}"));
        let rest = &text[at + content.len()..];
        Some(format!("{}{above}{content}{behind}{rest}", &text[..at]))
    }
}
