//! EndpointSlices: endpoints of a Service, and their readiness.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::service::Service;
use super::{Kind, KindInfo, Listed, object};

/// An EndpointSlice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointSlice {
    /// A label names its Service; see [`EndpointSlice::service`].
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub endpoints: Vec<Endpoint>,
}

/// One endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// Its state.
    #[serde(deserialize_with = "nullable")]
    pub conditions: EndpointConditions,
}

/// The state of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointConditions {
    /// `None` counts as ready.
    pub ready: Option<bool>,
}

impl EndpointSlice {
    /// Name of its Service, in its own namespace.
    pub fn service(&self) -> Option<&str> {
        self.metadata.label("kubernetes.io/service-name")
    }

    /// The number of ready endpoints of a Service, and of all.
    pub fn counted(slices: &[EndpointSlice], service: &Service) -> (usize, usize) {
        let (namespace, name) = service.metadata.key();
        let own = slices
            .iter()
            .filter(|slice| slice.metadata.namespace == namespace && slice.service() == Some(name));
        let mut counted = (0, 0);
        for endpoint in own.flat_map(|slice| &slice.endpoints) {
            counted.0 += usize::from(endpoint.conditions.ready != Some(false));
            counted.1 += 1;
        }
        counted
    }
}

impl Listed for EndpointSlice {
    type Object = EndpointSlice;
    const KIND: Kind = Kind::EndpointSlice;
    const INFO: KindInfo = KindInfo {
        passes: "{addressType: word, ports: {name: text, protocol: word, appProtocol: word}, endpoints: {addresses: \
             word, hostname: text, nodeName: text, zone: text, targetRef: reference}}",
        ..KindInfo::namespaced("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
    };
}

object!(EndpointSlice);
