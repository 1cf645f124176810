//! Several clusters in one run: each as if it were alone, one summary, one exit status.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran, ran_to};
use crate::recordings::{folder, json};

/// Lays a recording into a folder under a name, with objects added.
pub(crate) fn lay(own: &Path, name: &str, recording: &str, more: &[Value]) -> bool {
    let Some(folder) = folder() else { return false };
    let mut all = json(&folder.join(recording).join("cluster.json"));
    all["items"].as_array_mut().unwrap().extend(more.iter().cloned());
    let home = own.join(name);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join("cluster.json"), all.to_string()).unwrap();
    std::fs::copy(folder.join(recording).join("version.json"), home.join("version.json")).unwrap();
    true
}

/// The same with its objects changed.
pub(crate) fn lay_edited(own: &Path, name: &str, recording: &str, edit: impl Fn(&mut Vec<Value>)) -> bool {
    if !lay(own, name, recording, &[]) {
        return false;
    }
    let path = own.join(name).join("cluster.json");
    let mut all = json(&path);
    edit(all["items"].as_array_mut().unwrap());
    std::fs::write(path, all.to_string()).unwrap();
    true
}

pub(crate) fn run(own: &Path, more: &[&str], exit: i32) -> Value {
    run_with("all", own, more, exit)
}

/// The same for bundles that are only complete for some kinds.
pub(crate) fn run_with(complete: &str, own: &Path, more: &[&str], exit: i32) -> Value {
    let path = own.display().to_string();
    let args = [&["check", "--bundles", &path, "--complete", complete, "-o", "json"], more].concat();
    ran_to(exit, meshdoctor(&args)).document()
}

