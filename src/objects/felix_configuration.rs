//! FelixConfigurations of Calico: whether it balances in eBPF, and where a process connects.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// A FelixConfiguration. That named `default` holds for all nodes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct FelixConfiguration {
    /// Name, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: FelixSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FelixSpec {
    /// Whether Calico stands in for kube-proxy.
    pub bpf_enabled: Option<bool>,
    /// `TCP`, `Enabled` or `Disabled`: for what a Service's pod is chosen where a process connects.
    #[serde(deserialize_with = "nullable")]
    pub bpf_connect_time_load_balancing: String,
    /// What older releases have in its place.
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
