//! From what happened on the wire to why evidence is not there.

use http::StatusCode;

use super::api_client::RequestError;
use crate::fetched::{Fetched, Why};

/// Why a request has no answer.
pub(super) fn why(trouble: &RequestError) -> Why {
    match trouble {
        RequestError::TimedOut { seconds } => Why::TimedOut { seconds: *seconds },
        RequestError::Broken(broken) => Why::Failed { message: broken.words() },
        RequestError::Refused(refusal) => match refusal.status {
            StatusCode::FORBIDDEN => Why::Denied { message: refusal.message.clone() },
            StatusCode::UNAUTHORIZED => Why::Failed {
                message: "the API server no longer takes the credentials (HTTP 401)".to_owned(),
            },
            _ => Why::Failed { message: refusal.words() },
        },
    }
}

/// How a request ended that brought so many objects before `reason` stopped it.
pub(super) fn ended(reason: Why, arrived: usize) -> Fetched {
    if arrived == 0 { Fetched::Missing { reason } } else { Fetched::Partial { reasons: vec![reason] } }
}
