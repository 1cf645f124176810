//! Archives are hostile input: unpacks gzip, zstd and tar into [`Blob`]s by name, never into files with names. Nothing
//! is followed, nothing is written outside an unnamed temporary file, and everything has a limit. What can be read of a
//! broken archive is kept, with a note of what could not.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};

use flate2::read::MultiGzDecoder;
use tar::{EntryType, Header, PaxExtensions};

use super::spool::{Blob, Spool};

/// How many bytes one run unpacks at most, all archives together.
pub const MAX_UNPACKED: u64 = 8 << 30;
/// An archive may unpack to so many times its size, once it is beyond [`RATIO_FREE`]. gzip cannot pack tighter than
/// 1:1032, and real dumps stay below 1:100.
pub const MAX_RATIO: u64 = 500;
/// Up to so many bytes the ratio does not matter.
pub const RATIO_FREE: u64 = 256 << 20;
/// How many entries one run reads at most, all archives and folders together.
pub const MAX_ENTRIES: usize = 200_000;
/// How long a path inside may be, in bytes.
pub const MAX_PATH: usize = 1024;
/// How many folders deep a path may go.
pub const MAX_DEPTH: usize = 32;
/// How long a tar extension header (a long name) may be, in bytes.
const MAX_EXTENSION: u64 = 64 << 10;
/// Decoding zstd may take a window of so many bytes, as a power of two.
const MAX_WINDOW_LOG: u32 = 27;

const BLOCK: usize = 512;

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
    /// Takes one entry; `false` when there were too many.
    pub fn entry(&mut self) -> bool {
        let left = self.entries > 0;
        self.entries = self.entries.saturating_sub(1);
        left
    }
}

/// The files of an archive or of a folder.
#[derive(Debug, Default)]
pub struct Tree {
    /// Files by path, separated by `/`.
    pub files: BTreeMap<String, Blob>,
    /// What could not be read and may have held evidence: path (empty for the whole) and reason.
    pub trouble: Vec<(String, String)>,
    /// Worth a warning; nothing is missing because of it.
    pub notes: Vec<(String, String)>,
    /// The archive fails its own checksums, so that no part of it can be trusted; or the tail of it is lost (`false`).
    pub corrupt: bool,
}

impl Tree {
    /// What lies below a folder, with paths from there; the whole for an empty prefix.
    pub fn below(&self, prefix: &str) -> Tree {
        let strip = |path: &str| path.strip_prefix(prefix).map(str::to_owned);
        let told = |list: &[(String, String)]| {
            list.iter()
                .filter_map(|(path, why)| {
                    if path.is_empty() {
                        return Some((String::new(), why.clone()));
                    }
                    Some((strip(path)?, why.clone()))
                })
                .collect()
        };
        Tree {
            files: self.files.iter().filter_map(|(path, blob)| Some((strip(path)?, blob.clone()))).collect(),
            trouble: told(&self.trouble),
            notes: told(&self.notes),
            corrupt: self.corrupt,
        }
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

/// Looks at the first bytes and unpacks what is packed.
///
/// # Errors
/// Nothing of it can be read.
pub fn unpack(blob: &Blob, budget: &mut Budget) -> io::Result<Unpacked> {
    let head = blob.head(BLOCK as u64)?;
    let packed: Box<dyn Read> = if head.starts_with(&[0x1F, 0x8B]) {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, blob.reader()?)))
    } else if head.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
        let mut decoder = zstd::stream::read::Decoder::new(blob.reader()?)?;
        decoder.window_log_max(MAX_WINDOW_LOG)?;
        Box::new(decoder)
    } else if head.starts_with(b"PK\x03\x04") {
        return Err(io::Error::other("a zip archive: unpack it and give the folder"));
    } else if is_tar(&head) {
        let input = BufReader::with_capacity(1 << 16, blob.reader()?);
        return Ok(Unpacked::Tree(Walk::new(input, Keep::Slice(blob)).walk(budget)));
    } else {
        return Ok(Unpacked::Plain(blob.clone(), None));
    };
    let most = budget.bytes.min(RATIO_FREE.max(blob.len().saturating_mul(MAX_RATIO)));
    let mut input = Bounded { input: packed, left: most };
    let mut first = Vec::new();
    let broken = (&mut input).take(BLOCK as u64).read_to_end(&mut first).err();
    if first.is_empty() {
        return match broken {
            Some(error) => Err(error),
            None => Ok(Unpacked::Plain(blob.slice(0, 0), None)),
        };
    }
    let tar = is_tar(&first);
    let mut input = io::Cursor::new(first).chain(input);
    let unpacked = if tar {
        Unpacked::Tree(Walk::new(&mut input, Keep::Copy(Spool::new())).walk(budget))
    } else {
        let mut spool = Spool::new();
        let ended = broken.map_or_else(|| copy(&mut input, &mut spool).err(), Some);
        Unpacked::Plain(spool.finish(), ended.map(|error| error.to_string()))
    };
    let (_, rest) = input.into_inner();
    budget.bytes = budget.bytes.saturating_sub(most - rest.left);
    Ok(unpacked)
}

