//! What a bundle says beside what was collected, and what of that goes into it.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::collect::Collected;
use crate::command::{Asked, Rerun};
use crate::item::Namespaces;
use crate::request::Request;
use crate::source::Uncollected;

/// What a bundle says beside what was collected.
#[derive(Debug, Clone)]
pub struct Closing {
    /// The moment of judgement of the run that is saved: the same evidence, replayed, is judged at the same moment.
    pub captured_at: Timestamp,
    /// The kubeconfig context, or what else the operator calls the cluster.
    pub cluster: Option<String>,
    /// Where the control plane and linkerd-cni were looked for.
    pub namespaces: Namespaces,
    /// The operator's CLI, where a flag said it; else what the source answered is kept.
    pub cli_version: Option<String>,
    /// What was held of kinds that no check reads.
    pub uncollected: Uncollected,
    /// In how many objects and files the border replaced or dropped something.
    pub redacted: usize,
    /// What it takes to ask the same again.
    pub rerun: Rerun,
    /// Of a ticket: what was asked, where that was not everything.
    pub asked: Option<Asked>,
}

impl Closing {
    /// What a collected cluster says.
    pub fn of(collected: &Collected, cluster: Option<String>, cli_version: Option<String>) -> Closing {
        Closing {
            captured_at: collected.cluster.at,
            cluster,
            namespaces: collected.cluster.namespaces.clone(),
            cli_version,
            uncollected: collected.uncollected.clone(),
            redacted: collected.redaction.touched,
            rerun: Rerun::default(),
            asked: None,
        }
    }
}

/// What goes into a bundle of what was collected.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    /// What stays out; the manifest names it, so that nobody takes it for nothing.
    pub left_out: BTreeSet<Request>,
    /// Files for people, which nothing reads again.
    pub beside: Vec<(String, Vec<u8>)>,
}
