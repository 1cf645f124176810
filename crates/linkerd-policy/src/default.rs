//! The default policies of ports without a Server, which are also the access policies of Servers.

use std::fmt;
use std::str::FromStr;

/// The default policy of a port without a Server, or the access policy of a Server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefaultPolicy {
    /// `all-unauthenticated`
    AllUnauthenticated,
    /// `all-authenticated`
    AllAuthenticated,
    /// `cluster-unauthenticated`
    ClusterUnauthenticated,
    /// `cluster-authenticated`
    ClusterAuthenticated,
    /// `deny`
    Deny,
    /// `audit`
    Audit,
}

/// Every default policy, with its name.
const WORDS: [(&str, DefaultPolicy); 6] = [
    ("all-unauthenticated", DefaultPolicy::AllUnauthenticated),
    ("all-authenticated", DefaultPolicy::AllAuthenticated),
    ("cluster-unauthenticated", DefaultPolicy::ClusterUnauthenticated),
    ("cluster-authenticated", DefaultPolicy::ClusterAuthenticated),
    ("deny", DefaultPolicy::Deny),
    ("audit", DefaultPolicy::Audit),
];

impl DefaultPolicy {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        WORDS.iter().find(|(_, policy)| *policy == self).map_or("", |(word, _)| word)
    }

    /// The same policy limited to meshed clients; `deny` and `audit` are unchanged.
    pub fn authenticated(self) -> DefaultPolicy {
        match self {
            DefaultPolicy::AllUnauthenticated => DefaultPolicy::AllAuthenticated,
            DefaultPolicy::ClusterUnauthenticated => DefaultPolicy::ClusterAuthenticated,
            other => other,
        }
    }

    /// Whether it allows only meshed clients.
    pub fn is_authenticated(self) -> bool {
        matches!(self, DefaultPolicy::AllAuthenticated | DefaultPolicy::ClusterAuthenticated)
    }

    /// Whether it allows only clients of the cluster's networks.
    pub fn is_cluster_only(self) -> bool {
        matches!(self, DefaultPolicy::ClusterUnauthenticated | DefaultPolicy::ClusterAuthenticated)
    }
}

/// A name that is not a default policy. It must match exactly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a default policy")]
pub struct NoDefaultPolicy(pub String);

impl FromStr for DefaultPolicy {
    type Err = NoDefaultPolicy;

    fn from_str(text: &str) -> Result<DefaultPolicy, NoDefaultPolicy> {
        let known = WORDS.iter().find(|(word, _)| *word == text);
        known.map(|(_, policy)| *policy).ok_or_else(|| NoDefaultPolicy(text.to_owned()))
    }
}

impl fmt::Display for DefaultPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
