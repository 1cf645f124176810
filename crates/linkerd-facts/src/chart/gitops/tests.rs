use super::*;

const CHARTS: [&str; 4] = ["linkerd-crds", "linkerd-control-plane", "linkerd-viz", "linkerd2-cni"];

fn text(path: &str, text: &str) -> Text {
    Text { name: format!("git/{path}"), path: path.to_owned(), text: text.to_owned() }
}

/// Chart, version, and each value with the line and the column of its key.
fn found_values(texts: &[Text]) -> Vec<(String, String, Vec<String>)> {
    let of = |installed: Installed| {
        let values = installed.files.iter().flat_map(|file| {
            file.leaves().into_iter().map(|leaf| {
                let field = file.field(&leaf.place());
                let (path, (line, column)) = file.find(&field).unwrap_or_else(|| panic!("{field} is nowhere"));
                assert_eq!(path, leaf.place());
                format!("{}:{line}:{column} {field}", file.file())
            })
        });
        let mut values: Vec<String> = values.collect();
        values.extend(installed.absent.iter().map(|absent| format!("absent {absent}")));
        (installed.chart, installed.version.map_or_else(String::new, |(_, text)| text), values)
    };
    found(texts, &CHARTS).into_iter().map(of).collect()
}

fn is(chart: &str, version: &str, values: &[&str]) -> (String, String, Vec<String>) {
    (chart.to_owned(), version.to_owned(), values.iter().map(|value| (*value).to_owned()).collect())
}

#[test]
fn flux_release_has_values_with_positions() {
    let release = "\
# first
apiVersion: v1
kind: ConfigMap
metadata: {name: base, namespace: linkerd}
data:
  values.yaml: |
    # a comment
    proxy:
      cores: 1

    clusterDomain: x
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: control, namespace: linkerd}
spec:
  chart:
    spec: {chart: linkerd-control-plane, version: 2025.10.7}
  valuesFrom:
  - {kind: ConfigMap, name: base}
  - {kind: Secret, name: keys}
  - {kind: ConfigMap, name: made, valuesKey: more.yaml}
  values:
    proxy: {cores: 2}
    proxy.uid: 1
";
    let kustomization = "configMapGenerator:\n- name: made\n  files: [more.yaml=../more/values.yaml]\n";
    let texts = [
        text("apps/release.yaml", release),
        text("apps/kustomization.yaml", kustomization),
        text("more/values.yaml", "disableIPv6: true\n"),
    ];
    let values = [
        "git/apps/release.yaml:9:7 data[values.yaml]: proxy.cores",
        "git/apps/release.yaml:11:5 data[values.yaml]: clusterDomain",
        "git/more/values.yaml:1:1 disableIPv6",
        "git/apps/release.yaml:24:13 spec.values.proxy.cores",
        "git/apps/release.yaml:25:5 spec.values[proxy.uid]",
        "absent Secret keys",
    ];
    assert_eq!(found_values(&texts), [is("linkerd-control-plane", "2025.10.7", &values)]);
}

#[test]
fn flux_chart_reference_has_its_version() {
    let release = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: viz, namespace: flux-system}
spec: {chartRef: {kind: OCIRepository, name: viz}}
";
    let repository = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: viz, namespace: flux-system}
spec: {url: oci://example.com/charts/linkerd-viz, ref: {semver: 2025.x}}
";
    let own = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: own}
spec: {chart: {spec: {chart: ./charts/linkerd-viz, version: 1.0.0}}}
";
    // Only the repository contains the name of the chart.
    let texts = [text("a.yaml", &format!("# linkerd-viz\n{release}")), text("b.yaml", repository), text("c.yaml", own)];
    assert_eq!(found_values(&texts), [is("linkerd-viz", "2025.x", &[])]);
}

#[test]
fn flux_chart_reference_outside_of_the_set_is_named() {
    let release = |name: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: {name}, namespace: apps}}\n\
             spec: {{chartRef: {{kind: OCIRepository, name: charts}}, values: {{proxy: {{cores: 1}}}}}}\n"
        )
    };
    let outside = |name: &str| {
        let found = found(&[text("a.yaml", &release(name))], &CHARTS);
        found.into_iter().map(|one| (one.object, one.chart_of)).collect::<Vec<_>>()
    };
    let named = ("HelmRelease apps/linkerd".to_owned(), Some("OCIRepository charts".to_owned()));
    assert_eq!(outside("linkerd"), [named]);
    assert_eq!(outside("shop"), []);
}

