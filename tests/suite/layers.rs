//! Allowed dependencies between modules: the table of `docs/architecture.md` against the imports of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names that pure modules must not use: clocks, files, networks, processes.
const IMPURE: [&str; 7] =
    ["std::fs", "std::net::Tcp", "std::process", "std::env", "Timestamp::now", "Zoned::now", "SystemTime"];

/// A line of the table: modules of one package.
struct Layer {
    /// `src`, `src/checks` or `crates/NAME/src`.
    folder: String,
    /// Empty if the line is for all files of the folder.
    modules: Vec<String>,
    pure: bool,
}

fn layers() -> Vec<Layer> {
    let page = std::fs::read_to_string("docs/architecture.md").unwrap();
    let (_, rest) = page.split_once("<!-- layers: begin -->\n```text\n").expect("the table begins");
    let (table, _) = rest.split_once("```\n<!-- layers: end -->").expect("the table ends");
    let mut folder = "src".to_owned();
    table
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let mut modules: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let pure = modules.pop_if(|word| word == "pure").is_some();
            if modules[0] == "src/checks" {
                folder = modules.remove(0);
            } else if modules[0].starts_with("crates/") {
                folder = format!("{}/src", modules.remove(0));
            }
            Layer { folder: folder.clone(), modules, pure }
        })
        .collect()
}

/// The folders of the crates below `src`, in the order of the table.
fn crates(layers: &[Layer]) -> Vec<&str> {
    let folders = layers.iter().map(|layer| layer.folder.as_str()).filter(|folder| *folder != "src");
    let mut crates: Vec<&str> = folders.map(|folder| folder.strip_suffix("/src").unwrap_or(folder)).collect();
    crates.dedup();
    crates
}

/// Each source file with its code: without comments and test-only code.
pub fn files() -> BTreeMap<String, String> {
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    ["src", "crates"]
        .into_iter()
        .flat_map(walkdir::WalkDir::new)
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "rs"))
        .map(|entry| entry.path().to_str().unwrap().to_owned())
        .filter(|path| !is_test(path))
        .map(|path| {
            let text = std::fs::read_to_string(Path::new(&path)).unwrap();
            (path, code(&text))
        })
        .collect()
}

