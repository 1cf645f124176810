//! What a bundle says of itself.

use std::borrow::Cow;
use std::fmt::Write;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::command::{Asked, Rerun};
use crate::fetched::Fetched;
use crate::item::{Item, Namespaces};
use crate::request::Request;
use crate::source::Uncollected;

/// The name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The schema tag of this version.
pub const SCHEMA: &str = "meshdoctor.bundle/1";
/// What every version's schema tag begins with.
const FAMILY: &str = "meshdoctor.bundle/";
/// The largest manifest that is read, in bytes.
pub(crate) const MAX_MANIFEST: u64 = 16 << 20;

/// The manifest of a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// What wrote it.
    pub tool: Tool,
    /// The moment that the evidence is of, and that a report judges at.
    pub captured_at: Timestamp,
    /// Which cluster.
    #[serde(default)]
    pub cluster: ClusterRecord,
    /// Where the control plane and linkerd-cni were looked for.
    pub namespaces: NamespacesRecord,
    /// What the API server's `/version` said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_version: Option<serde_json::Value>,
    /// The version of the operator's `linkerd` command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_version: Option<String>,
    /// The commands of extensions beside it, where it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cli_extensions: Option<Vec<String>>,
    /// Every item that was asked for.
    pub items: Vec<ItemRecord>,
    /// What was read, and left out because no finding needs it: a ticket is small. Whoever judges it has not been given these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Every node with evidence.
    #[serde(default)]
    pub nodes: Vec<NodeRecord>,
    /// What the evidence held of kinds that no check reads, where that was known.
    #[serde(default, skip_serializing_if = "Uncollected::is_empty")]
    pub uncollected: Uncollected,
    /// What the border did.
    #[serde(default)]
    pub redaction: RedactionRecord,
    /// What it takes to ask the same again.
    #[serde(default)]
    pub rerun: Rerun,
    /// Of a ticket: what was asked, where that was not everything. Whoever judges it is asked the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `meshdoctor`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Which cluster was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterRecord {
    /// The kubeconfig context, or another name that the operator knows it by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The uid of the namespace `kube-system`, which tells clusters apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// See [`Namespaces`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamespacesRecord {
    /// The control plane's.
    pub control_plane: String,
    /// The CNI plugin's.
    pub cni: String,
}

impl From<&Namespaces> for NamespacesRecord {
    fn from(namespaces: &Namespaces) -> Self {
        NamespacesRecord { control_plane: namespaces.control_plane.clone(), cni: namespaces.cni.clone() }
    }
}

/// An item that was asked for, and how that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// As cards write it: `pods`, `configmaps/control-plane/linkerd-config`.
    pub item: String,
    /// The namespace that a named object was looked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// How it ended.
    #[serde(flatten)]
    pub fetched: Fetched,
    /// How many objects came.
    #[serde(default)]
    pub objects: usize,
    /// Where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// An item that was read and left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// As cards write it.
    pub item: String,
    /// The namespace that a named object was looked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// How many objects came.
    #[serde(default)]
    pub objects: usize,
}

/// A node with evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    /// Its name.
    pub node: String,
    /// The folder of its files.
    pub folder: String,
    /// How many files.
    pub files: usize,
}

/// What the border did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionRecord {
    /// Objects and node files in which something was replaced or dropped.
    pub touched: usize,
}

impl Manifest {
    /// Reads a manifest; `None` if the text is no manifest of ours at all.
    ///
    /// # Errors
    /// It is one, and cannot be read: of a newer version, or damaged.
    pub fn parse(text: &[u8]) -> Option<Result<Manifest, String>> {
        #[derive(Deserialize)]
        struct Tag {
            schema: String,
        }
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let Ok(tag) = serde_json::from_slice::<Tag>(text) else {
            // Cut off or damaged, it still shows what it was.
            let ours = text.windows(FAMILY.len()).any(|window| window == FAMILY.as_bytes());
            let error = serde_json::from_slice::<serde::de::IgnoredAny>(text).err();
            return ours
                .then(|| Err(error.map_or_else(|| "it names no schema".to_owned(), |e| e.to_string())));
        };
        let version = tag.schema.strip_prefix(FAMILY)?;
        if tag.schema != SCHEMA {
            return Some(Err(format!(
                "a bundle of format {version}, and this version of meshdoctor reads format 1: use a newer meshdoctor"
            )));
        }
        Some(serde_json::from_slice(text).map_err(|error| error.to_string()))
    }
}

/// The folder of an item's files.
pub(crate) fn folder(item: &Item) -> Option<String> {
    if let Some(asked) = item.asked() {
        return match item {
            Item::Logs | Item::Diagnostics => Some(item.to_string()),
            _ => Some(asked.kept()?.0),
        };
    }
    let info = item.kind()?.info();
    let group = if info.group.is_empty() { "core" } else { info.group };
    Some(format!("cluster/{group}/{}/{}", info.version, info.plural))
}

/// The file of an object that was asked for by name, or of an answer that is one object.
pub(crate) fn named_file(request: &Request) -> Option<String> {
    let place = request.namespace.as_deref();
    let (place, name) = match &request.item {
        Item::Named { name, .. } => (place.unwrap_or("named"), name.clone()),
        Item::Served(server) => (place.unwrap_or("named"), server.name().to_owned()),
        item => (place.unwrap_or("cluster"), item.asked()?.kept()?.1),
    };
    Some(format!("{}/{}/{}.json", folder(&request.item)?, segment(place), segment(&name)))
}

/// A name as one part of a path: what is not a letter, digit, `-`, `_` or `.` becomes `%XX`.
pub(crate) fn segment(name: &str) -> Cow<'_, str> {
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
    fn only_our_manifests_are_manifests_and_newer_ones_say_so() {
        assert!(Manifest::parse(b"{\"name\":\"app\",\"schema\":\"https://x/y\"}").is_none());
        assert!(Manifest::parse(b"no json").is_none());
        let newer = Manifest::parse(b"{\"schema\":\"meshdoctor.bundle/2\"}").unwrap().unwrap_err();
        assert!(newer.contains("format 2"), "{newer}");
        let cut = Manifest::parse(b"{\"schema\":\"meshdoctor.bundle/1\",\"tool\"").unwrap().unwrap_err();
        assert!(cut.contains("EOF"), "{cut}");
    }
}
