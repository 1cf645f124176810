//! Several sources as one: a cluster with additional node evidence and logs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::diagnostics::Diagnostics;
use super::logs::Logs;
use super::nodes::{NodeEvidence, collected_at, twice};
use super::{ObjectSink, Origin, Source, Uncollected};
use crate::fetched::{Fetched, Why};
use crate::item::Item;
use crate::node_files::NodeFiles;
use crate::request::Request;

/// The cluster from `base`; nodes, logs and `linkerd diagnostics` from both.
#[derive(Debug)]
pub struct Layered<S> {
    base: S,
    nodes: Option<NodeEvidence>,
    logs: Option<Logs>,
    diagnostics: Option<Diagnostics>,
    warnings: Mutex<Vec<String>>,
}

impl<S: Source> Layered<S> {
    /// Adds node evidence to a cluster, if any.
    pub fn new(base: S, nodes: Option<NodeEvidence>) -> Layered<S> {
        let warnings = nodes.as_ref().map(|nodes| nodes.warnings().to_vec()).unwrap_or_default();
        Layered { base, nodes, logs: None, diagnostics: None, warnings: Mutex::new(warnings) }
    }

    /// Adds logs.
    pub fn with_logs(self, logs: Option<Logs>) -> Layered<S> {
        Layered { logs: logs.filter(|logs| !logs.is_empty()), ..self }
    }

    /// Adds output of `linkerd diagnostics`.
    pub fn with_diagnostics(self, diagnostics: Option<Diagnostics>) -> Layered<S> {
        Layered { diagnostics: diagnostics.filter(|given| !given.is_empty()), ..self }
    }

    /// The cluster's source.
    pub fn base(&self) -> &S {
        &self.base
    }

    /// Warnings about the node evidence. Nodes in both are known after node files were fetched.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn node_files(&self, nodes: &NodeEvidence, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let mut held = BaseNodes::default();
        let base = self.base.fetch(request, &mut held).await;
        let mut warnings = Vec::new();
        let given = nodes.answer(&mut |files| {
            let earlier = held.0.get(&files.node);
            // Explicitly given evidence wins, unless both have a collection time.
            let base_wins = earlier.is_some_and(|earlier| match (collected_at(earlier), collected_at(&files)) {
                (Some(base), Some(given)) => base > given,
                _ => false,
            });
            if earlier.is_some() {
                let (kept, left) = if base_wins { ("the bundle", "--nodes") } else { ("--nodes", "the bundle") };
                warnings.push(twice(&files.node, kept, left));
            }
            if !base_wins {
                held.0.insert(files.node.clone(), files);
            }
        });
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(warnings);
        held.0.into_values().for_each(|files| sink.node(files));
        beside(base, given)
    }
}

/// The combined outcome.
fn beside(base: Fetched, given: Fetched) -> Fetched {
    match (base, given) {
        // With additional evidence, missing evidence of the cluster's source is not a gap.
        (Fetched::Missing { reason: Why::NotOffered | Why::NotCaptured }, given) => given,
        (Fetched::Complete, given) => given,
        (Fetched::Missing { reason }, given) => partial(vec![reason], given),
        (Fetched::Partial { reasons }, given) => partial(reasons, given),
    }
}

fn partial(mut reasons: Vec<Why>, other: Fetched) -> Fetched {
    match other {
        Fetched::Complete => {}
        Fetched::Partial { reasons: more } => reasons.extend(more),
        Fetched::Missing { reason } => reasons.push(reason),
    }
    Fetched::Partial { reasons }
}

impl<S: Source> Source for Layered<S> {
    fn origin(&self) -> Origin {
        let mut origin = self.base.origin();
        if let (true, Some(logs)) = (origin.name.is_empty(), &self.logs) {
            logs.name().clone_into(&mut origin.name);
        }
        origin
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        match (&request.item, &self.nodes) {
            (Item::NodeFiles, Some(nodes)) => self.node_files(nodes, request, sink).await,
            (Item::Logs, _) => match &self.logs {
                Some(logs) => {
                    let base = self.base.fetch(request, sink).await;
                    beside(base, logs.answer(&mut |log| sink.object(log)))
                }
                None => self.base.fetch(request, sink).await,
            },
            (Item::Diagnostics, _) => {
                let base = self.base.fetch(request, sink).await;
                match &self.diagnostics {
                    Some(given) => beside(base, given.answer(&mut |json| sink.object(json))),
                    None => base,
                }
            }
            _ => self.base.fetch(request, sink).await,
        }
    }

    fn captured_at(&self) -> Option<Timestamp> {
        self.base.captured_at()
    }

    fn uncollected(&self) -> Uncollected {
        self.base.uncollected()
    }

    fn already_redacted(&self) -> usize {
        self.base.already_redacted()
    }
}

/// The node files of the base.
#[derive(Default)]
struct BaseNodes(BTreeMap<String, NodeFiles>);

impl ObjectSink for BaseNodes {
    fn object(&mut self, _: &[u8]) {}

    fn node(&mut self, files: NodeFiles) {
        self.0.insert(files.node.clone(), files);
    }

    fn restart(&mut self) {
        self.0.clear();
    }
}
