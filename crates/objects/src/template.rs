//! Pod templates.

use serde::Deserialize;

use super::meta::{META, Meta, nullable};
use super::pod::{POD_SPEC, PodSpec};
use crate::protobuf::schema::schemas;
use crate::redact::Owner;

/// The pod template of a workload.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PodTemplate {
    /// Labels and annotations of its pods.
    #[serde(deserialize_with = "nullable")]
    pub metadata: Meta,
    /// Their specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: PodSpec,
}

impl PodTemplate {
    /// See [`super::container::Container::trim`]. `around`: the objects that hold it, the outermost first.
    pub(super) fn trim(&mut self, around: &[&Meta]) {
        let namespace = around.first().map_or("", |meta| meta.namespace.as_str());
        let of_those = around.iter().map(|meta| meta.owner(namespace)).max().unwrap_or(Owner::Other);
        self.spec.trim(of_those.max(self.metadata.owner(namespace)));
    }

    pub(super) fn share(&mut self, before: &PodTemplate) {
        self.metadata.share(&before.metadata);
        self.spec.share(&before.spec);
    }
}

schemas! {
    POD_TEMPLATE "PodTemplateSpec" {
        1 metadata: One(&META),
        2 spec: One(&POD_SPEC),
    }
}
