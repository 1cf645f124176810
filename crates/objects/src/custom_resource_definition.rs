//! Custom resource definitions.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::nullable;
use super::texts::Texts;
use super::time::Time;
use super::{Kind, KindInfo, Listed, Object};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CustomResourceDefinition {
    /// Name and annotations (`gateway.networking.k8s.io/bundle-version` is kept as a field of its own).
    pub metadata: CrdMeta,
    /// Group, names, versions.
    #[serde(deserialize_with = "nullable")]
    pub spec: CrdSpec,
    #[serde(deserialize_with = "nullable")]
    pub status: CrdStatus,
}

/// Status of a definition.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CrdStatus {
    /// Versions in which objects may be stored.
    #[serde(deserialize_with = "nullable")]
    pub stored_versions: Vec<String>,
    /// Conditions: Established, NamesAccepted, Terminating.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

/// Metadata of a definition, with all its annotations: the bundle version of Gateway API is one of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdMeta {
    /// `<plural>.<group>`.
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub labels: Texts,
    #[serde(deserialize_with = "nullable")]
    pub annotations: Texts,
    /// Creation time.
    #[serde(rename = "creationTimestamp")]
    pub creation_timestamp: Time,
    /// Set while it is being deleted.
    #[serde(rename = "deletionTimestamp")]
    pub deletion_timestamp: Time,
}

/// Why the API server does not serve a defined kind, or not for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unserved {
    /// The definition is being deleted, with all objects of its kind.
    Deleted,
    /// The API server did not accept the definition; the text is its reason, possibly empty.
    NotEstablished(String),
}

impl CustomResourceDefinition {
    /// Why its kind is not served; `None` if it is, or if the definition has no status.
    pub fn unserved(&self) -> Option<Unserved> {
        let condition = |kind: &str| self.status.conditions.iter().find(|condition| condition.kind == kind);
        let has = |kind: &str, status: &str| condition(kind).is_some_and(|one| one.status == status);
        if self.metadata.deletion_timestamp.get().is_some() || has("Terminating", "True") {
            return Some(Unserved::Deleted);
        }
        if !has("Established", "False") {
            return None;
        }
        // If its names are taken by another definition, this states which.
        let reasons = ["NamesAccepted", "Established"].into_iter().filter_map(condition);
        let reason = reasons.filter(|one| one.status == "False").find(|one| !one.reason.is_empty());
        let text = reason.map(|one| match one.message.as_str() {
            "" => one.reason.to_string(),
            message => format!("{}: {message}", one.reason),
        });
        Some(Unserved::NotEstablished(text.unwrap_or_default()))
    }
}

/// Group, names, versions.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdSpec {
    /// API group.
    pub group: String,
    /// Versions, in order.
    #[serde(deserialize_with = "nullable")]
    pub versions: Vec<CrdVersion>,
}

/// One version of a custom resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CrdVersion {
    /// `v1beta1`.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
}

/// Built-in API groups, for which no definitions exist.
const BUILT_IN: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether a kind is built in. `kubectl get` of several kinds prints nothing if one of them is not served.
pub fn is_built_in(kind: Kind) -> bool {
    BUILT_IN.contains(&kind.info().group)
}

/// Whether a complete list of definitions lacks a kind.
pub fn is_undefined(definitions: &[CustomResourceDefinition], kind: Kind) -> bool {
    !is_built_in(kind) && !definitions.iter().any(|known| known.metadata.name == kind.resource())
}

impl Listed for CustomResourceDefinition {
    type Object = CustomResourceDefinition;
    const KIND: Kind = Kind::CustomResourceDefinition;
    const INFO: KindInfo = KindInfo {
        aliases: &["crd", "crds"],
        passes: "{spec: {group: word, scope: word, names: {kind: word, listKind: word, plural: word, singular: word}, \
             versions: named}, status: {conditions: conditions, storedVersions: word}}",
        ..KindInfo::of_cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")
    };
}

impl Object for CustomResourceDefinition {
    fn key(&self) -> (&str, &str) {
        ("", &self.metadata.name)
    }
}
