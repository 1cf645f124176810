//! `--at` held against the evidence: it cannot be of a time before what it shows was made, nor does it count where a bundle says when it
//! was collected.

use jiff::Timestamp;

use super::args::EvidenceArgs;
use crate::item::Item;
use crate::model::Cluster;
use crate::model::cluster::TimeSource;
use crate::objects::{Deployment, Job, Listed, Meta, Namespace, Node, Pod, ReplicaSet};

/// What is to be said of `--at`, where it is not the moment of the evidence: what is judged by a wrong time, and what is only for the
/// one who gave it.
pub(super) enum Doubt {
    /// What depends on the time is judged by one that cannot be right.
    TooEarly(String),
    /// It does not count.
    LeftAside(String),
}

pub(super) fn doubt(evidence: &EvidenceArgs, cluster: &Cluster) -> Option<Doubt> {
    let at = evidence.at?;
    if cluster.time_source != TimeSource::Flag {
        let captured = cluster.at;
        return (captured != at).then(|| {
            Doubt::LeftAside(format!(
                "--at {at} is left aside: the evidence says that it was collected at {captured}"
            ))
        });
    }
    let (newest, what) = newest(cluster)?;
    (newest > at).then(|| {
        Doubt::TooEarly(format!(
            "what depends on the time, at the time of the evidence: --at {at} is before {what} was created ({newest})"
        ))
    })
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
    let newest =
        objects.iter().map(meta).filter_map(|meta| Some((meta.creation_timestamp.get()?, meta))).max_by(
            |(one, a), (other, b)| {
                one.cmp(other).then_with(|| (&b.namespace, &b.name).cmp(&(&a.namespace, &a.name)))
            },
        );
    let kind = K::KIND.info().kind;
    newest.map(|(at, meta)| match meta.namespace.is_empty() {
        true => (at, format!("{kind} {}", meta.name)),
        false => (at, format!("{kind} {}/{}", meta.namespace, meta.name)),
    })
}
