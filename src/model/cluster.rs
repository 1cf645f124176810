//! The collected evidence, filed by [`Item`]. It says what was found and how each question ended; checks reach it
//! through [`crate::checks::Context`], which makes "unknown" travel.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::log::Log;
use super::node::NodeSnapshot;
use crate::fetched::{Fetched, Why};
use crate::item::{Asked, Item, Kind, Namespaces};
use crate::objects::{Namespace, Object, Store};
use crate::request::Request;
use crate::version::{K8sVersion, LinkerdVersion};

/// How one request ended, and what came.
pub struct Answer {
    /// The request, with its namespace.
    pub request: Request,
    /// How it ended.
    pub fetched: Fetched,
    pub(crate) store: Box<dyn Store>,
    /// The redacted objects, where they were to be kept whole.
    pub(crate) whole: Vec<serde_json::Value>,
}

impl Answer {
    /// How many objects came.
    pub fn count(&self) -> usize {
        self.store.count()
    }

    /// The redacted objects, whole, where that was asked for.
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

/// Which clock the report judges by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeSource {
    /// The evidence says when it was captured.
    Captured,
    /// `--at`.
    Flag,
    /// This machine's clock.
    Clock,
}

/// Everything that was collected.
pub struct Cluster {
    pub(crate) answers: BTreeMap<Item, Answer>,
    /// The namespaces that scopes stand for.
    pub namespaces: Namespaces,
    /// The API server's version.
    pub server_version: Result<K8sVersion, Why>,
    /// The version of the operator's own CLI.
    pub cli_version: Result<LinkerdVersion, Why>,
    /// The commands of extensions that it would find, `linkerd-NAME`; `None` where nobody looked for them.
    pub cli_extensions: Option<Vec<String>>,
    /// Node evidence, by node name; the error says why there is none at all.
    pub nodes: Result<Vec<NodeSnapshot>, Why>,
    /// Node evidence that was offered and could not be read.
    pub node_trouble: Vec<Why>,
    /// The moment the report judges at.
    pub at: Timestamp,
    /// Where that moment comes from.
    pub time_source: TimeSource,
    /// Whether the evidence was read from a cluster just now.
    pub live: bool,
}

impl Cluster {
    /// An answer, if the item was asked for.
    pub fn answer(&self, item: &Item) -> Option<&Answer> {
        self.answers.get(item)
    }

    /// Every answer, in order.
    pub fn answers(&self) -> impl Iterator<Item = (&Item, &Answer)> {
        self.answers.iter()
    }

    /// Takes an answer away, as if nobody had provided it.
    pub(crate) fn withhold(&mut self, item: &Item) -> Option<Answer> {
        let answer = self.answers.remove(item)?;
        let reason = item.asked().map_or(Why::NotCaptured, Asked::absent);
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

    /// Gives an answer back.
    pub(crate) fn restore(&mut self, answer: Answer) {
        self.answers.insert(answer.request.item.clone(), answer);
    }

    /// The uid of the namespace `kube-system`: which cluster this is. `None` where the evidence does not hold it.
    pub fn uid(&self) -> Option<String> {
        let namespaces = self.answer(&Item::List(Kind::Namespace))?.objects::<Namespace>();
        let system = namespaces.iter().find(|namespace| namespace.metadata.name == "kube-system")?;
        Some(system.metadata.uid.to_string()).filter(|uid| !uid.is_empty())
    }

    /// Objects of every answer together.
    pub fn object_count(&self) -> usize {
        self.answers.values().map(Answer::count).sum()
    }
}
