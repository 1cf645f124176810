//! The collected evidence by [`Item`]: the objects, and the outcome of each request. Checks access it
//! through the context of a check, which propagates missing evidence.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::log::Log;
use super::node::NodeSnapshot;
use super::owners::Owners;
use crate::chart::gitops::ValueKey;
use crate::fetched::{Fetched, Why};
use crate::item::diagnostic::Diagnostic;
use crate::item::{Item, Kind, Namespaces, Query};
use crate::objects::mistyped::Mistyped;
use crate::objects::{Job, Listed, Namespace, Object, ReplicaSet, Store};
use crate::policy::POLICY_KINDS;
use crate::request::Request;
use crate::version::{K8sVersion, LinkerdVersion};

/// The outcome of one request, with its objects.
pub struct Answer {
    /// The request, with its namespace.
    pub request: Request,
    /// How it ended.
    pub fetched: Fetched,
    pub store: Box<dyn Store>,
    /// The complete redacted objects, if they are kept.
    pub whole: Vec<serde_json::Value>,
}

impl Answer {
    /// The number of objects.
    pub fn count(&self) -> usize {
        self.store.count()
    }

    /// The complete redacted objects, if requested.
    pub fn whole(&self) -> &[serde_json::Value] {
        &self.whole
    }

    /// The objects, if they are of type `T`.
    pub fn objects<T: Object>(&self) -> &[T] {
        let objects = self.store.as_any().downcast_ref::<Vec<T>>();
        debug_assert!(objects.is_some(), "{:?} holds another type", self.request.item);
        objects.map_or(&[], Vec::as_slice)
    }
}

/// Whether objects of a kind are always kept completely (redacted): expressions of `defects.yaml` read any
/// field of them. They are few in a cluster, unlike pods.
pub fn is_kept_in_full(kind: Kind) -> bool {
    const OTHERS: [Kind; 5] = [Kind::EgressNetwork, Kind::ServiceProfile, Kind::TLSRoute, Kind::TCPRoute, Kind::Link];
    POLICY_KINDS.contains(&kind) || OTHERS.contains(&kind)
}

/// The source of the report's evaluation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The evidence contains its capture time.
    Captured,
    /// `--at`.
    Flag,
    /// This machine's clock.
    Clock,
}

/// Everything that was collected.
pub struct Cluster {
    pub answers: BTreeMap<Item, Answer>,
    /// The namespaces that scopes resolve to.
    pub namespaces: Namespaces,
    /// The API server's version.
    pub server_version: Result<K8sVersion, Why>,
    /// The version of the operator's own CLI.
    pub cli_version: Result<LinkerdVersion, Why>,
    /// The extension commands (`linkerd-NAME`) that the CLI would find; `None` if not searched.
    pub cli_extensions: Option<Vec<String>>,
    /// Node evidence, by node name; the error explains why there is none.
    pub nodes: Result<Vec<NodeSnapshot>, Why>,
    /// Provided node evidence that could not be read.
    pub node_trouble: Vec<Why>,
    /// The evaluation time of the report.
    pub at: Timestamp,
    /// The source of that time.
    pub time_source: TimeSource,
    /// Whether the evidence was just read from a cluster.
    pub live: bool,
    /// Objects that are applied by the change of this run: kind, namespace, name.
    pub applied: BTreeSet<(Kind, String, String)>,
    /// Values of the wrong type in the change of the run: the API server rejects their objects.
    pub mistyped: Vec<Mistyped>,
    /// Objects of the change of the run that differ between its folders, so that none is known: kind, namespace, name.
    pub apart: BTreeSet<(Kind, String, String)>,
    /// Keys of Linkerd in chart values of the change of the run.
    pub value_keys: Vec<ValueKey>,
}

impl Cluster {
    /// An answer, if the item was requested.
    pub fn answer(&self, item: &Item) -> Option<&Answer> {
        self.answers.get(item)
    }

    /// The objects of a kind, as far as they are available.
    pub fn list<K: Listed>(&self) -> &[K::Object] {
        self.answer(&Item::List(K::KIND)).map_or(&[], Answer::objects)
    }

    /// Maps its pods to their workloads, as far as their owners are available.
    pub fn owners(&self) -> Owners<'_> {
        Owners::new(self.list::<ReplicaSet>(), self.list::<Job>())
    }

    /// The available output of `linkerd diagnostics`.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.answer(&Item::Diagnostics).map_or(&[], Answer::objects)
    }

    /// Every answer, in order.
    pub fn answers(&self) -> impl Iterator<Item = (&Item, &Answer)> {
        self.answers.iter()
    }

    /// Removes an answer, as if it had not been provided.
    pub fn withhold(&mut self, item: &Item) -> Option<Answer> {
        let answer = self.answers.remove(item)?;
        let reason = item.query().map_or(Why::NotCaptured, Query::absent);
        let store = match item {
            Item::Logs => Some(Box::new(Vec::<Log>::new()) as Box<dyn Store>),
            item => item.store(),
        };
        if let Some(store) = store {
            let request = answer.request.clone();
            let fetched = Fetched::Missing { reason };
            self.answers.insert(item.clone(), Answer { request, fetched, store, whole: Vec::new() });
        }
        Some(answer)
    }

    /// Restores an answer.
    pub fn restore(&mut self, answer: Answer) {
        self.answers.insert(answer.request.item.clone(), answer);
    }

    /// The uid of the namespace `kube-system`, which identifies the cluster. `None` if it is not in the
    /// evidence.
    pub fn uid(&self) -> Option<String> {
        let system = self.list::<Namespace>().iter().find(|namespace| namespace.metadata.name == "kube-system")?;
        Some(system.metadata.uid.to_string()).filter(|uid| !uid.is_empty())
    }

    /// The number of objects in all answers.
    pub fn object_count(&self) -> usize {
        self.answers.values().map(Answer::count).sum()
    }
}
