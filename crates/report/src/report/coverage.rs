//! The coverage of a run: gaps with the checks that lack the evidence, and kinds that no check reads.

use std::collections::BTreeSet;

use crate::checks::CheckResult;
use crate::collect::Collected;
use crate::command::Connection;
use crate::item::{Item, Kind};
use crate::knowledge::{Knowledge, UnreadKind};
use crate::missing::{GapRemediation, Missing};
use crate::model::cluster::Cluster;
use crate::objects::CustomResourceDefinition;

/// The coverage of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Number of objects that were read.
    pub objects: usize,
    /// Nodes in the cluster; `None` if unknown.
    pub nodes: Option<usize>,
    /// Nodes with a snapshot.
    pub snapshots: usize,
    /// The missing evidence.
    pub gaps: Vec<Gap>,
    /// Kinds that exist or may exist and that no check reads; in the order of
    /// [`crate::knowledge::UnreadKinds`].
    pub unread: Vec<Unread>,
    /// Parts of manifests that cannot be applied and were not read, as text.
    pub set_aside: Vec<String>,
}

/// A kind that no check reads, which a cluster serves or a dump contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// `servers.policy.linkerd.io`
    pub resource: String,
    /// `Server`
    pub kind: String,
    /// The subject of the kind: `authorization policies`.
    pub about: String,
    /// The number of objects in the evidence; `None` if not counted.
    pub objects: Option<usize>,
}

/// A gap in the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The missing evidence, with the reason.
    pub missing: Missing,
    /// The checks that needed it.
    pub checks: Vec<&'static str>,
    /// How to close it.
    pub close: GapRemediation,
    /// Whether the evidence was requested, by a flag or by selecting only checks that need it: such gaps
    /// make the exit status 4.
    pub asked_for: bool,
}

/// The coverage, except for [`unread`].
pub(super) fn coverage(
    cluster: &Cluster,
    results: &[CheckResult],
    none_ran: bool,
    connection: &Connection,
) -> Coverage {
    let mut gaps: std::collections::BTreeMap<&Missing, Vec<&'static str>> = Default::default();
    for result in results {
        for missing in &result.gaps {
            gaps.entry(missing).or_default().push(result.id);
        }
    }
    Coverage {
        objects: cluster.object_count(),
        nodes: cluster
            .answer(&Item::List(Kind::Node))
            .filter(|answer| answer.fetched == crate::fetched::Fetched::Complete)
            .map(|answer| answer.count()),
        snapshots: cluster.nodes.as_ref().map_or(0, Vec::len),
        gaps: gaps
            .into_iter()
            .map(|(missing, checks)| Gap {
                asked_for: none_ran || missing.was_asked_for(),
                missing: missing.clone(),
                checks,
                close: missing.close().aimed(connection),
            })
            .collect(),
        unread: Vec::new(),
        set_aside: Vec::new(),
    }
}

/// The kinds that no check reads: those with objects in the evidence and, unless it is complete, those that
/// the cluster serves according to its CRDs.
pub fn unread(collected: &Collected, knowledge: &Knowledge) -> Vec<Unread> {
    let held = &collected.uncollected;
    let definitions = collected.cluster.list::<CustomResourceDefinition>();
    let served: BTreeSet<&str> = definitions.iter().map(|definition| definition.metadata.name.as_str()).collect();
    let may_be_there = |kind: &UnreadKind| !held.complete && served.contains(kind.resource.as_str());
    let kinds = knowledge.unread().kinds().iter().filter_map(|kind| {
        // A custom check can read a kind too.
        if matches!(kind.resource.parse(), Ok(Kind::Foreign(_))) {
            return None;
        }
        let objects = held.held.get(&kind.resource).copied();
        (objects.is_some() || may_be_there(kind)).then(|| Unread {
            resource: kind.resource.clone(),
            kind: kind.kind.clone(),
            about: kind.about.clone(),
            objects,
        })
    });
    kinds.collect()
}
