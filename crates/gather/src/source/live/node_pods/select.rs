//! Selects the nodes to read: named ones, or every Linux node with its own machine, ready or not.

use serde::Deserialize;

use super::PlanError;
use crate::knowledge::Knowledge;

/// The relevant fields of a Node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct NodeFields {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    labels: std::collections::BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    taints: Vec<Taint>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Taint {
    key: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    node_info: Info,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Info {
    operating_system: String,
}

/// Selected nodes, and skipped ones with the reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) nodes: Vec<String>,
    pub(super) skipped: Vec<(String, String)>,
}

/// Selects from all nodes of the cluster, given as JSON. In order, each once.
///
/// # Errors
/// A named node does not exist, or no node is left.
pub(super) fn select(all: &[Vec<u8>], wanted: &[String]) -> Result<Selected, PlanError> {
    let mut all: Vec<NodeFields> = all.iter().filter_map(|json| serde_json::from_slice(json).ok()).collect();
    all.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    for name in wanted {
        if !all.iter().any(|node| node.metadata.name == *name) {
            let names = || all.iter().map(|node| node.metadata.name.as_str());
            return Err(PlanError::NoSuchNode {
                name: name.clone(),
                nearest: crate::nearest::closest(name, names()),
                known: names().map(str::to_owned).collect(),
            });
        }
    }
    let mut selected = Selected::default();
    for node in all {
        let name = node.metadata.name.clone();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        match why_not(&node) {
            None => selected.nodes.push(name),
            Some(why) => selected.skipped.push((name, why)),
        }
    }
    if selected.nodes.is_empty() {
        return Err(PlanError::NoNodes { skipped: selected.skipped });
    }
    Ok(selected)
}

/// Reason why a pod cannot read this node.
fn why_not(node: &NodeFields) -> Option<String> {
    let system = match node.status.node_info.operating_system.as_str() {
        "" => node.metadata.labels.get("kubernetes.io/os").map_or("linux", String::as_str),
        system => system,
    };
    if system != "linux" {
        return Some(format!("it runs {system}"));
    }
    let label = |key: &str| node.metadata.labels.get(key).map(String::as_str);
    let taint = |key: &str| node.spec.taints.iter().any(|taint| taint.key == key);
    let virtual_node = Knowledge::embedded().platforms().virtual_node(label, taint);
    virtual_node.map(|title| format!("it is a virtual node ({title})"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nodes() -> Vec<Vec<u8>> {
        let linux = json!({ "nodeInfo": { "operatingSystem": "linux" } });
        [
            json!({ "metadata": { "name": "w2" }, "status": linux }),
            json!({ "metadata": { "name": "w1" }, "status": linux, "spec": { "unschedulable": true } }),
            json!({ "metadata": { "name": "win", "labels": { "kubernetes.io/os": "windows" } } }),
            json!({ "metadata": { "name": "far", "labels": { "eks.amazonaws.com/compute-type": "fargate" } }, "status": linux }),
            json!({ "metadata": { "name": "aci" }, "spec": { "taints": [{ "key": "virtual-kubelet.io/provider", "effect": "NoSchedule" }] } }),
        ]
        .iter()
        .map(|node| node.to_string().into_bytes())
        .collect()
    }

    fn wanted(names: &[&str]) -> Result<Selected, PlanError> {
        select(&nodes(), &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn linux_nodes_are_selected_and_others_reported() {
        let selected = wanted(&[]).unwrap();
        assert_eq!(selected.nodes, ["w1", "w2"]);
        let skipped: Vec<_> = selected.skipped.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(skipped, ["aci", "far", "win"]);
        assert_eq!(selected.skipped[2].1, "it runs windows");
        assert_eq!(wanted(&["w2", "w2"]).unwrap().nodes, ["w2"]);
    }

    #[test]
    fn unknown_names_have_suggestions() {
        let Err(PlanError::NoSuchNode { nearest, .. }) = wanted(&["wim"]) else { panic!("there is no wim") };
        assert_eq!(nearest.as_deref(), Some("win"));
        assert!(matches!(wanted(&["win"]), Err(PlanError::NoNodes { .. })));
    }
}
