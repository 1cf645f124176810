//! Answers requests from filed objects: the objects of an item, and whether the list is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::{Dump, ObjectPosition};
use crate::archive::spool::{Blob, BlobReader};
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Kind, Query, Scope};
use crate::request::Request;
use crate::source::bounded_errors::BoundedErrors;
use crate::source::{Completeness, Uncollected};

impl Dump {
    /// The response of the API server's `/version`, if present.
    pub fn server_version(&self) -> Option<&Value> {
        self.server_version.as_ref()
    }

    /// Objects of kinds that no check reads.
    pub fn uncollected(&self) -> Uncollected {
        let held = self.unread.iter().map(|(resource, objects)| ((*resource).to_owned(), objects.len()));
        let complete = self.completeness == Completeness::All;
        Uncollected { held: held.collect(), complete, set_aside: self.set_aside.reasons(), ..Uncollected::default() }
    }

    /// The nodes of pods, by pod name; only for unique names.
    pub fn nodes_of_pods(&self) -> BTreeMap<String, String> {
        #[derive(Deserialize)]
        struct Scheduled {
            spec: On,
        }
        #[derive(Deserialize)]
        struct On {
            #[serde(rename = "nodeName")]
            node: String,
        }
        let mut nodes: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut reader = ObjectReader::default();
        for ((_, name), held) in self.objects.get(&Kind::Pod).into_iter().flatten() {
            let mut node = None;
            // Unreadable objects are reported for the list.
            _ = self.read(held, &mut reader, &mut |json| {
                node = serde_json::from_slice::<Scheduled>(json).ok().map(|pod| pod.spec.node);
            });
            nodes.entry(name.to_string()).and_modify(|node| *node = None).or_insert(node);
        }
        nodes.into_iter().filter_map(|(name, node)| Some((name, node?))).collect()
    }

    /// Everything that could not be read, for a warning.
    pub fn trouble(&self) -> BTreeSet<String> {
        self.trouble.values().flat_map(BoundedErrors::messages).collect()
    }

    /// Answers a request: each object, and the outcome.
    pub fn answer(&self, request: &Request, take: &mut dyn FnMut(&[u8])) -> Fetched {
        match &request.item {
            Item::List(kind) => self.list(*kind, take),
            Item::Named { kind, scope, name } => {
                let namespace = match scope {
                    Scope::Cluster => "",
                    Scope::ControlPlane
                    | Scope::Cni
                    | Scope::Extension(_)
                    | Scope::Links
                    | Scope::IngressControllers
                    | Scope::Fixed(_) => request.namespace.as_deref().unwrap_or_default(),
                };
                self.read_object(*kind, namespace, name, take)
            }
            Item::ServerVersion => match &self.server_version {
                Some(version) => {
                    take(version.to_string().as_bytes());
                    Fetched::Complete
                }
                None => Fetched::Missing { reason: Why::NotCaptured },
            },
            Item::Diagnostics => self.diagnostics.answer(take),
            Item::NodeFiles => Fetched::Missing { reason: Why::NotOffered },
            item => Fetched::Missing { reason: item.query().map_or(Why::NotCaptured, Query::absent) },
        }
    }

    fn troubles(&self, kind: Kind) -> impl Iterator<Item = Why> {
        [None, Some(kind)]
            .into_iter()
            .filter_map(|kind| self.trouble.get(&kind))
            .flat_map(BoundedErrors::messages)
            .map(|message| Why::Malformed { message })
    }

    fn list(&self, kind: Kind, take: &mut dyn FnMut(&[u8])) -> Fetched {
        let mut places: Vec<&ObjectPosition> =
            self.objects.get(&kind).map_or_else(Vec::new, |held| held.values().collect());
        let mut reasons: Vec<Why> = self.troubles(kind).collect();
        if !self.completeness.covers(kind) {
            if places.is_empty() && reasons.is_empty() {
                return Fetched::Missing { reason: Why::NotCaptured };
            }
            reasons.push(Why::PerhapsMore);
        }
        // In file order, so that each file is read once, forwards.
        places.sort_by_key(|held| (held.blob, held.offset));
        let mut reader = ObjectReader::default();
        for held in places {
            if let Err(why) = self.read(held, &mut reader, take) {
                reasons.push(why);
            }
        }
        if reasons.is_empty() { Fetched::Complete } else { Fetched::Partial { reasons } }
    }

    fn read_object(&self, kind: Kind, namespace: &str, name: &str, take: &mut dyn FnMut(&[u8])) -> Fetched {
        if let Some(held) = self.objects.get(&kind).and_then(|held| held.get(&(namespace.into(), name.into()))) {
            return match self.read(held, &mut ObjectReader::default(), take) {
                Ok(()) => Fetched::Complete,
                Err(reason) => Fetched::Missing { reason },
            };
        }
        if let Some(reason) = self.troubles(kind).next() {
            return Fetched::Missing { reason };
        }
        if self.completeness.covers(kind) { Fetched::Complete } else { Fetched::Missing { reason: Why::NotCaptured } }
    }

    fn read(&self, held: &ObjectPosition, reader: &mut ObjectReader, take: &mut dyn FnMut(&[u8])) -> Result<(), Why> {
        match reader.object(&self.blobs, held) {
            Ok(json) => {
                take(json);
                Ok(())
            }
            Err(error) => {
                let message = format!("an object can no longer be read: {error}");
                Err(Why::Malformed { message })
            }
        }
    }
}

/// Reads objects; keeps the last file open.
#[derive(Default)]
struct ObjectReader {
    open: Option<(usize, BlobReader)>,
    bytes: Vec<u8>,
}

impl ObjectReader {
    fn object(&mut self, blobs: &[Blob], held: &ObjectPosition) -> io::Result<&[u8]> {
        let reader = match &mut self.open {
            Some((blob, reader)) if *blob == held.blob => reader,
            open => &mut open.insert((held.blob, blobs[held.blob].reader()?)).1,
        };
        reader.at(held.offset, held.len, &mut self.bytes)?;
        Ok(&self.bytes)
    }
}
