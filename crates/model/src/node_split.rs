//! Failures on some nodes only: the nodes where it fails and where it works, and the label that separates
//! them.

use std::collections::{BTreeMap, BTreeSet};

use crate::objects::{Node, Pod};

/// Maximum number of nodes that a text names.
const NAMED: usize = 4;

/// Nodes on which all pods fail, and nodes on which pods work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSplit<'a> {
    /// The nodes on which every pod fails.
    pub failing: BTreeSet<&'a str>,
    /// The nodes on which pods work, and none fails.
    pub working: BTreeSet<&'a str>,
    /// The label whose value all failing nodes share and no working node has: key and value.
    pub label: Option<(String, String)>,
}

impl<'a> NodeSplit<'a> {
    /// Compares the nodes of failing and working pods; `None` if a node has both, or one side has no node.
    /// `labels` are keys of labels for groups of nodes, the most telling first.
    pub fn new(failing: &[&'a Pod], working: &[&'a Pod], nodes: &[Node], labels: &[String]) -> Option<NodeSplit<'a>> {
        let of = |pods: &[&'a Pod]| -> BTreeSet<&'a str> {
            pods.iter().map(|pod| pod.node_name.as_str()).filter(|name| !name.is_empty()).collect()
        };
        let (failing, working) = (of(failing), of(working));
        if failing.is_empty() || working.is_empty() || !failing.is_disjoint(&working) {
            return None;
        }
        let known: BTreeMap<&str, &Node> = nodes.iter().map(|node| (node.metadata.name.as_str(), node)).collect();
        let label = labels.iter().find_map(|key| {
            let values = |names: &BTreeSet<&str>| -> Option<BTreeSet<String>> {
                names.iter().map(|name| known.get(name)?.metadata.label(key).map(str::to_owned)).collect()
            };
            let (here, there) = (values(&failing)?, values(&working)?);
            let only = here.iter().next().filter(|_| here.len() == 1)?;
            (!there.contains(only)).then(|| (key.clone(), only.clone()))
        });
        Some(NodeSplit { failing, working, label })
    }

    /// `node-3, node-4 (eks.amazonaws.com/nodegroup=memory-b)`.
    pub fn failing_nodes(&self) -> String {
        let label = self.label.as_ref().map(|(key, value)| format!(" ({key}={value})")).unwrap_or_default();
        format!("{}{label}", node_names(&self.failing))
    }

    /// `node-1, node-2`.
    pub fn working_nodes(&self) -> String {
        node_names(&self.working)
    }
}

fn node_names(nodes: &BTreeSet<&str>) -> String {
    let first: Vec<&str> = nodes.iter().copied().take(NAMED).collect();
    match nodes.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn label_that_separates_failing_nodes_is_found() {
        let node = |name: &str, group: &str| -> Node {
            let labels = json!({"kubernetes.io/os": "linux", "example.com/group": group});
            serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).expect("a node")
        };
        let pod = |node: &str| -> Pod {
            serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": {"nodeName": node}})).expect("a pod")
        };
        let nodes = [node("a", "one"), node("b", "two"), node("c", "two")];
        let keys = ["kubernetes.io/os".to_owned(), "example.com/group".to_owned()];
        let (a, b, c) = (pod("a"), pod("b"), pod("c"));
        let split = NodeSplit::new(&[&b, &c], &[&a], &nodes, &keys).expect("a split");
        assert_eq!(split.failing_nodes(), "b, c (example.com/group=two)");
        assert_eq!(split.working_nodes(), "a");
        assert_eq!(NodeSplit::new(&[&b, &c], &[&a, &c], &nodes, &keys), None);
        assert_eq!(NodeSplit::new(&[&b], &[], &nodes, &keys), None);
        let unknown = NodeSplit::new(&[&b], &[&a], &[], &keys).expect("a split");
        assert_eq!(unknown.label, None);
    }
}
