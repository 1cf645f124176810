//! Flux: `HelmRelease`, with its own chart or that of a `HelmChart` or `OCIRepository` in the set.

use super::{Document, Installed, Set};

pub(super) fn release(set: &Set<'_>, document: &Document<'_>) -> Option<Installed> {
    let object = document.kind_and_name();
    let namespace = document.text("metadata.namespace").unwrap_or_default();
    let version = |path: &str| document.text(path).map(|text| (path.to_owned(), text));
    let (chart, version) = match document.text("spec.chart.spec.chart") {
        // A path refers to a chart in Git, whose version is unknown.
        Some(chart) => (set.chart(&chart).filter(|name| *name == chart)?, version("spec.chart.spec.version")),
        None => match of_reference(set, document, &namespace)? {
            Reference::Chart(chart, version) => (chart, version),
            Reference::Outside(reference) => return outside(document, &object, reference),
        },
    };
    let mut installed = Installed::new(object.clone(), document.place("spec"), chart, version);
    installed.namespace = document.text("spec.targetNamespace").or_else(|| document.text("metadata.namespace"));
    installed.idle = match document.text("spec.suspend").as_deref() {
        Some("true") => Some("is suspended"),
        _ if document.root.find("spec.kubeConfig").is_some() => Some("is for another cluster (spec.kubeConfig)"),
        _ => None,
    };
    for entry in document.items("spec.valuesFrom") {
        from(set, document, &entry, &namespace, &mut installed);
    }
    installed.files.extend(document.map(&object, "spec.values"));
    Some(installed)
}

/// The object that `chartRef` names.
enum Reference {
    /// The chart, with the field of its version.
    Chart(String, Option<(String, String)>),
    /// It is not in the set.
    Outside(String),
}

/// The chart of `chartRef`; `None` if it is not one of the charts.
fn of_reference(set: &Set<'_>, document: &Document<'_>, namespace: &str) -> Option<Reference> {
    let kind = document.text("spec.chartRef.kind")?;
    let name = document.text("spec.chartRef.name")?;
    let namespace = document.text("spec.chartRef.namespace").unwrap_or_else(|| namespace.to_owned());
    let Some(of) = set.object(&kind, &namespace, &name) else {
        return Some(Reference::Outside(format!("{kind} {name}")));
    };
    let said = |field: &str| Some((format!("{} {field}", of.kind_and_name()), of.text(field)?));
    let (chart, version) = match kind.as_str() {
        "OCIRepository" => {
            let version = ["spec.ref.tag", "spec.ref.semver"].iter().find_map(|field| said(field));
            (of.text("spec.url")?, version)
        }
        "HelmChart" => (of.text("spec.chart")?, said("spec.version")),
        _ => return None,
    };
    Some(Reference::Chart(set.chart(&chart)?, version))
}

/// A release of an unknown chart, if its names are those of Linkerd.
fn outside(document: &Document<'_>, object: &str, reference: String) -> Option<Installed> {
    let names = ["metadata.name", "metadata.namespace", "spec.targetNamespace", "spec.chartRef.name"];
    let is_linkerds = names.iter().any(|path| document.text(path).is_some_and(|name| name.starts_with("linkerd")));
    let installed = Installed::new(object.to_owned(), document.place("spec"), String::new(), None);
    is_linkerds.then(|| Installed { chart_of: Some(reference), ..installed })
}

/// Values in a ConfigMap of the set. Secrets are never read.
fn from(set: &Set<'_>, document: &Document<'_>, entry: &str, namespace: &str, installed: &mut Installed) {
    let text = |key: &str| document.text(&format!("{entry}.{key}")).unwrap_or_default();
    let (kind, name) = (text("kind"), text("name"));
    let key = Some(text("valuesKey")).filter(|key| !key.is_empty()).unwrap_or_else(|| "values.yaml".to_owned());
    // A single value for `targetPath`.
    let single = !text("targetPath").is_empty();
    let found = (kind == "ConfigMap" && !single)
        .then(|| set.object(&kind, namespace, &name))
        .flatten()
        .and_then(|of| of.lines(&of.kind_and_name(), &format!("data[{key}]")));
    let generated = || (kind == "ConfigMap" && !single).then(|| set.generated(&name, &key)).flatten();
    match found {
        Some(values) => installed.take(values),
        None => match generated() {
            Some(text) => installed.take(super::whole(text)),
            None => installed.absent.push(format!("{kind} {name}")),
        },
    }
}
