//! The raw files of one node, and how much of them is taken.

use std::collections::BTreeMap;

/// The files of one node by path relative to its snapshot folder, separated by `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeFiles {
    pub node: String,
    pub files: BTreeMap<String, Vec<u8>>,
}

/// So many files of one node are read.
pub const MAX_FILES: usize = 4096;
/// So many bytes of one node are read.
pub const MAX_NODE: u64 = 64 << 20;
