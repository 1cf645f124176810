//! Node files in a bundle: each node has a folder, which the manifest names.

use std::collections::{BTreeMap, BTreeSet};

use super::{Bundle, with};
use crate::archive::spool::Blob;
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::names::{is_subdomain, quoted};
use crate::node_files::{MAX_FILES, MAX_NODE, NodeFiles};
use crate::request::Request;
use crate::source::bundle::manifest::{MANIFEST, NodeRecord};
use crate::source::nodes::MAX_FILE;

impl Bundle {
    /// The files of each node, and the outcome.
    pub fn nodes(&self, take: &mut dyn FnMut(NodeFiles)) -> Fetched {
        let recorded = self.record(&Request::new(Item::NodeFiles)).map(|record| record.fetched.clone());
        let mut damage = Vec::new();
        let mut folders = BTreeSet::new();
        for record in &self.manifest.nodes {
            if let Some(why) = self.no_node(record, &mut folders) {
                damage.push(self.malformed(MANIFEST, &why));
                continue;
            }
            let prefix = format!("{}/", record.folder);
            let mut files = BTreeMap::new();
            let mut left = MAX_NODE;
            for (path, blob) in self.tree.files.range(prefix.clone()..) {
                let Some(inside) = path.strip_prefix(&prefix) else { break };
                let read = if files.len() < MAX_FILES && blob.len() <= left {
                    blob.bytes(MAX_FILE).map_err(|error| error.to_string())
                } else {
                    Err("the files of the node exceed the size limit".to_owned())
                };
                match read {
                    Ok(bytes) => {
                        left -= bytes.len() as u64;
                        files.insert(inside.to_owned(), bytes);
                    }
                    Err(why) => damage.push(self.malformed(path, &why)),
                }
            }
            if files.len() < record.files {
                let lost = format!("only {} of its {} files exist", files.len(), record.files);
                damage.push(self.malformed(&record.folder, &lost));
            }
            if !files.is_empty() {
                take(NodeFiles { node: record.node.clone(), files });
            }
        }
        let nothing = || Fetched::Missing { reason: Why::NotOffered };
        with(
            recorded.unwrap_or_else(|| if self.manifest.nodes.is_empty() { nothing() } else { Fetched::Complete }),
            damage,
        )
    }

    /// Each node's name and files.
    pub(in crate::source) fn node_blobs(&self) -> Vec<(String, BTreeMap<String, Blob>)> {
        let files = |folder: &str| self.tree.below(&format!("{folder}/")).files;
        let mut folders = BTreeSet::new();
        let nodes = self.manifest.nodes.iter().filter(|record| self.no_node(record, &mut folders).is_none());
        nodes.map(|record| (record.node.clone(), files(&record.folder))).collect()
    }

    /// Reason why a record is not valid; `folders` are those of the records before it.
    fn no_node<'a>(&self, record: &'a NodeRecord, folders: &mut BTreeSet<&'a str>) -> Option<String> {
        if !is_subdomain(&record.node) {
            return Some(format!("{} is not a valid node name", quoted(&record.node)));
        }
        (!folders.insert(&record.folder)).then(|| format!("the folder {} is listed twice", quoted(&record.folder)))
    }
}
