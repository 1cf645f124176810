//! Upgrades rehearsed on recorded clusters: the findings that each introduces to a healthy install, the
//! resolved target, and refused targets. The recordings are outside the repository; without them the tests
//! are skipped with a message.

use std::collections::BTreeSet;
use std::io::Write as _;

use meshdoctor::card::Mode;
use meshdoctor::checks::{Settings, Upgrade};
use meshdoctor::finding::{Severity, When};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::report::Report;

use crate::binary::{meshdoctor, ran};
use crate::recordings::{folder, memory, report_on};

/// A recording, the target, and the findings that begin with the upgrade: severity, check, and a
/// distinguishing word.
const BRINGS: &[(&str, &str, &[&str])] = &[
    ("healthy-2.15", "2.16", &["warning crd-missing before"]),
    (
        "healthy-2.15",
        "2.17",
        &["error upgrade-path skips", "warning crd-missing before", "warning data-plane-skew behind 2"],
    ),
    (
        "healthy-2.15",
        "2.18",
        &["error upgrade-path skips", "warning crd-missing before", "warning data-plane-skew behind 3"],
    ),
    (
        "healthy-2.15",
        "2.19",
        &[
            "error upgrade-path skips",
            "warning crd-missing before",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 4",
        ],
    ),
    (
        "healthy-2.15",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning crd-missing before",
            "warning gateway-api-unsupported",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 5",
        ],
    ),
    ("healthy-2.17", "2.18", &[]),
    (
        "healthy-2.17",
        "2.19",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.17",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning gateway-api-unsupported",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "warning upgrade-needs-storage-migration",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 3",
        ],
    ),
    (
        "healthy-2.18",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    ("healthy-2.18-cni", "2.19", &["info upgrade-refuses-undeclared-port"]),
    (
        "healthy-2.18-cni",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-ha",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-ha",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-multicluster",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-multicluster",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-native-sidecar",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-native-sidecar",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    (
        "healthy-2.18-viz",
        "2.19",
        &["warning upgrade-changes-default proxyInit.iptablesMode", "info upgrade-refuses-undeclared-port"],
    ),
    (
        "healthy-2.18-viz",
        "2.20",
        &[
            "error upgrade-path skips",
            "warning upgrade-changes-default proxy.nativeSidecar",
            "warning upgrade-changes-default proxyInit.iptablesMode",
            "info upgrade-refuses-undeclared-port",
            "warning data-plane-skew behind 2",
        ],
    ),
    ("healthy-2.19", "2.20", &["warning upgrade-changes-default proxy.nativeSidecar"]),
    ("healthy-2.20", "edge-26.8.3", &[]),
];

pub fn rehearsed(recording: &str, to: &str) -> Option<Report> {
    let folder = folder()?;
    let upgrade = Upgrade::new(to, None, None, Knowledge::embedded().releases()).unwrap();
    let settings = Settings { mode: Mode::Upgrade, upgrade: Some(upgrade), ..Settings::default() };
    Some(report_on(&memory(&folder.join(recording)), &settings))
}

fn begins(report: &Report) -> Vec<String> {
    let later = report.findings.iter().filter(|finding| finding.when == When::AfterUpgrade);
    later
        .map(|finding| {
            let of: Vec<&str> =
                finding.parameters.iter().map(String::as_str).filter(|it| *it != "after the upgrade").collect();
            format!("{} {} {}", finding.severity, finding.check, of.join(" ")).trim_end().to_owned()
        })
        .collect()
}

#[test]
fn an_upgrade_of_an_install_that_is_well_brings_what_is_known_of_it() {
    let mut wrong = Vec::new();
    for (recording, to, expected) in BRINGS {
        let Some(report) = rehearsed(recording, to) else { return };
        let found = begins(&report);
        if found != *expected {
            wrong.push(format!("(\"{recording}\", \"{to}\", &{found:?}),"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Findings of the current state are the same with and without the upgrade.
#[test]
fn a_rehearsal_takes_nothing_away_of_what_is_wrong_today() {
    let Some(folder) = folder() else { return };
    for recording in ["issuer-expired", "healthy-2.18-viz", "pods-not-injected", "control-plane-mixed"] {
        let today = report_on(&memory(&folder.join(recording)), &Settings::default());
        let Some(report) = rehearsed(recording, "2.20") else { return };
        let said = |report: &Report| -> BTreeSet<(String, String, Severity)> {
            let now = report.findings.iter().filter(|finding| finding.when != When::AfterUpgrade);
            now.map(|finding| (finding.fingerprint().0, finding.message.clone(), finding.severity)).collect()
        };
        assert_eq!(said(&today), said(&report), "{recording}");
        assert_eq!(today.rows, report.rows, "{recording}: linkerd check is about the current state");
    }
}

#[test]
fn a_target_that_is_none_is_refused_with_what_would_be_one() {
    for (words, said) in [
        (&["--to", "2.99"][..], "the changes of 2.99 are not known"),
        (&["--to", "stable-2.99.1"], "stable-2.99.1 does not exist"),
        (&["--to", "latest"], "\"latest\" is not a release of Linkerd"),
        (&["--to", "2.2"], "the changes of 2.2 are not known"),
        (&["--to-kubernetes", "1.35"], "--to"),
        (&["--to", "2.20", "--to-kubernetes", "new"], "not a Kubernetes version"),
        (&["--to", "2.20", "--pre"], "cannot be used with"),
        (&["-o", "plan"], "-o plan needs an upgrade"),
    ] {
        let mut empty = tempfile::NamedTempFile::with_suffix(".json").unwrap();
        empty.write_all(br#"{"apiVersion": "v1", "kind": "List", "items": []}"#).unwrap();
        let words = [&["check", "--bundle", empty.path().to_str().unwrap()], words].concat();
        let output = ran(meshdoctor(&words));
        let error = output.err;
        assert_eq!(output.status, 2, "{words:?}: {error}");
        assert!(error.contains(said), "{words:?}: {error}");
    }
}

/// Manifests are evaluated with their release and with the target; missing objects are not invented.
#[test]
fn manifests_alone_say_what_an_upgrade_breaks_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.yaml");
    let meshed = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled, \
        config.linkerd.io/init-image: registry.example.com/proxy-init}}\n";
    std::fs::write(&path, meshed).unwrap();
    let path = path.to_str().unwrap();
    let run = |words: &[&str]| -> (i32, serde_json::Value) {
        let words = [&["check", "--manifests", path, "-o", "json", "--kubernetes-version", "1.34"], words].concat();
        let output = ran(meshdoctor(&words));
        (output.status, output.document())
    };
    let brings = |document: &serde_json::Value| -> Vec<String> {
        let findings = document["findings"].as_array().unwrap();
        let later = findings.iter().filter(|finding| finding["when"] == "after-upgrade");
        later.map(|finding| finding["check"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for from in [&["--linkerd-version", "2.19"][..], &["--from", "edge-25.10.7"], &["--from", "2.19"]] {
        let (status, document) = run(&[&["--to", "2.20"], from].concat());
        assert_eq!((status, brings(&document)), (0, vec!["annotation-not-in-release".to_owned()]), "{document:#}");
        let (_, document) = run(&[&["--to", "edge-25.11.2"], from].concat());
        assert_eq!(brings(&document), ["upgrade-target-not-recommended"], "{document:#}");
    }
    // The Kubernetes by then is a part of the answer.
    for (form, said) in [
        ("table", "UPGRADE to 2.20 (edge-26.6.3), on Kubernetes 1.35 by then:"),
        ("plan", "on Kubernetes 1.35; the steps below do not upgrade Kubernetes."),
    ] {
        let words = ["check", "--manifests", path, "--from", "2.19", "--to", "2.20", "--to-kubernetes", "1.35"];
        let output = meshdoctor(&[&words[..], &["-o", form]].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(said), "{text}");
    }
    // An unknown current release is an error, not a harmless upgrade.
    let output = ran(meshdoctor(&["check", "--manifests", path, "--to", "2.20"]));
    assert_eq!(output.status, 2);
    let error = output.err;
    assert!(error.contains("the current Linkerd release is unknown") && error.contains("--linkerd-version"), "{error}");
}
