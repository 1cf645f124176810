//! How a question ended: everything came, some of it, nothing, and why. It says what happened, never what that means.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why evidence is not there, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Why {
    /// The API server said 403.
    Denied {
        /// The server's own message.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// The API server does not serve the kind.
    NotServed,
    /// The dump or bundle does not hold it, which says nothing about the cluster.
    NotCaptured,
    /// The dump holds some, and nobody said that these are all.
    PerhapsMore,
    /// Manifests are judged that are not all that the cluster has.
    NotInManifests,
    /// Nobody provided this kind of evidence, and nobody had to (node snapshots, the operator's CLI).
    NotOffered,
    /// No answer in time.
    TimedOut {
        /// How long was waited, in seconds.
        seconds: u64,
    },
    /// It came, and could not be read.
    Malformed {
        /// Where and what: `bundle.json:12: expected value`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// It is there, and the expression of a user's check has no value for it.
    NoValue {
        /// Of what, and why: `Deployment shop/web: paused is not there`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
        /// What the author of the expression can do about it.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        close: String,
    },
    /// It is there, and it says something that is not judged, or that hangs on what nobody asked for.
    NotJudged {
        /// Of what, and what: `spec.egress[0]: the endpoints of Services (toServices)`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// Any other failure of the asking: connection reset, HTTP 500 after retries.
    Failed {
        /// What happened.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
}

impl Why {
    /// Whether somebody asked for this evidence and it could not be had. Evidence that nobody provided is listed
    /// under coverage and changes no exit status.
    pub fn was_asked_for(&self) -> bool {
        match self {
            Why::NotOffered | Why::NotInManifests | Why::NotJudged { .. } => false,
            Why::Denied { .. }
            | Why::NotServed
            | Why::NotCaptured
            | Why::PerhapsMore
            | Why::TimedOut { .. }
            | Why::Malformed { .. }
            | Why::NoValue { .. }
            | Why::Failed { .. } => true,
        }
    }

    /// The reason that a saved report names by its word and its text. Texts of other releases may begin differently.
    pub fn from_report(word: &str, text: &str, close: &str) -> Why {
        let message = || text.split_once(": ").map(|(_, message)| message.to_owned()).unwrap_or_default();
        match word {
            "denied" => Why::Denied { message: message() },
            "not-served" => Why::NotServed,
            "not-captured" => Why::NotCaptured,
            "perhaps-more" => Why::PerhapsMore,
            "not-in-manifests" => Why::NotInManifests,
            "not-offered" => Why::NotOffered,
            "timed-out" => {
                let seconds = text.split(' ').find_map(|word| word.parse().ok());
                Why::TimedOut { seconds: seconds.unwrap_or_default() }
            }
            "malformed" => Why::Malformed { message: message() },
            "no-value" => Why::NoValue { message: message(), close: close.to_owned() },
            "not-judged" => Why::NotJudged { message: message() },
            _ => Why::Failed { message: text.to_owned() },
        }
    }

    /// The stable word for it in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Why::Denied { .. } => "denied",
            Why::NotServed => "not-served",
            Why::NotCaptured => "not-captured",
            Why::PerhapsMore => "perhaps-more",
            Why::NotInManifests => "not-in-manifests",
            Why::NotOffered => "not-offered",
            Why::TimedOut { .. } => "timed-out",
            Why::Malformed { .. } => "malformed",
            Why::NoValue { .. } => "no-value",
            Why::NotJudged { .. } => "not-judged",
            Why::Failed { .. } => "failed",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Denied { message } if message.is_empty() => f.write_str("denied"),
            Why::Denied { message } => write!(f, "denied: {message}"),
            Why::NotServed => f.write_str("the API server does not serve this kind"),
            Why::NotCaptured => f.write_str("not provided"),
            Why::PerhapsMore => f.write_str("the dump holds some, perhaps not all"),
            Why::NotInManifests => f.write_str("the manifests are not all that a cluster has"),
            Why::NotOffered => f.write_str("not provided"),
            Why::TimedOut { seconds } => write!(f, "no answer within {seconds} s"),
            Why::Malformed { message } => write!(f, "could not be read: {message}"),
            Why::NoValue { message, .. } => write!(f, "the rule has no value: {message}"),
            Why::NotJudged { message } => write!(f, "cannot be said: {message}"),
            Why::Failed { message } => f.write_str(message),
        }
    }
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Fetched {
    /// All of it is here. A named object that does not exist is complete too: nothing, and that is known.
    Complete,
    /// Some of it is here; the reasons say what is not.
    Partial {
        /// At least one.
        reasons: Vec<Why>,
    },
    /// None of it is here.
    Missing {
        /// Why not.
        reason: Why,
    },
}
