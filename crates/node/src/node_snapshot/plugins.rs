//! The plugin binaries in the runtime's plugin directories, and the answer of the linkerd-cni binary to
//! `VERSION`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::notes::Notes;
use super::root::{ReadFailure, Root, mode, mtime};
use super::run::{Limits, run};
use crate::node::{BinEntry, PluginBins, VersionAnswer, is_plain_name};

/// The plugin's name.
const LINKERD_CNI: &str = "linkerd-cni";
/// Maximum size of a binary to hash; real ones are smaller than 64 MiB.
const MAX_BINARY: u64 = 256 << 20;
const LIMITS: Limits = Limits { deadline: Duration::from_secs(10), output: 64 << 10 };

/// Lists `dirs`; `wanted` are those that the runtime searches, `shared` those that also contain other
/// programs. With `ask`, linkerd-cni is run once.
pub(super) fn list(
    root: &Root,
    dirs: &[String],
    wanted: &[String],
    shared: &[&str],
    ask: bool,
    notes: &mut Notes,
) -> Option<PluginBins> {
    let mut bins = PluginBins::default();
    let mut any = false;
    let mut binary = None;
    for dir in dirs {
        let path = Path::new(dir);
        let listing = match root.list(path) {
            Ok(listing) => listing,
            Err(ReadFailure::Absent) => {
                if !wanted.contains(dir) {
                    continue;
                }
                if root.is_whole() {
                    any = true;
                } else {
                    let why = "does not exist in a root that is only a part of a file system: it may not be \
                               mounted";
                    notes.unlisted(path, why);
                }
                continue;
            }
            Err(why) => {
                notes.unlisted(path, why);
                continue;
            }
        };
        any = true;
        if listing.partial {
            notes.unlisted(path, "some of its entries could not be read");
        }
        let before = bins.entries.len();
        // A directory with other programs, in which some platform also installs plugins.
        let is_shared = !wanted.contains(dir) && shared.contains(&dir.as_str());
        for name in &listing.entries {
            let Some((entry, real)) = plugin(root, dir, &name.name, is_shared, notes) else { continue };
            if entry.name == LINKERD_CNI && wanted.contains(dir) {
                binary.get_or_insert(real);
            }
            bins.entries.push(entry);
        }
        let count = bins.entries.len() - before;
        if count > 0 || wanted.contains(dir) {
            notes.read(format!("{dir}: {count} plugins"));
        }
    }
    if let Some(real) = binary.filter(|_| ask) {
        match version(&root.outside(&real)) {
            Ok(answer) => {
                notes.read(format!("{}: its answer to CNI_COMMAND=VERSION", real.display()));
                bins.linkerd_cni_version = Some(answer);
            }
            Err(why) => notes.error(&real, format!("CNI_COMMAND=VERSION: {why}")),
        }
    }
    any.then_some(bins)
}

/// A file of a plugin directory, with its real path; `None` if it is not a plugin or cannot be read.
fn plugin(root: &Root, dir: &str, name: &OsStr, is_shared: bool, notes: &mut Notes) -> Option<(BinEntry, PathBuf)> {
    let file = Path::new(dir).join(name);
    let Some(name) = name.to_str().filter(|name| is_plain_name(name)) else {
        notes.error(&file, "its name contains characters that are not shown");
        return None;
    };
    let place = match root.place(&file) {
        Ok(place) => place,
        Err(why) => {
            notes.error(&file, why);
            return None;
        }
    };
    let foreign = is_shared && name != LINKERD_CNI;
    if !place.metadata.is_file() || foreign {
        return None;
    }
    let sha256 = match name {
        LINKERD_CNI => notes.unless_absent(&file, root.sha256(&file, MAX_BINARY)),
        _ => None,
    };
    let entry = BinEntry {
        dir: dir.to_owned(),
        name: name.to_owned(),
        size: Some(place.metadata.len()),
        mode: Some(mode(&place.metadata)),
        mtime: mtime(&place.metadata),
        sha256,
    };
    Some((entry, place.real))
}

/// Runs the plugin as the CNI library does: older plugins require all variables, with any value.
fn version(binary: &Path) -> Result<VersionAnswer, String> {
    let env = [
        ("CNI_COMMAND", "VERSION"),
        ("CNI_CONTAINERID", "dummy"),
        ("CNI_NETNS", "dummy"),
        ("CNI_IFNAME", "dummy"),
        ("CNI_PATH", "dummy"),
    ];
    let printed = run(binary, &[], &env, b"{\"cniVersion\":\"1.0.0\"}", LIMITS)?;
    let answer: VersionAnswer = serde_json::from_slice(&printed.bytes)
        .map_err(|_| "its answer is not valid JSON of the CNI specification".to_owned())?;
    let printable = |text: &String| text.len() <= 32 && text.chars().all(|c| c.is_ascii_graphic());
    if answer.supported_versions.is_empty() || !answer.supported_versions.iter().all(printable) {
        return Err("its answer contains no versions".to_owned());
    }
    Ok(answer)
}
