//! Objects in manifests that install Linkerd's charts from Git: chart, version and values, each with its position. Only
//! parses; known releases and values are in the release data.

mod annotated;
mod argo;
mod flux;
mod k3s;
mod kustomize;
mod parent;
mod set;

pub use annotated::{Annotated, ValueKey, annotated};
use serde_yaml::{Mapping, Value};

use super::stored_values::{Spots, ValuePositions};
use super::values_input::ValuesFile;
use super::yaml;
use crate::archive::{folder_of, joined};
use crate::yaml::node::{Holds, Node, steps, tree};
use crate::yaml::{begins_document, guard};

/// A file of a set of manifests.
#[derive(Debug, Clone)]
pub struct Text {
    /// Name in messages.
    pub name: String,
    /// Path in the set.
    pub path: String,
    pub text: String,
}

/// A chart installation in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The object: `HelmRelease linkerd/linkerd-viz`.
    pub object: String,
    /// Position: file and line.
    pub place: String,
    /// The name of the chart.
    pub chart: String,
    /// Version of the chart, with the field that sets it, if any.
    pub version: Option<(String, String)>,
    /// Namespace of the installation, if the object sets it.
    pub namespace: Option<String>,
    /// Reason why the object installs nothing here now, if known.
    pub idle: Option<&'static str>,
    /// The values, in the order in which they apply.
    pub files: Vec<ValuesFile>,
    /// Sources of further values that are missing or unreadable.
    pub absent: Vec<String>,
    /// The object outside of the files that names the chart, which is unknown then.
    pub chart_of: Option<String>,
}

/// Start of a template expression.
const TEMPLATE: &str = "{{";

/// Strings that a relevant text contains.
const MARKS: [&str; 6] = ["HelmRelease", "argoproj.io", "helm.cattle.io", "helmCharts", "releases:", "dependencies:"];

/// Whether an object of this kind installs charts with values, which are read here: of Flux, Argo CD and k3s.
pub fn is_read(kind: &str) -> bool {
    matches!(kind, "HelmRelease" | "Application" | "ApplicationSet" | "HelmChart" | "HelmChartConfig")
}

/// The installations of these charts in the files.
pub fn found(texts: &[Text], charts: &[&str]) -> Vec<Installed> {
    let set = Set { texts, charts };
    let mut found = Vec::new();
    for text in texts {
        // The generators of an ApplicationSet may take names from outside this file, and so does `chartRef`.
        let named = charts.iter().any(|chart| text.text.contains(chart))
            || ["ApplicationSet", "chartRef"].iter().any(|mark| text.text.contains(mark));
        if !named || !MARKS.iter().any(|mark| text.text.contains(mark)) {
            continue;
        }
        for document in set.documents(text) {
            let api = document.root.text(&["apiVersion"]).unwrap_or_default();
            let kind = document.root.text(&["kind"]).unwrap_or_default();
            match (api.split('/').next().unwrap_or_default(), kind) {
                ("helm.toolkit.fluxcd.io", "HelmRelease") => found.extend(flux::release(&set, &document)),
                ("argoproj.io", "Application") => found.extend(argo::sources(&set, &document, "spec")),
                ("argoproj.io", "ApplicationSet") => {
                    found.extend(argo::application_set(&set, &document));
                }
                ("" | "kustomize.config.k8s.io", "" | "Kustomization" | "Component") => {
                    found.extend(kustomize::charts(&set, &document));
                }
                ("helm.cattle.io", "HelmChart") => found.extend(k3s::chart(&set, &document)),
                ("helm.cattle.io", "HelmChartConfig") => found.extend(k3s::config(&set, &document)),
                // Chart.yaml
                ("v2", "") => found.extend(kustomize::dependencies(&set, &document)),
                _ => {}
            }
        }
    }
    found
}

/// The files, and the names of the relevant charts.
struct Set<'t> {
    texts: &'t [Text],
    charts: &'t [&'t str],
}

