//! Kinds that a release does not read at all, because one object of the cluster cannot be read.

use jiff::Timestamp;

use crate::objects::{Kind, Meta};

/// The kinds that have no effect as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Void {
    /// Whether the release leaves a kind unread if one object of it cannot be read.
    voids: bool,
    /// When the controller started. It keeps what it read of a kind if an object becomes unreadable later.
    started: Option<Timestamp>,
    kinds: Vec<Kind>,
    later: Vec<Kind>,
}

impl Void {
    /// Starts empty, for a release that leaves whole kinds unread or not, and a controller that started then.
    pub(super) fn new(voids: bool, started: Option<Timestamp>) -> Void {
        Void { voids, started, ..Void::default() }
    }

    /// Notes an unreadable object of a kind. Returns whether the whole kind has no effect.
    pub(super) fn broken(&mut self, kind: Kind, meta: &Meta) -> bool {
        if !self.voids {
            return false;
        }
        let created = meta.creation_timestamp.get();
        let is_newer = created.zip(self.started).is_some_and(|(created, started)| created >= started);
        let is_later = self.started.is_some() && (is_newer || !meta.is_unchanged());
        let kinds = if is_later { &mut self.later } else { &mut self.kinds };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        !is_later
    }

    /// Notes that an object of a kind is unreadable for a controller that starts now.
    pub(super) fn broken_at_start(&mut self, kind: Kind) {
        if self.voids && !self.holds(kind) {
            self.kinds.push(kind);
        }
    }

    /// Whether a kind is not read at all.
    pub(super) fn holds(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The kinds that are not read at all.
    pub(super) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The kinds that will not be read at all after the next start of the controller.
    pub(super) fn later(&self) -> impl Iterator<Item = Kind> {
        self.later.iter().copied().filter(|kind| !self.kinds.contains(kind))
    }
}
