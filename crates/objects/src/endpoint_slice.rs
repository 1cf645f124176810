//! EndpointSlices: endpoints of a Service, and their readiness.

use std::net::IpAddr;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::meta::{Meta, nullable};
use super::service::Service;
use super::{Kind, KindInfo, Listed, object};

/// An EndpointSlice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointSlice {
    /// A label names its Service; see [`EndpointSlice::service`].
    pub metadata: Meta,
    /// `IPv4`, `IPv6` or `FQDN`.
    #[serde(rename = "addressType")]
    pub address_type: String,
    /// Its ports; `None` if the field is missing.
    pub ports: Option<Vec<SlicePort>>,
    #[serde(deserialize_with = "nullable")]
    pub endpoints: Vec<Endpoint>,
}

/// A port of all endpoints of a slice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SlicePort {
    /// The name of the Service's port.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The port of the endpoints.
    pub port: Option<u16>,
}

/// The object behind an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TargetRef {
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
}

/// One endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// Its addresses; Kubernetes reads only the first.
    #[serde(deserialize_with = "nullable")]
    pub addresses: Vec<String>,
    /// The host name of its pod below the name of the Service.
    pub hostname: Option<String>,
    /// The object behind it.
    pub target_ref: Option<TargetRef>,
    /// Its state.
    #[serde(deserialize_with = "nullable")]
    pub conditions: EndpointConditions,
    /// Present if only clients of some zones use it.
    pub hints: Option<IgnoredAny>,
}

/// The state of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointConditions {
    /// `None` counts as ready.
    pub ready: Option<bool>,
}

impl Endpoint {
    /// Whether it is ready.
    pub fn is_ready(&self) -> bool {
        self.conditions.ready != Some(false)
    }

    /// Its address, if it is an IP address.
    pub fn address(&self) -> Option<IpAddr> {
        self.addresses.first()?.parse().ok()
    }

    /// The name of its pod, if a pod is behind it.
    pub fn pod(&self) -> Option<&str> {
        self.target_ref.as_ref().filter(|target| target.kind == "Pod").map(|target| target.name.as_str())
    }
}

impl EndpointSlice {
    /// The slices of a Service.
    pub fn for_service<'a>(slices: &'a [EndpointSlice], service: &Service) -> impl Iterator<Item = &'a EndpointSlice> {
        let (namespace, name) = service.metadata.key();
        slices.iter().filter(move |slice| slice.metadata.namespace == namespace && slice.service() == Some(name))
    }

    /// Whether its endpoints serve a port of the Service. Unknown ports count.
    pub fn serves(&self, port: &str) -> bool {
        let is_it = |one: &SlicePort| one.name == port;
        self.address_type != "FQDN" && self.ports.as_ref().is_none_or(|ports| ports.iter().any(is_it))
    }

    /// Name of its Service, in its own namespace.
    pub fn service(&self) -> Option<&str> {
        self.metadata.label("kubernetes.io/service-name")
    }

    /// The number of ready endpoints of a Service, and of all.
    pub fn counted(slices: &[EndpointSlice], service: &Service) -> (usize, usize) {
        let mut counted = (0, 0);
        for endpoint in EndpointSlice::for_service(slices, service).flat_map(|slice| &slice.endpoints) {
            counted.0 += usize::from(endpoint.is_ready());
            counted.1 += 1;
        }
        counted
    }
}

impl Listed for EndpointSlice {
    type Object = EndpointSlice;
    const KIND: Kind = Kind::EndpointSlice;
    const INFO: KindInfo = KindInfo {
        passes: "{addressType: word, ports: {name: object, protocol: word, appProtocol: word}, endpoints: {addresses: \
             word, hostname: object, nodeName: object, zone: object, targetRef: reference}}",
        ..KindInfo::namespaced("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
    };
}

object!(EndpointSlice);
