//! `fix --manifests` on chart values: every place that sets values, with comments and layout kept, and the reasons why
//! a value is not edited.

use std::path::Path;

use serde_json::Value;

use crate::binary::{meshdoctor, ran, write};
use crate::fix_files::{fix, found, read};

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: mesh, namespace: linkerd}
spec:
  chart: {spec: {chart: linkerd-control-plane, version: 2025.10.7}}
";

/// Writes a file, repairs its folder, and compares the file with the text after these replacements. No finding is left.
#[track_caller]
fn repaired(text: &str, replacements: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "mesh.yaml", text);
    let written = fix(folder.path(), &["--write"]);
    let expected = replacements.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    assert_eq!(read(&file), expected, "{}", written.text());
    assert_eq!(found(folder.path()), Vec::<String>::new(), "{}", written.text());
    assert_eq!(written.status, 0, "{}", written.text());
}

/// The reason why the findings of a text are not edited; the file stays as it is.
#[track_caller]
fn reason(folder: &Path, text: &str) -> String {
    let file = write(folder, "mesh.yaml", text);
    let shown = fix(folder, &["--write"]);
    assert_eq!(read(&file), text, "{}", shown.text());
    let line = shown.out.lines().find_map(|line| line.split_once("not edited: "));
    line.unwrap_or_else(|| panic!("{}", shown.text())).1.to_owned()
}

#[test]
fn map_of_a_helm_release_keeps_comments_and_order() {
    let values = "  values:\n    # why\n    proxy:\n      # level\n      logLevl: warn  # no debug\n    disableIPv6: 'false' # v6\n    \
                  proxy.cores: 2\n    controlPlaneTracing: true\n    clusterDomain: cluster.local\n";
    repaired(
        &format!("# mesh\n{RELEASE}{values}"),
        &[
            ("logLevl", "logLevel"),
            ("'false'", "false"),
            ("    proxy.cores: 2\n    controlPlaneTracing: true\n", ""),
            ("# no debug\n", "# no debug\n      cores: 2\n"),
        ],
    );
}

#[test]
fn values_of_a_config_map_keep_their_block() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: linkerd}\ndata:\n  values.yaml: |\n    # base\n    \
               proxy:\n      logLevl: warn # level\n\n    # networks\n    clusterNetworks: [10.0.0.0/8, 'fd00::/8'] # both\n  other: x\n---\n";
    let release = format!("{map}{RELEASE}  valuesFrom: [{{kind: ConfigMap, name: base}}]\n");
    let list = ("[10.0.0.0/8, 'fd00::/8']", "\"10.0.0.0/8,fd00::/8\"");
    repaired(&release, &[("logLevl", "logLevel"), list]);
}

#[test]
fn a_value_with_two_findings_is_repaired() {
    let values = "  values:\n    enableEndpointSlicez: \"True\" # slices\n    proxy:\n      resources:\n        limits:\n          \
                  cpu: 500m # most\n        requests:\n          memory: 64Mi\n";
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "mesh.yaml", format!("{RELEASE}{values}"));
    let written = fix(folder.path(), &["--write"]);
    let text = read(&file);
    assert!(text.contains("    enableEndpointSlices: true # slices\n"), "{text}");
    assert!(text.contains("        cpu:\n          limit: 500m # most\n"), "{text}");
    assert!(text.contains("        memory:\n          request: 64Mi\n"), "{text}");
    assert_eq!((written.status, found(folder.path())), (0, Vec::new()), "{}", written.text());
}

#[test]
fn values_that_the_chart_rejects_are_corrected() {
    let values = "  values:\n    proxy:\n      logHTTPHeaders: off # headers\n      nativeSidecar: true\n      waitBeforeExitSeconds: 5\n";
    let edits = [("off #", "\"off\" #"), ("      waitBeforeExitSeconds: 5\n", "")];
    repaired(&format!("{RELEASE}{values}"), &edits);
}

#[test]
fn every_form_of_an_application_is_edited() {
    let text = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: mesh, namespace: argocd}
spec:
  sources:
  - chart: linkerd-control-plane
    targetRevision: 2025.10.7
    helm:
      valuesObject:
        # object
        proxy: {logLevl: warn}  # level
  - chart: linkerd-viz
    targetRevision: 2025.10.7
    helm:
      values: |
        # text
        dashboard:
          replica: 2
      parameters:
      # one
      - name: tap.logLevl # tap
        value: info
      - {name: prometheus.enabled, value: \"true\", forceString: true}
";
    let edits = [
        ("{logLevl", "{logLevel"),
        ("replica:", "replicas:"),
        ("tap.logLevl", "tap.logLevel"),
        (", forceString: true", ""),
    ];
    repaired(text, &edits);
}

#[test]
fn template_of_an_application_set_is_edited_once() {
    let text = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: mesh, namespace: argocd}
