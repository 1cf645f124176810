//! `check --verify`: a repaired finding is fixed, an unrepaired one is still present, and one that could not
//! be checked again is neither. The real binary, on bundles of the demos before and after their remedy.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use meshdoctor::collect::collect_now;
use meshdoctor::demo::{self, DemoState};
use meshdoctor::item::Item;
use meshdoctor::policy::{self, Policy};
use meshdoctor::render::verify::VerificationDocument;
use meshdoctor::save::{ClosingEntries, Writer};
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};

const DEMO: &str = "cni-unauthorized";
const BEFORE: &str = "2026-01-15T12:00:00Z";
const AFTER: &str = "2026-01-15T13:00:00Z";

/// A folder for bundles and reports.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A demo's cluster as a bundle that was captured then.
    pub fn bundle(&self, demo: &str, state: DemoState, at: &str) -> PathBuf {
        let scene = demo::find(demo).unwrap().scene(state).unwrap();
        let checks = Policy::default().select().unwrap();
        let mut items = policy::run_items(&checks);
        items.extend([Item::NodeFiles, Item::List(meshdoctor::item::Kind::Namespace)]);
        let number = fs::read_dir(self.0.path()).unwrap().count();
        let path = self.path(&format!("{number}-{demo}-{state:?}/"));
        let writer = Writer::create(&path).unwrap();
        let collected = collect_now(&scene.memory, &items, &scene.options, Some(&writer));
        writer.finish(ClosingEntries::new(&collected, None, None)).unwrap();
        edit(&path.join("manifest.json"), |manifest| manifest["capturedAt"] = at.into());
        path
    }

    /// The report on a bundle, in a file.
    pub fn report(&self, bundle: &Path, more: &[&str]) -> PathBuf {
        let file = self.path("report.json");
        let output = format!("json={}", file.display());
        let mut args = vec!["check", "--bundle", bundle.to_str().unwrap(), "-o", &output];
        args.extend(more);
        ran(meshdoctor(&args));
        file
    }
}

fn edit(file: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    change(&mut value);
    fs::write(file, value.to_string()).unwrap();
}

fn verified(report: &Path, bundle: &Path, more: &[&str]) -> (i32, Value) {
    let mut args = vec!["check", "--verify", report.to_str().unwrap(), "--bundle", bundle.to_str().unwrap()];
    args.extend(["-o", "json"]);
    args.extend(more);
    let output = ran(meshdoctor(&args));
    let (status, value) = (output.status, output.document());
    assert_eq!(value["verdict"]["status"], status, "{}", output.err);
    if status != 2 && status != 3 {
        let errors: Vec<String> = schema().iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let read: VerificationDocument = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
    }
    (status, value)
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema/verify.v1.json");
    jsonschema::options().build(&serde_json::from_slice(&fs::read(path).unwrap()).unwrap()).unwrap()
}

/// The states of a check's findings, those of all subjects together.
fn states(value: &Value, check: &str) -> BTreeSet<String> {
    let findings = value["findings"].as_array().unwrap().iter().filter(|finding| finding["check"] == check);
    let subjects = findings.flat_map(|finding| finding["subjects"].as_array().unwrap().clone());
    subjects.map(|subject| subject["state"].as_str().unwrap().to_owned()).collect()
}

fn only(state: &str) -> BTreeSet<String> {
    BTreeSet::from([state.to_owned()])
}

/// Whether a full check of the evidence still has the report's findings, at warning or above.
fn still_bad(report: &Path, bundle: &Path) -> bool {
    let checks = |document: &Value| -> BTreeSet<String> {
        let findings = document["findings"].as_array().unwrap().iter();
        let failing = findings.filter(|finding| finding["severity"] != "info");
        failing.map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
    };
    let whole = ran(meshdoctor(&["check", "--bundle", bundle.to_str().unwrap(), "-o", "json"]));
    let now = checks(&whole.document());
    !checks(&serde_json::from_slice(&fs::read(report).unwrap()).unwrap()).is_disjoint(&now)
}

