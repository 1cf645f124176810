//! linkerd-cni in the API: its DaemonSets, pods and configuration. Only reads objects; checks interpret
//! them. Pods whose sandbox linkerd-cni fails are in [`super::sandbox`].

use std::collections::BTreeMap;

use crate::finding::Evidence;
use crate::objects::meta::Meta;
use crate::objects::{ConfigMap, Pod, PodTemplate, Workload};
use crate::version::CniVersion;

/// The container that installs the plugin on a node.
pub const INSTALLER: &str = "install-cni";

/// The name of the DaemonSet in the chart and the CLI, also a label of its pods.
const NAME: &str = "linkerd-cni";

/// Whether a DaemonSet belongs to linkerd-cni: it runs the installer, and has its name or its labels. Chart
/// releases can have any name; `linkerd check` looks only for the default name.
pub fn is_installer(workload: &Workload) -> bool {
    let meta = &workload.metadata;
    (meta.name == NAME || is_labelled(meta)) && workload.spec.template.spec.container(INSTALLER).is_some()
}

fn is_labelled(meta: &Meta) -> bool {
    meta.label("k8s-app") == Some(NAME) || meta.label("linkerd.io/cni-resource") == Some("true")
}

/// Whether a pod is an installer pod.
pub fn is_installer_pod(pod: &Pod) -> bool {
    is_labelled(&pod.metadata) && pod.spec.container(INSTALLER).is_some()
}

/// The plugin's version in a template, from the installer's image.
pub fn version_of(template: &PodTemplate) -> Option<CniVersion> {
    template.spec.container(INSTALLER).map(|container| CniVersion::from_image(&container.image))
}

/// Whether the installer runs in a pod. Only then has it installed its plugin and entry on the node.
pub fn is_running(pod: &Pod) -> bool {
    pod.container_status(INSTALLER).is_some_and(|status| status.state.running().is_some())
}

/// The plugin's installation by node, according to the API.
#[derive(Debug, Default)]
pub struct Installed<'a> {
    by_node: BTreeMap<&'a str, &'a Pod>,
    /// The DaemonSets, in any namespace.
    pub sets: Vec<&'a Workload>,
}

impl<'a> Installed<'a> {
    /// Indexes the installers among pods and DaemonSets by node.
    pub fn new(pods: &'a [Pod], daemon_sets: &'a [Workload]) -> Installed<'a> {
        let installers = pods.iter().filter(|pod| is_installer_pod(pod) && is_running(pod));
        Installed {
            by_node: installers.map(|pod| (pod.node_name.as_str(), pod)).collect(),
            sets: daemon_sets.iter().filter(|set| is_installer(set)).collect(),
        }
    }

    /// The pod whose installer runs on a node.
    pub fn pod_on(&self, node: &str) -> Option<&'a Pod> {
        self.by_node.get(node).copied()
    }

    /// The installer's image on a node as evidence: from the DaemonSet, if its pod there has the same
    /// image.
    pub fn image_on(&self, node: &str) -> Option<Evidence> {
        let quote = |object: String, path: &str, image: &str| Evidence::field(object, path, image);
        let of_set = match self.sets.as_slice() {
            [only] => only.spec.template.spec.container(INSTALLER).map(|container| (&only.metadata, container)),
            _ => None,
        };
        let of_pod = self.pod_on(node).and_then(|pod| Some((&pod.metadata, pod.spec.container(INSTALLER)?)));
        match (of_pod, of_set) {
            (Some((meta, container)), set) if set.is_none_or(|(_, other)| other.image != container.image) => {
                Some(quote(meta.described("Pod"), "spec.containers[install-cni].image", &container.image))
            }
            (_, Some((meta, container))) => Some(quote(
                meta.described("DaemonSet"),
                "spec.template.spec.containers[install-cni].image",
                &container.image,
            )),
            (_, None) => None,
        }
    }

    /// The plugin's version on a node: from the installer that runs there, else from the only DaemonSet.
    pub fn version_on(&self, node: &str) -> Option<CniVersion> {
        let of_pod = |pod: &Pod| {
            let container = pod.spec.container(INSTALLER)?;
            Some(CniVersion::from_image(&container.image))
        };
        self.pod_on(node).and_then(of_pod).or_else(|| match self.sets.as_slice() {
            [only] => version_of(&only.spec.template),
            _ => None,
        })
    }
}

