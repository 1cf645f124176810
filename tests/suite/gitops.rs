//! Values that objects of Flux, Argo CD and kustomize give to Linkerd's charts, through the real binary.

use std::path::Path;

use serde_json::Value;

use crate::cli::meshdoctor;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: linkerd-control-plane, namespace: linkerd}
spec:
  chart: {spec: {chart: linkerd-control-plane, version: VERSION}}
  values:
    proxy:
      nativeSidecars: true
      tracing: {enabled: true, collector: {meshIdentity: {serviceAccountName: a, namespace: b}}}
    controllerReplicas: \"${REPLICAS}\"
    disableIPv6: \"no\"
";

/// The status, each finding with where it stands, and what was set aside.
fn checked(folder: &Path, more: &[&str]) -> (i32, Vec<String>, Vec<String>) {
    let arguments = [&["check", "--manifests", folder.to_str().unwrap(), "-o", "json"], more].concat();
    let output = meshdoctor(&arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let findings = report["findings"].as_array().unwrap().iter().flat_map(|finding| {
        let check = finding["check"].as_str().unwrap();
        finding["written"].as_array().unwrap().iter().map(move |written| {
            let file = written["file"].as_str().unwrap().rsplit('/').next().unwrap();
            format!("{check} {file}:{}:{}", written["line"], written["column"])
        })
    });
    let mut found: Vec<String> = findings.collect();
    found.sort();
    let aside = report["coverage"]["setAside"].as_array().into_iter().flatten();
    let aside = aside.map(|text| text.as_str().unwrap().to_owned()).collect();
    (output.status.code().unwrap(), found, aside)
}

#[test]
fn values_of_a_release_of_flux_are_told_by_their_lines() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "release.yaml", &RELEASE.replace("VERSION", "2025.10.7"));
    let (status, found, aside) = checked(own.path(), &[]);
    let expected = [
        "chart-value-refused release.yaml:9:17",
        "chart-value-type release.yaml:11:5",
        "chart-value-unknown release.yaml:8:7",
    ];
    assert_eq!((status, found), (1, expected.map(str::to_owned).to_vec()));
    assert_eq!(aside, Vec::<String>::new());
    // What is put right is well.
    let right = RELEASE
        .replace("VERSION", "2025.10.7")
        .replace("nativeSidecars", "nativeSidecar")
        .replace("collector: {", "collector: {endpoint: x, ")
        .replace("\"no\"", "false");
    write(own.path(), "release.yaml", &right);
    assert_eq!(checked(own.path(), &[]), (0, Vec::new(), Vec::new()));
    // What is to be unset may be set where nobody can look, which is said.
    let elsewhere = RELEASE
        .replace("VERSION", "2025.10.7")
        .replace("  values:", "  valuesFrom: [{kind: Secret, name: more}]\n  values:");
    write(own.path(), "release.yaml", &elsewhere);
    let (_, found, aside) = checked(own.path(), &[]);
    assert_eq!(found, ["chart-value-type release.yaml:12:5", "chart-value-unknown release.yaml:9:7"]);
    assert!(aside.len() == 1 && aside[0].contains("Secret more"), "{aside:?}");
}

#[test]
fn a_version_that_is_no_one_release_is_said_and_can_be_named() {
    let own = tempfile::tempdir().unwrap();
    for version in ["'>=2024.1.1'", "'*'", "2025.x", "\"${LINKERD}\""] {
        write(own.path(), "release.yaml", &RELEASE.replace("VERSION", version));
        let (status, found, aside) = checked(own.path(), &[]);
        assert_eq!((status, found), (0, Vec::new()), "{version}");
        assert!(
            aside.len() == 1 && aside[0].contains("says ") && aside[0].contains("release.yaml:4"),
            "{version}: {aside:?}"
        );
        let (status, found, aside) = checked(own.path(), &["--linkerd-version", "2.19"]);
        assert_eq!((status, found.len(), aside.len()), (1, 3, 0), "{version}: {found:?} {aside:?}");
    }
    // While charts counted by themselves, they say a release as well.
    write(own.path(), "release.yaml", &RELEASE.replace("VERSION", "1.x"));
    assert_eq!(checked(own.path(), &[]).2, Vec::<String>::new());
}

#[test]
fn two_environments_of_one_chart_are_two() {
    let own = tempfile::tempdir().unwrap();
    let release = RELEASE.replace("VERSION", "2025.10.7");
    write(
        own.path(),
        "staging/staging.yaml",
        &release.replace("linkerd-control-plane, namespace", "staging, namespace"),
    );
    write(
        own.path(),
        "production/production.yaml",
        &release.replace("linkerd-control-plane, namespace", "production, namespace"),
    );
    let found = checked(own.path(), &["--only", "chart-value-unknown"]).1;
    assert_eq!(found, ["chart-value-unknown production.yaml:8:7", "chart-value-unknown staging.yaml:8:7"]);
}

#[test]
fn values_in_applications_of_argo_cd_are_laid_over_a_cluster_with_their_release() {
    let own = tempfile::tempdir().unwrap();
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: viz, namespace: argocd}\nspec:\n  source:\n    \
                       chart: linkerd-viz\n    targetRevision: 2025.10.7\n    helm:\n      values: |\n        dashboard:\n          replica: 2\n";
    write(own.path(), "viz.yaml", application);
    let expected = (1, vec!["chart-value-unknown viz.yaml:11:11".to_owned()], Vec::new());
    assert_eq!(checked(own.path(), &["--fail-on", "warning"]), expected);
    let bundle = own.path().join("cluster.yaml");
    std::fs::write(&bundle, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n").unwrap();
    let path = own.path().join("viz.yaml");
    let arguments = [
        "check",
        "--with",
        path.to_str().unwrap(),
        "--bundle",
        bundle.to_str().unwrap(),
        "-o",
        "json",
        "--only",
        "chart-values",
    ];
    let output = meshdoctor(&arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["check"], &finding["when"]),
        (&Value::from("chart-value-unknown"), &Value::from("after-change")),
        "{report:#}"
    );
}
