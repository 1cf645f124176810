//! Tickets through the binary: evaluating one again gives the same findings, and missing evidence is not
//! treated as checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use meshdoctor::checks;
use meshdoctor::collect::collect_now;
use meshdoctor::demo::{self, DEMOS, DemoState};
use meshdoctor::fetched::Why;
use meshdoctor::policy;
use meshdoctor::save::{ClosingEntries, Writer};
use meshdoctor::scene::Scene;
use serde_json::Value;

use crate::binary::{meshdoctor, ran, ran_to, write};
use crate::faults::server::{Reply, Server};

/// A demo's cluster as a collected bundle.
fn collected(demo: &str, state: DemoState, folder: &Path) -> PathBuf {
    collected_of(&demo::find(demo).unwrap().scene(state).unwrap(), folder)
}

fn collected_of(scene: &Scene, folder: &Path) -> PathBuf {
    let path = folder.join("collected.tar.gz");
    let writer = Writer::create(&path).unwrap();
    let items = policy::run_items(&checks::all().collect::<Vec<_>>());
    let collected = collect_now(&scene.memory, &items, &scene.options, Some(&writer));
    writer.finish(ClosingEntries::new(&collected, Some("prod".to_owned()), None)).unwrap();
    path
}

fn ticket(of: &Path, folder: &Path) -> PathBuf {
    let path = folder.join("ticket.tar.gz");
    let output = ran(meshdoctor(&["ticket", "--bundle", of.to_str().unwrap(), "-o", path.to_str().unwrap()]));
    assert!(matches!(output.status, 0 | 4), "{}", output.err);
    path
}

fn judged(bundle: &Path) -> Value {
    ran(meshdoctor(&["check", "-o", "json", "--bundle", bundle.to_str().unwrap()])).document()
}

fn outcomes(report: &Value) -> BTreeMap<String, String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    checks.map(|check| (text(&check["id"]), text(&check["outcome"]))).collect()
}

/// Its files, by name.
fn files(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = std::fs::File::open(archive).unwrap();
    let mut tar = tar::Archive::new(flate2::read::MultiGzDecoder::new(file));
    let entries = tar.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    });
    entries.collect()
}

#[test]
fn a_ticket_is_judged_as_what_it_was_made_of() {
    for demo in DEMOS {
        for state in [DemoState::Before, DemoState::After] {
            let folder = tempfile::tempdir().unwrap();
            let whole = collected(demo.name, state, folder.path());
            let ticket = ticket(&whole, folder.path());
            let (before, after) = (judged(&whole), judged(&ticket));
            assert_eq!(before["findings"], after["findings"], "{} {state:?}", demo.name);
            assert_eq!(before["causes"], after["causes"], "{} {state:?}", demo.name);
            assert_eq!(before["subject"], after["subject"], "{} {state:?}", demo.name);
            let (was, is) = (outcomes(&before), outcomes(&after));
            for (id, outcome) in &is {
                let same = *outcome == was[id] || outcome == "not-checked";
                assert!(same, "{} {state:?}: {id} was {} and is {outcome}", demo.name, was[id]);
            }
            let files = files(&ticket);
            for name in ["manifest.json", "report.txt", "report.json", "report.md"] {
                assert!(files.contains_key(name), "{name} is in {:?}", files.keys());
            }
            let report: Value = serde_json::from_slice(&files["report.json"]).unwrap();
            assert_eq!(report["findings"], before["findings"]);
            assert_eq!(report["verdict"]["passed"], before["verdict"]["passed"]);
        }
    }
}

