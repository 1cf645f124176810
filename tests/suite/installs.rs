//! Manifests of Linkerd itself have no findings: the checks of annotations, native sidecars and debug
//! containers are quiet on the manifests that each release's CLI renders, including extensions and injected
//! workloads. They are found through the environment or next to the checkout; otherwise the tests are skipped
//! with a message.

use std::collections::BTreeSet;
use std::path::PathBuf;

use meshdoctor::checks::{self, Check, Outcome, Settings, evaluate};
use meshdoctor::collect::{Options, collect_now};
use meshdoctor::finding::Severity;
use meshdoctor::item::Item;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy;
use meshdoctor::source::Completeness;
use meshdoctor::source::memory::Memory;
use serde_json::Value;

use crate::skip::{Need, skipped};

const CATEGORIES: [&str; 3] = ["annotations", "debug", "native-sidecar"];

pub fn manifests() -> Option<PathBuf> {
    let set = std::env::var_os("MESHDOCTOR_MANIFESTS").map(PathBuf::from);
    let beside = || PathBuf::from(format!("{}/../shared/manifests", env!("CARGO_MANIFEST_DIR")));
    let folder = set.unwrap_or_else(beside);
    if !folder.is_dir() {
        skipped(
            Need::Manifests,
            &format!("no manifests of releases in {} (set MESHDOCTOR_MANIFESTS)", folder.display()),
        );
        return None;
    }
    Some(folder)
}

fn entries(folder: &PathBuf) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// All findings of warning and above in the three categories, and the number of checks that ran.
fn findings(memory: &mut Memory, server: &str) -> (Vec<String>, usize) {
    memory.completeness = Completeness::All;
    memory.server_version = Some(serde_json::json!({ "gitVersion": server }));
    let of_category = |check: &&'static Check| CATEGORIES.contains(&check.card().front.category.as_str());
    let checks: Vec<&'static Check> = checks::all().filter(of_category).collect();
    let items: BTreeSet<Item> = policy::items(&checks);
    let collected = collect_now(memory, &items, &Options::default(), None);
    let mut said = Vec::new();
    let mut judged = 0;
    for result in evaluate(&checks, &collected.cluster, Knowledge::embedded(), &Settings::default()) {
        assert!(!matches!(result.outcome, Outcome::Crashed(_)), "{}: {:?}", result.id, result.outcome);
        judged += usize::from(matches!(result.outcome, Outcome::Pass | Outcome::Findings));
        said.extend(
            result
                .findings
                .iter()
                .filter(|finding| finding.severity >= Severity::Warning)
                .map(|finding| format!("{}: {:?}: {}", result.id, finding.subjects, finding.message)),
        );
    }
    (said, judged)
}

fn add(memory: &mut Memory, object: &Value) {
    match object.get("items").and_then(Value::as_array) {
        Some(items) => items.iter().for_each(|item| add(memory, item)),
        // Kinds that no check reads cannot be stored.
        None => _ = memory.add(object),
    }
}

#[test]
fn what_each_release_renders_is_silent() {
    let Some(folder) = manifests() else { return };
    let mut looked = 0;
    for release in entries(&folder) {
        for control_plane in ["control-plane", "control-plane-cni", "control-plane-ha", "control-plane-native-sidecar"]
        {
            let mut memory = Memory::default();
            for file in [control_plane, "cni", "viz", "multicluster", "workloads"] {
                let Ok(text) = std::fs::read_to_string(release.join(format!("{file}.yaml"))) else {
                    continue;
                };
                for document in serde_yaml::Deserializer::from_str(&text) {
                    let object: Value = serde::Deserialize::deserialize(document).unwrap();
                    add(&mut memory, &object);
                }
            }
            let (said, judged) = findings(&mut memory, "v1.34.0");
            assert_eq!(said, [""; 0], "{} {control_plane}", release.display());
            assert!(judged >= 14, "{} {control_plane}: {judged} checks judged", release.display());
            looked += 1;
        }
    }
    assert!(looked > 0, "{} holds no manifests", folder.display());
}
