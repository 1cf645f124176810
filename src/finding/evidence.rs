//! What proves a finding, and where it was seen.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where a piece of evidence was seen.
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
        /// The node.
        node: String,
        /// The file's path on the node.
        file: String,
        /// JSON path, where the file is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Line, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// Column, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        column: Option<u32>,
    },
    /// An Event.
    Event {
        /// What it is about: `Pod shop/web-5d9f`.
        object: String,
        /// Its reason.
        reason: String,
        /// How often it was seen.
        count: u32,
        /// When it was last seen.
        #[serde(skip_serializing_if = "Option::is_none")]
        last: Option<Timestamp>,
    },
    /// Something else that is named: `linkerd CLI`, `API server /version`, `node ip-10-0-1-12`.
    Other {
        /// Its name.
        name: String,
    },
}

/// An observed fact, quoted, with where it was seen.
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
}
