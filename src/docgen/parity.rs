//! The page on `linkerd check`: which card answers which of its rows, and where our verdict differs from its own, from
//! the reviewed list in `checks/parity.yaml`.

use std::fmt::Write;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::checks;
use crate::knowledge::{Knowledge, RowSeverity};
use crate::page::GENERATED;
use crate::rows::RowResult;

/// A row on which we differ from `linkerd check`, reviewed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Difference {
    /// The row's category.
    pub category: String,
    /// The row's words.
    pub description: String,
    /// The recorded states in which it was seen; empty: any.
    #[serde(default)]
    pub recordings: Vec<String>,
    /// The verdict of the real command; `None`: it leaves the row out.
    #[serde(default)]
    pub theirs: Option<RowResult>,
    /// Ours; `None`: we leave the row out.
    #[serde(default)]
    pub ours: Option<RowResult>,
    /// What the real command says there, in part: what shows that its verdict is not about the cluster. Without it ours is
    /// never the weaker one.
    #[serde(default)]
    pub their_error: Option<String>,
    /// What ours says there, in part.
    #[serde(default)]
    pub our_error: Option<String>,
    /// Why ours is right.
    pub why: String,
}

impl Difference {
    /// Whether we say less than the real command does.
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
         Every row of `linkerd check` is answered by one or more checks of meshdoctor. `meshdoctor check -o linkerd` prints\n\
         the rows with meshdoctor's verdict as the JSON document of `linkerd check -o json`, `-o linkerd-table` as its table.\n\
         Rows that the real command skips after a failure are there as well: nothing stops at the first one. A row that could\n\
         not be judged, or only in part, is a warning that begins with `not checked:`. Rows without any evidence are left out.\n"
    );
    let (source, date) = known.source();
    _ = write!(page, "\nThe rows were read from {source}, on {date}.\n\n## Rows\n\n");
    page.push_str("| Category | Row | When it fails, the real command | Answered by |\n|---|---|---|---|\n");
    for category in known.categories() {
        for (at, row) in category.rows.iter().enumerate() {
            let by: Vec<String> = checks::all()
                .filter(|check| {
                    let rows = &check.card().front.linkerd_check;
                    rows.iter().any(|r| r.category == category.name && r.description == row.description)
                })
                .map(|check| format!("[{0}](checks/{0}.md)", check.id))
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
        page.push_str("Nowhere that was seen.\n");
        return page;
    }
    page.push_str("| Row | `linkerd check` | meshdoctor | Seen on | Why |\n|---|---|---|---|---|\n");
    for entry in differences() {
        let word = |result: RowResult| match result {
            RowResult::Success => "success",
            RowResult::Warning => "warning",
            RowResult::Error => "error",
        };
        let quoted =
            |text: &Option<String>| text.as_ref().map(|text| format!(": `{text}`")).unwrap_or_default();
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
