//! What is generated and checked in is up to date: pages, the index, the role, completions. `UPDATE=1 cargo test`
//! writes.

use std::collections::BTreeSet;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use meshdoctor::{checks, cli, docgen};

use crate::{cards, golden};

#[test]
fn every_check_has_its_page_and_every_page_its_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/checks");
    let mut wanted = BTreeSet::from(["README.md".to_owned()]);
    golden::check("docs/checks/README.md", &docgen::index());
    for check in checks::all() {
        golden::check(&format!("docs/checks/{}.md", check.id), &docgen::page(&cards::card(check.id)));
        wanted.insert(format!("{}.md", check.id));
    }
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if wanted.contains(&name) {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::remove_file(folder.join(&name)).unwrap();
        } else {
            panic!("docs/checks/{name} belongs to no check; UPDATE=1 cargo test removes it");
        }
    }
}

#[test]
fn the_role_is_what_the_cards_need() {
    golden::check("docs/rbac.yaml", &docgen::cluster_role());
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
        golden::check(&format!("completions/meshdoctor.{ending}"), &docgen::completion(shell, &command));
    }
}
