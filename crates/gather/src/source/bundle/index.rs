//! Positions of the objects of each list in a bundle, so that one object can be read by name without reading the whole
//! list. Stores positions, never objects.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::archive::Tree;
use crate::fetched::{Fetched, Why};
use crate::source::json::MAX_OBJECT;

/// Positions of the objects of one list.
#[derive(Debug)]
pub(super) struct Index {
    /// By namespace and name; if a name occurs twice, the first one.
    places: BTreeMap<(Option<String>, String), ObjectPosition>,
    /// Outcome of reading the list.
    fetched: Fetched,
}

/// Position of an object.
#[derive(Debug)]
struct ObjectPosition {
    path: String,
    offset: u64,
    len: u64,
}

impl Index {
    /// File, offset and object, as `each` returns them.
    pub(super) fn read(each: impl FnOnce(&mut dyn FnMut(&str, u64, &[u8])) -> Fetched) -> Index {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Named {
            metadata: Names,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Names {
            namespace: Option<String>,
            name: String,
        }
        let mut places = BTreeMap::new();
        let fetched = each(&mut |path, offset, json| {
            let Names { namespace, name } = serde_json::from_slice::<Named>(json).unwrap_or_default().metadata;
            let place = || ObjectPosition { path: path.to_owned(), offset, len: json.len() as u64 };
            places.entry((namespace, name)).or_insert_with(place);
        });
        Index { places, fetched }
    }

    /// Reads one object from the files of the bundle.
    pub(super) fn pick(
        &self,
        tree: &Tree,
        (namespace, name): (Option<&str>, &str),
        take: &mut dyn FnMut(&[u8]),
    ) -> Fetched {
        if let Some(place) = self.places.get(&(namespace.map(str::to_owned), name.to_owned())) {
            let blob = tree.files.get(&place.path).map(|blob| blob.slice(place.offset, place.len));
            let bytes = blob.map(|blob| blob.bytes(MAX_OBJECT as u64));
            return match bytes {
                Some(Ok(bytes)) => {
                    take(&bytes);
                    Fetched::Complete
                }
                Some(Err(error)) => missing(format!("{}: {error}", place.path)),
                None => missing(format!("{}: the file is missing", place.path)),
            };
        }
        match &self.fetched {
            Fetched::Partial { reasons } => {
                let reason = reasons.first().cloned().unwrap_or(Why::NotCaptured);
                Fetched::Missing { reason }
            }
            other => other.clone(),
        }
    }
}

fn missing(message: String) -> Fetched {
    Fetched::Missing { reason: Why::Malformed { message } }
}