/// A setting of the plugin (below `linkerd` in its entry) in the ConfigMap's template, which the installer
/// writes to nodes when it starts.
pub fn template_setting(config: &ConfigMap, setting: &str) -> Option<serde_json::Value> {
    let template: serde_json::Value = serde_json::from_str(config.data.get("cni_network_config")?).ok()?;
    // The template is one entry or, in custom installations, a list that contains it.
    let entry = match template.get("plugins").and_then(serde_json::Value::as_array) {
        None => &template,
        Some(plugins) => plugins.iter().find(|plugin| plugin["type"] == "linkerd-cni")?,
    };
    entry.get("linkerd")?.get(setting).filter(|value| !value.is_null()).cloned()
}

/// Whether the ConfigMap's template is readable.
pub fn template_reads(config: &ConfigMap) -> bool {
    let template = config.data.get("cni_network_config");
    template.is_some_and(|text| serde_json::from_str::<serde_json::Value>(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(template: &str) -> ConfigMap {
        let data = [("cni_network_config".to_owned(), template.to_owned())];
        ConfigMap { data: data.into(), ..ConfigMap::default() }
    }

    #[test]
    fn template_is_an_entry_or_a_list_with_one() {
        let mode = |template: &str| template_setting(&config(template), "iptables-mode");
        let entry = r#"{"type": "linkerd-cni", "linkerd": {"iptables-mode": "nft", "proxy-uid": 2102}}"#;
        assert_eq!(mode(entry), Some("nft".into()));
        assert_eq!(mode(&format!(r#"{{"plugins": [{{"type": "x"}}, {entry}]}}"#)), Some("nft".into()));
        assert_eq!(mode(r#"{"type": "linkerd-cni", "linkerd": {}}"#), None);
        assert!(template_reads(&config(entry)) && !template_reads(&config("{")));
    }

    fn pod(name: &str, node: &str, image: &str, state: &serde_json::Value) -> Pod {
        serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "linkerd-cni", "name": name, "labels": {"k8s-app": "linkerd-cni"}},
            "spec": {"nodeName": node, "containers": [{"name": INSTALLER, "image": image}]},
            "status": {"containerStatuses": [{"name": INSTALLER, "state": state}]},
        }))
        .expect("a pod")
    }

    #[test]
    fn node_has_the_version_of_its_running_installer() {
        let pods = [
            pod("a", "n1", "r/cni-plugin:v1.6.0", &serde_json::json!({"running": {}})),
            pod("b", "n2", "r/cni-plugin:v1.6.2", &serde_json::json!({"waiting": {"reason": "ContainerCreating"}})),
        ];
        let set: Workload = serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "linkerd-cni", "name": "linkerd-cni", "labels": {"k8s-app": "linkerd-cni"}},
            "spec": {"template": {"spec": {"containers": [{"name": INSTALLER, "image": "r/cni-plugin:v1.6.2"}]}}},
        }))
        .expect("a DaemonSet");
        let sets = [set];
        let installed = Installed::new(&pods, &sets);
        let version = |node| installed.version_on(node).map(|version| version.to_string());
        assert_eq!(version("n1").as_deref(), Some("v1.6.0"));
        assert_eq!(version("n2").as_deref(), Some("v1.6.2"));
        assert!(installed.pod_on("n2").is_none());
        assert_eq!(Installed::new(&pods, &[]).version_on("n2"), None);
    }
}
