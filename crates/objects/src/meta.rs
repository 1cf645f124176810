//! Object metadata: name, labels, relevant annotations, owners, times.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Deserializer};

use super::shared::{Shared, Word, parts};
use super::texts::Texts;
use super::time::Time;
use super::uid::Uid;
use crate::annotations::{MANAGERS, OTHERS, SNIPPETS, VELERO_HOOKS, may_be_linkerds};
use crate::names::{self, NameRule};
use crate::protobuf::schema::schemas;
use crate::redact::Owner;

/// The label that names a component of the control plane.
pub const COMPONENT: &str = "linkerd.io/control-plane-component";

/// Deserializes whether a field is present and not null.
pub(super) fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::<serde::de::IgnoredAny>::deserialize(deserializer)?.is_some())
}

/// Reads `null` as the default: Kubernetes writes empty lists and missing times in this way.
pub fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A sentence of a program, redacted; `null` is empty.
pub fn redacted<'de, D: Deserializer<'de>, T: From<String>>(deserializer: D) -> Result<T, D::Error> {
    let text = nullable::<D, String>(deserializer)?;
    Ok(match crate::redact::free_text(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(clean) => clean,
    }
    .into())
}

/// The owners of an object, without invalid names: the API server accepts any owner name from every client that may
/// write the object, so such a reference is dropped and does not count as a gap.
fn owners<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shared<Vec<OwnerReference>>, D::Error> {
    let mut owners: Vec<OwnerReference> = nullable(deserializer)?;
    owners.retain(|owner| NameRule::of_kind(&owner.kind).accepts(&owner.name));
    owners.shrink_to_fit();
    Ok(Shared::from(owners))
}

/// An address; `None` for other texts, such as `None` of a headless Service.
pub(super) fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<IpAddr>, D::Error> {
    let text = Option::<Text<'de>>::deserialize(deserializer)?;
    Ok(text.and_then(|Text(text)| text.parse().ok()))
}

/// A text; a number or boolean of a manifest, which the API server rejects there, as its text. `null` is empty.
pub(super) fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Scalar {
        Text(String),
        Whole(i64),
        Part(f64),
        Truth(bool),
    }
    Ok(match Option::<Scalar>::deserialize(deserializer)? {
        None => String::new(),
        Some(Scalar::Text(text)) => text,
        Some(Scalar::Whole(number)) => number.to_string(),
        Some(Scalar::Part(number)) => number.to_string(),
        Some(Scalar::Truth(truth)) => truth.to_string(),
    })
}

/// Quantities by name, as texts; manifests may contain numbers. `null` is empty.
pub(super) fn quantities<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Quantity {
        Text(String),
        Whole(i64),
        Part(f64),
        Other(serde::de::IgnoredAny),
    }
    let all: BTreeMap<String, Quantity> = nullable(deserializer)?;
    let text = |quantity| match quantity {
        Quantity::Text(text) => Some(text),
        Quantity::Whole(number) => Some(number.to_string()),
        Quantity::Part(number) => Some(number.to_string()),
        Quantity::Other(_) => None,
    };
    Ok(all.into_iter().filter_map(|(name, quantity)| Some((name, text(quantity)?))).collect())
}

/// A text that may not be kept, so it is not copied before that is known.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Text<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// Object metadata, without parts that no check reads (`managedFields`, the last-applied configuration).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// Object name.
    pub name: String,
    /// Namespace; empty for cluster-scoped objects.
    #[serde(deserialize_with = "nullable")]
    pub namespace: Word,
    /// Unique id by the API server.
    #[serde(deserialize_with = "nullable")]
    pub uid: Uid,
    #[serde(deserialize_with = "nullable")]
    pub labels: Shared<Texts>,
    /// Annotations whose key may be meant for Linkerd (see [`may_be_linkerds`]) or names the object's manager.
    #[serde(deserialize_with = "linkerd_annotations")]
    pub annotations: Shared<Texts>,
    /// Number of the version of the spec, from 1 on; 0 if unknown. The API server raises it with each change
    /// of the spec.
    #[serde(deserialize_with = "nullable")]
    pub generation: i64,
    /// Creation time.
    pub creation_timestamp: Time,
    /// Set while it is being deleted.
    pub deletion_timestamp: Time,
    #[serde(deserialize_with = "owners")]
    pub owner_references: Shared<Vec<OwnerReference>>,
}

parts!(Vec<OwnerReference>);

/// One owner of an object.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's apiVersion.
    pub api_version: Word,
    /// The owner's kind.
    pub kind: Word,
    /// The owner's name.
    pub name: String,
    /// Whether it is the managing controller.
    pub controller: Option<bool>,
}

impl Meta {
    /// Whether the object certainly or possibly has the spec that it was created with: it was not seen to change.
    pub fn is_unchanged(&self) -> bool {
        self.generation <= 1
    }

    /// See [`super::Object::share`].
    pub(super) fn share(&mut self, before: &Meta) {
        self.labels.share(&before.labels);
        self.annotations.share(&before.annotations);
        self.owner_references.share(&before.owner_references);
    }

    /// Namespace and name.
    pub fn key(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }

    /// The object as findings name it: `Service shop/web`. Only for kinds with a namespace.
    pub fn described(&self, kind: &str) -> String {
        format!("{kind} {}/{}", self.namespace, self.name)
    }

    /// Reason why these are not valid names of an object.
    pub(super) fn refused(&self, rule: NameRule) -> Option<String> {
        names::refused(rule, &self.namespace, &self.name)
    }

    /// The managing owner, or else the only one.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references
            .iter()
            .find(|owner| owner.controller == Some(true))
            .or_else(|| (self.owner_references.len() == 1).then(|| &self.owner_references[0]))
    }

    /// The owner of its pod, in a namespace; see [`Owner`].
    pub(super) fn owner(&self, namespace: &str) -> Owner {
        let keys = self.labels.keys().chain(self.annotations.keys()).map(Word::as_str);
        Owner::from_labels(|label| self.label(label), keys, namespace)
    }

    /// The value of an annotation.
    #[inline]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }

    /// The value of a label.
    #[inline]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }
}

fn linkerd_annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Shared<Texts>, D::Error> {
    struct Kept;
    impl<'de> serde::de::Visitor<'de> for Kept {
        type Value = Texts;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("annotations: a map of text to text")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Texts::default())
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(Texts::default())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_map(self)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut kept: Vec<(Word, String)> = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                if may_be_linkerds(&key) || MANAGERS.contains(&key.as_str()) || OTHERS.contains(&key.as_str()) {
                    kept.push((Word::from(key), map.next_value()?));
                } else if SNIPPETS.contains(&key.as_str()) || is_hook(&key) {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    kept.push((Word::from(key), "set".to_owned()));
                } else {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            Ok(kept.into_iter().collect())
        }
    }
    deserializer.deserialize_option(Kept).map(Shared::from)
}

/// Whether an annotation has the command of a hook, which can contain anything.
fn is_hook(key: &str) -> bool {
    VELERO_HOOKS.iter().any(|(command, _)| *command == key)
}

schemas! {
    META "ObjectMeta" {
        1 name: Text,
        3 namespace: Text,
        5 uid: Text,
        7 generation: Number,
        8 creationTimestamp: Time,
        9 deletionTimestamp: Time,
        11 labels: Map,
        12 annotations: Map,
        13 ownerReferences: Many(&OWNER_REFERENCE),
    }

    OWNER_REFERENCE "OwnerReference" {
        1 kind: Text,
        3 name: Text,
        5 apiVersion: Text,
        6 controller: Bool,
    }
}
