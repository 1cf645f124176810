//! Values that objects of Flux, Argo CD and kustomize give to Linkerd's charts, through the real binary.

use std::path::Path;

use serde_json::Value;

use crate::binary::{meshdoctor, ran, write};

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

/// The status, each finding with its location, and the skipped parts.
fn checked(folder: &Path, more: &[&str]) -> (i32, Vec<String>, Vec<String>) {
    let arguments = [&["check", "--manifests", folder.to_str().unwrap(), "-o", "json"], more].concat();
    let output = ran(meshdoctor(&arguments));
    let report: Value = output.document();
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
    (output.status, found, aside)
}

#[test]
fn values_of_a_release_of_flux_are_told_by_their_lines() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "release.yaml", RELEASE.replace("VERSION", "2025.10.7"));
    let (status, found, aside) = checked(own.path(), &[]);
    let expected = [
        "chart-value-refused release.yaml:9:17",
        "chart-value-type release.yaml:11:5",
        "chart-value-unknown release.yaml:8:7",
    ];
    assert_eq!((status, found), (1, expected.map(str::to_owned).to_vec()));
    assert_eq!(aside, Vec::<String>::new());
    // Corrected values have no finding.
    let right = RELEASE
        .replace("VERSION", "2025.10.7")
        .replace("nativeSidecars", "nativeSidecar")
        .replace("collector: {", "collector: {endpoint: x, ")
        .replace("\"no\"", "false");
    write(own.path(), "release.yaml", &right);
    assert_eq!(checked(own.path(), &[]), (0, Vec::new(), Vec::new()));
    // A value may come from a Secret that cannot be read, which is reported.
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
        write(own.path(), "release.yaml", RELEASE.replace("VERSION", version));
        let (status, found, aside) = checked(own.path(), &[]);
        assert_eq!((status, found), (4, Vec::new()), "{version}: nothing was judged");
        assert!(
            aside.len() == 1 && aside[0].contains("says ") && aside[0].contains("release.yaml:4"),
            "{version}: {aside:?}"
        );
        let (status, found, aside) = checked(own.path(), &["--linkerd-version", "2.19"]);
        assert_eq!((status, found.len(), aside.len()), (1, 3, 0), "{version}: {found:?} {aside:?}");
    }
    // Versions of the charts' own numbering also map to a release.
    write(own.path(), "release.yaml", RELEASE.replace("VERSION", "1.x"));
    assert_eq!(checked(own.path(), &[]).2, Vec::<String>::new());
}

#[test]
fn two_environments_of_one_chart_are_two() {
    let own = tempfile::tempdir().unwrap();
    let release = RELEASE.replace("VERSION", "2025.10.7");
    write(
        own.path(),
        "staging/staging.yaml",
        release.replace("linkerd-control-plane, namespace", "staging, namespace"),
    );
    write(
        own.path(),
        "production/production.yaml",
        release.replace("linkerd-control-plane, namespace", "production, namespace"),
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
    let report = ran(meshdoctor(&arguments)).document();
    let finding = &report["findings"][0];
    assert_eq!(
        (&finding["check"], &finding["when"]),
        (&Value::from("chart-value-unknown"), &Value::from("after-change")),
        "{report:#}"
    );
}

/// The control plane's release in a Flux object, with its values.
fn control_plane(spec: &str, values: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: control-plane, namespace: linkerd}}\nspec:\n  \
         chart: {{spec: {{chart: linkerd-control-plane, version: 2025.4.4}}}}\n{spec}  values:\n{values}"
    )
}

/// Applies a change on top of a cluster whose linkerd-config has these networks. Returns the checks whose
/// findings begin, those whose findings end, the skipped parts, and the report.
fn changed(networks: &str, change: &str) -> (Vec<String>, Vec<String>, String, Value) {
    const WIDE: &str = "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8";
    let own = tempfile::tempdir().unwrap();
    let base = std::fs::read_to_string("checks/bases/healthy.yaml").unwrap();
    assert!(base.contains(WIDE));
    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: report-7c9d4, namespace: shop}\nstatus: {phase: Running, podIP: 10.244.1.7}\n";
    write(own.path(), "cluster.yaml", format!("{}\n---\n{POD}", base.replace(WIDE, networks)));
    write(own.path(), "change.yaml", change);
    let words = ["check", "--with", "change.yaml", "--bundle", "cluster.yaml", "--complete", "all"];
    let more = ["--at", "2026-01-15T12:00:00Z", "-o", "json"];
    let report = ran(meshdoctor(&[&words[..], &more].concat()).current_dir(own.path())).document();
    let of = |when: &str| -> Vec<String> {
        let findings = report["findings"].as_array().unwrap().iter();
        let found = findings.filter(|finding| finding["when"] == when);
        found.map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
    };
    let aside = report["coverage"]["setAside"].as_array().into_iter().flatten();
    let aside = aside.map(|text| text.as_str().unwrap()).collect::<Vec<_>>().join("\n");
    (of("after-change"), of("until-change"), aside, report)
}

const NETWORKS: &str = "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16,fd00::/8";
const NARROW: &str = "192.0.2.0/24";

