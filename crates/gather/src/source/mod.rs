//! Sources of evidence. A [`Source`] answers one [`Request`] at a time, object by object, and ends with an outcome; it
//! does not interpret objects. Expected problems (403, timeout, a broken file) are values here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fetched::Fetched;
use crate::item::Kind;
use crate::node_files::NodeFiles;
use crate::protobuf::Message;
use crate::request::Request;

pub mod bounded_errors;
pub mod bundle;
pub mod change;
pub mod diagnostics;
pub mod dump;
pub mod error;
pub mod evidence;
pub mod folder;
pub mod json;
pub mod kept;
pub mod layered;
#[cfg(feature = "live")]
pub mod live;
pub mod logs;
pub mod memory;
pub mod nodes;

/// Origin of a report's evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// `live`, `bundle`, `dump`, `nodes`, `demo` or `case`.
    pub kind: String,
    /// Context, path or name.
    pub name: String,
}

/// Receives the objects of one request as they arrive.
pub trait ObjectSink: Send {
    /// One object, as JSON text. A broken one is recorded; the rest continues.
    fn object(&mut self, json: &[u8]);
    /// The object at the start of `text`, which may be longer or incomplete: returns its length if it was consumed.
    /// `None`: it must be passed to [`ObjectSink::object`] when its end is known. Decoding while reading avoids the
    /// search for that end.
    fn begun(&mut self, _text: &str) -> Option<usize> {
        None
    }
    /// Whether objects of kinds with a [`crate::protobuf::schema`] may come in protobuf.
    fn takes_messages(&self) -> bool {
        false
    }
    /// One object in protobuf, like [`ObjectSink::object`]; false if it is not accepted
    /// ([`ObjectSink::takes_messages`]).
    fn message(&mut self, _message: Message<'_>) -> bool {
        false
    }
    /// The evidence of one node, not yet redacted.
    fn node(&mut self, files: NodeFiles);
    /// Discards everything since the start of this request: the source restarts (HTTP 410).
    fn restart(&mut self);
}

/// Objects of kinds that no check reads ([`crate::knowledge::UnreadKinds`]), for the report's list of unchecked kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncollected {
    /// Number of objects of each, by resource: `servers.policy.linkerd.io`.
    #[serde(default)]
    pub held: BTreeMap<String, usize>,
    /// Whether the cluster has no others.
    #[serde(default)]
    pub complete: bool,
    /// Descriptions of manifests that cannot be applied as they are and were not read, such as unrendered templates.
    #[serde(skip)]
    pub set_aside: Vec<String>,
    /// Files of manifests that could not be read, or not in full, each with position and error.
    #[serde(skip)]
    pub unreadable: Vec<String>,
}

impl Uncollected {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && !self.complete && self.set_aside.is_empty() && self.unreadable.is_empty()
    }
}

/// Answers requests with the available evidence, without interpretation.
pub trait Source: Sync {
    /// For the report's `origin`.
    fn origin(&self) -> Origin;

    /// Answers one request. `ServerVersion` yields one object (that of `/version`), `CliVersion` one object
    /// (`{"version": "...", "extensions": ["linkerd-NAME"]}`), `Access` the answered SelfSubjectAccessReview,
    /// `NodeFiles` one [`ObjectSink::node`] per node, `Logs` one [`crate::model::log::LogObject`] per log.
    fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> impl Future<Output = Fetched> + Send;

    /// Time of the evidence, if the source has its own.
    fn captured_at(&self) -> Option<jiff::Timestamp> {
        None
    }

    /// Objects that no check reads, if known.
    fn uncollected(&self) -> Uncollected {
        Uncollected::default()
    }

    /// Number of objects and files that were redacted earlier, according to a bundle.
    fn already_redacted(&self) -> usize {
        0
    }
}

/// The kinds that a dump lists completely, according to `--complete`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Completeness {
    /// Not declared: missing objects are unknown.
    #[default]
    Unstated,
    /// These kinds are listed completely.
    Kinds(std::collections::BTreeSet<Kind>),
    /// Every kind is.
    All,
}

impl Completeness {
    /// Whether every object of the kind is in the dump.
    pub fn covers(&self, kind: Kind) -> bool {
        match self {
            Completeness::Unstated => false,
            Completeness::Kinds(kinds) => kinds.contains(&kind),
            Completeness::All => true,
        }
    }
}
