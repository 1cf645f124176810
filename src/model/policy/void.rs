//! Kinds of which a release reads nothing, because one object of the cluster cannot be read.

use crate::objects::Kind;

/// What of the kinds counts for nothing as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Void {
    /// Whether the release leaves a kind unread where one object of it cannot be read.
    voids: bool,
    kinds: Vec<Kind>,
}

impl Void {
    /// Nothing yet, by a release that leaves whole kinds unread or does not.
    pub(super) fn new(voids: bool) -> Void {
        Void { voids, kinds: Vec::new() }
    }

    /// Notes that an object of a kind cannot be read; whether all of the kind counts for nothing then.
    pub(super) fn broken(&mut self, kind: Kind) -> bool {
        if self.voids && !self.holds(kind) {
            self.kinds.push(kind);
        }
        self.voids
    }

    /// Whether nothing of a kind is read.
    pub(super) fn holds(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The kinds of which nothing is read.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }
}
