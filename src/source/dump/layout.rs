//! Collections that other tools make, known by their files: which lists in them are all that the cluster had. Replicated's
//! troubleshoot writes a file for each namespace, and beside them what it could not list; Cilium's sysdump writes one list for all
//! namespaces. Where anything speaks against it, a list counts as any other: perhaps not all.

use std::collections::BTreeSet;

use serde::Deserialize;

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
/// The lists of a sysdump, by the beginnings of their files.
const SYSDUMP: [(&str, Kind); 14] = [
    ("k8s-nodes-", Kind::Node),
    ("k8s-namespaces-", Kind::Namespace),
    ("k8s-pods-", Kind::Pod),
    ("k8s-services-", Kind::Service),
    ("k8s-endpoints-", Kind::Endpoints),
    ("k8s-endpointslices-", Kind::EndpointSlice),
    ("k8s-events-", Kind::Event),
    ("k8s-networkpolicies-", Kind::NetworkPolicy),
    ("ciliumnetworkpolicies-", Kind::CiliumNetworkPolicy),
    ("ciliumclusterwidenetworkpolicies-", Kind::CiliumClusterwideNetworkPolicy),
    ("gatewayapi-httproutes-", Kind::HTTPRoute),
    ("gatewayapi-grpcroutes-", Kind::GRPCRoute),
    ("gatewayapi-tlsroutes-", Kind::TLSRoute),
    // As the tool itself writes it.
    ("gatewayapi-tcroutes-", Kind::TCPRoute),
];
/// Namespaces that every cluster has: a collection without them was made of some namespaces alone.
const ALWAYS: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];
/// The largest list of namespaces that is read, in bytes.
const NAMESPACES: u64 = 64 << 20;

/// The kinds of which a folder or archive lists every object, by the tool that wrote it.
pub fn complete(tree: &Tree) -> BTreeSet<Kind> {
    let mut kinds = sysdump(tree);
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

fn sysdump(tree: &Tree) -> BTreeSet<Kind> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let names: Vec<String> = tree.files.keys().map(|path| name(path)).collect();
    let is = |file: &str, begin: &str| {
        let rest = file.strip_prefix(begin).and_then(|rest| rest.strip_suffix(".yaml"));
        rest.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
    };
    let listed =
        SYSDUMP.into_iter().filter(|(begin, _)| names.iter().filter(|file| is(file, begin)).count() == 1);
    let kinds: BTreeSet<Kind> = listed.map(|(_, kind)| kind).collect();
    // One such name alone may be anybody's.
    if kinds.contains(&Kind::Node) && kinds.contains(&Kind::Pod) { kinds } else { BTreeSet::new() }
}

/// Whether a Secret, as JSON, holds how long its values are in their place: `oc adm inspect`, and with it must-gather, writes "1675
/// bytes long" for all but certificates. It stands in base64, so how it ends depends on the number of digits.
pub fn hides(secret: &[u8]) -> bool {
    let ends: [&[u8]; 3] = [b"IGJ5dGVzIGxvbmc=\"", b"BieXRlcyBsb25n\"", b"gYnl0ZXMgbG9uZw==\""];
    ends.iter().any(|end| memchr::memmem::find(secret, end).is_some())
}
