//! Maps request errors to reasons for missing evidence.

use http::StatusCode;

use super::api_client::RequestError;
use crate::fetched::{Fetched, Why};

/// Reason for a failed request.
pub(super) fn why(trouble: &RequestError) -> Why {
    match trouble {
        RequestError::TimedOut { seconds } => Why::TimedOut { seconds: *seconds },
        RequestError::Broken(broken) => Why::Failed { message: broken.words() },
        RequestError::Refused(refusal) => match refusal.status {
            StatusCode::FORBIDDEN => Why::Denied { message: refusal.message.clone() },
            StatusCode::UNAUTHORIZED => Why::credentials_rejected(),
            _ => Why::Failed { message: refusal.words() },
        },
    }
}

/// Outcome of a request that delivered this number of objects before `reason` stopped it.
pub(super) fn ended(reason: Why, arrived: usize) -> Fetched {
    if arrived == 0 { Fetched::Missing { reason } } else { Fetched::Partial { reasons: vec![reason] } }
}
