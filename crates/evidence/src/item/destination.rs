//! Requests for endpoints to the replicas of destination: which replicas, which Service ports, and the EndpointSlices
//! that were known before.

use std::collections::{BTreeMap, BTreeSet};

use crate::objects::Uid;

/// The port on which destination serves the API of proxies.
pub const DESTINATION_PORT: u16 = 8086;

/// An address: IP address and port.
pub type Address = (String, u16);

/// The requests to make.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DestinationSample {
    /// Namespace of the control plane.
    pub namespace: String,
    /// The pods of destination.
    pub replicas: Vec<String>,
    /// The node that requests name, so that destination does not log the lack of one; empty if unknown.
    pub node: String,
    /// Domain of the names of Services.
    pub domain: String,
    pub ports: Vec<ServicePortTarget>,
    /// Service ports that the limits left out, as `NAMESPACE/NAME:PORT`.
    pub left: Vec<String>,
}

/// A port of a Service whose endpoints are requested.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServicePortTarget {
    pub namespace: String,
    pub service: String,
    pub port: u16,
    /// Whether endpoints have hints for zones: requests for them name no node, so that the endpoints of all zones are
    /// returned.
    pub has_hints: bool,
    /// The addresses in its EndpointSlices; `None` if destination may return others.
    pub published: Option<BTreeSet<Address>>,
    /// Its EndpointSlices: uid and generation by name.
    pub slices: BTreeMap<String, (Uid, i64)>,
}

impl ServicePortTarget {
    /// `NAMESPACE/NAME` of the Service.
    pub fn service_name(&self) -> String {
        format!("{}/{}", self.namespace, self.service)
    }

    /// The name under which proxies request its endpoints.
    pub fn authority(&self, domain: &str) -> String {
        format!("{}.{}.svc.{domain}:{}", self.service, self.namespace, self.port)
    }
}
