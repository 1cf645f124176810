//! The difference of two reports with the real binary: a finding that was not checked again is never fixed.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};

/// Writes the report of a demo, with a change.
fn report(folder: &Path, name: &str, change: impl Fn(&mut Value)) {
    let output = ran(meshdoctor(&["demo", "injector-fails-open", "-o", "json"]));
    let mut document: Value = output.document();
    change(&mut document);
    std::fs::write(folder.join(name), document.to_string()).unwrap();
}

fn diff(folder: &Path, before: &str, after: &str) -> (i32, Value) {
    let run = |form: &str| ran(meshdoctor(&["diff", before, after, "-o", form]).current_dir(folder));
    let (json, table) = (run("json"), run("table"));
    assert_eq!(json.status, table.status);
    (json.status, json.document())
}

fn count(difference: &Value, state: &str) -> usize {
    difference["entries"].as_array().unwrap().iter().filter(|entry| entry["state"] == state).count()
}

/// Removes all errors and sets the outcome of their checks.
fn without_errors(document: &mut Value, outcome: &str) {
    let findings = document["findings"].as_array_mut().unwrap();
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| finding["check"].as_str().unwrap().to_owned())
        .collect();
    findings.retain(|finding| finding["severity"] != "error");
    assert!(!errors.is_empty());
    for check in document["checks"].as_array_mut().unwrap() {
        if errors.iter().any(|id| check["id"] == id.as_str()) {
            check["outcome"] = json!(outcome);
        }
    }
}

#[test]
fn what_is_gone_is_fixed_only_where_somebody_looked() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    report(dir, "full.json", |_| {});
    report(dir, "clean.json", |document| without_errors(document, "pass"));
    report(dir, "blind.json", |document| without_errors(document, "not-checked"));
    report(dir, "narrow.json", |document| {
        without_errors(document, "pass");
        document["run"]["asked"]["namespaces"] = json!(["shop"]);
    });
    report(dir, "other.json", |document| {
        without_errors(document, "pass");
        document["subject"]["cluster"] = json!({"uid": "other"});
    });
    report(dir, "one.json", |document| document["subject"]["cluster"] = json!({"uid": "one"}));
    for (before, after) in [("one.json", "other.json"), ("other.json", "one.json")] {
        let (status, difference) = diff(dir, before, after);
        assert_eq!(status, 4, "another cluster is not a repaired one");
        assert_eq!(count(&difference, "fixed") + count(&difference, "new"), 0, "{difference:#}");
    }
    report(dir, "less.json", |document| {
        for finding in document["findings"].as_array_mut().unwrap() {
            if finding["severity"] == "error" {
                finding["severity"] = json!("warning");
            }
        }
    });
    let (status, same) = diff(dir, "full.json", "full.json");
    let all = same["entries"].as_array().unwrap().len();
    assert!(status == 0 && all > 0 && count(&same, "unchanged") == all);
    let (status, fixed) = diff(dir, "full.json", "clean.json");
    assert!(status == 0 && count(&fixed, "fixed") > 0 && count(&fixed, "not-comparable") == 0);
    let (status, new) = diff(dir, "clean.json", "full.json");
    assert!(status == 1 && count(&new, "new") == count(&fixed, "fixed"));
    for blind in ["blind.json", "narrow.json"] {
        for (before, after) in [("full.json", blind), (blind, "full.json")] {
            let (status, difference) = diff(dir, before, after);
            assert_eq!(status, 4, "{before} {after}");
            assert_eq!(count(&difference, "fixed") + count(&difference, "new"), 0, "{before} {after}");
            assert!(count(&difference, "not-comparable") > 0);
        }
    }
    let (status, better) = diff(dir, "full.json", "less.json");
    assert!(status == 0 && count(&better, "changed") > 0);
    let (status, worse) = diff(dir, "less.json", "full.json");
    assert!(status == 1 && count(&worse, "changed") == count(&better, "changed"));
}

#[test]
fn two_clusters_are_one_line_of_a_diff() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    for uid in ["one", "two"] {
        report(dir, &format!("{uid}.json"), |document| {
            document["subject"]["cluster"] = json!({ "uid": uid });
            if uid == "two" {
                without_errors(document, "pass");
            }
        });
    }
    let shown = ran(meshdoctor(&["diff", "one.json", "two.json"]).current_dir(dir)).out;
    assert!(shown.starts_with("the reports are of two different clusters; "), "{shown}");
    assert_eq!(shown.matches("different clusters").count(), 1, "{shown}");
    assert!(shown.contains(" in both") && !shown.contains("unchanged"), "{shown}");
    assert!(!shown.contains("not comparable  "), "{shown}");
}

#[test]
fn diff_of_a_dump_names_the_command_for_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let dump = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    std::fs::write(folder.path().join("dump.yaml"), dump).unwrap();
    std::fs::write(folder.path().join("dump.json"), "{\"kind\": \"List\", \"items\": []}").unwrap();
    for name in ["dump.yaml", "dump.json"] {
        let shown = ran(meshdoctor(&["diff", name, name]).current_dir(folder.path()));
        assert_eq!(shown.status, 2);
        assert!(shown.err.contains("or bundles"), "{}", shown.err);
        let command = format!("meshdoctor check --bundle {name} -o json=report.json");
        assert!(shown.err.contains(&command), "{}", shown.err);
    }
}

#[test]
fn bundles_are_compared_as_their_reports_are() {
    let Some(folder) = crate::recordings::folder() else { return };
    let own = tempfile::tempdir().unwrap();
    let of = |name: &str| folder.join(name).display().to_string();
    let report = |name: &str| {
        let path = own.path().join(format!("{name}.json")).display().to_string();
        let output = format!("json={path}");
        ran(meshdoctor(&["check", "--bundle", &of(name), "-o", &output]));
        path
    };
    let (before, after) = (report("issuer-expired"), report("healthy-2.18"));
    let said = |words: &[&str]| {
        let output = ran(meshdoctor(&[&["diff"], words].concat()));
        (output.status, output.out)
    };
    let reports = said(&[&before, &after]);
    assert!(reports.1.contains("two different clusters"), "{}", reports.1);
    assert!(said(&[&before, &after, "-o", "json"]).1.contains("issuer-expired"));
    let bundles = said(&[&of("issuer-expired"), &of("healthy-2.18")]);
    assert_eq!((bundles.0, lines(&bundles.1)), (reports.0, lines(&reports.1)));
    assert_eq!(said(&[&before, &of("healthy-2.18")]).0, reports.0);
}

/// The output without timestamps and file names.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.contains("json") && !line.contains("2026-")).collect()
}