spec:
  generators:
  - list: {elements: [{domain: a.local}, {domain: b.local}]}
  template:
    spec:
      source:
        chart: linkerd-control-plane
        targetRevision: 2025.10.7
        helm:
          values: |
            clusterDomian: \"{{domain}}\" # of the cluster
";
    repaired(text, &[("clusterDomian", "clusterDomain")]);
    let folder = tempfile::tempdir().unwrap();
    let text = text.replace("domain: a.local", "v6: 'true'").replace("domain: b.local", "v6: 'false'");
    let text = text.replace("clusterDomian: \"{{domain}}\"", "disableIPv6: \"{{v6}}\"");
    assert!(reason(folder.path(), &text).ends_with("a template sets the value"));
}

#[test]
fn charts_of_k3s_are_edited_with_their_config() {
    let text = "\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: mesh, namespace: kube-system}
spec:
  chart: linkerd-control-plane
  version: 2025.10.7
  set:
    # one
    proxy.logLevl: warn
  valuesContent: |-
    proxy:
      nativeSidecars: true # native
---
apiVersion: helm.cattle.io/v1
kind: HelmChartConfig
metadata: {name: mesh, namespace: kube-system}
spec:
  valuesContent: \"disableIPv6: 'true'\"
";
    repaired(text, &[("logLevl", "logLevel"), ("nativeSidecars", "nativeSidecar"), ("'true'", "true")]);
}

#[test]
fn values_files_are_edited_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = "---\n# viz\ndashboard:\n  # two\n  replica: 2 # replicas\n";
    let values = write(folder.path(), "viz/values.yaml", text);
    let kustomization = "helmCharts:\n- name: linkerd-viz\n  version: 2025.10.7\n  valuesFile: values.yaml\n  valuesInline:\n    \
                         tap: {logLevl: info}\n";
    let file = write(folder.path(), "viz/kustomization.yaml", kustomization);
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    assert_eq!(read(&values), text.replace("replica:", "replicas:"));
    assert_eq!(read(&file), kustomization.replace("logLevl", "logLevel"));
}

#[test]
fn values_without_a_safe_edit_state_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let of = |values: &str| reason(folder.path(), &format!("{RELEASE}  values:\n{values}"));
    let decision = of("    proxyInit: {iptablesMode: plain}\n");
    assert!(
        decision.starts_with("the value is your decision: Set proxyInit.iptablesMode to nft or legacy"),
        "{decision}"
    );
    let both = of("    proxy: {logLevl: warn, logLevel: info}\n");
    assert!(both.ends_with("proxy.logLevel is set too; keep one"), "{both}");
    // The nested value does not exist in the chart either.
    let other = of("    nothing.known: 1\n");
    assert_eq!(
        other,
        "the edit would add chart-value-unknown (values of linkerd-control-plane, HelmRelease linkerd/mesh)"
    );
}

#[test]
fn values_that_another_release_needs_stay() {
    let folder = tempfile::tempdir().unwrap();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base, namespace: linkerd}\ndata:\n  values.yaml: |\n    \
               controlPlaneTracing: true\n---\n";
    let from = "  valuesFrom: [{kind: ConfigMap, name: base}]\n";
    let old = RELEASE.replace("2025.10.7", "2025.2.1").replace("name: mesh", "name: old");
    let why = reason(folder.path(), &format!("{map}{RELEASE}{from}---\n{old}{from}"));
    assert!(why.starts_with("HelmRelease linkerd/old takes the same value"), "{why}");
}

#[test]
fn installations_of_one_name_are_edited_in_each_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{RELEASE}  values:\n    proxy: {{logLevl: warn}}\n");
    let files = ["a", "b"].map(|cluster| write(folder.path(), &format!("{cluster}/mesh.yaml"), &text));
    let written = fix(folder.path(), &["--write"]);
    for file in files {
        assert_eq!(read(&file), text.replace("logLevl", "logLevel"), "{}", written.text());
    }
}

#[test]
fn json_and_sarif_contain_edits_of_values() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{RELEASE}  values:\n    proxy: {{logLevl: warn}}\n    disableIPv6: \"true\"\n");
    let file = write(folder.path(), "mesh.yaml", &text);
    let document: Value = serde_json::from_str(&fix(folder.path(), &["-o", "json"]).out).unwrap();
    let diff = document["files"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("\n+    proxy: {logLevel: warn}\n+    disableIPv6: true\n"), "{diff}");
    let lines: Vec<&str> =
        document["findings"].as_array().unwrap().iter().map(|one| one["edited"][0].as_str().unwrap()).collect();
    assert_eq!(lines, [format!("{file}:8"), format!("{file}:7")]);
    let sarif: Value = serde_json::from_str(&fix(folder.path(), &["-o", "sarif"]).out).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let inserted: Vec<&str> = results
        .iter()
        .filter_map(|result| {
            result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"].as_str()
        })
        .collect();
    assert_eq!(inserted, ["    disableIPv6: true", "    proxy: {logLevel: warn}"], "{sarif:#}");
    assert_eq!(read(&file), text);
}

