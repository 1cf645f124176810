//! Bytes that can be read again at any place: files where they lie, what is made again whenever it is read, and what had to be
//! unpacked or came through a pipe, kept in memory while small and in an unnamed temporary file after that. Nothing here knows a
//! format.
//!
//! The temporary file has no name, so nothing of it is left behind however the process ends.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::SpooledTempFile;

/// Up to so many bytes of a spool stay in memory.
const IN_MEMORY: usize = 8 << 20;

/// Where bytes lie.
#[derive(Debug)]
enum Store {
    /// A regular file, opened whenever it is read.
    File(PathBuf),
    /// A finished spool.
    Spool(Arc<Mutex<SpooledTempFile>>),
    /// What is made whenever it is read.
    Again(Box<dyn Again>),
}

/// Bytes that are not kept, because they can be had again.
pub trait Again: std::fmt::Debug + Send + Sync {
    /// All of them.
    ///
    /// # Errors
    /// They cannot be had any more, or are not the same.
    fn bytes(&self) -> io::Result<Vec<u8>>;
}

/// A run of bytes that can be read again.
#[derive(Debug, Clone)]
pub struct Blob {
    store: Arc<Store>,
    offset: u64,
    len: u64,
}

impl Blob {
    /// A regular file.
    ///
    /// # Errors
    /// Its size cannot be read.
    pub fn file(path: &Path) -> io::Result<Blob> {
        // Opened now, so that a file that may not be read is known at once.
        let len = File::open(path)?.metadata()?.len();
        Ok(Blob { store: Arc::new(Store::File(path.to_owned())), offset: 0, len })
    }

    /// What can be had again, `len` bytes of it.
    pub fn again(bytes: impl Again + 'static, len: u64) -> Blob {
        Blob { store: Arc::new(Store::Again(Box::new(bytes))), offset: 0, len }
    }

    /// A part of it; what reaches beyond its end is cut.
    pub fn slice(&self, offset: u64, len: u64) -> Blob {
        let offset = offset.min(self.len);
        Blob { store: Arc::clone(&self.store), offset: self.offset + offset, len: len.min(self.len - offset) }
    }

    /// How many bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Reads it from the beginning; the reader is not buffered.
    ///
    /// # Errors
    /// The file is gone.
    pub fn reader(&self) -> io::Result<BlobReader> {
        let source = match &*self.store {
            Store::File(path) => {
                let mut file = File::open(path)?;
                file.seek(SeekFrom::Start(self.offset))?;
                Reading::File(file)
            }
            Store::Spool(spool) => Reading::Spool { spool: Arc::clone(spool), at: self.offset },
            Store::Again(bytes) => {
                let mut bytes = io::Cursor::new(bytes.bytes()?);
                bytes.set_position(self.offset);
                Reading::Memory(bytes)
            }
        };
        Ok(BlobReader { source, begin: self.offset, len: self.len, left: self.len })
    }

    /// All of it, if it has at most `limit` bytes.
    ///
    /// # Errors
    /// It is larger, or cannot be read.
    pub fn bytes(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.len > limit {
            return Err(io::Error::other(format!("it has {} bytes; {limit} are read at most", self.len)));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        self.reader()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Its first bytes, at most `count`.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn head(&self, count: u64) -> io::Result<Vec<u8>> {
        self.slice(0, count).bytes(count)
    }

    /// Which line, counted from 1, the byte at `offset` is on. For a single message: it reads up to there.
    pub fn line_at(&self, offset: u64) -> Option<u64> {
        Lines::of(&self.slice(0, offset)).line_at(offset)
    }
}

/// In how many bytes the line ends are counted together.
const STRETCH: u64 = 4096;

/// Where the lines of a blob begin, so that any number of messages can name theirs: read once, and then a stretch for
/// each question.
#[derive(Debug)]
pub struct Lines {
    blob: Blob,
    /// Line ends before each stretch; as far as the blob can be read.
    before: Vec<u64>,
}

impl Lines {
    /// Counts.
    pub fn of(blob: &Blob) -> Lines {
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

    /// Which line, counted from 1, the byte at `offset` is on.
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
    source: Reading,
    begin: u64,
    len: u64,
    left: u64,
}

#[derive(Debug)]
enum Reading {
    File(File),
    Spool { spool: Arc<Mutex<SpooledTempFile>>, at: u64 },
    Memory(io::Cursor<Vec<u8>>),
}

impl BlobReader {
    /// Goes on from `offset`.
    ///
    /// # Errors
    /// The file cannot be read there.
    pub fn go_to(&mut self, offset: u64) -> io::Result<()> {
        let place = self.begin + offset.min(self.len);
        match &mut self.source {
            Reading::File(file) => _ = file.seek(SeekFrom::Start(place))?,
            Reading::Spool { at, .. } => *at = place,
            Reading::Memory(bytes) => bytes.set_position(place),
        }
        self.left = self.len.saturating_sub(offset);
        Ok(())
    }

    /// Reads exactly `len` bytes from `offset` on into `bytes`, whatever it held.
    ///
    /// # Errors
    /// They cannot be read, or are not there any more.
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
            Reading::File(file) => file.read(buffer)?,
            Reading::Spool { spool, at } => {
                let mut spool = lock(spool);
                spool.seek(SeekFrom::Start(*at))?;
                let count = spool.read(buffer)?;
                *at += count as u64;
                count
            }
            Reading::Memory(bytes) => bytes.read(buffer)?,
        };
        self.left -= count as u64;
        Ok(count)
    }
}

/// A spool while it is written.
#[derive(Debug)]
pub struct Spool {
    file: SpooledTempFile,
    len: u64,
}

impl Spool {
    /// An empty one; its temporary file, if it needs one, is made in the system's temporary folder.
    pub fn new() -> Spool {
        Spool { file: SpooledTempFile::new(IN_MEMORY), len: 0 }
    }

    /// An empty one whose temporary file is made in `folder`.
    pub fn within(folder: &Path) -> Spool {
        Spool { file: SpooledTempFile::new_in(IN_MEMORY, folder), len: 0 }
    }

    /// How many bytes were written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether none were.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Ends writing: all of it, to be read and sliced.
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
    // A reader that panicked leaves only a position behind, and everyone sets that before reading.
    spool.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_is_read_again_at_any_place_in_memory_and_on_disk() {
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
    fn what_is_larger_than_allowed_is_an_error_and_lines_are_counted_from_one() {
        let mut spool = Spool::new();
        spool.write_all(b"a\nb\nc").unwrap();
        let blob = spool.finish();
        assert!(blob.bytes(4).is_err());
        assert_eq!(blob.line_at(0), Some(1));
        assert_eq!(blob.line_at(2), Some(2));
        assert_eq!(blob.line_at(4), Some(3));
    }

    #[test]
    fn lines_are_found_in_every_stretch() {
        let text = "x\n".repeat(5000);
        let mut spool = Spool::new();
        spool.write_all(text.as_bytes()).unwrap();
        let lines = Lines::of(&spool.finish());
        for offset in [0, 1, 2, STRETCH - 1, STRETCH, STRETCH + 1, 9999, 10_000] {
            assert_eq!(lines.line_at(offset), Some(offset / 2 + 1), "{offset}");
        }
        assert_eq!(lines.line_at(1 << 40), None);
    }
}
