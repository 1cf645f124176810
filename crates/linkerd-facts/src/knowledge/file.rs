//! Loads knowledge files: embedded or from a directory, with strict parsing and validation, and positions in errors.
//! Independent of their content.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::de::DeserializeOwned;

/// Reason why a knowledge file is unusable.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// The directory or file could not be read.
    #[error("cannot read knowledge {path}: {source}")]
    Unreadable {
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The text is not valid YAML for this file.
    #[error("{path}{place}: {reason}", place = place(.line, .column))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1, if known.
        line: Option<usize>,
        /// Column, counted from 1, if known.
        column: Option<usize>,
        /// The error.
        reason: String,
    },
    /// A file that cannot be replaced differs from the embedded one.
    #[error("{path} differs from the embedded file and cannot replace it: remove the file")]
    Fixed {
        /// The file.
        path: PathBuf,
    },
    /// An unknown YAML file.
    #[error("{path} is not a knowledge file: expected one of {expected}")]
    Stranger {
        /// The file.
        path: PathBuf,
        /// The known names.
        expected: String,
    },
}

fn place(line: &Option<usize>, column: &Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!(":{line}:{column}"),
        (Some(line), None) => format!(":{line}"),
        (None, _) => String::new(),
    }
}

/// The type of a knowledge file.
pub(super) trait KnowledgeFile: DeserializeOwned {
    /// Name of the file in its directory.
    const NAME: &'static str;
    /// Its text in this build.
    const EMBEDDED: &'static str;

    /// Completes the parsed data and rejects contradictions.
    fn finish(&mut self) -> Result<(), String>;
}

/// Parses one file's text.
pub(super) fn parse<T: KnowledgeFile>(path: &Path, text: &str) -> Result<T, KnowledgeError> {
    let malformed = |line, column, reason| KnowledgeError::Malformed { path: path.to_owned(), line, column, reason };
    let mut table: T = serde_yaml::from_str(text).map_err(|error| {
        let at = error.location();
        malformed(at.as_ref().map(|l| l.line()), at.as_ref().map(|l| l.column()), error.to_string())
    })?;
    table.finish().map_err(|reason| malformed(None, None, reason))?;
    Ok(table)
}

/// One file's table, parsed when first needed.
#[derive(Debug)]
pub(super) struct LazyTable<T> {
    table: OnceLock<T>,
}

impl<T> Default for LazyTable<T> {
    fn default() -> Self {
        LazyTable { table: OnceLock::new() }
    }
}

impl<T: KnowledgeFile> LazyTable<T> {
    /// The table; the embedded one unless [`LazyTable::load`] read another.
    pub(super) fn get(&self) -> &T {
        self.table.get_or_init(|| {
            parse(Path::new(T::NAME), T::EMBEDDED).expect("the unit tests parse every embedded knowledge file")
        })
    }

    /// The embedded table; `dir` may contain only an identical copy.
    pub(super) fn fixed(dir: &Path) -> Result<Self, KnowledgeError> {
        let path = dir.join(T::NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) if text == T::EMBEDDED => Ok(LazyTable::default()),
            Ok(_) => Err(KnowledgeError::Fixed { path }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(LazyTable::default()),
            Err(source) => Err(KnowledgeError::Unreadable { path, source }),
        }
    }

    /// Reads `dir/NAME` if it exists.
    pub(super) fn load(dir: &Path) -> Result<Self, KnowledgeError> {
        let path = dir.join(T::NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(LazyTable { table: OnceLock::from(parse::<T>(&path, &text)?) }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(LazyTable::default()),
            Err(source) => Err(KnowledgeError::Unreadable { path, source }),
        }
    }
}

/// Rejects YAML files in `dir` with unknown names: a misspelled name would otherwise be ignored silently.
pub(super) fn refuse_strangers(dir: &Path, known: &[&str]) -> Result<(), KnowledgeError> {
    let unreadable = |source| KnowledgeError::Unreadable { path: dir.to_owned(), source };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable)? {
        paths.push(entry.map_err(unreadable)?.path());
    }
    paths.sort();
    let yaml = |path: &Path| path.extension().is_some_and(|ext| ext == "yaml" || ext == "yml");
    let named = |path: &Path| path.file_name().and_then(|n| n.to_str()).is_some_and(|n| known.contains(&n));
    match paths.into_iter().find(|path| yaml(path) && !named(path)) {
        Some(path) => Err(KnowledgeError::Stranger { path, expected: known.join(", ") }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Knowledge;

    #[test]
    fn directory_overrides_single_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = dir.path().join("native-sidecar.yaml");
        let text = include_str!("../../../../checks/knowledge/native-sidecar.yaml").replace("1.5.0", "1.5.9");
        std::fs::write(&name, &text).expect("written");
        let knowledge = Knowledge::load(dir.path()).expect("loads");
        assert_eq!(knowledge.native_sidecar().cni_plugin().to_string(), "1.5.9");
        assert_eq!(knowledge.date(), Knowledge::embedded().date());

        std::fs::write(&name, text.replace("chart-value:", "chart-valeu:")).expect("written");
        let error = Knowledge::load(dir.path()).expect_err("an unknown field").to_string();
        assert!(error.contains("native-sidecar.yaml:") && error.contains("chart-valeu"), "{error}");

        std::fs::write(&name, "date: [").expect("written");
        assert!(Knowledge::load(dir.path()).is_err());

        std::fs::remove_file(&name).expect("removed");
        std::fs::write(dir.path().join("anotations.yaml"), "").expect("written");
        let error = Knowledge::load(dir.path()).expect_err("a stranger").to_string();
        assert!(error.contains("anotations.yaml") && error.contains("annotations.yaml"), "{error}");
        assert!(Knowledge::load(&dir.path().join("nowhere")).is_err());

        // The redaction table cannot be replaced.
        std::fs::remove_file(dir.path().join("anotations.yaml")).expect("removed");
        let text = include_str!("../../../../checks/knowledge/redaction.yaml");
        std::fs::write(dir.path().join("redaction.yaml"), text).expect("written");
        assert!(Knowledge::load(dir.path()).is_ok(), "a copy changes nothing");
        let more = text.replace("phase: word", "phase: word\n    externalID: text");
        std::fs::write(dir.path().join("redaction.yaml"), more).expect("written");
        let error = Knowledge::load(dir.path()).expect_err("another table").to_string();
        assert!(error.contains("redaction.yaml differs from the embedded file"), "{error}");
    }
}