#[test]
fn values_of_flags_are_edited_without_manifests() {
    let folder = tempfile::tempdir().unwrap();
    let (base, over) = ("proxy:\n  logLevl: warn # base\n", "# over\nproxy: {logLevl: info}\ndisableIPv6: \"true\"\n");
    let files = [("base.yaml", base), ("over.yaml", over)].map(|(name, text)| write(folder.path(), name, text));
    let chart = "linkerd-control-plane@2.19";
    let given = ["fix", "--no-config", "--values", &files[0], "--values", &files[1], "--chart", chart];
    let fix = |more: &[&str]| ran(meshdoctor(&[&given, more].concat()));
    let shown = fix(&[]);
    assert_eq!(shown.status, 1, "{}", shown.text());
    assert!(shown.out.contains("\n+proxy: {logLevel: info}\n+disableIPv6: true\n"), "{}", shown.text());
    let written = fix(&["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    assert!(written.err.contains("2 findings fixed, none left"), "{}", written.text());
    assert_eq!(read(&files[0]), base.replace("logLevl", "logLevel"));
    assert_eq!(read(&files[1]), over.replace("logLevl", "logLevel").replace("\"true\"", "true"));
}

#[test]
fn annotations_in_values_of_other_charts_are_edited() {
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
  chart: {spec: {chart: shop, version: 1.2.3}}
  values:
    podAnnotations:
      # mesh it
      linkerd.io/injected: \"enabled\"   # for security
      config.linkerd.io/skip-outbound-port: \"5432, 6379\"
    sidecars:
    - podAnnotations: {linkerd.io/inject: on}
";
    repaired(
        release,
        &[
            ("linkerd.io/injected", "linkerd.io/inject"),
            ("outbound-port: \"5432, 6379\"", "outbound-ports: \"5432,6379\""),
            ("{linkerd.io/inject: on}", "{linkerd.io/inject: enabled}"),
        ],
    );
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  source:
    chart: web
    helm:
      parameters:
      - {name: replicas, value: \"2\"}
      - name: 'podAnnotations.linkerd\\.io/injected'
        value: enabled
      values: |
        # values
        podAnnotations:
          config.linkerd.io/opaque-port: \"3306\" # mysql

        other: 1
";
    repaired(application, &[("io/injected'", "io/inject'"), ("opaque-port:", "opaque-ports:")]);
}

#[test]
fn annotations_in_values_without_a_safe_edit_state_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let release = |values: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: shop, namespace: shop}}\nspec:\n  chart: {{spec: \
             {{chart: shop}}}}\n  values: {values}\n"
        )
    };
    for (values, expected) in [
        ("{a: {linkerd.io/injected: enabled, linkerd.io/inject: enabled}}", "is set too; keep one"),
        ("{a: {linkerd.io/brew-coffee: strong}}", "Remove the unknown key"),
        ("{a: {linkerd.io/inject: perhaps}}", "Set linkerd.io/inject"),
    ] {
        let reason = reason(folder.path(), &release(values));
        assert!(reason.contains(expected), "{values}: {reason}");
    }
}

/// The report has the edits that `fix` makes: file, line, path and action.
#[test]
fn report_has_the_edits_of_values() {
    let folder = tempfile::tempdir().unwrap();
    let values =
        "  values:\n    proxy:\n      logLevl: warn\n    disableIPv6: 'false'\n    controlPlaneTracing: true\n";
    let file = write(folder.path(), "mesh.yaml", format!("{RELEASE}{values}"));
    let place = folder.path().display().to_string();
    let given = ["check", "--no-config", "--manifests", &place, "--linkerd-version", "2.18", "-o", "json"];
    let report = ran(meshdoctor(&given)).document();
    let findings = report["findings"].as_array().unwrap().iter();
    let steps = findings.flat_map(|finding| finding["remedy"]["steps"].as_array().unwrap());
    let edits: Vec<&Value> = steps.filter_map(|step| step["valueEdits"].as_array()).flatten().collect();
    let text = format!("{edits:?}");
    for (line, key) in [(8, "logLevl"), (9, "disableIPv6"), (10, "controlPlaneTracing")] {
        let own = |edit: &&&Value| edit.to_string().contains(&format!("\"{key}\""));
        let edit = edits.iter().find(own).unwrap_or_else(|| panic!("{key}: {text}"));
        assert_eq!((edit["file"].as_str(), edit["line"].as_u64()), (Some(file.as_str()), Some(line)), "{edit}");
    }
}

/// A name that differs in more than a slip is a decision.
#[test]
fn a_distant_name_is_not_an_edit() {
    let folder = tempfile::tempdir().unwrap();
    let why = reason(folder.path(), &format!("{RELEASE}  values:\n    enableIPv6: true\n"));
    assert!(why.contains("Remove enableIPv6"), "{why}");
}
