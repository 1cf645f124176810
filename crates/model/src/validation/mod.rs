//! Validating admission as the API server performs it for Linkerd's objects: the schema of the CRD, then
//! Linkerd's webhooks (policy-validator, sp-validator), for a release. Recorded answers of a real webhook and
//! a real API server are the tests.
//!
//! Works on complete objects, which may be redacted. A redacted text is a reason to reject only where no valid value is
//! ever redacted: enumerations, durations and networks. Elsewhere it may be valid.

mod networks;
mod profile;
mod relations;
mod routes;
mod schema;
mod servers;
mod webhook;

use serde::de::DeserializeOwned;
use serde_json::Value;
pub use servers::ServerIndex;

use crate::item::Kind;
use crate::knowledge::{AdmissionRule, AdmissionRules, Knowledge};
use crate::redact::is_marked;
use crate::version::{Contains, EdgeTag, LinkerdVersion};

/// The component that rejects an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectedBy {
    /// A client with strict field validation, such as kubectl. Other clients accept the object, and the API
    /// server drops the field.
    StrictClient,
    /// Nothing rejects it: the API server drops the field when it stores the object in another version.
    Storage,
    /// The schema of the CRD, or a missing version of it.
    Schema,
    /// The webhook of Linkerd's policy controller.
    PolicyValidator,
    /// The webhook for ServiceProfiles.
    ProfileValidator,
}

/// The reason why an object is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The rejecting component.
    pub by: RejectedBy,
    /// The rule of a webhook; `None` for a schema.
    pub rule: Option<AdmissionRule>,
    /// The field: `spec.networks[0].cidr`.
    pub path: String,
    /// Why.
    pub reason: String,
    /// The first edge that accepts it, if a later release does.
    pub accepted_from: Option<EdgeTag>,
}

impl Rejection {
    /// The correction as an instruction, if the reason names it: `Set spec.proxyProtocol to one of HTTP/1 or HTTP/2`.
    pub fn correction(&self) -> Option<String> {
        let Rejection { path, reason, .. } = self;
        let field = path.rsplit('.').next().unwrap_or(path);
        let after = |words: &str| reason.split_once(words).map(|(_, rest)| rest);
        if let Some(valid) = after(" is not known; use ") {
            return Some(format!("Set {path} to one of {valid}"));
        }
        if let Some(valid) = after(" is not one of ") {
            return Some(format!("Set {path} to one of {valid}"));
        }
        if let Some(near) = after("did you mean ").and_then(|rest| rest.strip_suffix('?')) {
            return Some(format!("Rename {path} to {near}"));
        }
        if reason.starts_with("unknown field ") {
            return Some(format!("Remove {path}, or correct the name of the field {field}"));
        }
        if let Some(example) = after(" is not a duration such as ") {
            return Some(format!("Set {path} to a duration such as {example}"));
        }
        if let Some((wanted, _)) = reason.strip_prefix("it must be ").and_then(|rest| rest.split_once(", not ")) {
            return Some(format!("Make {path} {wanted}"));
        }
        if let Some(bounds) = after(" must be at least ") {
            return Some(format!("Set {path} to at least {bounds}"));
        }
        if let Some(bounds) = after(" must be at most ") {
            return Some(format!("Set {path} to at most {bounds}"));
        }
        (reason == "it is required").then(|| format!("Set {path}"))
    }

    /// The value of the field in the object: of a simple one its text, of others what they are.
    pub fn value_in(&self, object: &Value) -> Option<String> {
        let mut value = object;
        for part in self.path.split('.') {
            let (name, places) = part.split_once('[').map_or((part, ""), |(name, places)| (name, places));
            value = value.get(name)?;
            for place in places.split('[').filter(|place| !place.is_empty()) {
                value = value.get(place.strip_suffix(']')?.parse::<usize>().ok()?)?;
            }
        }
        match value {
            Value::String(text) => (!is_marked(text)).then(|| text.clone()),
            Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// Validating admission of a release.
#[derive(Clone, Copy)]
pub struct Validation<'k> {
    version: Option<&'k LinkerdVersion>,
    knowledge: &'k Knowledge,
}

impl<'k> Validation<'k> {
    /// The rules of a release; of the newest known one if it is unknown.
    pub fn new(version: Option<&'k LinkerdVersion>, knowledge: &'k Knowledge) -> Validation<'k> {
        Validation { version, knowledge }
    }

    fn rules(&self) -> &'k AdmissionRules {
        self.knowledge.admission()
    }

