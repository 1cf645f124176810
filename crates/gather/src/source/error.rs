//! Errors that prevent any use of the given evidence. Smaller problems are outcomes of a [`super::Source`].

use std::io;

/// No evidence could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A path cannot be opened.
    #[error("{path}: {error}")]
    Open {
        /// Path, as given.
        path: String,
        /// Error of the system.
        error: io::Error,
    },
    /// Something was read, but it contains no evidence.
    #[error("{}", with_path(.path, .reason))]
    Unreadable {
        /// Path, as given.
        path: String,
        /// The reason, with its position and the next step.
        reason: String,
    },
    /// Two dumps are from different clusters.
    #[error(
        "{first} and {second} are from different clusters: the uid of the namespace kube-system differs; \
         check one cluster at a time, or put the bundles into a folder for --bundles"
    )]
    TwoClusters {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// The arguments contradict each other.
    #[error("{0}")]
    Usage(String),
}

/// A reason prefixed with its path, unless it starts with a position in that file.
fn with_path(path: &str, reason: &str) -> String {
    match reason.strip_prefix(path).is_some_and(|rest| rest.starts_with(':')) {
        true => reason.to_owned(),
        false => format!("{path}: {reason}"),
    }
}

impl LoadError {
    /// Whether the command line is wrong rather than the evidence: exit status 2 instead of 3.
    pub fn is_usage(&self) -> bool {
        match self {
            LoadError::TwoClusters { .. } | LoadError::Usage(_) => true,
            // The same rule for every flag: a path that does not exist is a mistake on the command line.
            LoadError::Open { error, .. } => error.kind() == io::ErrorKind::NotFound,
            LoadError::Unreadable { .. } => false,
        }
    }
}
