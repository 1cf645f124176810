//! Logs from `--logs`: read by the real binary into the report and into bundles, bounded and without tokens;
//! and files that are not logs.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use crate::binary::{Ran, meshdoctor, ran, ran_to, write};

const PODS: &str = r#"{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"api-1","uid":"p-api"},
 "spec":{"nodeName":"n1","containers":[{"name":"linkerd-proxy"}]},"status":{"phase":"Pending"}}]}"#;
const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJlc2lnbmF0dXJl";

/// A journal in which containerd reports a refused pod.
fn journal() -> String {
    let line = r#"Jan 15 11:58:00 n1 containerd[812]: time="2026-01-15T11:58:00.5Z" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:api-1,Uid:p-api,Namespace:shop,Attempt:3,} failed, error" error="failed to setup network for sandbox \"4c1f\": plugin type=\"linkerd-cni\" name=\"aws-cni\" failed (add): exit status 4""#;
    format!(
        "Jan 15 11:50:00 n1 kernel: a line of no interest\nJan 15 11:57:59 n1 containerd[812]: Another app is currently holding the xtables lock. cni {TOKEN}\n{line}\n"
    )
}

#[test]
fn a_journal_says_why_pods_wait_also_from_the_bundle_that_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let log = format!("n1={}", write(folder.path(), "journal.txt", journal()));
    let bundle = format!("{}/", folder.path().join("kept").display());
    let common = ["--only", "cni-add-failed", "--at", "2026-01-15T12:00:00Z", "--complete", "all", "-o", "short"];
    let args = [&["check", "--bundle", &pods, "--logs", &log, "--save", &bundle][..], &common].concat();
    let first = ran(meshdoctor(&args));
    assert_eq!(first.status, 1, "{}{}", first.out, first.err);
    assert!(first.out.contains("another program held the iptables lock"), "{}", first.out);
    assert!(!first.out.contains(TOKEN));

    let again = ran(meshdoctor(&["check", "--bundle", &bundle, "--only", "cni-add-failed", "-o", "short"]));
    assert_eq!(again.out, first.out, "{}", again.err);
    let mut kept = String::new();
    for entry in walkdir::WalkDir::new(&bundle) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            kept.push_str(&fs::read_to_string(entry.path()).unwrap());
        }
    }
    assert!(kept.contains("xtables lock"), "the log is in the bundle");
    assert!(!kept.contains(TOKEN) && !kept.contains("no interest"), "without tokens, and only what matters");
}

#[test]
fn stdin_is_read_where_nothing_else_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let pods = write(folder.path(), "pods.json", PODS);
    let args = [
        "check",
        "--bundle",
        &pods,
        "--logs",
        "n1=-",
        "--only",
        "cni-add-failed",
        "-o",
        "short",
        "--at",
        "2026-01-15T12:00:00Z",
        "--complete",
        "all",
    ];
    let mut child = meshdoctor(&args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(journal().as_bytes()).unwrap();
    let output = Ran::from(child.wait_with_output().unwrap());
    assert!(output.out.contains("iptables lock"), "{}", output.out);
    let both = ran(meshdoctor(&["check", "--bundle", "-", "--logs", "n1=-"]));
    assert_eq!(both.status, 2);
    assert!(both.err.contains("both read standard input"), "{}", both.err);
}

#[test]
fn what_cannot_be_a_log_is_an_error_that_names_it_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone.txt").display().to_string();
    let empty = write(folder.path(), "empty.txt", "");
    let packed = write(folder.path(), "x.gz", b"\x1F\x8B\x08\0\0");
    for (given, status, part) in [
        (format!("n1={gone}"), 2, "gone.txt: No such file"),
        (format!("n1={empty}"), 3, "empty.txt: it is empty"),
        (format!("n1={packed}"), 3, "unpack it first"),
        (format!("a/b/c/d={empty}"), 2, "NAMESPACE/POD/CONTAINER"),
        (format!("N1={empty}"), 2, "is neither a node nor a pod"),
        (empty.clone(), 2, "expected NODE=FILE"),
        ("n1=".to_owned(), 2, "the file after '=' is missing"),
    ] {
        let output = ran(meshdoctor(&["check", "--logs", &given]));
        assert_eq!(output.status, status, "{given}: {}", output.err);
        assert!(output.err.contains(part), "{given}: {}", output.err);
        assert!(output.err.contains("--logs"), "{given}: {}", output.err);
    }
}

/// None of 265 checks could run, so the run is not a success.
#[test]
fn a_log_without_a_cluster_is_not_a_run_without_errors() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "log.txt", "2026-01-15T11:00:00Z n1 kubelet[1]: nothing\n");
    for more in [&[][..], &["--on-not-checked", "pass"]] {
        let given = format!("n1={log}");
        let said = ran_to(4, meshdoctor(&[&["check", "--logs", &given][..], more].concat())).out;
        assert!(said.contains("NOTHING CHECKED  no check has the evidence that it needs"), "{said}");
    }
}

#[test]
fn a_long_log_is_cut_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let mut long = "2026-01-15T11:00:00Z n1 cni: nothing\n".repeat(500_000);
    long.push_str(&journal());
    let pods = write(folder.path(), "pods.json", PODS);
    let log = format!("n1={}", write(folder.path(), "journal.txt", long));
    let args = [
        "check",
        "--bundle",
        &pods,
        "--logs",
        &log,
        "--only",
        "cni-add-failed",
        "-o",
        "short",
        "--at",
        "2026-01-15T12:00:00Z",
        "--complete",
        "all",
    ];
    let output = ran(meshdoctor(&args));
    assert!(output.out.contains("iptables lock"), "{}{}", output.out, output.err);
}