#[test]
fn one_that_cannot_be_read_sinks_none_of_the_others() {
    let own = tempfile::tempdir().unwrap();
    if !lay(own.path(), "well", "healthy-2.20", &[]) {
        return;
    }
    lay(own.path(), "ill", "issuer-expired", &[]);
    std::fs::write(own.path().join("broken.json"), "{").unwrap();
    let fleet = run(own.path(), &[], 1);
    let clusters: Vec<(&str, i64)> = fleet["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["status"].as_i64().unwrap()))
        .collect();
    assert_eq!(clusters, [("broken", 3), ("ill", 1), ("well", 0)]);
    // Each report equals that of the cluster alone.
    let ill = own.path().join("ill").display().to_string();
    let alone = ran(meshdoctor(&["check", "--bundle", &ill, "--complete", "all", "-o", "json"])).document();
    let here = &fleet["clusters"][1]["report"];
    assert_eq!(here["findings"], alone["findings"]);
    assert_eq!(here["verdict"], alone["verdict"]);
    let expired = fleet["findings"].as_array().unwrap().iter().find(|one| one["check"] == "issuer-expired").unwrap();
    assert_eq!(expired["clusters"], json!({"ill": 1}));
    // Without a failing finding, the exit status reports the cluster that was not checked.
    let fleet = run(own.path(), &["--fail-on", "never"], 4);
    assert!(fleet["clusters"][0]["error"].as_str().unwrap().contains("broken.json"), "{}", fleet["clusters"][0]);
    std::fs::remove_dir_all(own.path().join("ill")).unwrap();
    std::fs::remove_dir_all(own.path().join("well")).unwrap();
    run(own.path(), &[], 3);
}

#[test]
fn a_report_for_each_is_written_under_its_name() {
    let own = tempfile::tempdir().unwrap();
    if !lay(own.path(), "one", "healthy-2.19", &[]) {
        return;
    }
    lay(own.path(), "two", "healthy-2.20", &[]);
    let out = tempfile::tempdir().unwrap();
    // Missing folders are created.
    let (page, save) = (out.path().join("reports/{cluster}.html"), out.path().join("{cluster}/of.tar.gz"));
    let page = format!("html={}", page.display());
    run(own.path(), &["-o", &page, "--save", &save.display().to_string()], 0);
    for name in ["reports/one.html", "reports/two.html", "one/of.tar.gz", "two/of.tar.gz"] {
        assert!(out.path().join(name).exists(), "{name}");
    }
    // One report would take the place of another's.
    let alike = tempfile::tempdir().unwrap();
    lay(alike.path(), "a b", "healthy-2.19", &[]);
    lay(alike.path(), "a-b", "healthy-2.20", &[]);
    let bundles = alike.path().display().to_string();
    let output = ran(meshdoctor(&["check", "--bundles", &bundles, "-o", &page]));
    assert_eq!(output.status, 2, "{}", output.err);
    let path = own.path().display().to_string();
    for wrong in [
        &["-o", "sarif"][..],
        &["--save", "x.tar.gz"],
        &["--verify", "x"],
        &["--baseline", "x"],
        &["--bundle", "x"],
        &["--wait", "5s"],
    ] {
        let output = ran(meshdoctor(&[&["check", "--bundles", &path], wrong].concat()));
        assert_eq!(output.status, 2, "{wrong:?}");
        if wrong[0] == "--wait" {
            let said = output.err;
            assert!(said.contains("'--bundles <DIR>'") && said.contains("reads a live cluster repeatedly"), "{said}");
        }
    }
}

/// A truncated dump of which nothing could be checked is not a healthy cluster, whatever passes.
#[test]
fn a_cluster_of_which_nothing_was_checked_is_not_fine() {
    let own = tempfile::tempdir().unwrap();
    if !lay(own.path(), "well", "healthy-2.20", &[]) {
        return;
    }
    let text = std::fs::read(own.path().join("well/cluster.json")).unwrap();
    std::fs::write(own.path().join("cut.json"), &text[..100_000]).unwrap();
    let fleet = run(own.path(), &["--on-not-checked", "pass"], 4);
    assert_eq!(fleet["clusters"][0]["status"], 4, "{}", fleet["clusters"][0]["report"]["verdict"]);
    assert_eq!(fleet["clusters"][1]["status"], 0);
}

/// Evidence that is too old does not give a current verdict.
#[test]
fn bundles_that_are_too_old_are_of_clusters_that_could_not_be_judged() {
    let folder = tempfile::tempdir().unwrap();
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    std::fs::create_dir(folder.path().join("fleet")).unwrap();
    let saved = folder.path().join("fleet/west.tar.gz");
    let save = |at: &str| {
        let words = ["check", "--bundle", base, "--complete", "all", "--at", at, "--fail-on", "never", "--force"];
        let more = ["--on-not-checked", "pass", "--save", saved.to_str().unwrap()];
        let output = ran(meshdoctor(&[&words[..], &more].concat()));
        assert_eq!(output.status, 0, "{}", output.err);
    };
    let judged = || {
        let fleet = folder.path().join("fleet");
        let words = ["check", "--bundles", fleet.to_str().unwrap(), "--max-age", "1h", "--fail-on", "never"];
        ran(meshdoctor(&words))
    };
    save("2026-01-15T12:00:00Z");
    let old = judged();
    let text = old.out;
    assert_eq!(old.status, 3, "{text}");
    assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains("older than --max-age"), "{text}");
    let now = jiff::Timestamp::now().to_string();
    save(&now);
    let fresh = judged();
    let text = fresh.out;
    assert_ne!(fresh.status, 3, "{text}");
    assert!(!text.contains("--max-age"), "{text}");
    // A dump without a timestamp may be of any age.
    std::fs::copy(base, folder.path().join("fleet/east.yaml")).unwrap();
    let text = judged().out;
    assert!(text.contains("has no timestamp"), "{text}");
}

#[test]
fn a_cluster_that_must_be_there_and_left_nothing_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path();
    if !lay(own, "west", "healthy-2.18", &[]) {
        return;
    }
    let at = ["--at", "2026-07-01T00:00:00Z", "--linkerd-cli", "none", "--fail-on", "never", "--on-not-checked=pass"];
    let alone = run(own, &[&at[..], &["--expect", "west"]].concat(), 0);
    assert_eq!(alone["clusters"].as_array().unwrap().len(), 1);
    let both = run(own, &[&at[..], &["--expect", "west,east"]].concat(), 4);
    let text = both.to_string();
    assert_eq!(both["clusters"].as_array().unwrap().len(), 2, "{text}");
    assert!(text.contains("contains no bundle of it") && text.contains("\"east\""), "{text}");
    // An empty folder: every expected cluster is still reported by name.
    let empty = own.join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    run(&empty, &["--expect", "west,east"], 3);
}
