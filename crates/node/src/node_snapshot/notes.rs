//! Items that were read for a snapshot, and items that were not and why: for `meta.json` and for the user.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::root::ReadFailure;
use crate::node::{PathError, is_plain_name};
use crate::redact;

/// Maximum number of unreadable files that are named. Directories are always named, because their entries
/// must not count as listed.
const MAX_ERRORS: usize = 200;

/// The notes of one snapshot.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// A line for each item that was read.
    pub(super) read: Vec<String>,
    pub(super) errors: Vec<PathError>,
    /// Files of the snapshot that were kept only in part.
    pub(super) truncated: BTreeSet<String>,
    /// Existing files that were omitted, by their path in the snapshot.
    pub(super) not_captured: BTreeMap<String, String>,
    files: usize,
}

impl Notes {
    pub(super) fn read(&mut self, what: impl Into<String>) {
        self.read.push(what.into());
    }

    /// Notes an item that could not be read.
    pub(super) fn error(&mut self, path: &Path, why: impl ToString) {
        self.files += 1;
        if self.files <= MAX_ERRORS {
            self.add(path, why);
        }
    }

    /// Notes a directory that was not listed completely: missing entries may exist.
    pub(super) fn unlisted(&mut self, folder: &Path, why: impl ToString) {
        self.add(folder, why);
    }

    fn add(&mut self, path: &Path, why: impl ToString) {
        let why = redact::text(&why.to_string()).into_owned();
        let error = PathError { path: shown(path), error: why };
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Notes why an item was not read, unless it does not exist.
    pub(super) fn unless_absent<T>(&mut self, path: &Path, result: Result<T, ReadFailure>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(ReadFailure::Absent) => None,
            Err(why) => {
                self.error(path, why);
                None
            }
        }
    }
}

/// A path as text, without control characters and secrets.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = text.split('/').all(|part| part.is_empty() || is_plain_name(part));
    let text = if plain { text.into_owned() } else { text.escape_debug().to_string() };
    redact::text(&text).into_owned()
}
