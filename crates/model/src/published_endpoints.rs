//! The addresses that destination returns for a port of a Service, as its EndpointSlices list them.

use std::collections::BTreeSet;

use crate::item::destination::Address;
use crate::objects::service::{LOCAL_DISCOVERY, REMOTE_DISCOVERY, ServicePort};
use crate::objects::{EndpointSlice, Service};

/// The ready addresses of a port; `None` if destination may return others: for another cluster, for the node of the
/// client, or of another address family.
///
/// Hints for zones have no effect if a request names no node. So it is in Linkerd 2.15 to edge-26.8.3
/// (`filterAddresses`).
pub fn published<'a>(
    service: &Service,
    port: &ServicePort,
    slices: impl IntoIterator<Item = &'a EndpointSlice>,
) -> Option<BTreeSet<Address>> {
    if !is_of_this_cluster(service) || service.spec.internal_traffic_policy == "Local" {
        return None;
    }
    let mut all = BTreeSet::new();
    for slice in slices.into_iter().filter(|slice| !slice.endpoints.is_empty()) {
        if slice.address_type != "IPv4" {
            return None;
        }
        let ports = slice.ports.as_deref().unwrap_or_default();
        let target = ports.iter().find(|one| one.name == port.name).and_then(|one| one.port);
        for endpoint in slice.endpoints.iter().filter(|endpoint| endpoint.is_ready()) {
            let [address] = endpoint.addresses.as_slice() else { return None };
            if endpoint.target_ref.as_ref().is_some_and(|target| target.kind != "Pod") {
                return None;
            }
            all.extend(target.map(|target| (address.clone(), target)));
        }
    }
    Some(all)
}

/// Whether its endpoints are those of its EndpointSlices, rather than of another cluster or a name.
pub fn is_of_this_cluster(service: &Service) -> bool {
    let meta = &service.metadata;
    service.spec.kind != "ExternalName"
        && meta.label(REMOTE_DISCOVERY).is_none()
        && [REMOTE_DISCOVERY, LOCAL_DISCOVERY].iter().all(|name| meta.annotation(name).is_none())
}

/// The ports whose endpoints destination returns.
pub fn tcp_ports(service: &Service) -> impl Iterator<Item = &ServicePort> {
    service.spec.ports.iter().filter(|port| matches!(port.protocol.as_str(), "" | "TCP"))
}
