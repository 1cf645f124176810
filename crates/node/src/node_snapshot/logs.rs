//! The lines about CNI in the logs of the runtime and the kubelet: from the journal on the node's own root,
//! else from files. Lines are filtered, bounded and redacted before they are kept.

use std::path::Path;
use std::time::Duration;

use super::crictl::program;
use super::notes::Notes;
use super::root::{ReadFailure, Root};
use super::run::{Limits, run};
use crate::knowledge::{Log, NodePlaces};
use crate::node::{JOURNAL_WORDS, MAX_RAW_LOG, filter_log};

const LIMITS: Limits = Limits { deadline: Duration::from_secs(30), output: MAX_RAW_LOG };
/// Number of journal lines to search, from the end.
const JOURNAL_LINES: &str = "--lines=50000";

/// One log in the form of the snapshot, with its path there; `None` if no log exists.
pub(super) fn copy_log(
    root: &Root,
    target: &str,
    log: &Log,
    places: &NodePlaces,
    journal: bool,
    notes: &mut Notes,
) -> Option<Vec<u8>> {
    let mut raw = Vec::new();
    let mut sources = Vec::new();
    let mut cut = false;
    if journal && let Some((bytes, more)) = from_journal(root, log, places, notes) {
        cut |= more;
        sources.push("the journal".to_owned());
        raw = bytes;
    }
    let own = log.files.iter().map(|path| (path, false));
    // The shared files repeat the lines of the journal.
    let shared = places.logs.shared.iter().map(|path| (path, true)).filter(|_| sources.is_empty());
    for (path, shared) in own.chain(shared).collect::<Vec<_>>() {
        match root.tail(Path::new(path), MAX_RAW_LOG as u64) {
            Ok((bytes, more)) => {
                cut |= more;
                sources.push(path.clone());
                raw.extend(if shared { tagged(&bytes, &log.tags) } else { bytes });
                raw.push(b'\n');
            }
            Err(ReadFailure::Absent) => {}
            Err(why) => notes.error(Path::new(path), why),
        }
    }
    if sources.is_empty() {
        notes.error(Path::new(target), "neither a readable journal nor a log file exists");
        return None;
    }
    let filtered = filter_log(&raw, &JOURNAL_WORDS);
    if cut || filtered.cut {
        notes.truncated.insert(target.to_owned());
    }
    let lines = filtered.bytes.iter().filter(|byte| **byte == b'\n').count();
    notes.read(format!("{target}: {lines} lines about CNI of {}", sources.join(", ")));
    Some(filtered.bytes)
}

fn from_journal(root: &Root, log: &Log, places: &NodePlaces, notes: &mut Notes) -> Option<(Vec<u8>, bool)> {
    let journalctl = program(root, &places.path, "journalctl")?;
    let units = log.units.iter().map(|unit| format!("--unit={unit}"));
    let mut args: Vec<String> = units.collect();
    args.extend(["--no-pager", "--quiet", "--output=short-iso", "--utc", JOURNAL_LINES].map(str::to_owned));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&journalctl, &args, &[("PATH", places.path.as_str())], b"", LIMITS) {
        // It also succeeds without output if no journal exists.
        Ok(printed) if printed.success && !printed.bytes.is_empty() => Some((printed.bytes, printed.cut)),
        Ok(_) => None,
        Err(why) => {
            notes.error(&journalctl, why);
            None
        }
    }
}

/// The lines of these programs: `... containerd[812]: ...`.
fn tagged(bytes: &[u8], tags: &[String]) -> Vec<u8> {
    let mut kept = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let head = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        let by = |tag: &String| head.contains(&format!(" {tag}[")) || head.contains(&format!(" {tag}: "));
        if tags.iter().any(by) {
            kept.extend_from_slice(line);
            kept.push(b'\n');
        }
    }
    kept
}