/// Whether a block is a tar header: its checksum is right.
pub fn is_tar(block: &[u8]) -> bool {
    block.len() == BLOCK && block.iter().any(|byte| *byte != 0) && checksum_holds(block)
}

fn checksum_holds(block: &[u8]) -> bool {
    let sum: u32 = block
        .iter()
        .enumerate()
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) })
        .sum();
    header(block).is_some_and(|header| header.cksum().is_ok_and(|said| said == sum))
}

fn header(block: &[u8]) -> Option<Header> {
    let mut header = Header::new_old();
    let bytes = header.as_mut_bytes();
    if block.len() != bytes.len() {
        return None;
    }
    bytes.copy_from_slice(block);
    Some(header)
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
                _ => Err(io::Error::other("it unpacks to more than is read: see the limits on archives")),
            };
        }
        let room = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.input.read(&mut buffer[..room])?;
        self.left -= count as u64;
        Ok(count)
    }
}

/// Where the contents of entries go.
enum Keep<'a> {
    /// The tar lies open: an entry is a part of it.
    Slice(&'a Blob),
    /// It comes out of a decoder: an entry is copied.
    Copy(Spool),
}

struct Walk<'a, R> {
    input: R,
    keep: Keep<'a>,
    /// Bytes of the tar that were read.
    passed: u64,
    tree: Tree,
    /// Offset and length of each file in what is kept.
    places: BTreeMap<String, (u64, u64)>,
    /// Links by path, with what they point to.
    links: Vec<(String, String)>,
}

/// Why no further entry is read.
enum End {
    /// The tar said so.
    Said,
    /// It is broken, or too much.
    Broken(String),
}

impl<'a, R: Read> Walk<'a, R> {
    fn new(input: R, keep: Keep<'a>) -> Self {
        let (tree, places, links) = Default::default();
        Walk { input, keep, passed: 0, tree, places, links }
    }

    fn walk(mut self, budget: &mut Budget) -> Tree {
        let mut long = Long::default();
        let end = loop {
            if let Err(end) = self.entry(&mut long, budget) {
                break end;
            }
        };
        if let End::Broken(why) = end {
            self.tree.trouble.push((String::new(), why));
        } else if let Err(error) = copy(&mut self.input, &mut io::sink()) {
            // Checksums come last, after the end of the tar.
            self.tree.corrupt |= error.kind() != io::ErrorKind::UnexpectedEof;
            self.tree.trouble.push((String::new(), error.to_string()));
        }
        let whole = match self.keep {
            Keep::Slice(blob) => blob.clone(),
            Keep::Copy(spool) => spool.finish(),
        };
        let mut tree = self.tree;
        tree.files = self.places.into_iter().map(|(path, (at, len))| (path, whole.slice(at, len))).collect();
        for (path, target) in self.links {
            if !leads_inside(&tree.files, &path, &target) {
                tree.trouble.push((path, format!("a link to {target:?}, which is not followed")));
            }
        }
        tree
    }

