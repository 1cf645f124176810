//! The demos: five failures as users met them, whole. Before the remedy exactly the expected findings come out, the true
//! cause first; after it nothing of warning or above.

use std::collections::BTreeSet;

use meshdoctor::checks;
use meshdoctor::collect::{Collected, collect_now};
use meshdoctor::demo::{DEMOS, Demo, State};
use meshdoctor::finding::Severity;
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::node::{Effective, RuntimeKind};
use meshdoctor::policy::{self, Policy};
use meshdoctor::report::{self, Question, Report};
use meshdoctor::scene::Scene;
use meshdoctor::source::{Fetched, Source};

fn scene(demo: &Demo, state: State) -> Scene {
    demo.scene(state).unwrap_or_else(|error| panic!("{error}"))
}

/// The report on a cluster: every check.
pub fn judge(scene: &Scene) -> Report {
    let checks: Vec<_> = checks::all().collect();
    let collected = collect_now(&scene.memory, &policy::items(&checks), &scene.options, None);
    let question = Question {
        checks: &checks,
        policy: &Policy::default(),
        settings: &scene.settings,
        knowledge: Knowledge::embedded(),
        origin: scene.memory.origin(),
    };
    report::judge(&question, &collected)
}

/// Everything that a demo holds.
fn whole(scene: &Scene) -> Collected {
    let versions = [Item::ServerVersion, Item::CliVersion, Item::NodeFiles];
    let items: BTreeSet<Item> = Kind::ALL.iter().map(|kind| Item::List(*kind)).chain(versions).collect();
    collect_now(&scene.memory, &items, &scene.options, None)
}

#[test]
fn every_demo_is_a_cluster_that_can_be_read_to_the_last_object() {
    for demo in DEMOS {
        for state in [State::Before, State::After] {
            let cluster = whole(&scene(demo, state)).cluster;
            for (item, answer) in cluster.answers() {
                assert_eq!(answer.fetched, Fetched::Complete, "{} {state:?}: {item}", demo.name);
            }
            assert!(cluster.server_version.is_ok() && cluster.cli_version.is_ok(), "{}", demo.name);
            for node in cluster.nodes.iter().flatten() {
                assert_eq!(node.problems, [], "{} {state:?}: {}", demo.name, node.node);
                assert_eq!(node.meta.errors, [], "{} {state:?}: {}", demo.name, node.node);
            }
        }
    }
}

#[test]
fn after_the_remedy_nothing_is_left_to_do() {
    for demo in DEMOS {
        let report = judge(&scene(demo, State::After));
        let loud: Vec<_> = report.findings.iter().filter(|f| f.severity >= Severity::Warning).collect();
        assert!(loud.is_empty(), "{}: {loud:#?}", demo.name);
    }
}

#[test]
fn node_evidence_shows_what_its_story_tells() {
    for (name, loaded, entry) in [
        ("cni-exit-127", "/etc/cni/net.d/10-aws.conflist", "plugins[3]"),
        ("cni-unauthorized", "/etc/cni/net.d/05-cilium.conflist", "plugins[4]"),
    ] {
        let demo = meshdoctor::demo::find(name).unwrap();
        for state in [State::Before, State::After] {
            let nodes = whole(&scene(demo, state)).cluster.nodes.unwrap();
            assert_eq!(nodes.len(), 3, "{name}");
            for node in &nodes {
                let Effective::File(effective) = node.effective(RuntimeKind::Containerd) else {
                    panic!("{name}: {} loads nothing", node.node)
                };
                assert_eq!(effective.file.path(), loaded);
                let [found] = effective.file.linkerd_entries().unwrap() else {
                    panic!("{name}: one entry in the file that is loaded")
                };
                assert_eq!(found.json_path, entry);
                let facts = node.kubeconfigs.as_ref().unwrap();
                assert!(facts[0].token_claims.as_ref().is_some_and(|claims| claims.pod_uid.is_some()));
            }
        }
    }
}

#[test]
fn demos_are_in_order_and_every_file_is_one() {
    let names: Vec<&str> = DEMOS.iter().map(|demo| demo.name).collect();
    let mut files: Vec<String> = std::fs::read_dir(format!("{}/demos", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(names, files);
}
