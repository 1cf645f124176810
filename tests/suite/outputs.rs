//! Where reports go: each to its file whatever becomes of the others, files named after their cluster, and a moment that is not that of
//! the evidence said in all of them.

use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran};

/// A cluster in the folder, under a name.
fn cluster(folder: &Path, name: &str) {
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml"), folder.join(name))
        .unwrap();
}

fn check(folder: &Path, words: &[&str]) -> Ran {
    let base = ["check", "--complete", "all", "--at", "2026-01-15T12:00:00Z", "--on-not-checked", "pass"];
    ran(meshdoctor(&[&base[..], words].concat()).current_dir(folder))
}

#[test]
fn a_file_is_named_after_its_cluster_also_where_it_is_the_only_one() {
    let folder = tempfile::tempdir().unwrap();
    cluster(folder.path(), "prod.yaml");
    let output = check(folder.path(), &["--bundle", "prod.yaml", "-o", "json=r-{cluster}.json"]);
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(folder.path().join("r-prod.json").exists());
    // Also of a run that comes to no report, which has one document all the same.
    let words = ["--bundle", "prod.yaml", "--only", "nothing-such", "-o", "json=f-{cluster}.json"];
    assert_eq!(check(folder.path(), &words).status, 2);
    assert!(folder.path().join("f-prod.json").exists());
    // Manifests are of no cluster that has a name.
    let words = ["check", "--manifests", "prod.yaml", "-o", "json=m-{cluster}.json"];
    let output = ran(meshdoctor(&words).current_dir(folder.path()));
    assert_eq!(output.status, 2, "{}", output.err);
    assert!(output.err.contains("m-{cluster}.json: nothing names the cluster"), "{}", output.err);
    let files = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<String> =
        files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains('{')), "{names:?}");
}

#[test]
fn a_report_that_cannot_be_written_keeps_no_other_from_being_written() {
    let folder = tempfile::tempdir().unwrap();
    cluster(folder.path(), "prod.yaml");
    let words = ["--bundle", "prod.yaml", "-o", "sarif=gone/x.sarif", "-o", "json", "-o", "junit=j.xml"];
    let output = check(folder.path(), &words);
    assert_eq!(output.status, 3, "{}", output.err);
    assert!(output.err.contains("cannot write the report to gone/x.sarif: there is no folder gone"));
    // One document, that of the run.
    let document: Value = output.document();
    assert_eq!(document["verdict"]["status"], 0, "{document:#}");
    assert!(folder.path().join("j.xml").exists());
}

#[test]
fn a_moment_before_the_evidence_was_made_is_said() {
    let folder = tempfile::tempdir().unwrap();
    cluster(folder.path(), "prod.yaml");
    let aside = |at: &str| {
        let words = ["check", "--complete", "all", "--bundle", "prod.yaml", "-o", "json", "--at", at];
        let output = ran(meshdoctor(&words).current_dir(folder.path()));
        let document: Value = output.document();
        (document["coverage"]["setAside"].to_string(), output.err)
    };
    let (said, warned) = aside("2001-01-01T00:00:00Z");
    for text in [said, warned] {
        assert!(text.contains("judged as of 2001-01-01T00:00:00Z, before ReplicaSet shop/web-"), "{text}");
    }
    let (said, warned) = aside("2026-01-15T12:00:00Z");
    assert!(!said.contains("judged as of") && !warned.contains("judged as of"), "{said} {warned}");
}
