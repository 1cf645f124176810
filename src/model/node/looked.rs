//! The three answers a snapshot can give about one thing on a node.

/// Found, looked for and not there, or not looked for at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked<T> {
    Found(T),
    /// Looked for and not there.
    Absent,
    /// Nobody looked: neither there nor absent. Says what would have had to be captured.
    NotLookedFor(&'static str),
}

impl<T> Looked<T> {
    /// The thing, when it was found.
    pub fn found(self) -> Option<T> {
        match self {
            Looked::Found(thing) => Some(thing),
            Looked::Absent | Looked::NotLookedFor(_) => None,
        }
    }

    /// Known to be absent (not merely not found).
    pub fn is_absent(&self) -> bool {
        matches!(self, Looked::Absent)
    }
}
