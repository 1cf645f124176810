//! Facts that age.

/// The knowledge of a build.
pub struct Knowledge;

impl Knowledge {
    /// What is embedded.
    pub fn embedded() -> &'static Knowledge {
        &Knowledge
    }

    /// As of when.
    pub fn date(&self) -> &'static str {
        "2026-11-20"
    }
}
