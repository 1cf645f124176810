//! A source that shows a cluster as if a set of manifests were applied: objects of the set replace existing ones, and
//! workloads whose templates differ get new pods. Runtime state (status, restarts, events, node files) is unchanged,
//! except for the status that the policy controller writes for routes, rate limits and EgressNetworks.
//!
//! [`laid`] overlays objects, [`pods`] creates pods, [`statuses`] predicts statuses. Nothing is checked here.

mod actions;
mod admit;
mod overlay;
mod pods;
mod statuses;
mod templates;
mod versions;

pub use admit::Fate;
pub use templates::{MAKERS, RunningPods, Template, Templates};
pub use versions::Versions;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use super::evidence::Captured;
use super::{ObjectSink, Origin, Source, Uncollected};
use crate::chart::gitops::ValueKey;
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Kind, Scope};
use crate::knowledge::Knowledge;
use crate::node_files::NodeFiles;
use crate::objects::LabelSelector;
use crate::objects::mistyped::Mistyped;
use crate::request::Request;
use crate::version::LinkerdVersion;

/// Namespace (empty for cluster-scoped objects) and name.
type ObjectKey = (String, String);

/// The objects of a set of manifests, by kind.
#[derive(Debug, Clone, Default)]
pub struct Set {
    objects: BTreeMap<Kind, BTreeMap<ObjectKey, Value>>,
    /// Parts of it that could not be read.
    trouble: BTreeMap<Kind, Vec<Why>>,
    /// Parts of it that were set aside, in words.
    set_aside: Vec<String>,
    /// Files that could not be read, each with the error.
    unreadable: Vec<String>,
    /// Values of the wrong type in it.
    mistyped: Vec<Mistyped>,
    /// Objects that differ between folders, and are not part of it.
    apart: BTreeSet<(Kind, ObjectKey)>,
    /// Keys of Linkerd in the chart values of its objects and files.
    value_keys: Vec<ValueKey>,
    /// Deleted objects.
    removed: BTreeSet<(Kind, ObjectKey)>,
    /// Workloads whose pods are created again without a change.
    restarted: BTreeSet<(Kind, ObjectKey)>,
    /// Pods that are deleted, so that their workload creates them again.
    recreated: BTreeSet<ObjectKey>,
    /// Objects that are changed in place: nothing of the existing object is kept, and pods are not admitted again.
    exact: BTreeSet<(Kind, ObjectKey)>,
}

impl Set {
    /// All given objects; those without a namespace belong to `into`, or else to `default`.
    pub async fn read(given: &Captured, into: Option<&str>) -> Set {
        let mut set = Set { set_aside: given.set_aside().to_vec(), ..Set::default() };
        for kind in Kind::all() {
            let mut found = ValueSink::default();
            let ended = given.fetch(&Request::new(Item::List(kind)), &mut found).await;
            let placed = found.0.into_iter().map(|mut object| {
                if kind.info().namespaced && object["metadata"]["namespace"].as_str().is_none_or(str::is_empty) {
                    object["metadata"]["namespace"] = Value::String(into.unwrap_or("default").to_owned());
                }
                (key(&object, kind), object)
            });
            let of_kind: BTreeMap<ObjectKey, Value> = placed.collect();
            if !of_kind.is_empty() {
                set.objects.insert(kind, of_kind);
            }
            let broken: Vec<Why> = match ended {
                Fetched::Complete => Vec::new(),
                Fetched::Partial { reasons } => reasons,
                Fetched::Missing { reason } => vec![reason],
            };
            let broken: Vec<Why> = broken.into_iter().filter(|why| matches!(why, Why::Malformed { .. })).collect();
            if !broken.is_empty() {
                set.trouble.insert(kind, broken);
            }
        }
        set
    }

    /// One object.
    pub fn one(kind: Kind, object: Value) -> Set {
        let of_kind = BTreeMap::from([(key(&object, kind), object)]);
        Set { objects: BTreeMap::from([(kind, of_kind)]), ..Set::default() }
    }

    /// Adds the objects of another set that are not in this one.
    pub fn add(&mut self, other: Set) {
        for (kind, objects) in other.objects {
            let own = self.objects.entry(kind).or_default();
            for (key, object) in objects {
                own.entry(key).or_insert(object);
            }
        }
    }

