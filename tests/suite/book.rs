//! The documentation as a book: its order, and its links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use meshdoctor::checks;
use regex::Regex;

use crate::golden;

/// The pages by part, in reading order. The pages of checks follow the last part but one, by category.
const PARTS: &[(&str, &[&str])] = &[
    ("Start", &["quickstart", "install", "install-as-extension"]),
    (
        "Guides",
        &[
            "upgrades",
            "manifests",
            "explain",
            "fix",
            "rotation",
            "tickets",
            "values",
            "waivers",
            "fleets",
            "deploy",
            "mcp",
            "your-own-checks",
        ],
    ),
    (
        "Concepts",
        &["glossary", "reading-a-report", "bundles", "metrics", "node-evidence", "knowledge", "limits"],
    ),
    (
        "Reference",
        &["cli", "exit-codes", "formats", "config", "linkerd-check", "defects", "remedies", "cost"],
    ),
    ("Contributing", &["architecture", "testing"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The first heading of a page.
fn title(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    heading.unwrap_or_else(|| panic!("{}: no heading", path.display())).replace('`', "")
}

/// The Markdown files of a folder, sorted.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn the_book_holds_every_page_in_reading_order() {
    let mut summary = "# Summary\n".to_owned();
    for (part, names) in PARTS {
        _ = write!(summary, "\n# {part}\n\n");
        for page in *names {
            let file = format!("{page}.md");
            _ = writeln!(summary, "- [{}]({file})", title(&root().join("docs").join(&file)));
            if *page == "node-evidence" {
                _ = writeln!(
                    summary,
                    "  - [{}](platforms/README.md)",
                    title(&root().join("docs/platforms/README.md"))
                );
                for page in pages("docs/platforms").iter().filter(|page| !page.ends_with("README.md")) {
                    _ = writeln!(summary, "    - [{}](platforms/{})", title(page), name(page));
                }
            }
        }
        if *part == "Reference" {
            _ = writeln!(summary, "- [{}](checks/README.md)", title(&root().join("docs/checks/README.md")));
            let mut by_category: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for check in checks::all() {
                by_category.entry(&check.card().front.category).or_default().insert(check.id);
            }
            for (category, ids) in by_category {
                _ = writeln!(summary, "  - [{category}]()");
                for id in ids {
                    _ = writeln!(summary, "    - [{id}](checks/{id}.md)");
                }
            }
        }
    }
    golden::check("docs/SUMMARY.md", &summary);
    for page in pages("docs").into_iter().chain(pages("docs/platforms")).chain(pages("docs/checks")) {
        let is_in_it = summary.contains(&format!("({})", name(&page)))
            || summary.contains(&format!("/{})", name(&page)));
        assert!(is_in_it || page.ends_with("SUMMARY.md"), "{} is in no part of the book", page.display());
    }
}

/// The first sentence of a page, without links and marks.
fn summary(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let is_prose = |part: &&str| part.starts_with(|c: char| c.is_alphanumeric() || c == '`' || c == '[');
    let body = text.split("```").step_by(2).collect::<Vec<_>>().join("\n\n");
    let paragraph = body.split("\n\n").map(str::trim).find(is_prose).unwrap_or_default();
    let plain = Regex::new(r"\[([^\]]+)\]\([^)]+\)").unwrap().replace_all(paragraph, "$1").replace('\n', " ");
    let end = plain.find(". ").or_else(|| plain.find(": ")).unwrap_or(plain.len());
    plain[..end].trim_end_matches(['.', ':']).to_owned()
}

/// The index for language models: <https://llmstxt.org>.
#[test]
fn index_for_language_models_lists_every_page() {
    let mut index = "# meshdoctor\n\n> A command-line doctor for the Linkerd service mesh: it reports what is broken, the \
                     evidence, and how to repair it.\n"
        .to_owned();
    for (part, names) in PARTS {
        _ = write!(index, "\n## {part}\n\n");
        for page in *names {
            let path = root().join("docs").join(format!("{page}.md"));
            _ = writeln!(index, "- [{}]({page}.md): {}", title(&path), summary(&path));
        }
    }
    index.push_str("\n## JSON schemas\n\n");
    let mut schemas: Vec<PathBuf> =
        std::fs::read_dir(root().join("docs/schema")).unwrap().map(|file| file.unwrap().path()).collect();
    schemas.sort();
    for path in schemas {
        let schema: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let about = schema["description"].as_str().or(schema["title"].as_str()).unwrap();
        let about = about.split_once(": ").map_or(about, |(first, _)| first);
        _ = writeln!(index, "- [{0}](schema/{0}): {about}", name(&path));
    }
    index.push_str("\n## Checks\n\n");
    for check in checks::all() {
        let front = &check.card().front;
        _ = writeln!(index, "- [{0}](checks/{0}.md): {1} ({2})", check.id, front.title, front.severity);
    }
    golden::check("docs/llms.txt", &index);
}

/// The anchors of a page, as GitHub and mdBook make them of headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
        })
        .collect()
}

#[test]
fn links_between_pages_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|file| root().join(file)).into();
    for folder in ["docs", "docs/platforms", "docs/checks"] {
        files.extend(pages(folder));
    }
    let mut broken = Vec::new();
    let mut followed = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let prose: String = text.split("```").step_by(2).collect();
        for target in link.captures_iter(&prose).map(|it| it.get(1).unwrap().as_str()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            followed += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let has_anchor = || {
                let page = std::fs::read_to_string(&path).unwrap_or_default();
                anchor.is_empty() || anchors(&page).contains(anchor)
            };
            if !path.exists() || !has_anchor() {
                broken.push(format!("{}: {target}", file.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(followed > 100, "only {followed} links found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
