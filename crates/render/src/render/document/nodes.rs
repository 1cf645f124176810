//! Nodes in the document.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::inspect::nodes::{Loads, NodeCni};

/// The CNI configuration of a node with node evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    pub name: String,
    /// When its files were collected.
    pub collected_at: Option<Timestamp>,
    /// The container runtime from the node's status.
    pub runtime: Option<String>,
    /// The directory of CNI configuration that the runtime reads.
    pub directory: String,
    /// Whether the directory is only assumed.
    #[serde(default, skip_serializing_if = "super::is_no")]
    pub directory_assumed: bool,
    /// The result of loading the directory: `file`, `nothing` or `unknown`.
    pub loads: String,
    /// Why nothing is loaded, or why that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether linkerd-cni is called for a new pod; `null` if unknown.
    pub calls_linkerd_cni: Option<bool>,
    /// The unknown parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The files of that directory, in the order in which the runtime reads them.
    pub files: Vec<NodeFile>,
}

/// A file of the CNI directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFile {
    pub name: String,
    /// Whether the runtime loads it.
    pub loaded: bool,
    /// Its plugins, in order.
    pub plugins: Vec<NodePlugin>,
    /// Why it cannot be loaded, or why its content is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defect: Option<String>,
}

/// A plugin of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlugin {
    /// Its type, which is the name of its binary.
    #[serde(rename = "type")]
    pub kind: String,
    /// The level: 0, or one more than that of the plugin (multus) that calls it.
    pub depth: usize,
}

impl From<&NodeCni> for Node {
    fn from(node: &NodeCni) -> Node {
        let (loads, reason) = match &node.loads {
            Loads::File => ("file", None),
            Loads::Nothing(why) => ("nothing", Some(why.clone())),
            Loads::Unknown(why) => ("unknown", Some(why.clone())),
        };
        Node {
            name: node.node.clone(),
            collected_at: node.collected_at,
            runtime: node.runtime.clone(),
            directory: node.directory.0.clone(),
            directory_assumed: node.directory.1,
            loads: loads.to_owned(),
            reason,
            calls_linkerd_cni: node.calls_linkerd_cni,
            open: node.open.clone(),
            files: node
                .files
                .iter()
                .map(|file| NodeFile {
                    name: file.name.clone(),
                    loaded: file.loaded,
                    plugins: file
                        .plugins
                        .iter()
                        .map(|(kind, depth)| NodePlugin { kind: kind.clone(), depth: *depth })
                        .collect(),
                    defect: file.defect.clone(),
                })
                .collect(),
        }
    }
}