    fn holds(&self, rule: AdmissionRule) -> bool {
        self.rules().holds(rule, self.version, self.knowledge)
    }

    /// The first release whose schemas of Linkerd's kinds are known, if this one is older.
    pub fn schemas_unknown_before(&self) -> Option<EdgeTag> {
        self.rules().schemas_unknown_before(self.version, self.knowledge)
    }

    /// The fields that the schema of the object's CRD rejects.
    pub fn schema(&self, kind: Kind, object: &Value) -> Vec<Rejection> {
        let version = version_of(kind, object);
        let Some(schema) = self.rules().schema(&kind.resource(), version) else { return Vec::new() };
        if let Some(since) = schema.not_before(self.version, self.knowledge) {
            let reason = format!("this release does not serve {kind} {version}");
            let by = RejectedBy::Schema;
            let path = "apiVersion".to_owned();
            return vec![Rejection { by, rule: None, path, reason, accepted_from: Some(since) }];
        }
        let found = match object.get("spec").filter(|spec| !spec.is_null()) {
            Some(spec) => schema::invalid(&schema.spec, spec),
            None => vec![("spec".to_owned(), "it is required".to_owned())],
        };
        let by = RejectedBy::Schema;
        found
            .into_iter()
            .map(|(path, reason)| Rejection { by, rule: None, path, reason, accepted_from: None })
            .collect()
    }

    /// The rejection of an object whose version the API server does not serve. `served`: the versions that
    /// the CRD serves; if it is unknown, those that known releases serve.
    pub fn unserved(&self, kind: Kind, object: &Value, served: Option<&[&str]>) -> Option<Rejection> {
        let version = version_of(kind, object);
        let (versions, serves) = match served {
            Some(served) => (served.to_vec(), "the cluster's CRD serves"),
            None => (self.rules().versions(&kind.resource()), "known releases serve"),
        };
        if versions.is_empty() || versions.contains(&version) {
            return None;
        }
        let reason = format!("{kind} {version} is not served: {serves} only {}", versions.join(", "));
        let path = "apiVersion".to_owned();
        Some(Rejection { by: RejectedBy::Schema, rule: None, path, reason, accepted_from: None })
    }

