//! Waivers that stand on the object that they are for, as an annotation: a list without scopes, since each holds where it stands.

use jiff::civil::Date;

use super::{Entry, Scope, Waiver, What, waiver};
use crate::finding::WaivedBy;
use crate::item::Item;
use crate::model::Cluster;
use crate::objects::meta::Meta;
use crate::objects::{CronJob, DaemonSet, Deployment, Job, Kind, Listed, Namespace, Service, StatefulSet};
use crate::yaml;

/// The annotation under which an object says what is accepted of it.
const IGNORE: &str = "meshdoctor.io/ignore";

/// What objects themselves say is accepted of them: namespaces, of everything in them; workloads and Services, of themselves.
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
    all
}

fn each<K: Listed>(cluster: &Cluster, mut take: impl FnMut(Kind, &K::Object)) {
    let answer = cluster.answer(&Item::List(K::KIND));
    answer
        .map_or(&[][..], |answer| answer.objects::<K::Object>())
        .iter()
        .for_each(|object| take(K::KIND, object));
}

/// The waivers of one annotation.
fn of_object(kind: Kind, meta: &Meta, text: &str) -> Vec<Waiver> {
    let name = match meta.namespace.is_empty() {
        true => format!("{} {}", kind.info().kind, meta.name),
        false => format!("{} {}/{}", kind.info().kind, meta.namespace, meta.name),
    };
    let place = format!("{name} metadata.annotations[{IGNORE}]");
    let scope = match kind {
        Kind::Namespace => Scope { namespace: Some(meta.name.to_string()), ..Scope::default() },
        _ => Scope { object: Some(name), ..Scope::default() },
    };
    let unreadable = |why: String| Waiver {
        what: What::Unreadable(why),
        scope: scope.clone(),
        by: WaivedBy {
            reason: String::new(),
            owner: String::new(),
            expires: String::new(),
            file: place.clone(),
            line: 0,
        },
        expires: Date::MAX,
    };
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
    entries.into_iter().map(of).collect()
}
