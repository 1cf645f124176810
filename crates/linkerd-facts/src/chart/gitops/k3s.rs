//! k3s and RKE2: `HelmChart`, and the `HelmChartConfig` of the same name, whose values apply on top. Values in `set`
//! apply last.

use serde_yaml::Value;

use super::set::RawValue;
use super::{Document, Holds, Installed, Set, set};

const CONFIG: &str = "HelmChartConfig";

/// The chart of a `HelmChart`.
pub(super) fn chart(set: &Set<'_>, document: &Document<'_>) -> Option<Installed> {
    let chart = chart_name(set, &document.text("spec.chart")?)?;
    let version = document.text("spec.version").map(|text| ("spec.version".to_owned(), text));
    let mut installed = Installed::new(document.kind_and_name(), document.place("spec"), chart, version);
    installed.namespace = document.text("spec.targetNamespace").or_else(|| document.text("metadata.namespace"));
    values(document, &mut installed);
    let (namespace, name) = key(document);
    if let Some(config) = set.object(CONFIG, &namespace, &name) {
        values(&config, &mut installed);
    }
    let object = document.kind_and_name();
    installed.files.extend(set::file(document, &object, "spec.set", each(document)));
    Some(installed)
}

/// The values of a `HelmChartConfig` whose `HelmChart` is not in the set, such as that of an add-on: its name is that
/// of the chart.
pub(super) fn config(set: &Set<'_>, document: &Document<'_>) -> Option<Installed> {
    let (namespace, name) = key(document);
    let chart = set.chart(&name).filter(|chart| *chart == name)?;
    if set.object("HelmChart", &namespace, &name).is_some() {
        return None;
    }
    let mut installed = Installed::new(document.kind_and_name(), document.place("spec"), chart, None);
    values(document, &mut installed);
    Some(installed)
}

fn key(document: &Document<'_>) -> (String, String) {
    let of = |key: &str| document.text(&format!("metadata.{key}")).unwrap_or_default();
    (of("namespace"), of("name"))
}

/// The chart that a name, a path in a repository or a URL of an archive means.
fn chart_name(set: &Set<'_>, text: &str) -> Option<String> {
    set.chart(text).or_else(|| {
        let (stem, _) = text.strip_suffix(".tgz")?.rsplit_once('-').filter(|(_, version)| {
            version.trim_start_matches('v').starts_with(|letter: char| letter.is_ascii_digit())
        })?;
        set.chart(stem)
    })
}

/// Values as text. Secrets are never read.
fn values(document: &Document<'_>, installed: &mut Installed) {
    if let Some(values) = document.lines(&document.kind_and_name(), "spec.valuesContent") {
        installed.take(values);
    }
    for entry in document.items("spec.valuesSecrets") {
        let name = document.text(&format!("{entry}.name")).unwrap_or_default();
        installed.absent.push(format!("Secret {name}"));
    }
}

/// The values in `set`. A text is not converted, except for true, false and null.
fn each(document: &Document<'_>) -> Vec<RawValue> {
    let Some(node) = document.root.find("spec.set") else { return Vec::new() };
    let Holds::Map(entries) = &node.holds else { return Vec::new() };
    let Some(Value::Mapping(typed)) = document.value("spec.set") else { return Vec::new() };
    let written = entries.iter().filter_map(|(path, spot, node)| {
        let Holds::Text(value, _) = &node.holds else { return None };
        let is_text = match typed.get(path.as_str()) {
            Some(Value::String(text)) => !["true", "false", "null"].contains(&&*text.to_ascii_lowercase()),
            _ => false,
        };
        Some(RawValue { path: path.clone(), value: value.clone(), is_text, spot: *spot })
    });
    written.collect()
}
