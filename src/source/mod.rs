//! Where evidence comes from. A [`Source`] answers one [`Request`] at a time, object by object, and ends with an
//! outcome; it never decides what the answer means. Expected trouble (403, time-out, a broken file) is a value here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fetched::Fetched;
use crate::item::Kind;
use crate::node_files::NodeFiles;
use crate::protobuf::Message;
use crate::request::Request;

pub mod bundle;
pub mod change;
pub mod diagnostics;
pub mod dump;
pub mod error;
pub mod evidence;
pub mod few;
pub mod folder;
pub mod json;
pub mod layered;
#[cfg(feature = "live")]
pub mod live;
pub mod logs;
pub mod memory;
pub mod nodes;

/// Where a report's evidence came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// `live`, `bundle`, `dump`, `nodes`, `demo` or `case`.
    pub kind: String,
    /// The context, path or name that was read.
    pub name: String,
}

/// Takes the objects of one request as they arrive.
pub trait ObjectSink: Send {
    /// One object, as JSON text. A broken one is remembered as such; the rest goes on.
    fn object(&mut self, json: &[u8]);
    /// The object that begins `text`, which may go on behind it or break off within it: its length, once it is taken in.
    /// `None`: it was not, and is to be handed to [`ObjectSink::object`] when its end is known. Who decodes while reading saves
    /// the search for that end.
    fn begun(&mut self, _text: &str) -> Option<usize> {
        None
    }
    /// Whether objects may come in protobuf, of kinds that have a [`crate::protobuf::schema`].
    fn takes_messages(&self) -> bool {
        false
    }
    /// One object in protobuf, like [`ObjectSink::object`]; false where it is not taken at all ([`ObjectSink::takes_messages`]).
    fn message(&mut self, _message: Message<'_>) -> bool {
        false
    }
    /// What was gathered on one node, not yet redacted.
    fn node(&mut self, files: NodeFiles);
    /// Everything since the start of this request is void: the source begins again (HTTP 410).
    fn restart(&mut self);
}

/// What a source holds of the kinds that no check reads ([`crate::knowledge::UnreadKinds`]): nobody asks for it, and who
/// holds it shall not be told that all of it was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uncollected {
    /// Objects of each, by resource: `servers.policy.linkerd.io`.
    #[serde(default)]
    pub held: BTreeMap<String, usize>,
    /// Whether there are no others in the cluster.
    #[serde(default)]
    pub complete: bool,
    /// What of manifests cannot be applied as it is, and was not read, in words: templates that nobody rendered.
    #[serde(skip)]
    pub set_aside: Vec<String>,
}

impl Uncollected {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && !self.complete && self.set_aside.is_empty()
    }
}

/// Answers requests. Sources answer only what they have; they keep no opinion on it.
pub trait Source: Sync {
    /// For the report's `origin`.
    fn origin(&self) -> Origin;

    /// Answers one request. `ServerVersion` yields one object (`/version`'s), `CliVersion` one object
    /// (`{"version": "...", "extensions": ["linkerd-NAME"]}`), `Access` the answered SelfSubjectAccessReview, `NodeFiles` one [`ObjectSink::node`] a node, `Logs` one [`crate::model::log::LogObject`] a log.
    fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> impl Future<Output = Fetched> + Send;

    /// When the evidence was captured, where the source knows better than the clock.
    fn captured_at(&self) -> Option<jiff::Timestamp> {
        None
    }

    /// What it holds that no check reads, where it knows.
    fn uncollected(&self) -> Uncollected {
        Uncollected::default()
    }

    /// In how many objects and files something was redacted before they came here: what a bundle says of itself.
    fn already_redacted(&self) -> usize {
        0
    }
}

/// Which of a kind's objects a foreign dump is said to list completely (`--complete`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Completeness {
    /// Nothing was said: what is there counts, what is not there is unknown.
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
