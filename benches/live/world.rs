//! A simulated cluster: `checks/bases/healthy.yaml` for its control plane, and any number of injected pods
//! with their related objects. Objects are kept as trees and encoded on request, as in an API server; ten
//! thousand pods take no more memory here than one.

use std::collections::BTreeMap;

use anyhow::Context;
use meshdoctor::item::Kind;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::{certificates, templates};

/// Pods of one Deployment.
const REPLICAS: usize = 10;
/// Namespaces with Deployments.
const NAMESPACES: usize = 20;
/// Pods on one node.
const DENSITY: usize = 100;

/// Everything that the API serves.
pub(crate) struct World {
    lists: BTreeMap<String, List>,
    nodes: usize,
}

/// Every object of a kind.
pub(crate) struct List {
    pub(crate) kind: &'static str,
    pub(crate) api_version: String,
    /// Objects of the control plane and around it.
    few: Vec<Value>,
    /// Templates of the generated objects, used in turn.
    templates: Vec<Value>,
    many: usize,
    /// Distance between the pods that they belong to.
    stride: usize,
}

impl World {
    /// A cluster with this many injected pods.
    pub(crate) fn with(pods: usize) -> anyhow::Result<World> {
        let mut few: BTreeMap<Kind, Vec<Value>> = BTreeMap::new();
        let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
        let text = std::fs::read_to_string(base).context(base)?;
        for document in serde_yaml::Deserializer::from_str(&text) {
            let object: Value = serde::Deserialize::deserialize(document)?;
            let word = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
            let kind = Kind::of_manifest(&word("apiVersion"), &word("kind")).context("a kind nobody reads")?;
            few.entry(kind).or_default().push(object);
        }
        let anchors = certificates::renew(&mut few)?;
        let mut pod = templates::pod();
        certificates::exchange(&mut pod, &anchors);
        let nodes = pods.div_ceil(DENSITY);
        let apps = pods.div_ceil(REPLICAS);
        let lists = Kind::ALL.iter().map(|kind| {
            let (templates, many, stride) = match kind {
                Kind::Pod => (vec![pod.clone()], pods, 1),
                Kind::Deployment => (vec![templates::deployment()], apps, REPLICAS),
                Kind::ReplicaSet => (templates::replica_sets(), 2 * apps, REPLICAS),
                Kind::Service => (vec![templates::service()], apps, REPLICAS),
                Kind::EndpointSlice => (vec![templates::endpoint_slice()], apps, REPLICAS),
                Kind::Event => (vec![templates::event()], pods / 5, 5),
                Kind::Namespace => (vec![templates::namespace()], NAMESPACES, REPLICAS),
                Kind::Node => (vec![templates::node()], nodes, 1),
                _ => (Vec::new(), 0, 1),
            };
            let few = few.remove(kind).unwrap_or_default();
            let list = List { kind: kind.info().kind, api_version: kind.api_version(), few, templates, many, stride };
            (path(*kind), list)
        });
        Ok(World { lists: lists.collect(), nodes })
    }

    /// The list at a path.
    pub(crate) fn list(&self, path: &str) -> Option<&List> {
        self.lists.get(path)
    }

    /// One of the few objects, by its own path.
    pub(crate) fn named(&self, path: &str) -> Option<&Value> {
        let (rest, name) = path.rsplit_once('/')?;
        let (list, namespace) = match rest.split_once("/namespaces/") {
            Some((base, scoped)) => {
                let (namespace, plural) = scoped.split_once('/')?;
                (format!("{base}/{plural}"), Some(namespace))
            }
            None => (rest.to_owned(), None),
        };
        let metadata = |object: &Value, key: &str| object["metadata"][key].as_str().map(str::to_owned);
        self.lists.get(&list)?.few.iter().find(|object| {
            metadata(object, "name").as_deref() == Some(name) && metadata(object, "namespace").as_deref() == namespace
        })
    }

