//! Collections that other tools make, known by their files: which lists in them are all that the cluster had. Replicated's
//! troubleshoot writes a file for each namespace, and beside them what it could not list; of Cilium's sysdump [`sysdump`] tells.
//! Where anything speaks against it, a list counts as any other: perhaps not all.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::sysdump;
use crate::archive::Tree;
use crate::item::Kind;

/// The folder of troubleshoot's cluster resources.
const RESOURCES: &str = "cluster-resources/";
/// Its lists with a file for each namespace.
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
/// Its lists in one file.
const OF_CLUSTER: [(&str, Kind); 6] = [
    ("nodes", Kind::Node),
    ("clusterroles", Kind::ClusterRole),
    ("clusterrolebindings", Kind::ClusterRoleBinding),
    ("custom-resource-definitions", Kind::CustomResourceDefinition),
    ("validating-webhook-configurations", Kind::ValidatingWebhookConfiguration),
    ("mutating-webhook-configurations", Kind::MutatingWebhookConfiguration),
];
/// Namespaces that every cluster has: a collection without them was made of some namespaces alone.
const ALWAYS: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// The largest list of namespaces that is read, in bytes.
const NAMESPACES: u64 = 64 << 20;

/// The kinds of which a folder or archive lists every object, by the tool that wrote it.
pub fn complete(tree: &Tree) -> BTreeSet<Kind> {
    let mut kinds = sysdump::complete(tree);
    let roots: BTreeSet<&str> =
        tree.files.keys().filter_map(|path| Some(&path[..path.find(RESOURCES)? + RESOURCES.len()])).collect();
    // Of several collections in one folder nobody knows whose is whose.
    if let [root] = roots.into_iter().collect::<Vec<_>>()[..] {
        kinds.extend(troubleshoot(tree, root));
    }
    kinds
}

fn troubleshoot(tree: &Tree, root: &str) -> BTreeSet<Kind> {
    let file = |name: &str| tree.files.get(&format!("{root}{name}.json"));
    // Empty, or null, where nothing went wrong.
    let failed = |name: &str| {
        file(&format!("{name}-errors")).is_some_and(|blob| {
            blob.bytes(16).map_or(true, |bytes| {
                !matches!(String::from_utf8_lossy(&bytes).trim(), "" | "null" | "{}" | "[]")
            })
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

/// Whether what matters of a Secret, as JSON, is hidden. `oc adm inspect`, and with it must-gather, writes how long a value is in its
/// place ("1675 bytes long"), for all but `tls.crt`, `ca.crt` and `service-ca.crt`. Where the certificate stands in `tls.crt`
/// it is there, and only its key is not known.
pub fn hides(secret: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Data {
        #[serde(default)]
        data: BTreeMap<String, String>,
    }
    // It stands in base64, so how it ends depends on the number of digits.
    let ends = ["IGJ5dGVzIGxvbmc=", "BieXRlcyBsb25n", "gYnl0ZXMgbG9uZw=="];
    if !ends.iter().any(|end| memchr::memmem::find(secret, end.as_bytes()).is_some()) {
        return false;
    }
    let Ok(Data { data }) = serde_json::from_slice(secret) else { return true };
    let hidden = |value: &String| ends.iter().any(|end| value.trim_end().ends_with(end));
    let is_certified = data.get("tls.crt").is_some_and(|value| !value.is_empty() && !hidden(value));
    !is_certified && data.values().any(hidden)
}