/// A document of a file.
struct Document<'t> {
    of: &'t Text,
    /// Its text, preceded by as many empty lines as in the file.
    text: String,
    root: Node,
}

impl<'t> Set<'t> {
    /// The readable documents of a file.
    fn documents(&self, of: &'t Text) -> Vec<Document<'t>> {
        let mut texts = vec![String::new()];
        for (at, line) in of.text.split_inclusive('\n').enumerate() {
            match (begins_document(line), texts.last_mut()) {
                (false, Some(text)) => text.push_str(line),
                _ => texts.push("\n".repeat(at + 1)),
            }
        }
        let read = |text: String| {
            guard(text.as_bytes()).ok()?;
            let root = tree(&text)?;
            // Values encrypted by SOPS are not usable.
            root.get("sops").is_none().then_some(Document { of, text, root })
        };
        texts.into_iter().filter(|text| !text.trim().is_empty()).filter_map(read).collect()
    }

    /// The document of an object with that kind and name, in any file.
    fn object(&self, kind: &str, namespace: &str, name: &str) -> Option<Document<'t>> {
        let texts = self.texts.iter().filter(|text| text.text.contains(kind) && text.text.contains(name));
        let is = |document: &Document<'_>| {
            let text = |path: &[&str]| document.root.text(path);
            text(&["kind"]) == Some(kind)
                && text(&["metadata", "name"]) == Some(name)
                && text(&["metadata", "namespace"]).is_none_or(|of| namespace.is_empty() || of == namespace)
        };
        texts.flat_map(|text| self.documents(text)).find(is)
    }

    /// The file at a path relative to another file's folder.
    fn beside(&self, of: &Text, path: &str) -> Option<&'t Text> {
        let whole = joined(folder_of(&of.path), path)?;
        self.texts.iter().find(|text| text.path == whole)
    }

    /// The file at a path from the top of a repository that may contain more than the set.
    fn of_repository(&self, path: &str) -> Option<&'t Text> {
        let is = |text: &&Text| {
            text.path == path || path.ends_with(&format!("/{}", text.path)) || text.path.ends_with(&format!("/{path}"))
        };
        let mut found = self.texts.iter().filter(is);
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether a chart is relevant, and its name: the last part of a path or URL.
    fn chart(&self, text: &str) -> Option<String> {
        let name = text.trim_end_matches('/').rsplit('/').next()?;
        self.charts.iter().find(|chart| **chart == name).map(|chart| (*chart).to_owned())
    }
}

