//! Unpacks gzip, zstd, tar and zip from untrusted input into named [`Blob`]s, never into named files. Links are not
//! followed, only unnamed temporary files are written, and everything is limited. Readable parts of a broken archive
//! are kept, with a note about the rest.

pub mod member;
pub mod spool;
mod tar;
mod tree;
mod zip;

use std::io::{self, BufReader, Read, Write};

use self::member::{Input, Members};
use self::spool::{Blob, BlobReader, Spool};
use self::tar::{BLOCK, Keep, Walk, is_tar};

pub use self::tree::{Tree, clean, folder_of, joined};

/// Maximum number of bytes that a run unpacks or reads from pipes, in total.
pub const MAX_UNPACKED: u64 = 4 << 30;
/// Maximum ratio of unpacked to packed size for gzip beyond [`RATIO_FREE`]. gzip reaches at most 1032, with one
/// repeated byte; ten thousand copies of one pod reach 90.
pub const MAX_GZIP_RATIO: u64 = 200;
/// The same for zstd; ten thousand copies of one pod, apart from names and uids, reach 509.
pub const MAX_ZSTD_RATIO: u64 = 1000;
/// Unpacked size up to which the ratio does not matter.
pub const RATIO_FREE: u64 = 64 << 20;
/// Maximum number of unreadable files to name per archive or folder; the others are counted.
pub const MAX_NAMED: usize = 100;
/// Maximum number of entries per run, in all archives and folders.
pub const MAX_ENTRIES: usize = 200_000;
/// Maximum length of a path in an archive, in bytes.
pub const MAX_PATH: usize = 1024;
/// Maximum number of nested folders in a path.
pub const MAX_DEPTH: usize = 32;
/// Number of unpacked bytes to detect the format of packed data other than archives.
const PLAIN_HEAD: u64 = 4096;
/// Maximum window of zstd, as a power of two.
const MAX_WINDOW_LOG: u32 = 27;

/// The remaining limits of a run.
#[derive(Debug)]
pub struct Budget {
    bytes: u64,
    entries: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { bytes: MAX_UNPACKED, entries: MAX_ENTRIES }
    }
}

impl Budget {
    /// Smaller limits, for an archive that is known to be small.
    pub fn new(bytes: u64, entries: usize) -> Budget {
        Budget { bytes: bytes.min(MAX_UNPACKED), entries: entries.min(MAX_ENTRIES) }
    }

    /// Number of bytes that may still be read.
    pub fn left(&self) -> u64 {
        self.bytes
    }

    /// Uses up a number of bytes.
    pub fn take(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Uses up one entry; `false` if the limit is reached.
    pub fn entry(&mut self) -> bool {
        let left = self.entries > 0;
        self.entries = self.entries.saturating_sub(1);
        left
    }
}

/// The detected content of a file.
#[derive(Debug)]
pub enum Unpacked {
    /// An archive.
    Tree(Tree),
    /// Another file, decompressed, with the error if it ends too early.
    Plain(Blob, Option<String>),
}

/// Whether [`unpack`] can open a file with this beginning.
pub fn is_packed(head: &[u8]) -> bool {
    const MAGIC: [&[u8]; 3] = [GZIP, ZSTD, ZIP];
    MAGIC.iter().any(|magic| head.starts_with(magic)) || head.get(..BLOCK).is_some_and(is_tar)
}

/// The magic bytes of gzip, zstd and zip.
pub const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const ZIP: &[u8] = b"PK\x03\x04";

/// Detects the format from the first bytes and unpacks. Packed data other than an archive is unpacked completely only
/// if its beginning is `wanted`; otherwise only its beginning is returned, for a message.
///
/// # Errors
/// Nothing can be read.
pub fn unpack(blob: &Blob, budget: &mut Budget, wanted: fn(&[u8]) -> bool) -> io::Result<Unpacked> {
    let head = blob.head(BLOCK as u64)?;
    let (packed, ratio): (Box<dyn Input>, u64) = if head.starts_with(GZIP) {
        (Box::new(Members::new(blob)), MAX_GZIP_RATIO)
    } else if head.starts_with(ZSTD) {
        let mut decoder = zstd::stream::read::Decoder::new(blob.reader()?)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        (Box::new(decoder), MAX_ZSTD_RATIO)
    } else if head.starts_with(ZIP) {
        return zip::walk(blob, budget).map(Unpacked::Tree);
    } else if is_tar(&head) {
        let input = BufReader::with_capacity(1 << 16, blob.reader()?);
        return Ok(Unpacked::Tree(Walk::new(input, Keep::Slice(blob)).walk(budget)));
    } else {
        return Ok(Unpacked::Plain(blob.clone(), None));
    };
    let most = budget.bytes.min(RATIO_FREE.max(blob.len().saturating_mul(ratio)));
    let mut input = Bounded { input: packed, left: most };
    let mut first = Vec::new();
    let mut broken = (&mut input).take(BLOCK as u64).read_to_end(&mut first).err();
    if first.is_empty() {
        return match broken {
            Some(error) => Err(error),
            None => Ok(Unpacked::Plain(blob.slice(0, 0), None)),
        };
    }
    let unpacked = if is_tar(&first) {
        let input = Begun { first: io::Cursor::new(first), rest: &mut input };
        Unpacked::Tree(Walk::new(input, Keep::Copy(Spool::new())).walk(budget))
    } else {
        if broken.is_none() {
            broken = (&mut input).take(PLAIN_HEAD - BLOCK as u64).read_to_end(&mut first).err();
        }
        let mut spool = Spool::new();
        spool.write_all(&first)?;
        let ended = match broken {
            None if wanted(&first) => copy(&mut input, &mut spool).err(),
            broken => broken,
        };
        Unpacked::Plain(spool.finish(), ended.map(|error| error.to_string()))
    };
    budget.take(most - input.left);
    Ok(unpacked)
}

/// Copies in pieces, so that data before an error is kept.
fn copy(input: &mut impl Read, output: &mut impl Write) -> io::Result<u64> {
    let mut chunk = vec![0; 1 << 16];
    let mut copied = 0;
    loop {
        match input.read(&mut chunk) {
            Ok(0) => return Ok(copied),
            Ok(count) => {
                output.write_all(&chunk[..count])?;
                copied += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reason to stop unpacking.
const TOO_MUCH: &str = "it unpacks to more than the limit (of the ratio or of the total size)";

/// A reader that fails at the limit.
struct Bounded<R> {
    input: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            return match self.input.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(TOO_MUCH)),
            };
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.input.read(&mut buffer[..room])?;
        self.left -= count as u64;
        Ok(count)
    }
}

impl<R: Input> Input for Bounded<R> {
    fn member(&mut self, len: u64) -> Option<Blob> {
        let blob = if len <= self.left { self.input.member(len) } else { None }?;
        self.left -= len;
        Some(blob)
    }
}

impl Input for Box<dyn Input + '_> {
    fn member(&mut self, len: u64) -> Option<Blob> {
        (**self).member(len)
    }
}

impl Input for BufReader<BlobReader> {}

impl Input for zstd::stream::read::Decoder<'_, BufReader<BlobReader>> {}

/// An input whose first bytes were read to detect its format.
struct Begun<R> {
    first: io::Cursor<Vec<u8>>,
    rest: R,
}

impl<R: Read> Read for Begun<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.first.read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}

impl<R: Input> Input for Begun<&mut R> {
    fn member(&mut self, len: u64) -> Option<Blob> {
        let is_read = self.first.position() >= self.first.get_ref().len() as u64;
        if is_read { self.rest.member(len) } else { None }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ArchiveReadme;

#[cfg(test)]
mod tests;
