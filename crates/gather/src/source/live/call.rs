//! A request to the API server: method, path, and format of the response.

use bytes::Bytes;
use http::{HeaderMap, Method, header};

/// Maximum number of bytes of a list. 10,000 pods are 150 MB.
pub(super) const WHOLE_BODY: usize = 2 << 30;
/// Maximum size of a single object; etcd accepts a tenth of that.
pub(super) const OBJECT_BODY: usize = 16 * 1024 * 1024;
/// The media type of protobuf as API servers write it.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Format of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accept {
    Json,
    /// Protobuf if the server supports it, else JSON.
    Protobuf,
    /// Text, whatever its content type.
    Text,
}

impl Accept {
    pub(super) fn header(self) -> &'static str {
        match self {
            Accept::Json => "application/json",
            Accept::Protobuf => "application/vnd.kubernetes.protobuf, application/json",
            Accept::Text => "application/json, */*",
        }
    }
}

/// A request to the API server. It may be sent more than once, so it must be idempotent.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Bytes>,
    pub(super) accept: Accept,
    /// Maximum number of bytes of a successful response.
    pub(super) most: usize,
}

impl Call {
    /// Reads an object or a small list.
    pub(super) fn get(path: &str) -> Call {
        Call::new(Method::GET, path, None)
    }

    /// Creates an object. A repeated request gets 409.
    pub(super) fn post(path: &str, object: &serde_json::Value) -> Call {
        Call::new(Method::POST, path, Some(object))
    }

    /// Replaces an object. A repeated request gets 409.
    pub(super) fn put(path: &str, object: &serde_json::Value) -> Call {
        Call::new(Method::PUT, path, Some(object))
    }

    /// Deletes an object. A repeated request gets 404.
    pub(super) fn delete(path: &str, options: &serde_json::Value) -> Call {
        Call::new(Method::DELETE, path, Some(options))
    }

    /// Reads text up to a number of bytes, such as a log.
    pub(super) fn text(path: &str, most: usize) -> Call {
        Call { accept: Accept::Text, most, ..Call::get(path) }
    }

    fn new(method: Method, path: &str, body: Option<&serde_json::Value>) -> Call {
        let body = body.map(|body| Bytes::from(body.to_string()));
        Call { method, path: path.to_owned(), body, accept: Accept::Json, most: OBJECT_BODY }
    }
}

/// Whether a response is in protobuf.
pub(super) fn is_protobuf(headers: &HeaderMap) -> bool {
    let form = headers.get(header::CONTENT_TYPE).and_then(|form| form.to_str().ok());
    form.is_some_and(|form| form.split(';').next().is_some_and(|form| form.trim() == PROTOBUF))
}
