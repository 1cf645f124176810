//! The index of all checks, and the generated sections of pages.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Deserialize as _;

use crate::checks::{self, Check, Outcome, Settings};
use crate::collect::{Options, collect_now};
use crate::item::Kind;
use crate::knowledge::Knowledge;
use crate::page::GENERATED;
use crate::policy;
use crate::source::change::{Change, Set, Versions};

/// The table of all checks.
fn table() -> String {
    let mut table = String::from("| Category | Check | Severity | What it finds |\n|---|---|---|---|\n");
    let mut last = "";
    for check in checks::all() {
        let front = &check.card().front;
        let category = if front.category == last { "" } else { &front.category };
        last = &front.category;
        let title = front.title.replace('|', "\\|");
        let (id, severity) = (check.id, front.severity);
        _ = writeln!(table, "| {category} | [{id}]({}/{id}.md) | {severity} | {title} |", front.category);
    }
    table
}

/// A link from a page of `docs/` to a check's card.
pub fn card_link(check: &Check) -> String {
    format!("[{}](../{})", check.id, check.card().path())
}

/// `checks/README.md`.
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
            let (name, held) = (shown.name, shown.default_in_words());
            let means = shown.means.unwrap_or_default().replace('|', "\\|");
            _ = writeln!(table, "| {}`.{name}` | {held} | {means} |", card_link(check));
        }
    }
    table
}

/// Table of the checks that judge manifests without a cluster, by category.
///
/// `mesh` is the text of a small healthy mesh.
pub fn manifest_checks(mesh: &str) -> String {
    let mut table = String::from("| Category | Checks for manifests |\n|---|---|\n");
    let mut categories: Vec<(&str, Vec<String>)> = Vec::new();
    let built_in = || checks::all().filter(|check| !check.is_brought());
    let run: Vec<_> = built_in().filter(|check| check.card().front.judges_manifests()).collect();
    let judging = judging_manifests(&run, mesh);
    for check in run.iter().filter(|check| judging.contains(check.id)) {
        let category = check.card().front.category.as_str();
        match categories.last_mut() {
            Some((last, links)) if *last == category => links.push(card_link(check)),
            _ => categories.push((category, vec![card_link(check)])),
        }
    }
    for (category, links) in categories {
        _ = writeln!(table, "| {category} | {} |", links.join(", "));
    }
    format!(
        "{} of {} checks judge a set of manifests that contains a whole mesh. {} more run, but need every object of \
         a kind and are reported as *not checked*: use `--with` for them. The others need a running \
         cluster.\n\n{table}",
        judging.len(),
        built_in().count(),
        run.len() - judging.len(),
    )
}

/// The checks that judge the manifests of a small healthy mesh: they need no list to be complete.
fn judging_manifests(run: &[&'static Check], mesh: &str) -> BTreeSet<&'static str> {
    let mut set = Set::default();
    for document in serde_yaml::Deserializer::from_str(mesh) {
        let Ok(object) = serde_json::Value::deserialize(document) else { continue };
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        if let Some(kind) = Kind::of_manifest(text("apiVersion"), text("kind")) {
            set.add(Set::one(kind, object));
        }
    }
    let knowledge = Knowledge::embedded();
    let versions = Versions("1.34.0".parse().ok());
    let at = "2026-01-15T12:00:00Z".parse().unwrap_or_default();
    let source = Change::new(&versions, &set, knowledge, at);
    let options = Options { at: Some(at), applied: set.keys().collect(), ..Options::default() };
    let collected = collect_now(&source, &policy::items(run), &options, None);
    let results = checks::evaluate(run, &collected.cluster, knowledge, &Settings::default());
    let is_judged = |result: &checks::CheckResult| {
        result.gaps.is_empty() && !matches!(result.outcome, Outcome::Unknown | Outcome::Crashed(_))
    };
    results.iter().filter(|result| is_judged(result)).map(|result| result.id).collect()
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
        let text = fill("a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n", "x", "new\n").expect("it has markers");
        assert_eq!(text, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert_eq!(fill(&text, "x", "new\n").as_ref(), Some(&text));
        assert_eq!(fill(&text, "y", "new\n"), None);
    }
}