impl Document<'_> {
    fn text(&self, path: &str) -> Option<String> {
        match &self.root.find(path)?.holds {
            Holds::Text(text, _) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Holds::Map(_) | Holds::List(_) => None,
        }
    }

    /// Paths of the items of a list.
    fn items(&self, path: &str) -> Vec<String> {
        match self.root.find(path).map(|node| &node.holds) {
            Some(Holds::List(items)) => (0..items.len()).map(|at| format!("{path}[{at}]")).collect(),
            Some(Holds::Map(_) | Holds::Text(..)) | None => Vec::new(),
        }
    }

    fn kind_and_name(&self) -> String {
        let of = |key| self.root.text(&["metadata", key]).unwrap_or_default();
        let (namespace, name) = (of("namespace"), of("name"));
        let kind = self.root.text(&["kind"]).unwrap_or_default();
        match namespace.is_empty() {
            true => format!("{kind} {name}"),
            false => format!("{kind} {namespace}/{name}"),
        }
    }

    /// Position of it or of one of its fields.
    fn place(&self, path: &str) -> String {
        let (line, _) = self.root.at(path).unwrap_or((self.root.line, 1));
        format!("{}:{line}", self.of.name)
    }

    /// The text at a path, as Go reads it.
    fn value(&self, path: &str) -> Option<Value> {
        let mut value = yaml::read(&self.text)?;
        for step in steps(path)? {
            value = match value {
                Value::Mapping(mut map) => map.remove(step.as_str())?,
                Value::Sequence(mut list) => {
                    let at = step.parse::<usize>().ok().filter(|at| *at < list.len())?;
                    list.swap_remove(at)
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Tagged(_) => {
                    return None;
                }
            };
        }
        Some(value)
    }

    /// Values at a path, given as a map.
    fn map(&self, object: &str, path: &str) -> Option<ValuesFile> {
        let Value::Mapping(root) = self.value(path)? else { return None };
        let above = format!("{path}.");
        Some(self.values_file(object, (self.text.clone(), root), above.clone(), Spots::Below(above)))
    }

    /// Values at a path, given as text; an error if they cannot be parsed.
    fn lines(&self, object: &str, path: &str) -> Option<Result<ValuesFile, String>> {
        let node = self.root.find(path)?;
        let Holds::Text(text, literal) = &node.holds else { return None };
        if text.trim().is_empty() {
            return None;
        }
        let refused = || Err(format!("{path} of {object}, which is not valid YAML"));
        let root = match guard(text.as_bytes()).map(|()| serde_yaml::from_str::<Value>(text)) {
            Ok(Ok(Value::Null)) => Mapping::new(),
            Ok(Ok(Value::Mapping(_))) => match yaml::read(text) {
                Some(Value::Mapping(root)) => root,
                Some(_) | None => return Some(refused()),
            },
            Ok(Ok(_) | Err(_)) | Err(_) => return Some(refused()),
        };
        let above = format!("{path}: ");
        let here = self.root.at(path).unwrap_or((node.line, node.column));
        let indented = if *literal { self.indented(here.0, text) } else { None };
        Some(Ok(match indented {
            Some(lines) => self.values_file(object, (lines, root), above, Spots::Below(String::new())),
            None => self.values_file(object, (text.clone(), root), above, Spots::Here(here)),
        }))
    }

    /// The lines of a text as in the file: indented, below the key.
    fn indented(&self, announced: u64, text: &str) -> Option<String> {
        let first = usize::try_from(announced).ok()?;
        let lines: Vec<&str> = self.text.lines().skip(first).take(text.lines().count()).collect();
        let same = lines.len() == text.lines().count()
            && lines.iter().zip(text.lines()).all(|(is, said)| is.trim_end().ends_with(said.trim_end()));
        same.then(|| "\n".repeat(first) + &lines.join("\n"))
    }

    fn values_file(&self, object: &str, of: (String, Mapping), above: String, spots: Spots) -> ValuesFile {
        let (text, root) = of;
        let (file, line) = (self.of.name.clone(), self.root.line);
        ValuesFile::in_object(object, text, root, ValuePositions { file, line, above, spots })
    }
}

/// A values file.
fn whole(text: &Text) -> Result<ValuesFile, String> {
    ValuesFile::read(&text.name, &text.text).map_err(|_| format!("{}, which is not valid YAML", text.name))
}

impl Installed {
    /// Whether a template sets the chart's name, so that it is unknown.
    pub fn is_templated(&self) -> bool {
        self.chart.contains(TEMPLATE)
    }

    /// An installation without values.
    fn new(object: String, place: String, chart: String, version: Option<(String, String)>) -> Installed {
        Installed {
            object,
            place,
            chart,
            version,
            namespace: None,
            idle: None,
            files: Vec::new(),
            absent: Vec::new(),
            chart_of: None,
        }
    }

    /// The installation, if the parent chart reads these paths of its values too.
    fn shared_with_parent(self, shared: &[String]) -> Installed {
        let files = self.files.into_iter().map(|file| file.shared_with_parent(shared.to_vec())).collect();
        Installed { files, ..self }
    }

    fn take(&mut self, values: Result<ValuesFile, String>) {
        match values {
            Ok(file) => self.files.push(file),
            Err(absent) => self.absent.push(absent),
        }
    }
}

#[cfg(test)]
mod tests;