    fn entry(&mut self, long: &mut Long, budget: &mut Budget) -> Result<(), End> {
        let mut block = [0; BLOCK];
        match self.read_block(&mut block) {
            Ok(BLOCK) => {}
            Ok(0) => {
                return Err(End::Broken(
                    "it ends without the end mark of a tar archive: cut off?".to_owned(),
                ));
            }
            Ok(_) => return Err(End::Broken("it is cut off in the header of an entry".to_owned())),
            Err(error) => return Err(End::Broken(error.to_string())),
        }
        if block.iter().all(|byte| *byte == 0) {
            return Err(End::Said);
        }
        if !checksum_holds(&block) {
            return Err(End::Broken(format!(
                "the tar header at byte {} is damaged",
                self.passed - BLOCK as u64
            )));
        }
        let Some(header) = header(&block) else { return Err(End::Said) };
        let size = long.size.take().map_or_else(|| header.entry_size(), Ok);
        let size = size.map_err(|error| End::Broken(error.to_string()))?;
        if !budget.entry() {
            return Err(End::Broken(format!("more than {MAX_ENTRIES} entries")));
        }
        let kind = header.entry_type();
        match kind {
            EntryType::GNULongName | EntryType::GNULongLink | EntryType::XHeader => {
                return self.extension(kind, size, long);
            }
            EntryType::XGlobalHeader => return self.data(size, None).map(|_| ()),
            _ => {}
        }
        let name = long.name.take().unwrap_or_else(|| header.path_bytes().into_owned());
        let link = long.link.take().or_else(|| header.link_name_bytes().map(|link| link.into_owned()));
        let shown = String::from_utf8_lossy(&name).escape_debug().to_string();
        match (kind, clean(&name)) {
            (EntryType::Directory, Ok(_)) => self.data(size, None).map(|_| ()),
            (EntryType::Regular | EntryType::Continuous, Ok(path)) => {
                let (at, len) = self.data(size, Some(&path))?;
                if self.places.insert(path.clone(), (at, len)).is_some() {
                    self.tree
                        .notes
                        .push((path, "it is in the archive twice; the later one counts".to_owned()));
                }
                Ok(())
            }
            (EntryType::Link, Ok(path)) => {
                // The target of a hard link is a path in the archive.
                let target = String::from_utf8_lossy(&link.unwrap_or_default()).into_owned();
                self.links.push((path, format!("/{target}")));
                self.data(size, None).map(|_| ())
            }
            (EntryType::Symlink, Ok(path)) => {
                self.links.push((path, String::from_utf8_lossy(&link.unwrap_or_default()).into_owned()));
                self.data(size, None).map(|_| ())
            }
            (EntryType::Directory, Err(_)) => self.data(size, None).map(|_| ()),
            (_, Ok(path)) => {
                let why = "not a regular file; it is not read".to_owned();
                self.tree.trouble.push((path, why));
                self.data(size, None).map(|_| ())
            }
            (_, Err(why)) => {
                self.tree.trouble.push((shown, why.to_owned()));
                self.data(size, None).map(|_| ())
            }
        }
    }

