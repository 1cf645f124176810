//! Cuts the body of a list into its items as the bytes come, so that no page is ever held as one text and one broken
//! object spoils only itself.

use serde::Deserialize;

mod json;
mod messages;

use json::Json;
use messages::Messages;

/// No Kubernetes object comes near this; what is larger is no list of objects.
const LARGEST_VALUE: usize = 64 * 1024 * 1024;

/// Takes the parts of a list, in the order in which the server wrote it.
pub(super) trait ElementSink {
    /// The list's own metadata.
    fn head(&mut self, head: Head);
    /// The item that begins `text`, which may go on behind it or break off within it: its length, once it is taken.
    /// `None`: it comes again, as [`ElementSink::item`].
    fn begun(&mut self, text: &str) -> Option<usize>;
    /// A whole item.
    fn item(&mut self, text: &[u8]);
    /// A whole item in protobuf; false where nobody can read it.
    fn message(&mut self, bytes: &[u8]) -> bool;
}

/// What a list says of itself.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    /// The token that gets the next page; `None` on the last one.
    #[serde(rename = "continue")]
    pub(super) next: Option<String>,
}

/// Why a body is no list. Never quotes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAList {
    #[error("the answer is no JSON (it begins like {0})")]
    NoJson(&'static str),
    #[error("the answer is broken JSON, at byte {0}")]
    Broken(u64),
    #[error("the answer ends in the middle, at byte {0}")]
    Truncated(u64),
    #[error("the answer is JSON, but no Kubernetes list")]
    NoItems,
    #[error("the answer is broken protobuf, at byte {0}")]
    BrokenMessage(u64),
    #[error("the answer is protobuf, but no {0}List")]
    OtherList(&'static str),
    #[error("one value in the answer is larger than {} MB", LARGEST_VALUE / (1024 * 1024))]
    TooLarge,
}

/// The cutter. Feed it with [`Splitter::push`], end with [`Splitter::finish`].
pub(super) enum Splitter {
    Json(Json),
    Messages(Messages),
}

impl Splitter {
    /// For a list in JSON.
    pub(super) fn json() -> Splitter {
        Splitter::Json(Json::new())
    }

    /// For a list in protobuf, of objects of that kind.
    pub(super) fn messages(kind: &'static str) -> Splitter {
        Splitter::Messages(Messages::new(kind))
    }

    /// Takes more of the body; hands on what became whole.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut impl ElementSink) -> Result<(), NotAList> {
        match self {
            Splitter::Json(json) => json.push(bytes, sink),
            Splitter::Messages(messages) => messages.push(bytes, sink),
        }
    }

    /// The body is over.
    pub(super) fn finish(self, sink: &mut impl ElementSink) -> Result<(), NotAList> {
        match self {
            Splitter::Json(json) => json.finish(sink),
            Splitter::Messages(messages) => messages.finish(),
        }
    }
}
