//! The node's processes, for the way its runtime was started: command lines, and the environment of the
//! runtime itself, from which only PATH and the proxy settings are used outside of this file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::root::{ReadFailure, Root};

/// Maximum size of a command line or an environment, in bytes.
const MAX_WORDS: usize = 256 << 10;

/// A running program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    /// Its command line, beginning with the program.
    pub(super) words: Vec<String>,
    /// Whether it runs in a container.
    contained: bool,
}

impl Process {
    /// The name of its program, without the directory.
    pub(super) fn name(&self) -> &str {
        let called = self.words.first().map_or("", String::as_str);
        called.rsplit('/').next().unwrap_or(called)
    }

    /// The value of a flag, as `--flag value`, `--flag=value` or, for a short one, `-fvalue`; the last one
    /// counts.
    pub(super) fn flag(&self, names: &[&str]) -> Option<&str> {
        let mut found = None;
        for (at, word) in self.words.iter().enumerate().skip(1) {
            for name in names {
                if word == name {
                    found = self.words.get(at + 1).map(String::as_str).or(found);
                } else if let Some(rest) = word.strip_prefix(name) {
                    match rest.strip_prefix('=') {
                        Some(value) => found = Some(value),
                        None if name.len() == 2 => found = Some(rest),
                        None => {}
                    }
                }
            }
        }
        found.filter(|value| !value.is_empty())
    }
}

/// The processes with one of these names, those of the node itself before those in containers, in the order
/// of their numbers; empty if the node's `/proc` is not visible.
pub(super) fn find(root: &Root, names: &[&str]) -> Vec<Process> {
    let Ok(listing) = root.list(Path::new("/proc")) else { return Vec::new() };
    let pids = listing.entries.iter().filter_map(|entry| entry.name.to_str()?.parse::<u32>().ok());
    let mut found: Vec<Process> = pids
        .filter_map(|pid| {
            let content = root.read(&file(pid, "cmdline"), MAX_WORDS).ok()?;
            let process = Process { pid, words: words(&content.bytes), contained: false };
            let wanted = names.contains(&process.name());
            wanted.then(|| Process { contained: is_contained(root, pid), ..process })
        })
        .collect();
    // On a node that is itself a container (kind), all processes are in containers.
    if found.iter().any(|process| !process.contained) {
        found.retain(|process| !process.contained);
    }
    found.sort_by_key(|process| process.pid);
    found
}

/// The environment of a process, by name.
pub(super) fn environment(root: &Root, pid: u32) -> Result<Vec<(String, String)>, ReadFailure> {
    let content = root.read(&file(pid, "environ"), MAX_WORDS)?;
    let pairs = words(&content.bytes).into_iter().filter_map(|word| {
        let (name, value) = word.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    Ok(pairs.collect())
}

fn file(pid: u32, name: &str) -> std::path::PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

fn words(bytes: &[u8]) -> Vec<String> {
    let words = bytes.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_string_lossy().into_owned());
    let mut words: Vec<String> = words.collect();
    while words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    words
}

/// Whether its control group is that of a container.
fn is_contained(root: &Root, pid: u32) -> bool {
    let Ok(content) = root.read(&file(pid, "cgroup"), MAX_WORDS) else { return false };
    let text = String::from_utf8_lossy(&content.bytes).into_owned();
    ["kubepods", "/docker/", "docker-", "libpod", "/lxc"].iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_in_every_form() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let process = |text| Process { pid: 1, words: words(text), contained: false };
        let names = ["--config", "-c"];
        for text in [
            "containerd --config /x",
            "containerd --config=/x",
            "containerd -c /x",
            "containerd -c=/x",
            "containerd -c/x",
        ] {
            assert_eq!(process(text).flag(&names), Some("/x"), "{text}");
        }
        assert_eq!(process("containerd --configs=/x").flag(&["--config"]), None);
        assert_eq!(process("containerd --config").flag(&names), None);
        assert_eq!(process("/usr/bin/containerd").name(), "containerd");
    }
}
