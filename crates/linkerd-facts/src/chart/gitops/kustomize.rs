//! Charts rendered by kustomize (`helmCharts`), installed by helmfile, or required by another chart.

use super::set::{self, RawValue};
use super::{Document, Installed, Set, Text, parent, whole};

/// `helmCharts` of a kustomization, or `releases` of a helmfile, which also has no kind.
pub(super) fn charts(set: &Set<'_>, document: &Document<'_>) -> Vec<Installed> {
    let charts = document.items("helmCharts").into_iter().filter_map(|item| rendered(set, document, &item));
    let releases = document.items("releases").into_iter().filter_map(|item| installed(set, document, &item));
    charts.chain(releases).collect()
}

fn rendered(set: &Set<'_>, document: &Document<'_>, item: &str) -> Option<Installed> {
    let field = |key: &str| format!("{item}.{key}");
    let chart = set.chart(&document.text(&field("name"))?)?;
    let object = document.of.name.clone();
    let version = document.text(&field("version")).map(|text| (field("version"), text));
    let mut installed = Installed::new(object.clone(), document.place(item), chart, version);
    installed.namespace = document.text(&field("namespace"));
    let mut paths: Vec<String> = document.text(&field("valuesFile")).into_iter().collect();
    paths.extend(document.items(&field("additionalValuesFiles")).iter().filter_map(|item| document.text(item)));
    files(set, document, paths, &mut installed);
    installed.files.extend(document.map(&object, &field("valuesInline")));
    Some(installed)
}

fn installed(set: &Set<'_>, document: &Document<'_>, item: &str) -> Option<Installed> {
    let field = |key: &str| format!("{item}.{key}");
    let chart = set.chart(&document.text(&field("chart"))?)?;
    let object = document.of.name.clone();
    let version = document.text(&field("version")).map(|text| (field("version"), text));
    let mut installed = Installed::new(object.clone(), document.place(item), chart, version);
    installed.namespace = document.text(&field("namespace"));
    for entry in document.items(&field("values")) {
        match document.text(&entry) {
            Some(path) => files(set, document, vec![path], &mut installed),
            None => installed.files.extend(document.map(&object, &entry)),
        }
    }
    if !document.items(&field("secrets")).is_empty() {
        installed.absent.push(field("secrets"));
    }
    let written = document.items(&field("set")).into_iter().filter_map(|item| {
        let name = format!("{item}.name");
        let value = document.text(&format!("{item}.value")).unwrap_or_default();
        Some(RawValue { path: document.text(&name)?, value, is_text: false, spot: document.root.at(&name)? })
    });
    installed.files.extend(set::file(document, &object, &field("set"), written.collect()));
    Some(installed)
}

fn files(set: &Set<'_>, document: &Document<'_>, paths: Vec<String>, installed: &mut Installed) {
    for path in paths {
        match set.beside(document.of, &path) {
            Some(text) => installed.take(whole(text)),
            None => installed.absent.push(path),
        }
    }
}

/// Dependencies of this `Chart.yaml`, with their part of the values file next to it.
pub(super) fn dependencies(set: &Set<'_>, document: &Document<'_>) -> Vec<Installed> {
    let installers = parent::installers(set, document);
    let dependency = |item: String| {
        let field = |key: &str| format!("{item}.{key}");
        let name = document.text(&field("name"))?;
        let chart = set.chart(&name)?;
        let version = document.text(&field("version")).map(|text| (field("version"), text));
        let mut installed = Installed::new(document.of.name.clone(), document.place(&item), chart, version);
        let part = document.text(&field("alias")).unwrap_or(name);
        let shared = parent::shared(set, document, &part, document.text(&field("condition")).as_deref());
        let beside = set.beside(document.of, "values.yaml");
        installed.files.extend(beside.and_then(|file| parent::values_of(set, file, &part)));
        let each: Vec<Installed> =
            installers.iter().map(|one| one.installed(set, document, &part, &installed)).collect();
        let all = match each.is_empty() {
            true => {
                // The installing user may pass more files.
                installed.absent.push("values of the parent chart".to_owned());
                vec![installed]
            }
            false => each,
        };
        Some(all.into_iter().map(move |one| one.shared_with_parent(&shared)))
    };
    document.items("dependencies").into_iter().filter_map(dependency).flatten().collect()
}

impl<'t> Set<'t> {
    /// The file from which a kustomization generates a key of a ConfigMap.
    pub(super) fn generated(&self, name: &str, key: &str) -> Option<&'t Text> {
        let texts = self.texts.iter().filter(|text| text.text.contains("configMapGenerator"));
        texts.flat_map(|text| self.documents(text)).find_map(|document| {
            let maps = document.items("configMapGenerator");
            let map = maps.into_iter().find(|map| document.text(&format!("{map}.name")).as_deref() == Some(name))?;
            let files = document.items(&format!("{map}.files"));
            files.into_iter().filter_map(|item| document.text(&item)).find_map(|file| {
                let (of, path) = match file.split_once('=') {
                    Some((of, path)) => (of.to_owned(), path.to_owned()),
                    None => (file.rsplit('/').next().unwrap_or_default().to_owned(), file.clone()),
                };
                (of == key).then(|| self.beside(document.of, &path)).flatten()
            })
        })
    }
}