/// Removes the files of a node from a bundle, or of all nodes if `node` is `None`.
fn without_files(bundle: &Path, node: Option<&str>) {
    let gone = node.map_or(bundle.join("nodes"), |node| bundle.join("nodes").join(node));
    fs::remove_dir_all(gone).unwrap();
    edit(&bundle.join("manifest.json"), |manifest| {
        manifest["nodes"].as_array_mut().unwrap().retain(|other| node.is_some_and(|node| other["node"] != node));
        if node.is_none() {
            let items = manifest["items"].as_array_mut().unwrap();
            items.retain(|item| item["item"] != "node-files");
        }
    });
}

#[test]
fn a_cured_cluster_is_fixed_and_the_same_cluster_is_not() {
    for demo in demo::DEMOS {
        let folder = Folder::new();
        let report = folder.report(&folder.bundle(demo.name, DemoState::Before, BEFORE), &[]);
        let after = folder.bundle(demo.name, DemoState::After, AFTER);
        let (status, value) = verified(&report, &after, &[]);
        assert_eq!(status, i32::from(still_bad(&report, &after)), "{}: {value:#}", demo.name);
        assert_eq!(value["verdict"]["notChecked"], 0, "{}", demo.name);
        assert!(value["verdict"]["fixed"].as_u64().unwrap() > 0, "{}", demo.name);
        assert_eq!(value["verdict"]["sameCluster"], true, "{}", demo.name);
        let (status, value) =
            verified(&report, &folder.bundle(demo.name, DemoState::Before, "2026-01-15T12:30:00Z"), &[]);
        // The files of nodes in it are as old as they were, and show nothing new.
        assert!(status == 1 || status == 4, "{}: {value:#}", demo.name);
        assert_eq!(value["verdict"]["fixed"], 0, "{}: {value:#}", demo.name);
    }
}

#[test]
fn a_partial_cure_shows_which_subject_is_left() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    let before = folder.bundle(DEMO, DemoState::Before, AFTER);
    // One of the two nodes is unchanged, and collected later.
    let (broken, cured) = (before.join("nodes/ip-10-0-1-12"), after.join("nodes/ip-10-0-1-12"));
    fs::remove_dir_all(&cured).unwrap();
    copy(&broken, &cured);
    edit(&cured.join("meta.json"), |meta| meta["collectedAt"] = "2026-01-15T12:58:00Z".into());
    let (status, value) = verified(&report, &after, &["--only", "cni-token-revoked"]);
    assert_eq!(status, 1, "{value:#}");
    let expected = BTreeSet::from(["fixed".to_owned(), "still-there".to_owned()]);
    assert_eq!(states(&value, "cni-token-revoked"), expected, "{value:#}");
    let args = ["check", "--verify", report.to_str().unwrap(), "--bundle", after.to_str().unwrap()];
    let table = ran(meshdoctor(&args)).out;
    assert!(table.contains("1 of 2 subjects fixed"), "{table}");
    let short = ran(meshdoctor(&[&args[..], &["-o", "short"]].concat())).out;
    assert!(short.lines().any(|line| line.starts_with("still-there error cni-token-revoked ip-10-0-1-12")), "{short}");
    assert!(short.lines().last().unwrap().ends_with("exit 1"), "{short}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn what_nobody_could_look_at_is_never_fixed() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    // Without the files of its nodes, and without one of them.
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    without_files(&after, Some("ip-10-0-1-40"));
    let (status, value) = verified(&report, &after, &["--only", "cni-token-revoked"]);
    assert_eq!(status, 4, "{value:#}");
    assert_eq!(
        states(&value, "cni-token-revoked"),
        BTreeSet::from(["fixed".to_owned(), "not-checked".to_owned()]),
        "{value:#}"
    );
    without_files(&after, None);
    let (status, value) = verified(&report, &after, &["--only", "cni-token-revoked"]);
    assert_eq!(status, 4, "{value:#}");
    assert_eq!(states(&value, "cni-token-revoked"), only("not-checked"), "{value:#}");
}

