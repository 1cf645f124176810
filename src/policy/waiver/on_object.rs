//! Waivers that stand on the object that they are for, as an annotation: a list without scopes, since each holds where it stands.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{Entry, Scope, Waiver, What, waiver};
use crate::finding::WaivedBy;
use crate::item::Item;
use crate::model::Cluster;
use crate::model::owners::Owners;
use crate::objects::meta::Meta;
use crate::objects::{
    CronJob, DaemonSet, Deployment, Job, Kind, Listed, Namespace, Pod, ReplicaSet, Service, StatefulSet,
};
use crate::yaml;

/// The annotation under which an object says what is accepted of it.
const IGNORE: &str = "meshdoctor.io/ignore";

/// The most waivers on one object; what is behind them accepts nothing.
const MOST: usize = 100;

/// What objects themselves say is accepted of them: namespaces, of everything in them; workloads, Services and pods that nothing made,
/// of themselves.
pub fn on_objects(cluster: &Cluster) -> Vec<Waiver> {
    let mut all = Vec::new();
    let mut take = |kind: Kind, meta: &Meta| {
        if let Some(text) = meta.annotation(IGNORE) {
            all.extend(of_object(kind, meta, text));
        }
    };
    each::<Namespace>(cluster, |kind, object| take(kind, &object.metadata));
    each::<Deployment>(cluster, |kind, object| take(kind, &object.metadata));
    each::<StatefulSet>(cluster, |kind, object| take(kind, &object.metadata));
    each::<DaemonSet>(cluster, |kind, object| take(kind, &object.metadata));
    each::<CronJob>(cluster, |kind, object| take(kind, &object.metadata));
    each::<Job>(cluster, |kind, object| take(kind, &object.metadata));
    each::<Service>(cluster, |kind, object| take(kind, &object.metadata));
    all.extend(on_pods(cluster));
    all
}

/// A pod that nothing made is an object like any other. What stands on another one goes with it, and is told once for what made it.
fn on_pods(cluster: &Cluster) -> Vec<Waiver> {
    let owners = Owners::new(objects::<ReplicaSet>(cluster), objects::<Job>(cluster));
    let mut told = BTreeSet::new();
    let mut all = Vec::new();
    for pod in objects::<Pod>(cluster) {
        let Some(text) = pod.metadata.annotation(IGNORE) else { continue };
        let owner = owners.of(pod);
        if owner.kind == Kind::Pod.info().kind {
            all.extend(of_object(Kind::Pod, &pod.metadata, text));
            continue;
        }
        let name = format!("{} {}/{}", owner.kind, owner.namespace, owner.name);
        if told.insert(name.clone()) {
            let why = format!(
                "the pod is one that {name} made: what stands on it goes with the pod, and accepts nothing"
            );
            let scope = Scope { object: Some(name), ..Scope::default() };
            all.push(none(What::Misplaced(why), scope, place(Kind::Pod, &pod.metadata)));
        }
    }
    all
}

/// A waiver that accepts nothing, and where it stands.
fn none(what: What, scope: Scope, file: String) -> Waiver {
    let by = WaivedBy { reason: String::new(), owner: String::new(), expires: String::new(), file, line: 0 };
    Waiver { what, scope, by, expires: Date::MAX }
}

/// An object as scopes name it.
fn named(kind: Kind, meta: &Meta) -> String {
    match meta.namespace.is_empty() {
        true => format!("{} {}", kind.info().kind, meta.name),
        false => format!("{} {}/{}", kind.info().kind, meta.namespace, meta.name),
    }
}

fn place(kind: Kind, meta: &Meta) -> String {
    format!("{} metadata.annotations[{IGNORE}]", named(kind, meta))
}

fn objects<K: Listed>(cluster: &Cluster) -> &[K::Object] {
    cluster.answer(&Item::List(K::KIND)).map_or(&[][..], |answer| answer.objects::<K::Object>())
}

fn each<K: Listed>(cluster: &Cluster, mut take: impl FnMut(Kind, &K::Object)) {
    objects::<K>(cluster).iter().for_each(|object| take(K::KIND, object));
}

/// The waivers of one annotation.
fn of_object(kind: Kind, meta: &Meta, text: &str) -> Vec<Waiver> {
    let (name, place) = (named(kind, meta), place(kind, meta));
    let scope = match kind {
        Kind::Namespace => Scope { namespace: Some(meta.name.to_string()), ..Scope::default() },
        _ => Scope { object: Some(name), ..Scope::default() },
    };
    let unreadable = |why: String| none(What::Unreadable(why), scope.clone(), place.clone());
    let refused = yaml::guard(text.as_bytes()).err().map(|refused| refused.to_string());
    let read: Result<Vec<Entry>, String> = match refused {
        Some(refused) => Err(refused),
        None => serde_saphyr::from_str(text).map_err(|error| {
            let first = error.without_snippet().to_string();
            first.lines().next().unwrap_or("not a list of waivers").to_owned()
        }),
    };
    let entries = match read {
        Ok(entries) => entries,
        Err(why) => return vec![unreadable(why)],
    };
    let of = |entry: Entry| {
        let entry = match entry.scope {
            // It stands where it holds.
            Some(_) => return unreadable("a waiver on an object has no scope of its own".to_owned()),
            None => Entry { scope: Some(scope.clone()), ..entry },
        };
        waiver(&place, 0, entry).unwrap_or_else(unreadable)
    };
    let beyond = (entries.len() > MOST)
        .then(|| unreadable(format!("it holds {} waivers; only the first {MOST} count", entries.len())));
    entries.into_iter().take(MOST).map(of).chain(beyond).collect()
}
