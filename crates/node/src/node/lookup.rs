//! The three possible answers of a snapshot about one object on a node.

/// Found, searched and absent, or not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked<T> {
    Found(T),
    /// Searched and absent.
    Absent,
    /// Not searched, so unknown. Names the missing evidence.
    NotLookedFor(&'static str),
}

impl<T> Looked<T> {
    /// The object, if found.
    pub fn found(self) -> Option<T> {
        match self {
            Looked::Found(thing) => Some(thing),
            Looked::Absent | Looked::NotLookedFor(_) => None,
        }
    }

    /// Whether it is known to be absent, as opposed to not found.
    pub fn is_absent(&self) -> bool {
        matches!(self, Looked::Absent)
    }
}
