//! The parts of an object that filing needs: kind, name, and the age of this state.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::item::Kind;
use crate::source::json::Head;

/// Fields of an object that filing needs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Peek<'a> {
    #[serde(borrow)]
    pub(super) api_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) metadata: Option<PeekMeta<'a>>,
    items: Option<IgnoredAny>,
    /// Notes of an earlier step about an object that it rewrote.
    #[serde(rename = "meshdoctor.io/rewritten")]
    pub(super) rewritten: Rewritten,
}

/// The name of [`Peek::rewritten`].
pub(super) const REWRITTEN: &str = "meshdoctor.io/rewritten";

/// The differences between an object as written in a file and as it is filed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Rewritten {
    /// The kind in the file, of an object that is filed as a Deployment.
    pub(super) of_kind: Option<String>,
    /// Annotations and labels that are not strings in the file.
    pub(super) unquoted: Vec<Unquoted>,
}

/// An annotation or label that is not a string in the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Unquoted {
    /// Its path: `metadata.annotations[a/b]`.
    pub(super) path: String,
    /// Its type in the file: `a number`.
    pub(super) sort: Cow<'static, str>,
    /// The string that its value means.
    pub(super) text: String,
}

impl Peek<'_> {
    /// `items: null` is what Go writes of an empty list.
    pub(super) fn has_no_items(&self) -> bool {
        self.items.is_none()
    }

    pub(super) fn is_nameless(&self) -> bool {
        self.name().is_empty()
    }

    pub(super) fn name(&self) -> &str {
        self.metadata.as_ref().and_then(|meta| meta.name.as_deref()).unwrap_or_default()
    }

    pub(super) fn namespace(&self) -> &str {
        self.metadata.as_ref().and_then(|meta| meta.namespace.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PeekMeta<'a> {
    #[serde(borrow)]
    pub(super) namespace: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) uid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) resource_version: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) creation_timestamp: Option<Cow<'a, str>>,
}

/// Whether a document has an API version and a kind, whatever its other fields are.
pub(super) fn is_typed(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed<'a> {
        #[serde(borrow)]
        api_version: Cow<'a, str>,
        #[serde(borrow)]
        kind: Cow<'a, str>,
    }
    serde_json::from_slice::<Typed<'_>>(json).is_ok_and(|of| !of.api_version.is_empty() && !of.kind.is_empty())
}

/// The kind of an object, from its own fields.
pub(super) fn kind_of(peek: &Peek<'_>) -> Option<Kind> {
    Kind::of_manifest(peek.api_version.as_deref()?, peek.kind.as_deref()?)
}

/// The kind of the items of a typed list: `Pod` for a `PodList`; none for a `List`.
pub(super) fn listed(head: &Head) -> Option<String> {
    head.kind.as_deref()?.strip_suffix("List").filter(|kind| !kind.is_empty()).map(str::to_owned)
}

/// The kind of an item in this list.
pub(super) fn item_kind(head: &Head, api_version: Option<&str>, kind: Option<&str>) -> Option<Kind> {
    let listed = listed(head);
    let kind = kind.filter(|kind| !kind.ends_with("List")).or(listed.as_deref())?;
    let api_version = api_version.or(head.api_version.as_deref()).unwrap_or_default();
    Kind::of_manifest(api_version, kind)
}
