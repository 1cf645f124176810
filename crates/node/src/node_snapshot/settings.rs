//! The CNI settings of a runtime: its directories and rules of selection, in one form for containerd, CRI-O
//! and `crictl`. Also reads TOML files without quoting them in errors.

use std::path::Path;

use toml::{Table, Value};

use super::root::{ReadFailure, Root};
use crate::node::{RuntimeKind, is_plain_dir};

/// Maximum size of a configuration file, in bytes. Real ones have a few kilobytes.
pub(super) const MAX_CONFIG: usize = 1 << 20;

/// CNI settings of a runtime. `None` means not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) kind: RuntimeKind,
    pub(super) conf_dir: Option<String>,
    pub(super) bin_dirs: Option<Vec<String>>,
    pub(super) max_conf_num: Option<u64>,
    pub(super) default_network: Option<String>,
    /// Their source in the snapshot: `config.toml`, `crio.conf` or `default`.
    pub(super) source: &'static str,
}

/// Reads a TOML table.
pub(super) fn table(root: &Root, path: &Path) -> Result<Table, TableError> {
    let content = root.read(path, MAX_CONFIG)?;
    let text = std::str::from_utf8(&content.bytes)
        .map_err(|error| TableError::Broken(format!("not UTF-8 at byte {}", error.valid_up_to())))?;
    text.parse::<Table>().map_err(|error| {
        // The error's own text quotes the file.
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1) + 1;
        TableError::Broken(format!("not TOML at line {line}, column {column}"))
    })
}

/// Why a table was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum TableError {
    #[error("{0}")]
    Unread(#[from] ReadFailure),
    #[error("{0}")]
    Broken(String),
}

impl TableError {
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, TableError::Unread(ReadFailure::Absent))
    }
}

/// An absolute directory in the form of the snapshot, without a trailing slash.
pub(super) fn directory(text: &str) -> Option<String> {
    let clean = super::root::clean(Path::new(text)).to_str()?.to_owned();
    (text.starts_with('/') && is_plain_dir(&clean)).then_some(clean)
}

/// The directories of an array of strings; `None` if it is not an array, or empty.
pub(super) fn directories(value: Option<&Value>) -> Option<Vec<String>> {
    let dirs: Vec<String> = value?.as_array()?.iter().filter_map(|dir| directory(dir.as_str()?)).collect();
    (!dirs.is_empty()).then_some(dirs)
}

/// A non-empty string.
pub(super) fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key)?.as_str().filter(|text| !text.is_empty())
}
