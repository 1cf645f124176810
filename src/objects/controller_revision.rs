//! ControllerRevisions: former templates of DaemonSets and StatefulSets.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::template::PodTemplate;
use super::{Kind, KindInfo, Listed, Object, by_metadata};

/// A former template of a DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ControllerRevision {
    /// Owner and labels say whose it is.
    pub metadata: Meta,
    /// Its number: the higher, the newer.
    #[serde(deserialize_with = "nullable")]
    pub revision: i64,
    /// What it holds.
    #[serde(deserialize_with = "nullable")]
    pub data: RevisionData,
}

/// The part of the object that a revision keeps.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RevisionData {
    /// The specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: RevisionSpec,
}

/// The specification in a revision.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RevisionSpec {
    /// The template of that time.
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
}

impl Listed for ControllerRevision {
    type Object = ControllerRevision;
    const KIND: Kind = Kind::ControllerRevision;
    const INFO: KindInfo = KindInfo {
        passes: "{data: {spec: {template: template}}}",
        ..KindInfo::namespaced("apps", "v1", "ControllerRevision", "controllerrevisions")
    };
}

impl Object for ControllerRevision {
    by_metadata!();

    fn trim(&mut self) {
        self.data.spec.template.trim(&[&self.metadata]);
    }
}
