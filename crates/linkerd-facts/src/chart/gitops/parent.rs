//! Values of a dependency that its parent chart reads: Helm decides with `condition` whether the dependency is
//! installed, and templates of the parent may read any value.

use super::{Document, Installed, Set, Text};
use crate::archive::folder_of;
use crate::chart::values_input::ValuesFile;

/// The object with all values in templates.
const VALUES: &str = ".Values";

/// Paths below `part` that the chart of this `Chart.yaml` reads; an empty path stands for all values.
pub(super) fn shared(set: &Set<'_>, document: &Document<'_>, part: &str, condition: Option<&str>) -> Vec<String> {
    let conditions = condition.unwrap_or_default().split(',').map(str::trim);
    let mut paths: Vec<String> =
        conditions.filter_map(|path| path.strip_prefix(part)?.strip_prefix('.')).map(str::to_owned).collect();
    let folder = match folder_of(&document.of.path) {
        "" => "templates/".to_owned(),
        folder => format!("{}/templates/", folder.trim_end_matches('/')),
    };
    for text in set.texts.iter().filter(|text| text.path.starts_with(&folder)) {
        paths.extend(mentioned(&text.text, part));
    }
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// An object that installs a chart of the set, by its path in Git.
pub(super) struct Installer<'t> {
    document: Document<'t>,
    /// The paths of its values, and of the list of its values files.
    values: String,
    files: String,
    /// The path of values that are given as text.
    text: Option<String>,
}

/// The HelmReleases and Applications that install the chart of this `Chart.yaml`.
pub(super) fn installers<'t>(set: &Set<'t>, chart: &Document<'_>) -> Vec<Installer<'t>> {
    let folder = folder_of(&chart.of.path).trim_matches('/');
    let is_folder = |path: &str| {
        let path = path.trim_start_matches("./").trim_matches('/');
        !path.is_empty() && !folder.is_empty() && (folder == path || folder.ends_with(&format!("/{path}")))
    };
    let mut found = Vec::new();
    for text in
        set.texts.iter().filter(|text| ["HelmRelease", "argoproj.io"].iter().any(|kind| text.text.contains(kind)))
    {
        for document in set.documents(text) {
            match document.root.text(&["kind"]).unwrap_or_default() {
                "HelmRelease" if document.text("spec.chart.spec.chart").is_some_and(|path| is_folder(&path)) => {
                    found.push(Installer {
                        document,
                        values: "spec.values".to_owned(),
                        files: "spec.chart.spec.valuesFiles".to_owned(),
                        text: None,
                    });
                }
                "Application" => {
                    let mut sources = document.items("spec.sources");
                    sources.push("spec.source".to_owned());
                    let path = |source: &String| document.text(&format!("{source}.path"));
                    let source = sources.into_iter().find(|source| path(source).is_some_and(|path| is_folder(&path)));
                    if let Some(source) = source {
                        found.push(Installer {
                            document,
                            values: format!("{source}.helm.valuesObject"),
                            files: format!("{source}.helm.valueFiles"),
                            text: Some(format!("{source}.helm.values")),
                        });
                    }
                }
                _ => {}
            }
        }
    }
    found
}

impl Installer<'_> {
    /// A dependency as this object installs it: `base` has the values of the chart itself.
    pub(super) fn installed(&self, set: &Set<'_>, chart: &Document<'_>, part: &str, base: &Installed) -> Installed {
        let object = self.document.kind_and_name();
        let mut installed = Installed { object: object.clone(), place: self.document.place("spec"), ..base.clone() };
        for path in self.document.items(&self.files).iter().filter_map(|item| self.document.text(item)) {
            // Argo CD reads them from the folder of the chart, Flux from the top of the repository.
            match set.beside(chart.of, &path).or_else(|| set.of_repository(&path)) {
                Some(text) if text.path.rsplit('/').next() == Some("values.yaml") => {}
                Some(text) => installed.files.extend(values_of(set, text, part)),
                None => installed.absent.push(path),
            }
        }
        if let Some(text) = self.text.as_ref().filter(|path| self.document.text(path).is_some()) {
            installed.absent.push(text.clone());
        }
        if !self.document.items("spec.valuesFrom").is_empty() {
            installed.absent.push("spec.valuesFrom".to_owned());
        }
        installed.files.extend(self.document.map(&object, &format!("{}.{part}", self.values)));
        installed
    }
}

/// The values of a dependency in a values file of its parent.
pub(super) fn values_of<'t>(set: &Set<'t>, file: &'t Text, part: &str) -> Option<ValuesFile> {
    let documents = set.documents(file);
    let values = documents.first()?;
    values.map(&values.of.name, part)
}

/// Paths below `part` that a template names: `.Values.PART.a.b`, `index .Values "PART" "a" "b"` and
/// `(index .Values "PART").a.b`.
fn mentioned(template: &str, part: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in template.match_indices(VALUES) {
        let rest = &template[at + VALUES.len()..];
        if let Some(rest) = rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(part)) {
            if !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')) {
                paths.push(fields(rest).join("."));
            }
            continue;
        }
        let (names, rest) = literals(rest);
        if names.first() == Some(&part) {
            let below = rest.trim_start().strip_prefix(')').map(fields).unwrap_or_default();
            paths.push(names[1..].iter().copied().chain(below).collect::<Vec<_>>().join("."));
        }
    }
    // Other functions, such as `dig` and `pluck`, name it as a text of its own.
    let quoted = format!("\"{part}\"");
    let is_other = |line: &str| line.contains(&quoted) && line.contains(VALUES) && !line.contains("index ");
    if template.lines().any(is_other) {
        paths.push(String::new());
    }
    paths
}

/// The fields at the beginning of a text: `.a.b }}`.
fn fields(mut rest: &str) -> Vec<&str> {
    let mut names = Vec::new();
    while let Some(after) = rest.strip_prefix('.') {
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(after.len());
        if end == 0 {
            break;
        }
        names.push(&after[..end]);
        rest = &after[end..];
    }
    names
}

/// The texts in quotes at the beginning, and the rest.
fn literals(mut rest: &str) -> (Vec<&str>, &str) {
    let mut names = Vec::new();
    while let Some(after) = rest.trim_start().strip_prefix('"') {
        let Some((name, more)) = after.split_once('"') else { break };
        names.push(name);
        rest = more;
    }
    (names, rest)
}

#[cfg(test)]
mod tests {
    use super::mentioned;

    #[test]
    fn paths_of_templates_are_read_in_all_forms() {
        for (template, part, paths) in [
            ("{{ .Values.mesh.policyController.image.name }}", "mesh", vec!["policyController.image.name"]),
            ("{{ $.Values.mesh.a | quote }}", "mesh", vec!["a"]),
            ("{{ .Values.meshed.a }}", "mesh", vec![]),
            ("{{- with .Values.mesh }}{{ .a }}{{ end }}", "mesh", vec![""]),
            ("{{ if index .Values \"linkerd-viz\" \"enabled\" }}", "linkerd-viz", vec!["enabled"]),
            ("{{ (index .Values \"linkerd-viz\").a.b }}", "linkerd-viz", vec!["a.b"]),
            ("{{ (index .Values \"linkerd-viz\" \"a\").b }}", "linkerd-viz", vec!["a.b"]),
            ("{{ (index .Values \"other\").a.b }}", "linkerd-viz", vec![]),
            ("{{ dig \"linkerd-viz\" \"a\" \"\" .Values }}", "linkerd-viz", vec![""]),
        ] {
            assert_eq!(mentioned(template, part), paths, "{template}");
        }
    }
}
