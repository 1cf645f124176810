//! Writes reports and events into the cluster on explicit request (`--publish`). Only objects with meshdoctor's name
//! and label are changed or deleted. A failed report does not stop the others.

use http::StatusCode;
use serde_json::{Value, json};

use super::api_client::RequestError;
use super::call::Call;
use super::connection_lost::ConnectionError;
use super::fetch_error::why;
use super::path::encode;
use super::quote::quote;
use super::traffic::Meter;
use super::{Live, OBJECT_BODY};
use crate::model::refusal::{self, Refusal};
use crate::report_api::{APIS, MANAGED_BY, NAME, Published, ReportApi};

/// Reason for a failed write.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Neither API is served.
    #[error("the cluster serves neither reports.openreports.io nor policyreports.wgpolicyk8s.io")]
    NotServed,
    /// Another tool owns a report of the same name.
    #[error("{0} exists but is not meshdoctor's: it has no label {MANAGED_BY}={NAME}")]
    Taken(String),
    /// The server denied the request.
    #[error("{what}: {why}")]
    Denied {
        /// The request.
        what: String,
        /// The reason.
        why: String,
    },
    /// The server rejected the request for another reason, or its answer is no answer to it.
    #[error("{what}: {why}")]
    Refused {
        /// The request.
        what: String,
        /// The reason.
        why: String,
    },
    /// A ResourceQuota does not allow the object.
    #[error("{what}: {why}")]
    Quota {
        /// The request.
        what: String,
        /// The reason.
        why: String,
    },
    /// The server reports success, but its answer is not the object that was sent.
    #[error("{what}: {why}")]
    NotStored {
        /// The request.
        what: String,
        /// The difference.
        why: String,
    },
    /// Another run changed the object between read and write.
    #[error("{0}: another run changed it meanwhile")]
    Conflict(String),
    /// The response was lost.
    #[error("{what}: {why}; nothing more was sent")]
    Lost {
        /// The request.
        what: String,
        /// The reason.
        why: String,
    },
}

/// The result of publishing.
#[derive(Debug, Default)]
pub struct Done {
    /// Number of created or changed reports.
    pub written: usize,
    /// Number of deleted reports.
    pub removed: usize,
    /// Number of created events.
    pub events: usize,
    pub errors: Vec<PublishError>,
}

/// meshdoctor's objects in the cluster.
pub struct Standing {
    /// The served API.
    pub api: ReportApi,
    pub reports: Vec<Value>,
}

impl Live {
    /// Finds the served API and the existing objects.
    ///
    /// # Errors
    /// Neither API is served, or listing is not allowed.
    pub async fn published(&self) -> Result<Standing, PublishError> {
        for api in APIS {
            let mut reports = Vec::new();
            let mut served = true;
            for (_, resource) in [api.namespaced, api.of_cluster] {
                let selector = encode(&format!("{MANAGED_BY}={NAME}"));
                let path = format!("{}/{resource}?labelSelector={selector}", base(api));
                match self.send(&Call::get(&path)).await {
                    Ok(mut list) => match list["items"].take() {
                        Value::Array(items) => reports.extend(items.into_iter().filter(is_ours)),
                        Value::Null if list["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) => {}
                        _ => {
                            let what = format!("list {resource}.{}", api.group);
                            return Err(PublishError::Refused { what, why: "the response is not a list".to_owned() });
                        }
                    },
                    Err(trouble) if status(&trouble) == Some(StatusCode::NOT_FOUND) => served = false,
                    Err(trouble) => return Err(refused(format!("list {resource}.{}", api.group), &trouble)),
                }
            }
            if served {
                return Ok(Standing { api, reports });
            }
        }
        Err(PublishError::NotServed)
    }

    /// Updates the objects in the cluster. After a lost response nothing more is sent; any other error affects only one
    /// object.
    pub async fn publish(&self, standing: &Standing, wanted: &Published) -> Done {
        let mut done = Done::default();
        if let Err(lost) = self.publish_all(standing, wanted, &mut done).await {
            done.errors.push(lost);
        }
        done
    }

    async fn publish_all(&self, standing: &Standing, wanted: &Published, done: &mut Done) -> Result<(), PublishError> {
        let place = |object: &Value| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        for (namespace, report) in &wanted.reports {
            let there = standing.reports.iter().find(|object| place(object) == *namespace);
            match self.write(standing.api, namespace, report, there).await {
                Ok(()) => done.written += 1,
                Err(error) => done.failed(error)?,
            }
        }
        for object in &standing.reports {
            let namespace = place(object);
            if wanted.reports.contains_key(&namespace) {
                continue;
            }
            let options = json!({
                "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": object["metadata"]["uid"]},
            });
            match self.send(&Call::delete(&path(standing.api, &namespace, true), &options)).await {
                Ok(answer) if answer["kind"] == "Status" || is_ours(&answer) => done.removed += 1,
                Ok(_) => done.failed(other_answer(operation("delete", standing.api, &namespace)))?,
                Err(trouble) if status(&trouble) == Some(StatusCode::NOT_FOUND) => {}
                Err(trouble) => done.failed(refused(operation("delete", standing.api, &namespace), &trouble))?,
            }
        }
        for event in &wanted.events {
            let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
            let path = format!("/api/v1/namespaces/{}/events", encode(namespace));
            match self.send(&Call::post(&path, event)).await {
                Ok(answer) if answer["kind"] == "Event" => done.events += 1,
                Ok(_) => done.failed(other_answer(format!("create an event in {namespace}")))?,
                // The event exists, or its namespace no longer does.
                Err(trouble) if matches!(status(&trouble), Some(StatusCode::CONFLICT | StatusCode::NOT_FOUND)) => {}
                Err(trouble) => done.failed(refused(format!("create an event in {namespace}"), &trouble))?,
            }
        }
        Ok(())
    }

