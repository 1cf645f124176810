//! Generated files in the repository are up to date: pages, the index, the role, completions. `UPDATE=1 cargo
//! test` writes them.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use meshdoctor::demo::DemoState;
use meshdoctor::render::{self, Look};
use meshdoctor::{checks, cli, demo, docgen};

use crate::{golden, stories};

#[test]
fn index_of_checks_is_next_to_their_cards() {
    golden::check("checks/README.md", &docgen::index());
}

#[test]
fn the_role_is_what_the_cards_need() {
    golden::check("docs/rbac.yaml", &docgen::cluster_role());
    golden::check("docs/rbac-optional.yaml", &docgen::optional_roles());
}

#[test]
fn the_page_on_linkerd_check_is_what_cards_and_the_reviewed_list_say() {
    golden::check("docs/linkerd-check.md", &docgen::parity::page());
}

#[test]
fn known_defects_are_documented() {
    golden::check("docs/defects.md", &docgen::defects());
}

#[test]
fn exit_statuses_are_documented() {
    golden::check("docs/exit-codes.md", &docgen::exit_codes());
}

#[test]
fn flags_are_documented_and_completed() {
    let command = cli::args::Cli::command();
    golden::check("docs/cli.md", &docgen::cli(&command));
    for (shell, ending) in [
        (Shell::Bash, "bash"),
        (Shell::Zsh, "zsh"),
        (Shell::Fish, "fish"),
        (Shell::PowerShell, "ps1"),
        (Shell::Elvish, "elv"),
    ] {
        golden::check(&format!("completions/meshdoctor.{ending}"), &cli::completion(shell, &command));
    }
}

/// A page for the command, and one for each that it has.
#[test]
fn every_command_has_its_man_page() {
    let mut command = cli::args::Cli::command();
    command.build();
    let mut pages = std::collections::BTreeSet::new();
    let mut page = |command: &clap::Command, name: String, typed: String| {
        let mut text = Vec::new();
        let known: &'static str = Box::leak(name.clone().into_boxed_str());
        let command = command.clone().name(known).bin_name(typed);
        // The date of a page would be that of the build.
        clap_mangen::Man::new(command).date("").render(&mut text).unwrap();
        golden::check(&format!("man/{name}.1"), &String::from_utf8(text).unwrap());
        pages.insert(format!("{name}.1"));
    };
    page(&command, "meshdoctor".to_owned(), "meshdoctor".to_owned());
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = sub.get_name();
        page(sub, format!("meshdoctor-{name}"), format!("meshdoctor {name}"));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    let held = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(held.collect::<std::collections::BTreeSet<_>>(), pages, "pages of commands that are gone");
}

/// The output of `meshdoctor demo` for a name; only its first lines if a number of them is given.
fn example(name: &str, first: Option<usize>) -> String {
    let scene = demo::find(name).unwrap().scene(DemoState::Before).unwrap();
    let report = render::table::report(&stories::judge(&scene), Look::plain(100));
    let lines = report.lines().take(first.unwrap_or(usize::MAX));
    let shown: String = lines.flat_map(|line| [line, "\n"]).collect();
    let more = if shown.len() < report.len() { "...\n" } else { "" };
    format!("\n```text\n$ meshdoctor demo {name}\n{shown}{more}```\n\n")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap_or_default()
}

#[test]
fn pages_written_by_hand_show_what_the_doctor_says_today() {
    for (file, marker, content) in [
        ("docs/reading-a-report.md", "example", example("debug-image-ignored", None)),
        ("README.md", "example", example("injector-fails-open", Some(13))),
        ("README.md", "exit", docgen::exit_table()),
        ("docs/config.md", "params", docgen::parameters()),
        ("docs/manifests.md", "checks", docgen::manifest_checks(meshdoctor::demo::base("healthy").unwrap())),
    ] {
        let text = docgen::fill(&read(file), marker, &content);
        let text = text
            .unwrap_or_else(|| panic!("{file} has no place for it: <!-- {marker}: begin -->, <!-- {marker}: end -->"));
        golden::check(file, &text);
    }
}

/// Renaming a check only changes its card and its rule. All other uses of its name are generated or, like
/// tests, fail at once. (Names of demos and of known defects are independent.)
#[test]
fn no_id_is_written_by_hand_where_it_could_go_stale() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts: Vec<(String, String)> = Vec::new();
    let walk = |folder: &str| walkdir::WalkDir::new(root.join(folder)).sort_by_file_name();
    for entry in walk("src").into_iter().chain(walk("crates")) {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let of_checks = name.starts_with("src/checks/") && name.matches('/').count() > 2;
        let of_others = name == "src/demo.rs" || name.contains("src/knowledge/");
        if entry.file_type().is_file() && !of_checks && !of_others {
            // A stale example in a comment is harmless.
            let code =
                read(&name).lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            texts.push((name, code));
        }
    }
    for name in ["docs/architecture.md", "docs/bundles.md", "docs/reading-a-report.md", "docs/testing.md"] {
        let text = read(name);
        texts.push((name.to_owned(), docgen::fill(&text, "example", "").unwrap_or(text)));
    }
    assert!(texts.len() > 50, "the sources were found");
    let part_of_word = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    for check in checks::all() {
        for (name, text) in &texts {
            let found = text.match_indices(check.id).any(|(at, id)| {
                !text[..at].ends_with(part_of_word) && !text[at + id.len()..].starts_with(part_of_word)
            });
            assert!(!found, "{name} mentions {} by hand", check.id);
        }
    }
}
