//! Settings of ingress controllers for all Ingresses: the ConfigMap that they read, and Traefik's arguments.

use crate::names::is_subdomain;
use crate::objects::container::{PROXY_CONTAINER, boolean};
use crate::objects::{Container, Pod};

/// Names of charts whose controller has the option `--configmap`, in addition to those that name their class.
const CHARTS: [&str; 3] = ["ingress-nginx", "rke2-ingress-nginx", "haproxy-ingress"];
/// The namespace of the pod, in arguments.
const OWN_NAMESPACE: &str = "$(POD_NAMESPACE)";

/// Traefik's provider of IngressRoutes: the beginning of its options and of its variables.
pub const CRD_PROVIDER: Provider = Provider { option: "--providers.kubernetescrd", variable: "KUBERNETESCRD" };
/// Traefik's provider of Ingresses.
pub const INGRESS_PROVIDER: Provider =
    Provider { option: "--providers.kubernetesingress", variable: "KUBERNETESINGRESS" };

/// One of Traefik's providers.
#[derive(Debug, Clone, Copy)]
pub struct Provider {
    /// The beginning of its options.
    pub option: &'static str,
    variable: &'static str,
}

impl Provider {
    /// The option that makes it use the addresses of Services.
    fn native(self) -> String {
        format!("{}.nativelbbydefault", self.option)
    }
}

/// The namespace and name of the ConfigMap that the arguments of an ingress controller name; `None` if they name none,
/// and for other pods.
pub fn config_map(pod: &Pod) -> Option<(&str, &str)> {
    let is_controller = pod.metadata.label("app.kubernetes.io/name").is_some_and(|name| CHARTS.contains(&name))
        || own_containers(pod).any(|container| container.argument("--controller-class").is_some());
    let named = own_containers(pod).find_map(|container| container.argument("--configmap"))?;
    let (namespace, name) = named.split_once('/')?;
    let namespace = if namespace == OWN_NAMESPACE { pod.metadata.namespace.as_str() } else { namespace };
    (is_controller && is_subdomain(namespace) && is_subdomain(name)).then_some((namespace, name))
}

/// The containers of a pod, without its proxy.
pub fn own_containers(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.spec.containers.iter().filter(|container| container.name != PROXY_CONTAINER)
}

/// Whether Traefik uses the addresses of Services for all objects of a provider; `None` if its arguments and
/// environment do not show it, for example because it reads a file. Only one of these sources is used: the file, the
/// arguments, or the environment.
pub fn native_by_default(pod: &Pod, provider: Provider) -> Option<bool> {
    let is_of_file = |container: &Container| container.args.iter().any(|arg| arg == "--configfile");
    if own_containers(pod).any(is_of_file) {
        return None;
    }
    let of_arguments = |container: &Container| {
        let value = container.switch(&provider.native());
        let is_provider = |arg: &String| arg.to_ascii_lowercase().starts_with("--providers.kubernetes");
        value.or_else(|| container.args.iter().any(is_provider).then_some(Some(false)))
    };
    if let Some(value) = own_containers(pod).find_map(of_arguments) {
        return value;
    }
    let of_environment = |container: &Container| {
        let prefix = format!("TRAEFIK_PROVIDERS_{}", provider.variable);
        let has_args = container.has_more_args || !container.args.is_empty();
        let native = container.env_value(&format!("{prefix}_NATIVELBBYDEFAULT"));
        let is_provider = container.env_value(&prefix).is_some();
        (!has_args && (is_provider || native.is_some())).then(|| native.map_or(Some(false), boolean))
    };
    own_containers(pod).find_map(of_environment).flatten()
}
