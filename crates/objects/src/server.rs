//! Servers: workload ports with their own inbound policy.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ServerSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerSpec {
    /// The selected pods.
    pub pod_selector: Option<LabelSelector>,
    /// Or the selected ExternalWorkloads.
    pub external_workload_selector: Option<LabelSelector>,
    /// Their port, by number or name; may be invalid.
    pub port: Option<ServerPort>,
    /// Protocol: `unknown`, `HTTP/1`, `HTTP/2`, `gRPC`, `opaque`, `TLS`; detected by default.
    pub proxy_protocol: Option<String>,
    /// Policy for clients without an authorization; by default deny.
    pub access_policy: Option<String>,
}

/// The port of a Server, as written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ServerPort {
    /// By number, which may be invalid.
    Number(i64),
    /// By name of a container port.
    Name(String),
}

impl Listed for Server {
    type Object = Server;
    const KIND: Kind = Kind::Server;
    const INFO: KindInfo = KindInfo {
        aliases: &["srv"],
        older: &["v1beta2", "v1beta1"],
        passes: "{spec: {podSelector: selector, externalWorkloadSelector: selector, port: object, proxyProtocol: word, \
                 accessPolicy: word}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta3", "Server", "servers")
    };
}

object!(Server);
