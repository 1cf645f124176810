//! Validates the time at which evidence is judged: it must not be before the creation of an object in the evidence, and
//! `--at` is ignored if a bundle has its own time.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use super::args::EvidenceArgs;
use crate::item::Item;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::objects::{Deployment, Job, Listed, Meta, Namespace, Node, Pod, ReplicaSet};

/// Tolerated difference between the clocks of the client and of the API server.
const APART: SignedDuration = SignedDuration::from_mins(5);

/// A warning about the time: for the report if results may be wrong, or only for the user.
pub(super) enum Doubt {
    /// Results that depend on the time may be wrong.
    TooEarly(String),
    /// `--at` is ignored.
    LeftAside(String),
}

/// Uses only the evidence, so that a run and its saved bundle report the same.
pub(super) fn doubts(evidence: &EvidenceArgs, cluster: &Cluster) -> Vec<Doubt> {
    let judged = cluster.at;
    let flag = evidence.at.filter(|at| cluster.time_source != TimeSource::Flag && *at != judged);
    let aside =
        flag.map(|at| Doubt::LeftAside(format!("--at {at} is ignored: the evidence was collected at {judged}")));
    let newest = newest(cluster).filter(|(newest, _)| newest.duration_since(judged) > APART);
    let early = newest.map(|(newest, what)| {
        Doubt::TooEarly(format!(
            "expiry and age: the evidence is judged at {judged}, before {what} was created ({newest})"
        ))
    });
    aside.into_iter().chain(early).collect()
}

/// The newest object, among kinds that every cluster creates regularly.
fn newest(cluster: &Cluster) -> Option<(Timestamp, String)> {
    let all = [
        newest_of_kind::<Pod>(cluster, |object| &object.metadata),
        newest_of_kind::<ReplicaSet>(cluster, |object| &object.metadata),
        newest_of_kind::<Deployment>(cluster, |object| &object.metadata),
        newest_of_kind::<Job>(cluster, |object| &object.metadata),
        newest_of_kind::<Namespace>(cluster, |object| &object.metadata),
        newest_of_kind::<Node>(cluster, |object| &object.metadata),
    ];
    all.into_iter().flatten().max()
}

fn newest_of_kind<K: Listed>(cluster: &Cluster, meta: fn(&K::Object) -> &Meta) -> Option<(Timestamp, String)> {
    let objects = cluster.answer(&Item::List(K::KIND))?.objects::<K::Object>();
    // Of several, the first by name.
    let meta = objects.iter().map(meta).max_by_key(|meta| (meta.creation_timestamp, Reverse(meta.key())))?;
    let at = meta.creation_timestamp.get()?;
    let kind = K::KIND.info().kind;
    Some(match meta.namespace.is_empty() {
        true => (at, format!("{kind} {}", meta.name)),
        false => (at, format!("{kind} {}/{}", meta.namespace, meta.name)),
    })
}
