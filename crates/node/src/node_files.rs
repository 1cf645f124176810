//! The raw files of one node, and limits for them.

use std::collections::BTreeMap;

/// The files of one node by path relative to its snapshot folder, separated by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFiles {
    pub node: String,
    pub files: BTreeMap<String, Vec<u8>>,
}

/// Maximum number of files per node.
pub const MAX_FILES: usize = 4096;
/// Maximum number of bytes per node.
pub const MAX_NODE: u64 = 64 << 20;
