//! The version skew matrix: every version in the mesh. It is shown in the report and read by the version
//! checks, which interpret it. Reads whatever was collected.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Cluster;
use super::control_plane;
use crate::item::{EXTENSION_LABEL, Item, Kind, Scope};
use crate::knowledge::Knowledge;
use crate::objects::{CustomResourceDefinition, DaemonSet, Deployment, Namespace, Node, Pod, Workload};
use crate::version::{ImageRef, K8sVersion, LinkerdVersion};

/// Every version in the mesh. A field is `None` (or a map empty) if unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skew {
    /// `EKS`, `GKE`, ... from versions and nodes.
    pub distribution: Option<String>,
    /// The API server's version as reported.
    pub kubernetes: Option<String>,
    /// Kubelets: nodes by version.
    pub kubelets: BTreeMap<String, usize>,
    /// The operator's own CLI.
    pub cli: Option<String>,
    /// Control-plane components: the version of each.
    pub control_plane: BTreeMap<String, String>,
    /// Proxies: pods by version, except pods of the control plane.
    pub proxies: BTreeMap<String, usize>,
    /// linkerd-cni: its version.
    pub cni: Option<String>,
    /// Extensions: the version of each.
    pub extensions: BTreeMap<String, String>,
    /// Gateway API: the bundle version of its definitions.
    pub gateway_api: Option<String>,
}

/// The text for an existing version that cannot be read.
const UNREADABLE: &str = "unknown";
/// A definition that every Gateway API bundle contains and Linkerd needs.
const GATEWAY_DEFINITION: &str = "httproutes.gateway.networking.k8s.io";
/// The annotation with the version of a Gateway API bundle.
const BUNDLE_VERSION: &str = "gateway.networking.k8s.io/bundle-version";

impl Skew {
    /// The release of the `linkerd` command whose rows are shown: the operator's, otherwise the one for the
    /// control plane.
    pub fn command_release(&self) -> Option<LinkerdVersion> {
        self.cli.iter().chain(self.control_plane.values()).find_map(|version| version.parse().ok())
    }

    /// The items that a run requests for it: single objects only. Lists are available if checks need them.
    pub fn items() -> BTreeSet<Item> {
        BTreeSet::from([gateway_definition(), Item::ServerVersion, Item::CliVersion])
    }

    /// Reads the matrix from the evidence.
    pub fn from_cluster(cluster: &Cluster, _knowledge: &Knowledge) -> Skew {
        let deployments = cluster.list::<Deployment>();
        let nodes = cluster.list::<Node>();
        let server = cluster.server_version.as_ref().ok();
        Skew {
            distribution: distribution(server, nodes),
            kubernetes: server.map(ToString::to_string),
            kubelets: counted(nodes.iter().map(|node| node.status.node_info.kubelet_version.as_str())),
            cli: cluster.cli_version.as_ref().ok().map(ToString::to_string),
            control_plane: components(deployments, &cluster.namespaces.control_plane),
            proxies: proxies(cluster),
            cni: cni(cluster.list::<DaemonSet>(), &cluster.namespaces.cni),
            extensions: extensions(cluster.list::<Namespace>(), deployments),
            gateway_api: gateway_api(cluster),
        }
    }
}

fn counted<'a>(versions: impl Iterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for version in versions {
        *counts.entry(if version.is_empty() { UNREADABLE } else { version }).or_default() += 1;
    }
    counts.into_iter().map(|(version, count)| (version.to_owned(), count)).collect()
}

fn components(deployments: &[Workload], namespace: &str) -> BTreeMap<String, String> {
    let version = |component: &control_plane::Component<'_>| {
        component.version().map_or_else(|| UNREADABLE.to_owned(), |version| version.to_string())
    };
    control_plane::components(deployments, namespace)
        .iter()
        .map(|component| (component.name.to_owned(), version(component)))
        .collect()
}

fn proxies(cluster: &Cluster) -> BTreeMap<String, usize> {
    let control_plane = &cluster.namespaces.control_plane;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    // There are few versions but many pods: each tag is looked up before it is parsed or stored.
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for pod in cluster.list::<Pod>() {
        let Some(proxy) = pod.spec.proxy() else { continue };
        if pod.is_finished() || pod.metadata.namespace == *control_plane {
            continue;
        }
        let version = known.entry(&proxy.image).or_insert_with(|| {
            control_plane::tag_version(proxy).map(|version| version.to_string()).unwrap_or_default()
        });
        let said = match version.as_str() {
            "" => control_plane::proxy_version(pod).map_or(UNREADABLE.to_owned(), |v| v.to_string()),
            version => version.to_owned(),
        };
        *counts.entry(said).or_default() += 1;
    }
    counts
}

/// The tag of an image as written, including vendors' tags.
fn tag(image: &str) -> Option<String> {
    image.parse::<ImageRef>().ok()?.tag
}

fn cni(daemon_sets: &[Workload], namespace: &str) -> Option<String> {
    let daemon_set = daemon_sets.iter().find(|d| d.metadata.namespace == namespace && super::cni::is_installer(d))?;
    let spec = &daemon_set.spec.template.spec;
    Some(spec.container("install-cni").and_then(|c| tag(&c.image)).unwrap_or_else(|| UNREADABLE.to_owned()))
}

