//! Archives are hostile input: unpacks gzip, zstd, tar and zip into [`Blob`]s by name, never into files with names. Nothing
//! is followed, nothing is written outside an unnamed temporary file, and everything has a limit. What can be read of a
//! broken archive is kept, with a note of what could not.

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

/// How many bytes one run unpacks or reads from pipes at most, all of it together.
pub const MAX_UNPACKED: u64 = 4 << 30;
/// What gzip packed may unpack to so many times its size, once it is beyond [`RATIO_FREE`]. It cannot pack tighter than
/// 1:1032, which takes one byte again and again; ten thousand copies of one pod it packs at 1:90.
pub const MAX_GZIP_RATIO: u64 = 200;
/// The same of zstd, which packs ten thousand copies of one pod, apart from their names and uids, at 1:509.
pub const MAX_ZSTD_RATIO: u64 = 1000;
/// Up to so many bytes the ratio does not matter.
pub const RATIO_FREE: u64 = 64 << 20;
/// So many files of an archive or folder are named that could not be read; the others are counted.
pub const MAX_NAMED: usize = 100;
/// How many entries one run reads at most, all archives and folders together.
pub const MAX_ENTRIES: usize = 200_000;
/// How long a path inside may be, in bytes.
pub const MAX_PATH: usize = 1024;
/// How many folders deep a path may go.
pub const MAX_DEPTH: usize = 32;
/// So much of what is packed and no archive shows what it is.
const PLAIN_HEAD: u64 = 4096;
/// Decoding zstd may take a window of so many bytes, as a power of two.
const MAX_WINDOW_LOG: u32 = 27;

/// What is left of the limits of a run.
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
    pub fn of(bytes: u64, entries: usize) -> Budget {
        Budget { bytes: bytes.min(MAX_UNPACKED), entries: entries.min(MAX_ENTRIES) }
    }

    /// How many bytes may still be read.
    pub fn left(&self) -> u64 {
        self.bytes
    }

    /// Takes so many bytes.
    pub fn take(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Takes one entry; `false` when there were too many.
    pub fn entry(&mut self) -> bool {
        let left = self.entries > 0;
        self.entries = self.entries.saturating_sub(1);
        left
    }
}

/// What a file turned out to be.
#[derive(Debug)]
pub enum Unpacked {
    /// An archive.
    Tree(Tree),
    /// Any other file, decompressed; the reason, if it ends too early.
    Plain(Blob, Option<String>),
}

/// Whether a beginning is that of something that [`unpack`] opens.
pub fn is_packed(head: &[u8]) -> bool {
    const MAGIC: [&[u8]; 3] = [GZIP, ZSTD, ZIP];
    MAGIC.iter().any(|magic| head.starts_with(magic)) || head.get(..BLOCK).is_some_and(is_tar)
}

/// How gzip, zstd and zip begin.
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
const ZIP: &[u8] = b"PK\x03\x04";

/// Looks at the first bytes and unpacks what is packed. What is packed and no archive is unpacked whole where its
/// beginning is `wanted`; of any other only the beginning is given, which is enough to say what it is.
///
/// # Errors
/// Nothing of it can be read.
pub fn unpack(blob: &Blob, budget: &mut Budget, wanted: fn(&[u8]) -> bool) -> io::Result<Unpacked> {
    let head = blob.head(BLOCK as u64)?;
    let (packed, ratio): (Box<dyn Input>, u64) = if head.starts_with(GZIP) {
        (Box::new(Members::of(blob)), MAX_GZIP_RATIO)
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

/// Copies, so that what was copied before an error stays.
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

/// Why no more of an archive is unpacked.
const TOO_MUCH: &str = "it unpacks to more than is read (too many times its size, or too much in all)";

/// Refuses to give more than it may.
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

/// An input of which the first bytes were read to see what it is.
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

#[cfg(test)]
mod tests;
