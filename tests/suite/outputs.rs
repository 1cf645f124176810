//! Destinations of reports: each file is written even if another fails, file names contain the cluster, and
//! all reports state an evaluation time that differs from the evidence's.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran};

/// A cluster in the folder, under a name.
fn cluster(folder: &Path, name: &str) {
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml"), folder.join(name)).unwrap();
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
    // Also for a run without a report, which still has one document.
    let words = ["--bundle", "prod.yaml", "--only", "nothing-such", "-o", "json=f-{cluster}.json"];
    assert_eq!(check(folder.path(), &words).status, 2);
    assert!(folder.path().join("f-prod.json").exists());
    // Manifests are of no cluster that has a name.
    let words = ["check", "--manifests", "prod.yaml", "-o", "json=m-{cluster}.json"];
    let output = ran(meshdoctor(&words).current_dir(folder.path()));
    assert_eq!(output.status, 2, "{}", output.err);
    assert!(output.err.contains("m-{cluster}.json: the cluster has no name"), "{}", output.err);
    let files = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<String> = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(!names.iter().any(|name| name.contains('{')), "{names:?}");
}

#[test]
fn a_report_that_cannot_be_written_keeps_no_other_from_being_written() {
    let folder = tempfile::tempdir().unwrap();
    cluster(folder.path(), "prod.yaml");
    let words = ["--bundle", "prod.yaml", "-o", "sarif=gone/x.sarif", "-o", "json", "-o", "junit=j.xml"];
    let output = check(folder.path(), &words);
    assert_eq!(output.status, 3, "{}", output.err);
    assert!(output.err.contains("cannot write the report to gone/x.sarif: the folder gone does not exist"));
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
        assert!(text.contains("is judged at 2001-01-01T00:00:00Z, before ReplicaSet shop/web-"), "{text}");
    }
    let (said, warned) = aside("2026-01-15T12:00:00Z");
    assert!(!said.contains("is judged at") && !warned.contains("is judged at"), "{said} {warned}");
}

#[test]
fn answers_in_json_are_json_if_there_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    for (command, more) in
        [("policy", &[][..]), ("reach", &["shop/web", "shop/api"]), ("sync", &[]), ("injection", &[])]
    {
        for (output, bundle) in
            [(&["-o", "json"][..], "none.yaml"), (&["-ojson"], "."), (&["--output=json"], "none.yaml")]
        {
            let words = [&[command][..], more, output, &["--bundle", bundle]].concat();
            let ran = ran(meshdoctor(&words).current_dir(folder.path()));
            let document = ran.document();
            assert_eq!(document["schema"], format!("meshdoctor.{command}/1"), "{words:?}");
            assert_eq!(document["status"], ran.status, "{words:?}");
            assert!(!document["errors"][0].as_str().unwrap().is_empty(), "{words:?}");
        }
    }
}

#[test]
fn sarif_has_the_texts_of_rules_with_results_only() {
    let ran = ran(meshdoctor(&["demo", "injector-fails-open", "-o", "sarif"]));
    let run = &ran.document()["runs"][0];
    let found: BTreeSet<&str> =
        run["results"].as_array().unwrap().iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert!(rules.len() > 100 && !found.is_empty());
    for rule in rules {
        let id = rule["id"].as_str().unwrap();
        assert_eq!(rule["help"].is_object(), found.contains(id), "{id}");
        assert!(rule["helpUri"].is_string() && rule["shortDescription"]["text"].is_string(), "{id}");
    }
    assert!(ran.out.len() < 400_000, "{} bytes", ran.out.len());
}

#[cfg(unix)]
#[test]
fn too_few_open_files_are_a_clear_error() {
    let program = env!("CARGO_BIN_EXE_meshdoctor");
    let folder = tempfile::tempdir().unwrap();
    let config = "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}], users: [{name: c, user: {}}], contexts: [{name: c, context: {cluster: c, user: c}}]}";
    let kubeconfig = crate::binary::write(folder.path(), "kubeconfig", config);
    for files in [6, 8, 12] {
        let script = format!(
            "ulimit -n {files}; exec {program} check --kubeconfig {kubeconfig} --no-config --request-timeout 5s"
        );
        let ran = ran(std::process::Command::new("/bin/sh").args(["-c", &script]).env("HOME", folder.path()));
        assert_eq!(ran.status, 3, "{files}: {}", ran.text());
        assert!(ran.err.contains("raise the limit: ulimit -n 1024"), "{files}: {}", ran.err);
        assert!(!ran.err.contains("panicked"), "{files}: {}", ran.err);
    }
}
