//! Every case of every card produces exactly the expected output, and every check has at least one firing
//! case, one quiet case and one case with missing evidence. `UPDATE=1` rewrites the expectations in place.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use meshdoctor::card::{Card, Case, CaseKind, SECTIONS};
use meshdoctor::cases;
use meshdoctor::checks::{self, Check};

use crate::case;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = walkdir::WalkDir::new(root().join(folder))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

fn path(check: &Check) -> PathBuf {
    root().join(check.card().path())
}

/// The cases of a card are below its documentation, which is what the repository's host shows first.
const FOLD: &str =
    "## Cases\n<details>\n<summary>Clusters with and without the problem, and the expected reports</summary>\n\n";
const FOLD_END: &str = "</details>";

/// The text of a card with its cases in one fold.
fn folded(text: &str) -> String {
    let plain = text.replacen(FOLD, "## Cases\n", 1);
    let lines: Vec<&str> = plain.lines().filter(|line| *line != FOLD_END).collect();
    let text = lines.join("\n").replacen("## Cases\n", FOLD, 1);
    format!("{}\n\n{FOLD_END}\n", text.trim_end())
}

/// Runs the cases of one card. Returns the card's text, with rewritten expectations if an update is
/// requested.
fn judge(check: &'static Check, wrong: &mut Vec<String>) -> String {
    let update = std::env::var_os("UPDATE").is_some();
    let mut text = std::fs::read_to_string(path(check)).unwrap();
    if folded(&text) != text {
        text = folded(&text);
        if !update {
            wrong.push(format!("{}: its cases are not folded (UPDATE=1 cargo test folds them)", check.id));
        }
    }
    for case in check.cases() {
        let ran = cases::run(check, case, &case::base)
            .unwrap_or_else(|error| panic!("{}.md, case {:?}: {error}", check.id, case.title));
        let place = format!("{} / {}", check.id, case.title);
        wrong.extend(ran.wrong.iter().map(|why| format!("{place}: {why}")));
        let said = ran.said;
        if said.trim_end() == case.expect.trim_end() {
            continue;
        }
        if update {
            text = cases::with_expectation(&text, &case.title, said.trim_end()).expect("the case came from this card");
        } else {
            wrong.push(format!(
                "{place}: the output is\n{said}\nbut the card expects\n{}\n(UPDATE=1 cargo test rewrites it; read the diff)",
                case.expect
            ));
        }
    }
    text
}

#[test]
fn every_case_says_what_its_card_claims() {
    let mut wrong = Vec::new();
    for check in checks::all() {
        let text = judge(check, &mut wrong);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path(check), text).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_card_proves_firing_quiet_and_missing_evidence() {
    for check in checks::all() {
        let kinds: BTreeSet<CaseKind> = check.cases().iter().map(|case| case.kind).collect();
        let all = BTreeSet::from([CaseKind::Fires, CaseKind::Quiet, CaseKind::Unknown]);
        assert_eq!(kinds, all, "{}: one case of each kind at least", check.id);
        let titles: BTreeSet<&str> = check.cases().iter().map(|case| case.title.as_str()).collect();
        assert_eq!(titles.len(), check.cases().len(), "{}: titles of cases differ", check.id);
        for (section, text) in SECTIONS.iter().zip(&check.card().prose) {
            assert!(!text.is_empty(), "{}: the section {section:?} is empty", check.id);
        }
    }
}

#[test]
fn the_table_the_cards_and_the_source_files_are_the_same_list() {
    let table: Vec<String> = checks::all().map(|c| format!("{}/{}", c.card().front.category, c.id)).collect();
    let mut sorted = table.clone();
    sorted.sort();
    assert_eq!(table, sorted, "the table is in alphabetical order");
    let cards: Vec<String> = files("checks", "md")
        .iter()
        .map(|path| {
            let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
            format!("{folder}/{}", path.file_stem().unwrap().to_str().unwrap())
        })
        .filter(|name| !name.starts_with("checks/"))
        .collect();
    assert_eq!(table, cards, "every card has a row, and every row a card, in its category's folder");
    for name in &table {
        let source = root().join(format!("src/checks/{}.rs", name.replace('-', "_")));
        assert!(source.exists(), "{} is missing", source.display());
    }
}

#[test]
fn ids_name_the_bad_state_and_cards_refer_to_cards() {
    for check in checks::all() {
        for banned in ["check-", "ensure-", "must-", "no-", "use-", "avoid-"] {
            assert!(!check.id.starts_with(banned), "{}: an id names the bad state", check.id);
        }
        assert!(check.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", check.id);
        let front = &check.card().front;
        for (word, others) in [("explains", &front.explains), ("before", &front.before)] {
            for other in others {
                assert!(
                    checks::find(other).is_some_and(|c| c.id == other),
                    "{} {word} {other}, which is not a check",
                    check.id
                );
            }
        }
    }
}

/// A cause is repaired before its symptoms, so both relations together make the order of repair.
#[test]
fn neither_explanations_nor_the_order_of_repair_run_in_circles() {
    fn visit(id: &'static str, path: &mut Vec<&'static str>, done: &mut BTreeSet<&'static str>) {
        assert!(!path.contains(&id), "a circle: {} -> {id}", path.join(" -> "));
        if !done.insert(id) {
            return;
        }
        path.push(id);
        let front = &checks::find(id).unwrap().card().front;
        for other in front.explains.iter().chain(&front.before) {
            visit(checks::find(other).unwrap().id, path, done);
        }
        path.pop();
    }
    let mut done = BTreeSet::new();
    for check in checks::all() {
        visit(check.id, &mut Vec::new(), &mut done);
    }
}

#[test]
fn every_embedded_card_parses() {
    for check in checks::all() {
        if let Err(error) = Card::parse(check.id, check.text).and_then(|_| Case::all(check.id, check.text)) {
            panic!("{error}");
        }
    }
}

#[test]
fn the_rows_that_cards_answer_are_rows_of_linkerd_check() {
    let rows = meshdoctor::knowledge::Knowledge::embedded().linkerd_check();
    for check in checks::all() {
        for name in &check.card().front.linkerd_check {
            let row = rows.row(&name.category, &name.description);
            assert_eq!(row.map(|row| row.anchor.as_str()), Some(name.anchor.as_str()), "{}: {name:?}", check.id);
        }
    }
}
