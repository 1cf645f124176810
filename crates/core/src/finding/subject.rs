//! The subject of a finding: an object, a node, or another thing.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The subject of a finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum Subject {
    /// A Kubernetes object, resolved to its owner: the Deployment rather than its 40 pods.
    Object {
        kind: String,
        /// Its namespace; empty for cluster-scoped objects.
        #[serde(skip_serializing_if = "String::is_empty", default)]
        namespace: String,
        name: String,
        /// The affected pods of the object, if the finding is about pods.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        pods: Vec<String>,
    },
    /// A node, or a place on it.
    Node {
        /// The node's name.
        node: String,
        /// The file on it.
        #[serde(skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// The place in the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// The line in the file, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
    },
    /// Something that is neither: the operator's CLI, the API server, the cluster as a whole.
    Thing {
        /// Its name: `linkerd CLI`, `cluster`.
        thing: String,
    },
}

impl Subject {
    pub fn object(kind: impl fmt::Display, namespace: &str, name: &str) -> Subject {
        Subject::Object { kind: kind.to_string(), namespace: namespace.to_owned(), name: name.to_owned(), pods: vec![] }
    }

    /// A node as a whole.
    pub fn node(node: &str) -> Subject {
        Subject::Node { node: node.to_owned(), file: None, path: None, line: None }
    }

    /// A place in a file of a node.
    pub fn file(node: &str, file: &str, path: &str, line: u32) -> Subject {
        Subject::Node {
            node: node.to_owned(),
            file: Some(file.to_owned()),
            path: Some(path.to_owned()),
            line: Some(line),
        }
    }

    /// Neither object nor node.
    pub fn thing(thing: &str) -> Subject {
        Subject::Thing { thing: thing.to_owned() }
    }

    /// Whether both are about the same object, whatever its pods.
    pub fn is_same_object(&self, other: &Subject) -> bool {
        match (self, other) {
            (
                Subject::Object { kind, namespace, name, .. },
                Subject::Object { kind: other_kind, namespace: other_namespace, name: other_name, .. },
            ) => (kind, namespace, name) == (other_kind, other_namespace, other_name),
            _ => self == other,
        }
    }

    /// The namespace of the subject, or the subject itself if it is one; `None` if it is not an object.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Subject::Object { kind, name, .. } if kind == "Namespace" => Some(name),
            Subject::Object { namespace, .. } => Some(namespace),
            Subject::Node { .. } | Subject::Thing { .. } => None,
        }
    }

    /// The node of the subject, or of its file.
    pub fn node_name(&self) -> Option<&str> {
        match self {
            Subject::Node { node, .. } => Some(node),
            Subject::Object { .. } | Subject::Thing { .. } => None,
        }
    }

    /// The parts that stay equal when the same problem is found again: no pods, no lines.
    pub(super) fn stable(&self) -> String {
        match self {
            Subject::Object { kind, namespace, name, .. } => format!("object\0{kind}\0{namespace}\0{name}"),
            Subject::Node { node, file, path, .. } => {
                format!("node\0{node}\0{}\0{}", file.as_deref().unwrap_or(""), path.as_deref().unwrap_or(""))
            }
            Subject::Thing { thing } => format!("thing\0{thing}"),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Object { kind, namespace, name, .. } if namespace.is_empty() => {
                write!(f, "{kind} {name}")
            }
            Subject::Object { kind, namespace, name, .. } => write!(f, "{kind} {namespace}/{name}"),
            Subject::Node { node, file: None, .. } => write!(f, "{node}"),
            Subject::Node { node, file: Some(file), line, .. } => {
                write!(f, "{node}  {file}")?;
                line.map_or(Ok(()), |line| write!(f, ":{line}"))
            }
            Subject::Thing { thing } => f.write_str(thing),
        }
    }
}
