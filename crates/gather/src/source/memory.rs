//! A small cluster in memory: the source for cases of cards, and for small dumps.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::diagnostics::Diagnostics;
use super::{Completeness, ObjectSink, Origin, Source, Uncollected};
use crate::fetched::{Fetched, Why};
use crate::item::{Access, Item, Kind, Probe, Scope, Server, controller_config, link_credentials};
use crate::knowledge::Knowledge;
use crate::node_files::NodeFiles;
use crate::request::Request;

/// One object: its namespace and name, and its JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredObject {
    /// Namespace; empty for cluster-scoped objects.
    pub namespace: String,
    pub name: String,
    /// The object as JSON text.
    pub json: Vec<u8>,
}

/// A pod, and the certificates that it serves in PEM, or the error.
pub type ServedByPod = (String, Result<String, String>);

/// A cluster in memory.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Objects by kind.
    pub objects: BTreeMap<Kind, Vec<StoredObject>>,
    /// Complete kinds.
    pub completeness: Completeness,
    /// Items that fail whatever objects exist.
    pub trouble: BTreeMap<Item, Why>,
    /// Unreadable objects, by kind: the list is incomplete.
    pub malformed: BTreeMap<Kind, Vec<String>>,
    /// The API server's version, in the form of `/version` (`{"gitVersion": ...}`).
    pub server_version: Option<serde_json::Value>,
    /// The operator's CLI version.
    pub cli_version: Option<String>,
    /// Extension commands on PATH; `None` if they are unknown.
    pub cli_extensions: Option<Vec<String>>,
    /// Responses of running programs, each as the JSON of a [`crate::item::ProbeAnswer`].
    pub probes: Vec<(Probe, StoredObject)>,
    /// Certificates in PEM that the pods of servers serve, or errors.
    pub served: BTreeMap<Server, Vec<ServedByPod>>,
    /// Node evidence.
    pub nodes: Vec<NodeFiles>,
    /// Logs, each as the JSON of a [`crate::model::log::LogObject`].
    pub logs: Vec<Vec<u8>>,
    /// Output of `linkerd diagnostics`.
    pub diagnostics: Diagnostics,
    /// Denied permissions of the operator; all others are allowed. `None`: unknown.
    pub denied: Option<BTreeSet<Access>>,
    /// Time of the evidence.
    pub captured_at: Option<Timestamp>,
    /// Objects of kinds that no check reads.
    pub uncollected: Uncollected,
    /// For the report.
    pub origin: Option<Origin>,
}

/// An object that cannot be filed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnObject {
    /// It has no `kind` or no `metadata.name`.
    #[error("not a Kubernetes object: it has no {0}")]
    Lacks(&'static str),
}

impl Memory {
    /// Files an object under its kind; kinds that are never read are dropped. A later object with the same kind,
    /// namespace and name replaces the earlier one.
    ///
    /// # Errors
    /// It has no kind or no name.
    pub fn add(&mut self, object: &serde_json::Value) -> Result<(), NotAnObject> {
        let text = |pointer: &str| object.pointer(pointer).and_then(serde_json::Value::as_str).unwrap_or_default();
        let kind = text("/kind");
        if kind.is_empty() {
            return Err(NotAnObject::Lacks("kind"));
        }
        let Some(kind) = Kind::of_manifest(text("/apiVersion"), kind) else {
            if let Some(unread) = Knowledge::embedded().unread().of_manifest(text("/apiVersion"), kind) {
                *self.uncollected.held.entry(unread.resource.clone()).or_default() += 1;
            }
            return Ok(());
        };
        let name = text("/metadata/name").to_owned();
        if name.is_empty() {
            return Err(NotAnObject::Lacks("metadata.name"));
        }
        let namespace = match (kind.info().namespaced, text("/metadata/namespace")) {
            (false, _) => String::new(),
            (true, "") => "default".to_owned(),
            (true, namespace) => namespace.to_owned(),
        };
        let held = StoredObject { namespace, name, json: object.to_string().into_bytes() };
        let list = self.objects.entry(kind).or_default();
        match list.iter_mut().find(|h| h.namespace == held.namespace && h.name == held.name) {
            Some(earlier) => *earlier = held,
            None => list.push(held),
        }
        Ok(())
    }

    fn list(&self, kind: Kind, sink: &mut dyn ObjectSink) -> Fetched {
        let held = self.objects.get(&kind).map_or(&[][..], Vec::as_slice);
        held.iter().for_each(|object| sink.object(&object.json));
        let mut reasons: Vec<Why> = self
            .malformed
            .get(&kind)
            .into_iter()
            .flatten()
            .map(|message| Why::Malformed { message: message.clone() })
            .collect();
        if !self.completeness.covers(kind) {
            if held.is_empty() && reasons.is_empty() {
                return Fetched::Missing { reason: Why::NotCaptured };
            }
            reasons.push(Why::PerhapsMore);
        }
        if reasons.is_empty() { Fetched::Complete } else { Fetched::Partial { reasons } }
    }

