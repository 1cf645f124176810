//! Evidence from a node's files.

use crate::finding::{Evidence, Place, Subject};
use crate::model::node::{ChainEntry, ConfFile, LinkerdEntry, NodeSnapshot};

/// Evidence of an inferred finding about a node without files.
pub(super) fn not_looked_at(node: &str) -> Evidence {
    Evidence::other(format!("node {node}"), "none of its files were provided; --nodes would confirm it")
}

/// The subject of a finding about an entry.
pub(super) fn entry_subject(snapshot: &NodeSnapshot, file: &ConfFile, entry: &LinkerdEntry) -> Subject {
    Subject::Node {
        node: snapshot.node.clone(),
        file: Some(file.path()),
        path: Some(entry.json_path.clone()),
        line: u32::try_from(entry.place().line).ok(),
    }
}

/// The entry of a finding, quoted with its position.
pub(super) fn entry_evidence(snapshot: &NodeSnapshot, running: ChainEntry<'_>) -> Evidence {
    let place = Some(running.entry.place());
    let path = running.entry.path_of("type");
    in_file(snapshot, &running.file.path(), Some(path), place, "\"linkerd-cni\"")
}

/// A quotation from a file of a node.
pub(super) fn in_file(
    snapshot: &NodeSnapshot,
    file: &str,
    path: Option<String>,
    place: Option<crate::model::node::Position>,
    said: impl Into<String>,
) -> Evidence {
    Evidence {
        place: Place::File {
            node: snapshot.node.clone(),
            file: file.to_owned(),
            path,
            line: place.and_then(|place| u32::try_from(place.line).ok()),
            column: place.and_then(|place| u32::try_from(place.column).ok()),
        },
        said: said.into(),
    }
}