/// Extensions by the label of their namespaces: viz, multicluster, jaeger. Their version comes from their
/// Deployments.
fn extensions(namespaces: &[Namespace], deployments: &[Workload]) -> BTreeMap<String, String> {
    let named = namespaces.iter().filter_map(|namespace| {
        let extension = namespace.metadata.label(EXTENSION_LABEL)?;
        Some((extension, namespace.metadata.name.as_str()))
    });
    let said = |deployment: &Workload| deployment.metadata.label("app.kubernetes.io/version").map(str::to_owned);
    named
        .map(|(extension, home)| {
            let versions: BTreeSet<String> = deployments
                .iter()
                .filter(|deployment| deployment.metadata.namespace == home)
                .filter(|deployment| deployment.metadata.label(EXTENSION_LABEL) == Some(extension))
                .filter_map(said)
                .collect();
            let versions: Vec<String> = versions.into_iter().collect();
            let version = if versions.is_empty() { UNREADABLE.to_owned() } else { versions.join(", ") };
            (extension.to_owned(), version)
        })
        .collect()
}

fn gateway_definition() -> Item {
    Item::named(Kind::CustomResourceDefinition, Scope::Cluster, GATEWAY_DEFINITION)
}

fn gateway_api(cluster: &Cluster) -> Option<String> {
    let listed = cluster.list::<CustomResourceDefinition>().iter();
    let named = cluster.answer(&gateway_definition()).into_iter().flat_map(|answer| answer.objects());
    let definition = named.chain(listed).find(|definition| definition.metadata.name == GATEWAY_DEFINITION)?;
    Some(definition.metadata.annotations.get(BUNDLE_VERSION).map_or(UNREADABLE, String::as_str).to_owned())
}

/// The Kubernetes distribution, if known. Most servers outside of clouds do not reveal it.
fn distribution(server: Option<&K8sVersion>, nodes: &[Node]) -> Option<String> {
    let by_version = server.and_then(K8sVersion::distribution).or_else(|| {
        nodes.iter().find_map(|node| node.status.node_info.kubelet_version.parse::<K8sVersion>().ok()?.distribution())
    });
    by_version.map(|distribution| distribution.to_string()).or_else(|| nodes.iter().find_map(by_node))
}

fn by_node(node: &Node) -> Option<String> {
    let provider = node.spec.provider_id.split_once("://").map_or("", |(provider, _)| provider);
    let labelled = |prefix: &str| node.metadata.labels.keys().any(|key| key.starts_with(prefix));
    let name = match provider {
        "azure" if labelled("kubernetes.azure.com/") => "AKS",
        "kind" => "kind",
        "digitalocean" => "DigitalOcean",
        _ if labelled("minikube.k8s.io/") => "minikube",
        _ if labelled("node.openshift.io/") => "OpenShift",
        _ if node.status.node_info.os_image.starts_with("Talos") => "Talos",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object<T: serde::de::DeserializeOwned>(json: serde_json::Value) -> T {
        serde_json::from_value(json).expect("an object")
    }

    #[test]
    fn distribution_is_read_from_versions_and_nodes() {
        let node = |kubelet: &str, provider: &str, labels: serde_json::Value| -> Node {
            object(json!({"metadata": {"name": "n", "labels": labels}, "spec": {"providerID": provider},
                "status": {"nodeInfo": {"kubeletVersion": kubelet}}}))
        };
        let said = |server: Option<&str>, node: Node| {
            distribution(server.map(|v| v.parse().expect("a version")).as_ref(), &[node])
        };
        let plain = || node("v1.31.5", "", json!({}));
        assert_eq!(said(Some("v1.31.5-gke.100"), plain()).as_deref(), Some("GKE"));
        assert_eq!(said(None, node("v1.31.5-eks-5d632ec", "aws:///a/i-1", json!({}))).as_deref(), Some("EKS"));
        let azure = node("v1.31.5", "azure:///x", json!({"kubernetes.azure.com/cluster": "c"}));
        assert_eq!(said(Some("v1.31.5"), azure).as_deref(), Some("AKS"));
        assert_eq!(said(Some("v1.31.5"), plain()), None);
    }

    #[test]
    fn extensions_are_found_by_their_labels() {
        let namespace: Namespace =
            object(json!({"metadata": {"name": "observe", "labels": {"linkerd.io/extension": "viz"}}}));
        let bare: Namespace =
            object(json!({"metadata": {"name": "mc", "labels": {"linkerd.io/extension": "multicluster"}}}));
        let deployment = |name: &str, version: Option<&str>| -> Workload {
            let mut labels = json!({"linkerd.io/extension": "viz"});
            if let Some(version) = version {
                labels["app.kubernetes.io/version"] = version.into();
            }
            object(json!({"metadata": {"name": name, "namespace": "observe", "labels": labels}}))
        };
        let deployments = [deployment("web", Some("edge-25.4.4")), deployment("tap-injector", None)];
        let found = extensions(&[bare, namespace], &deployments);
        let expected = [("multicluster", "unknown"), ("viz", "edge-25.4.4")];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
    }

    #[test]
    fn kubelets_are_counted_by_version() {
        let counts = counted(["v1.31.5", "", "v1.31.5"].into_iter());
        assert_eq!(counts, [("unknown".to_owned(), 1), ("v1.31.5".to_owned(), 2)].into());
    }
}
