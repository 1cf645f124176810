//! Finds a snapshot in a log and unpacks it. Logs are untrusted input: all sizes are bounded, and incomplete
//! snapshots are rejected.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use super::write::checksum;
use super::{MAX_PACKED, TAG, VERSION};
use crate::archive::spool::Spool;
use crate::archive::{self, Budget, Tree, Unpacked};

/// Maximum unpacked size of a snapshot: the limit of one node's files.
const MAX_FILES_BYTES: u64 = crate::node_files::MAX_NODE;
/// Maximum number of entries: the limit of one node's files, and as many directories.
const MAX_ENTRIES: usize = 2 * crate::node_files::MAX_FILES;
/// Maximum length of a quoted foreign line.
const QUOTED: usize = 300;

/// A snapshot found in a log.
#[derive(Debug)]
pub struct FoundSnapshot {
    /// The name of the node, from the log.
    pub node: String,
    /// Its files.
    pub tree: Tree,
}

/// Why a log contains no valid snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LogError {
    /// No snapshot in the log.
    #[error("the log contains no snapshot{}", last_message(last))]
    None {
        /// The last line, not escaped for display.
        last: String,
    },
    /// Written by another version of meshdoctor.
    #[error(
        "the log has a snapshot in format {version}, but only format {VERSION} is supported: use the same \
         meshdoctor version on both sides"
    )]
    Version {
        /// Its format version.
        version: String,
    },
    /// The end line is missing.
    #[error("the log ends in the middle of the snapshot, after {lines} of its lines{}", last_message(last))]
    Cut {
        /// Number of snapshot lines.
        lines: usize,
        /// The last foreign line after them.
        last: String,
    },
    /// A line is missing, repeated or damaged.
    #[error("line {line} of the snapshot in the log is missing or damaged")]
    Torn {
        /// Counted from 1.
        line: usize,
    },
    /// The content does not match the end line.
    #[error("the snapshot in the log is damaged: {what}")]
    Damaged {
        /// The defect.
        what: String,
    },
}

fn last_message(last: &str) -> String {
    if last.is_empty() { String::new() } else { format!("; its last line: {last}") }
}

/// Whether a text contains at least a line of a snapshot.
pub fn is_log(text: &[u8]) -> bool {
    find(text, TAG.as_bytes()).is_some()
}

/// Reads every snapshot in a log: a file may contain the logs of several pods. A snapshot that cannot be read
/// is an error with the name of its node, and does not hide the others. Lines without the beginning of a
/// snapshot are one error.
pub fn read_all(log: &[u8]) -> Vec<Result<FoundSnapshot, (String, LogError)>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        if let Some(tag) = find(line, TAG.as_bytes())
            && let Ok(tagged) = std::str::from_utf8(&line[tag + TAG.len()..])
            && let Some((_, node)) = tagged.split_once(" begin ")
        {
            starts.push((at, node.trim_end().to_owned()));
        }
        at += line.len();
    }
    if starts.is_empty() {
        return vec![read(log).map_err(|error| (String::new(), error))];
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([log.len()]);
    let sections = starts.iter().zip(ends);
    sections.map(|((start, node), end)| read(&log[*start..end]).map_err(|error| (node.clone(), error))).collect()
}

/// Reads the first snapshot in a log. Text before the tag on a line (times, names of pods) and lines without it are
/// ignored.
///
/// # Errors
/// The log contains no complete snapshot.
pub fn read(log: &[u8]) -> Result<FoundSnapshot, LogError> {
    let mut reading = ReadState::default();
    let mut lines = log.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        match reading.line(line.strip_suffix(b"\r").unwrap_or(line)) {
            Ok(None) => {}
            Ok(Some(held)) => return Ok(held),
            // The last line has no newline, so it is incomplete.
            Err(LogError::Torn { .. } | LogError::Damaged { .. }) if lines.peek().is_none() => break,
            Err(error) => return Err(error),
        }
    }
    match reading.node {
        None => Err(LogError::None { last: reading.last }),
        Some(_) => Err(LogError::Cut { lines: reading.lines, last: reading.last }),
    }
}

/// The state of reading.
#[derive(Default)]
struct ReadState {
    node: Option<String>,
    packed: Vec<u8>,
    lines: usize,
    /// The last foreign line after the last snapshot line.
    last: String,
}

impl ReadState {
    /// Adds a line. Returns the snapshot after its end line.
    fn line(&mut self, line: &[u8]) -> Result<Option<FoundSnapshot>, LogError> {
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
                return Ok(Some(FoundSnapshot { node: node.clone(), tree: unpack(&self.packed)? }));
            }
            (number, Some(_)) if number.parse() == Ok(self.lines) => {
                self.packed.extend(STANDARD.decode(rest).map_err(|_| torn)?);
                if self.packed.len() > MAX_PACKED {
                    return Err(damaged("it is larger than the limit"));
                }
                self.lines += 1;
            }
            _ => return Err(torn),
        }
        self.last.clear();
        Ok(None)
    }
}

/// Checks the end line against the lines and bytes.
fn whole(end: &str, lines: usize, packed: &[u8]) -> Result<(), LogError> {
    let wanted = format!("lines={lines} bytes={} sha256={}", packed.len(), checksum(packed));
    if end == wanted { Ok(()) } else { Err(damaged("its checksum does not match")) }
}

fn unpack(packed: &[u8]) -> Result<Tree, LogError> {
    let broken = |error: std::io::Error| damaged(&error.to_string());
    let mut spool = Spool::new();
    spool.write_all(packed).map_err(broken)?;
    let mut budget = Budget::new(MAX_FILES_BYTES, MAX_ENTRIES);
    match archive::unpack(&spool.finish(), &mut budget, |_| false).map_err(broken)? {
        Unpacked::Tree(tree) => Ok(tree),
        Unpacked::Plain(..) => Err(damaged("it is not an archive")),
    }
}

fn damaged(what: &str) -> LogError {
    LogError::Damaged { what: what.to_owned() }
}

fn find(line: &[u8], tag: &[u8]) -> Option<usize> {
    line.windows(tag.len()).position(|window| window == tag)
}
