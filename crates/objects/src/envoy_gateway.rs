//! The settings of Envoy Gateway that determine whether its proxies send requests to Services or to their endpoints.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// Settings for the proxies of a Gateway or a GatewayClass.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EnvoyProxy {
    /// Namespace, name.
    pub metadata: Meta,
    /// Where its proxies send requests.
    #[serde(deserialize_with = "nullable")]
    pub spec: EnvoyRouting,
}

/// Settings for the requests of a Gateway or a route, which override those of the EnvoyProxy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BackendTrafficPolicy {
    /// Namespace, name.
    pub metadata: Meta,
    /// Where these requests go.
    #[serde(deserialize_with = "nullable")]
    pub spec: EnvoyRouting,
}

/// Where requests go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct EnvoyRouting {
    /// `Service` for the address of the Service, `Endpoint` (the default) for its endpoints.
    #[serde(rename = "routingType")]
    pub routing_type: Option<String>,
}

impl EnvoyRouting {
    /// Whether requests go to the address of the Service.
    pub fn is_to_service(&self) -> bool {
        self.routing_type.as_deref() == Some("Service")
    }
}

impl Listed for EnvoyProxy {
    type Object = EnvoyProxy;
    const KIND: Kind = Kind::EnvoyProxy;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {routingType: word}}",
        ..KindInfo::namespaced("gateway.envoyproxy.io", "v1alpha1", "EnvoyProxy", "envoyproxies")
    };
}

impl Listed for BackendTrafficPolicy {
    type Object = BackendTrafficPolicy;
    const KIND: Kind = Kind::BackendTrafficPolicy;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {routingType: word}}",
        ..KindInfo::namespaced("gateway.envoyproxy.io", "v1alpha1", "BackendTrafficPolicy", "backendtrafficpolicies")
    };
}

object!(EnvoyProxy);
object!(BackendTrafficPolicy);
