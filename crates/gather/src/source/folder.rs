//! A folder as a [`Tree`]: all regular files below it, sorted by name. Links are not followed. Folders of version
//! control and of downloaded packages are left out.

use std::io;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use crate::archive::spool::Blob;
use crate::archive::{Budget, MAX_DEPTH, MAX_ENTRIES, Tree};

/// Folders that contain copies of files, and no evidence.
const LEFT_OUT: [&str; 5] = [".git", ".hg", ".svn", ".terraform", "node_modules"];

/// Lists a folder.
///
/// # Errors
/// The folder itself cannot be read.
pub fn tree(folder: &Path, budget: &mut Budget) -> io::Result<Tree> {
    std::fs::read_dir(folder)?;
    let mut tree = Tree::default();
    let mut links = Vec::new();
    let walk = WalkDir::new(folder).min_depth(1).max_depth(MAX_DEPTH + 1).follow_root_links(true);
    let is_left_out =
        |entry: &DirEntry| entry.file_type().is_dir() && LEFT_OUT.iter().any(|name| entry.file_name() == *name);
    for entry in walk.into_iter().filter_entry(|entry| !is_left_out(entry)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().map(|path| inside(folder, path)).unwrap_or_default();
                let why = error.io_error().map_or_else(|| error.to_string(), io::Error::to_string);
                tree.trouble.push((path, why));
                continue;
            }
        };
        let path = inside(folder, entry.path());
        if !budget.entry() {
            tree.trouble.push((path, format!("more than {MAX_ENTRIES} files; the rest is not read")));
            break;
        }
        let kind = entry.file_type();
        if kind.is_dir() {
            if entry.depth() > MAX_DEPTH {
                tree.trouble.push((path, "not read: too many nested folders".to_owned()));
            }
        } else if kind.is_symlink() {
            links.push((path, entry.into_path()));
        } else if kind.is_file() {
            match Blob::file(entry.path()) {
                Ok(blob) => _ = tree.files.insert(path, blob),
                Err(error) => tree.trouble.push((path, error.to_string())),
            }
        } else {
            tree.notes.push((path, "not read: not a regular file".to_owned()));
        }
    }
    for (path, full) in links {
        let target = std::fs::read_link(&full).map(|target| target.to_string_lossy().into_owned());
        let target = target.unwrap_or_default();
        // An absolute target is a path of this machine, wherever the folder is.
        if target.starts_with('/') {
            tree.trouble.push((path, format!("not followed: link to {target:?}")));
        } else {
            tree.link(path, &target);
        }
    }
    Ok(tree.bounded())
}

/// A path from the folder on, with `/` on every system.
fn inside(folder: &Path, path: &Path) -> String {
    let path = path.strip_prefix(folder).unwrap_or(path);
    let parts: Vec<String> = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_version_control_are_left_out() {
        let folder = tempfile::tempdir().expect("folder");
        for path in ["a.yaml", "b/c.yaml", ".git/d.yaml", "b/node_modules/e/f.yaml", ".github/g.yaml"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            std::fs::write(path, "a: b").expect("file");
        }
        let tree = tree(folder.path(), &mut Budget::default()).expect("readable");
        assert_eq!(tree.files.keys().collect::<Vec<_>>(), [".github/g.yaml", "a.yaml", "b/c.yaml"]);
    }
}