    /// Encodes the object at an index of a list.
    pub(crate) fn encode(&self, list: &List, index: usize, into: &mut Vec<u8>) {
        let filled = match list.few.get(index) {
            Some(object) => serde_json::to_writer(into, object),
            None => {
                let index = index - list.few.len();
                let (turn, template) = (index / list.templates.len(), index % list.templates.len());
                let marks = Marks::of(turn * list.stride, self.nodes);
                serde_json::to_writer(into, &Filled { value: &list.templates[template], marks: &marks })
            }
        };
        filled.expect("a tree of JSON can be written to memory");
    }
}

impl List {
    pub(crate) fn len(&self) -> usize {
        self.few.len() + self.many
    }
}

fn path(kind: Kind) -> String {
    let info = kind.info();
    let root = if info.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", info.group) };
    format!("{root}/{}/{}", info.version, info.plural)
}

/// Values for the marks of a template, for one pod and its related objects.
struct Marks(Vec<(&'static str, String)>);

impl Marks {
    fn of(pod: usize, nodes: usize) -> Marks {
        let (app, replica) = (pod / REPLICAS, pod % REPLICAS);
        let spread = app.wrapping_mul(2_654_435_761) & 0xffff_ffff;
        let name = format!("app-{app:04}");
        let hash = format!("{spread:08x}b4");
        let uid = |kind: u32, number: usize| format!("{spread:08x}-{kind:04x}-4c0e-94b3-{number:012x}");
        let net = format!("10.{}.{}", 64 + (app >> 8), app & 255);
        Marks(vec![
            ("pod", format!("{name}-{hash}-{replica}kq7z")),
            ("oldhash", format!("{spread:08x}c7")),
            ("deployuid", uid(1, app)),
            ("rsuid", uid(2, app)),
            ("oldrsuid", uid(3, app)),
            ("serviceuid", uid(4, app)),
            ("sliceuid", uid(5, app)),
            ("uid", uid(6, pod)),
            ("eventuid", uid(7, pod)),
            ("nsuid", uid(8, app % NAMESPACES)),
            ("nodeuid", uid(9, pod)),
            ("node", format!("ip-10-1-{}-{}", (pod % nodes) >> 8, (pod % nodes) & 255)),
            ("nodeip", format!("10.1.{}.{}", (pod % nodes) >> 8, (pod % nodes) & 255)),
            ("ip", format!("{net}.{}", 10 + replica)),
            ("id", format!("{spread:08x}{pod:08x}").repeat(4)),
            ("suffix", format!("{replica}x{:03x}", spread & 0xfff)),
            ("rv", format!("{}", 1_000_000 + 7 * pod)),
            ("ns", format!("shop-{:02}", app % NAMESPACES)),
            ("net", net),
            ("hash", hash),
            ("app", name),
        ])
    }

    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len() + 64);
        for (index, part) in text.split('@').enumerate() {
            // Every second part is between two marks.
            match index % 2 {
                0 => filled.push_str(part),
                _ => filled.push_str(self.0.iter().find(|(mark, _)| *mark == part).map_or("?", |(_, text)| text)),
            }
        }
        filled
    }
}

/// A template with its marks filled in, encoded without building a tree first.
struct Filled<'a> {
    value: &'a Value,
    marks: &'a Marks,
}

impl Serialize for Filled<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let below = |value| Filled { value, marks: self.marks };
        match self.value {
            Value::String(text) if text.contains('@') => serializer.serialize_str(&self.marks.fill(text)),
            Value::Array(items) => serializer.collect_seq(items.iter().map(below)),
            Value::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (key, value) in fields {
                    if key.contains('@') {
                        map.serialize_entry(&self.marks.fill(key), &below(value))?;
                    } else {
                        map.serialize_entry(key, &below(value))?;
                    }
                }
                map.end()
            }
            plain => plain.serialize(serializer),
        }
    }
}
