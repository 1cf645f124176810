//! `-o`: the formats of a report, their names, and the destination of each report.

use std::path::PathBuf;

/// A format of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// A table.
    Table,
    /// One line per finding.
    Short,
    /// `meshdoctor.report/1`.
    Json,
    /// The same as YAML.
    Yaml,
    /// The JSON document of `linkerd check -o json`.
    Linkerd,
    /// The table of `linkerd check`.
    LinkerdTable,
    /// The upgrade plan, as Markdown.
    Plan,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// Workflow commands of GitHub Actions.
    Github,
    /// A code quality document of GitLab.
    Gitlab,
    /// Markdown, for a comment or a summary.
    Markdown,
    /// Metrics, for a textfile collector.
    Prometheus,
    /// JSON lines.
    Ndjson,
    /// A self-contained page.
    Html,
    /// Rows of `linkerd check`, as its extensions print them: the meaning of `json` for `linkerd meshdoctor`.
    Extension,
}

/// The formats by name.
pub const FORMATS: [(&str, Format); 15] = [
    ("table", Format::Table),
    ("short", Format::Short),
    ("json", Format::Json),
    ("yaml", Format::Yaml),
    ("linkerd", Format::Linkerd),
    ("linkerd-table", Format::LinkerdTable),
    ("plan", Format::Plan),
    ("sarif", Format::Sarif),
    ("junit", Format::Junit),
    ("github", Format::Github),
    ("gitlab", Format::Gitlab),
    ("markdown", Format::Markdown),
    ("prometheus", Format::Prometheus),
    ("ndjson", Format::Ndjson),
    ("html", Format::Html),
];

/// The formats by name for the current command name: a Linkerd extension must print rows for `json`, so its own JSON is
/// `report` there.
pub(super) fn formats() -> Vec<(&'static str, Format)> {
    let mut formats = FORMATS.to_vec();
    if super::role::current() == super::role::Role::Linkerd {
        formats.iter_mut().filter(|(_, f)| *f == Format::Json).for_each(|(_, f)| *f = Format::Extension);
        formats.push(("report", Format::Json));
    }
    formats
}

impl Format {
    /// The name, as given to `-o`.
    pub(super) fn label(self) -> &'static str {
        formats().into_iter().find(|(_, format)| *format == self).map_or("table", |(word, _)| word)
    }
}

/// One `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The format.
    pub format: Format,
    /// The file; standard output without one.
    pub file: Option<PathBuf>,
}

pub(super) fn output(text: &str) -> Result<Output, String> {
    let (word, file) = match text.split_once('=') {
        Some((_, "")) => return Err("the file name after '=' is missing".to_owned()),
        Some((word, file)) => (word, Some(PathBuf::from(file))),
        None => (text, None),
    };
    let formats = formats();
    match formats.iter().find(|(name, _)| *name == word) {
        Some((_, format)) => Ok(Output { format: *format, file }),
        None => {
            let nearest = crate::nearest::closest(word, formats.iter().map(|(name, _)| *name));
            let hint = nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
            let mut words: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
            let last = words.pop().unwrap_or_default();
            Err(format!("unknown format; the formats are {} and {last}{hint}", words.join(", ")))
        }
    }
}
