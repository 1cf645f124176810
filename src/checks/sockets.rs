//! Detects network plugins that select the pod behind a Service when a process connects. The Service's
//! address is then replaced before the rules of the pod's network and its proxy see the connection.

use crate::finding::Evidence;
use crate::objects::{ConfigMap, FelixConfiguration};

/// Whether Cilium replaces kube-proxy.
const REPLACES: &str = "kube-proxy-replacement";
/// Whether it balances when a process connects.
const SOCKET: &str = "bpf-lb-sock";
/// Whether it does so only for processes in the host network.
pub(super) const HOST_ONLY: &str = "bpf-lb-sock-hostns-only";

/// Evidence for balancing at sockets.
pub(super) struct AtSockets {
    /// The settings.
    pub(super) evidence: Vec<Evidence>,
    /// Whether it is set explicitly, not by default.
    pub(super) said: bool,
}

/// Reads Cilium's setting from its ConfigMap in kube-system.
pub(super) fn cilium(config: &ConfigMap) -> Option<AtSockets> {
    let setting = |key: &str| config.data.get(key).map(String::as_str);
    // With kube-proxy replaced, balancing at sockets is on unless disabled.
    let replaces = matches!(setting(REPLACES), Some("true" | "strict"));
    let at_sockets = match setting(SOCKET) {
        Some(said) => said == "true",
        None => replaces,
    };
    if !at_sockets || setting(HOST_ONLY) == Some("true") {
        return None;
    }
    let said = |key: &str| {
        let value = setting(key).unwrap_or("not set");
        Evidence::field("ConfigMap kube-system/cilium-config", format!("data.{key}"), value)
    };
    let evidence = vec![said(REPLACES), said(SOCKET), said(HOST_ONLY)];
    Some(AtSockets { evidence, said: setting(SOCKET).is_some() })
}

/// The Calico configuration for all nodes.
pub(super) fn of_all_nodes(configurations: &[FelixConfiguration]) -> Option<&FelixConfiguration> {
    configurations.iter().find(|one| one.metadata.name == "default")
}

/// Reads Calico's setting from the configuration of all nodes. Configurations of single nodes and the
/// environment of calico-node may override it.
pub(super) fn calico(of_all_nodes: &FelixConfiguration) -> Option<AtSockets> {
    let spec = &of_all_nodes.spec;
    let (now, before) = (spec.bpf_connect_time_load_balancing.as_str(), spec.bpf_connect_time_load_balancing_enabled);
    // Both are on by default, and the proxy only handles TCP.
    if spec.bpf_enabled != Some(true) || now.eq_ignore_ascii_case("disabled") || before == Some(false) {
        return None;
    }
    let field = |path: &str, said: String| Evidence::field("FelixConfiguration default", format!("spec.{path}"), said);
    let how = match (now, before) {
        ("", Some(on)) => field("bpfConnectTimeLoadBalancingEnabled", on.to_string()),
        ("", None) => field("bpfConnectTimeLoadBalancing", "not set".to_owned()),
        (now, _) => field("bpfConnectTimeLoadBalancing", now.to_owned()),
    };
    Some(AtSockets { evidence: vec![field("bpfEnabled", "true".to_owned()), how], said: false })
}
