//! `-o`: the forms of a report, their words, and where each report goes.

use std::path::PathBuf;

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// For people.
    Table,
    /// One line a finding.
    Short,
    /// `meshdoctor.report/1`.
    Json,
    /// The same as YAML.
    Yaml,
    /// The JSON document of `linkerd check -o json`.
    Linkerd,
    /// The table of `linkerd check`.
    LinkerdTable,
    /// The plan of a rehearsed upgrade, as Markdown.
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
    /// Lines of JSON.
    Ndjson,
    /// A page that needs nothing else.
    Html,
    /// Rows of `linkerd check`, as its extensions print them: what `json` means to `linkerd meshdoctor`.
    Extension,
}

/// The words for each form.
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

/// The words for each form under the name that the command was called by: an extension of Linkerd has to answer `json`
/// with rows, so there our own JSON is `report`.
pub(super) fn formats() -> Vec<(&'static str, Format)> {
    let mut formats = FORMATS.to_vec();
    if super::role::current() == super::role::Role::Linkerd {
        formats.iter_mut().filter(|(_, f)| *f == Format::Json).for_each(|(_, f)| *f = Format::Extension);
        formats.push(("report", Format::Json));
    }
    formats
}

impl Format {
    /// Its word, as it is given to `-o`.
    pub(super) fn word(self) -> &'static str {
        formats().into_iter().find(|(_, format)| *format == self).map_or("table", |(word, _)| word)
    }
}

/// One `-o`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The form.
    pub format: Format,
    /// The file; standard output without one.
    pub file: Option<PathBuf>,
}

pub(super) fn output(text: &str) -> Result<Output, String> {
    let (word, file) = match text.split_once('=') {
        Some((_, "")) => return Err("a file name follows the '='".to_owned()),
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
            Err(format!("the forms are {} and {last}{hint}", words.join(", ")))
        }
    }
}
