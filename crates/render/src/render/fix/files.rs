//! Repairs of manifests: the findings with their edits, and the diff of each file.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document::SCHEMA;
use super::unified::{Replacement, diff};
use crate::finding::Severity;
use crate::render::json::write;
use crate::render::text::{clean, count, some_of};

/// Maximum number of checks that the result names.
const NAMED: usize = 5;

/// The repair of manifests.
#[derive(Debug, Clone, Default)]
pub struct FileRepair {
    /// The findings that need a repair, in its order.
    pub findings: Vec<RepairedFinding>,
    /// The files with an edit, by their paths.
    pub files: BTreeMap<String, EditedFile>,
    /// Whether the files were written.
    pub is_written: bool,
    /// The checks of the findings that are left after the files were written.
    pub left: Vec<String>,
    /// The exit status of the check before the repair.
    pub status: u8,
}

/// A file before and after its edits.
#[derive(Debug, Clone, Default)]
pub struct EditedFile {
    /// Its text before.
    pub old: String,
    /// Its text after.
    pub new: String,
}

/// A finding with its edits.
#[derive(Debug, Clone)]
pub struct RepairedFinding {
    /// Its position in the report.
    pub at: usize,
    /// Its number, from 1.
    pub number: usize,
    pub check: &'static str,
    pub severity: Severity,
    pub message: String,
    pub subjects: Vec<String>,
    /// Its positions in the files.
    pub places: Vec<String>,
    /// The positions of the edited objects, none if the edit for another finding removes it; or why nothing is edited.
    pub outcome: Result<Vec<String>, String>,
    /// The objects that stay as they are although others of the finding are edited, each with the reason.
    pub left_out: Vec<String>,
    /// The edits of this finding alone, on the files as they are.
    pub edits: Vec<ObjectEdit>,
}

/// The edit of an object in its file, on its own.
#[derive(Debug, Clone)]
pub struct ObjectEdit {
    /// The object: `Deployment shop/web`.
    pub object: String,
    pub file: String,
    /// The lines to replace.
    pub replacements: Vec<Replacement>,
}

/// The findings as comments, and the diff of each file.
pub fn text(repair: &FileRepair) -> String {
    let mut text = String::new();
    for finding in &repair.findings {
        let place = finding.places.first().map(|place| format!(" {place}")).unwrap_or_default();
        let outcome = match &finding.outcome {
            Ok(edited) if edited.is_empty() => "removed by the edit for another finding".to_owned(),
            Ok(edited) if finding.left_out.is_empty() => format!("edits {}", some_of(edited, NAMED)),
            Ok(edited) => {
                let left_out = some_of(&finding.left_out, NAMED);
                format!("edits {}; not edited: {left_out}", some_of(edited, NAMED))
            }
            Err(why) => format!("not edited: {why}"),
        };
        let about = some_of(&finding.subjects, NAMED);
        let line = format!("{} {} {}{place} ({about}): {outcome}", finding.number, finding.severity, finding.check);
        text.push_str(&format!("# {}\n", clean(&line)));
    }
    text.extend(repair.files.iter().map(|(file, edited)| diff(file, &edited.old, &edited.new)));
    text
}

/// The result, for standard error.
pub fn summary(repair: &FileRepair) -> Vec<String> {
    if repair.findings.is_empty() {
        return vec!["no finding of warning or above needs a repair".to_owned()];
    }
    let edited = repair.findings.iter().filter(|finding| finding.outcome.is_ok()).count();
    let all = repair.findings.len();
    if !repair.is_written {
        let others = all - edited;
        let not_edited = if others == 0 { String::new() } else { format!(", {others} not edited") };
        let next = if edited == 0 { "" } else { "; --write edits the files" };
        return vec![format!("{} can be fixed{not_edited}{next}", count(edited, "finding", "findings"))];
    }
    let left = repair.left.len();
    let fixed = count(all.saturating_sub(left), "finding", "findings");
    match left {
        0 => vec![format!("{fixed} fixed, none left")],
        left => vec![format!("{fixed} fixed, {left} left: {}", some_of(&counted(&repair.left), NAMED))],
    }
}

/// Each entry once, with its number: `annotation-value-invalid (2)`.
fn counted(checks: &[String]) -> Vec<String> {
    let mut numbers: Vec<(&String, usize)> = Vec::new();
    for check in checks {
        match numbers.iter_mut().find(|(known, _)| *known == check) {
            Some((_, number)) => *number += 1,
            None => numbers.push((check, 1)),
        }
    }
    let named = |(check, number): (&String, usize)| match number {
        1 => check.clone(),
        number => format!("{check} ({number})"),
    };
    numbers.into_iter().map(named).collect()
}

#[derive(Serialize)]
struct FixedDocument<'a> {
    schema: &'static str,
    written: bool,
    findings: Vec<Finding<'a>>,
    files: Vec<File<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<&'a [String]>,
}

#[derive(Serialize)]
struct Finding<'a> {
    number: usize,
    check: &'static str,
    severity: Severity,
    message: &'a str,
    subjects: &'a [String],
    places: &'a [String],
    edited: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct File<'a> {
    file: &'a str,
    diff: String,
}

/// The repair as JSON.
pub fn json(repair: &FileRepair) -> String {
    let findings = repair.findings.iter().map(|finding| Finding {
        number: finding.number,
        check: finding.check,
        severity: finding.severity,
        message: &finding.message,
        subjects: &finding.subjects,
        places: &finding.places,
        edited: finding.outcome.as_deref().unwrap_or_default(),
        reason: match &finding.outcome {
            Ok(_) => (!finding.left_out.is_empty()).then(|| finding.left_out.join("; ")),
            Err(why) => Some(why.clone()),
        },
    });
    let files = repair.files.iter().filter(|(_, edited)| edited.old != edited.new);
    write(&FixedDocument {
        schema: SCHEMA,
        written: repair.is_written,
        findings: findings.collect(),
        files: files.map(|(file, edited)| File { file, diff: diff(file, &edited.old, &edited.new) }).collect(),
        left: repair.is_written.then_some(repair.left.as_slice()),
    })
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn equal_entries_are_counted() {
        let checks = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(counted(&checks), ["a (2)", "b"]);
    }
}