    /// Fields of an object that its CRD does not have: kubectl's strict validation rejects them, and other
    /// clients lose them.
    pub fn unknown_fields(&self, kind: Kind, object: &Value) -> Vec<Rejection> {
        let Some(schema) = self.rules().schema(&kind.resource(), version_of(kind, object)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (prefix, known, fields) in [
            ("", self.rules().object_fields(), object),
            ("metadata.", self.rules().metadata_fields(), &object["metadata"]),
        ] {
            let names = fields.as_object().into_iter().flatten().map(|(name, _)| name);
            for name in names.filter(|name| !known.contains(name)) {
                let unset = known.iter().map(String::as_str).filter(|known| fields.get(known).is_none());
                found.push((format!("{prefix}{name}"), schema::unknown(name, unset)));
            }
        }
        found.extend(schema::unknown_fields(&schema.spec, &object["spec"]));
        let by = RejectedBy::StrictClient;
        found
            .into_iter()
            .map(|(path, reason)| Rejection { by, rule: None, path, reason, accepted_from: None })
            .collect()
    }

    /// The identity of an ExternalWorkload in the first version of the kind, which later releases store as v1beta1.
    pub fn dropped(&self, kind: Kind, object: &Value) -> Option<Rejection> {
        let is_first = kind == Kind::ExternalWorkload && version_of(kind, object) == "v1alpha1";
        if !is_first || object["spec"].get("meshTls").is_none() {
            return None;
        }
        let (upgrades, minors) = (self.knowledge.upgrades(), self.knowledge.minors());
        let renames = |version: &LinkerdVersion| upgrades.has_renamed_mesh_tls(version, minors);
        if self.version.is_some_and(|version| renames(version) == Contains::No) {
            return None;
        }
        let reason = "v1beta1 names it meshTLS, so the workload is stored without an identity";
        let (by, path) = (RejectedBy::Storage, "spec.meshTls".to_owned());
        Some(Rejection { by, rule: None, path, reason: reason.to_owned(), accepted_from: None })
    }

    /// The answer of the webhook for the object's kind; `None` if it admits the object or is not called.
    pub fn webhook(&self, kind: Kind, object: &Value) -> Option<Rejection> {
        if !self.rules().calls(&kind.resource(), self.version, self.knowledge) {
            return None;
        }
        let by = match kind {
            Kind::ServiceProfile => RejectedBy::ProfileValidator,
            _ => RejectedBy::PolicyValidator,
        };
        let answer = match kind {
            Kind::ServiceProfile => profile::validate(object),
            Kind::HTTPRoute | Kind::LinkerdHTTPRoute | Kind::GRPCRoute | Kind::TLSRoute | Kind::TCPRoute => {
                routes::validate(self, kind, object)
            }
            _ => webhook::validate(self, kind, object),
        };
        answer.err().filter(|denied| self.holds(denied.rule)).map(|denied| self.rejection(by, denied))
    }

    /// The answer of the webhook to a Server, as far as it depends on the other Servers of the namespace.
    /// `counts` excludes others.
    pub fn overlap(
        &self,
        server: &Value,
        others: &ServerIndex<'_>,
        counts: impl Fn(&Value) -> bool,
    ) -> Option<Rejection> {
        if !self.holds(AdmissionRule::ServerOverlap) {
            return None;
        }
        let other = others.overlapping(server, counts)?;
        Some(self.rejection(RejectedBy::PolicyValidator, webhook::taken(server, other)))
    }

    fn rejection(&self, by: RejectedBy, denied: Denied) -> Rejection {
        let Denied { rule, path, reason } = denied;
        Rejection { by, rule: Some(rule), path, reason, accepted_from: self.rules().ended(rule) }
    }
}

/// The version of an object: `v1beta3`.
fn version_of(kind: Kind, object: &Value) -> &str {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    version.rsplit_once('/').map_or(kind.info().version, |(_, version)| version)
}

/// A denial by a webhook.
struct Denied {
    rule: AdmissionRule,
    path: String,
    reason: String,
}

impl Denied {
    fn new(rule: AdmissionRule, path: impl Into<String>, reason: impl Into<String>) -> Denied {
        Denied { rule, path: path.into(), reason: reason.into() }
    }

    /// A result of the same rule, at a field.
    fn at<T>(rule: AdmissionRule, path: &str, result: Result<T, String>) -> Result<T, Denied> {
        result.map_err(|reason| Denied::new(rule, path, reason))
    }
}

/// The slim form of an object; `None` if a field has another type, which its schema rejects.
fn read<T: DeserializeOwned>(object: &Value) -> Option<T> {
    serde_json::from_value(object.clone()).ok()
}

/// A text for the reason of a rejection; its length if it is redacted.
fn quoted(text: &str) -> String {
    match text.strip_prefix("REDACTED(len=").and_then(|rest| rest.split_once(')')) {
        Some((length, _)) if is_marked(text) => format!("a value of {length} characters (not shown)"),
        _ => format!("{text:?}"),
    }
}

/// A text, unless it is redacted.
fn known(text: &str) -> Option<&str> {
    (!is_marked(text)).then_some(text)
}
