//! A whole rotation of the trust anchor and the issuer that follows only the printed steps of `meshdoctor rotate`: they are
//! run, and the next state is read again. No check may report an error in between.

use std::sync::Arc;

use meshdoctor::checks::Settings;
use meshdoctor::checks::rotation::{Phase, Stage, Statements};
use meshdoctor::collect::collect_now;
use meshdoctor::inspect::rotation::{Decision, RotationAnswer, items};
use meshdoctor::item::Kind;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

use super::follow::{based_on, errors, later};
use super::world::World;
use super::{Machine, authorities};
use crate::skip::{Need, skipped};

/// More steps than any rotation has.
const MOST: usize = 12;

/// A healthy mesh whose pods show the anchors that they trust.
fn begin(bases: &str) -> (Scene, authorities::Keys) {
    let mut scene = based_on(bases);
    let keys = authorities::authorities(&mut scene, true);
    super::complete::workloads(&mut scene);
    let known = super::world::objects(&scene.memory);
    let roots = &known[&(Kind::ConfigMap, ("linkerd".to_owned(), "linkerd-identity-trust-roots".to_owned()))];
    let bundle = roots["data"]["ca-bundle.crt"].as_str().unwrap().to_owned();
    let hash = super::linkerd::hash(&bundle);
    for ((kind, (namespace, _)), object) in &known {
        let mut object = object.clone();
        match (kind, namespace.as_str()) {
            (Kind::Pod, "linkerd") => {
                object["metadata"]["annotations"]["linkerd.io/trust-root-sha256"] = json!(hash);
            }
            (Kind::Deployment, "linkerd") => {
                let metadata = &mut object["spec"]["template"]["metadata"];
                metadata["annotations"]["linkerd.io/trust-root-sha256"] = json!(hash);
            }
            (Kind::Pod, _) => {
                for container in object["spec"]["containers"].as_array_mut().into_iter().flatten() {
                    if container["name"] == "linkerd-proxy" {
                        let name = "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS";
                        container["env"] = json!([{"name": name, "value": bundle}]);
                    }
                }
            }
            _ => continue,
        }
        scene.memory.add(&object).unwrap();
    }
    (scene, keys)
}

fn answer(scene: &Scene) -> RotationAnswer {
    let collected = collect_now(&scene.memory, &items(), &scene.options, None);
    RotationAnswer::read(&collected.cluster, Knowledge::embedded(), &Settings::default(), &Statements::default())
}

#[test]
fn whole_rotation_follows_only_its_printed_steps() {
    let Some(machine) = Machine::new() else {
        skipped(Need::Kubectl, "the printed steps of a rotation are not run");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut scene, mut keys) = begin("healthy");
    let old: Vec<String> = keys.roots.keys().cloned().collect();
    let mut stages: Vec<Stage> = Vec::new();
    for _ in 0..MOST {
        assert_eq!(errors(&scene), Vec::<String>::new(), "after {stages:?}");
        let state = answer(&scene);
        if !stages.is_empty() && state.rotation.phase == Phase::None {
            break;
        }
        let next = state.rotation.next().unwrap_or_else(|| panic!("{stages:?}: {:?}", state.rotation.phase));
        // The first step begins the rotation: it is the choice of the operator, and has no conditions.
        if !stages.is_empty() {
            assert_eq!(state.decision(None), Decision::Go, "{stages:?}: {:?}", next.stage);
        }
        stages.push(next.stage);
        let mut world = World::new(&scene, folder.path());
        world.keys = keys.clone();
        let steps = next.remedy.steps.iter();
        let world = machine.follow(world, steps).unwrap_or_else(|why| panic!("{stages:?}: {why}"));
        keys.roots.extend(world.keys.roots.iter().map(|(pem, root)| (pem.clone(), Arc::clone(root))));
        scene = later(&scene, &world, 1);
        // The stages are hours apart; kubectl refuses two restarts of a workload within a second.
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
    for stage in [Stage::AddAnchor, Stage::RestartWorkloads, Stage::ReplaceIssuer, Stage::RemoveAnchor] {
        assert!(stages.contains(&stage), "{stages:?}");
    }
    assert_eq!(answer(&scene).rotation.phase, Phase::None, "{stages:?}");
    // Nothing names the old anchor any more.
    let known = super::world::objects(&scene.memory);
    let text: String = known.values().map(Value::to_string).collect();
    for anchor in old {
        let line = anchor.lines().nth(2).unwrap();
        assert!(!text.contains(line), "{stages:?}: {line}");
    }
}
