//! The manifest of a bundle.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::{Rerun, RerunOptions};
use crate::fetched::Fetched;
use crate::item::{Item, Namespaces};
use crate::request::Request;
use crate::source::Uncollected;

/// File name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The schema tag of this version.
pub const SCHEMA: &str = "meshdoctor.bundle/1";
/// Common prefix of the schema tags of all versions.
const FAMILY: &str = "meshdoctor.bundle/";
/// Maximum size of a manifest, in bytes.
pub const MAX_MANIFEST: u64 = 16 << 20;

/// The manifest of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// Time of the evidence, if known; a report judges at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
    #[serde(default)]
    pub cluster: ClusterRecord,
    /// Namespaces of the control plane and of linkerd-cni.
    pub namespaces: NamespacesRecord,
    /// Response of the API server's `/version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_version: Option<serde_json::Value>,
    /// Version of the operator's `linkerd` command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_version: Option<String>,
    /// Extension commands on PATH, if the command was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_extensions: Option<Vec<String>>,
    /// Every requested item.
    pub items: Vec<ItemRecord>,
    /// Evidence that was read but left out because no finding needs it (tickets only).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Every node with evidence.
    #[serde(default)]
    pub nodes: Vec<NodeRecord>,
    /// Kinds that no check reads, as far as the evidence contained them.
    #[serde(default, skip_serializing_if = "Uncollected::is_empty")]
    pub uncollected: Uncollected,
    /// Result of the redaction.
    #[serde(default)]
    pub redaction: RedactionRecord,
    /// Options to request the same evidence again.
    #[serde(default)]
    pub rerun: Rerun,
    /// Tickets only: the options of the run, if they were not the defaults; a rerun applies them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<RerunOptions>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `meshdoctor`.
    pub name: String,
    pub version: String,
}

/// Identity of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterRecord {
    /// Kubeconfig context, or another name that the operator uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Uid of the namespace `kube-system`, which identifies the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// See [`Namespaces`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespacesRecord {
    /// Namespace of the control plane.
    pub control_plane: String,
    /// Namespace of the CNI plugin.
    pub cni: String,
}

impl From<&Namespaces> for NamespacesRecord {
    fn from(namespaces: &Namespaces) -> Self {
        NamespacesRecord { control_plane: namespaces.control_plane.clone(), cni: namespaces.cni.clone() }
    }
}

/// A requested item, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// As in cards: `pods`, `configmaps/control-plane/linkerd-config`.
    pub item: String,
    /// Namespace of a named object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The outcome.
    #[serde(flatten)]
    pub fetched: Fetched,
    /// Number of objects.
    #[serde(default)]
    pub objects: usize,
    /// Their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// An item that was read and left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// As in cards.
    pub item: String,
    /// Namespace of a named object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Number of objects.
    #[serde(default)]
    pub objects: usize,
}

/// A node with evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Its name.
    pub node: String,
    /// Folder of its files.
    pub folder: String,
    /// Number of files.
    pub files: usize,
}

/// Result of the redaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionRecord {
    /// Number of objects and node files with replaced or dropped values.
    pub touched: usize,
}

impl Manifest {
    /// Reads a manifest; `None` if the text is not a manifest of a bundle.
    ///
    /// # Errors
    /// It is a manifest, but damaged or of a newer version.
    pub fn parse(text: &[u8]) -> Option<Result<Manifest, String>> {
        #[derive(Deserialize)]
        struct Tag {
            schema: String,
        }
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let Ok(tag) = serde_json::from_slice::<Tag>(text) else {
            // If it is cut off or damaged, it can still be recognized.
            let ours = text.windows(FAMILY.len()).any(|window| window == FAMILY.as_bytes());
            let error = serde_json::from_slice::<serde::de::IgnoredAny>(text).err();
            return ours.then(|| Err(error.map_or_else(|| "it has no schema".to_owned(), |e| e.to_string())));
        };
        let version = tag.schema.strip_prefix(FAMILY)?;
        if tag.schema != SCHEMA {
            return Some(Err(format!(
                "the bundle has format {version}, but this version of meshdoctor reads only format 1: use a \
                 newer meshdoctor"
            )));
        }
        Some(serde_json::from_slice(text).map_err(|error| error.to_string()))
    }
}

/// Folder of an item's files.
pub fn folder(item: &Item) -> Option<String> {
    if let Some(asked) = item.query() {
        return match item {
            Item::Logs | Item::Diagnostics => Some(item.to_string()),
            _ => Some(asked.bundle_path()?.0),
        };
    }
    let info = item.kind()?.info();
    let group = if info.group.is_empty() { "core" } else { info.group };
    Some(format!("cluster/{group}/{}/{}", info.version, info.plural))
}

/// File of an object that was requested by name, or of a response that is one object.
pub fn named_file(request: &Request) -> Option<String> {
    let place = request.namespace.as_deref();
    let (place, name) = match &request.item {
        Item::Named { name, .. } => (place.unwrap_or("named"), name.clone()),
        Item::Served(server) => (place.unwrap_or("named"), server.name().to_owned()),
        item => (place.unwrap_or("cluster"), item.query()?.bundle_path()?.1),
    };
    Some(format!("{}/{}/{}.json", folder(&request.item)?, segment(place), segment(&name)))
}

/// A name as one part of a path: characters other than letters, digits, `-`, `_` and `.` become `%XX`.
pub fn segment(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.bytes().all(plain) && name.bytes().any(|byte| byte != b'.') {
        return Cow::Borrowed(name);
    }
    let mut escaped = String::new();
    for byte in name.bytes() {
        if plain(byte) && byte != b'.' {
            escaped.push(char::from(byte));
        } else {
            _ = write!(escaped, "%{byte:02X}");
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_one_part_of_a_path() {
        assert_eq!(segment("linkerd-config"), "linkerd-config");
        assert_eq!(segment("system:node"), "system%3Anode");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("a/b"), "a%2Fb");
        assert_eq!(segment(""), "");
    }

    #[test]
    fn other_and_newer_manifests_are_rejected() {
        assert!(Manifest::parse(b"{\"name\":\"app\",\"schema\":\"https://x/y\"}").is_none());
        assert!(Manifest::parse(b"no json").is_none());
        let newer = Manifest::parse(b"{\"schema\":\"meshdoctor.bundle/2\"}").unwrap().unwrap_err();
        assert!(newer.contains("format 2"), "{newer}");
        let cut = Manifest::parse(b"{\"schema\":\"meshdoctor.bundle/1\",\"tool\"").unwrap().unwrap_err();
        assert!(cut.contains("EOF"), "{cut}");
    }
}
