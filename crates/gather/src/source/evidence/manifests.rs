//! The manifests in a folder: files that `kubectl apply -f` reads, except for inputs of Helm and kustomize.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::kustomizations::Kustomizations;
use crate::archive::spool::Blob;
use crate::archive::{Tree, joined};
use crate::yaml::parse;

/// Maximum size of a kustomization or template to read, in bytes.
const MOST: u64 = 4 << 20;
/// Ends of the names of files in languages that render manifests.
const PROGRAMS: [&str; 3] = [".jsonnet", ".libsonnet", ".cue"];
/// File names that kustomize looks for.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
/// Fields of a kustomization that change objects of its files.
pub(super) const CHANGES: [&str; 14] = [
    "commonAnnotations",
    "commonLabels",
    "components",
    "generators",
    "helmCharts",
    "labels",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "transformers",
];

/// The other contents of a folder.
pub(super) struct Layout {
    /// Folders of Helm charts, each ending in `/`, except for the top.
    charts: BTreeSet<String>,
    /// Files that kustomizations use to change or generate objects: they are not manifests themselves.
    taken: BTreeSet<String>,
    /// Folders of kustomizations that change objects in other ways than by one namespace.
    pub(super) changing: Vec<String>,
    /// The namespace that kustomizations set for the objects of a file, if all agree.
    namespaces: BTreeMap<String, String>,
}

/// Role of a file in a folder.
pub(super) enum ManifestRole {
    Manifest,
    /// A template of the Helm chart in this folder.
    Template(String),
    /// A program that renders manifests with settings of Linkerd.
    Program,
    /// A file that `kubectl apply` does not read.
    Other(&'static str),
}

impl Layout {
    /// Examines a folder with the name `name`.
    pub(super) fn from_tree(tree: &Tree, name: &str) -> Layout {
        let mut layout = Layout {
            charts: BTreeSet::new(),
            taken: BTreeSet::new(),
            changing: Vec::new(),
            namespaces: BTreeMap::new(),
        };
        let mut manifests = BTreeSet::new();
        let mut changing = Vec::new();
        let mut kustomizations = Kustomizations::default();
        for (path, blob) in &tree.files {
            let (folder, file) = split(path);
            if file == "Chart.yaml" {
                layout.charts.insert(folder.to_owned());
            }
            if !KUSTOMIZATIONS.contains(&file) {
                continue;
            }
            let Some(kustomization) = read(blob) else { continue };
            for taken in files(&kustomization, &["resources", "bases"]) {
                manifests.extend(joined(folder, &taken));
            }
            for taken in patches(&kustomization) {
                layout.taken.extend(joined(folder, &taken));
            }
            if CHANGES.iter().any(|key| !kustomization[*key].is_null()) {
                changing.push((folder.to_owned(), shown(name, folder)));
            }
            kustomizations.add(folder, &kustomization);
        }
        layout.namespaces = kustomizations.namespaces();
        let is_applied = |folder: &str| kustomizations.is_applied(folder, &layout.namespaces);
        layout.changing =
            changing.into_iter().filter(|(folder, _)| !is_applied(folder)).map(|(_, shown)| shown).collect();
        layout.taken.retain(|path| !manifests.contains(path));
        layout
    }

    /// The namespace that overrides that of a file's objects.
    pub(super) fn namespace(&self, path: &str) -> Option<&str> {
        self.namespaces.get(path).map(String::as_str)
    }

    /// The role of a file.
    pub(super) fn role(&self, name: &str, path: &str, blob: &Blob) -> ManifestRole {
        let (folder, file) = split(path);
        if PROGRAMS.iter().any(|end| file.ends_with(end))
            && blob.bytes(MOST).is_ok_and(|text| memchr::memmem::find(&text, b"linkerd.io/").is_some())
        {
            return ManifestRole::Program;
        }
        if ![".json", ".yaml", ".yml"].iter().any(|end| file.ends_with(end)) {
            return ManifestRole::Other("kubectl apply reads only .json, .yaml and .yml in a folder");
        }
        if KUSTOMIZATIONS.contains(&file) {
            return ManifestRole::Other("a kustomization");
        }
        if self.taken.contains(path) {
            return ManifestRole::Other("a kustomization uses it to patch or generate objects");
        }
        // Subcharts are rendered with their parent chart.
        let chart = self.charts.iter().find(|chart| path.starts_with(chart.as_str()));
        let Some(chart) = chart else { return ManifestRole::Manifest };
        if file == "Chart.yaml" || (file.starts_with("values") && self.charts.contains(folder)) {
            return ManifestRole::Other("part of a Helm chart");
        }
        let is_template = path[chart.len()..].split('/').any(|part| part == "templates")
            && blob.bytes(MOST).is_ok_and(|text| memchr::memmem::find(&text, b"{{").is_some());
        match is_template {
            true => ManifestRole::Template(shown(name, chart)),
            false => ManifestRole::Manifest,
        }
    }
}

/// Folder of a file, ending in `/` except for the top, and its name.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |at| at + 1))
}

fn shown(name: &str, folder: &str) -> String {
    let whole = format!("{}/{}", name.trim_end_matches('/'), folder.trim_end_matches('/'));
    whole.trim_end_matches('/').to_owned()
}

fn read(blob: &Blob) -> Option<Value> {
    let text = blob.bytes(MOST).ok()?;
    parse(std::str::from_utf8(&text).ok()?).ok()
}

/// Entries of lists of files.
pub(super) fn files(kustomization: &Value, keys: &[&str]) -> Vec<String> {
    let listed = keys.iter().flat_map(|key| kustomization[*key].as_array().into_iter().flatten());
    listed.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The files that change or generate objects.
fn patches(kustomization: &Value) -> Vec<String> {
    let mut found =
        files(kustomization, &["patchesStrategicMerge", "transformers", "generators", "configurations", "validators"]);
    let entries = |key: &str| kustomization[key].as_array().cloned().unwrap_or_default();
    for entry in ["patches", "patchesJson6902", "replacements"].iter().flat_map(|key| entries(key)) {
        found.extend(entry["path"].as_str().map(str::to_owned));
    }
    for entry in ["configMapGenerator", "secretGenerator"].iter().flat_map(|key| entries(key)) {
        let named = files(&entry, &["files", "envs"]);
        found.extend(named.iter().map(|file| file.split_once('=').map_or(file.as_str(), |(_, file)| file).to_owned()));
    }
    for entry in entries("helmCharts") {
        found.extend(entry["valuesFile"].as_str().map(str::to_owned));
        found.extend(files(&entry, &["additionalValuesFiles"]));
    }
    found
}
