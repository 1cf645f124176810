//! Leases: what somebody holds for as long as it is renewed. The kubelet of a node renews one, by the clock of its node.

use jiff::Timestamp;
use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// The namespace of the Leases of nodes, each named like its node.
pub const OF_NODES: &str = "kube-node-lease";

/// A Lease.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Lease {
    /// Name, namespace.
    pub metadata: Meta,
    /// Who holds it, since when.
    #[serde(deserialize_with = "nullable")]
    pub spec: LeaseSpec,
}

/// Since when a Lease is held.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeaseSpec {
    /// When its holder renewed it last, by the holder's clock.
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
