//! What the pods of a server showed when they were asked for their certificate.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use crate::model::names::{self, Rule};

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
