//! The base for manifests without a cluster: only a Kubernetes version.

use super::super::{ObjectSink, Origin, Source};
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::request::Request;
use crate::version::K8sVersion;

/// A cluster with the given Kubernetes version, if any, and no other evidence.
#[derive(Debug, Clone, Default)]
pub struct Versions(pub Option<K8sVersion>);

impl Source for Versions {
    fn origin(&self) -> Origin {
        Origin { kind: "manifests".to_owned(), name: String::new() }
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let why = Why::NotInManifests;
        match (&request.item, &self.0) {
            // Some of the objects may be in the manifests.
            (Item::List(_), _) => Fetched::Partial { reasons: vec![why] },
            (Item::ServerVersion, Some(version)) => {
                let version = serde_json::json!({"gitVersion": version.to_string()});
                sink.object(version.to_string().as_bytes());
                Fetched::Complete
            }
            (Item::NodeFiles | Item::Logs | Item::Diagnostics, _) => Fetched::Missing { reason: Why::NotOffered },
            _ => Fetched::Missing { reason: why },
        }
    }
}
