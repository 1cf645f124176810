//! The files of an archive or folder by name, and rules for unsafe names.

use std::collections::BTreeMap;

use super::{MAX_DEPTH, MAX_NAMED, MAX_PATH};
use crate::spool::Blob;

/// The files of an archive or of a folder.
#[derive(Debug, Default)]
pub struct Tree {
    /// Files by path, separated by `/`.
    pub files: BTreeMap<String, Blob>,
    /// Unreadable parts that may contain evidence: path (empty for the whole) and reason.
    pub trouble: Vec<(String, String)>,
    /// Links to files that are read under their own names: path and the target's path.
    pub links: BTreeMap<String, String>,
    /// Warnings without missing evidence.
    pub notes: Vec<(String, String)>,
    /// The archive fails its checksums, so that no part can be trusted; or only its end is lost (`false`).
    pub corrupt: bool,
}

impl Tree {
    /// Records a link after all files are known. Links are not followed: the target is read under its own name or not
    /// at all. A target that starts with `/` is relative to the top of the tree.
    pub fn link(&mut self, path: String, target: &str) {
        match Tree::inside(&path, target) {
            Some(target) if self.files.contains_key(&target) => _ = self.links.insert(path, target),
            Some(target) if !self.below_is_empty(&target) => {}
            _ => self.trouble.push((path, format!("not followed: link to {target:?}"))),
        }
    }

    /// The path in the tree of a link's target; `None` if it is outside.
    fn inside(path: &str, target: &str) -> Option<String> {
        match target.strip_prefix('/') {
            Some(from_top) => joined("", from_top),
            None => joined(folder_of(path), target),
        }
    }

    fn below_is_empty(&self, folder: &str) -> bool {
        let folder = format!("{folder}/");
        !self.files.range(folder.clone()..).next().is_some_and(|(path, _)| path.starts_with(&folder))
    }

    /// The same, with a limited number of errors and notes, and the number of others.
    pub fn bounded(mut self) -> Tree {
        for list in [&mut self.trouble, &mut self.notes] {
            let more = list.len().saturating_sub(MAX_NAMED);
            if more > 0 {
                list.truncate(MAX_NAMED);
                list.push((String::new(), format!("and {more} more of the same kind")));
            }
        }
        self
    }

    /// The files below a folder, with relative paths; all files for an empty prefix.
    pub fn below(&self, prefix: &str) -> Tree {
        let strip = |path: &str| path.strip_prefix(prefix).map(str::to_owned);
        let told = |list: &[(String, String)]| {
            list.iter()
                .filter_map(|(path, why)| {
                    if path.is_empty() {
                        return Some((String::new(), why.clone()));
                    }
                    Some((strip(path)?, why.clone()))
                })
                .collect()
        };
        Tree {
            files: under(&self.files, prefix).map(|(path, blob)| (path, blob.clone())).collect(),
            trouble: told(&self.trouble),
            notes: told(&self.notes),
            links: under(&self.links, prefix).filter_map(|(path, to)| Some((path, strip(to)?))).collect(),
            corrupt: self.corrupt,
        }
    }
}

/// The entries below a folder in a sorted map, found without a full scan.
fn under<'a, T>(map: &'a BTreeMap<String, T>, prefix: &'a str) -> impl Iterator<Item = (String, &'a T)> {
    map.range(prefix.to_owned()..).map_while(move |(path, value)| Some((path.strip_prefix(prefix)?.to_owned(), value)))
}

/// Folder of a file's path; empty at the top.
pub fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path relative to a folder; `None` if it leads out of the tree.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match part {
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A normalized path: relative, without `.`; or the reason why it is rejected.
pub fn clean(name: &[u8]) -> Result<String, &'static str> {
    let Ok(name) = std::str::from_utf8(name) else { return Err("not read: its name is not UTF-8") };
    if name.len() > MAX_PATH {
        return Err("not read: its name is too long");
    }
    if name.starts_with('/') || name.starts_with('\\') || name.get(1..3).is_some_and(|drive| drive == ":\\") {
        return Err("not read: its name is absolute");
    }
    if name.chars().any(char::is_control) {
        return Err("not read: its name has control characters");
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.iter().any(|part| *part == ".." || part.starts_with("..\\")) {
        return Err("not read: its name leads out of the archive");
    }
    if parts.len() > MAX_DEPTH {
        return Err("not read: too many nested folders");
    }
    Ok(parts.join("/"))
}
