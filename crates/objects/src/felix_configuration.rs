//! FelixConfigurations of Calico: eBPF and connect-time load balancing.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A FelixConfiguration; the one named `default` applies to all nodes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FelixConfiguration {
    /// Name, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: FelixSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FelixSpec {
    /// Whether Calico replaces kube-proxy.
    pub bpf_enabled: Option<bool>,
    /// `TCP`, `Enabled` or `Disabled`: connect-time load balancing.
    #[serde(deserialize_with = "nullable")]
    pub bpf_connect_time_load_balancing: String,
    /// The corresponding field of older releases.
    pub bpf_connect_time_load_balancing_enabled: Option<bool>,
}

impl Listed for FelixConfiguration {
    type Object = FelixConfiguration;
    const KIND: Kind = Kind::FelixConfiguration;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {bpfConnectTimeLoadBalancing: word}}",
        ..KindInfo::of_cluster("crd.projectcalico.org", "v1", "FelixConfiguration", "felixconfigurations")
    };
}

object!(FelixConfiguration);