    /// Takes out errors that concern no kind in particular: files that could not be read, of whatever kinds.
    /// Without them, a list holds all readable objects.
    pub fn take_unreadable(&mut self, messages: &[String]) {
        let is_other = |why: &Why| match why {
            Why::Malformed { message } => !messages.contains(message),
            _ => true,
        };
        self.trouble.values_mut().for_each(|reasons| reasons.retain(is_other));
        self.trouble.retain(|_, reasons| !reasons.is_empty());
        self.unreadable.extend_from_slice(messages);
    }

    /// Adds values of the wrong type, for which the API server rejects their objects.
    pub fn add_mistyped(&mut self, found: &[Mistyped]) {
        self.mistyped.extend_from_slice(found);
    }

    /// Takes out the value of the wrong type at a JSON pointer, which an edit corrects.
    pub fn correct(&mut self, kind: Kind, (namespace, name): (&str, &str), pointer: &str) {
        self.mistyped.retain(|wrong| !wrong.is_of(kind, namespace, name) || wrong.pointer() != pointer);
    }

    /// Values of the wrong type.
    pub fn mistyped(&self) -> &[Mistyped] {
        &self.mistyped
    }

    /// Records an object that differs between folders, and is not part of it.
    pub fn put_apart(&mut self, kind: Kind, namespace: &str, name: &str) {
        self.apart.insert((kind, (namespace.to_owned(), name.to_owned())));
    }

    /// The objects that differ between folders: kind, namespace, name.
    pub fn apart(&self) -> impl Iterator<Item = (Kind, String, String)> {
        self.apart.iter().cloned().map(|(kind, (namespace, name))| (kind, namespace, name))
    }

    /// Replaces the keys of Linkerd in its chart values.
    pub fn put_value_keys(&mut self, keys: Vec<ValueKey>) {
        self.value_keys = keys;
    }

    /// The keys of Linkerd in its chart values.
    pub fn value_keys(&self) -> &[ValueKey] {
        &self.value_keys
    }

    /// The parts of the manifests that were set aside.
    pub fn aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Records that something is not part of the set, and why.
    pub fn set_aside(&mut self, said: impl IntoIterator<Item = String>) {
        self.set_aside.extend(said);
    }

    /// Number of objects of kinds that are read.
    pub fn count(&self) -> usize {
        self.objects.values().map(BTreeMap::len).sum()
    }

    /// Every object: kind, namespace (empty for cluster-scoped objects), name.
    pub fn keys(&self) -> impl Iterator<Item = (Kind, String, String)> {
        let kinds = self.objects.iter();
        kinds.flat_map(|(kind, objects)| {
            objects.keys().map(|(namespace, name)| (*kind, namespace.clone(), name.clone()))
        })
    }

    fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&ObjectKey, &Value)> {
        self.objects.get(&kind).into_iter().flatten()
    }

    fn get(&self, kind: Kind, key: &ObjectKey) -> Option<&Value> {
        self.objects.get(&kind)?.get(key)
    }
}

/// Whether a change deletes an object: the selector matches it and the set does not name it.
#[derive(Debug, Clone, Default)]
pub struct Prune(pub Option<LabelSelector>);

/// A cluster with a set of manifests applied.
#[derive(Debug)]
pub struct Change<'a, S> {
    base: &'a S,
    set: &'a Set,
    prune: Prune,
    knowledge: &'a Knowledge,
    /// The injecting release, if neither cluster nor set contains it.
    release: Option<LinkerdVersion>,
    at: Timestamp,
}

impl<'a, S: Source> Change<'a, S> {
    /// Overlays a set on a cluster, at a given time.
    pub fn new(base: &'a S, set: &'a Set, knowledge: &'a Knowledge, at: Timestamp) -> Change<'a, S> {
        Change { base, set, prune: Prune::default(), knowledge, release: None, at }
    }

    /// Adds the selector for deletions.
    #[must_use]
    pub fn pruning(self, prune: Prune) -> Change<'a, S> {
        Change { prune, ..self }
    }

