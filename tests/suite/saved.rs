//! Saved reports: every form of a report is the same when created from the saved JSON, and `meshdoctor
//! report` shows it.

use std::collections::BTreeSet;

use meshdoctor::render::document::{Document, restore};
use meshdoctor::render::{self, Look};
use meshdoctor::report::Report;

use crate::binary::{meshdoctor, ran_to, write};
use crate::recordings;
use crate::rehearsal::rehearsed;
use crate::render::samples_and_judged;
use crate::samples;

/// Every form, at both widths if it has one.
fn forms(report: &Report) -> Vec<(&'static str, String)> {
    let verbose = Look { verbose: true, ..Look::plain(100) };
    vec![
        ("table", render::table::report(report, Look::plain(80))),
        ("table -v", render::table::report(report, verbose)),
        ("short", render::short::report(report)),
        ("json", render::json::report(report)),
        ("yaml", render::yaml::report(report)),
        ("html", render::html::report(report)),
        ("plan", render::plan::markdown(report)),
        ("linkerd", render::linkerd::report(report)),
        ("linkerd-table", render::linkerd::table(report, Look::plain(80))),
        ("sarif", render::ci::sarif::report(report)),
        ("junit", render::ci::junit::report(report)),
        ("github", render::ci::github::report(report)),
        ("gitlab", render::ci::gitlab::report(report)),
        ("markdown", render::ci::markdown::report(report)),
        ("prometheus", render::ci::prometheus::report(report)),
        ("ndjson", render::ci::ndjson::report(report)),
        ("extension", render::extension::report(report)),
    ]
}

fn restored(report: &Report) -> Report {
    let document: Document = serde_json::from_str(&render::json::report(report)).unwrap();
    restore(&document).unwrap()
}

/// The forms that differ, each with its first differing line.
fn differences(name: &str, report: &Report) -> Vec<String> {
    let pairs = forms(report).into_iter().zip(forms(&restored(report)));
    let differing = pairs.filter(|((_, then), (_, now))| then != now);
    differing
        .map(|((form, then), (_, now))| {
            let line = then.lines().zip(now.lines()).find(|(then, now)| then != now);
            format!("{name}, {form}: {line:?}")
        })
        .collect()
}

#[test]
fn saved_reports_render_as_they_were() {
    // Samples are written by hand, without rows of linkerd check.
    let samples: BTreeSet<&str> = samples::all().into_iter().map(|(sample, _)| sample).collect();
    let is_sample = |name: &str| samples.contains(name);
    let mut wrong = Vec::new();
    for (name, report) in samples_and_judged() {
        let has_form = |line: &String| !line.contains(", linkerd") || !is_sample(name);
        wrong.extend(differences(name, report).into_iter().filter(has_form));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn saved_reports_of_recordings_render_as_they_were() {
    let Some(folder) = recordings::folder() else { return };
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("meta.json").is_file() {
            let report = recordings::report_on(&recordings::memory(&path), &Default::default());
            wrong.extend(differences(&path.file_name().unwrap().to_string_lossy(), &report));
        }
    }
    for (recording, to) in [("healthy-2.18-viz", "2.20"), ("healthy-2.19", "2.20")] {
        wrong.extend(differences(recording, &rehearsed(recording, to).unwrap()));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn a_saved_report_is_shown_with_its_own_exit_status() {
    let own = tempfile::tempdir().unwrap();
    let saved = own.path().join("saved.json");
    let output = format!("json={}", saved.display());
    let demo = ran_to(1, meshdoctor(&["demo", "injector-fails-open", "-o", "table", "-o", &output, "--quiet"]));
    let saved = saved.display().to_string();
    for words in [&["report", &saved][..], &["check", &saved]] {
        let shown = ran_to(1, meshdoctor(words));
        // A demo ends with the command of its cure.
        assert!(demo.out.starts_with(&shown.out), "{words:?}\n{}\n{}", demo.out, shown.out);
    }
    let refused = ran_to(2, meshdoctor(&["report", &saved, "-o", "plan"]));
    assert!(refused.err.contains("rehearsed no upgrade"), "{}", refused.err);
    let other = write(own.path(), "other.json", "{\"schema\": \"else\"}");
    assert!(ran_to(2, meshdoctor(&["report", &other])).err.contains("other.json"));
    let failed = ran_to(2, meshdoctor(&["report", &other, "-o", "json"]));
    let document: serde_json::Value = serde_json::from_str(&failed.out).unwrap();
    assert_eq!(document["verdict"]["status"], 2);
}

#[test]
fn a_report_of_the_first_release_is_shown() {
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/reports/0.1.0.json");
    let text = std::fs::read_to_string(old).unwrap();
    let status = serde_json::from_str::<Document>(&text).unwrap().verdict.status;
    for form in ["table", "short", "html", "markdown", "sarif", "junit", "ndjson", "prometheus"] {
        let shown = ran_to(i32::from(status), meshdoctor(&["report", old, "-o", form]));
        assert!(!shown.out.is_empty(), "{form}");
    }
}

#[test]
fn a_file_that_is_not_a_report_names_the_command_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let list = r#"{"apiVersion": "v1", "kind": "List", "items": []}"#;
    for (text, said) in [
        ("", "the file is empty"),
        (list, "is a dump, not a report\n  check it: meshdoctor check "),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n", "is a dump, not a report"),
        (r#"{"a": 1}"#, "is not a report: missing field"),
    ] {
        let file = write(folder.path(), "file", text);
        let ran = ran_to(2, meshdoctor(&["report", &file]));
        assert!(ran.err.contains(said), "{text}: {}", ran.err);
    }
}
