//! Re-readable bytes: existing files, data that is generated on each read, and unpacked or piped data, which is kept in
//! memory while small and otherwise in an unnamed temporary file. Independent of formats.
//!
//! The temporary file has no name, so it disappears however the process ends.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::SpooledTempFile;

/// Maximum number of bytes of a spool in memory.
const IN_MEMORY: usize = 8 << 20;

/// Storage of bytes.
#[derive(Debug)]
enum Store {
    /// A regular file, opened on each read.
    File(PathBuf),
    /// A finished spool.
    Spool(Arc<Mutex<SpooledTempFile>>),
    /// Generated on each read.
    Again(Box<dyn Repeatable>),
}

/// Bytes that can be generated again.
pub trait Repeatable: std::fmt::Debug + Send + Sync {
    /// Generates all of them.
    ///
    /// # Errors
    /// They are no longer available or have changed.
    fn bytes(&self) -> io::Result<Vec<u8>>;
}

/// A re-readable range of bytes.
#[derive(Debug, Clone)]
pub struct Blob {
    store: Arc<Store>,
    offset: u64,
    len: u64,
}

impl Blob {
    /// A range for a regular file.
    ///
    /// # Errors
    /// Its size cannot be read.
    pub fn file(path: &Path) -> io::Result<Blob> {
        // Opened now, so that permission errors occur immediately.
        let len = File::open(path)?.metadata()?.len();
        Ok(Blob { store: Arc::new(Store::File(path.to_owned())), offset: 0, len })
    }

    /// A range of `len` bytes that can be generated again.
    pub fn repeatable(bytes: impl Repeatable + 'static, len: u64) -> Blob {
        Blob { store: Arc::new(Store::Again(Box::new(bytes))), offset: 0, len }
    }

    /// A part of it, cut at its end.
    pub fn slice(&self, offset: u64, len: u64) -> Blob {
        let offset = offset.min(self.len);
        Blob { store: Arc::clone(&self.store), offset: self.offset + offset, len: len.min(self.len - offset) }
    }

    /// Number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads it from the start; the reader is not buffered.
    ///
    /// # Errors
    /// The file no longer exists.
    pub fn reader(&self) -> io::Result<BlobReader> {
        let source = match &*self.store {
            Store::File(path) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(self.offset))?;
                SpoolReader::File(file)
            }
            Store::Spool(spool) => SpoolReader::Spool { spool: Arc::clone(spool), at: self.offset },
            Store::Again(bytes) => {
                let mut bytes = io::Cursor::new(bytes.bytes()?);
                bytes.set_position(self.offset);
                SpoolReader::Memory(bytes)
            }
        };
        Ok(BlobReader { source, begin: self.offset, len: self.len, left: self.len })
    }

    /// All bytes, if there are at most `limit`.
    ///
    /// # Errors
    /// It is larger, or cannot be read.
    pub fn bytes(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.len > limit {
            return Err(io::Error::other(format!("it has {} bytes; the limit is {limit}", self.len)));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The first bytes, at most `count`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn head(&self, count: u64) -> io::Result<Vec<u8>> {
        self.slice(0, count).bytes(count)
    }

    /// The line of the byte at `offset`, counted from 1. Reads up to there, so use it for single messages only.
    pub fn line_at(&self, offset: u64) -> Option<u64> {
        Lines::new(&self.slice(0, offset)).line_at(offset)
    }
}

/// Length of a stretch whose line ends are counted together, in bytes.
const STRETCH: u64 = 4096;

/// Line index of a blob, for any number of messages: one full read, then one stretch per request.
#[derive(Debug)]
pub struct Lines {
    blob: Blob,
    /// Number of line ends before each stretch, as far as the blob can be read.
    before: Vec<u64>,
}

impl Lines {
    /// Builds the index.
    pub fn new(blob: &Blob) -> Lines {
        let mut before = vec![0];
        let mut ends = 0;
        let mut reader = blob.reader().map(|reader| BufReader::with_capacity(1 << 16, reader));
        let mut stretch = Vec::new();
        while let Ok(reader) = &mut reader {
            stretch.clear();
            match reader.by_ref().take(STRETCH).read_to_end(&mut stretch) {
                Ok(count) if count > 0 => ends += line_ends(&stretch),
                Ok(_) | Err(_) => break,
            }
            before.push(ends);
        }
        Lines { blob: blob.clone(), before }
    }

    /// The line of the byte at `offset`, counted from 1.
    pub fn line_at(&self, offset: u64) -> Option<u64> {
        let stretch = offset / STRETCH;
        let before = *self.before.get(usize::try_from(stretch).ok()?)?;
        let rest = self.blob.slice(stretch * STRETCH, offset % STRETCH).bytes(STRETCH).ok()?;
        Some(before + line_ends(&rest) + 1)
    }
}

fn line_ends(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Reads a [`Blob`].
#[derive(Debug)]
pub struct BlobReader {
    source: SpoolReader,
    begin: u64,
    len: u64,
    left: u64,
}

#[derive(Debug)]
enum SpoolReader {
    File(File),
    Spool { spool: Arc<Mutex<SpooledTempFile>>, at: u64 },
    Memory(io::Cursor<Vec<u8>>),
}

impl BlobReader {
    /// Continues at `offset`.
    ///
    /// # Errors
    /// The file cannot be read there.
    pub fn go_to(&mut self, offset: u64) -> io::Result<()> {
        let place = self.begin + offset.min(self.len);
        match &mut self.source {
            SpoolReader::File(file) => _ = file.seek(SeekFrom::Start(place))?,
            SpoolReader::Spool { at, .. } => *at = place,
            SpoolReader::Memory(bytes) => bytes.set_position(place),
        }
        self.left = self.len.saturating_sub(offset);
        Ok(())
    }

    /// Reads exactly `len` bytes from `offset` into `bytes`, replacing their content.
    ///
    /// # Errors
    /// They cannot be read, or no longer exist.
    pub fn at(&mut self, offset: u64, len: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.go_to(offset)?;
        bytes.clear();
        self.take(len).read_to_end(bytes)?;
        if bytes.len() as u64 == len { Ok(()) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) }
    }
}

impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let buffer = &mut buffer[..wanted];
        let count = match &mut self.source {
            SpoolReader::File(file) => file.read(buffer)?,
            SpoolReader::Spool { spool, at } => {
                let mut spool = lock(spool);
                spool.seek(SeekFrom::Start(*at))?;
                let count = spool.read(buffer)?;
                *at += count as u64;
                count
            }
            SpoolReader::Memory(bytes) => bytes.read(buffer)?,
        };
        self.left -= count as u64;
        Ok(count)
    }
}

