//! The name under which this program runs, used in all printed commands. Set once, before anything is printed.

use std::sync::OnceLock;

/// The name under which this program runs.
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

    /// Sets the name for the process; the first call wins.
    pub fn keep(self) {
        _ = CALLED.set(self);
    }

    /// The current name.
    pub fn current() -> Called {
        CALLED.get().copied().unwrap_or_default()
    }
}

/// A command of this program for a sentence, as typed: `own("list")`.
pub fn own(words: &'static str) -> String {
    super::meshdoctor().words(words).to_string()
}