#[test]
fn evidence_that_is_not_newer_shows_nothing() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    for at in [BEFORE, "2026-01-15T11:00:00Z"] {
        let (status, value) = verified(&report, &folder.bundle(DEMO, DemoState::After, at), &[]);
        assert_eq!(status, 4, "{at}: {value:#}");
        assert_eq!(value["verdict"]["fixed"], 0, "{at}");
        assert_eq!(value["verdict"]["stillThere"], 0, "{at}");
    }
    // One line for all findings, and the command for newer evidence.
    let old = folder.bundle(DEMO, DemoState::Before, BEFORE);
    let text = ran(meshdoctor(&["check", "--verify", report.to_str().unwrap(), "--bundle", old.to_str().unwrap()]));
    assert_eq!(text.status, 4, "{}", text.out);
    assert!(text.out.contains("findings was checked: the evidence is from"), "{}", text.out);
    assert!(text.out.contains("  meshdoctor check --verify "), "{}", text.out);
    assert!(!text.out.contains("not checked  "), "{}", text.out);
    // A new bundle with old files of nodes.
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    for node in fs::read_dir(after.join("nodes")).unwrap() {
        let meta = node.unwrap().path().join("meta.json");
        edit(&meta, |meta| meta["collectedAt"] = "2026-01-15T11:00:00Z".into());
    }
    let (status, value) = verified(&report, &after, &["--only", "cni-token-revoked"]);
    assert_eq!(status, 4, "{value:#}");
    assert_eq!(states(&value, "cni-token-revoked"), only("not-checked"), "{value:#}");
}

#[test]
fn another_cluster_is_a_mistake() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    edit(&report, |report| report["subject"]["cluster"]["uid"] = "another".into());
    let (status, value) = verified(&report, &folder.bundle(DEMO, DemoState::After, AFTER), &[]);
    assert_eq!(status, 2, "{value:#}");
    assert!(value["errors"][0]["message"].as_str().unwrap().contains("another cluster"), "{value:#}");
}

