//! The directories of CNI configuration: every entry is listed, configuration is copied redacted, and
//! kubeconfigs are reduced to facts while they are read. Files that are not copied are still listed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::notes::{Notes, shown};
use super::root::{DirectoryEntry, ReadFailure, Root, mode, mtime};
use crate::node::{
    FileKind, IndexEntry, KubeconfigFacts, MAX_CONF, MAX_CONF_ALL, MAX_CONF_FILES, escape_dir, has_loadable_extension,
    is_kubeconfig, is_plain_name, is_worth_copying, kubeconfig_facts,
};
use crate::{redact, token};

/// Maximum number of bytes to search for relevant words, in all directories together.
const MAX_LOOKED_THROUGH: usize = 64 << 20;

/// The content of the directories.
#[derive(Debug, Default)]
pub(super) struct Conf {
    pub(super) index: Vec<IndexEntry>,
    pub(super) kubeconfigs: Vec<KubeconfigFacts>,
    /// Redacted copies by their path in the snapshot.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Directories that were read, and whether they exist.
    pub(super) looked_at: BTreeMap<String, bool>,
    done: BTreeSet<String>,
    copied: usize,
    looked_through: usize,
}

impl Conf {
    /// Reads one directory; `own` is the runtime's. A second call for the same directory has no effect.
    pub(super) fn directory(&mut self, root: &Root, dir: &str, own: bool, notes: &mut Notes) {
        if !self.done.insert(dir.to_owned()) {
            return;
        }
        let path = Path::new(dir);
        let listing = match root.list(path) {
            Ok(listing) => listing,
            Err(ReadFailure::Absent) if root.is_whole() => {
                self.looked_at.insert(dir.to_owned(), false);
                return;
            }
            Err(ReadFailure::Absent) => {
                let why = "does not exist in a root that is only a part of a file system: it may not be \
                           mounted";
                notes.unlisted(path, why);
                return;
            }
            Err(why) => {
                self.looked_at.insert(dir.to_owned(), true);
                notes.unlisted(path, why);
                return;
            }
        };
        self.looked_at.insert(dir.to_owned(), true);
        if listing.partial {
            notes.unlisted(path, "some of its entries could not be read");
        }
        let before = self.files.len();
        let prefix = if own { "cni/net.d".to_owned() } else { format!("cni/other/{}", escape_dir(dir)) };
        for entry in &listing.entries {
            let name = plain_name(&entry.name);
            self.index.push(row(dir, &name, entry));
            if redact::text(&entry.name.to_string_lossy()) != entry.name.to_string_lossy() {
                // Without the name, its position in the order of files is not known.
                notes.unlisted(path, "the name of one of its entries contains a secret and is not kept");
            }
            if entry.metadata.is_dir() {
                self.second_level(root, &format!("{dir}/{name}"), &path.join(&entry.name), notes);
            } else if name.as_bytes() != entry.name.as_encoded_bytes() {
                let why = "its name contains characters that are not shown";
                notes.error(&path.join(&entry.name), why);
                notes.not_captured.insert(format!("{prefix}/{name}"), why.to_owned());
            } else if entry.metadata.is_file() || entry.link.is_some() {
                self.file(root, dir, &name, entry, &prefix, notes);
            }
        }
        let copies = self.files.len() - before;
        notes.read(format!("{dir}: {} entries, {copies} files copied", listing.entries.len()));
    }

    /// Names only.
    fn second_level(&mut self, root: &Root, dir: &str, path: &Path, notes: &mut Notes) {
        match root.list(path) {
            Ok(listing) => {
                let rows = listing.entries.iter().map(|entry| row(dir, &plain_name(&entry.name), entry));
                self.index.extend(rows);
                if listing.partial {
                    notes.unlisted(path, "some of its entries could not be read");
                }
            }
            Err(ReadFailure::Absent) => {}
            Err(why) => notes.unlisted(path, why),
        }
    }