fn code(text: &str) -> String {
    let mut code = String::new();
    let mut in_tests = false;
    let mut marked = false;
    for line in text.lines() {
        let word = line.trim_start();
        if in_tests {
            // A test module ends at the next line in the first column.
            in_tests = line != "}";
        } else if marked && (line.starts_with("mod ") || line.starts_with("pub mod ")) {
            in_tests = line.ends_with('{');
            marked = false;
        } else if line == "#[cfg(test)]" {
            marked = true;
        } else if !word.starts_with("//") {
            marked = false;
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// The module at the top of a package's folder that a file belongs to; `None` for other files and the roots.
fn module<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?;
    if folder == "src" && inner.starts_with("checks/") {
        return None;
    }
    let top = inner.split('/').next()?.trim_end_matches(".rs");
    (top != "lib" && top != "main").then_some(top)
}

/// The modules that a code names behind `crate::` or another prefix.
fn referenced_modules(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    let word = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    for (at, _) in code.match_indices(prefix) {
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => _ = named.insert(word(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut begins = true;
                for (at, letter) in group.char_indices() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        letter if begins && !letter.is_whitespace() => {
                            named.insert(word(&group[at..]));
                            begins = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    named
}

#[test]
fn every_module_uses_only_those_below_it() {
    let layers = layers();
    let files = files();
    let folders: BTreeSet<&str> = layers.iter().map(|layer| layer.folder.as_str()).collect();
    let mut against: Vec<String> = Vec::new();
    for folder in folders {
        let mut place: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, layer) in layers.iter().enumerate().filter(|(_, layer)| layer.folder == folder) {
            for module in &layer.modules {
                assert_eq!(place.insert(module, at), None, "{module} is in the table twice");
            }
        }
        if place.is_empty() {
            continue;
        }
        let modules: BTreeSet<&str> = files.keys().filter_map(|path| module(folder, path)).collect();
        assert_eq!(modules, place.keys().copied().collect(), "modules of {folder}, and of the table");
        for (path, code) in &files {
            let Some(own) = module(folder, path) else { continue };
            for used in referenced_modules(code, "crate::") {
                let Some(below) = place.get(used.as_str()) else { continue };
                if used != own && *below <= place[own] {
                    against.push(format!("{path} uses {used}"));
                }
            }
        }
    }
    assert!(against.is_empty(), "against the table of docs/architecture.md:\n{}", against.join("\n"));
}

/// Cargo rejects cycles. This test keeps the order of the table true.
#[test]
fn every_crate_depends_only_on_those_below_it() {
    let layers = layers();
    let crates = crates(&layers);
    let folders = std::fs::read_dir("crates").unwrap().map(|entry| entry.unwrap().path());
    let existing: BTreeSet<String> = folders
        .filter(|folder| !folder.ends_with("test-support"))
        .map(|folder| folder.to_str().unwrap().to_owned())
        .chain(["src/checks".to_owned()])
        .collect();
    assert_eq!(existing, crates.iter().map(|folder| (*folder).to_owned()).collect());
    let manifest = |folder: &str| -> toml::Table {
        std::fs::read_to_string(Path::new(folder).join("Cargo.toml")).unwrap().parse().unwrap()
    };
    let name = |folder: &str| manifest(folder)["package"]["name"].as_str().unwrap().to_owned();
    for (at, folder) in crates.iter().enumerate() {
        let dependencies = manifest(folder)["dependencies"].as_table().unwrap().clone();
        for above in crates[..=at].iter().map(|above| name(above)).chain(["meshdoctor".to_owned()]) {
            assert!(!dependencies.contains_key(&above), "{folder} depends on {above}");
        }
        let readme = std::fs::read_to_string(Path::new(folder).join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {}\n", name(folder))), "{folder}/README.md");
    }
}

#[test]
fn what_judges_reads_no_clock_and_no_file() {
    let layers = layers();
    let pure: Vec<&Layer> = layers.iter().filter(|layer| layer.pure).collect();
    assert!(pure.len() > 5);
    for (path, code) in files() {
        let is_pure = pure.iter().any(|layer| {
            let own = module(&layer.folder, &path);
            own.is_some_and(|own| layer.modules.is_empty() || layer.modules.iter().any(|module| module == own))
        });
        for word in IMPURE.iter().filter(|_| is_pure) {
            assert!(!code.contains(word), "{path} names {word}");
        }
    }
}

/// Files of rules name each other by `super::` and `crate::checks::`, and must not depend on each other in a
/// cycle.
#[test]
fn no_rules_go_round_in_a_circle() {
    let files: BTreeMap<String, String> =
        files().into_iter().filter(|(path, _)| path.starts_with("src/checks/")).collect();
    let stem = |path: &str| Path::new(path).file_stem().unwrap().to_str().unwrap().to_owned();
    let folder = |path: &str| Path::new(path).parent().unwrap().to_str().unwrap().to_owned();
    let mut uses: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for (path, code) in &files {
        let beside = referenced_modules(code, "super::");
        for other in files.keys().filter(|other| *other != path && stem(other) != "mod" && stem(path) != "mod") {
            let there = format!("crate::{}::", folder(other).trim_start_matches("src/").replace('/', "::"));
            let here = folder(path) == folder(other) && beside.contains(&stem(other));
            if here || referenced_modules(code, &there).contains(&stem(other)) {
                uses.entry(path).or_default().insert(other);
            }
        }
    }
    assert!(uses.len() > 50, "the imports of rules are found");
    for start in uses.keys() {
        let (mut reached, mut left) = (BTreeSet::new(), vec![*start]);
        while let Some(at) = left.pop() {
            left.extend(uses.get(at).into_iter().flatten().copied().filter(|next| reached.insert(*next)));
        }
        assert!(!reached.contains(*start), "{start} comes back to itself, by {reached:?}");
    }
}

#[test]
fn what_only_tests_compile_and_comments_do_not_count() {
    let text = "use crate::{b::{c, d}, e};\n// crate::f\n#[cfg(test)]\nmod tests {\n    use crate::g;\n}\nfn x() { crate::h::y() }\n";
    let names: Vec<String> = referenced_modules(&code(text), "crate::").into_iter().collect();
    assert_eq!(names, ["b", "e", "h"]);
}

/// Files whose long lines are texts of other languages: shell scripts, Markdown and regular expressions.
const LONG_LINES: [&str; 3] = ["crates/report/src/explanation.rs", "src/cli/scripts.rs", "src/docgen/"];

/// A long literal keeps rustfmt from formatting the code around it.
#[test]
fn no_line_is_longer_than_120_columns() {
    let is_held = |path: &str| !LONG_LINES.iter().any(|exception| path.starts_with(exception));
    let mut long: Vec<String> = Vec::new();
    for (path, code) in files().into_iter().filter(|(path, _)| is_held(path)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let comments = text.lines().filter(|line| line.trim_start().starts_with("//"));
        let lines = code.lines().chain(comments).filter(|line| line.chars().count() > 120);
        long.extend(lines.map(|line| format!("{path}: {}", line.trim_start())));
    }
    assert!(long.is_empty(), "break the literal with `\\`:\n{}", long.join("\n"));
}

/// Every file and folder that the page names exists.
#[test]
fn paths_in_the_architecture_page_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let paths: BTreeSet<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| ["src/", "crates/", "checks/", "tests/", "docs/"].iter().any(|start| code.starts_with(start)))
        .filter(|code| !code.contains(['<', ' ']))
        .collect();
    assert!(paths.len() > 20, "{paths:?}");
    let missing: Vec<_> = paths.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "docs/architecture.md names paths that do not exist: {missing:?}");
}
