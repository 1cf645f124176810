//! containerd's configuration: the CNI part of its CRI plugin in `config.toml` of version 1, 2 or 3, with
//! everything that it imports, in containerd's order: imports come after the file that names them, and the
//! last value counts.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::notes::{Notes, shown};
use super::process::Process;
use super::root::{Root, clean};
use super::settings::{Settings, directories, directory, table, text};
use crate::knowledge::{Containerd, Knowledge};
use crate::node::RuntimeKind;

/// Maximum number of files to read, including imports.
const MAX_FILES: usize = 64;

/// The result of containerd's configuration.
#[derive(Debug)]
pub(super) struct Configured {
    pub(super) settings: Settings,
    /// Whether its CRI plugin is disabled, so that no kubelet uses it.
    pub(super) disabled: bool,
    /// Whether a configuration file exists.
    pub(super) present: bool,
}

/// The CNI settings, read from the file that the process names, else from the first existing default file.
pub(super) fn configured(
    root: &Root,
    process: Option<&Process>,
    knowledge: &Knowledge,
    notes: &mut Notes,
) -> Configured {
    let places = &knowledge.node().containerd;
    let flags: Vec<&str> = places.flags.iter().map(String::as_str).collect();
    let named = process.and_then(|process| process.flag(&flags)).filter(|path| path.starts_with('/'));
    let usual = places.config_files.iter().find(|path| root.has(path)).map(String::as_str);
    let first = match process {
        // Without a flag, the first one is its default.
        Some(_) => named.or(places.config_files.first().map(String::as_str)),
        None => usual.or(places.config_files.first().map(String::as_str)),
    };
    let mut files = Files { root, places, notes, cni: Table::new(), disabled: false, read: 0, broken: false };
    if let Some(first) = first {
        files.follow(PathBuf::from(first));
    }
    let Files { cni, disabled, read, broken, .. } = files;
    let platforms = knowledge.platforms();
    let mut settings = Settings {
        kind: RuntimeKind::Containerd,
        conf_dir: None,
        bin_dirs: None,
        max_conf_num: None,
        default_network: None,
        source: if read > 0 && !broken { "config.toml" } else { "default" },
    };
    // The settings of a broken file are not known; a running containerd was started with an earlier one.
    if !broken {
        settings.conf_dir = match text(&cni, "conf_dir") {
            Some(dir) => directory(dir),
            None => Some(platforms.default_conf_dir().to_owned()),
        };
        let one = text(&cni, "bin_dir").map(|dir| directory(dir).into_iter().collect::<Vec<_>>());
        settings.bin_dirs =
            directories(cni.get("bin_dirs")).or(one).or_else(|| Some(vec![platforms.default_bin_dir().to_owned()]));
        // A negative number means all of them, as 0 does.
        let number = cni.get("max_conf_num").and_then(Value::as_integer);
        settings.max_conf_num = Some(number.map_or(1, |number| u64::try_from(number).unwrap_or(0)));
    }
    Configured { settings, disabled, present: read > 0 || broken }
}

struct Files<'a> {
    root: &'a Root,
    places: &'a Containerd,
    notes: &'a mut Notes,
    /// The `cni` table of the CRI plugin, all files together.
    cni: Table,
    disabled: bool,
    read: usize,
    broken: bool,
}

impl Files<'_> {
    fn follow(&mut self, first: PathBuf) {
        let mut pending = VecDeque::from([first]);
        let mut loaded = BTreeSet::new();
        while let Some(path) = pending.pop_front() {
            if loaded.len() == MAX_FILES {
                self.notes.error(&path, format!("more than {MAX_FILES} configuration files"));
                self.broken = true;
                return;
            }
            if !loaded.insert(path.clone()) {
                continue;
            }
            match table(self.root, &path) {
                Ok(table) => {
                    self.read += 1;
                    self.notes.read(format!("{}: containerd\'s configuration", shown(&path)));
                    self.take(&path, &table);
                    pending.extend(self.imports(&path, &table));
                }
                // Without a file containerd uses its defaults; a named import must exist.
                Err(error) if error.is_absent() && loaded.len() == 1 => {}
                Err(error) => {
                    self.notes.error(&path, error);
                    self.broken = true;
                }
            }
        }
    }

    fn take(&mut self, path: &Path, table: &Table) {
        let version = table.get("version").and_then(Value::as_integer).unwrap_or(1);
        let names = if version >= 3 { &self.places.tables_v3 } else { &self.places.tables };
        let plugins = table.get("plugins").and_then(Value::as_table);
        for name in names {
            let plugin = plugins.and_then(|plugins| plugins.get(name)).and_then(Value::as_table);
            let cni = plugin.and_then(|plugin| plugin.get("cni")).and_then(Value::as_table);
            let repeated = |key: &String| cni.is_some_and(|cni| cni.contains_key(key));
            if plugin.is_some() && version < 3 && !self.cni.keys().all(repeated) {
                let why = "it repeats the table of the CRI plugin without its CNI settings: containerd 1.x \
                           drops the settings of earlier files, 2.x keeps them; the snapshot assumes that \
                           they are kept";
                self.notes.error(path, why);
            }
            for (key, value) in cni.into_iter().flatten() {
                self.cni.insert(key.clone(), value.clone());
            }
        }
        let disabled = table.get("disabled_plugins").and_then(Value::as_array).into_iter().flatten();
        self.disabled |=
            disabled.filter_map(Value::as_str).any(|plugin| self.places.disabled.iter().any(|known| known == plugin));
    }

    /// The files that a file imports: relative to its directory, with `*` for any part of a name.
    fn imports(&mut self, from: &Path, table: &Table) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let imports = table.get("imports").and_then(Value::as_array).into_iter().flatten();
        for import in imports.filter_map(Value::as_str) {
            let path = clean(&from.parent().unwrap_or(Path::new("/")).join(import));
            if import.contains('*') { files.extend(self.glob(&path)) } else { files.push(path) }
        }
        files
    }

    fn glob(&mut self, pattern: &Path) -> Vec<PathBuf> {
        let mut found = vec![PathBuf::from("/")];
        for part in pattern.components().skip(1) {
            let Some(part) = part.as_os_str().to_str() else { return Vec::new() };
            let mut next = Vec::new();
            for folder in found {
                if !part.contains(['*', '?']) {
                    next.push(folder.join(part));
                    continue;
                }
                let Some(listing) = self.notes.unless_absent(&folder, self.root.list(&folder)) else {
                    continue;
                };
                let names = listing.entries.iter().filter_map(|entry| entry.name.to_str());
                next.extend(names.filter(|name| matches(part, name)).map(|name| folder.join(name)));
            }
            next.truncate(MAX_FILES + 1);
            found = next;
        }
        found.retain(|path| self.root.place(path).is_ok());
        found
    }
}

/// Whether a name matches a pattern of `*` and `?`.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => match star {
                Some((place, from)) => {
                    star = Some((place, from + 1));
                    (at, seen) = (place + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|left| *left == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn star_matches_any_part_of_a_name() {
        for (pattern, name) in [("*.toml", "a.toml"), ("*", ""), ("a*b*c", "aXbYbc"), ("?.toml", "a.toml"), ("x", "x")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.toml", "a.tom"), ("a", "ab"), ("a*b", "a"), ("?", "")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
