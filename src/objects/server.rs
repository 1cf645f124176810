//! Servers: the ports of workloads that have an inbound policy of their own.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A Server.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Name, namespace, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: ServerSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerSpec {
    /// The pods that it is about.
    pub pod_selector: Option<LabelSelector>,
    /// Or the workloads outside of the cluster.
    pub external_workload_selector: Option<LabelSelector>,
    /// Their port, by number or name; what is written may be neither.
    pub port: Option<ServerPort>,
    /// What is spoken on it: `unknown`, `HTTP/1`, `HTTP/2`, `gRPC`, `opaque`, `TLS`; detected where nothing is said.
    pub proxy_protocol: Option<String>,
    /// Who is let in where no authorization says so; nobody where nothing is said.
    pub access_policy: Option<String>,
}

/// The port of a Server as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ServerPort {
    /// By number, which may be none of a port.
    Number(i64),
    /// By the name that a container gives it.
    Name(String),
}

impl Listed for Server {
    type Object = Server;
    const KIND: Kind = Kind::Server;
    const INFO: KindInfo = KindInfo {
        aliases: &["srv"],
        older: &["v1beta2", "v1beta1"],
        passes: "{spec: {podSelector: selector, externalWorkloadSelector: selector, port: text, proxyProtocol: word, \
                 accessPolicy: word}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta3", "Server", "servers")
    };
}

object!(Server);