/// A spool that is being written.
#[derive(Debug)]
pub struct Spool {
    file: SpooledTempFile,
    len: u64,
}

impl Spool {
    /// An empty spool; its temporary file, if needed, is in the system's temporary folder.
    pub fn new() -> Spool {
        Spool { file: SpooledTempFile::new(IN_MEMORY), len: 0 }
    }

    /// An empty spool whose temporary file is in `folder`.
    pub fn within(folder: &Path) -> Spool {
        Spool { file: SpooledTempFile::new_in(IN_MEMORY, folder), len: 0 }
    }

    /// Number of bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Finishes writing: all bytes, for reading and slicing.
    pub fn finish(self) -> Blob {
        Blob { store: Arc::new(Store::Spool(Arc::new(Mutex::new(self.file)))), offset: 0, len: self.len }
    }
}

impl Default for Spool {
    fn default() -> Self {
        Spool::new()
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes).map_err(|error| {
            let folder = std::env::temp_dir();
            let hint = format!("writing a temporary file ({}, or TMPDIR): {error}", folder.display());
            io::Error::new(error.kind(), hint)
        })?;
        self.len += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn lock(spool: &Mutex<SpooledTempFile>) -> MutexGuard<'_, SpooledTempFile> {
    // After a panic only the position is unknown, and every reader sets it first.
    spool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spool_is_readable_at_any_offset() {
        for size in [10, IN_MEMORY + 10] {
            let mut spool = Spool::new();
            let bytes: Vec<u8> = (0..size).map(|i| u8::try_from(i % 251).unwrap()).collect();
            spool.write_all(&bytes).unwrap();
            let blob = spool.finish();
            assert_eq!(blob.bytes(u64::MAX).unwrap(), bytes);
            assert_eq!(blob.slice(3, 4).bytes(4).unwrap(), &bytes[3..7]);
            assert_eq!(blob.slice(3, 4).slice(1, 99).bytes(99).unwrap(), &bytes[4..7]);
            assert!(blob.slice(u64::MAX, 4).is_empty());
        }
    }

    #[test]
    fn oversized_blob_is_an_error() {
        let mut spool = Spool::new();
        spool.write_all(b"a\nb\nc").unwrap();
        let blob = spool.finish();
        assert!(blob.bytes(4).is_err());
        assert_eq!(blob.line_at(0), Some(1));
        assert_eq!(blob.line_at(2), Some(2));
        assert_eq!(blob.line_at(4), Some(3));
    }

    #[test]
    fn line_index_covers_every_stretch() {
        let text = "x\n".repeat(5000);
        let mut spool = Spool::new();
        spool.write_all(text.as_bytes()).unwrap();
        let lines = Lines::new(&spool.finish());
        for offset in [0, 1, 2, STRETCH - 1, STRETCH, STRETCH + 1, 9999, 10_000] {
            assert_eq!(lines.line_at(offset), Some(offset / 2 + 1), "{offset}");
        }
        assert_eq!(lines.line_at(1 << 40), None);
    }
}
