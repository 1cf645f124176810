//! Services that this cluster offers to other clusters.

use crate::checks::words::some;
use crate::finding::Evidence;
use crate::objects::Service;
use crate::objects::service::EXPORTED;

/// Label of a Service that joins a federated Service in other clusters.
const FEDERATED: &str = "mirror.linkerd.io/federated";
/// Maximum number of quoted Services.
const QUOTED: usize = 3;

/// Services that clients in other clusters reach through this cluster's gateway.
pub(in crate::checks) fn through_gateway(services: &[Service]) -> Vec<&Service> {
    services.iter().filter(|service| service.metadata.label(EXPORTED) == Some("true")).collect()
}

/// Services that other clusters may read, with or without a gateway.
pub(super) fn of_any_kind(services: &[Service]) -> Vec<&Service> {
    let is_exported = |service: &&Service| {
        let meta = &service.metadata;
        matches!(meta.label(EXPORTED), Some("true" | "remote-discovery")) || meta.label(FEDERATED) == Some("member")
    };
    services.iter().filter(is_exported).collect()
}

/// Whether the local service mirror has work: a federated Service with a member in this cluster, or a Service that
/// joins one.
pub(super) fn has_federated(services: &[Service]) -> bool {
    services.iter().any(|one| one.local_member().is_some() || one.metadata.label(FEDERATED) == Some("member"))
}

/// Exported Services as evidence.
pub(super) fn evidence(exported: &[&Service]) -> Evidence {
    let names = exported.iter().map(|one| format!("{}/{}", one.metadata.namespace, one.metadata.name));
    let said = if exported.is_empty() { "none".to_owned() } else { some(names, QUOTED) };
    Evidence::other("exported Services", said)
}
