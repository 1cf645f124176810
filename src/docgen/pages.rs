//! Pages about checks: one a card, and the index.

use std::fmt::Write;

use super::{GENERATED, item_in_words};
use crate::card::{Card, Case, CaseKind, SECTIONS};
use crate::checks;
use crate::markdown::{Block, BlockKind};

/// `docs/checks/<id>.md`: facts, prose, an example and what the same looks like after the remedy.
pub fn page(card: &Card) -> String {
    let mut page = format!("{GENERATED}# {}\n\n{}.\n\n", card.id, card.front.title.trim_end_matches('.'));
    facts(card, &mut page);
    for (section, prose) in SECTIONS.iter().zip(&card.prose) {
        _ = write!(page, "## {section}\n\n{prose}\n\n");
    }
    for (kind, heading) in [(CaseKind::Fires, "Example"), (CaseKind::Quiet, "After")] {
        if let Some(case) = card.cases.iter().find(|case| case.kind == kind) {
            example(heading, case, &mut page);
        }
    }
    _ = writeln!(
        page,
        "More cases, among them those in which it cannot know, are in the card:\n\
         [checks/{0}/{1}.md](../../checks/{0}/{1}.md). The rule is in\n[src/checks/{2}/{3}.rs](../../src/checks/{2}/{3}.rs).",
        card.front.category,
        card.id,
        card.front.category.replace('-', "_"),
        card.id.replace('-', "_"),
    );
    page
}

fn facts(card: &Card, page: &mut String) {
    let front = &card.front;
    let link = |id: &String| format!("[{id}]({id}.md)");
    let explained_by: Vec<String> = checks::all()
        .filter(|other| other.card().front.explains.contains(&card.id))
        .map(|other| link(&other.id.to_owned()))
        .collect();
    let code = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let words = |items: &std::collections::BTreeSet<_>| {
        items.iter().map(item_in_words).collect::<Vec<_>>().join("<br>")
    };
    let answered: Vec<String> = front
        .linkerd_check
        .iter()
        .map(|row| format!("{}: {} (`{}`)", row.category, row.description, row.anchor))
        .collect();
    let rows = [
        ("Severity", format!("{}, at most", front.severity)),
        ("Category", front.category.clone()),
        ("Since", front.since.clone()),
        ("Applies to", front.applies.clone().unwrap_or_default()),
        ("Needs", words(&front.needs)),
        ("Uses, when it is there", words(&front.uses)),
        ("Explains", front.explains.iter().map(link).collect::<Vec<_>>().join(", ")),
        ("Explained by", explained_by.join(", ")),
        ("To be repaired before", front.before.iter().map(link).collect::<Vec<_>>().join(", ")),
        ("Answers in `linkerd check`", answered.join("<br>")),
        ("Also known as", code(&front.aliases)),
        ("Read more", front.references.iter().map(|url| format!("<{url}>")).collect::<Vec<_>>().join("<br>")),
    ];
    page.push_str("| | |\n|---|---|\n");
    for (what, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        _ = writeln!(page, "| {what} | {} |", value.replace('|', "\\|"));
    }
    page.push('\n');
}

fn example(heading: &str, case: &Case, page: &mut String) {
    _ = write!(page, "## {heading}: {}\n\n", case.title);
    if !case.reason.is_empty() {
        _ = write!(page, "{}\n\n", case.reason);
    }
    for block in &case.blocks {
        if let Some(caption) = caption(block) {
            _ = write!(page, "{caption}\n\n");
        }
        if block.text.trim().is_empty() {
            page.push_str("(nothing)\n\n");
            continue;
        }
        let language = match &block.content {
            BlockKind::Cluster { .. } | BlockKind::Run => "yaml",
            BlockKind::NodeFile { .. } if serde_json::from_str::<serde_json::Value>(&block.text).is_ok() => {
                "json"
            }
            BlockKind::NodeFile { .. } | BlockKind::Log { .. } | BlockKind::Expect => "text",
        };
        _ = write!(page, "```{language}\n{}\n```\n\n", block.text);
    }
    _ = write!(page, "meshdoctor says:\n\n```text\n{}\n```\n\n", case.expect);
}

fn caption(block: &Block) -> Option<String> {
    match &block.content {
        BlockKind::Cluster { on: None } => Some("The cluster:".to_owned()),
        BlockKind::Cluster { on: Some(bases) } => {
            let links = bases.split(',').map(|base| format!("[{base}](../../checks/bases/{base}.yaml)"));
            let links: Vec<String> = links.collect();
            Some(format!("The cluster, as far as it differs from {}:", links.join(" and ")))
        }
        BlockKind::Run => Some("The run:".to_owned()),
        BlockKind::NodeFile { node, path } => Some(format!("On node {node}, `{path}`:")),
        BlockKind::Log { name } => Some(format!("The log of {name}:")),
        BlockKind::Expect => None,
    }
}

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
        "{GENERATED}# The checks\n\n{number} checks. `meshdoctor list` prints the same list, `meshdoctor explain CHECK` the \
         page of one.\nThe severity is the highest that a check's findings may have.\n\n{}",
        table()
    )
}

/// A hand-written text with what stands between `<!-- NAME: begin -->` and `<!-- NAME: end -->` replaced; `None` where it
/// has no such markers.
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
    fn a_text_changes_only_between_its_markers() {
        let text =
            fill("a\n<!-- x: begin -->\nold\n<!-- x: end -->\nb\n", "x", "new\n").expect("it has markers");
        assert_eq!(text, "a\n<!-- x: begin -->\nnew\n<!-- x: end -->\nb\n");
        assert_eq!(fill(&text, "x", "new\n").as_ref(), Some(&text));
        assert_eq!(fill(&text, "y", "new\n"), None);
    }
}
