//! The documentation page of a check, generated from its card, and URLs of pages.

use std::fmt::Write;

use crate::card::{Card, Case, CaseKind, Front, Proves, SECTIONS};
use crate::checks;
use crate::item::{Item, Query, Scope};
use crate::markdown::{Block, BlockKind};

/// First line of generated files with HTML comments.
pub const GENERATED: &str = "<!-- Generated from the code by `UPDATE=1 cargo test`; do not edit. -->\n";

/// URL of the page of a built-in check, which is its card; custom checks have none.
pub fn page_url(check: &str) -> Option<String> {
    let check = checks::find(check).filter(|check| !check.is_brought())?;
    Some(repository_url(&check.card().path()))
}

/// URL of a page of `docs/`.
pub fn document_url(page: &str) -> String {
    repository_url(&format!("docs/{page}"))
}

/// URL of a file of the repository.
pub fn repository_url(path: &str) -> String {
    format!("{}/blob/main/{path}", env!("CARGO_PKG_REPOSITORY"))
}

/// An item and its permission, for people.
pub fn item_in_words(item: &Item) -> String {
    match item {
        Item::List(kind) => format!("every {kind} (list on {})", kind.resource()),
        Item::Named { kind, scope, name } => {
            let place = match scope {
                Scope::ControlPlane => " in the control plane's namespace".to_owned(),
                Scope::Cni => " in linkerd-cni's namespace".to_owned(),
                Scope::Extension(extension) => format!(" in the namespace of the extension {extension}"),
                Scope::Links => {
                    return format!("the {kind} that each Link refers to (get on {} by that name)", kind.resource());
                }
                Scope::IngressControllers => {
                    return format!(
                        "the {kind} that the arguments of each ingress controller name (get on {} by that name, \
                         usually {name})",
                        kind.resource()
                    );
                }
                Scope::Fixed(namespace) => format!(" in {namespace}"),
                Scope::Cluster => String::new(),
            };
            format!("the {kind} {name}{place} (get on {} by that name)", kind.resource())
        }
        item => item.query().map(Query::documented).unwrap_or_default(),
    }
}

/// The documentation page of a check: facts, prose, an example and its state after the repair.
pub fn page(card: &Card, cases: &[Case]) -> String {
    let mut page = format!("# {}\n\n{}.\n\n", card.id, card.front.title.trim_end_matches('.'));
    facts(card, &mut page);
    for (section, prose) in SECTIONS.iter().zip(&card.prose) {
        _ = write!(page, "## {section}\n\n{prose}\n\n");
    }
    for (kind, heading) in [(CaseKind::Fires, "Example"), (CaseKind::Quiet, "After")] {
        if let Some(case) = cases.iter().find(|case| case.kind == kind) {
            example(heading, case, &mut page);
        }
    }
    let (own, rule) = (card.path(), card.rule_path());
    _ = writeln!(
        page,
        "More cases, including missing evidence, are in the card:\n[{own}]({}). The rule is in\n[{rule}]({}).",
        repository_url(&own),
        repository_url(&rule),
    );
    page
}

fn facts(card: &Card, page: &mut String) {
    let front = &card.front;
    let link = |id: &String| page_url(id).map_or_else(|| id.clone(), |url| format!("[{id}]({url})"));
    let explained_by: Vec<String> = checks::all()
        .filter(|other| other.card().front.explains.contains(&card.id))
        .map(|other| link(&other.id.to_owned()))
        .collect();
    let code = |words: &[String]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let words =
        |items: &std::collections::BTreeSet<_>| items.iter().map(item_in_words).collect::<Vec<_>>().join("<br>");
    let answered: Vec<String> = front
        .linkerd_check
        .iter()
        .map(|row| format!("{}: {} (`{}`)", row.category, row.description, row.anchor))
        .collect();
    let rows = [
        ("Severity", format!("at most {}", front.severity)),
        ("Category", front.category.clone()),
        ("Since", front.since.clone()),
        ("Applies to", front.applies.clone().unwrap_or_default()),
        ("Requires", front.requires.iter().map(|required| required.words()).collect::<Vec<_>>().join(", ")),
        ("With an upgrade", front.with_an_upgrade().unwrap_or_default().to_owned()),
        ("With `--wait`", front.with_waiting().unwrap_or_default().to_owned()),
        ("Needs", words(&front.needs)),
        ("Uses, if available", words(&front.uses)),
        ("Parameters", parameters(front)),
        ("Explains", front.explains.iter().map(link).collect::<Vec<_>>().join(", ")),
        ("Explained by", explained_by.join(", ")),
        ("Repair before", front.before.iter().map(link).collect::<Vec<_>>().join(", ")),
        ("Rows of `linkerd check`", answered.join("<br>")),
        ("Remedy", front.proves.as_ref().map(Proves::words).unwrap_or_default()),
        ("Also known as", code(&front.aliases)),
        ("Read more", front.references.iter().map(|url| format!("<{url}>")).collect::<Vec<_>>().join("<br>")),
    ];
    page.push_str("| | |\n|---|---|\n");
    for (what, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        _ = writeln!(page, "| {what} | {} |", value.replace('|', "\\|"));
    }
    page.push('\n');
}

/// The parameters of a check with their defaults.
fn parameters(front: &Front) -> String {
    let shown = front.parameters().into_iter().map(|shown| {
        let means = shown.means.map(|means| format!("{means}; ")).unwrap_or_default();
        format!(
            "`{}`: {means}{} by default ([configurable]({}))",
            shown.name,
            shown.default_in_words(),
            document_url("config.md"),
        )
    });
    shown.collect::<Vec<_>>().join("<br>")
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
            BlockKind::NodeFile { .. } if serde_json::from_str::<serde_json::Value>(&block.text).is_ok() => "json",
            BlockKind::NodeFile { .. }
            | BlockKind::Log { .. }
            | BlockKind::Diagnostics { .. }
            | BlockKind::Repair
            | BlockKind::Expect => "text",
        };
        _ = write!(page, "```{language}\n{}\n```\n\n", block.text);
    }
    _ = write!(page, "meshdoctor reports:\n\n```text\n{}\n```\n\n", case.expect);
}

fn caption(block: &Block) -> Option<String> {
    match &block.content {
        BlockKind::Cluster { on: None } => Some("The cluster:".to_owned()),
        BlockKind::Cluster { on: Some(bases) } => {
            let url = |base: &str| repository_url(&format!("checks/bases/{base}.yaml"));
            let links: Vec<String> = bases.split(',').map(|base| format!("[{base}]({})", url(base))).collect();
            Some(format!("Differences of the cluster from {}:", links.join(" and ")))
        }
        BlockKind::Run => Some("The run:".to_owned()),
        BlockKind::NodeFile { node, path } => Some(format!("On node {node}, `{path}`:")),
        BlockKind::Log { name } => Some(format!("The log of {name}:")),
        BlockKind::Diagnostics { of: None } => Some("Output of `linkerd diagnostics`:".to_owned()),
        BlockKind::Diagnostics { of: Some(of) } => Some(format!("Output of `linkerd diagnostics policy`for {of}:")),
        BlockKind::Repair | BlockKind::Expect => None,
    }
}
