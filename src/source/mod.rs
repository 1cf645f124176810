//! Where evidence comes from. A [`Source`] answers one [`Request`] at a time, object by object, and ends with an
//! outcome; it never decides what the answer means. Expected trouble (403, time-out, a broken file) is a value here.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::item::{Item, Kind, Probe};
use crate::model::node::NodeFiles;
use crate::protobuf::Message;

pub mod archive;
pub mod bundle;
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
pub mod spool;

/// An [`Item`] with its namespace filled in: what a source is really asked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// What is asked for.
    pub item: Item,
    /// The namespace of a named, namespaced object, or the one that access is asked for.
    pub namespace: Option<String>,
}

impl Request {
    /// A list or another item that needs no namespace.
    pub fn of(item: Item) -> Request {
        Request { item, namespace: None }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.item, &self.namespace) {
            (Item::Named { kind, name, .. }, Some(namespace)) => {
                write!(f, "{} {namespace}/{name}", kind.resource())
            }
            (Item::Named { kind, name, .. }, None) => write!(f, "{} {name}", kind.resource()),
            (Item::Probe(Probe { program, pod }), Some(namespace)) => {
                write!(f, "answer of {} in pod {namespace}/{pod}", program.name())
            }
            (Item::Probe(Probe { program, .. }), None) => write!(f, "answer of {}", program.name()),
            (Item::Access(access), Some(namespace)) => {
                write!(f, "permission to {} {} in {namespace}", access.verb, access.resource)
            }
            (Item::Access(access), None) => write!(f, "permission to {} {}", access.verb, access.resource),
            (Item::Served(server), Some(namespace)) => {
                write!(f, "the certificates that linkerd-{server} in {namespace} serves")
            }
            (item, _) => write!(f, "{item}"),
        }
    }
}

/// Why evidence is not there, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Why {
    /// The API server said 403.
    Denied {
        /// The server's own message.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// The API server does not serve the kind.
    NotServed,
    /// The dump or bundle does not hold it, which says nothing about the cluster.
    NotCaptured,
    /// The dump holds some, and nobody said that these are all.
    PerhapsMore,
    /// Nobody provided this kind of evidence, and nobody had to (node snapshots, the operator's CLI).
    NotOffered,
    /// No answer in time.
    TimedOut {
        /// How long was waited, in seconds.
        seconds: u64,
    },
    /// It came, and could not be read.
    Malformed {
        /// Where and what: `bundle.json:12: expected value`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// Any other failure of the asking: connection reset, HTTP 500 after retries.
    Failed {
        /// What happened.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
}

impl Why {
    /// Whether somebody asked for this evidence and it could not be had. Evidence that nobody provided is listed
    /// under coverage and changes no exit status.
    pub fn was_asked_for(&self) -> bool {
        match self {
            Why::NotOffered => false,
            Why::Denied { .. }
            | Why::NotServed
            | Why::NotCaptured
            | Why::PerhapsMore
            | Why::TimedOut { .. }
            | Why::Malformed { .. }
            | Why::Failed { .. } => true,
        }
    }

    /// The stable word for it in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Denied { .. } => "denied",
            Why::NotServed => "not-served",
            Why::NotCaptured => "not-captured",
            Why::PerhapsMore => "perhaps-more",
            Why::NotOffered => "not-offered",
            Why::TimedOut { .. } => "timed-out",
            Why::Malformed { .. } => "malformed",
            Why::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Denied { message } if message.is_empty() => f.write_str("denied"),
            Why::Denied { message } => write!(f, "denied: {message}"),
            Why::NotServed => f.write_str("the API server does not serve this kind"),
            Why::NotCaptured => f.write_str("not provided"),
            Why::PerhapsMore => f.write_str("the dump holds some, perhaps not all"),
            Why::NotOffered => f.write_str("not provided"),
            Why::TimedOut { seconds } => write!(f, "no answer within {seconds} s"),
            Why::Malformed { message } => write!(f, "could not be read: {message}"),
            Why::Failed { message } => f.write_str(message),
        }
    }
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Fetched {
    /// All of it is here. A named object that does not exist is complete too: nothing, and that is known.
    Complete,
    /// Some of it is here; the reasons say what is not.
    Partial {
        /// At least one.
        reasons: Vec<Why>,
    },
    /// None of it is here.
    Missing {
        /// Why not.
        reason: Why,
    },
}

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
}

impl Uncollected {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty() && !self.complete
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
