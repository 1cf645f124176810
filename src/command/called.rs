//! The name by which this program was called, in which every command of it is rendered. It is set once, before anything is
//! printed.

use std::sync::OnceLock;

/// The name by which this program was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Called {
    /// `meshdoctor`.
    #[default]
    Own,
    /// `linkerd meshdoctor`.
    Linkerd,
    /// `kubectl meshdoctor`.
    Kubectl,
}

static CALLED: OnceLock<Called> = OnceLock::new();

impl Called {
    /// The words to type.
    pub fn words(self) -> &'static str {
        match self {
            Called::Own => "meshdoctor",
            Called::Linkerd => "linkerd meshdoctor",
            Called::Kubectl => "kubectl meshdoctor",
        }
    }

    /// Keeps the name for the rest of the process; the first one stays.
    pub fn keep(self) {
        _ = CALLED.set(self);
    }

    /// The name that was kept.
    pub fn current() -> Called {
        CALLED.get().copied().unwrap_or_default()
    }
}

/// A command of this program in a sentence, as it is typed: `own("list")`.
pub fn own(words: &'static str) -> String {
    super::meshdoctor().words(words).to_string()
}
