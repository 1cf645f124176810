//! Values of a dependency that its parent chart reads: Helm decides with `condition` whether the dependency is
//! installed, and templates of the parent may read any value.

use super::{Document, Set};
use crate::archive::folder_of;

/// The object with all values in templates.
const VALUES: &str = ".Values";

/// Paths below `part` that the chart of this `Chart.yaml` reads; an empty path stands for all values.
pub(super) fn shared(
    set: &Set<'_>,
    document: &Document<'_>,
    part: &str,
    condition: Option<&str>,
) -> Vec<String> {
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

/// Paths below `part` that a template names: `.Values.PART.a.b`, `index .Values "PART" "a" "b"` and
/// `(index .Values "PART").a.b`.
fn mentioned(template: &str, part: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (at, _) in template.match_indices(VALUES) {
        let rest = &template[at + VALUES.len()..];
        if let Some(rest) = rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(part)) {
            if !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
            {
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
        let end = after
            .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
            .unwrap_or(after.len());
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
