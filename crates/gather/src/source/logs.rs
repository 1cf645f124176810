//! Logs given in addition to or instead of a cluster (`--logs NAME=FILE`). Reads the end of each file, up to a limit;
//! [`crate::model::log`] selects the lines to keep.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::error::LoadError;
use crate::fetched::{Fetched, Why};
use crate::model::log::{LogObject, LogOf, MAX_RAW};

/// Maximum number of bytes to read from a pipe; a longer one may be endless, and its end may matter.
const MAX_PIPED: u64 = 64 * MAX_RAW as u64;

/// The path of standard input.
pub const STDIN: &str = "-";

/// A recent log of a container, as requested from a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerLog {
    /// The pod's namespace.
    pub namespace: String,
    pub pod: String,
    pub container: String,
    /// Whether it is the log of the run before the last restart.
    pub previous: bool,
}

impl ContainerLog {
    /// Source of the log.
    pub fn key(&self) -> LogOf {
        let (namespace, pod) = (self.namespace.clone(), self.pod.clone());
        LogOf::Pod { namespace, pod, container: Some(self.container.clone()) }
    }
}

/// Logs by source.
#[derive(Debug, Default)]
pub struct Logs {
    name: String,
    texts: BTreeMap<LogOf, (String, bool)>,
    /// Logs that were not read to their end.
    trouble: Vec<Why>,
}

impl Logs {
    /// Reads the files of `--logs`; files of the same name (`--previous`) are concatenated as given.
    ///
    /// # Errors
    /// A name is invalid; a file cannot be read, is empty or is not text; standard input is used twice.
    pub fn open(given: &[(String, PathBuf)], stdin: impl Read) -> Result<Logs, LoadError> {
        let mut stdin = Some(stdin);
        let files: Vec<String> = given.iter().map(|(_, path)| path.display().to_string()).collect();
        let mut logs = Logs { name: files.join(", "), ..Logs::default() };
        for (name, path) in given {
            let flag = format!("--logs {name}={}", path.display());
            let Some(of) = LogOf::parse(name) else {
                return Err(LoadError::Usage(format!(
                    "{flag}: {name:?} is neither a node nor a pod: use NODE, NAMESPACE/POD or \
                     NAMESPACE/POD/CONTAINER"
                )));
            };
            let shown = if path.as_os_str() == STDIN { "stdin".to_owned() } else { path.display().to_string() };
            let read = if path.as_os_str() == STDIN {
                match stdin.take() {
                    Some(stdin) => tail_of_stream(stdin),
                    None => return Err(LoadError::Usage(format!("{flag}: stdin can be read only once"))),
                }
            } else {
                tail_of_file(path)
            };
            let Tail { bytes, cut, ended } = read.map_err(|error| LoadError::Open { path: shown.clone(), error })?;
            if let Some(reason) = no_text(&bytes) {
                return Err(LoadError::Unreadable { path: shown, reason: reason.to_owned() });
            }
            let text = String::from_utf8_lossy(&bytes);
            let is_written = |line: &str| !line.trim_ascii().is_empty();
            if let Some(line) = text.lines().find(|line| is_written(line))
                && !text.lines().any(|line| is_written(line) && of.wrote(line))
            {
                let source = line.split(' ').next().unwrap_or_default();
                let reason = format!("none of its lines is of {name}; the first is of {source}");
                return Err(LoadError::Unreadable { path: shown, reason });
            }
            if !ended {
                let message = format!(
                    "{shown}: more than {} MiB; the rest is not read: pass the end of the log, as with tail \
                     -c {MAX_RAW}",
                    MAX_PIPED >> 20
                );
                logs.trouble.push(Why::Malformed { message });
            }
            let held = logs.texts.entry(of).or_default();
            if !held.0.is_empty() && !held.0.ends_with('\n') {
                held.0.push('\n');
            }
            held.0.push_str(&text);
            held.1 |= cut;
        }
        Ok(logs)
    }

    /// Adds a log of a cluster, reduced; earlier additions are older.
    pub fn add(&mut self, tail: &ContainerLog, text: String, cut: bool) {
        let kept = LogObject::new(&tail.key(), text, cut).normalised();
        let held = self.texts.entry(tail.key()).or_default();
        held.0.push_str(&kept.text);
        if !held.0.is_empty() && !held.0.ends_with('\n') {
            held.0.push('\n');
        }
        held.1 |= kept.cut;
    }

    /// Records that a log could not be read.
    pub fn unread(&mut self, why: Why) {
        if !self.trouble.contains(&why) {
            self.trouble.push(why);
        }
    }