#[test]
fn what_is_no_report_with_findings_is_refused() {
    let folder = Folder::new();
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    let whole = fs::read_to_string(&report).unwrap();
    let file = folder.path("other.json");
    let nested = format!("{{\"schema\": {}", "[".repeat(1 << 20));
    let texts = [
        ("empty", String::new()),
        ("cut", whole[..whole.len() / 2].to_owned()),
        ("a bundle's", r#"{"schema":"meshdoctor.bundle/1"}"#.to_owned()),
        ("a list", "[]".to_owned()),
        ("deep", nested),
        ("binary", "\u{0}\u{1}".to_owned()),
    ];
    for (name, text) in texts {
        fs::write(&file, text).unwrap();
        let (status, value) = verified(&file, &after, &[]);
        assert_eq!(status, 2, "{name}: {value:#}");
    }
    assert_eq!(verified(&folder.path("not-there.json"), &after, &[]).0, 2);
    // Larger than any report, and mostly a hole: only its beginning is ever read.
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    let (status, value) = verified(&file, &after, &[]);
    assert_eq!(status, 2, "{value:#}");
    assert!(value["errors"][0]["message"].as_str().unwrap().contains("larger than"), "{value:#}");
    // A run that came to nothing, and one without findings.
    let failed = ran(meshdoctor(&["check", "--bundle", "/nonexistent", "-o", "json"]));
    fs::write(&file, failed.out).unwrap();
    assert_eq!(verified(&file, &after, &[]).0, 2);
    edit(&report, |report| report["findings"] = json!([]));
    assert_eq!(verified(&report, &after, &[]).0, 2);
}

#[test]
fn the_report_is_not_written_over() {
    let folder = Folder::new();
    let bundle = folder.bundle(DEMO, DemoState::Before, BEFORE);
    let report = folder.report(&bundle, &[]);
    let held = fs::read(&report).unwrap();
    let (report_text, bundle) = (report.to_str().unwrap(), bundle.to_str().unwrap());
    let output = format!("json={report_text}");
    for more in [["-o", output.as_str()], ["--save", report_text]] {
        let args = ["check", "--verify", report_text, "--bundle", bundle, more[0], more[1]];
        assert_eq!(ran(meshdoctor(&args)).status, 2, "{more:?}");
        assert_eq!(fs::read(&report).unwrap(), held, "{more:?}");
    }
}

/// A report of 0.1.0 has no fingerprints of subjects and no cluster: its subjects are compared by name.
#[test]
fn an_old_report_is_verified_by_the_names_of_its_subjects() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    edit(&report, |report| {
        report["run"].as_object_mut().unwrap().remove("asked");
        report["subject"].as_object_mut().unwrap().remove("cluster");
        for finding in report["findings"].as_array_mut().unwrap() {
            for subject in finding["subjects"].as_array_mut().unwrap() {
                subject.as_object_mut().unwrap().remove("fingerprint");
            }
        }
    });
    let (status, value) = verified(&report, &folder.bundle(DEMO, DemoState::After, AFTER), &[]);
    assert_eq!(status, 0, "{value:#}");
    assert_eq!(value["verdict"]["sameCluster"], false, "nobody can tell");
    let released = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/reports/0.1.0.json");
    let (status, value) = verified(&released, &folder.bundle(DEMO, DemoState::After, AFTER), &[]);
    assert!(status == 4 || status == 1 || status == 0, "it is read: {value:#}");
}

/// A report is untrusted input.
#[test]
fn a_hostile_report_drives_no_terminal() {
    let folder = Folder::new();
    let report = folder.report(&folder.bundle(DEMO, DemoState::Before, BEFORE), &[]);
    edit(&report, |report| {
        let hostile = "x\u{1b}]0;y\u{7}\n::error::z\u{202e}";
        report["findings"][0]["message"] = hostile.into();
        report["findings"][0]["fingerprint"] = hostile.into();
        report["findings"][0]["check"] = hostile.into();
        report["findings"][0]["subjects"] = json!([{"type": "thing", "thing": hostile}]);
    });
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    for form in ["table", "short", "json"] {
        let args = ["check", "--verify", report.to_str().unwrap(), "--bundle", after.to_str().unwrap(), "-o", form];
        let output = ran(meshdoctor(&args));
        let text = output.text();
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{form}: {text:?}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::error::")), "{form}: {text}");
        assert_eq!(output.status, 4, "an unknown check was not checked: {text}");
    }
}

/// A selection in which no check ran is not a success, and names the missing evidence.
#[test]
fn a_selection_of_which_nothing_ran_is_not_fine() {
    let folder = Folder::new();
    let after = folder.bundle(DEMO, DemoState::After, AFTER);
    without_files(&after, None);
    let bundle = after.to_str().unwrap();
    for more in [&[][..], &["--on-unknown=pass"]] {
        let mut args = vec!["check", "--bundle", bundle, "--only", "cni-token-revoked", "-o", "json"];
        args.extend(more);
        let output = ran(meshdoctor(&args));
        let value: Value = output.document();
        assert_eq!(output.status, 4, "{value:#}");
        assert_eq!(value["verdict"]["checks"]["notChecked"], 1);
        let gap = &value["coverage"]["gaps"][0];
        assert_eq!(gap["askedFor"], true, "{gap:#}");
        assert!(gap["close"].as_str().is_some_and(|close| !close.is_empty()), "{gap:#}");
    }
    let all = ran(meshdoctor(&["check", "--bundle", bundle, "-o", "short"]));
    assert_eq!(all.status, 0, "they were not requested: {}", all.out);
}
