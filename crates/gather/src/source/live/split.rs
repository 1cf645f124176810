//! Splits the body of a list into items as bytes arrive, so that no page is held in memory and a broken object affects
//! only itself.

use serde::Deserialize;

mod json;
mod messages;

use json::Json;
use messages::Messages;

/// Maximum size of a value; no Kubernetes object comes near it.
const LARGEST_VALUE: usize = 64 * 1024 * 1024;

/// Receives the parts of a list, in order.
pub(super) trait ElementSink {
    /// The list's metadata.
    fn head(&mut self, head: Head);
    /// The item at the start of `text`, which may be longer or incomplete: returns its length if it was consumed.
    /// `None`: it is passed again to [`ElementSink::item`].
    fn begun(&mut self, text: &str) -> Option<usize>;
    /// A complete item.
    fn item(&mut self, text: &[u8]);
    /// A complete item in protobuf; false if it cannot be decoded.
    fn message(&mut self, bytes: &[u8]) -> bool;
}

/// Metadata of a list.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    /// Token for the next page; `None` on the last one.
    #[serde(rename = "continue")]
    pub(super) next: Option<String>,
    /// Number of objects after this page, if the server states it.
    #[serde(rename = "remainingItemCount")]
    pub(super) remaining: Option<i64>,
}

/// Reason why a body is not a list. Never quotes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAList {
    #[error("the response is an HTML page")]
    Html,
    #[error("the response is not JSON (it begins like {0})")]
    NoJson(&'static str),
    #[error("the response is invalid JSON, at byte {0}")]
    Broken(u64),
    #[error("the response is truncated at byte {0}")]
    Truncated(u64),
    #[error("the response is JSON, but not a Kubernetes list")]
    NoItems,
    #[error("the response is invalid protobuf, at byte {0}")]
    BrokenMessage(u64),
    #[error("the response is protobuf, but not a {0}List")]
    OtherList(&'static str),
    #[error("one value in the response is larger than {} MB", LARGEST_VALUE / (1024 * 1024))]
    TooLarge,
}

/// The splitter. Feed it with [`Splitter::push`], end with [`Splitter::finish`].
pub(super) enum Splitter {
    Json(Json),
    Messages(Messages),
}

impl Splitter {
    /// For a list in JSON.
    pub(super) fn json() -> Splitter {
        Splitter::Json(Json::new())
    }

    /// For a list in protobuf, with objects of that kind.
    pub(super) fn messages(kind: &'static str) -> Splitter {
        Splitter::Messages(Messages::new(kind))
    }

    /// Adds a part of the body; passes on complete items.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl ElementSink) -> Result<(), NotAList> {
        match self {
            Splitter::Json(json) => json.push(bytes, sink),
            Splitter::Messages(messages) => messages.push(bytes, sink),
        }
    }

    /// Ends the body.
    pub(super) fn finish(self, sink: &mut impl ElementSink) -> Result<(), NotAList> {
        match self {
            Splitter::Json(json) => json.finish(sink),
            Splitter::Messages(messages) => messages.finish(),
        }
    }
}
