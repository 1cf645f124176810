//! What was gathered on a node.

use std::collections::BTreeMap;

/// A node's files as they were gathered, by path in its snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFiles {
    /// The node's name.
    pub node: String,
    /// Contents by path.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// A node's evidence, parsed.
#[derive(Debug, Clone)]
pub struct NodeSnapshot {
    /// The node's name.
    pub node: String,
}

impl NodeSnapshot {
    /// Reads normalised files.
    pub fn parse(files: &NodeFiles) -> NodeSnapshot {
        NodeSnapshot { node: files.node.clone() }
    }
}

/// Brings gathered files into the snapshot format.
pub fn normalise(files: NodeFiles) -> NodeFiles {
    files
}
