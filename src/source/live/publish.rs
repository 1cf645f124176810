//! Writes reports and events into the cluster, on explicit request (`--publish`): the one kind of object that meshdoctor keeps there.
//! Only objects with its own label are changed or taken away.

use http::StatusCode;
use serde_json::{Value, json};

use super::api_client::RequestError;
use super::broken::Broken;
use super::call::Call;
use super::path::encode;
use super::traffic::Meter;
use super::why::why;
use super::{Live, OBJECT_BODY};
use crate::published::{APIS, MANAGED_BY, NAME, Published, ReportApi};

/// Why reports were not written.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Neither API is there.
    #[error("the cluster serves neither reports.openreports.io nor policyreports.wgpolicyk8s.io")]
    NotServed,
    /// A report that somebody else keeps has the name.
    #[error("{0} is there and not ours: it has no label {MANAGED_BY}={NAME}")]
    Taken(String),
    /// The server said no, or nothing.
    #[error("{what}: {why}")]
    Refused {
        /// What was asked.
        what: String,
        /// Why not.
        why: String,
    },
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Reports that were created or changed.
    pub written: usize,
    /// Reports that were taken away.
    pub removed: usize,
    /// Events that were made.
    pub events: usize,
}

/// What of ours is in the cluster.
pub struct Standing {
    /// The API that is served.
    pub api: ReportApi,
    /// The reports.
    pub reports: Vec<Value>,
}

impl Live {
    /// Finds the API that is served, and what of ours is there.
    ///
    /// # Errors
    /// Neither is served, or it may not be listed.
    pub async fn published(&self) -> Result<Standing, PublishError> {
        for api in APIS {
            let mut reports = Vec::new();
            let mut served = true;
            for (_, resource) in [api.namespaced, api.of_cluster] {
                let selector = encode(&format!("{MANAGED_BY}={NAME}"));
                let path = format!("{}/{resource}?labelSelector={selector}", base(api));
                match self.asked(&Call::get(&path)).await {
                    Ok(mut list) => {
                        if let Value::Array(items) = list["items"].take() {
                            reports.extend(items);
                        }
                    }
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

    /// Makes what is in the cluster what it is to be.
    ///
    /// # Errors
    /// A part could not be written; what came before it is.
    pub async fn publish(&self, standing: &Standing, wanted: &Published) -> Result<Done, PublishError> {
        let mut done = Done::default();
        let place = |object: &Value| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        for (namespace, report) in &wanted.reports {
            let there = standing.reports.iter().find(|object| place(object) == *namespace);
            self.write(standing.api, namespace, report, there).await?;
            done.written += 1;
        }
        for object in &standing.reports {
            let namespace = place(object);
            if wanted.reports.contains_key(&namespace) {
                continue;
            }
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": object["metadata"]["uid"]}});
            match self.asked(&Call::delete(&path(standing.api, &namespace, true), &options)).await {
                Ok(_) => done.removed += 1,
                Err(trouble) if status(&trouble) == Some(StatusCode::NOT_FOUND) => {}
                Err(trouble) => return Err(refused(named("delete", standing.api, &namespace), &trouble)),
            }
        }
        for event in &wanted.events {
            let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
            let path = format!("/api/v1/namespaces/{}/events", encode(namespace));
            match self.asked(&Call::post(&path, event)).await {
                Ok(_) => done.events += 1,
                Err(trouble) if status(&trouble) == Some(StatusCode::CONFLICT) => {}
                Err(trouble) => return Err(refused(format!("create an event in {namespace}"), &trouble)),
            }
        }
        Ok(done)
    }

    async fn write(
        &self,
        api: ReportApi,
        namespace: &str,
        report: &Value,
        there: Option<&Value>,
    ) -> Result<(), PublishError> {
        let Some(there) = there else {
            return match self.asked(&Call::post(&path(api, namespace, false), report)).await {
                Ok(_) => Ok(()),
                Err(trouble) if status(&trouble) == Some(StatusCode::CONFLICT) => {
                    Err(PublishError::Taken(named("", api, namespace)))
                }
                Err(trouble) => Err(refused(named("create", api, namespace), &trouble)),
            };
        };
        let mut report = report.clone();
        report["metadata"]["resourceVersion"] = there["metadata"]["resourceVersion"].clone();
        let sent = self.asked(&Call::put(&path(api, namespace, true), &report)).await;
        sent.map(|_| ()).map_err(|trouble| refused(named("update", api, namespace), &trouble))
    }

    async fn asked(&self, call: &Call) -> Result<Value, RequestError> {
        let meter = Meter::default();
        let other = |message: String| RequestError::Broken(Broken::Other { message });
        let answer = self.api.send(call, &meter, true).await?;
        let body = answer.whole(&meter, OBJECT_BODY).map_err(|error| other(error.to_string()))?;
        serde_json::from_slice(&body).map_err(|_| other("the answer is no JSON".to_owned()))
    }
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

fn named(verb: &str, api: ReportApi, namespace: &str) -> String {
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
    PublishError::Refused { what, why: why(trouble).to_string() }
}
