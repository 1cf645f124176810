//! ConfigMaps, Secrets, Services, EndpointSlices, Events, ControllerRevisions.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::meta::{Meta, address, nullable};
use super::workload::PodTemplate;
use crate::chart::values::{ReadOnce, Values};
use crate::names::{self, Rule};

/// A ConfigMap. Only Linkerd's and the CNI's are ever read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ConfigMap {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// Text by key.
    #[serde(deserialize_with = "nullable")]
    pub data: BTreeMap<String, String>,
    /// The chart values among it, once somebody has asked for them.
    #[serde(skip)]
    pub(crate) values: ReadOnce,
}

impl ConfigMap {
    /// The values of Linkerd's chart that it keeps; `None` where it holds none, or none that can be read.
    pub fn chart_values(&self) -> Option<Values> {
        self.values.of(self.data.get("values").map(String::as_str))
    }
}

/// A Secret as it passes the border: certificates only, and whether the private key fits them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Secret {
    /// Name, labels; the annotation `meshdoctor.io/key-matches` says `true`, `false` or `unknown`.
    pub metadata: Meta,
    /// Certificates by key, base64-encoded PEM.
    #[serde(deserialize_with = "nullable")]
    pub data: BTreeMap<String, String>,
}

/// A Service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Name, labels, annotations.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: ServiceSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceSpec {
    /// Its address; headless Services and those that only name another host have none.
    #[serde(rename = "clusterIP", deserialize_with = "address")]
    pub cluster_ip: Option<IpAddr>,
    /// The labels of the pods behind it; without any, somebody else writes its endpoints.
    #[serde(deserialize_with = "nullable")]
    pub selector: BTreeMap<String, String>,
    /// Its ports.
    #[serde(deserialize_with = "nullable")]
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServicePort {
    /// Its name; empty where it has none.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// What is spoken to it; empty, for TCP, where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub protocol: String,
    /// The port that clients use.
    pub port: u16,
    /// The port of the pods; the same where nothing is said.
    pub target_port: Option<TargetPort>,
}

/// A port of a pod, by number or by the name that a container gives it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum TargetPort {
    /// By number.
    Number(u16),
    /// By name.
    Name(String),
}

/// A ServiceAccount: its uid, which its tokens name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceAccount {
    /// Name and uid.
    pub metadata: Meta,
}

/// An EndpointSlice.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointSlice {
    /// The label `kubernetes.io/service-name` says whose it is.
    pub metadata: Meta,
    /// The endpoints.
    #[serde(deserialize_with = "nullable")]
    pub endpoints: Vec<Endpoint>,
}

/// One endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Endpoint {
    /// Its state.
    #[serde(deserialize_with = "nullable")]
    pub conditions: EndpointConditions,
}

/// The state of an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EndpointConditions {
    /// `None` counts as ready.
    pub ready: Option<bool>,
}

/// An Event of either API group, in one form.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "RawEvent")]
pub struct Event {
    /// Name and namespace.
    pub metadata: Meta,
    /// What it is about.
    pub about: ObjectReference,
    /// FailedCreatePodSandBox, BackOff, ...
    pub reason: String,
    /// Normal or Warning.
    pub kind: String,
    /// The text, without tokens.
    pub message: String,
    /// How often it was seen.
    pub count: u32,
    /// First time.
    pub first: Option<Timestamp>,
    /// Last time.
    pub last: Option<Timestamp>,
    /// The node whose kubelet said it.
    pub host: String,
}

impl Event {
    /// The API server takes any name for what an event is about, from everybody who may write events: what nothing can be
    /// called is dropped, and the event is about nothing. It is no gap, or any tenant could make one. A host that is no
    /// node's name is a controller's name for itself.
    pub(super) fn trim(&mut self) {
        let about = &self.about;
        if !about.name.is_empty()
            && names::refused(Rule::of_kind(&about.kind), &about.namespace, &about.name).is_some()
        {
            self.about = ObjectReference::default();
        }
        if !names::is_subdomain(&self.host) {
            self.host.clear();
        }
    }
}

/// A reference to an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    /// Kind.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// Namespace.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    /// Name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Uid.
    #[serde(deserialize_with = "nullable")]
    pub uid: String,
}

/// Both event APIs at once: core/v1 fields and their events.k8s.io/v1 names.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawEvent {
    metadata: Meta,
    involved_object: Option<ObjectReference>,
    regarding: Option<ObjectReference>,
    #[serde(deserialize_with = "nullable")]
    reason: String,
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: String,
    #[serde(deserialize_with = "nullable")]
    message: String,
    #[serde(deserialize_with = "nullable")]
    note: String,
    count: Option<u32>,
    deprecated_count: Option<u32>,
    first_timestamp: Option<Timestamp>,
    last_timestamp: Option<Timestamp>,
    deprecated_first_timestamp: Option<Timestamp>,
    deprecated_last_timestamp: Option<Timestamp>,
    #[serde(deserialize_with = "timestamp_or_empty")]
    event_time: Option<Timestamp>,
    series: Option<Series>,
    #[serde(deserialize_with = "nullable")]
    source: EventSource,
    #[serde(deserialize_with = "nullable")]
    deprecated_source: EventSource,
    #[serde(deserialize_with = "nullable")]
    reporting_instance: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    count: Option<u32>,
    last_observed_time: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct EventSource {
    #[serde(deserialize_with = "nullable")]
    host: String,
}

fn timestamp_or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(serde::de::Error::custom) }
}

impl From<RawEvent> for Event {
    fn from(raw: RawEvent) -> Event {
        let message = if raw.message.is_empty() { raw.note } else { raw.message };
        let first = raw.first_timestamp.or(raw.deprecated_first_timestamp).or(raw.event_time);
        let series = raw.series.unwrap_or_default();
        let last = raw
            .last_timestamp
            .or(raw.deprecated_last_timestamp)
            .or(series.last_observed_time)
            .or(raw.event_time)
            .or(raw.metadata.creation_timestamp);
        let host = [raw.source.host, raw.deprecated_source.host, raw.reporting_instance]
            .into_iter()
            .find(|host| !host.is_empty())
            .unwrap_or_default();
        Event {
            about: raw.involved_object.or(raw.regarding).unwrap_or_default(),
            reason: raw.reason,
            kind: raw.kind,
            message: crate::redact::text(&message).into_owned(),
            count: series.count.or(raw.count).or(raw.deprecated_count).unwrap_or(1).max(1),
            first,
            last,
            host,
            metadata: raw.metadata,
        }
    }
}

/// A former template of a DaemonSet or StatefulSet.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ControllerRevision {
    /// Owner and labels say whose it is.
    pub metadata: Meta,
    /// Its number: the higher, the newer.
    #[serde(deserialize_with = "nullable")]
    pub revision: i64,
    /// What it holds.
    #[serde(deserialize_with = "nullable")]
    pub data: RevisionData,
}

/// The part of the object that a revision keeps.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RevisionData {
    /// The specification.
    #[serde(deserialize_with = "nullable")]
    pub spec: RevisionSpec,
}

/// The specification in a revision.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RevisionSpec {
    /// The template of that time.
    #[serde(deserialize_with = "nullable")]
    pub template: PodTemplate,
}