    /// Sets the injecting release, if neither cluster nor set contains it.
    #[must_use]
    pub fn injecting(self, release: Option<LinkerdVersion>) -> Change<'a, S> {
        Change { release, ..self }
    }

    /// The objects of a kind in the base, and the outcome.
    async fn base_list(&self, kind: Kind) -> (Vec<Value>, Fetched) {
        let mut found = ValueSink::default();
        let ended = self.base.fetch(&Request::new(Item::List(kind)), &mut found).await;
        (found.0, ended)
    }

    /// The changed objects of a kind, except for pods, and the outcome.
    async fn list(&self, kind: Kind) -> (Vec<Value>, Fetched) {
        let (mut after, ended) = self.overlaid(kind).await;
        if self.restates(kind) {
            self.restate(kind, &mut after).await;
        }
        (after, ended)
    }

    /// The same, with the current statuses.
    async fn overlaid(&self, kind: Kind) -> (Vec<Value>, Fetched) {
        let (before, ended) = self.base_list(kind).await;
        let gone = self.namespaces_gone(kind).await;
        let mut known = BTreeSet::new();
        let mut after = Vec::with_capacity(before.len());
        for object in before {
            let key = key(&object, kind);
            if gone.contains(&key.0) {
                continue;
            }
            match self.set.get(kind, &key) {
                Some(new) => {
                    after.push(self.over(kind, (&key, Some(&object)), new));
                    known.insert(key);
                }
                None if self.prunes(kind, &object) => {}
                None => after.push(object),
            }
        }
        let new = self.set.of_kind(kind).filter(|(key, _)| !known.contains(*key));
        after.extend(new.map(|(_, new)| overlay::over(kind, None, new, self.at)));
        if kind == Kind::DaemonSet && self.set.objects.contains_key(&kind) {
            let nodes = self.base_list(Kind::Node).await.0.len().max(1);
            after.iter_mut().for_each(|daemon_set| overlay::scheduled(daemon_set, nodes));
        }
        let ended = self.ended(kind, ended, !after.is_empty());
        (after, ended)
    }

    /// An object of the set in place of the existing one, if any.
    fn over(&self, kind: Kind, (key, before): (&ObjectKey, Option<&Value>), new: &Value) -> Value {
        let is_exact = self.set.exact.contains(&(kind, key.clone()));
        match before.filter(|_| is_exact) {
            Some(before) => overlay::in_place(kind, before, new),
            None => overlay::over(kind, before, new, self.at),
        }
    }

    /// Whether the set, or unreadable parts of it, affects the list of a kind.
    fn touches(&self, kind: Kind) -> bool {
        let told = self.set.objects.contains_key(&kind) || self.set.trouble.contains_key(&kind);
        told || self.deletes()
    }

    /// Whether any object is deleted.
    fn deletes(&self) -> bool {
        self.prune.0.is_some() || !self.set.removed.is_empty()
    }

    /// Whether an object that the set does not name is deleted.
    fn prunes(&self, kind: Kind, object: &Value) -> bool {
        if !self.set.removed.is_empty() && self.set.removed.contains(&(kind, key(object, kind))) {
            return true;
        }
        let Some(selector) = &self.prune.0 else { return false };
        // Owned objects are deleted with their owner.
        let owned = object["metadata"]["ownerReferences"].as_array().is_some_and(|owners| !owners.is_empty());
        let kept = matches!(kind, Kind::Node | Kind::Event | Kind::Endpoints | Kind::EndpointSlice);
        !owned && !kept && selector.matches(&labels(object).into())
    }

    /// Namespaces that are deleted with all their objects.
    async fn namespaces_gone(&self, kind: Kind) -> BTreeSet<String> {
        if !self.deletes() || !kind.info().namespaced {
            return BTreeSet::new();
        }
        let (before, _) = self.base_list(Kind::Namespace).await;
        let named = |object: &Value| self.set.get(Kind::Namespace, &key(object, Kind::Namespace)).is_some();
        let gone = before.iter().filter(|object| !named(object) && self.prunes(Kind::Namespace, object));
        gone.map(|object| key(object, Kind::Namespace).1).collect()
    }

    /// Outcome of a list with objects from both base and set.
    fn ended(&self, kind: Kind, base: Fetched, some: bool) -> Fetched {
        let trouble = self.set.trouble.get(&kind).cloned().unwrap_or_default();
        let in_set = self.set.objects.contains_key(&kind);
        let mut reasons = match base {
            // Only the objects of the set are visible.
            Fetched::Missing { reason: Why::NotCaptured | Why::NotOffered } if in_set => {
                vec![Why::PerhapsMore]
            }
            // The set defines the kind, or the API server will reject its objects.
            Fetched::Missing { reason: Why::NotServed } if in_set => Vec::new(),
            Fetched::Missing { reason } if !in_set && trouble.is_empty() => {
                return Fetched::Missing { reason };
            }
            Fetched::Missing { reason } => vec![reason],
            Fetched::Complete => Vec::new(),
            Fetched::Partial { reasons } => reasons,
        };
        // Broken parts matter more than possibly missing ones.
        reasons.splice(0..0, trouble);
        match reasons.first() {
            None => Fetched::Complete,
            Some(Why::NotInManifests | Why::PerhapsMore) => Fetched::Partial { reasons },
            Some(first) if !some => Fetched::Missing { reason: first.clone() },
            Some(_) => Fetched::Partial { reasons },
        }
    }

    async fn read_object(&self, request: &Request, kind: Kind, key: ObjectKey) -> (Option<Value>, Fetched) {
        let mut found = ValueSink::default();
        let ended = self.base.fetch(request, &mut found).await;
        let before = found.0.into_iter().next();
        match self.set.get(kind, &key) {
            Some(new) => (Some(self.over(kind, (&key, before.as_ref()), new)), Fetched::Complete),
            None if before.as_ref().is_some_and(|object| self.prunes(kind, object)) => (None, Fetched::Complete),
            None => (before, ended),
        }
    }

    /// A named object of the control plane, after the change.
    async fn of_control_plane(&self, kind: Kind, namespace: &str, name: &str) -> Option<Value> {
        let item = Item::named(kind, Scope::ControlPlane, name);
        let request = Request { item, namespace: Some(namespace.to_owned()) };
        self.read_object(&request, kind, (namespace.to_owned(), name.to_owned())).await.0
    }
}

