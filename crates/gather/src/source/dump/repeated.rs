//! Objects that occur more than once in manifests. Within one set the later applies, as with kubectl apply. If folders
//! of a set differ, they are different environments, and the objects are set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::aside::Aside;
use super::{Builder, ObjectKey};
use crate::item::Kind;

/// Number of repeated objects to list.
const MOST: usize = 3;

/// Objects of manifests seen so far.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// The given path that is being read.
    given: usize,
    seen: BTreeMap<(Kind, ObjectKey), Seen>,
    /// Objects that differ between folders.
    environments: BTreeSet<(Kind, ObjectKey)>,
    later: usize,
}

/// Position of an object, and its identity.
#[derive(Debug)]
struct Seen {
    given: usize,
    folder: String,
    content: u64,
    place: String,
}

/// A hash of an object's content, to compare objects of the same name.
pub(super) fn content(json: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    hasher.finish()
}

impl Builder {
    /// Starts the next given path.
    pub fn next_given(&mut self) {
        self.repeated.given += 1;
    }

    /// Whether to file an object of manifests at this position.
    pub(super) fn is_to_be_held(
        &mut self,
        kind: Kind,
        key: &ObjectKey,
        (file, place): (&str, String),
        content: u64,
    ) -> bool {
        let folder = file.rfind('/').map_or("", |at| &file[..at]).to_owned();
        let now = Seen { given: self.repeated.given, folder, content, place };
        let of = (kind, key.clone());
        if self.repeated.environments.contains(&of) {
            self.dump.set_aside.place(Aside::Environments, &now.folder);
            return false;
        }
        let Some(before) = self.repeated.seen.get(&of).filter(|before| before.content != now.content) else {
            self.repeated.seen.insert(of, now);
            return true;
        };
        if let Some(of_kind) = self.dump.objects.get_mut(&kind) {
            of_kind.remove(key);
        }
        if before.given == now.given && before.folder != now.folder {
            let folder = before.folder.clone();
            self.set_aside(Aside::Environments, &folder);
            self.dump.set_aside.place(Aside::Environments, &now.folder);
            self.dump.apart.insert(of.clone());
            self.repeated.environments.insert(of);
            return false;
        }
        self.repeated.later += 1;
        if self.repeated.later <= MOST {
            let (namespace, name) = key;
            let namespace = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
            self.dump.warnings.push(format!(
                "{} {namespace}{name} occurs twice, at {} and {}: the later one is used, as with kubectl \
                 apply",
                kind.info().kind,
                before.place,
                now.place
            ));
        }
        self.repeated.seen.insert(of, now);
        true
    }

    /// The number of further repetitions, after everything is read.
    pub(super) fn more_repeated(&mut self) {
        if let Some(more) = self.repeated.later.checked_sub(MOST).filter(|more| *more > 0) {
            self.dump.warnings.push(format!("and {more} more of the same kind"));
        }
    }
}