#[test]
fn settings_of_the_control_plane_are_those_that_the_change_gives() {
    let incomplete = "cluster-networks-incomplete".to_owned();
    // One change introduces a finding, reported with its line; another one cures it.
    let narrow = control_plane("", &format!("    clusterNetworks: {NARROW}\n"));
    let (begun, ended, aside, report) = changed(NETWORKS, &narrow);
    assert!(begun.contains(&incomplete) && ended.is_empty(), "{begun:?} {ended:?} {aside}");
    assert_eq!(aside, "");
    let findings = report["findings"].as_array().unwrap();
    let networks = findings.iter().find(|finding| finding["check"] == incomplete.as_str()).unwrap();
    assert_eq!(networks["written"][0]["file"], "change.yaml", "{networks:#}");
    assert_eq!(networks["written"][0]["line"], 7, "{networks:#}");
    let wide = control_plane("", &format!("    clusterNetworks: {NETWORKS}\n"));
    let (begun, ended, ..) = changed(NARROW, &wide);
    assert!(begun.is_empty() && ended.contains(&incomplete), "{begun:?} {ended:?}");
    // Settings that the object does not mention stay.
    let other = control_plane("", "    controllerLogLevel: debug\n");
    assert_eq!(changed(NETWORKS, &other).0, Vec::<String>::new());
    // An Application of Argo CD, by its destination.
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: linkerd, namespace: argocd}}\nspec:\n  \
         destination: {{namespace: linkerd}}\n  source:\n    chart: linkerd-control-plane\n    targetRevision: 2025.4.4\n    \
         helm:\n      valuesObject: {{clusterNetworks: {NARROW}}}\n"
    );
    assert!(changed(NETWORKS, &application).0.contains(&incomplete));
}

#[test]
fn settings_that_nobody_can_know_are_left_as_they_are_and_said() {
    let narrow = format!("    clusterNetworks: {NARROW}\n");
    let whole = control_plane("", &narrow);
    for (change, said) in [
        (
            control_plane("  valuesFrom: [{kind: Secret, name: more}]\n", &narrow),
            "takes values from missing sources: Secret more",
        ),
        (control_plane("  suspend: true\n", &narrow), "is suspended"),
        (control_plane("  targetNamespace: other\n", &narrow), "is for the namespace other instead of linkerd"),
        (whole.replace(", namespace: linkerd", ""), "has no namespace"),
        (
            whole.replace("2025.4.4", "2039.4.4"),
            "installs edge-39.4.4, but only charts of edge-22.8.3 to edge-26.8.3 are known",
        ),
        (format!("{whole}---\n{}", whole.replace("name: control-plane", "name: second")), "is one of several"),
    ] {
        let (begun, _, aside, _) = changed(NETWORKS, &change);
        assert!(aside.contains(said), "{said}: {aside}");
        assert!(!begun.contains(&"cluster-networks-incomplete".to_owned()), "{said}: {begun:?}");
    }
    // Another release is applied too; its own effects are reported as a separate question.
    let (begun, _, aside, _) = changed(NETWORKS, &whole.replace("2025.4.4", "2025.10.7"));
    assert!(begun.contains(&"cluster-networks-incomplete".to_owned()), "{begun:?}");
    assert!(aside.contains("installs edge-25.10.7 over edge-25.4.4"), "{aside}");
}

const SET: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: mesh, namespace: argocd}
spec:
  goTemplate: true
  generators:
    - GENERATOR
  template:
    spec:
      source:
        repoURL: https://helm.linkerd.io/edge
        chart: '{{.chart}}'
        targetRevision: '{{ .version }}'
        helm: {valuesObject: {nonsense: true}}
";

#[test]
fn chart_of_an_application_set_is_resolved_or_named() {
    let own = tempfile::tempdir().unwrap();
    let list = "list: {elements: [{chart: linkerd-viz, version: 2025.10.7}]}";
    write(own.path(), "set.yaml", SET.replace("GENERATOR", list));
    let (_, found, aside) = checked(own.path(), &[]);
    assert_eq!((found, aside), (vec!["chart-value-unknown set.yaml:14:31".to_owned()], vec![]));
    write(own.path(), "set.yaml", SET.replace("GENERATOR", "git: {repoURL: https://example.com/x.git}"));
    let (status, found, aside) = checked(own.path(), &[]);
    assert_eq!((status, found), (4, vec![]), "{aside:?}");
    assert!(aside.iter().any(|said| said.contains("{{.chart}} in ApplicationSet argocd/mesh")), "{aside:?}");
}

#[test]
fn charts_of_k3s_are_checked_and_unknown_charts_are_named() {
    let own = tempfile::tempdir().unwrap();
    let chart = "\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: linkerd-control-plane, namespace: kube-system}
spec:
  chart: linkerd-control-plane
  version: 2025.10.7
  valuesContent: |-
    proxyInit:
      runAsRoott: true
";
    write(own.path(), "chart.yaml", chart);
    let (_, found, aside) = checked(own.path(), &[]);
    assert_eq!((found, aside), (vec!["chart-value-unknown chart.yaml:9:7".to_owned()], vec![]));
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: linkerd, namespace: linkerd}
spec: {chartRef: {kind: OCIRepository, name: mesh}, values: {proxyInit: {runAsRoott: true}}}
";
    write(own.path(), "chart.yaml", release);
    let (status, found, aside) = checked(own.path(), &[]);
    assert_eq!((status, found), (4, vec![]), "{aside:?}");
    assert!(aside.iter().any(|said| said.contains("which names OCIRepository mesh")), "{aside:?}");
}
