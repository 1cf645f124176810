//! Our result and that of the real `linkerd check` on recorded clusters, row by row: equal, or explained by
//! the reviewed list. The recordings are outside the repository; without them the test is skipped with a
//! message.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use meshdoctor::card::Mode;
use meshdoctor::checks::{self, Settings};
use meshdoctor::docgen::parity::differences;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::render::{Look, linkerd};
use meshdoctor::rows::{Category, RowResult, RowVerdict};
use serde::Deserialize;

use crate::parity_rows::{Name, Pair, RowAnswer, Rows, unexplained};
use crate::recordings::{folder, json, memory, report_on};
use crate::samples;

#[derive(Deserialize)]
struct Run {
    args: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    category: String,
    description: String,
    result: RowResult,
    #[serde(default)]
    error: String,
}

fn linkerd_rows(run: &Run) -> Rows {
    let said = |row: &Row| RowAnswer { result: row.result, error: row.error.clone() };
    run.rows.iter().map(|row| ((row.category.clone(), row.description.clone()), said(row))).collect()
}

fn own_rows(recording: &Path, settings: &Settings) -> Rows {
    let report = report_on(&memory(recording), settings);
    let rows = report.rows.into_iter().flat_map(|category| {
        let name = category.name;
        category.rows.into_iter().map(move |row| {
            let key: Name = (name.clone(), row.description);
            (key, RowAnswer { result: row.result, error: row.error })
        })
    });
    rows.collect()
}

/// Our settings for a command line of the real command; `None` for an extension's own command, whose rows the
/// core run prints too.
fn settings(run: &Run, cli: &str) -> Option<Settings> {
    let has = |flag: &str| run.args.iter().any(|arg| arg == flag);
    (run.args.first().is_some_and(|command| command == "check")).then(|| Settings {
        mode: if has("--pre") { Mode::Pre } else { Mode::Installed },
        data_plane: has("--proxy"),
        expected_version: Some(cli.parse().unwrap()),
        ..Settings::default()
    })
}

#[test]
fn recorded_verdicts_are_ours_or_the_difference_is_explained() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for name in &names {
        let recording = folder.join(name);
        if !recording.join("linkerd-check.json").is_file() {
            continue;
        }
        let meta = json(&recording.join("meta.json"));
        let cli = meta["linkerd_cli"].as_str().unwrap();
        // The rows of viz need a connection into the cluster, which did not exist.
        let unrecorded: &[&str] =
            if meta["note"].is_string() { &["linkerd-viz", "linkerd-viz-data-plane"] } else { &[] };
        let runs: Vec<Run> = serde_json::from_value(json(&recording.join("linkerd-check.json"))).unwrap();
        for run in &runs {
            let Some(settings) = settings(run, cli) else { continue };
            let (theirs, ours) = (linkerd_rows(run), own_rows(&recording, &settings));
            let pair = Pair { state: name, theirs: &theirs, ours: &ours, unrecorded };
            let differing = unexplained(&pair, &mut used);
            wrong.extend(differing.into_iter().map(|text| format!("{} {text}", run.args.join(" "))));
        }
    }
    let recorded: BTreeSet<&String> = names.iter().collect();
    for (at, entry) in differences().iter().enumerate() {
        let here = entry.recordings.iter().any(|recording| recorded.contains(recording));
        if here && !used.contains(&at) {
            wrong.push(format!("{} / {}: the list explains what does not differ", entry.category, entry.description));
        }
    }
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_difference_hides_a_row_that_we_are_weaker_on() {
    let known = Knowledge::embedded().linkerd_check();
    for entry in differences() {
        let name = format!("{} / {}", entry.category, entry.description);
        assert!(known.row(&entry.category, &entry.description).is_some(), "{name} is no row");
        assert!(!entry.is_weaker() || entry.their_error.is_some(), "{name}: weaker than the real command");
        assert!(!entry.why.trim().is_empty(), "{name}: why?");
    }
}

#[test]
fn every_row_is_answered_by_a_card() {
    let mut answered: BTreeMap<Name, usize> = BTreeMap::new();
    for check in checks::all() {
        for row in &check.card().front.linkerd_check {
            *answered.entry((row.category.clone(), row.description.clone())).or_default() += 1;
        }
    }
    let mut missing = Vec::new();
    for category in Knowledge::embedded().linkerd_check().categories() {
        for row in &category.rows {
            if !answered.contains_key(&(category.name.clone(), row.description.clone())) {
                missing.push(format!("{} / {}", category.name, row.description));
            }
        }
    }
    assert!(missing.is_empty(), "{} rows without a card:\n{}", missing.len(), missing.join("\n"));
}

#[test]
fn table_explains_a_failed_row_without_an_error() {
    let mut report = samples::good_night();
    let explained = "The exit status follows --fail-on, not the rows";
    assert!(!linkerd::table(&report, Look::plain(80)).contains(explained));
    let row = RowVerdict {
        description: "cni plugin pod is running on all nodes".to_owned(),
        hint: None,
        error: "linkerd-cni is starting on a node".to_owned(),
        result: RowResult::Error,
        checks: vec!["cni-ds-coverage"],
        listed: Vec::new(),
    };
    report.rows = vec![Category { name: "linkerd-cni-plugin".to_owned(), rows: vec![row] }];
    let table = linkerd::table(&report, Look::plain(80));
    assert!(table.contains(explained), "{table}");
}
