//! What was read while a snapshot was taken, and what was not and why: for `meta.json` and for the operator.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::root::Unread;
use crate::model::node::{PathError, is_plain_name};
use crate::redact;

/// So many files that could not be read are named. Folders always are: the reader must not take them for listed.
const MAX_ERRORS: usize = 200;

/// The account of one snapshot.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// A line for each thing that was read.
    pub(super) read: Vec<String>,
    pub(super) errors: Vec<PathError>,
    /// Files of the snapshot of which only a part was kept.
    pub(super) truncated: BTreeSet<String>,
    /// Files that are there and were left out, by their path in the snapshot.
    pub(super) not_captured: BTreeMap<String, String>,
    files: usize,
}

impl Notes {
    pub(super) fn read(&mut self, what: impl Into<String>) {
        self.read.push(what.into());
    }

    /// Something that could not be read.
    pub(super) fn error(&mut self, path: &Path, why: impl ToString) {
        self.files += 1;
        if self.files <= MAX_ERRORS {
            self.add(path, why);
        }
    }

    /// A folder of which not everything is known: what is not seen in it may be there.
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

    /// Notes why something was not read, unless it is simply not there.
    pub(super) fn unless_absent<T>(&mut self, path: &Path, result: Result<T, Unread>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(Unread::Absent) => None,
            Err(why) => {
                self.error(path, why);
                None
            }
        }
    }
}

/// A path as text for people and files: without control characters and without secrets.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = text.split('/').all(|part| part.is_empty() || is_plain_name(part));
    let text = if plain { text.into_owned() } else { text.escape_debug().to_string() };
    redact::text(&text).into_owned()
}
