//! The page on `linkerd check`: the checks that cover each row, and the rows with a different result, from the reviewed
//! list in `checks/parity.yaml`.

use std::fmt::Write;
use std::sync::OnceLock;

use serde::Deserialize;

use super::card_link;
use crate::checks;
use crate::knowledge::{Knowledge, RowSeverity};
use crate::page::GENERATED;
use crate::rows::RowResult;

/// A row of `linkerd check` with a different result, reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Difference {
    /// The row's category.
    pub category: String,
    /// The text of the row.
    pub description: String,
    /// The recorded clusters in which it was seen; empty: any.
    #[serde(default)]
    pub recordings: Vec<String>,
    /// Result of `linkerd check`; `None`: the row is missing.
    #[serde(default)]
    pub theirs: Option<RowResult>,
    /// meshdoctor's result; `None`: the row is missing.
    #[serde(default)]
    pub ours: Option<RowResult>,
    /// Part of the text of `linkerd check` that shows a cause outside the cluster. Without it, meshdoctor's result must
    /// not be weaker.
    #[serde(default)]
    pub their_error: Option<String>,
    /// Part of meshdoctor's text.
    #[serde(default)]
    pub our_error: Option<String>,
    /// Reason why meshdoctor's result is right.
    pub why: String,
}

impl Difference {
    /// Whether meshdoctor's result is weaker than that of `linkerd check`.
    pub fn is_weaker(&self) -> bool {
        self.theirs.is_some_and(|theirs| self.ours.is_none_or(|ours| ours < theirs))
    }
}

/// The reviewed list.
pub fn differences() -> &'static [Difference] {
    static LIST: OnceLock<Vec<Difference>> = OnceLock::new();
    LIST.get_or_init(|| {
        let text = include_str!("../../checks/parity.yaml");
        serde_yaml::from_str(text).expect("a test reads the embedded list")
    })
}

/// `docs/linkerd-check.md`.
pub fn page() -> String {
    let known = Knowledge::embedded().linkerd_check();
    let mut page = format!(
        "{GENERATED}# `linkerd check`, row by row\n\n\
         Each row of `linkerd check` is covered by one or more checks of meshdoctor. `meshdoctor check -o linkerd` prints the rows\n\
         with meshdoctor's result in the JSON format of `linkerd check -o json`, `-o linkerd-table` in its table format.\n\
         Rows that the real command skips after a failure are included, because meshdoctor does not stop at a failure. A row that\n\
         was not checked, or only in part, is a warning that begins with `not checked:`. Rows without any evidence are omitted.\n\
         With `--manifests`, rows about a running cluster are omitted too: manifests do not show them.\n\
         A row fails where the real command fails, even if meshdoctor rates the finding lower. The exit status follows\n\
         `--fail-on`, not the rows; `success` is false if a row or a finding is an error.\n"
    );
    let (source, date) = known.source();
    _ = write!(page, "\nRows of {source}, on {date}.\n\n## Rows\n\n");
    page.push_str("| Category | Row | On failure, the real command | Checks |\n|---|---|---|---|\n");
    for category in known.categories() {
        for (at, row) in category.rows.iter().enumerate() {
            let by: Vec<String> = checks::all()
                .filter(|check| {
                    let rows = &check.card().front.linkerd_check;
                    rows.iter().any(|r| r.category == category.name && r.description == row.description)
                })
                .map(card_link)
                .collect();
            let does = match row.severity {
                RowSeverity::Fatal => "fails and stops",
                RowSeverity::Error => "fails",
                RowSeverity::Warning => "warns",
            };
            let name = if at == 0 { category.name.as_str() } else { "" };
            _ = writeln!(page, "| {name} | {} | {does} | {} |", row.description, by.join(", "));
        }
    }
    page.push_str("\n## Where meshdoctor differs\n\n");
    if differences().is_empty() {
        page.push_str("No differences were found.\n");
        return page;
    }
    page.push_str("| Row | `linkerd check` | meshdoctor | Seen on | Why |\n|---|---|---|---|---|\n");
    for entry in differences() {
        let word = |result: RowResult| match result {
            RowResult::Success => "success",
            RowResult::Warning => "warning",
            RowResult::Error => "error",
        };
        let quoted = |text: &Option<String>| text.as_ref().map(|text| format!(": `{text}`")).unwrap_or_default();
        let (said, our_text) = (quoted(&entry.their_error), quoted(&entry.our_error));
        _ = writeln!(
            page,
            "| {} / {} | {}{said} | {}{our_text} | {} | {} |",
            entry.category,
            entry.description,
            entry.theirs.map_or("left out", word),
            entry.ours.map_or("left out", word),
            if entry.recordings.is_empty() { "any cluster".to_owned() } else { entry.recordings.join(", ") },
            entry.why.trim().replace('\n', " "),
        );
    }
    page
}
