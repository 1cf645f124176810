//! The ConfigMap from which an ingress controller reads settings for all Ingresses.

use crate::names::is_subdomain;
use crate::objects::Pod;
use crate::objects::container::PROXY_CONTAINER;

/// Names of charts whose controller has the option `--configmap`, in addition to those that name their class.
const CHARTS: [&str; 3] = ["ingress-nginx", "rke2-ingress-nginx", "haproxy-ingress"];
/// The namespace of the pod, in arguments.
const OWN_NAMESPACE: &str = "$(POD_NAMESPACE)";

/// The namespace and name of the ConfigMap that the arguments of an ingress controller name; `None` if they name none,
/// and for other pods.
pub fn config_map(pod: &Pod) -> Option<(&str, &str)> {
    let containers = || pod.spec.containers.iter().filter(|container| container.name != PROXY_CONTAINER);
    let is_controller =
        pod.metadata.label("app.kubernetes.io/name").is_some_and(|name| CHARTS.contains(&name))
            || containers().any(|container| container.argument("--controller-class").is_some());
    let named = containers().find_map(|container| container.argument("--configmap"))?;
    let (namespace, name) = named.split_once('/')?;
    let namespace = if namespace == OWN_NAMESPACE { pod.metadata.namespace.as_str() } else { namespace };
    (is_controller && is_subdomain(namespace) && is_subdomain(name)).then_some((namespace, name))
}
