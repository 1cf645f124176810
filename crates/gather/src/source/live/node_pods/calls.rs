//! Requests for the pods of one namespace, and the meaning of their errors.

use http::StatusCode;
use serde_json::{Value, json};

use super::super::OBJECT_BODY;
use super::super::api_client::{ApiClient, ApiResponse, ErrorStatus, RequestError};
use super::super::call::Call;
use super::super::connection_lost::ConnectionError;
use super::super::fetch_error::why;
use super::super::path::encode;
use super::super::traffic::Meter;
use super::manifest::CONTAINER;
use crate::node_log::MAX_LOG;

/// Time limit of the server for a creation, in seconds. Afterwards a creation without a response has happened or never
/// will.
pub(super) const CREATE_SECONDS: u64 = 10;

/// The pods of a namespace.
pub(super) struct Pods<'a> {
    api: &'a ApiClient,
    meter: Meter,
    pub(super) namespace: String,
}

impl<'a> Pods<'a> {
    pub(super) fn new(api: &'a ApiClient, namespace: &str) -> Pods<'a> {
        Pods { api, meter: Meter::default(), namespace: namespace.to_owned() }
    }

    /// Creates a pod, or does a dry run. An existing pod is from this run, because names are unique.
    pub(super) async fn create(&self, pod: &Value, dry_run: bool) -> Result<Value, RequestError> {
        let dry_run = if dry_run { "&dryRun=All" } else { "" };
        let path = format!("{}?fieldManager=meshdoctor&timeout={CREATE_SECONDS}s{dry_run}", self.path(""));
        match self.api.send(&Call::post(&path, pod), &self.meter, true).await {
            Ok(answer) => self.json(answer),
            Err(trouble) if status(&trouble) == Some(StatusCode::CONFLICT) => Ok(pod.clone()),
            Err(trouble) => Err(trouble),
        }
    }

    /// The pod, or that it does not exist.
    pub(super) async fn get(&self, name: &str) -> Result<Option<Value>, RequestError> {
        match self.api.get(&self.path(name), &self.meter, true).await {
            Ok(answer) => self.json(answer).map(Some),
            Err(trouble) if status(&trouble) == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(trouble) => Err(trouble),
        }
    }

    /// The log of the container.
    pub(super) async fn log(&self, name: &str) -> Result<Vec<u8>, RequestError> {
        let path = format!("{}/log?container={CONTAINER}&limitBytes={MAX_LOG}", self.path(name));
        // A server that ignores the limit must not exhaust memory.
        let answer = self.api.send(&Call::text(&path, MAX_LOG), &self.meter, true).await?;
        answer.whole(&self.meter, MAX_LOG).map_err(|error| other(&error.to_string()))
    }

    /// Deletes a pod immediately, whatever its kubelet's state; the one with this uid, if given. A missing pod is also
    /// a success.
    pub(super) async fn delete(&self, name: &str, uid: Option<&str>, dry_run: bool) -> Result<(), RequestError> {
        let mut options = json!({
            "apiVersion": "v1", "kind": "DeleteOptions",
            "gracePeriodSeconds": 0, "propagationPolicy": "Background",
        });
        if let Some(uid) = uid {
            options["preconditions"] = json!({ "uid": uid });
        }
        let dry_run = if dry_run { "?dryRun=All" } else { "" };
        let path = format!("{}{dry_run}", self.path(name));
        match self.api.send(&Call::delete(&path, &options), &self.meter, true).await {
            Ok(_) => Ok(()),
            Err(trouble) => match status(&trouble) {
                // Conflict: another pod with the same name.
                Some(StatusCode::NOT_FOUND | StatusCode::CONFLICT) => Ok(()),
                _ => Err(trouble),
            },
        }
    }

    /// The current pods with these labels.
    pub(super) async fn list(&self, selector: &str) -> Result<Vec<Value>, RequestError> {
        listed(self.api, &self.meter, &self.path(""), selector).await
    }

    fn json(&self, answer: ApiResponse) -> Result<Value, RequestError> {
        json_of(answer, &self.meter)
    }

    fn path(&self, name: &str) -> String {
        let list = format!("/api/v1/namespaces/{}/pods", encode(&self.namespace));
        if name.is_empty() { list } else { format!("{list}/{}", encode(name)) }
    }
}

/// Pods with these labels in all namespaces.
pub(super) async fn everywhere(api: &ApiClient, selector: &str) -> Result<Vec<Value>, RequestError> {
    listed(api, &Meter::default(), "/api/v1/pods", selector).await
}

/// The namespace, or that it does not exist. Requested as a list, which `docs/rbac.yaml` allows.
pub(super) async fn namespace(api: &ApiClient, name: &str) -> Result<Option<Value>, RequestError> {
    let meter = Meter::default();
    let path = format!("/api/v1/namespaces?fieldSelector={}", encode(&format!("metadata.name={name}")));
    let list = json_of(api.get(&path, &meter, true).await?, &meter)?;
    Ok(list["items"].as_array().and_then(|items| items.first().cloned()))
}

async fn listed(api: &ApiClient, meter: &Meter, path: &str, selector: &str) -> Result<Vec<Value>, RequestError> {
    let path = format!("{path}?labelSelector={}", encode(selector));
    let mut list = json_of(api.get(&path, meter, true).await?, meter)?;
    match list["items"].take() {
        Value::Array(items) => Ok(items),
        _ => Err(other("the response is not a list")),
    }
}

fn json_of(answer: ApiResponse, meter: &Meter) -> Result<Value, RequestError> {
    let body = answer.whole(meter, OBJECT_BODY).map_err(|error| other(&error.to_string()))?;
    serde_json::from_slice(&body).map_err(|_| other("the response is not JSON"))
}

fn other(message: &str) -> RequestError {
    RequestError::Broken(ConnectionError::Other { message: message.to_owned() })
}

/// HTTP status of an error.
pub(super) fn status(trouble: &RequestError) -> Option<StatusCode> {
    refusal(trouble).map(|refusal| refusal.status)
}

/// The server's message, if it is from the server.
pub(super) fn refusal(trouble: &RequestError) -> Option<&ErrorStatus> {
    match trouble {
        RequestError::Refused(refusal) => Some(refusal),
        RequestError::TimedOut { .. } | RequestError::Broken(_) => None,
    }
}

/// Whether the request may have succeeded anyway.
pub(super) fn may_have_happened(trouble: &RequestError) -> bool {
    status(trouble).is_none_or(|status| !status.is_client_error())
}

/// Description of the error.
pub(super) fn words(trouble: &RequestError) -> String {
    why(trouble).to_string()
}
