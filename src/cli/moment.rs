//! The time that evidence is judged by, held against the evidence: it cannot be of a time before what it shows was made, whoever says
//! so, and `--at` does not count where a bundle says when it was collected.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use super::args::EvidenceArgs;
use crate::item::Item;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::objects::{Deployment, Job, Listed, Meta, Namespace, Node, Pod, ReplicaSet};

/// So far the clocks of who asked and of the API server may be apart.
const APART: SignedDuration = SignedDuration::from_mins(5);

/// What is to be said of the time, where it is not the moment of the evidence: what is judged by a wrong time, and what is only for the
/// one who gave it.
pub(super) enum Doubt {
    /// What depends on the time is judged by one that cannot be right.
    TooEarly(String),
    /// `--at` does not count.
    LeftAside(String),
}

/// In the words of the evidence alone, so that a run and what it saved say the same.
pub(super) fn doubts(evidence: &EvidenceArgs, cluster: &Cluster) -> Vec<Doubt> {
    let judged = cluster.at;
    let flag = evidence.at.filter(|at| cluster.time_source != TimeSource::Flag && *at != judged);
    let aside = flag.map(|at| {
        Doubt::LeftAside(format!(
            "--at {at} is left aside: the evidence says that it was collected at {judged}"
        ))
    });
    let newest = newest(cluster).filter(|(newest, _)| newest.duration_since(judged) > APART);
    let early = newest.map(|(newest, what)| {
        Doubt::TooEarly(format!(
            "what depends on the time, at the time of the evidence: it is judged as of {judged}, before {what} was created ({newest})"
        ))
    });
    aside.into_iter().chain(early).collect()
}

/// The object that was created last, among kinds that every cluster makes anew.
fn newest(cluster: &Cluster) -> Option<(Timestamp, String)> {
    let all = [
        of::<Pod>(cluster, |object| &object.metadata),
        of::<ReplicaSet>(cluster, |object| &object.metadata),
        of::<Deployment>(cluster, |object| &object.metadata),
        of::<Job>(cluster, |object| &object.metadata),
        of::<Namespace>(cluster, |object| &object.metadata),
        of::<Node>(cluster, |object| &object.metadata),
    ];
    all.into_iter().flatten().max()
}

fn of<K: Listed>(cluster: &Cluster, meta: fn(&K::Object) -> &Meta) -> Option<(Timestamp, String)> {
    let objects = cluster.answer(&Item::List(K::KIND))?.objects::<K::Object>();
    // Of several the first by name.
    let meta = objects.iter().map(meta).max_by_key(|meta| (meta.creation_timestamp, Reverse(meta.key())))?;
    let at = meta.creation_timestamp.get()?;
    let kind = K::KIND.info().kind;
    Some(match meta.namespace.is_empty() {
        true => (at, format!("{kind} {}", meta.name)),
        false => (at, format!("{kind} {}/{}", meta.namespace, meta.name)),
    })
}
