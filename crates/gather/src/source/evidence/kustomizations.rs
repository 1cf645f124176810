//! The namespace that kustomizations set for the objects of their files, directly or through other kustomizations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::manifests::{CHANGES, files};
use crate::archive::joined;

/// Maximum depth of nested kustomizations.
const DEPTH: usize = 16;
/// Maximum number of files to look at.
const MOST: usize = 100_000;

/// The kustomizations of a set, by folder; folders end in `/`, except for the top.
#[derive(Debug, Default)]
pub(super) struct Kustomizations(BTreeMap<String, Kustomization>);

#[derive(Debug)]
struct Kustomization {
    namespace: Option<String>,
    /// Files and folders.
    resources: Vec<String>,
    /// Whether it changes more than the namespace of objects.
    changes: bool,
}

impl Kustomizations {
    pub(super) fn add(&mut self, folder: &str, kustomization: &Value) {
        let resources = files(kustomization, &["resources", "bases", "components"]);
        let namespace = kustomization["namespace"].as_str().filter(|name| crate::names::is_label(name));
        let others = CHANGES.iter().filter(|key| !["namespace", "components"].contains(*key));
        let one = Kustomization {
            namespace: namespace.map(str::to_owned),
            resources: resources.iter().filter_map(|path| joined(folder, path)).collect(),
            changes: others.into_iter().any(|key| !kustomization[*key].is_null()),
        };
        self.0.insert(folder.to_owned(), one);
    }

    /// The namespace for the objects of each file, if all kustomizations agree.
    pub(super) fn namespaces(&self) -> BTreeMap<String, String> {
        let within: BTreeSet<String> =
            self.0.values().flat_map(|one| &one.resources).map(|path| format!("{path}/")).collect();
        let mut given: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
        let mut left = MOST;
        for folder in self.0.keys().filter(|folder| !within.contains(*folder)) {
            self.give(folder, None, DEPTH, &mut left, &mut given);
        }
        let one = |(path, mut names): (String, BTreeSet<Option<String>>)| match names.len() {
            1 => Some((path, names.pop_first()??)),
            _ => None,
        };
        given.into_iter().filter_map(one).collect()
    }

    fn give(
        &self,
        folder: &str,
        outer: Option<&str>,
        depth: usize,
        left: &mut usize,
        given: &mut BTreeMap<String, BTreeSet<Option<String>>>,
    ) {
        let Some(one) = self.0.get(folder).filter(|_| depth > 0) else { return };
        let namespace = outer.or(one.namespace.as_deref());
        for path in &one.resources {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            let inner = format!("{path}/");
            match self.0.contains_key(&inner) {
                true => self.give(&inner, namespace, depth - 1, left, given),
                false => _ = given.entry(path.clone()).or_default().insert(namespace.map(str::to_owned)),
            }
        }
    }

    /// Whether a kustomization changes only the namespace of its files.
    pub(super) fn is_applied(&self, folder: &str, namespaces: &BTreeMap<String, String>) -> bool {
        let Some(one) = self.0.get(folder) else { return false };
        let gets = |path: &String| {
            let inner = format!("{path}/");
            match self.0.contains_key(&inner) {
                true => self.0[&inner].resources.iter().all(|path| namespaces.contains_key(path)),
                false => namespaces.contains_key(path),
            }
        };
        !one.changes && one.namespace.is_some() && one.resources.iter().all(gets)
    }
}