impl<S: Source> Source for Change<'_, S> {
    fn origin(&self) -> Origin {
        self.base.origin()
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let (objects, ended) = match &request.item {
            Item::List(Kind::Pod) => self.pods().await,
            Item::List(kind) if self.touches(*kind) || self.restates(*kind) => self.list(*kind).await,
            Item::Named { kind, scope, name } => {
                let namespace = match scope {
                    Scope::Cluster => String::new(),
                    _ => request.namespace.clone().unwrap_or_default(),
                };
                let (object, ended) = self.read_object(request, *kind, (namespace, name.clone())).await;
                (object.into_iter().collect(), ended)
            }
            _ => return self.base.fetch(request, sink).await,
        };
        for object in objects {
            sink.object(object.to_string().as_bytes());
        }
        ended
    }

    fn captured_at(&self) -> Option<Timestamp> {
        self.base.captured_at()
    }

    fn uncollected(&self) -> Uncollected {
        let mut uncollected = self.base.uncollected();
        uncollected.set_aside.extend(self.set.set_aside.iter().cloned());
        uncollected.unreadable.extend(self.set.unreadable.iter().cloned());
        uncollected
    }

    fn already_redacted(&self) -> usize {
        self.base.already_redacted()
    }
}

/// Stores objects as values.
#[derive(Default)]
struct ValueSink(Vec<Value>);

impl ObjectSink for ValueSink {
    fn object(&mut self, json: &[u8]) {
        // The sanitizer reports broken objects.
        self.0.extend(serde_json::from_slice(json).ok());
    }

    fn node(&mut self, _: NodeFiles) {}

    fn restart(&mut self) {
        self.0.clear();
    }
}

fn key(object: &Value, kind: Kind) -> ObjectKey {
    let metadata = &object["metadata"];
    let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
    let namespace = match (kind.info().namespaced, text("namespace")) {
        (false, _) => String::new(),
        (true, none) if none.is_empty() => "default".to_owned(),
        (true, namespace) => namespace,
    };
    (namespace, text("name"))
}

fn labels(object: &Value) -> BTreeMap<String, String> {
    let all = object["metadata"]["labels"].as_object().into_iter().flatten();
    all.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}
