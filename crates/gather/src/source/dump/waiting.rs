//! Objects of a list, until the kind of the list is known.

use super::Age;
use super::aside::Unfit;
use super::read_header::Rewritten;

/// An object of a list whose kind is not known yet.
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
    pub(super) line: FileLine,
    /// A Secret with hidden values.
    pub(super) hidden: bool,
    /// Reason why it is not filed.
    pub(super) unfit: Option<Unfit>,
    /// For manifests: a hash of its content.
    pub(super) content: Option<u64>,
    /// How it differs from the object in the file.
    pub(super) rewritten: Rewritten,
    /// For manifests: an object of a kind that no check reads, with parts that matter to the mesh.
    pub(super) is_of_mesh: bool,
}

/// Position of an object in its file, for messages.
#[derive(Clone, Copy)]
pub(super) enum FileLine {
    /// Already counted.
    Is(u64),
    /// Counted only if a message needs it.
    Of(u64),
}

impl FileLine {
    /// Grows from the start of a file to its end.
    pub(super) fn place(self) -> u64 {
        match self {
            FileLine::Is(place) | FileLine::Of(place) => place,
        }
    }
}
