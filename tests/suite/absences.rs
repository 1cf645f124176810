//! No check reads evidence that its card does not name, also on clusters that no case describes. Every case of every card
//! loses one thing at a time: all objects of a kind, one named object, one file of its nodes. Its own check is run on each.
//! All checks are run on one case in [`STRIDE`] without each of its kinds; `MESHDOCTOR_SWEEP=1` runs them on every case,
//! which takes an hour.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use meshdoctor::checks::{self, Check, CheckResult, Outcome};
use meshdoctor::item::{Item, Kind};
use meshdoctor::node_files::NodeFiles;

use crate::case::{self, Live};

/// All checks run on one case in so many.
const STRIDE: usize = 199;

/// Evidence that a cluster loses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    Kind(Kind),
    /// A kind, and the name of an object.
    Object(Kind, String),
    /// The path of a file, on every node.
    NodeFile(String),
}

impl Loss {
    fn apply(&self, live: &Live) -> Live {
        let mut less = live.clone();
        match self {
            Loss::Kind(kind) => _ = less.0.memory.objects.remove(kind),
            Loss::Object(kind, name) => {
                let held = less.0.memory.objects.get_mut(kind);
                held.into_iter().for_each(|held| held.retain(|object| object.name != *name));
            }
            Loss::NodeFile(path) => {
                less.0.memory.nodes.iter_mut().for_each(|node| _ = node.files.remove(path));
            }
        }
        less
    }

    /// Every loss that these items would show for this cluster.
    fn all(live: &Live, items: &BTreeSet<Item>) -> BTreeSet<Loss> {
        let mut losses = BTreeSet::new();
        for item in items {
            match item {
                Item::List(kind) => _ = losses.insert(Loss::Kind(*kind)),
                Item::Named { kind, name, .. } => _ = losses.insert(Loss::Object(*kind, name.clone())),
                Item::NodeFiles => losses.extend(paths(&live.0.memory.nodes).map(Loss::NodeFile)),
                _ => {}
            }
        }
        losses.retain(|loss| match loss {
            Loss::Kind(kind) => live.0.memory.objects.contains_key(kind),
            Loss::Object(kind, name) => {
                live.0.memory.objects.get(kind).is_some_and(|held| held.iter().any(|held| held.name == *name))
            }
            Loss::NodeFile(_) => true,
        });
        losses
    }
}

fn paths(nodes: &[NodeFiles]) -> impl Iterator<Item = String> {
    nodes.iter().flat_map(|node| node.files.keys().cloned())
}

fn items(check: &Check) -> BTreeSet<Item> {
    let front = &check.card().front;
    front.needs.iter().chain(&front.uses).cloned().collect()
}

/// The defect that a result shows, if any.
fn defect(result: &CheckResult) -> Option<String> {
    if let Outcome::Crashed(text) = &result.outcome {
        return Some(text.clone());
    }
    case::undeclared(result)
}

#[test]
fn no_check_reads_undeclared_evidence_in_its_own_cases() {
    let mut wrong = BTreeSet::new();
    for check in checks::all() {
        let items = items(check);
        let (mut seen, mut files) = (HashSet::new(), BTreeSet::new());
        for case in check.cases() {
            let live = case::live(check, case);
            for loss in Loss::all(&live, &items) {
                // Most files are those of the base clusters, in every case.
                if matches!(loss, Loss::NodeFile(_)) && !files.insert(loss.clone()) {
                    continue;
                }
                let less = loss.apply(&live);
                if seen.insert(contents(&less, &items))
                    && let Some(defect) = defect(&less.results(&[check]).remove(0))
                {
                    wrong.insert(format!("{} / {} without {loss:?}: {defect}", check.id, case.title));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn no_check_reads_undeclared_evidence_on_other_clusters() {
    let stride = if std::env::var_os("MESHDOCTOR_SWEEP").is_some_and(|all| all == "all") { 1 } else { STRIDE };
    let all: Vec<&'static Check> = checks::all().collect();
    let mut of_checks: BTreeMap<&str, BTreeSet<Item>> = BTreeMap::new();
    all.iter().for_each(|check| _ = of_checks.insert(check.id, items(check)));
    let mut seen = HashSet::new();
    let mut wrong = BTreeSet::new();
    let cases = all.iter().flat_map(|check| check.cases().iter().map(move |case| (check, case)));
    for (check, case) in cases.step_by(stride) {
        let live = case::live(check, case);
        let kinds: Vec<Kind> = live.0.memory.objects.keys().copied().collect();
        for loss in kinds.into_iter().map(Loss::Kind) {
            let less = loss.apply(&live);
            let new: Vec<&'static Check> = all
                .iter()
                .copied()
                .filter(|check| seen.insert((check.id, contents(&less, &of_checks[check.id]))))
                .collect();
            for result in less.results(&new) {
                if let Some(defect) = defect(&result) {
                    let place = format!("{} / {} without {loss:?}", check.id, case.title);
                    wrong.insert(format!("{} on {place}: {defect}", result.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.into_iter().collect::<Vec<_>>().join("\n"));
}

/// A hash of the evidence that a check with these items sees.
fn contents(live: &Live, items: &BTreeSet<Item>) -> u64 {
    // The control-plane namespace is found from the first two.
    let found_by = [Kind::Deployment, Kind::DaemonSet, Kind::Namespace, Kind::Link];
    let kinds: BTreeSet<Kind> = items.iter().filter_map(Item::kind).chain(found_by).collect();
    let (memory, mut hasher) = (&live.0.memory, DefaultHasher::new());
    for kind in kinds {
        let held = memory.objects.get(&kind).into_iter().flatten();
        held.for_each(|held| (kind.resource(), &held.namespace, &held.json).hash(&mut hasher));
    }
    let others = (&memory.server_version, &memory.cli_version, &memory.cli_extensions, &memory.denied);
    format!("{others:?} {:?} {:?}", live.0.settings, memory.trouble).hash(&mut hasher);
    memory.logs.hash(&mut hasher);
    if items.contains(&Item::NodeFiles) {
        memory.nodes.iter().for_each(|node| (&node.node, &node.files).hash(&mut hasher));
    }
    hasher.finish()
}
