//! The index of all checks, and the generated sections of pages.

use std::fmt::Write;

use crate::checks;
use crate::page::GENERATED;

/// The table of all checks.
fn table() -> String {
    let mut table = String::from("| Category | Check | Severity | What it finds |\n|---|---|---|---|\n");
    let mut last = "";
    for check in checks::all() {
        let front = &check.card().front;
        let category = if front.category == last { "" } else { &front.category };
        last = &front.category;
        let title = front.title.replace('|', "\\|");
        _ = writeln!(table, "| {category} | [{0}]({0}.md) | {1} | {title} |", check.id, front.severity);
    }
    table
}

/// `docs/checks/README.md`.
pub fn index() -> String {
    let number = checks::all().count();
    format!(
        "{GENERATED}# The checks\n\n{number} checks. `meshdoctor list` prints this list, `meshdoctor explain CHECK` the page of a \
         check.\nThe severity is the highest that a check's findings may have.\n\n{}",
        table()
    )
}

/// The table of the parameters of built-in checks.
pub fn parameters() -> String {
    let mut table = String::from("| Parameter | Default | Meaning |\n|---|---|---|\n");
    for check in checks::all().filter(|check| !check.is_brought()) {
        for shown in check.card().front.parameters() {
            let (id, name, held) = (check.id, shown.name, shown.default_in_words());
            let means = shown.means.unwrap_or_default().replace('|', "\\|");
            _ = writeln!(table, "| [{id}](checks/{id}.md)`.{name}` | {held} | {means} |");
        }
    }
    table
}

/// Table of the checks that can check manifests, by category.
pub fn manifest_checks() -> String {
    let mut table = String::from("| Category | Checks for manifests |\n|---|---|\n");
    let mut categories: Vec<(&str, Vec<&str>)> = Vec::new();
    let built_in = || checks::all().filter(|check| !check.is_brought());
    let judging: Vec<_> = built_in().filter(|check| check.card().front.judges_manifests()).collect();
    for check in &judging {
        let category = check.card().front.category.as_str();
        match categories.last_mut() {
            Some((last, ids)) if *last == category => ids.push(check.id),
            _ => categories.push((category, vec![check.id])),
        }
    }
    for (category, ids) in categories {
        let links: Vec<String> = ids.iter().map(|id| format!("[{id}](checks/{id}.md)")).collect();
        _ = writeln!(table, "| {category} | {} |", links.join(", "));
    }
    format!(
        "{} of {} checks. The others need a running cluster.\n\n{table}",
        judging.len(),
        built_in().count()
    )
}

/// Replaces the text between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; `None` if the markers are missing.
pub fn fill(text: &str, name: &str, content: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let (head, rest) = text.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n{content}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_between_markers_changes() {
        let text =
            fill("a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n", "x", "new\n").expect("it has markers");
        assert_eq!(text, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert_eq!(fill(&text, "x", "new\n").as_ref(), Some(&text));
        assert_eq!(fill(&text, "y", "new\n"), None);
    }
}
