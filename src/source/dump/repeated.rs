//! Objects that manifests hold more than once. Of what one set says again the later counts, as with kubectl apply; what several folders of
//! one set say differently are several environments, and nobody knows which of them is meant: it is set aside.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::aside::Aside;
use super::{Builder, Key};
use crate::item::Kind;

/// So many objects that stand twice are named.
const MOST: usize = 3;

/// What was held so far of manifests.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// Which of the paths that were given is read.
    given: usize,
    seen: BTreeMap<(Kind, Key), Seen>,
    /// What several folders say differently.
    environments: BTreeSet<(Kind, Key)>,
    later: usize,
}

/// Where an object was held, and what it is.
#[derive(Debug)]
struct Seen {
    given: usize,
    folder: String,
    content: u64,
    place: String,
}

/// What an object says, as a number that tells it from others of its name.
pub(super) fn content(json: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    hasher.finish()
}

impl Builder {
    /// Says that another of the paths that were given begins.
    pub fn next_given(&mut self) {
        self.repeated.given += 1;
    }

    /// Whether an object of manifests is to be held, which stands in this file at this place.
    pub(super) fn is_to_be_held(
        &mut self,
        kind: Kind,
        key: &Key,
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
            self.repeated.environments.insert(of);
            return false;
        }
        self.repeated.later += 1;
        if self.repeated.later <= MOST {
            let (namespace, name) = key;
            let namespace = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
            self.dump.warnings.push(format!(
                "{} {namespace}{name} stands twice, at {} and {}: the later counts, as it does with kubectl apply",
                kind.info().kind,
                before.place,
                now.place
            ));
        }
        self.repeated.seen.insert(of, now);
        true
    }

    /// How many more there were, once everything is read.
    pub(super) fn more_repeated(&mut self) {
        if let Some(more) = self.repeated.later.checked_sub(MOST).filter(|more| *more > 0) {
            self.dump.warnings.push(format!("and {more} more like these"));
        }
    }
}
