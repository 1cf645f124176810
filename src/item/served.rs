//! Servers of Linkerd's that speak TLS to the API server, and that can be asked for the certificate they really serve. What
//! they answer has one form, whoever asks them.

use std::fmt;
use std::str::FromStr;

use super::UnknownKind;

/// A server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// The webhook of the proxy injector.
    ProxyInjector,
    /// The webhook that looks at ServiceProfiles.
    SpValidator,
    /// The webhook that looks at policy resources.
    PolicyValidator,
}

impl Server {
    /// All of them.
    pub const ALL: [Server; 3] = [Server::ProxyInjector, Server::SpValidator, Server::PolicyValidator];

    /// Its name, without `linkerd-`.
    pub fn name(self) -> &'static str {
        match self {
            Server::ProxyInjector => "proxy-injector",
            Server::SpValidator => "sp-validator",
            Server::PolicyValidator => "policy-validator",
        }
    }

    /// The component whose pods it runs in, as their label names it.
    pub fn component(self) -> &'static str {
        match self {
            Server::ProxyInjector => "proxy-injector",
            Server::SpValidator | Server::PolicyValidator => "destination",
        }
    }

    /// The port it listens on in those pods. The charts do not let anybody choose another.
    pub fn port(self) -> u16 {
        match self {
            Server::ProxyInjector | Server::SpValidator => 8443,
            Server::PolicyValidator => 9443,
        }
    }

    /// The answer of its pods, each by name with the certificates in PEM or with what went wrong.
    pub fn answer(self, namespace: &str, pods: &[(String, Result<String, String>)]) -> serde_json::Value {
        let pods: Vec<serde_json::Value> = pods
            .iter()
            .map(|(name, said)| match said {
                Ok(chain) => serde_json::json!({ "name": name, "chain": chain }),
                Err(error) => serde_json::json!({ "name": name, "error": error }),
            })
            .collect();
        serde_json::json!({
            "apiVersion": "meshdoctor.io/v1",
            "kind": "ServedCertificates",
            "metadata": { "name": self.name(), "namespace": namespace },
            "pods": pods,
        })
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Server {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Server, UnknownKind> {
        Server::ALL
            .into_iter()
            .find(|server| server.name() == text)
            .ok_or_else(|| UnknownKind(text.to_owned()))
    }
}