/// Evidence of a healthy cluster is omitted, and not treated as checked.
#[test]
fn a_ticket_of_a_healthy_cluster_does_not_read_as_healthy() {
    let folder = tempfile::tempdir().unwrap();
    let whole = collected("injector-fails-open", DemoState::After, folder.path());
    let ticket = ticket(&whole, folder.path());
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert!(size(&ticket) < 2 * size(&whole), "{} of {}", size(&ticket), size(&whole));
    let manifest: Value = serde_json::from_slice(&files(&ticket)["manifest.json"]).unwrap();
    assert!(!manifest["leftOut"].as_array().unwrap().is_empty(), "{manifest:#}");
    let output = ran(meshdoctor(&["check", "--bundle", ticket.to_str().unwrap()]));
    let text = output.out;
    assert_eq!(output.status, 4, "{text}");
    assert!(!text.contains("HEALTHY") && text.contains("NOT FULLY CHECKED"), "{text}");
    assert!(output.err.contains("this ticket omits the objects of "), "{}", output.err);
}

/// Most clusters lack the kinds of networks and tools that they do not use.
#[test]
fn kinds_that_the_server_does_not_serve_are_no_evidence_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = demo::find("injector-fails-open").unwrap().scene(DemoState::After).unwrap();
    scene.memory.trouble.insert("ciliumnetworkpolicies.cilium.io".parse().unwrap(), Why::NotServed);
    let whole = collected_of(&scene, folder.path());
    for command in ["collect", "ticket"] {
        let target = folder.path().join(format!("{command}.tar.gz"));
        let args = [command, "--bundle", whole.to_str().unwrap(), "-o", target.to_str().unwrap()];
        let said = ran_to(0, meshdoctor(&args)).err;
        assert!(!said.contains("not collected"), "{command}: {said}");
        let named = said.contains("not served by the API server: ciliumnetworkpolicies");
        assert_eq!(named, command == "collect", "{said}");
    }
}

#[test]
fn a_dry_run_lists_every_file_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let whole = collected("injector-fails-open", DemoState::Before, folder.path());
    let target = folder.path().join("ticket.tar.gz");
    let args = ["ticket", whole.to_str().unwrap(), "--dry-run"];
    for more in [&[][..], &["-o", target.to_str().unwrap()]] {
        // On a narrower terminal, long names take several lines.
        let output = ran(meshdoctor(&[&args[..], more].concat()).env("COLUMNS", "200"));
        assert_eq!(output.status, 0, "{}", output.err);
        let text = output.out;
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is written:\n{text}");
        assert!(text.contains("left out") && text.contains("redacted") && text.contains("bytes as an archive"));
        let written = ticket(&whole, folder.path());
        for (name, bytes) in files(&written) {
            let line = text.lines().find(|line| line.ends_with(&format!("  {name}")));
            let line = line.unwrap_or_else(|| panic!("{name} is not listed:\n{text}"));
            // Metadata of the run differs from run to run.
            if !name.starts_with("report.") {
                let size = line.split_whitespace().next().unwrap().replace(',', "");
                assert_eq!(size, bytes.len().to_string(), "{line}");
            }
        }
        std::fs::remove_file(&written).unwrap();
    }
}

#[test]
fn what_is_there_stays_and_what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let whole = collected("cni-exit-127", DemoState::Before, folder.path());
    let (bundle, target) = (whole.to_str().unwrap(), folder.path().join("t.tar.gz"));
    let target = target.to_str().unwrap();
    std::fs::write(target, "before").unwrap();
    let refused = ran(meshdoctor(&["ticket", "--bundle", bundle, "-o", target]));
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert_eq!(std::fs::read(target).unwrap(), b"before");
    let forced = ran(meshdoctor(&["ticket", "--bundle", bundle, "-o", target, "--force"]));
    assert_eq!(forced.status, 0, "{}", forced.err);
    for (place, said) in
        [("/nonexistent/t.tar.gz", "No such file"), (&format!("{target}.zip"), ".tar.gz"), (bundle, "overwrite")]
    {
        let output = ran(meshdoctor(&["ticket", "--bundle", bundle, "--force", "-o", place]));
        assert_eq!(output.status, 2, "{place}: {}", output.err);
        assert!(output.err.contains(said), "{place}: {}", output.err);
    }
    assert_eq!(ran(meshdoctor(&["ticket", "--bundle", bundle])).status, 2, "-o is needed");
    assert_eq!(ran(meshdoctor(&["ticket", "--bundle", "/nonexistent", "-o", "x.tar.gz"])).status, 2);
}

