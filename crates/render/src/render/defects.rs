//! The known defects of Linkerd releases, as text and JSON.

use std::fmt::Write;

use serde::Serialize;

use super::json;
use super::look::Look;
use super::text::{count, wrap};
use crate::checks::KNOWN_DEFECT;
use crate::checks::words::sentence;
use crate::command::{Call, meshdoctor};
use crate::finding::Severity;
use crate::knowledge::{AffectedComponent, Knowledge, KnownDefect};

/// A line for each defect with its releases, its effect and the workaround.
pub fn table(knowledge: &Knowledge, look: Look) -> String {
    let rows = knowledge.known_defects().rows();
    let mut text = String::new();
    for row in rows {
        write_row(row, knowledge, look, &mut text);
        text.push('\n');
    }
    _ = writeln!(text, "{}", count(rows.len(), "known defect", "known defects"));
    text
}

/// One defect, with its references.
pub fn text(row: &KnownDefect, knowledge: &Knowledge, look: Look) -> String {
    let mut text = format!("{KNOWN_DEFECT}/");
    write_row(row, knowledge, look, &mut text);
    if !row.references.is_empty() {
        _ = writeln!(text, "\nRead more");
        row.references.iter().for_each(|link| _ = writeln!(text, "  {link}"));
    }
    if let Some(check) = check_of(row) {
        _ = writeln!(text, "\nnext  {check}");
    }
    text
}

/// The command that looks for one defect in the cluster, if a check can see it.
fn check_of(row: &KnownDefect) -> Option<Call> {
    let check = meshdoctor().words("check");
    if let Some(other) = &row.reported_by {
        return Some(check.option("--only", other.as_str()));
    }
    let trigger = row.trigger.as_ref().filter(|_| row.unseen.is_none())?;
    let check = if trigger.log_rows().next().is_some() { check.words("--logs") } else { check };
    Some(check.option("--only", format!("{KNOWN_DEFECT}/{}", row.id)))
}

fn write_row(row: &KnownDefect, knowledge: &Knowledge, look: Look, text: &mut String) {
    _ = writeln!(text, "{}  {}  {} {}", row.id, row.severity.label(), row.decides.label(), row.releases());
    let fixed = row.fixed_in(knowledge.releases()).map(|fixed| format!("fixed in {fixed}"));
    let workaround = row.workaround.as_ref().map(|workaround| format!("workaround: {workaround}"));
    let check = row.reported_by.as_ref().map(|check| format!("reported by {check}"));
    let reason = row.unseen.as_ref().map(|reason| format!("not detected: {reason}"));
    let effect = sentence(&row.effect);
    for words in [Some(effect), fixed, workaround, check, reason].into_iter().flatten() {
        for line in wrap(&words, look.prose().saturating_sub(2)) {
            _ = writeln!(text, "  {line}");
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DefectRow<'a> {
    id: &'a str,
    component: &'a str,
    decides: AffectedComponent,
    releases: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_in: Option<String>,
    severity: Severity,
    title: &'a str,
    effect: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    workaround: Option<&'a str>,
    detected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reported_by: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_detected: Option<&'a str>,
    references: &'a [String],
}

#[derive(Serialize)]
struct DefectList<'a> {
    schema: &'static str,
    defects: Vec<DefectRow<'a>>,
}

/// The list as one JSON document, schema `meshdoctor.defects/1`.
pub fn json(knowledge: &Knowledge) -> String {
    let defects = knowledge.known_defects().rows().iter().map(|row| DefectRow::new(row, knowledge));
    json::write(&DefectList { schema: SCHEMA, defects: defects.collect() })
}

/// One defect in the same form.
pub fn json_of(row: &KnownDefect, knowledge: &Knowledge) -> String {
    json::write(&DefectList { schema: SCHEMA, defects: vec![DefectRow::new(row, knowledge)] })
}

const SCHEMA: &str = "meshdoctor.defects/1";

impl<'a> DefectRow<'a> {
    fn new(defect: &'a KnownDefect, knowledge: &Knowledge) -> DefectRow<'a> {
        DefectRow {
            id: &defect.id,
            component: &defect.component,
            decides: defect.decides,
            releases: defect.releases(),
            fixed_in: defect.fixed_in(knowledge.releases()),
            severity: defect.severity,
            title: &defect.title,
            effect: &defect.effect,
            workaround: defect.workaround.as_deref(),
            detected: defect.unseen.is_none(),
            reported_by: defect.reported_by.as_deref(),
            not_detected: defect.unseen.as_deref(),
            references: &defect.references,
        }
    }
}
