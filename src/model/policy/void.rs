//! Kinds that a release does not read at all, because one object of the cluster cannot be read.

use crate::objects::Kind;

/// The kinds that have no effect as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Void {
    /// Whether the release leaves a kind unread if one object of it cannot be read.
    voids: bool,
    kinds: Vec<Kind>,
}

impl Void {
    /// Starts empty, for a release that leaves whole kinds unread or not.
    pub(super) fn new(voids: bool) -> Void {
        Void { voids, kinds: Vec::new() }
    }

    /// Notes an unreadable object of a kind. Returns whether the whole kind has no effect.
    pub(super) fn broken(&mut self, kind: Kind) -> bool {
        if self.voids && !self.holds(kind) {
            self.kinds.push(kind);
        }
        self.voids
    }

    /// Whether a kind is not read at all.
    pub(super) fn holds(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The kinds that are not read at all.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }
}
