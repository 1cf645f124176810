//! ControllerRevisions: earlier templates of DaemonSets and StatefulSets.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::template::PodTemplate;
use super::{Kind, KindInfo, Listed, Object, by_metadata};

/// An earlier template of a DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ControllerRevision {
    /// Owner and labels.
    pub metadata: Meta,
    /// Its revision; higher is newer.
    #[serde(deserialize_with = "nullable")]
    pub revision: i64,
    /// Its content.
    #[serde(deserialize_with = "nullable")]
    pub data: RevisionData,
}

/// Content of a revision.
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
