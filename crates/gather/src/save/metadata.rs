//! Metadata of a bundle, and the selection of its contents.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::collect::Collected;
use crate::command::{Rerun, RerunOptions};
use crate::item::Namespaces;
use crate::model::cluster::TimeSource;
use crate::request::Request;
use crate::source::Uncollected;

/// Metadata of a bundle.
#[derive(Debug, Clone)]
pub struct ClosingEntries {
    /// The time at which the saved run judged the evidence; a replay uses the same. `None` if the time of the
    /// evidence is unknown, so that a replay judges it at its own time and states this.
    pub captured_at: Option<Timestamp>,
    /// Kubeconfig context, or another name of the cluster.
    pub cluster: Option<String>,
    /// Namespaces of the control plane and linkerd-cni.
    pub namespaces: Namespaces,
    /// The operator's CLI version if a flag set it; else the source's value is kept.
    pub cli_version: Option<String>,
    /// Objects of kinds that no check reads.
    pub uncollected: Uncollected,
    /// Number of objects and files with replaced or dropped values.
    pub redacted: usize,
    /// Options to request the same evidence again.
    pub rerun: Rerun,
    /// Tickets only: the options of the run, if they were not the defaults.
    pub asked: Option<RerunOptions>,
}

impl ClosingEntries {
    /// Metadata of a collected cluster.
    pub fn new(collected: &Collected, cluster: Option<String>, cli_version: Option<String>) -> ClosingEntries {
        let cluster_name = cluster;
        let cluster = &collected.cluster;
        let is_dated = cluster.live || cluster.time_source != TimeSource::Clock;
        ClosingEntries {
            captured_at: is_dated.then_some(cluster.at),
            cluster: cluster_name,
            namespaces: collected.cluster.namespaces.clone(),
            cli_version,
            uncollected: collected.uncollected.clone(),
            redacted: collected.redaction.touched,
            rerun: Rerun::default(),
            asked: None,
        }
    }
}

/// Selection of the contents of a bundle.
#[derive(Debug, Clone, Default)]
pub struct Contents {
    /// Evidence to leave out; the manifest lists it.
    pub left_out: BTreeSet<Request>,
    /// Additional files for people.
    pub beside: Vec<(String, Vec<u8>)>,
}
