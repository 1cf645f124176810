//! The installed control plane: its components, their versions, and the version that counts as installed.
//! Checks interpret it.

use std::collections::BTreeMap;

use super::installed::{COMPONENT, Injector};
use crate::finding::Evidence;
use crate::objects::{ConfigMap, Container, Pod, PodSpec, Workload};
use crate::version::{ImageRef, LinkerdVersion};

/// The annotation with the tool that created an object: `linkerd/cli edge-25.4.4`.
pub const CREATED_BY: &str = "linkerd.io/created-by";
/// The components that every mesh needs, in the order in which they depend on each other.
pub const CORE: [&str; 3] = ["identity", "destination", "proxy-injector"];

/// A component: a Deployment of the control plane.
#[derive(Debug, Clone, Copy)]
pub struct Component<'a> {
    /// `destination`, `identity`, `proxy-injector`.
    pub name: &'a str,
    pub deployment: &'a Workload,
}

impl<'a> Component<'a> {
    /// Evidence of the ready replicas that its status shows, in `field`; or that it is scaled to 0.
    pub fn replicas(&self, field: &str, ready: u32) -> Evidence {
        let meta = &self.deployment.metadata;
        let object = meta.described("Deployment");
        match (self.wanted(), ready) {
            (0, 0) => Evidence::field(object, "spec.replicas", "0"),
            (wanted, ready) => Evidence::field(object, field, format!("{ready} of {wanted}")),
        }
    }

    /// The version of its template: the tag of the containers that are Linkerd's own, except proxy and
    /// proxy-init. If no tag is readable (pinned by digest, renamed), the Deployment's labels and
    /// annotations count.
    pub fn version(&self) -> Option<LinkerdVersion> {
        version_of(&self.deployment.spec.template.spec).or_else(|| {
            let meta = &self.deployment.metadata;
            let label = meta.label("app.kubernetes.io/version").and_then(|text| text.parse().ok());
            label.or_else(|| LinkerdVersion::from_created_by(meta.annotation(CREATED_BY)?).ok())
        })
    }

    /// The desired number of replicas; one if not set.
    pub fn wanted(&self) -> u32 {
        self.deployment.spec.replicas.unwrap_or(1)
    }
}

/// The components in a namespace: first those of [`CORE`] in its order, then others.
pub fn components<'a>(deployments: &'a [Workload], namespace: &str) -> Vec<Component<'a>> {
    let mut found: Vec<Component<'a>> = deployments
        .iter()
        .filter(|deployment| deployment.metadata.namespace == namespace)
        .filter_map(|deployment| Some(Component { name: deployment.metadata.label(COMPONENT)?, deployment }))
        .collect();
    let rank = |name: &str| CORE.iter().position(|core| *core == name).unwrap_or(CORE.len());
    found.sort_by_key(|component| (rank(component.name), component.name, &component.deployment.metadata.name));
    found
}

/// The number of pods of a component that serve requests: the containers are ready, and so is the pod. If a node
/// fails, Kubernetes changes only the condition of its pods.
pub fn serving(pods: &[Pod], namespace: &str, component: &str) -> u32 {
    let is_unready = |pod: &Pod| pod.condition("Ready").is_some_and(|ready| ready.status != "True");
    let ready = running(pods, namespace, component).filter(|pod| !is_unready(pod));
    u32::try_from(ready.count()).unwrap_or(u32::MAX)
}

/// The pods of a component that run with every container ready, which `linkerd check` counts.
pub fn running<'p>(pods: &'p [Pod], namespace: &str, component: &str) -> impl Iterator<Item = &'p Pod> {
    pods.iter().filter(move |pod| {
        let meta = &pod.metadata;
        meta.namespace == namespace
            && meta.label(COMPONENT) == Some(component)
            && pod.status.phase == "Running"
            && pod.status.container_statuses.iter().all(|status| status.ready)
    })
}

/// The version of a component: from the container with its name, else from the first container with an
/// image of Linkerd's controllers.
fn version_of(spec: &PodSpec) -> Option<LinkerdVersion> {
    spec.containers.iter().filter(|container| is_controller(container)).find_map(tag_version)
}

