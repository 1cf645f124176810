//! Objects of a list, until it is known what it is a list of.

use super::Age;
use super::aside::Unfit;

/// An object of a list whose own kind may still come.
pub(super) struct Waiting {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) uid: Option<String>,
    pub(super) age: Age,
    pub(super) blob: usize,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) line: Line,
    /// A Secret whose values the tool that wrote it has hidden.
    pub(super) hidden: bool,
    /// What keeps it from being filed.
    pub(super) unfit: Option<Unfit>,
    /// Of manifests: what it says, as a number that tells it from others.
    pub(super) content: Option<u64>,
}

/// The place of an object in its file, for a message.
#[derive(Clone, Copy)]
pub(super) enum Line {
    /// Counted already.
    Is(u64),
    /// To be counted, if a message needs it.
    Of(u64),
}

impl Line {
    /// Grows from the beginning of a file to its end.
    pub(super) fn place(self) -> u64 {
        match self {
            Line::Is(place) | Line::Of(place) => place,
        }
    }
}