    /// The files, for the report's origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.trouble.is_empty()
    }

    /// Each log as an object.
    pub fn answer(&self, take: &mut dyn FnMut(&[u8])) -> Fetched {
        for (of, (text, cut)) in &self.texts {
            let object = LogObject::new(of, text.clone(), *cut);
            take(&serde_json::to_vec(&object).expect("a log is plain text"));
        }
        match (self.trouble.as_slice(), self.texts.is_empty()) {
            ([], _) => Fetched::Complete,
            ([first, ..], true) => Fetched::Missing { reason: first.clone() },
            (reasons, false) => Fetched::Partial { reasons: reasons.to_vec() },
        }
    }
}

/// The end of a log.
struct Tail {
    bytes: Vec<u8>,
    /// Whether it was preceded by other data.
    cut: bool,
    /// Whether it is the end.
    ended: bool,
}

/// Reason why it is not a log.
fn no_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [] => Some("it is empty: give the text of journalctl or kubectl logs"),
        [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..] => Some("it is compressed: unpack it first"),
        _ if bytes.contains(&0) => {
            Some("it is not text: give the output of journalctl or kubectl logs, not the journal file")
        }
        _ => None,
    }
}

fn tail_of_file(path: &Path) -> io::Result<Tail> {
    let mut file = File::open(path)?;
    let meta = file.metadata()?;
    if meta.is_dir() {
        return Err(io::Error::other("it is a folder: give the file of one log"));
    }
    if !meta.is_file() {
        return tail_of_stream(file);
    }
    let over = meta.len().saturating_sub(MAX_RAW as u64);
    file.seek(SeekFrom::Start(over))?;
    let mut bytes = Vec::new();
    file.take(MAX_RAW as u64).read_to_end(&mut bytes)?;
    Ok(Tail { bytes: whole_lines(bytes, over > 0), cut: over > 0, ended: true })
}

/// The end of a stream that cannot be rewound, and may be endless.
fn tail_of_stream(input: impl Read) -> io::Result<Tail> {
    let mut input = input.take(MAX_PIPED + 1);
    let mut bytes = Vec::new();
    let mut cut = false;
    loop {
        let read = input.by_ref().take(MAX_RAW as u64).read_to_end(&mut bytes)?;
        if read == 0 {
            return Ok(Tail { bytes: whole_lines(bytes, cut), cut, ended: input.limit() > 0 });
        }
        if bytes.len() > MAX_RAW {
            bytes.drain(..bytes.len() - MAX_RAW);
            cut = true;
        }
    }
}

/// Drops an incomplete first line.
fn whole_lines(mut bytes: Vec<u8>, cut: bool) -> Vec<u8> {
    if cut && let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
        bytes.drain(..=at);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(given: &[(&str, &Path)], stdin: &[u8]) -> Result<Logs, LoadError> {
        let given: Vec<_> = given.iter().map(|(name, path)| ((*name).to_owned(), (*path).to_owned())).collect();
        Logs::open(&given, stdin)
    }

    #[test]
    fn files_of_one_name_are_concatenated() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "one").expect("written");
        let logs = open(&[("n1", &path), ("n1", Path::new("-"))], b"two\n").expect("logs");
        let held = logs.texts.get(&LogOf::Node("n1".to_owned())).expect("the node's");
        assert_eq!(held.0, "one\ntwo\n");
        let twice = open(&[("n1", Path::new("-")), ("n2", Path::new("-"))], b"x").expect_err("twice");
        assert!(twice.is_usage());
    }

    #[test]
    fn endless_pipe_is_cut_and_reported() {
        let given = [("n1".to_owned(), PathBuf::from("-"))];
        let logs = Logs::open(&given, io::repeat(b'\n')).expect("logs");
        let Fetched::Partial { reasons } = logs.answer(&mut |_| {}) else { panic!("whole") };
        assert!(format!("{reasons:?}").contains("stdin: more than"), "{reasons:?}");
        let logs = Logs::open(&given, io::repeat(b'\n').take(2 * MAX_RAW as u64)).expect("logs");
        assert_eq!(logs.answer(&mut |_| {}), Fetched::Complete);
    }

    #[test]
    fn non_log_is_rejected_with_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        for (bytes, part) in [(&b""[..], "is empty"), (b"\x1F\x8B\x08", "compressed"), (b"LPKSHHRH\0\0", "not text")] {
            std::fs::write(&path, bytes).expect("written");
            let error = open(&[("n1", &path)], b"").expect_err("no log").to_string();
            assert!(error.contains(part) && error.contains("/x"), "{error}");
        }
        assert!(open(&[("n1", folder.path())], b"").is_err());
        assert!(open(&[("n1", &folder.path().join("gone"))], b"").is_err());
        assert!(open(&[("N 1", &path)], b"").expect_err("no name").is_usage());
    }
}
