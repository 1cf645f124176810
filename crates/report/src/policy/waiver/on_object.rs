//! Waivers in an annotation of the object that they apply to: a list without scopes.

use std::collections::BTreeSet;

use jiff::civil::Date;

use super::{Scope, Waiver, WaiverEntry, What, waiver};
use crate::finding::WaivedBy;
use crate::model::Cluster;
use crate::objects::meta::Meta;
use crate::objects::{CronJob, DaemonSet, Deployment, Job, Kind, Listed, Namespace, Pod, Service, StatefulSet};
use crate::yaml;

/// The annotation with an object's waivers.
const IGNORE: &str = "meshdoctor.io/ignore";

/// Maximum number of waivers on one object; further ones have no effect.
const MOST: usize = 100;

/// Reads the waivers on objects. On a namespace they apply to everything in it; on workloads, Services and
/// pods without an owner, to the object itself.
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

/// A pod without an owner counts as an object. Waivers on other pods are lost with the pod, and are
/// reported once for the owner.
fn on_pods(cluster: &Cluster) -> Vec<Waiver> {
    let owners = cluster.owners();
    let mut told = BTreeSet::new();
    let mut all = Vec::new();
    for pod in cluster.list::<Pod>() {
        let Some(text) = pod.metadata.annotation(IGNORE) else { continue };
        let owner = owners.owner(pod);
        if owner.kind == Kind::Pod.info().kind {
            all.extend(of_object(Kind::Pod, &pod.metadata, text));
            continue;
        }
        let name = owner.to_string();
        if told.insert(name.clone()) {
            let why =
                format!("the pod is one that {name} created: the annotation is lost with the pod and accepts nothing");
            let scope = Scope { object: Some(name), ..Scope::default() };
            all.push(none(What::Misplaced(why), scope, place(Kind::Pod, &pod.metadata)));
        }
    }
    all
}

/// A waiver that accepts nothing, with its location.
fn none(what: What, scope: Scope, file: String) -> Waiver {
    let by = WaivedBy { reason: String::new(), owner: String::new(), expires: String::new(), file, line: 0 };
    Waiver { what, scope, by, expires: Date::MAX }
}

/// An object's name in scopes.
fn object_name(kind: Kind, meta: &Meta) -> String {
    match meta.namespace.is_empty() {
        true => format!("{} {}", kind.info().kind, meta.name),
        false => format!("{} {}/{}", kind.info().kind, meta.namespace, meta.name),
    }
}

fn place(kind: Kind, meta: &Meta) -> String {
    format!("{} metadata.annotations[{IGNORE}]", object_name(kind, meta))
}

fn each<K: Listed>(cluster: &Cluster, mut take: impl FnMut(Kind, &K::Object)) {
    cluster.list::<K>().iter().for_each(|object| take(K::KIND, object));
}

/// The waivers of one annotation.
fn of_object(kind: Kind, meta: &Meta, text: &str) -> Vec<Waiver> {
    let (name, place) = (object_name(kind, meta), place(kind, meta));
    let scope = match kind {
        Kind::Namespace => Scope { namespace: Some(meta.name.to_string()), ..Scope::default() },
        _ => Scope { object: Some(name), ..Scope::default() },
    };
    let unreadable = |why: String| none(What::Unreadable(why), scope.clone(), place.clone());
    let refused = yaml::guard(text.as_bytes()).err().map(|refused| refused.to_string());
    let read: Result<Vec<WaiverEntry>, String> = match refused {
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
    let of = |entry: WaiverEntry| {
        let entry = match entry.scope {
            // The location is the scope.
            Some(_) => return unreadable("a waiver on an object has no scope of its own".to_owned()),
            None => WaiverEntry { scope: Some(scope.clone()), ..entry },
        };
        waiver(&place, 0, entry).unwrap_or_else(unreadable)
    };
    let beyond = (entries.len() > MOST)
        .then(|| unreadable(format!("the annotation has {} waivers; only the first {MOST} apply", entries.len())));
    entries.into_iter().take(MOST).map(of).chain(beyond).collect()
}
