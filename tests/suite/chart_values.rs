//! Chart values before they are used: alone, on top of a cluster, and before an upgrade. Findings name file
//! and line, and reports contain no secret.

use std::path::PathBuf;

use serde_json::Value;

use crate::binary::{meshdoctor, ran, ran_to, write};
use crate::recordings::folder;

const VALUES: &str = "proxy:\n  nativeSidecars: true\n  logHTTPHeaders: off\nidentity:\n  issuer:\n    tls:\n      \
                      keyPen: |\n        -----BEGIN EC PRIVATE KEY-----\n        MHcCAQEEIA\n";

fn output(args: &[&str], exit: i32) -> String {
    ran_to(exit, meshdoctor(args)).text()
}

fn findings(report: &str) -> Vec<Value> {
    let report: Value = serde_json::from_str(report).unwrap();
    report["findings"].as_array().unwrap().clone()
}

#[test]
fn values_by_themselves_are_told_by_file_and_line_and_without_secrets() {
    let own = tempfile::tempdir().unwrap();
    let path = write(own.path(), "values.yaml", VALUES);
    let args = ["check", "--values", &path, "--chart", "linkerd-control-plane@2.19"];
    let table = output(&args, 1);
    assert!(!table.contains("BEGIN") && !table.contains("MHcC"), "{table}");
    let json = output(&[&args[..], &["-o", "json"]].concat(), 1);
    assert!(!json.contains("BEGIN") && !json.contains("MHcC"), "{json}");
    let places: Vec<(String, u64, u64)> = findings(&json)
        .iter()
        .filter_map(|finding| {
            let written = &finding["written"][0];
            Some((finding["check"].as_str()?.to_owned(), written["line"].as_u64()?, written["column"].as_u64()?))
        })
        .collect();
    let expected = [("chart-value-refused", 3, 3), ("chart-value-unknown", 7, 7), ("chart-value-unknown", 2, 3)];
    assert_eq!(places, expected.map(|(check, line, column)| (check.to_owned(), line, column)), "{json}");
    // A later file that corrects the value leaves no finding.
    let right = write(
        own.path(),
        "right.yaml",
        "proxy: {nativeSidecars: null, nativeSidecar: true, logHTTPHeaders: 'off'}\nidentity: {issuer: {tls: null}}\n",
    );
    let only = ["--only", "chart-value-refused", "--fail-on", "info"];
    output(&[&args[..], &["--values", &right], &only].concat(), 0);
}

#[test]
fn what_is_no_chart_no_release_and_no_file_is_said_before_anything_is_read() {
    let own = tempfile::tempdir().unwrap();
    let path = write(own.path(), "values.yaml", VALUES);
    let list = write(own.path(), "list.yaml", "- a\n");
    let nowhere = own.path().join("nowhere.yaml").display().to_string();
    for (args, expected) in [
        (["--values", &path, "--chart", "linkerd-vis@2.19"], "Did you mean linkerd-viz?"),
        (["--values", &path, "--chart", "viz"], "the release of the chart is unknown"),
        (["--values", &path, "--chart", "viz@9.1"], "--chart:"),
        (["--values", &nowhere, "--chart", "viz@2.19"], "nowhere.yaml"),
        (["--values", &list, "--chart", "viz@2.19"], "list.yaml is not a map of values"),
    ] {
        let text = output(&[&["check"][..], &args].concat(), 2);
        assert!(text.contains(expected), "{args:?}: {text}");
    }
    for wrong in [&["--manifests", "x"][..], &["--with", "x"], &["--pre"]] {
        output(&[&["check", "--values", &path, "--chart", "viz@2.19"], wrong].concat(), 2);
    }
    output(&["check", "--values", &path], 2);
}

fn recording() -> Option<PathBuf> {
    folder().map(|folder| folder.join("healthy-2.18"))
}

#[test]
fn over_a_cluster_the_values_are_those_that_it_would_keep() {
    let Some(bundle) = recording() else { return };
    let bundle = bundle.display().to_string();
    let own = tempfile::tempdir().unwrap();
    let narrow = write(own.path(), "values.yaml", "# ours\nclusterNetworks: 192.0.2.0/24\n");
    let args = ["check", "--values", &narrow, "--chart", "linkerd-control-plane", "--bundle", &bundle];
    let json = ran(meshdoctor(&[&args[..], &["-o", "json", "--on-not-checked", "pass"]].concat())).out;
    let begun: Vec<Value> = findings(&json).into_iter().filter(|finding| finding["when"] == "after-change").collect();
    let checks: Vec<&str> = begun.iter().map(|finding| finding["check"].as_str().unwrap()).collect();
    assert!(checks.contains(&"cluster-networks-incomplete"), "{checks:?}");
    let networks = begun.iter().find(|finding| finding["check"] == "cluster-networks-incomplete").unwrap();
    assert_eq!(networks["written"][0]["line"], 2, "{networks}");
    // The current values introduce nothing.
    let same = write(own.path(), "same.yaml", "controllerReplicas: 1\n");
    let args = ["check", "--values", &same, "--chart", "linkerd-control-plane", "--bundle", &bundle];
    let json = ran(meshdoctor(&[&args[..], &["-o", "json"]].concat())).out;
    assert!(findings(&json).iter().all(|finding| finding["when"].is_null()), "{json}");
}

#[test]
fn before_an_upgrade_a_default_that_the_values_say_is_kept() {
    let Some(bundle) = recording() else { return };
    let bundle = bundle.display().to_string();
    let own = tempfile::tempdir().unwrap();
    let legacy = write(own.path(), "values.yaml", "proxyInit: {iptablesMode: legacy}\n");
    let changed = |values: &[&str]| {
        let args = ["check", "--bundle", &bundle, "--to", "2.20", "--only", "upgrade-changes-default"];
        let args = [&args[..], &["-o", "short", "--on-not-checked", "pass"], values].concat();
        let output = ran(meshdoctor(&args));
        output.out
    };
    let without = changed(&[]);
    assert!(without.contains("iptablesMode") && without.contains("nativeSidecar"), "{without}");
    let with = changed(&["--values", &legacy, "--chart", "linkerd-control-plane"]);
    assert!(!with.contains("iptablesMode") && with.contains("nativeSidecar"), "{with}");
}
