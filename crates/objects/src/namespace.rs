//! Namespaces.

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, Listed, object};
use crate::names::Rule;

/// A namespace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Namespace {
    /// Name, labels, annotations.
    pub metadata: Meta,
}

impl Listed for Namespace {
    type Object = Namespace;
    const KIND: Kind = Kind::Namespace;
    const INFO: KindInfo = KindInfo {
        aliases: &["ns"],
        passes: "{spec: {finalizers: text}, status: {phase: word, conditions: conditions}}",
        ..KindInfo::of_cluster("", "v1", "Namespace", "namespaces")
    };
}

object!(Namespace, Rule::Label);
