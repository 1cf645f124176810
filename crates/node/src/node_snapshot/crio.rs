//! CRI-O's configuration: the table `crio.network` of its file and of every drop-in file, in their order,
//! then the flags that it was started with, as CRI-O itself takes them.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::notes::{Notes, shown};
use super::process::Process;
use super::root::Root;
use super::settings::{Settings, directories, directory, table, text};
use crate::knowledge::Knowledge;
use crate::node::RuntimeKind;

/// Maximum number of drop-in files, and of directory levels.
const MAX_FILES: usize = 64;
const MAX_DEPTH: usize = 4;

/// The CNI settings, and whether a configuration file exists.
pub(super) fn configured(
    root: &Root,
    process: Option<&Process>,
    knowledge: &Knowledge,
    notes: &mut Notes,
) -> (Settings, bool) {
    let places = &knowledge.node().crio;
    let flag = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        process.and_then(|process| process.flag(&names)).filter(|path| path.starts_with('/'))
    };
    let first = flag(&places.flags).or(places.config_files.first().map(String::as_str));
    let mut files: Vec<PathBuf> = first.into_iter().map(PathBuf::from).collect();
    let drop_ins = flag(&places.drop_in_flags).unwrap_or(&places.drop_ins);
    let mut broken = !drop_in_files(root, Path::new(drop_ins), 0, &mut files, notes);
    let mut network = Table::new();
    let mut present = false;
    for path in &files {
        match table(root, path) {
            Ok(table) => {
                present = true;
                notes.read(format!("{}: CRI-O\'s configuration", shown(path)));
                let crio = table.get("crio").and_then(Value::as_table);
                let own = crio.and_then(|crio| crio.get("network")).and_then(Value::as_table);
                network.extend(own.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
            }
            Err(error) if error.is_absent() => {}
            Err(error) => {
                notes.error(path, error);
                (present, broken) = (true, true);
            }
        }
    }
    let mut settings = Settings {
        kind: RuntimeKind::Crio,
        conf_dir: None,
        bin_dirs: None,
        max_conf_num: None,
        default_network: None,
        source: if present && !broken { "crio.conf" } else { "default" },
    };
    if !broken {
        let platforms = knowledge.platforms();
        settings.conf_dir = match text(&network, "network_dir") {
            Some(dir) => directory(dir),
            None => Some(platforms.default_conf_dir().to_owned()),
        };
        let mut dirs =
            directories(network.get("plugin_dirs")).unwrap_or_else(|| vec![platforms.default_bin_dir().to_owned()]);
        dirs.extend(text(&network, "plugin_dir").and_then(directory));
        settings.bin_dirs = Some(dirs);
        settings.default_network = text(&network, "cni_default_network").map(str::to_owned);
    }
    if let Some(process) = process {
        if let Some(dir) = process.flag(&["--cni-config-dir"]).and_then(directory) {
            settings.conf_dir = Some(dir);
        }
        if let Some(dirs) = process.flag(&["--cni-plugin-dir"]) {
            settings.bin_dirs = Some(dirs.split(',').filter_map(directory).collect());
        }
        if let Some(name) = process.flag(&["--cni-default-network"]) {
            settings.default_network = Some(name.to_owned());
        }
    }
    (settings, present)
}

/// Adds every file below a directory, in the order of their names; `false` if some may be missing.
fn drop_in_files(root: &Root, folder: &Path, depth: usize, files: &mut Vec<PathBuf>, notes: &mut Notes) -> bool {
    let listing = match root.list(folder) {
        Ok(listing) => listing,
        Err(super::root::ReadFailure::Absent) => return true,
        Err(why) => {
            notes.error(folder, why);
            return false;
        }
    };
    let mut whole = !listing.partial;
    for entry in &listing.entries {
        let path = folder.join(&entry.name);
        if entry.metadata.is_dir() && depth < MAX_DEPTH {
            whole &= drop_in_files(root, &path, depth + 1, files, notes);
        } else if files.len() <= MAX_FILES {
            files.push(path);
        } else {
            notes.error(&path, format!("more than {MAX_FILES} configuration files"));
            return false;
        }
    }
    whole
}
