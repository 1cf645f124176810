//! Why evidence that was offered cannot be used at all. Anything less is an answer of a [`super::Source`].

use std::io;

/// No evidence could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A path cannot be opened.
    #[error("{path}: {error}")]
    Open {
        /// The path as it was given.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// Something was read, and nothing in it is evidence.
    #[error("{}", with_path(.path, .reason))]
    Unreadable {
        /// The path as it was given.
        path: String,
        /// Why, with the place in it and what would help.
        reason: String,
    },
    /// Two dumps are of two clusters.
    #[error(
        "{first} and {second} are of two clusters: the uid of the namespace kube-system differs; give one cluster at a time"
    )]
    TwoClusters {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// The arguments cannot be meant like this.
    #[error("{0}")]
    Usage(String),
}

/// A reason behind its path, unless it begins with a place in that file.
fn with_path(path: &str, reason: &str) -> String {
    match reason.strip_prefix(path).is_some_and(|rest| rest.starts_with(':')) {
        true => reason.to_owned(),
        false => format!("{path}: {reason}"),
    }
}

impl LoadError {
    /// Whether the invocation is wrong, rather than the evidence: exit status 2 instead of 3.
    pub fn is_usage(&self) -> bool {
        match self {
            LoadError::TwoClusters { .. } | LoadError::Usage(_) => true,
            LoadError::Open { .. } | LoadError::Unreadable { .. } => false,
        }
    }
}
