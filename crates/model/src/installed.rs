//! The installed Linkerd version according to the proxy-injector, because the injector interprets
//! annotations. The versions of the CLI and the proxies do not count. Only reads objects.

use crate::finding::Evidence;
use crate::objects::container::DESTINATION_ADDRESS;
use crate::objects::{Pod, Workload};
use crate::version::{ImageRef, LinkerdVersion};

pub use crate::objects::meta::COMPONENT;

/// The label with the control plane's namespace, on everything that the charts install and on every
/// injected pod.
pub const CONTROL_PLANE_NS: &str = "linkerd.io/control-plane-ns";

/// The namespace of the control plane that a pod's proxy connects to: from the address of destination, otherwise from
/// the label of the injector.
pub fn control_plane_of(pod: &Pod) -> Option<&str> {
    let address = pod.spec.proxy().and_then(|proxy| proxy.env_value(DESTINATION_ADDRESS));
    let named = address.and_then(|address| {
        let mut labels = address.split('.');
        let service = labels.next()?;
        let namespace = labels.next().filter(|_| service.starts_with("linkerd-dst"))?;
        (labels.next() == Some("svc")).then_some(namespace)
    });
    named.or_else(|| pod.metadata.label(CONTROL_PLANE_NS))
}

/// The cluster's proxy-injector.
#[derive(Debug, Clone, PartialEq)]
pub struct Injector {
    /// Its version; `None` if none is readable.
    pub version: Option<LinkerdVersion>,
    /// The source of the version, or the unreadable value.
    pub evidence: Evidence,
}

impl Injector {
    /// Finds the injector among the Deployments of the control plane's namespace. Its image tag counts; if
    /// that is not a version (a digest, a mirror's own tag), the chart's label and annotation count.
    pub fn find(deployments: &[Workload], namespace: &str) -> Option<Injector> {
        let deployment = deployments
            .iter()
            .find(|d| d.metadata.namespace == namespace && d.metadata.label(COMPONENT) == Some("proxy-injector"))?;
        let object = format!("Deployment {namespace}/{}", deployment.metadata.name);
        let image = deployment.spec.template.spec.container("proxy-injector").map(|c| c.image.as_str());
        let tag = image.and_then(|image| image.parse::<ImageRef>().ok()?.tag?.parse().ok());
        let label = deployment.metadata.label("app.kubernetes.io/version");
        let created_by = deployment.metadata.annotation("linkerd.io/created-by");
        let seen = [
            (image, tag, "spec.template.spec.containers[proxy-injector].image"),
            (label, label.and_then(|text| text.parse().ok()), "metadata.labels[app.kubernetes.io/version]"),
            (
                created_by,
                created_by.and_then(|text| LinkerdVersion::from_created_by(text).ok()),
                "metadata.annotations[linkerd.io/created-by]",
            ),
        ];
        let known = seen.iter().find(|(_, version, _)| version.is_some());
        let (text, version, path) = known.unwrap_or(&seen[0]);
        Some(Injector {
            version: version.clone(),
            evidence: Evidence::field(object, *path, text.unwrap_or("no container of that name")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injector(image: &str, label: &str) -> Option<Injector> {
        let json = serde_json::json!({
            "metadata": {
                "name": "linkerd-proxy-injector", "namespace": "linkerd",
                "labels": {COMPONENT: "proxy-injector", "app.kubernetes.io/version": label},
            },
            "spec": {"template": {"spec": {"containers": [{"name": "proxy-injector", "image": image}]}}},
        });
        let workload: Workload = serde_json::from_value(json).expect("a Deployment");
        Injector::find(&[workload], "linkerd")
    }

    #[test]
    fn label_counts_if_the_image_tag_is_not_a_version() {
        let version = |image, label| injector(image, label).and_then(|i| i.version).map(|v| v.to_string());
        assert_eq!(version("r/controller:edge-25.4.4", "edge-25.4.3").as_deref(), Some("edge-25.4.4"));
        assert_eq!(version("r/controller@sha256:00", "enterprise-2.17.0").as_deref(), Some("enterprise-2.17.0"));
        assert_eq!(version("r/controller:latest", "mine"), None);
        assert!(injector("r/controller:latest", "mine").is_some());
        assert_eq!(Injector::find(&[], "linkerd"), None);
    }
}