/// Whether a container belongs to the control plane, and is neither a proxy nor another sidecar.
fn is_controller(container: &Container) -> bool {
    const OWN: [&str; 5] = ["destination", "sp-validator", "policy", "identity", "proxy-injector"];
    OWN.contains(&container.name.as_str())
}

/// The version of a control-plane container.
pub fn component_version(container: &Container) -> Option<LinkerdVersion> {
    is_controller(container).then(|| tag_version(container)).flatten()
}

/// The Linkerd version in a container's image tag.
pub fn tag_version(container: &Container) -> Option<LinkerdVersion> {
    container.image.parse::<ImageRef>().ok()?.tag?.parse().ok()
}

/// The versions of a control-plane pod's containers; empty for other pods.
pub fn pod_versions(pod: &Pod) -> BTreeMap<&str, LinkerdVersion> {
    pod.spec
        .containers
        .iter()
        .filter(|container| is_controller(container))
        .filter_map(|container| Some((container.name.as_str(), tag_version(container)?)))
        .collect()
}

/// The installed version and its source: the injector's, because it writes every proxy; else that of
/// `linkerd-config`; else that of another component. `None` if no source states it, or there is no control
/// plane.
pub fn installed(
    deployments: &[Workload],
    config: Option<&ConfigMap>,
    namespace: &str,
) -> Option<(LinkerdVersion, Evidence)> {
    let by_injector = || {
        let injector = Injector::find(deployments, namespace)?;
        Some((injector.version?, injector.evidence))
    };
    let by_config = || {
        let values = config?.chart_values()?;
        let said = values.text("linkerdVersion")?;
        let object = format!("ConfigMap {namespace}/linkerd-config");
        Some((said.parse().ok()?, Evidence::field(object, "data.values: linkerdVersion", said)))
    };
    let by_another = || {
        components(deployments, namespace).iter().find_map(|component| {
            let meta = &component.deployment.metadata;
            let version = component.version()?;
            let said = version.to_string();
            Some((version, Evidence::field(meta.described("Deployment"), "spec.template.spec.containers", said)))
        })
    };
    by_injector().or_else(by_config).or_else(by_another)
}

/// The version of a pod's proxy: the tag of its image, else the annotation that the injector adds.
pub fn proxy_version(pod: &Pod) -> Option<LinkerdVersion> {
    let proxy = pod.spec.proxy()?;
    tag_version(proxy).or_else(|| pod.metadata.annotation("linkerd.io/proxy-version")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(component: &str, image: &str, version: &str) -> Workload {
        serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "linkerd", "name": format!("linkerd-{component}"),
                "labels": {COMPONENT: component, "app.kubernetes.io/version": version}},
            "spec": {"template": {"spec": {"containers": [
                {"name": "linkerd-proxy", "image": "r.example.com/proxy:edge-24.2.4"},
                {"name": component, "image": image}
            ]}}}
        }))
        .expect("a Deployment")
    }

    fn config(version: &str) -> ConfigMap {
        serde_json::from_value(serde_json::json!({
            "metadata": {"namespace": "linkerd", "name": "linkerd-config"},
            "data": {"values": format!("linkerdVersion: {version}\n")}
        }))
        .expect("a ConfigMap")
    }

    #[test]
    fn injector_image_decides_the_installed_version() {
        let said = |deployments: &[Workload], config: Option<&ConfigMap>| {
            installed(deployments, config, "linkerd").map(|(version, _)| version.to_string())
        };
        let tagged = [
            deployment("identity", "r.example.com/controller:edge-24.11.8", ""),
            deployment("proxy-injector", "r.example.com/controller:edge-25.4.4", ""),
        ];
        assert_eq!(said(&tagged, Some(&config("edge-25.3.1"))).as_deref(), Some("edge-25.4.4"));
        let pinned = [deployment("proxy-injector", "r.example.com/controller@sha256:00", "")];
        assert_eq!(said(&pinned, Some(&config("edge-25.3.1"))).as_deref(), Some("edge-25.3.1"));
        assert_eq!(said(&pinned, None), None);
        let labelled = [deployment("destination", "r.example.com/controller@sha256:00", "edge-25.4.4")];
        assert_eq!(said(&labelled, None).as_deref(), Some("edge-25.4.4"));
        assert!(components(&pinned, "elsewhere").is_empty());
    }
}
