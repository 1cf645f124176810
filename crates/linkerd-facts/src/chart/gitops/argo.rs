//! Argo CD: chart sources of an `Application`, or of the template of an `ApplicationSet`.

use super::set::RawValue;
use super::{Document, Holds, Installed, Set, TEMPLATE, set, tree, whole};

pub(super) fn sources(set: &Set<'_>, document: &Document<'_>, spec: &str) -> Vec<Installed> {
    let mut sources = document.items(&format!("{spec}.sources"));
    sources.push(format!("{spec}.source"));
    let namespace = document.text(&format!("{spec}.destination.namespace"));
    let of = |source: &String| Some(Installed { namespace: namespace.clone(), ..installed(set, document, source)? });
    sources.iter().filter_map(of).collect()
}

/// The spec of generated Applications.
const TEMPLATED: &str = "spec.template.spec";
/// Maximum number of generator elements to substitute.
const MOST_ELEMENTS: usize = 200;

/// The charts of an ApplicationSet: the sources for each element if all generators are lists, else the sources of the
/// template.
pub(super) fn application_set(set: &Set<'_>, document: &Document<'_>) -> Vec<Installed> {
    let elements = elements(document).unwrap_or_default();
    let mut found = Vec::new();
    for element in elements.iter().take(MOST_ELEMENTS) {
        let text = element.iter().fold(document.text.clone(), |text, (key, value)| filled(&text, key, value));
        if let Some(root) = tree(&text) {
            found.extend(sources(set, &Document { of: document.of, text, root }, TEMPLATED));
        }
    }
    if elements.is_empty() {
        found.extend(sources(set, document, TEMPLATED));
    }
    found.dedup();
    found
}

/// The elements of the generators as keys and values; `None` if a generator is not a list of texts.
fn elements(document: &Document<'_>) -> Option<Vec<Vec<(String, String)>>> {
    let mut elements = Vec::new();
    for generator in document.items("spec.generators") {
        let list = document.items(&format!("{generator}.list.elements"));
        if list.is_empty() {
            return None;
        }
        for element in list {
            let Holds::Map(_) = &document.root.find(&element)?.holds else { return None };
            let serde_yaml::Value::Mapping(map) = document.value(&element)? else { return None };
            let texts = map.iter().filter_map(|(key, value)| {
                let value = match value {
                    serde_yaml::Value::String(text) => text.clone(),
                    serde_yaml::Value::Number(number) => number.to_string(),
                    serde_yaml::Value::Bool(truth) => truth.to_string(),
                    _ => return None,
                };
                // A text that could end the surrounding one is not substituted.
                let fits = !value.contains(['\'', '"', '\n', '\\']);
                fits.then_some((key.as_str()?.to_owned(), value))
            });
            elements.push(texts.collect());
        }
    }
    Some(elements)
}

/// A template with a key replaced by its value: `{{.key}}` of Go templates, `{{key}}` of older ones.
fn filled(text: &str, key: &str, value: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(TEMPLATE) {
        let Some(close) = rest[open..].find("}}") else { break };
        let inside = rest[open + TEMPLATE.len()..open + close].trim();
        let is_key = inside.strip_prefix('.').unwrap_or(inside) == key;
        out.push_str(&rest[..open]);
        out.push_str(if is_key { value } else { &rest[open..open + close + 2] });
        rest = &rest[open + close + 2..];
    }
    out + rest
}

/// The folder in Git of a chart that gets values. Other folders may contain anything.
fn path_in_git(document: &Document<'_>, source: &str) -> Option<String> {
    document.root.find(&format!("{source}.helm")).filter(|_| document.text.contains("linkerd"))?;
    document.text(&format!("{source}.path"))
}

fn installed(set: &Set<'_>, document: &Document<'_>, source: &str) -> Option<Installed> {
    let object = document.kind_and_name();
    let in_git = || path_in_git(document, source);
    let named = document.text(&format!("{source}.chart")).or_else(in_git)?;
    if named.contains(TEMPLATE) {
        return Some(Installed::new(object, document.place(source), named, None));
    }
    let chart = set.chart(&named)?;
    // The revision of a folder in Git is not the version of its chart.
    let field = format!("{source}.targetRevision");
    let is_of_repository = document.root.find(&format!("{source}.chart")).is_some();
    let version = document.text(&field).map(|text| (field, text)).filter(|_| is_of_repository);
    let mut installed = Installed::new(object.clone(), document.place(source), chart, version);
    let helm = format!("{source}.helm");
    for item in document.items(&format!("{helm}.valueFiles")) {
        let Some(path) = document.text(&item) else { continue };
        // A file in the repository of another source; other files are in the chart.
        let file = path.strip_prefix('$').and_then(|path| set.of_repository(path.split_once('/')?.1));
        match file {
            Some(text) => installed.take(whole(text)),
            None => installed.absent.push(path),
        }
    }
    // A map of values overrides the text.
    match document.map(&object, &format!("{helm}.valuesObject")) {
        Some(map) => installed.files.push(map),
        None => {
            if let Some(values) = document.lines(&object, &format!("{helm}.values")) {
                installed.take(values);
            }
        }
    }
    let list = format!("{helm}.parameters");
    let parameters = document.items(&list).into_iter().filter_map(|item| {
        let name = format!("{item}.name");
        Some(RawValue {
            path: document.text(&name)?,
            value: document.text(&format!("{item}.value")).unwrap_or_default(),
            is_text: document.text(&format!("{item}.forceString")).as_deref() == Some("true"),
            spot: document.root.at(&name)?,
        })
    });
    installed.files.extend(set::file(document, &object, &list, parameters.collect()));
    if !document.items(&format!("{helm}.fileParameters")).is_empty() {
        installed.absent.push(format!("fileParameters of {object}"));
    }
    Some(installed)
}