#[test]
fn a_ticket_on_standard_output_is_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let whole = collected("cni-unauthorized", DemoState::Before, folder.path());
    let mut ticket = meshdoctor(&["ticket", "--bundle", whole.to_str().unwrap(), "-o", "-"]);
    let output = ticket.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let path = folder.path().join("piped.tar.gz");
    std::fs::write(&path, &output.stdout).unwrap();
    assert_eq!(judged(&path)["findings"], judged(&whole)["findings"]);
}

/// The options of the original run apply again, unless a flag overrides them.
#[test]
fn a_ticket_keeps_what_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let whole = collected("injector-fails-open", DemoState::Before, folder.path());
    let path = folder.path().join("ticket.tar.gz");
    let (of, to) = (whole.to_str().unwrap(), path.to_str().unwrap());
    let asked =
        ["--only", "injection,certificates", "--skip", "issuer-expiring", "--param", "trust-anchor-expiring.days=30"];
    let output = ran(meshdoctor(&[&["ticket", "--bundle", of, "-o", to], &asked[..]].concat()));
    assert!(matches!(output.status, 0 | 4), "{}", output.err);
    let direct = ran(meshdoctor(&[&["check", "-o", "json", "--bundle", of], &asked[..]].concat())).document();
    let again = judged(&path);
    for part in ["findings", "causes", "subject"] {
        assert_eq!(direct[part], again[part], "{part}");
    }
    assert_eq!(direct["run"]["asked"], again["run"]["asked"]);
    let ids = |report: &Value| outcomes(report).into_keys().collect::<Vec<_>>();
    assert_eq!(ids(&direct), ids(&again));
    let inside: Value = serde_json::from_slice(&files(&path)["report.json"]).unwrap();
    assert_eq!(inside["findings"], again["findings"]);
    let said = ran(meshdoctor(&["check", "--bundle", to])).err;
    assert!(
        said.contains("options of the ticket: --only injection,certificates --skip issuer-expiring --param"),
        "{said}"
    );
    // A flag counts before the ticket.
    let other = ran(meshdoctor(&["check", "-o", "json", "--bundle", to, "--only", "versions"])).document();
    assert_eq!(other["run"]["asked"]["only"], serde_json::json!(["versions"]));
    // Before an installation only the checks for that mode run.
    let early = folder.path().join("early.tar.gz");
    let output = ran(meshdoctor(&["ticket", "--bundle", of, "--pre", "-o", early.to_str().unwrap()]));
    assert!(matches!(output.status, 0 | 4), "{}", output.err);
    assert_eq!(judged(&early)["run"]["asked"]["mode"], "pre");
    let wrong = ran(meshdoctor(&["ticket", "--bundle", of, "--dry-run", "--only", "injectoin"]));
    assert_eq!(wrong.status, 2, "{}", wrong.err);
    let nowhere = ran(meshdoctor(&["ticket", "--bundle", of, "--dry-run", "-n", "shopp"]));
    assert_eq!(nowhere.status, 2, "{}", nowhere.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn ticket_of_a_cluster_that_refuses_everything_is_not_fine() {
    let server = Server::start(|_| Reply::status(403, "Forbidden", "not allowed")).await;
    let folder = tempfile::tempdir().unwrap();
    let config = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server.url()}}],
        "users": [{"name": "c", "user": {"token": "opaque"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    });
    let kubeconfig = write(folder.path(), "kubeconfig", config.to_string());
    let words = ["ticket", "-o", "ticket.tar.gz", "--kubeconfig", &kubeconfig, "--linkerd-cli", "none"];
    let mut command = meshdoctor(&words);
    command.current_dir(folder.path());
    let refused = tokio::task::spawn_blocking(move || ran(&mut command)).await.unwrap();
    assert_eq!(refused.status, 3, "{}", refused.text());
    assert!(refused.err.contains("denied every list"), "{}", refused.err);
    assert!(!folder.path().join("ticket.tar.gz").exists());
}