    async fn write(
        &self,
        api: ReportApi,
        namespace: &str,
        report: &Value,
        there: Option<&Value>,
    ) -> Result<(), PublishError> {
        let one = path(api, namespace, true);
        let Some(there) = there else {
            return match self.send(&Call::post(&path(api, namespace, false), report)).await {
                Ok(answer) => stored(&answer, report, || operation("create", api, namespace)),
                Err(trouble) if status(&trouble) == Some(StatusCode::CONFLICT) => {
                    self.replace_own(api, namespace, report).await
                }
                Err(trouble) => Err(refused(operation("create", api, namespace), &trouble)),
            };
        };
        match self.send(&Call::put(&one, &replacing(report, there))).await {
            Ok(answer) => stored(&answer, report, || operation("update", api, namespace)),
            Err(trouble) if status(&trouble) == Some(StatusCode::CONFLICT) => {
                self.replace_own(api, namespace, report).await
            }
            Err(trouble) => Err(refused(operation("update", api, namespace), &trouble)),
        }
    }

    /// Replaces an existing report if it is meshdoctor's: an earlier response was lost, or another run was faster.
    async fn replace_own(&self, api: ReportApi, namespace: &str, report: &Value) -> Result<(), PublishError> {
        let one = path(api, namespace, true);
        let there = self.send(&Call::get(&one)).await;
        let there = there.map_err(|trouble| refused(operation("read", api, namespace), &trouble))?;
        if !is_ours(&there) {
            return Err(PublishError::Taken(operation("", api, namespace)));
        }
        if ["results", "summary"].iter().all(|field| there[field] == report[field]) {
            return Ok(());
        }
        let sent = self.send(&Call::put(&one, &replacing(report, &there))).await;
        let answer = sent.map_err(|trouble| refused(operation("update", api, namespace), &trouble))?;
        stored(&answer, report, || operation("update", api, namespace))
    }

    async fn send(&self, call: &Call) -> Result<Value, RequestError> {
        let meter = Meter::default();
        let other = |message: String| RequestError::Broken(ConnectionError::Other { message });
        let answer = self.api.send(call, &meter, true).await?;
        let body = answer.whole(&meter, OBJECT_BODY).map_err(|error| other(error.to_string()))?;
        let answer: Value = serde_json::from_slice(&body).map_err(|_| other(NOT_JSON.to_owned()))?;
        if answer["kind"] == "Status" && answer["status"] != "Success" {
            let message = answer["message"].as_str().unwrap_or("no reason given");
            return Err(other(format!("the server responded with a failure: {}", quote(message, 200))));
        }
        Ok(answer)
    }
}

