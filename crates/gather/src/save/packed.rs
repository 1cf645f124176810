//! A bundle that is assembled but not written, to list its files, sizes and redactions before anything is sent.

use std::io::{self, Write};
use std::path::PathBuf;

use super::Saved;
use super::pack::{self, Content, Form, SaveError};

/// Prefix of all redaction markers; see [`crate::redact`].
const MARKER: &[u8] = b"REDACTED(";

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleEntry {
    /// Its path in the bundle.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Number of objects.
    pub objects: usize,
    /// Number of redacted values.
    pub redacted: usize,
}

impl BundleEntry {
    pub(super) fn new(name: &str, content: &Content, objects: usize, redacted: usize) -> BundleEntry {
        BundleEntry { name: name.to_owned(), bytes: content.len(), objects, redacted }
    }
}

/// Number of redacted values in a text.
pub(super) fn markers(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, MARKER).count()
}

/// A bundle that is ready to write.
#[derive(Debug)]
pub struct Packed {
    pub(super) path: PathBuf,
    pub(super) form: Form,
    pub(super) files: Vec<(BundleEntry, Content)>,
    pub(super) seconds: u64,
    pub(super) objects: usize,
    pub(super) nodes: usize,
}

impl Packed {
    /// Its files, the manifest first.
    pub fn entries(&self) -> impl Iterator<Item = &BundleEntry> {
        self.files.iter().map(|(entry, _)| entry)
    }

    /// Writes it to its target.
    ///
    /// # Errors
    /// It could not be written; no files are left.
    pub fn write(self) -> Result<Saved, SaveError> {
        let Packed { path, form, files, seconds, objects, nodes } = self;
        let files = file_names(files);
        match pack::write(&path, form, &files, seconds) {
            Ok(bytes) => Ok(Saved { path, bytes, objects, nodes }),
            Err(error) => Err(SaveError::Write { path, error }),
        }
    }

    /// Writes it to a stream.
    ///
    /// # Errors
    /// The stream cannot be written.
    pub fn stream<W: Write>(self, out: W) -> io::Result<()> {
        pack::tar(self.form, out, &file_names(self.files), self.seconds)?.flush()
    }

    /// Its size when written, in bytes.
    ///
    /// # Errors
    /// Compressed data cannot be read.
    pub fn size(self) -> io::Result<u64> {
        let form = if self.form == Form::Folder { Form::TarGz } else { self.form };
        Ok(pack::tar(form, CountingSink(0), &file_names(self.files), self.seconds)?.0)
    }
}

fn file_names(files: Vec<(BundleEntry, Content)>) -> Vec<(String, Content)> {
    files.into_iter().map(|(entry, content)| (entry.name, content)).collect()
}

/// Counts bytes and discards them.
struct CountingSink(u64);

impl Write for CountingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