#[test]
fn k3s_chart_has_text_set_and_configuration() {
    let chart = "\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: mesh, namespace: kube-system}
spec:
  chart: https://example.com/linkerd-control-plane-2025.10.7.tgz
  version: 2025.10.7
  valuesSecrets: [{name: keys}]
  set:
    proxy.cores: 2
    proxy.uid: \"7\"
  valuesContent: |-
    clusterDomain: x
";
    let config = "\
apiVersion: helm.cattle.io/v1
kind: HelmChartConfig
metadata: {name: mesh, namespace: kube-system}
spec:
  valuesContent: |-
    proxy: {cores: 3}
";
    let all = [
        "git/a.yaml:12:5 spec.valuesContent: clusterDomain",
        "git/b.yaml:6:13 spec.valuesContent: proxy.cores",
        "git/a.yaml:9:5 spec.set: proxy.cores",
        "git/a.yaml:10:5 spec.set: proxy.uid",
        "absent Secret keys",
    ];
    let texts = [text("a.yaml", chart), text("b.yaml", config)];
    assert_eq!(found_values(&texts), [is("linkerd-control-plane", "2025.10.7", &all)]);
    let values = found(&texts, &CHARTS).remove(0).files;
    let uid = values[2].leaves().into_iter().find(|leaf| leaf.place() == "proxy.uid").map(|leaf| leaf.value.clone());
    assert_eq!(uid, Some(Value::String("7".to_owned())));
    // The configuration of an add-on.
    let alone = config.replace("mesh", "linkerd-viz");
    assert_eq!(found_values(&[text("b.yaml", &alone)])[0].0, "linkerd-viz");
    assert_eq!(found_values(&[text("b.yaml", config)]), []);
}

#[test]
fn argo_application_has_text_map_and_parameters() {
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: linkerd, namespace: argocd}
spec:
  sources:
  - chart: linkerd-crds
    targetRevision: '*'
    helm: {values: \"a: {b: 1}\"}
  - chart: linkerd-control-plane
    targetRevision: 2025.10.7
    helm:
      valueFiles: [$here/more/values.yaml, values-ha.yaml]
      values: |
        proxy:
          cores: 1
      parameters:
      - name: proxy.nativeSidecar
        value: \"true\"
      - {name: 'podAnnotations.example\\.com/a', value: x}
";
    let texts = [text("apps/app.yaml", application), text("more/values.yaml", "disableIPv6: true\n")];
    let values = [
        "git/more/values.yaml:1:1 disableIPv6",
        "git/apps/app.yaml:15:11 spec.sources[1].helm.values: proxy.cores",
        "git/apps/app.yaml:17:9 spec.sources[1].helm.parameters: proxy.nativeSidecar",
        "absent values-ha.yaml",
    ];
    let mut all = found_values(&texts);
    let last = all[1].2.iter().position(|value| value.contains("example")).expect("the parameter with a dot in it");
    all[1].2.remove(last);
    assert_eq!(
        all,
        [
            is("linkerd-crds", "*", &["git/apps/app.yaml:8:12 spec.sources[0].helm.values: a.b"]),
            is("linkerd-control-plane", "2025.10.7", &values)
        ]
    );
}

#[test]
fn kustomize_helmfile_and_parent_charts_are_read() {
    let kustomization = "\
helmCharts:
- name: linkerd-viz
  version: 2025.10.7
  valuesFile: ../values.yaml
  valuesInline: {prometheus: {enabled: false}}
";
    let helmfile = "\
releases:
- {name: cni, chart: linkerd-edge/linkerd2-cni, version: 2025.10.7, set: [{name: priorityClassName, value: x}]}
- {name: other, chart: x/y}
";
    let chart = "apiVersion: v2\nname: mesh\ndependencies:\n- {name: linkerd-crds, version: 2025.10.7, alias: crds}\n";
    let texts = [
        text("viz/kustomization.yaml", kustomization),
        text("values.yaml", "tap: {replicas: 2}\n"),
        text("helmfile.yaml", helmfile),
        text("mesh/Chart.yaml", chart),
        text("mesh/values.yaml", "other: 1\ncrds:\n  enableHttpRoutes: true\n"),
    ];
    let viz = [
        "git/values.yaml:1:7 tap.replicas",
        "git/viz/kustomization.yaml:5:31 helmCharts[0].valuesInline.prometheus.enabled",
    ];
    assert_eq!(
        found_values(&texts),
        [
            is("linkerd-viz", "2025.10.7", &viz),
            is("linkerd2-cni", "2025.10.7", &["git/helmfile.yaml:2:76 releases[0].set: priorityClassName"]),
            is(
                "linkerd-crds",
                "2025.10.7",
                &["git/mesh/values.yaml:3:3 crds.enableHttpRoutes", "absent values of the parent chart"]
            ),
        ]
    );
}

#[test]
fn template_or_encrypted_text_is_no_value() {
    let application = |values: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      source:\n        chart: linkerd-viz\n        targetRevision: '{{{{version}}}}'\n        helm:\n          values: |\n            {values}\n"
        )
    };
    let absent = "absent spec.template.spec.source.helm.values of ApplicationSet a, which is not valid YAML";
    let texts = [text("a.yaml", &application("{{ if x }}"))];
    assert_eq!(found_values(&texts), [is("linkerd-viz", "{{version}}", &[absent])]);
    let encrypted = format!("{}sops: {{version: 3}}\n", application("a: 1"));
    assert_eq!(found_values(&[text("a.yaml", &encrypted)]), []);
}
