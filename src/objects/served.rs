//! What the pods of a server showed when they were asked for their certificate.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use crate::names::{self, Rule};

/// The answers of a server's pods.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServedCertificates {
    /// The server's name.
    pub metadata: Meta,
    /// Its pods.
    #[serde(deserialize_with = "nullable")]
    pub pods: Vec<ServedBy>,
}

impl ServedCertificates {
    /// Why one of these can be no pod's answer.
    pub(super) fn refused_names(&self) -> Option<String> {
        self.pods.iter().find_map(|pod| names::refused(Rule::Subdomain, "", &pod.name))
    }
}

/// What one pod showed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServedBy {
    /// The pod.
    pub name: String,
    /// Its certificate and those above it, in PEM.
    #[serde(deserialize_with = "nullable")]
    pub chain: String,
    /// Why there is none.
    #[serde(deserialize_with = "nullable")]
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Object;

    #[test]
    fn a_pod_that_nothing_can_be_called_showed_nothing() {
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
