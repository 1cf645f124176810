//! Argo CD: sources of an `Application`, or of the template of an `ApplicationSet`, that are charts.

use super::set::Written;
use super::{Document, Installed, Set, set, whole};

pub(super) fn sources(set: &Set<'_>, document: &Document<'_>, spec: &str) -> Vec<Installed> {
    let mut sources = document.items(&format!("{spec}.sources"));
    sources.push(format!("{spec}.source"));
    let namespace = document.text(&format!("{spec}.destination.namespace"));
    let of = |source: &String| Some(Installed { namespace: namespace.clone(), ..of(set, document, source)? });
    sources.iter().filter_map(of).collect()
}

fn of(set: &Set<'_>, document: &Document<'_>, source: &str) -> Option<Installed> {
    let object = document.kind_and_name();
    let chart = set.chart(&document.text(&format!("{source}.chart"))?)?;
    let field = format!("{source}.targetRevision");
    let version = document.text(&field).map(|text| (field, text));
    let mut installed = Installed::of(object.clone(), document.place(source), chart, version);
    let helm = format!("{source}.helm");
    for item in document.items(&format!("{helm}.valueFiles")) {
        let Some(path) = document.text(&item) else { continue };
        // A file of another source, which is a repository; any other is in the chart.
        let file = path.strip_prefix('$').and_then(|path| set.of_repository(path.split_once('/')?.1));
        match file {
            Some(text) => installed.take(whole(text)),
            None => installed.absent.push(path),
        }
    }
    // A map of values takes the place of the text.
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
        Some(Written {
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
