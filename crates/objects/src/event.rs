//! Events, of either API group.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::meta::{Meta, nullable};
use super::shared::Word;
use super::time::Time;
use super::uid::Uid;
use super::{Kind, KindInfo, Listed, Object, by_metadata};
use crate::names::{self, NameRule};
use crate::redact;

/// An Event of either API group.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "RawEvent")]
pub struct Event {
    /// Name and namespace.
    pub metadata: Meta,
    /// Its object.
    pub about: ObjectReference,
    /// FailedCreatePodSandBox, BackOff, ...
    pub reason: Word,
    /// Normal or Warning.
    pub kind: Word,
    /// The text, without tokens.
    pub message: Box<str>,
    pub count: u32,
    /// First occurrence.
    pub first: Time,
    /// Last occurrence.
    pub last: Time,
    /// Node of the reporting kubelet.
    pub host: Word,
}

impl Event {
    /// The API server accepts any name for an event's object, from every client that may write events: an invalid name
    /// is dropped, and the event has no object. This is not a gap, since any tenant could cause one. A host that is not
    /// a valid node name is a controller's name for itself.
    fn cut(&mut self) {
        let about = &self.about;
        if !about.name.is_empty()
            && names::refused(NameRule::of_kind(&about.kind), &about.namespace, &about.name).is_some()
        {
            self.about = ObjectReference::default();
        }
        if !names::is_subdomain(&self.host) {
            self.host = Word::default();
        }
    }
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
            .or(raw.metadata.creation_timestamp.get());
        let host = [raw.source.host, raw.deprecated_source.host, raw.reporting_instance]
            .into_iter()
            .find(|host| !host.is_empty())
            .unwrap_or_default();
        Event {
            about: raw.involved_object.or(raw.regarding).unwrap_or_default(),
            reason: raw.reason,
            kind: raw.kind,
            message: redact::free_text(&message).into(),
            count: series.count.or(raw.count).or(raw.deprecated_count).unwrap_or(1).max(1),
            first: first.into(),
            last: last.into(),
            host,
            metadata: raw.metadata,
        }
    }
}

/// A reference to an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    #[serde(deserialize_with = "nullable")]
    pub kind: Word,
    #[serde(deserialize_with = "nullable")]
    pub namespace: Word,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub uid: Uid,
    /// Its part, as `spec.containers{web}`; may be empty.
    #[serde(deserialize_with = "nullable")]
    pub field_path: Word,
}

impl ObjectReference {
    /// The container of a pod that it names.
    pub fn container(&self) -> Option<&str> {
        let (list, name) = self.field_path.as_str().strip_suffix('}')?.split_once('{')?;
        matches!(list, "spec.containers" | "spec.initContainers" | "spec.ephemeralContainers").then_some(name)
    }
}

impl Listed for Event {
    type Object = Event;
    const KIND: Kind = Kind::Event;
    const INFO: KindInfo = KindInfo {
        aliases: &["ev"],
        passes: "{involvedObject: reference, regarding: reference, related: reference, reason: word, type: word, \
             action: word, message: sentence, note: sentence, firstTimestamp: word, lastTimestamp: word, \
             deprecatedFirstTimestamp: word, deprecatedLastTimestamp: word, eventTime: word, series: \
             {lastObservedTime: word, state: word}, source: source, deprecatedSource: source, reportingInstance: \
             name, reportingComponent: name, reportingController: name}",
        ..KindInfo::namespaced("", "v1", "Event", "events")
    };
}

impl Object for Event {
    const NAMES: NameRule = NameRule::Segment;

    by_metadata!();

    fn trim(&mut self) {
        self.cut();
    }
}

/// Both event APIs at once: core/v1 fields and their events.k8s.io/v1 names.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct RawEvent {
    metadata: Meta,
    involved_object: Option<ObjectReference>,
    regarding: Option<ObjectReference>,
    #[serde(deserialize_with = "nullable")]
    reason: Word,
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: Word,
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
    reporting_instance: Word,
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
    host: Word,
}

fn timestamp_or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(serde::de::Error::custom) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_field_path_names_a_container() {
        let container = |path: &str| {
            let about = ObjectReference { field_path: path.into(), ..ObjectReference::default() };
            about.container().map(str::to_owned)
        };
        assert_eq!(container("spec.containers{web}").as_deref(), Some("web"));
        assert_eq!(container("spec.initContainers{linkerd-proxy}").as_deref(), Some("linkerd-proxy"));
        assert_eq!(container("spec.volumes{data}"), None);
        assert_eq!(container(""), None);
    }
}