    fn read_object(&self, kind: Kind, namespace: &str, name: &str, sink: &mut dyn ObjectSink) -> Fetched {
        let held = self.objects.get(&kind).into_iter().flatten();
        match held.into_iter().find(|h| h.name == name && h.namespace == namespace) {
            Some(object) => {
                sink.object(&object.json);
                Fetched::Complete
            }
            None if self.completeness.covers(kind) => Fetched::Complete,
            None => Fetched::Missing { reason: Why::NotCaptured },
        }
    }
}

impl Memory {
    /// Why an item is unavailable. Errors of all probes of a program, and of objects that Links or ingress controllers
    /// name, apply to each of them.
    fn trouble_of(&self, item: &Item) -> Option<&Why> {
        let all = match item {
            Item::Probe(Probe { program, .. }) => Some(Item::Probe(Probe::new(*program))),
            Item::Named { kind: Kind::Secret, scope: Scope::Fixed(_), .. } => Some(link_credentials()),
            Item::Named { kind: Kind::ConfigMap, scope: Scope::Fixed(_), .. } => Some(controller_config()),
            _ => None,
        };
        self.trouble.get(item).or_else(|| self.trouble.get(&all?))
    }
}

impl Source for Memory {
    fn origin(&self) -> Origin {
        self.origin.clone().unwrap_or_else(|| Origin { kind: "case".to_owned(), name: String::new() })
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        if let Some(why) = self.trouble_of(&request.item) {
            if let (Why::PerhapsMore, Some(kind)) = (why, request.item.kind()) {
                self.list(kind, sink);
                return Fetched::Partial { reasons: vec![why.clone()] };
            }
            return Fetched::Missing { reason: why.clone() };
        }
        let one = |value: Option<serde_json::Value>, otherwise: Why, sink: &mut dyn ObjectSink| match value {
            Some(value) => {
                sink.object(value.to_string().as_bytes());
                Fetched::Complete
            }
            None => Fetched::Missing { reason: otherwise },
        };
        match &request.item {
            Item::List(kind) => self.list(*kind, sink),
            Item::Named { kind, scope, name } => {
                let namespace = match scope {
                    Scope::Cluster => "",
                    _ => request.namespace.as_deref().unwrap_or_default(),
                };
                self.read_object(*kind, namespace, name, sink)
            }
            Item::Served(server) => {
                let pods = self.served.get(server);
                let namespace = request.namespace.as_deref().unwrap_or_default();
                one(pods.map(|pods| server.answer(namespace, pods)), Why::NotOffered, sink)
            }
            Item::Probe(probe) => {
                let place = (request.namespace.as_deref().unwrap_or_default(), probe.pod.as_str());
                let of = |held: &&(Probe, StoredObject)| {
                    held.0 == *probe && (held.1.namespace.as_str(), held.1.name.as_str()) == place
                };
                match self.probes.iter().find(of) {
                    Some((_, held)) => {
                        sink.object(&held.json);
                        Fetched::Complete
                    }
                    None => Fetched::Missing { reason: Why::NotOffered },
                }
            }
            Item::Access(access) => {
                let answered = self.denied.as_ref().map(|denied| {
                    let mut review = access.review(request.namespace.as_deref());
                    review["status"] = serde_json::json!({ "allowed": !denied.contains(access) });
                    review
                });
                one(answered, Why::NotCaptured, sink)
            }
            Item::ServerVersion => one(self.server_version.clone(), Why::NotCaptured, sink),
            Item::CliVersion => {
                let extensions = &self.cli_extensions;
                let version = self.cli_version.as_ref();
                let version = version.map(|v| serde_json::json!({ "version": v, "extensions": extensions }));
                one(version, Why::NotOffered, sink)
            }
            Item::Logs if self.logs.is_empty() => Fetched::Missing { reason: Why::NotOffered },
            Item::Logs => {
                self.logs.iter().for_each(|log| sink.object(log));
                Fetched::Complete
            }
            Item::Diagnostics => self.diagnostics.answer(&mut |json| sink.object(json)),
            Item::NodeFiles if self.nodes.is_empty() => Fetched::Missing { reason: Why::NotOffered },
            Item::NodeFiles => {
                self.nodes.iter().for_each(|files| sink.node(files.clone()));
                Fetched::Complete
            }
        }
    }

    fn captured_at(&self) -> Option<Timestamp> {
        self.captured_at
    }

    fn uncollected(&self) -> Uncollected {
        self.uncollected.clone()
    }
}
