//! Runs that a remedy starts: meshdoctor with other arguments, and evidence that is collected again.

use meshdoctor::checks::Upgrade;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::scene::Scene;
use serde_json::json;

use super::nodes;
use super::programs::Call;
use super::world::World;

/// Whether a step checks again with other arguments than the run that found the problem.
pub fn is_with_other_arguments(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let gives = |option: &&str| ["-n", "--to"].contains(option);
    words.starts_with(&["meshdoctor", "check"])
        && !words.contains(&"-o")
        && (words.len() == 2 || words.iter().any(gives))
}

/// Changes the run of a case as the calls of meshdoctor state.
pub fn apply(scene: &mut Scene, world: &World) {
    for words in &world.reruns {
        let call = Call { words: words.clone() };
        match call.words.first().map(String::as_str) {
            Some("check") if !call.has("-o") => checked(scene, &call),
            Some("collect") if call.has("--node-pods") => collected(scene),
            _ => {}
        }
    }
}

/// `meshdoctor check` with the options of the case, as far as the call gives no others.
fn checked(scene: &mut Scene, call: &Call) {
    let namespaces = call.values(&["-n", "--namespace"]);
    if !namespaces.is_empty() || call.words.len() == 1 {
        let each = namespaces.iter().flat_map(|names| names.split(','));
        scene.settings.namespaces = each.map(str::to_owned).collect();
    }
    if let Some(target) = call.value(&["--to"]) {
        let upgrade = Upgrade::new(target, None, None, Knowledge::embedded().releases());
        scene.settings.upgrade = Some(upgrade.unwrap());
    }
}

/// The collector writes the time of its node into each snapshot.
fn collected(scene: &mut Scene) {
    let at = scene.memory.captured_at.unwrap().to_string();
    for node in &mut scene.memory.nodes {
        let mut meta = nodes::json(&node.files, "meta.json");
        if meta.is_object() {
            meta["collectedAt"] = json!(at);
            node.files.insert("meta.json".to_owned(), meta.to_string().into_bytes());
        }
    }
}
