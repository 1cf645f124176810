//! The documentation as a book: its order, and its links.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use meshdoctor::{checks, docgen, page, render};
use regex::Regex;

use crate::golden;

/// The pages by part, in reading order. The pages of checks follow the last part but one, by category.
const PARTS: &[(&str, &[&str])] = &[
    ("Start", &["README", "quickstart", "install", "install-as-extension"]),
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
    ("Concepts", &["glossary", "reading-a-report", "bundles", "metrics", "node-evidence", "knowledge", "limits"]),
    ("Reference", &["cli", "exit-codes", "formats", "config", "linkerd-check", "defects", "remedies", "cost"]),
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
    let mut pages: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The table of contents.
fn contents() -> String {
    let mut summary = "# Summary\n".to_owned();
    for (part, names) in PARTS {
        _ = write!(summary, "\n# {part}\n\n");
        for page in *names {
            let file = format!("{page}.md");
            let to = place(&format!("docs/{file}")).unwrap();
            _ = writeln!(summary, "- [{}]({to})", title(&root().join("docs").join(&file)));
            if *page == "node-evidence" {
                _ = writeln!(summary, "  - [{}](platforms/index.md)", title(&root().join("docs/platforms/README.md")));
                for page in pages("docs/platforms").iter().filter(|page| !page.ends_with("README.md")) {
                    _ = writeln!(summary, "    - [{}](platforms/{})", title(page), name(page));
                }
            }
        }
        if *part == "Reference" {
            _ = writeln!(summary, "- [{}](checks/index.md)", title(&root().join("checks/README.md")));
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
    summary
}

/// The path of a link from a file of the repository, without `.` and `..`.
fn resolved(file: &str, target: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Place in the book of a file of the repository, if it is a part of it. mdBook renames `README.md`, but not the links
/// to it.
fn place(path: &str) -> Option<String> {
    if path == "checks/README.md" || path.starts_with("docs/") {
        return Some(path.trim_start_matches("docs/").replace("README.md", "index.md"));
    }
    checks::all().find(|check| check.card().path() == path).map(|check| format!("checks/{}.md", check.id))
}

/// A page with the links that it has in the book. `file` is the file of the repository, `to` its place.
fn linked(file: &str, to: &str, text: &str) -> String {
    let link = Regex::new(r"\[([^\]]*)\]\(([^)\s]+)\)").unwrap();
    let here = page::repository_url("");
    let up = "../".repeat(to.matches('/').count());
    let rewritten = |found: &regex::Captures<'_>| {
        let (words, target) = (&found[1], &found[2]);
        let (target, anchor) =
            target.split_once('#').map_or((target, String::new()), |(target, anchor)| (target, format!("#{anchor}")));
        let path = match target.strip_prefix(&here) {
            // The link of a page to its own card leaves the book.
            Some(path) if words == path => return found[0].to_owned(),
            Some(path) => path.to_owned(),
            None if target.is_empty() || target.contains(':') => return found[0].to_owned(),
            None => resolved(file, target),
        };
        let target = place(&path).map_or_else(|| page::repository_url(&path), |place| format!("{up}{place}"));
        format!("[{words}]({target}{anchor})")
    };
    let parts = text.split("```").enumerate().map(|(at, part)| match at % 2 {
        0 => link.replace_all(part, &rewritten).into_owned(),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("```")
}

/// Every file of the book by its place.
fn book() -> BTreeMap<String, String> {
    let mut book = BTreeMap::from([("SUMMARY.md".to_owned(), contents())]);
    for file in walkdir::WalkDir::new(root().join("docs")).into_iter().map(Result::unwrap) {
        let path = file.path().strip_prefix(root()).unwrap().to_str().unwrap();
        if file.file_type().is_file() {
            let (to, text) = (place(path).unwrap(), std::fs::read_to_string(file.path()).unwrap());
            let is_linked = to.ends_with(".md") || to.ends_with(".txt");
            let text = if is_linked { linked(path, &to, &text) } else { text };
            book.insert(to, text);
        }
    }
    book.insert("checks/index.md".to_owned(), linked("checks/README.md", "checks/index.md", &docgen::index()));
    for check in checks::all() {
        let to = format!("checks/{}.md", check.id);
        let text = linked(&check.card().path(), &to, &render::explain::markdown(check));
        book.insert(to, text);
    }
    book
}

/// Writes the sources of the book into `target/book`, from which `mdbook build` makes it.
#[test]
fn book_contains_every_page_and_its_links_lead_somewhere() {
    let folder = root().join("target/book");
    let book = book();
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    for (place, text) in &book {
        let path = folder.join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let pages: Vec<PathBuf> =
        book.keys().filter(|place| place.ends_with(".md")).map(|place| folder.join(place)).collect();
    assert!(pages.len() > checks::all().count() + 30, "only {} pages", pages.len());
    for page in book.keys().filter(|place| place.ends_with(".md") && *place != "SUMMARY.md") {
        assert!(book["SUMMARY.md"].contains(&format!("({page})")), "{page} is in no part of the book");
    }
    let broken = broken_links(&pages);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let leaves = book.iter().filter(|(_, text)| text.contains("](../../"));
    assert_eq!(leaves.map(|(place, _)| place).collect::<Vec<_>>(), Vec::<&String>::new());
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
    let mut index =
        "# meshdoctor\n\n> A command-line doctor for the Linkerd service mesh: it reports what is broken, the \
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
        _ = writeln!(index, "- {}: {} ({})", docgen::card_link(check), front.title, front.severity);
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

/// The links between pages that lead nowhere.
fn broken_links(files: &[PathBuf]) -> Vec<String> {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let mut broken = Vec::new();
    let mut followed = 0;
    for file in files {
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
    broken
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut files: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|file| root().join(file)).into();
    for folder in ["docs", "docs/platforms", "checks"] {
        files.extend(pages(folder));
    }
    files.extend(checks::all().map(|check| root().join(check.card().path())));
    files.push(root().join("docs/llms.txt"));
    let broken = broken_links(&files);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The page of every check that reports link to is in the repository.
#[test]
fn addresses_of_checks_are_files_of_the_repository() {
    for check in checks::all() {
        let url = page::page_url(check.id).unwrap();
        let path = url.strip_prefix(&page::repository_url("")).unwrap();
        assert!(root().join(path).is_file(), "{url}");
    }
}