impl Done {
    /// Records an error that affects one object.
    ///
    /// # Errors
    /// The response was lost, so further requests would be too.
    fn failed(&mut self, error: PublishError) -> Result<(), PublishError> {
        if matches!(error, PublishError::Lost { .. }) {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }
}

/// The error of an answer in another format, such as a page of a proxy.
const NOT_JSON: &str = "the response is not JSON";

/// Whether the answer is the report that was sent, with all its results. A CRD may drop fields and set defaults.
fn stored(answer: &Value, report: &Value, what: impl Fn() -> String) -> Result<(), PublishError> {
    let is_same = |field: &str| answer["metadata"][field] == report["metadata"][field];
    if answer["kind"] != report["kind"] || !is_same("name") || !is_same("namespace") {
        return Err(other_answer(what()));
    }
    let policies = |object: &Value| -> Vec<Value> {
        object["results"].as_array().into_iter().flatten().map(|result| result["policy"].clone()).collect()
    };
    let (kept, sent) = (policies(answer), policies(report));
    if kept == sent {
        return Ok(());
    }
    let why = match kept.len() == sent.len() {
        true => "the stored report has other results than the one that was sent".to_owned(),
        false => format!("the stored report has {} of its {} results", kept.len(), sent.len()),
    };
    Err(PublishError::NotStored { what: what(), why })
}

fn other_answer(what: String) -> PublishError {
    PublishError::NotStored { what, why: "the response is another object than the one that was sent".to_owned() }
}

/// Whether admission rather than authorization denies a request with this message.
fn is_of_admission(message: &str) -> bool {
    let is_other = ["ValidatingAdmissionPolicy", "being terminated"].iter().any(|sign| message.contains(sign));
    is_other || matches!(refusal::read(message), Refusal::Denied { .. } | Refusal::Uncalled { .. })
}

fn is_of_quota(message: &str) -> bool {
    matches!(refusal::read(message), Refusal::UsedUp { .. } | Refusal::Unstated { .. })
}

/// Whether an object has meshdoctor's name and label.
fn is_ours(object: &Value) -> bool {
    let metadata = &object["metadata"];
    metadata["name"] == NAME && metadata["labels"][MANAGED_BY] == NAME
}

/// A report that replaces an object.
fn replacing(report: &Value, there: &Value) -> Value {
    let mut report = report.clone();
    report["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"].clone();
    report
}

fn base(api: ReportApi) -> String {
    format!("/apis/{}/{}", api.group, api.version)
}

fn path(api: ReportApi, namespace: &str, one: bool) -> String {
    let list = match namespace.is_empty() {
        true => format!("{}/{}", base(api), api.of_cluster.1),
        false => format!("{}/namespaces/{}/{}", base(api), encode(namespace), api.namespaced.1),
    };
    if one { format!("{list}/{NAME}") } else { list }
}

fn operation(verb: &str, api: ReportApi, namespace: &str) -> String {
    let what = match namespace.is_empty() {
        true => format!("{} {NAME}", api.of_cluster.0),
        false => format!("{} {namespace}/{NAME}", api.namespaced.0),
    };
    if verb.is_empty() { what } else { format!("{verb} {what}") }
}

fn status(trouble: &RequestError) -> Option<StatusCode> {
    match trouble {
        RequestError::Refused(refusal) => Some(refusal.status),
        RequestError::TimedOut { .. } | RequestError::Broken(_) => None,
    }
}

fn refused(what: String, trouble: &RequestError) -> PublishError {
    let reason = why(trouble).to_string();
    match trouble {
        RequestError::Refused(refusal) if refusal.status == StatusCode::FORBIDDEN && is_of_quota(&refusal.message) => {
            PublishError::Quota { what, why: reason }
        }
        RequestError::Refused(refusal)
            if refusal.status == StatusCode::FORBIDDEN && is_of_admission(&refusal.message) =>
        {
            PublishError::Refused { what, why: reason }
        }
        RequestError::Broken(ConnectionError::Other { message }) if message == NOT_JSON => {
            PublishError::NotStored { what, why: reason }
        }
        RequestError::Refused(_)
            if matches!(status(trouble), Some(StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED)) =>
        {
            PublishError::Denied { what, why: reason }
        }
        RequestError::Refused(_) if status(trouble) == Some(StatusCode::CONFLICT) => PublishError::Conflict(what),
        RequestError::Refused(_) | RequestError::Broken(ConnectionError::Other { .. }) => {
            PublishError::Refused { what, why: reason }
        }
        RequestError::TimedOut { .. } | RequestError::Broken(_) => PublishError::Lost { what, why: reason },
    }
}
