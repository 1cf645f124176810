//! Finds the programs that linkerd-cni runs on the runtime's PATH, and the targets of their links. If the
//! PATH of the runtime's process cannot be read, a default PATH is used, and the snapshot records that.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::notes::{Notes, shown};
use super::process::{self, Process};
use super::root::{ReadFailure, Root, is_executable};
use super::run::{Limits, run};
use crate::knowledge::NodePlaces;
use crate::node::{HostBinaries, HostBinary};

const LIMITS: Limits = Limits { deadline: Duration::from_secs(5), output: 4 << 10 };
/// Environment variables with the HTTP proxy of a process.
const PROXY: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"];
/// Maximum length of a setting, in characters.
const MAX_SETTING: usize = 4096;

/// Looks for the programs; with `versions`, runs those that report their backend with `--version`.
pub(super) fn look(
    root: &Root,
    runtime: Option<&Process>,
    places: &NodePlaces,
    versions: bool,
    notes: &mut Notes,
) -> HostBinaries {
    let environment = runtime.and_then(|process| {
        let path = format!("/proc/{}/environ", process.pid);
        match process::environment(root, process.pid) {
            Ok(environment) => {
                notes.read(format!("{path}: PATH and proxy settings of {}", process.name()));
                Some(environment)
            }
            Err(why) => {
                notes.error(Path::new(&path), format!("{why}; the runtime's PATH is assumed to be the default one"));
                None
            }
        }
    });
    if runtime.is_none() {
        let why = "the runtime's process is not visible; its PATH is assumed to be the default one";
        notes.error(Path::new("/proc"), why);
    }
    let environment = environment.unwrap_or_default();
    let own = environment.iter().find(|(name, value)| name == "PATH" && !value.is_empty());
    let (path, source) = match own {
        Some((_, path)) => (path.clone(), "environ"),
        None => (places.path.clone(), "default"),
    };
    let proxy_env = environment
        .iter()
        .filter(|(name, _)| PROXY.contains(&name.to_ascii_uppercase().as_str()))
        .map(|(name, value)| (name.clone(), hosts(value)))
        .collect();
    let mut binaries = BTreeMap::new();
    let folders = Folders::read(root, &path, notes);
    for name in &places.binaries {
        match folders.find(root, name, notes) {
            Some(found) => {
                let ask = versions && places.versions.contains(name) && found.executable == Some(true);
                let version = if ask { version(root, &found.path, &path, notes) } else { None };
                binaries.insert(name.clone(), Some(HostBinary { version, ..found }));
            }
            // A program is known to be missing only if every directory was read.
            None if folders.all => {
                binaries.insert(name.clone(), None);
            }
            None => {}
        }
    }
    let found = binaries.values().flatten().count();
    let on = shown(Path::new(&path));
    notes.read(format!("{found} of the {} names of iptables and nsenter on {on}", places.binaries.len()));
    HostBinaries { runtime_path: Some(path), path_source: Some(source.to_owned()), binaries, proxy_env }
}

/// The directories of a PATH.
struct Folders<'a> {
    names: Vec<&'a str>,
    /// Whether a program that is in none of them is known to be missing.
    all: bool,
}

impl<'a> Folders<'a> {
    fn read(root: &Root, path: &'a str, notes: &mut Notes) -> Folders<'a> {
        let mut folders = Folders { names: Vec::new(), all: root.is_whole() };
        for name in path.split(':').filter(|name| name.starts_with('/')) {
            match root.place(Path::new(name)) {
                Ok(_) => folders.names.push(name),
                Err(ReadFailure::Absent) => {}
                Err(why) => {
                    notes.error(Path::new(name), why);
                    folders.all = false;
                }
            }
        }
        if folders.names.is_empty() || !root.is_whole() {
            folders.all = false;
            let why = "some directories of the runtime's PATH are not available: programs that were not found may \
                 exist";
            notes.error(Path::new(path.split(':').next().unwrap_or("/usr/sbin")), why);
        }
        folders
    }

    /// The first executable match, else the first match.
    fn find(&self, root: &Root, name: &str, notes: &mut Notes) -> Option<HostBinary> {
        let mut second = None;
        for folder in &self.names {
            let path = Path::new(folder).join(name);
            let place = match root.place(&path) {
                Ok(place) => place,
                Err(ReadFailure::Absent) => continue,
                Err(why) => {
                    notes.error(&path, why);
                    continue;
                }
            };
            if place.metadata.is_dir() {
                continue;
            }
            let executable = is_executable(&place.metadata);
            let binary = HostBinary {
                name: name.to_owned(),
                path: shown(&path),
                links: place.hops.iter().map(|hop| shown(hop)).collect(),
                version: None,
                executable: Some(executable),
            };
            if executable {
                return Some(binary);
            }
            second.get_or_insert(binary);
        }
        second
    }
}

/// The first line of its output.
fn version(root: &Root, program: &str, path: &str, notes: &mut Notes) -> Option<String> {
    // Run under its original name, because iptables selects its program by it.
    match run(&root.outside(Path::new(program)), &["--version"], &[("PATH", path)], b"", LIMITS) {
        Ok(printed) => {
            let text = String::from_utf8_lossy(&printed.bytes).into_owned();
            let line = text.lines().next().unwrap_or_default().trim();
            (!line.is_empty()).then(|| line.chars().filter(|c| !c.is_control()).take(200).collect())
        }
        Err(why) => {
            notes.error(Path::new(program), format!("--version: {why}"));
            None
        }
    }
}

/// A proxy setting without users and passwords: `http://user:secret@proxy:3128/` becomes
/// `http://proxy:3128/`.
fn hosts(value: &str) -> String {
    let one = |part: &str| {
        let (scheme, rest) = match part.split_once("://") {
            Some((scheme, rest)) => (format!("{scheme}://"), rest),
            None => (String::new(), part),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        // A password may contain an unescaped slash; an '@' after the host has no meaning.
        let host = rest.rfind('@').map_or(&rest[..end], |at| &rest[at + 1..]);
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        format!("{scheme}{host}")
    };
    // NO_PROXY lists networks, which contain a slash.
    let parts = value.split(',').map(|part| {
        let part = part.trim();
        if is_network(part) { part.to_owned() } else { one(part) }
    });
    parts.collect::<Vec<_>>().join(",").chars().filter(|c| !c.is_control()).take(MAX_SETTING).collect()
}

/// `10.96.0.0/16`, `fd00::/8`
fn is_network(part: &str) -> bool {
    part.split_once('/')
        .is_some_and(|(address, bits)| address.parse::<std::net::IpAddr>().is_ok() && bits.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::hosts;

    #[test]
    fn proxy_settings_lose_users_and_passwords() {
        for (value, kept) in [
            ("http://user:pa/ss@proxy:3128/x", "http://proxy:3128"),
            ("user:pass@proxy:3128", "proxy:3128"),
            ("http://proxy:3128/?token=x", "http://proxy:3128"),
            ("10.96.0.0/16, .svc,fd00::/8,localhost", "10.96.0.0/16,.svc,fd00::/8,localhost"),
            ("", ""),
        ] {
            assert_eq!(hosts(value), kept, "{value}");
        }
    }
}
