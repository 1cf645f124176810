//! A cluster that follows printed steps for a longer time: after each group of them it is read again, some hours later.

use meshdoctor::finding::Severity;
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::markdown::{Block, BlockKind};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::request::Request;
use meshdoctor::scene::Scene;
use meshdoctor::source::change::{Change, Set};
use meshdoctor::source::{ObjectSink, Source as _};
use serde_json::{Value, json};

use super::world::World;
use super::{after, effects};
use crate::remedies::{CaseOverlay, selected};

/// The objects of a list.
#[derive(Default)]
pub struct Objects(pub Vec<Value>);

impl ObjectSink for Objects {
    fn object(&mut self, json: &[u8]) {
        self.0.push(serde_json::from_slice(json).unwrap());
    }
    fn node(&mut self, _: NodeFiles) {}
    fn restart(&mut self) {
        self.0.clear();
    }
}

/// The cluster of base clusters.
pub fn based_on(bases: &str) -> Scene {
    let content = BlockKind::Cluster { on: Some(bases.to_owned()) };
    let block = Block { line: 1, content, text: String::new() };
    Scene::parse(&[block], &crate::case::base).unwrap()
}

/// The cluster some hours later, as the commands left it.
pub fn later(scene: &Scene, world: &World, hours: i64) -> Scene {
    let mut next = after(scene, world);
    let checks = selected(scene);
    let set: Set = effects(&CaseOverlay::new(&next, &checks), world).unwrap();
    let now = scene.memory.captured_at.unwrap();
    let lists: Vec<(Kind, Vec<Value>)> = {
        let change = Change::new(&next.memory, &set, Knowledge::embedded(), now);
        let fetch = |kind| {
            let mut objects = Objects::default();
            futures::executor::block_on(change.fetch(&Request::new(Item::List(kind)), &mut objects));
            (kind, objects.0)
        };
        Kind::all().map(fetch).collect()
    };
    next.memory.objects.clear();
    for object in lists.iter().flat_map(|(_, objects)| objects) {
        next.memory.add(object).unwrap();
    }
    // Identity reads a changed issuer within two minutes, and reports it.
    let issuer = |world: &World, begin: bool| {
        let name = "linkerd-identity-issuer";
        let secret =
            if begin { world.before(Kind::Secret, "linkerd", name) } else { world.get(Kind::Secret, "linkerd", name) };
        secret.map(|secret| secret["data"].clone())
    };
    if issuer(world, true) != issuer(world, false) {
        let at = now.to_string();
        let event = json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "linkerd", "name": "identity.1"},
            "involvedObject": {"kind": "Deployment", "namespace": "linkerd", "name": "linkerd-identity"},
            "reason": "IssuerUpdated", "type": "Normal", "message": "Updated identity issuer", "count": 1,
            "firstTimestamp": at, "lastTimestamp": at,
        });
        next.memory.add(&event).unwrap();
    }
    next.memory.captured_at = Some(now.checked_add(jiff::SignedDuration::from_hours(hours)).unwrap());
    next
}

/// The checks that report an error.
pub fn errors(scene: &Scene) -> Vec<String> {
    let checks = selected(scene);
    let report = CaseOverlay::new(scene, &checks).report(&Set::default(), &checks);
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{} {:?} {}", finding.check, finding.subjects, finding.message)).collect()
}
