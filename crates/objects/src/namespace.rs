//! Namespaces.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::shared::Word;
use super::{Kind, KindInfo, Listed, object};
use crate::names::NameRule;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    /// Name, labels, annotations.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub status: NamespaceStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NamespaceStatus {
    /// Active or Terminating; empty means Active.
    #[serde(deserialize_with = "nullable")]
    pub phase: Word,
    /// While it is being deleted: what remains in it, and why.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Namespace {
    /// Whether it is being deleted: its objects are deleted, and none can be created.
    pub fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.get().is_some() || self.status.phase == "Terminating"
    }
}

impl Listed for Namespace {
    type Object = Namespace;
    const KIND: Kind = Kind::Namespace;
    const INFO: KindInfo = KindInfo {
        aliases: &["ns"],
        passes: "{spec: {finalizers: object}, status: {phase: word, conditions: conditions}}",
        ..KindInfo::of_cluster("", "v1", "Namespace", "namespaces")
    };
}

object!(Namespace, NameRule::Label);
