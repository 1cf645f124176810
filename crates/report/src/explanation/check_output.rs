//! The output of `linkerd check`, or rows and anchors of it.

use super::{AnsweredBy, Explanation, TextKind};
use crate::checks::answering;
use crate::knowledge::{CheckRow, Knowledge};

/// Marks of rows that passed.
const PASSED: [&str; 2] = ["\u{221A}", "[ok]"];
/// Marks of rows that failed, and of warnings.
const FAILED: [&str; 4] = ["\u{00D7}", "\u{203C}", "[FAIL]", "[warning]"];

/// Reads the output line by line.
pub(super) struct CheckOutput<'a> {
    knowledge: &'a Knowledge,
    /// Whether the text has rows.
    has_rows: bool,
    /// The anchor of the last row.
    last: Option<&'a str>,
    /// Whether the last row failed: its explanation follows.
    is_failed: bool,
}

impl<'a> CheckOutput<'a> {
    pub(super) fn new(knowledge: &'a Knowledge, text: &str) -> CheckOutput<'a> {
        let is_row = |line: &str| marked(line.trim()).is_some();
        CheckOutput { knowledge, has_rows: text.lines().any(is_row), last: None, is_failed: false }
    }

    /// The meaning of a line that belongs to such an output, empty if it needs none; `None` of another line.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<Explanation>> {
        if let Some((has_passed, description)) = marked(line) {
            let row = self.row(|row| row.description == description);
            self.last = row.map(|row| row.anchor.as_str());
            self.is_failed = !has_passed;
            let row = row?;
            return Some((!has_passed).then(|| explanation(line, row)));
        }
        if let Some(anchor) = anchor(line) {
            // The row above has the same meaning.
            if self.last == Some(anchor) {
                return Some(None);
            }
            let row = self.row(|row| row.anchor == anchor)?;
            return Some(Some(explanation(line, row)));
        }
        let is_frame = line.bytes().all(|byte| byte == b'-' || byte == b'=')
            || line.starts_with("Status check results are")
            || self.knowledge.linkerd_check().categories().iter().any(|category| category.name == line);
        (self.has_rows && (is_frame || self.is_failed)).then_some(None)
    }

    fn row(&self, is_wanted: impl Fn(&CheckRow) -> bool) -> Option<&'a CheckRow> {
        let categories = self.knowledge.linkerd_check().categories();
        categories.iter().flat_map(|category| &category.rows).find(|row| is_wanted(row))
    }
}

/// Whether a row passed, and its description.
fn marked(line: &str) -> Option<(bool, &str)> {
    let with = |marks: &[&str]| marks.iter().find_map(|mark| line.strip_prefix(mark)).map(str::trim);
    let passed = with(&PASSED).map(|description| (true, description));
    passed.or_else(|| with(&FAILED).map(|description| (false, description)))
}

/// The anchor of a hint, or a line that only consists of one.
fn anchor(line: &str) -> Option<&str> {
    let is_anchor = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let rest = line.split_once("/checks/#").map(|(_, rest)| rest).or_else(|| line.strip_prefix('#'));
    let rest = rest.or_else(|| line.starts_with("l5d-").then_some(line))?;
    let (anchor, after) = rest.split_once(' ').unwrap_or((rest, ""));
    (is_anchor(anchor) && (after.is_empty() || after == "for hints")).then_some(anchor)
}

fn explanation(line: &str, row: &CheckRow) -> Explanation {
    let checks: Vec<String> = answering(&row.anchor).map(|check| check.id.to_owned()).collect();
    let means = format!("the row \"{}\" of linkerd check fails", row.description);
    let source = format!("linkerd-check.yaml: {}", row.anchor);
    let next = checks.is_empty().then_some("check");
    Explanation {
        answered_by: AnsweredBy::Either,
        next,
        ..Explanation::new(TextKind::Phrase, line, &means, &checks, source)
    }
}
