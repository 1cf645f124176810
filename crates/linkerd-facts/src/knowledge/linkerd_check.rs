//! `linkerd-check.yaml`: the rows that `linkerd check` prints, in order. Cards list the rows that they cover.

use serde::{Deserialize, Serialize};

use super::file::KnowledgeFile;
use super::range::ReleaseRange;
use crate::version::{Contains, LinkerdVersion, MinorTable};

/// A way to run `linkerd check`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowMode {
    /// `linkerd check`.
    #[default]
    Default,
    /// `linkerd check --proxy`.
    Proxy,
    /// `linkerd check --pre`.
    Pre,
    /// `linkerd check --pre --linkerd-cni-enabled`.
    PreCni,
    /// `linkerd check --crds`.
    Crds,
}

/// Effect of a failing row on the run of `linkerd check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowSeverity {
    /// It fails the run and ends it: no later row is checked.
    Fatal,
    /// It fails the run, which continues.
    Error,
    /// It is reported; the exit status stays 0.
    Warning,
}

/// The list below the description of a successful row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowList {
    /// The clusters of all Links.
    Links,
    /// The clusters of the Links with a gateway that is probed.
    GatewayLinks,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckRow {
    /// Anchor on Linkerd's troubleshooting page; several rows may share one.
    pub anchor: String,
    /// Text of the row. With the category, its only stable name.
    pub description: String,
    /// Effect of its failure.
    pub severity: RowSeverity,
    /// It is not printed if it does not apply; other rows then pass.
    #[serde(default)]
    pub skips: bool,
    /// The list below it.
    #[serde(default)]
    pub lists: Option<RowList>,
    /// The releases of the command that print it.
    #[serde(default)]
    pub releases: ReleaseRange,
}

impl CheckRow {
    /// Whether that release of the command prints it; `None`: the newest.
    pub fn is_printed_by(&self, release: Option<&LinkerdVersion>, minors: &MinorTable) -> bool {
        let ended = self.releases.until.is_some() || self.releases.until_stable.is_some();
        release.map_or(!ended, |release| self.releases.covers(release, minors) != Contains::No)
    }
}

/// Placeholder for an extension's command, in a category that is printed once per command.
pub const COMMAND: &str = "{command}";

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RowCategory {
    /// Its name in the output. With [`COMMAND`], it is printed once per command.
    pub name: String,
    /// The extension whose command prints it, if installed.
    #[serde(default)]
    pub extension: Option<String>,
    /// Options of `linkerd check` that print it.
    pub modes: Vec<RowMode>,
    /// Its rows, in order.
    pub rows: Vec<CheckRow>,
}

/// All rows of `linkerd check` and its built-in extensions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LinkerdCheck {
    source: String,
    date: jiff::civil::Date,
    hints: String,
    categories: Vec<RowCategory>,
}

impl LinkerdCheck {
    /// The categories, in output order.
    pub fn categories(&self) -> &[RowCategory] {
        &self.categories
    }

    /// The row with that category and description.
    pub fn row(&self, category: &str, description: &str) -> Option<&CheckRow> {
        let category = self.categories.iter().find(|c| c.name == category)?;
        category.rows.iter().find(|row| row.description == description)
    }

    /// Whether that release of the command checks an extension itself, without another command on PATH; `None`: the
    /// newest.
    pub fn is_built_in(&self, extension: &str, release: Option<&LinkerdVersion>, minors: &MinorTable) -> bool {
        let of_extension = self.categories.iter().filter(|c| c.extension.as_deref() == Some(extension));
        of_extension.flat_map(|category| &category.rows).any(|row| row.is_printed_by(release, minors))
    }

    /// URL of a row's anchor.
    pub fn hint(&self, anchor: &str) -> String {
        format!("{}{anchor}", self.hints)
    }

    /// Source of the rows, and date.
    pub fn source(&self) -> (&str, jiff::civil::Date) {
        (&self.source, self.date)
    }
}

impl KnowledgeFile for LinkerdCheck {
    const NAME: &'static str = "linkerd-check.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/linkerd-check.yaml");

    fn finish(&mut self) -> Result<(), String> {
        let mut seen = std::collections::BTreeSet::new();
        for category in &self.categories {
            for row in &category.rows {
                if !seen.insert((&category.name, &row.description)) {
                    return Err(format!("{} / {} is listed twice", category.name, row.description));
                }
            }
        }
        Ok(())
    }
}
