//! What is asked of the API server: a method, a path, and the form in which the answer is wanted.

use bytes::Bytes;
use http::{HeaderMap, Method, header};

/// The most bytes of a list that are read. 10,000 pods are 150 MB.
pub(super) const WHOLE_BODY: usize = 2 << 30;
/// The largest single object that is read; etcd takes a tenth of that.
pub(super) const OBJECT_BODY: usize = 16 * 1024 * 1024;
/// The media type of protobuf as API servers write it.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// In what form an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accept {
    Json,
    /// Protobuf where the server has it, JSON where not.
    Protobuf,
    /// Text, whatever the server calls it.
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

/// What is asked of the API server. It may be sent more than once, so what it does must come to the same.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Bytes>,
    pub(super) accept: Accept,
    /// How many bytes of a good answer are read.
    pub(super) most: usize,
}

impl Call {
    /// Reads an object, or a list that is as small.
    pub(super) fn get(path: &str) -> Call {
        Call::new(Method::GET, path, None)
    }

    /// Creates an object. Sent twice, it finds the object there (409).
    pub(super) fn post(path: &str, object: &serde_json::Value) -> Call {
        Call::new(Method::POST, path, Some(object))
    }

    /// Replaces an object. Sent twice, it finds another version there (409).
    pub(super) fn put(path: &str, object: &serde_json::Value) -> Call {
        Call::new(Method::PUT, path, Some(object))
    }

    /// Deletes an object. Sent twice, it finds nothing there (404).
    pub(super) fn delete(path: &str, options: &serde_json::Value) -> Call {
        Call::new(Method::DELETE, path, Some(options))
    }

    /// Text of at most so many bytes, such as a log.
    pub(super) fn text(path: &str, most: usize) -> Call {
        Call { accept: Accept::Text, most, ..Call::get(path) }
    }

    fn new(method: Method, path: &str, body: Option<&serde_json::Value>) -> Call {
        let body = body.map(|body| Bytes::from(body.to_string()));
        Call { method, path: path.to_owned(), body, accept: Accept::Json, most: OBJECT_BODY }
    }
}

/// Whether an answer is a message in protobuf.
pub(super) fn is_protobuf(headers: &HeaderMap) -> bool {
    let form = headers.get(header::CONTENT_TYPE).and_then(|form| form.to_str().ok());
    form.is_some_and(|form| form.split(';').next().is_some_and(|form| form.trim() == PROTOBUF))
}
