//! Linkerd servers that serve TLS to the API server, and the certificates that they serve.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::UnknownKind;
use super::query::Query;
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;
use crate::names::{self, NameRule};
use crate::objects::meta::nullable;
use crate::objects::{Meta, Object, Store, by_metadata};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// The webhook of the proxy injector.
    ProxyInjector,
    /// The webhook that validates ServiceProfiles.
    SpValidator,
    /// The webhook that validates policy resources.
    PolicyValidator,
}

impl Server {
    /// All servers.
    pub const ALL: [Server; 3] = [Server::ProxyInjector, Server::SpValidator, Server::PolicyValidator];

    /// Its name, without `linkerd-`.
    pub fn name(self) -> &'static str {
        match self {
            Server::ProxyInjector => "proxy-injector",
            Server::SpValidator => "sp-validator",
            Server::PolicyValidator => "policy-validator",
        }
    }

    /// Component label of its pods.
    pub fn component(self) -> &'static str {
        match self {
            Server::ProxyInjector => "proxy-injector",
            Server::SpValidator | Server::PolicyValidator => "destination",
        }
    }

    /// Port in those pods. The charts do not make it configurable.
    pub fn port(self) -> u16 {
        match self {
            Server::ProxyInjector | Server::SpValidator => 8443,
            Server::PolicyValidator => 9443,
        }
    }

    /// The result for its pods: the certificates in PEM or an error, by pod name.
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
        Server::ALL.into_iter().find(|server| server.name() == text).ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

/// Results for a server's pods.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServedCertificates {
    /// The server's name.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub pods: Vec<ServedBy>,
}

impl Object for ServedCertificates {
    by_metadata!();

    /// Also validates the pods' names.
    fn refused(&self) -> Option<String> {
        let (namespace, name) = self.key();
        let mut pods = self.pods.iter().map(|pod| names::refused(NameRule::Subdomain, "", &pod.name));
        names::refused(NameRule::Subdomain, namespace, name).or_else(|| pods.find_map(|refused| refused))
    }
}

/// Result for one pod.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServedBy {
    /// The pod.
    pub name: String,
    /// Its certificate chain in PEM.
    #[serde(deserialize_with = "nullable")]
    pub chain: String,
    /// Error, if there is none.
    #[serde(deserialize_with = "nullable")]
    pub error: String,
}

impl Query for Server {
    fn answers(&self) -> &'static str {
        "ServedCertificates"
    }

    fn passes(&self) -> &'static str {
        "{pods: {name: object, chain: certificates, error: sentence}}"
    }

    fn store(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(Vec::<ServedCertificates>::new()))
    }

    fn describe(&self, namespace: Option<&str>) -> String {
        let place = namespace.map(|namespace| format!(" in {namespace}")).unwrap_or_default();
        format!("the certificates that linkerd-{self}{place} serves")
    }

    fn is_one_of_many(&self) -> bool {
        true
    }

    fn documented(&self) -> String {
        format!(
            "the certificates that linkerd-{self} serves, only with --probe (get and create on \
             pods/portforward)"
        )
    }

    fn right(&self) -> String {
        "create and get on pods/portforward in the control plane's namespace".to_owned()
    }

    fn close(&self, why: &Why, _: Option<&str>) -> Option<GapRemediation> {
        matches!(why, Why::NotCaptured | Why::NotOffered).then(GapRemediation::with_probe)
    }

    fn bundle_path(&self) -> Option<(String, String)> {
        Some(("served".to_owned(), self.name().to_owned()))
    }

    fn is_probed(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificate_of_invalid_pod_name_is_rejected() {
        let refused = |namespace: &str, server: &str, pod: &str| {
            let served: ServedCertificates = serde_json::from_value(serde_json::json!({
                "metadata": {"namespace": namespace, "name": server},
                "pods": [{"name": "web-1", "chain": ""}, {"name": pod, "chain": ""}],
            }))
            .expect("certificates");
            served.refused()
        };
        assert_eq!(refused("linkerd", "linkerd-proxy-injector", "web-2"), None);
        for bad in ["", "$(id)", "-x", "a\nb", "Web", "a/b", "--all"] {
            assert!(refused("linkerd", "linkerd-proxy-injector", bad).is_some(), "{bad}");
            assert!(refused("linkerd", bad, "web-2").is_some(), "{bad}");
            assert!(bad.is_empty() || refused(bad, "linkerd-proxy-injector", "web-2").is_some(), "{bad}");
        }
    }
}
