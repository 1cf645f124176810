//! Finding a snapshot in a log and unpacking it. A log is what somebody's node gave: everything is bounded, and nothing
//! that is not whole is taken.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use super::write::checksum;
use super::{MAX_PACKED, TAG, VERSION};
use crate::archive::spool::Spool;
use crate::archive::{self, Budget, Tree, Unpacked};

/// How many bytes a snapshot may unpack to: those that are read of one node.
const MAX_FILES_BYTES: u64 = crate::node_files::MAX_NODE;
/// How many entries it may have: those that are read of one node, and as many folders.
const MAX_ENTRIES: usize = 2 * crate::node_files::MAX_FILES;
/// How much of a stranger's line is kept to be quoted.
const QUOTED: usize = 300;

/// A snapshot that was found in a log.
#[derive(Debug)]
pub struct Held {
    /// The node that it says it is of.
    pub node: String,
    /// Its files.
    pub tree: Tree,
}

/// Why there is no snapshot in a log.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LogError {
    /// Nothing in it is a snapshot.
    #[error("no snapshot is in the log{}", said(last))]
    None {
        /// The last line, not fit to be shown yet.
        last: String,
    },
    /// Another meshdoctor wrote it.
    #[error(
        "the log has a snapshot in format {version}, and format {VERSION} is read: use the same meshdoctor on both sides"
    )]
    Version {
        /// Its format.
        version: String,
    },
    /// It has no end.
    #[error("the log ends in the middle of the snapshot, after {lines} lines of it{}", said(last))]
    Cut {
        /// Lines that came.
        lines: usize,
        /// The last line of another's after them.
        last: String,
    },
    /// A line of it is missing, twice there, or not what was written.
    #[error("line {line} of the snapshot in the log is missing or damaged")]
    Torn {
        /// Counted from 1.
        line: usize,
    },
    /// What came together is not what was written.
    #[error("the snapshot in the log is damaged: {what}")]
    Damaged {
        /// What does not fit.
        what: String,
    },
}

fn said(last: &str) -> String {
    if last.is_empty() { String::new() } else { format!("; its last line: {last}") }
}

/// Reads the snapshot in a log. Text before the tag on a line (times, names of pods) and lines without it do not matter.
///
/// # Errors
/// There is none, or not all of one.
pub fn read(log: &[u8]) -> Result<Held, LogError> {
    let mut reading = Reading::default();
    let mut lines = log.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        match reading.line(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(None) => {}
            Ok(Some(held)) => return Ok(held),
            // The last line has no end of its own: it was cut off like the rest.
            Err(LogError::Torn { .. } | LogError::Damaged { .. }) if lines.peek().is_none() => break,
            Err(error) => return Err(error),
        }
    }
    match reading.node {
        None => Err(LogError::None { last: reading.last }),
        Some(_) => Err(LogError::Cut { lines: reading.lines, last: reading.last }),
    }
}

/// What has come so far.
#[derive(Default)]
struct Reading {
    node: Option<String>,
    packed: Vec<u8>,
    lines: usize,
    /// The last line of another's since the last of ours.
    last: String,
}

impl Reading {
    /// Takes a line; the snapshot, when it was the last one of it.
    fn line(&mut self, line: &[u8]) -> Result<Option<Held>, LogError> {
        let Some(ours) = find(line, TAG.as_bytes()).map(|at| &line[at + TAG.len()..]) else {
            if !line.is_empty() {
                self.last = String::from_utf8_lossy(&line[..line.len().min(QUOTED)]).into_owned();
            }
            return Ok(None);
        };
        let torn = LogError::Torn { line: self.lines + 1 };
        let Ok(ours) = std::str::from_utf8(ours) else { return Err(torn) };
        let mut words = ours.splitn(3, ' ');
        let (version, what, rest) = (words.next(), words.next(), words.next());
        let (Some(version), Some(what), Some(rest)) = (version, what, rest) else { return Err(torn) };
        if version != VERSION {
            let version = version.chars().take(20).collect();
            return Err(LogError::Version { version });
        }
        match (what, &self.node) {
            ("begin", None) => self.node = Some(rest.to_owned()),
            ("end", Some(node)) => {
                whole(rest, self.lines, &self.packed)?;
                return Ok(Some(Held { node: node.clone(), tree: unpack(&self.packed)? }));
            }
            (number, Some(_)) if number.parse() == Ok(self.lines) => {
                self.packed.extend(STANDARD.decode(rest).map_err(|_| torn)?);
                if self.packed.len() > MAX_PACKED {
                    return Err(damaged("it is larger than a log may hold"));
                }
                self.lines += 1;
            }
            _ => return Err(torn),
        }
        self.last.clear();
        Ok(None)
    }
}

/// Whether the end line names what came.
fn whole(end: &str, lines: usize, packed: &[u8]) -> Result<(), LogError> {
    let wanted = format!("lines={lines} bytes={} sha256={}", packed.len(), checksum(packed));
    if end == wanted { Ok(()) } else { Err(damaged("its checksum is not that of what came")) }
}

fn unpack(packed: &[u8]) -> Result<Tree, LogError> {
    let broken = |error: std::io::Error| damaged(&error.to_string());
    let mut spool = Spool::new();
    spool.write_all(packed).map_err(broken)?;
    let mut budget = Budget::of(MAX_FILES_BYTES, MAX_ENTRIES);
    match archive::unpack(&spool.finish(), &mut budget, |_| false).map_err(broken)? {
        Unpacked::Tree(tree) => Ok(tree),
        Unpacked::Plain(..) => Err(damaged("it is no archive")),
    }
}

fn damaged(what: &str) -> LogError {
    LogError::Damaged { what: what.to_owned() }
}

fn find(line: &[u8], tag: &[u8]) -> Option<usize> {
    line.windows(tag.len()).position(|window| window == tag)
}
