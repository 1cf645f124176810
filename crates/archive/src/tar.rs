//! Reads a tar archive entry by entry: keeps only regular files with safe names.

use std::collections::BTreeMap;
use std::io::{self, Read};

use ::tar::{EntryType, Header, PaxExtensions};

use super::member::Input;
use super::tree::{Tree, clean};
use super::{Budget, MAX_ENTRIES, copy};
use crate::spool::{Blob, Spool};

/// Maximum size of a tar extension header (a long name), in bytes.
const MAX_EXTENSION: u64 = 64 << 10;
/// Block size of tar.
pub(super) const BLOCK: usize = 512;

/// Whether a block is a tar header with a valid checksum.
pub(super) fn is_tar(block: &[u8]) -> bool {
    block.len() == BLOCK && block.iter().any(|byte| *byte != 0) && checksum_holds(block)
}

fn checksum_holds(block: &[u8]) -> bool {
    let sum: u32 =
        block.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum();
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

/// Storage of the contents of entries.
pub(super) enum Keep<'a> {
    /// The tar is not packed: an entry is a range of it.
    Slice(&'a Blob),
    /// The tar is packed: an entry is copied.
    Copy(Spool),
}

pub(super) struct Walk<'a, R> {
    input: R,
    keep: Keep<'a>,
    /// Number of bytes of the tar that were read.
    passed: u64,
    tree: Tree,
    /// Position of each file.
    places: BTreeMap<String, FilePosition>,
    /// Links by path, with their targets.
    links: Vec<(String, String)>,
}

/// Position of a file.
enum FilePosition {
    /// A range of the kept data: offset and length.
    Kept(u64, u64),
    /// A separate gzip member.
    Member(Blob),
}

/// Reason to stop reading entries.
enum StopReason {
    /// End mark of the tar.
    Said,
    /// Damage, or a limit.
    Broken(String),
}

impl<'a, R: Input> Walk<'a, R> {
    pub(super) fn new(input: R, keep: Keep<'a>) -> Self {
        let (tree, places, links) = Default::default();
        Walk { input, keep, passed: 0, tree, places, links }
    }

    pub(super) fn walk(mut self, budget: &mut Budget) -> Tree {
        let mut long = Long::default();
        let end = loop {
            if let Err(end) = self.entry(&mut long, budget) {
                break end;
            }
        };
        if let StopReason::Broken(why) = end {
            self.tree.trouble.push((String::new(), why));
        } else if let Err(error) = copy(&mut self.input, &mut io::sink()) {
            // Packed data has its checksum after the end of the tar.
            self.tree.corrupt |= error.kind() != io::ErrorKind::UnexpectedEof;
            self.tree.trouble.push((String::new(), error.to_string()));
        }
        let whole = match self.keep {
            Keep::Slice(blob) => blob.clone(),
            Keep::Copy(spool) => spool.finish(),
        };
        let mut tree = self.tree;
        let blob = |place| match place {
            FilePosition::Kept(at, len) => whole.slice(at, len),
            FilePosition::Member(blob) => blob,
        };
        tree.files = self.places.into_iter().map(|(path, place)| (path, blob(place))).collect();
        for (path, target) in self.links {
            tree.link(path, &target);
        }
        tree.bounded()
    }

    fn entry(&mut self, long: &mut Long, budget: &mut Budget) -> Result<(), StopReason> {
        let mut block = [0; BLOCK];
        match self.read_block(&mut block) {
            Ok(BLOCK) => {}
            Ok(0) => {
                return Err(StopReason::Broken(
                    "it ends without the end mark of a tar archive and may be truncated".to_owned(),
                ));
            }
            Ok(_) => return Err(StopReason::Broken("it is truncated in the header of an entry".to_owned())),
            Err(error) => return Err(StopReason::Broken(error.to_string())),
        }
        if block.iter().all(|byte| *byte == 0) {
            return Err(StopReason::Said);
        }
        if !checksum_holds(&block) {
            return Err(StopReason::Broken(format!(
                "the tar header at byte {} is damaged",
                self.passed - BLOCK as u64
            )));
        }
        let Some(header) = header(&block) else { return Err(StopReason::Said) };
        let size = long.size.take().map_or_else(|| header.entry_size(), Ok);
        let size = size.map_err(|error| StopReason::Broken(error.to_string()))?;
        if !budget.entry() {
            return Err(StopReason::Broken(format!("more than {MAX_ENTRIES} entries")));
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
                let place = match self.member(size) {
                    Some(blob) => FilePosition::Member(blob),
                    None => self.data(size, Some(&path)).map(|(at, len)| FilePosition::Kept(at, len))?,
                };
                if self.places.insert(path.clone(), place).is_some() {
                    self.tree.notes.push((path, "it occurs twice in the archive; the later one is used".to_owned()));
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
                let why = "not read: not a regular file".to_owned();
                self.tree.trouble.push((path, why));
                self.data(size, None).map(|_| ())
            }
            (_, Err(why)) => {
                self.tree.trouble.push((shown, why.to_owned()));
                self.data(size, None).map(|_| ())
            }
        }
    }

    fn extension(&mut self, kind: EntryType, size: u64, long: &mut Long) -> Result<(), StopReason> {
        if size > MAX_EXTENSION {
            return Err(StopReason::Broken(format!("an extended header of {size} bytes")));
        }
        let mut bytes = vec![0; usize::try_from(size.next_multiple_of(BLOCK as u64)).unwrap_or(0)];
        match self.read_block(&mut bytes) {
            Ok(count) if count == bytes.len() => {}
            Ok(_) => return Err(StopReason::Broken("it is truncated in an extended header".to_owned())),
            Err(error) => return Err(StopReason::Broken(error.to_string())),
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

    /// The contents of an entry that are a separate gzip member, with their padding.
    fn member(&mut self, size: u64) -> Option<Blob> {
        let padded = size.checked_next_multiple_of(BLOCK as u64)?;
        let blob = self.input.member(padded)?;
        self.passed = self.passed.saturating_add(padded);
        Some(blob.slice(0, size))
    }

    /// Skips the contents of an entry and keeps them for a `path`; returns their position.
    fn data(&mut self, size: u64, path: Option<&str>) -> Result<(u64, u64), StopReason> {
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
            Ok(_) => Some("it is truncated".to_owned()),
            Err(error) => {
                self.tree.corrupt |= error.kind() != io::ErrorKind::UnexpectedEof;
                Some(error.to_string())
            }
        };
        if let Some(why) = cut {
            // The existing part may contain complete objects.
            let place = path.map(|path| format!(" in {path}")).unwrap_or_default();
            if let Some(path) = path {
                self.places.insert(path.to_owned(), FilePosition::Kept(begin, read));
            }
            return Err(StopReason::Broken(format!("{why}{place}, after {read} of its {size} bytes")));
        }
        let padding = usize::try_from(size.next_multiple_of(BLOCK as u64) - size).unwrap_or(0);
        let mut rest = [0; BLOCK];
        // Missing padding is detected at the next header.
        self.read_block(&mut rest[..padding]).map_err(|error| StopReason::Broken(error.to_string()))?;
        Ok((begin, size))
    }

    /// Fills `block` as far as data is available.
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

/// Fields of extended headers for the following entry.
#[derive(Default)]
struct Long {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
}