    fn file(&mut self, root: &Root, dir: &str, name: &str, entry: &DirectoryEntry, prefix: &str, notes: &mut Notes) {
        let path = Path::new(dir).join(name);
        let target = format!("{prefix}/{name}");
        let left = MAX_LOOKED_THROUGH.saturating_sub(self.looked_through);
        let read = if left == 0 { Err(ReadFailure::TooLarge(0)) } else { root.read(&path, MAX_CONF) };
        let content = match read {
            Ok(content) => content,
            Err(why) => {
                let why = match (&why, &entry.link) {
                    (_, _) if left == 0 => format!("beyond the total limit of {MAX_LOOKED_THROUGH} bytes"),
                    (ReadFailure::Absent, Some(link)) => format!("a dangling link: {}", shown(link)),
                    // It was removed after the listing.
                    (ReadFailure::Absent, None) => "it was removed while it was read".to_owned(),
                    (why, _) => why.to_string(),
                };
                notes.error(&path, &why);
                notes.not_captured.insert(target, why);
                return;
            }
        };
        self.looked_through += content.bytes.len();
        let bytes = content.bytes;
        let kubeconfig = is_kubeconfig(name, &bytes);
        let clean = redact::config_bytes(&bytes);
        // The hash of a file with a short secret would make the secret guessable.
        if !kubeconfig
            && *clean == *bytes
            && entry.link.is_none()
            && let Some(row) = self.index.last_mut()
        {
            row.sha256 = Some(token::sha256_hex(&bytes));
        }
        if kubeconfig {
            let mut facts = kubeconfig_facts(&format!("{dir}/{name}"), &bytes);
            facts.mode = Some(mode(&content.metadata));
            facts.mtime = mtime(&content.metadata);
            self.kubeconfigs.push(facts);
            // With a configuration's extension the runtime would load it.
            if !has_loadable_extension(name) {
                return;
            }
        }
        if !is_worth_copying(name, &clean) {
            return;
        }
        // A link may point to any file of the node, so only content that looks like configuration is copied
        // through one.
        if entry.link.is_some() && !begins_an_object(&bytes) {
            let why = format!("a link to {}, which does not look like configuration", shown(&content.real));
            notes.error(&path, &why);
            notes.not_captured.insert(target, why);
            return;
        }
        if self.files.len() >= MAX_CONF_FILES || self.copied + clean.len() > MAX_CONF_ALL {
            let why = format!("beyond the limit of {MAX_CONF_FILES} files or {MAX_CONF_ALL} bytes in total");
            notes.error(&path, &why);
            notes.not_captured.insert(target, why);
            return;
        }
        self.copied += clean.len();
        self.files.insert(target, clean.into_owned());
    }
}

fn row(dir: &str, name: &str, entry: &DirectoryEntry) -> IndexEntry {
    let metadata = &entry.metadata;
    let kind = match () {
        () if metadata.is_symlink() => FileKind::Symlink,
        () if metadata.is_dir() => FileKind::Dir,
        () if metadata.is_file() => FileKind::File,
        () => FileKind::Other,
    };
    IndexEntry {
        dir: dir.to_owned(),
        name: name.to_owned(),
        kind,
        size: (kind == FileKind::File).then_some(metadata.len()),
        mode: Some(mode(metadata)),
        uid: Some(u64::from(metadata.uid())),
        gid: Some(u64::from(metadata.gid())),
        mtime: mtime(metadata),
        sha256: None,
        link_target: entry.link.as_deref().map(shown),
    }
}

/// A printable name: other characters are replaced, so that the entry stays in the list.
fn plain_name(name: &OsStr) -> String {
    let text = name.to_string_lossy();
    let plain = text
        .chars()
        .map(|c| if is_plain_name(c.encode_utf8(&mut [0; 4])) || c == '.' { c } else { '\u{FFFD}' })
        .collect::<String>();
    redact::text(&plain).into_owned()
}

/// Whether its first character is that of a JSON object, in any encoding.
fn begins_an_object(bytes: &[u8]) -> bool {
    let mark = |byte: &u8| !matches!(byte, 0 | 0xEF | 0xBB | 0xBF | 0xFE | 0xFF) && !byte.is_ascii_whitespace();
    bytes.iter().find(|byte| mark(byte)) == Some(&b'{')
}