    fn extension(&mut self, kind: EntryType, size: u64, long: &mut Long) -> Result<(), End> {
        if size > MAX_EXTENSION {
            return Err(End::Broken(format!("an extended header of {size} bytes")));
        }
        let mut bytes = vec![0; usize::try_from(size.next_multiple_of(BLOCK as u64)).unwrap_or(0)];
        match self.read_block(&mut bytes) {
            Ok(count) if count == bytes.len() => {}
            Ok(_) => return Err(End::Broken("it is cut off in an extended header".to_owned())),
            Err(error) => return Err(End::Broken(error.to_string())),
        }
        bytes.truncate(usize::try_from(size).unwrap_or(0));
        let text = |bytes: &[u8]| bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        match kind {
            EntryType::GNULongName => long.name = Some(text(&bytes)),
            EntryType::GNULongLink => long.link = Some(text(&bytes)),
            _ => {
                for extension in PaxExtensions::new(&bytes).flatten() {
                    match extension.key_bytes() {
                        b"path" => long.name = Some(extension.value_bytes().to_vec()),
                        b"linkpath" => long.link = Some(extension.value_bytes().to_vec()),
                        b"size" => long.size = extension.value().ok().and_then(|size| size.parse().ok()),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes over the contents of an entry, and keeps them for a `path`; their place in what is kept.
    fn data(&mut self, size: u64, path: Option<&str>) -> Result<(u64, u64), End> {
        let begin = match &self.keep {
            Keep::Slice(_) => self.passed,
            Keep::Copy(spool) => spool.len(),
        };
        let mut entry = (&mut self.input).take(size);
        let copied = match (&mut self.keep, path) {
            (Keep::Copy(spool), Some(_)) => copy(&mut entry, spool),
            (Keep::Copy(_) | Keep::Slice(_), _) => copy(&mut entry, &mut io::sink()),
        };
        let left = entry.limit();
        let read = size - left;
        self.passed = self.passed.saturating_add(read);
        let cut = match copied {
            Ok(_) if left == 0 => None,
            Ok(_) => Some("it is cut off".to_owned()),
            Err(error) => {
                self.tree.corrupt |= error.kind() != io::ErrorKind::UnexpectedEof;
                Some(error.to_string())
            }
        };
        if let Some(why) = cut {
            // What is there of it may hold whole objects.
            let place = path.map(|path| format!(" in {path}")).unwrap_or_default();
            if let Some(path) = path {
                self.places.insert(path.to_owned(), (begin, read));
            }
            return Err(End::Broken(format!("{why}{place}, after {read} of its {size} bytes")));
        }
        let padding = usize::try_from(size.next_multiple_of(BLOCK as u64) - size).unwrap_or(0);
        let mut rest = [0; BLOCK];
        // A missing padding shows at the next header.
        self.read_block(&mut rest[..padding]).map_err(|error| End::Broken(error.to_string()))?;
        Ok((begin, size))
    }

    /// Fills `block` as far as there is anything.
    fn read_block(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < block.len() {
            match self.input.read(&mut block[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.passed += filled as u64;
        Ok(filled)
    }
}

/// What extended headers said of the entry that follows.
#[derive(Default)]
struct Long {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}

/// A path as it is used: relative, without `.`; or why it is refused.
pub fn clean(name: &[u8]) -> Result<String, &'static str> {
    let Ok(name) = std::str::from_utf8(name) else { return Err("its name is no UTF-8; it is not read") };
    if name.len() > MAX_PATH {
        return Err("its name is too long; it is not read");
    }
    if name.starts_with('/') || name.starts_with('\\') || name.get(1..3).is_some_and(|drive| drive == ":\\") {
        return Err("an absolute name; it is not read");
    }
    if name.chars().any(char::is_control) {
        return Err("its name has control characters; it is not read");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.iter().any(|part| *part == ".." || part.starts_with("..\\")) {
        return Err("its name leads out of the archive; it is not read");
    }
    if parts.len() > MAX_DEPTH {
        return Err("too many folders deep; it is not read");
    }
    Ok(parts.join("/"))
}

/// Whether a link points to something that is read under its own name. A target that begins with `/` counts from the
/// top of the archive.
pub fn leads_inside(files: &BTreeMap<String, Blob>, path: &str, target: &str) -> bool {
    let mut parts: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => path.rsplit_once('/').map_or_else(Vec::new, |(folder, _)| folder.split('/').collect()),
    };
    for part in target.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            if parts.pop().is_none() {
                return false;
            }
        } else {
            parts.push(part);
        }
    }
    let inside = parts.join("/");
    let folder = format!("{inside}/");
    files.contains_key(&inside)
        || files.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
}
