//! Leases. The kubelet renews that of its node, by the node's clock.

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// Namespace of node Leases, which have the node's name.
pub const OF_NODES: &str = "kube-node-lease";

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Lease {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: LeaseSpec,
}

/// The spec of a Lease.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaseSpec {
    /// Last renewal, by the holder's clock.
    pub renew_time: Option<Timestamp>,
}

impl Listed for Lease {
    type Object = Lease;
    const KIND: Kind = Kind::Lease;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {renewTime: word}}",
        ..KindInfo::namespaced("coordination.k8s.io", "v1", "Lease", "leases")
    };
}

object!(Lease);
