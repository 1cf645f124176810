//! The evidence of a finding and its source.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The source of a piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "from")]
pub enum Place {
    /// A field of an object.
    Field {
        /// `Deployment shop/web`.
        object: String,
        /// `spec.template.metadata.annotations["linkerd.io/inject"]`.
        path: String,
    },
    /// A place in a file of a node.
    File {
        node: String,
        /// The file's path on the node.
        file: String,
        /// JSON path, if the file is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Line, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Column, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
    },
    Event {
        /// Its object: `Pod shop/web-5d9f`.
        object: String,
        reason: String,
        /// How often it was seen.
        count: u32,
        /// When it was last seen.
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<Timestamp>,
    },
    /// Something else that is named: `linkerd CLI`, `API server /version`, `node ip-10-0-1-12`.
    Other { name: String },
}

/// The location of an object or a field in the given manifests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ManifestLocation {
    /// `Deployment shop/web`.
    pub object: String,
    /// The field: `spec.template.metadata.annotations[linkerd.io/inject]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The file, as given.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
    /// Its column, from 1.
    pub column: u64,
    /// The template that it was rendered from, if Helm or kustomize state it: `shop/templates/web.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A quoted fact and its source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Where.
    pub place: Place,
    /// What, quoted.
    pub said: String,
}

impl Evidence {
    /// A field of an object.
    pub fn field(object: impl fmt::Display, path: impl Into<String>, said: impl Into<String>) -> Evidence {
        Evidence { place: Place::Field { object: object.to_string(), path: path.into() }, said: said.into() }
    }

    /// Something that is neither field, file nor event.
    pub fn other(name: impl Into<String>, said: impl Into<String>) -> Evidence {
        Evidence { place: Place::Other { name: name.into() }, said: said.into() }
    }

    /// Whether it is of the thing with this name.
    pub fn is_named(&self, thing: &str) -> bool {
        matches!(&self.place, Place::Other { name } if name == thing)
    }

    /// Whether it is a line of a container's log: `Pod shop/web-5d9f, log of linkerd-proxy`.
    pub fn is_line_of_log(&self) -> bool {
        matches!(&self.place, Place::Other { name } if name.starts_with("Pod ") && name.contains(", log of "))
    }
}

/// An object that a piece of evidence names, in fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    pub kind: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    pub name: String,
}

impl Reference {
    /// Parses `Deployment shop/web` or `Node ip-10-0-1-12`; `None` if the text does not name an object.
    /// Kinds contain no blank, and namespaces and names contain no slash.
    pub fn read(text: &str) -> Option<Reference> {
        let (kind, rest) = text.split_once(' ')?;
        let is_kind =
            kind.starts_with(|c: char| c.is_ascii_uppercase()) && kind.chars().all(|c| c.is_ascii_alphanumeric());
        let (namespace, name) = rest.split_once('/').unwrap_or(("", rest));
        let is_name = |text: &str| !text.is_empty() && !text.contains([' ', '/', '\n']);
        let in_place = namespace.is_empty() != rest.contains('/') && (namespace.is_empty() || is_name(namespace));
        (is_kind && in_place && is_name(name)).then(|| Reference {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_from_its_text_and_nothing_else_is() {
        let read = |text| Reference::read(text).map(|r| (r.kind, r.namespace, r.name));
        let fields =
            |kind: &str, namespace: &str, name: &str| Some((kind.to_owned(), namespace.to_owned(), name.to_owned()));
        assert_eq!(read("Deployment shop/web"), fields("Deployment", "shop", "web"));
        assert_eq!(read("ClusterRole linkerd:viz"), fields("ClusterRole", "", "linkerd:viz"));
        for text in ["linkerd CLI", "Deployment", "Deployment /web", "Deployment shop/", "Pod shop/web a", "Pod a/b/c"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
