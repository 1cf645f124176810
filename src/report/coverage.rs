//! What a run looked at and what it could not: gaps with the checks that they keep from judging, and kinds that nothing reads.

use std::collections::BTreeSet;

use crate::checks::CheckResult;
use crate::collect::Collected;
use crate::command::Connection;
use crate::item::{Item, Kind};
use crate::knowledge::{Knowledge, UnreadKind};
use crate::missing::{Close, Missing};
use crate::model::cluster::Cluster;
use crate::objects::CustomResourceDefinition;

/// What was looked at, and what could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Objects that were read.
    pub objects: usize,
    /// Nodes in the cluster; `None` when that is not known.
    pub nodes: Option<usize>,
    /// Nodes with a snapshot.
    pub snapshots: usize,
    /// What is missing.
    pub gaps: Vec<Gap>,
    /// What is there, or may be, and no check reads; in the order of [`crate::knowledge::UnreadKinds`].
    pub unread: Vec<Unread>,
    /// What of manifests cannot be applied as it is, and was not read, in words.
    pub set_aside: Vec<String>,
}

/// A kind that no check reads, in a cluster that serves it or in a dump that holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// `servers.policy.linkerd.io`
    pub resource: String,
    /// `Server`
    pub kind: String,
    /// What it is about: `authorization policies`.
    pub about: String,
    /// How many objects the evidence holds; `None` where nobody counted.
    pub objects: Option<usize>,
}

/// Something that could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What is missing and why.
    pub missing: Missing,
    /// The checks that needed it.
    pub checks: Vec<&'static str>,
    /// How to close it.
    pub close: Close,
    /// Whether somebody asked for it, by a flag or by selecting nothing but checks that need it: those gaps make the exit
    /// status 4.
    pub asked_for: bool,
}

/// What was looked at, but for [`unread`].
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

/// The kinds that no check reads: those of which the evidence holds objects and, unless it is said to hold all of the
/// cluster's, those that are served, as far as the definitions tell.
pub(super) fn unread(collected: &Collected, knowledge: &Knowledge) -> Vec<Unread> {
    let held = &collected.uncollected;
    let definitions = collected.cluster.answer(&Item::List(Kind::CustomResourceDefinition));
    let served: BTreeSet<&str> = definitions
        .map_or(&[][..], |answer| answer.objects::<CustomResourceDefinition>())
        .iter()
        .map(|definition| definition.metadata.name.as_str())
        .collect();
    let may_be_there = |kind: &UnreadKind| !held.complete && served.contains(kind.resource.as_str());
    let kinds = knowledge.unread().kinds().iter().filter_map(|kind| {
        // What a user's card reads is read.
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
