//! Collections of other tools, recognized by their files, and the lists in them that are complete. Replicated's
//! troubleshoot writes one file per namespace, and separate files with errors; [`sysdump`] handles Cilium. If anything
//! contradicts, a list counts as possibly incomplete.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::sysdump;
use crate::archive::Tree;
use crate::item::Kind;

/// Folder of troubleshoot's cluster resources.
const RESOURCES: &str = "cluster-resources/";
/// Lists with one file per namespace.
const BY_NAMESPACE: [(&str, Kind); 20] = [
    ("pods", Kind::Pod),
    ("pod-disruption-budgets", Kind::PodDisruptionBudget),
    ("services", Kind::Service),
    ("deployments", Kind::Deployment),
    ("replicasets", Kind::ReplicaSet),
    ("statefulsets", Kind::StatefulSet),
    ("daemonsets", Kind::DaemonSet),
    ("jobs", Kind::Job),
    ("cronjobs", Kind::CronJob),
    ("network-policy", Kind::NetworkPolicy),
    ("ingress", Kind::Ingress),
    ("resource-quota", Kind::ResourceQuota),
    ("limitranges", Kind::LimitRange),
    ("events", Kind::Event),
    ("roles", Kind::Role),
    ("rolebindings", Kind::RoleBinding),
    ("endpoints", Kind::Endpoints),
    ("endpointslices", Kind::EndpointSlice),
    ("serviceaccounts", Kind::ServiceAccount),
    ("namespaces", Kind::Namespace),
];
/// Lists in one file.
const OF_CLUSTER: [(&str, Kind); 6] = [
    ("nodes", Kind::Node),
    ("clusterroles", Kind::ClusterRole),
    ("clusterrolebindings", Kind::ClusterRoleBinding),
    ("custom-resource-definitions", Kind::CustomResourceDefinition),
    ("validating-webhook-configurations", Kind::ValidatingWebhookConfiguration),
    ("mutating-webhook-configurations", Kind::MutatingWebhookConfiguration),
];
/// Namespaces of every cluster: a collection without them was limited to some namespaces.
const ALWAYS: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// Maximum size of a namespace list, in bytes.
const NAMESPACES: u64 = 64 << 20;

/// The kinds that a folder or archive lists completely, by the tool that wrote it.
pub fn complete(tree: &Tree) -> BTreeSet<Kind> {
    let mut kinds = sysdump::complete(tree);
    let roots: BTreeSet<&str> =
        tree.files.keys().filter_map(|path| Some(&path[..path.find(RESOURCES)? + RESOURCES.len()])).collect();
    // With several collections in one folder, files cannot be assigned.
    if let [root] = roots.into_iter().collect::<Vec<_>>()[..] {
        kinds.extend(troubleshoot(tree, root));
    }
    kinds
}

fn troubleshoot(tree: &Tree, root: &str) -> BTreeSet<Kind> {
    let file = |name: &str| tree.files.get(&format!("{root}{name}.json"));
    // Empty or null without errors.
    let failed = |name: &str| {
        file(&format!("{name}-errors")).is_some_and(|blob| {
            blob.bytes(16)
                .map_or(true, |bytes| !matches!(String::from_utf8_lossy(&bytes).trim(), "" | "null" | "{}" | "[]"))
        })
    };
    let mut kinds: BTreeSet<Kind> = OF_CLUSTER
        .into_iter()
        .filter(|(name, _)| file(name).is_some() && !failed(name))
        .map(|(_, kind)| kind)
        .collect();
    let Some(namespaces) = file("namespaces").filter(|_| !failed("namespaces")).and_then(|blob| {
        #[derive(Deserialize)]
        struct List {
            items: Vec<Item>,
        }
        #[derive(Deserialize)]
        struct Item {
            metadata: Named,
        }
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let bytes = blob.bytes(NAMESPACES).ok()?;
        let list: List = serde_json::from_slice(&bytes).ok()?;
        Some(list.items.into_iter().map(|item| item.metadata.name).collect::<BTreeSet<_>>())
    }) else {
        return kinds;
    };
    if !ALWAYS.iter().all(|name| namespaces.contains(*name)) {
        return kinds;
    }
    let in_all = |folder: &str| {
        namespaces.iter().all(|namespace| file(&format!("{folder}/{namespace}")).is_some()) && !failed(folder)
    };
    let listed = BY_NAMESPACE
        .into_iter()
        .filter(|(folder, kind)| *kind == Kind::Namespace || in_all(folder))
        .map(|(_, kind)| kind);
    kinds.extend(listed);
    kinds
}

/// Whether the relevant values of a Secret (as JSON) are hidden. `oc adm inspect`, used by must-gather, replaces values
/// by their length ("1675 bytes long"), except for `tls.crt`, `ca.crt` and `service-ca.crt`. With the certificate in
/// `tls.crt`, only the key is unknown.
pub fn hides(secret: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Data {
        #[serde(default)]
        data: BTreeMap<String, String>,
    }
    // In base64, the ending depends on the number of digits.
    let ends = ["IGJ5dGVzIGxvbmc=", "BieXRlcyBsb25n", "gYnl0ZXMgbG9uZw=="];
    if !ends.iter().any(|end| memchr::memmem::find(secret, end.as_bytes()).is_some()) {
        return false;
    }
    let Ok(Data { data }) = serde_json::from_slice(secret) else { return true };
    let hidden = |value: &String| ends.iter().any(|end| value.trim_end().ends_with(end));
    let is_certified = data.get("tls.crt").is_some_and(|value| !value.is_empty() && !hidden(value));
    !is_certified && data.values().any(hidden)
}
