//! Outcome of a request: complete, partial or missing, with reasons. Does not interpret them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Reason for missing or incomplete evidence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Why {
    /// HTTP 403 from the API server.
    Denied {
        /// The server's message.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// The API server does not serve the kind.
    NotServed,
    /// The dump or bundle does not contain it, which allows no conclusion about the cluster.
    NotCaptured,
    /// The dump contains some, and was not declared complete.
    PerhapsMore,
    /// Manifests without a cluster contain only some objects.
    NotInManifests,
    /// Optional evidence that was not provided (node snapshots, the operator's CLI).
    NotOffered,
    /// Timeout.
    TimedOut {
        /// Time limit, in seconds.
        seconds: u64,
    },
    /// The run reached its time limit before the check that needs it.
    OutOfTime {
        /// Time limit, in seconds.
        seconds: u64,
    },
    /// It was received, but could not be read.
    Malformed {
        /// Position and error: `bundle.json:12: expected value`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// It exists, but an expression of a user-defined check has no value for it.
    NoValue {
        /// Object and reason: `Deployment shop/web: paused is missing`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
        /// Next step for the author of the expression.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        close: String,
    },
    /// It exists, but has a setting that is not evaluated or that depends on evidence that was not requested.
    NotJudged {
        /// Object and setting: `spec.egress[0]: the endpoints of Services (toServices)`.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
    /// Other request failures: connection reset, HTTP 500 after retries.
    Failed {
        /// The error.
        #[serde(deserialize_with = "crate::redact::sanitized")]
        message: String,
    },
}

/// HTTP 401, as a message.
const CREDENTIALS_REJECTED: &str = "the API server rejects the credentials (HTTP 401)";
/// A login page, as a message.
const HTML_PAGE: &str = "the response is an HTML page, possibly the login page of a proxy";
/// The end of a message about a release without release data.
const NOT_IN_DATA: &str = " are not in the release data";
/// The part of a message that names the target of a redirect.
const REDIRECTED: &str = ": redirected to ";

impl Why {
    /// HTTP 401 from the API server.
    pub fn credentials_rejected() -> Why {
        Why::Failed { message: CREDENTIALS_REJECTED.to_owned() }
    }

    /// The release data lacks these facts: `the CRDs of stable-2.11.5`.
    pub fn not_in_data(facts: &str) -> Why {
        Why::Failed { message: format!("{facts}{NOT_IN_DATA}") }
    }

    /// Whether the release data lacks facts. A repetition does not help.
    pub fn is_not_in_data(&self) -> bool {
        matches!(self, Why::Failed { message } if message.ends_with(NOT_IN_DATA))
    }

    /// A login page instead of a response of the API server.
    pub fn html_page() -> Why {
        Why::Failed { message: HTML_PAGE.to_owned() }
    }

    /// The response of a server that redirects with this status, to scheme and host of another one.
    pub fn redirected(status: u16, location: &str) -> String {
        format!("HTTP {status}{REDIRECTED}{location}; a proxy requires a login")
    }

    /// Whether the API server rejects the credentials. Waiting does not help.
    pub fn is_credentials_rejected(&self) -> bool {
        matches!(self, Why::Failed { message } if message == CREDENTIALS_REJECTED)
    }

    /// Whether a server that is not an API server responded: with a login page, or a redirect to one.
    pub fn is_other_server(&self) -> bool {
        matches!(self, Why::Failed { message } if message == HTML_PAGE || message.contains(REDIRECTED))
    }

    /// Whether requested evidence was unavailable. Evidence that was not provided is listed under coverage and does not
    /// change the exit status.
    pub fn was_asked_for(&self) -> bool {
        match self {
            Why::NotOffered | Why::NotInManifests | Why::NotJudged { .. } => false,
            Why::Denied { .. }
            | Why::NotServed
            | Why::NotCaptured
            | Why::PerhapsMore
            | Why::TimedOut { .. }
            | Why::OutOfTime { .. }
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
            "timed-out" => Why::TimedOut { seconds: first_number(text) },
            "out-of-time" => Why::OutOfTime { seconds: first_number(text) },
            "malformed" => Why::Malformed { message: message() },
            "no-value" => Why::NoValue { message: message(), close: close.to_owned() },
            "not-judged" => Why::NotJudged { message: message() },
            _ => Why::Failed { message: text.to_owned() },
        }
    }

    /// The number of troubles that it counts: more than one for [`left_out`].
    pub fn count(&self) -> usize {
        let Why::Malformed { message } = self else { return 1 };
        let number = message.strip_prefix(LEFT_OUT).and_then(|rest| rest.strip_suffix(OF_A_KIND));
        number.and_then(|number| number.parse().ok()).unwrap_or(1)
    }

    /// Stable keyword for reports.
    pub fn keyword(&self) -> &'static str {
        match self {
            Why::Denied { .. } => "denied",
            Why::NotServed => "not-served",
            Why::NotCaptured => "not-captured",
            Why::PerhapsMore => "perhaps-more",
            Why::NotInManifests => "not-in-manifests",
            Why::NotOffered => "not-offered",
            Why::TimedOut { .. } => "timed-out",
            Why::OutOfTime { .. } => "out-of-time",
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
            Why::PerhapsMore => f.write_str("the dump contains some, possibly not all"),
            Why::NotInManifests => f.write_str("the manifests may not contain all objects of the cluster"),
            Why::NotOffered => f.write_str("not provided"),
            Why::TimedOut { seconds } => write!(f, "no response within {seconds} s"),
            Why::OutOfTime { seconds } => write!(f, "the run reached its time limit of {seconds} s"),
            Why::Malformed { message } => write!(f, "could not be read: {message}"),
            Why::NoValue { message, .. } => write!(f, "the rule has no value: {message}"),
            Why::NotJudged { message } => write!(f, "cannot be evaluated: {message}"),
            Why::Failed { message } => f.write_str(message),
        }
    }
}

/// How many troubles of a kind are not listed, as the last one of a list.
pub fn left_out(more: usize) -> String {
    format!("{LEFT_OUT}{more}{OF_A_KIND}")
}

const LEFT_OUT: &str = "and ";
const OF_A_KIND: &str = " more of the same kind";

fn first_number(text: &str) -> u64 {
    text.split(' ').find_map(|word| word.parse().ok()).unwrap_or_default()
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Fetched {
    /// Complete. A named object that is known not to exist is also complete.
    Complete,
    /// Some of it is available, with the reasons for the rest.
    Partial {
        /// At least one.
        reasons: Vec<Why>,
    },
    /// None of it is available.
    Missing { reason: Why },
}
