//! `fix --manifests` on small repositories: layouts of YAML, kustomize with overlays, charts, and objects of Argo CD and Flux.
//! After `--write`, the renderers of the repositories read them, and the findings are gone.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};
use crate::skip::{Need, skipped};

pub(crate) fn fix(folder: &Path, more: &[&str]) -> Ran {
    let place = folder.display().to_string();
    let given = ["fix", "--no-config", "--manifests", &place, "--linkerd-version", "2.18"];
    ran(meshdoctor(&[&given, more].concat()))
}

/// The ids of the findings of warning or above.
pub(crate) fn found(folder: &Path) -> Vec<String> {
    let place = folder.display().to_string();
    let given = ["check", "--no-config", "--manifests", &place, "--linkerd-version", "2.18", "-o", "json"];
    let report = ran(meshdoctor(&given)).document();
    let findings = report["findings"].as_array().unwrap().iter();
    let serious = findings.filter(|finding| finding["severity"] != "info");
    serious.map(|finding| finding["check"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

const NAMESPACE: &str = "\
apiVersion: v1
kind: Namespace
metadata:
  name: d
  annotations:
    config.linkerd.io/proxy-memroy-limit: |
      20Mi
  # comment for labels
  labels:
    a: b
";

#[test]
fn comments_behind_a_block_scalar_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "d.yaml", NAMESPACE);
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    let text = read(&file);
    assert!(text.contains("proxy-memory-limit:"), "{text}");
    assert!(text.ends_with("  # comment for labels\n  labels:\n    a: b\n"), "{text}");
}

#[test]
fn merged_fields_are_judged_and_not_edited() {
    let folder = tempfile::tempdir().unwrap();
    let text = "x-common: &c\n  config.linkred.io/proxy-cpu-limit: \"1\"\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: m\n  \
                annotations:\n    <<: *c\n    z: \"1\"\n";
    let file = write(folder.path(), "m.yaml", text);
    assert_eq!(found(folder.path()), ["annotation-unknown"]);
    let shown = fix(folder.path(), &["--write"]);
    assert!(shown.out.contains("not edited: ") && shown.out.contains("merge keys (<<)"), "{}", shown.text());
    assert_eq!(read(&file), text);
}

/// A Job and a bare pod cannot be changed in a cluster, but their manifests can.
#[test]
fn manifests_of_jobs_and_pods_are_edited() {
    let spec = "spec: {restartPolicy: Never, containers: [{name: m, image: m}]}\n";
    let annotation = "annotations: {config.linkerd.io/skip-outbound-port: \"3306\"}";
    let metadata = format!("metadata: {{{annotation}}}");
    let job = format!(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: migrate, namespace: shop}}\nspec:\n  template:\n    \
         {metadata}\n    {spec}"
    );
    let pod = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: once, namespace: shop, {annotation}}}\n{spec}");
    for (name, text) in [("job.yaml", job), ("pod.yaml", pod)] {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), name, &text);
        assert_eq!(found(folder.path()), ["annotation-unknown"], "{name}");
        let written = fix(folder.path(), &["--write"]);
        assert_eq!(written.status, 0, "{}", written.text());
        assert_eq!(read(&file), text.replace("skip-outbound-port:", "skip-outbound-ports:"));
    }
}

#[test]
fn an_object_in_two_files_is_not_edited() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["a.yaml", "b.yaml"].map(|name| (write(folder.path(), name, NAMESPACE), name));
    let shown = fix(folder.path(), &["--write"]);
    let place = folder.path().display();
    let reason = format!("{place}/b.yaml:1: Namespace d is also in {place}/a.yaml:1; keep one");
    assert!(shown.out.contains(&reason), "{}", shown.text());
    assert!(texts.iter().all(|(file, _)| read(file) == NAMESPACE));
}

/// A label that must be an annotation, behind lines that the edit keeps.
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels:
        app: web
        linkerd.io/inject: enabled  # wrong place
      annotations:
        config.linkerd.io/skip-oubound-ports: \"5432\"
    spec:
      containers: [{name: web, image: web}]
";

#[test]
fn edits_name_the_changed_line() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "web.yaml", WEB);
    let shown = fix(folder.path(), &[]);
    let renamed = WEB.lines().position(|line| line.contains("oubound")).unwrap() + 1;
    let line = shown.out.lines().find(|line| line.contains(" annotation-unknown ")).unwrap();
    assert!(line.ends_with(&format!("edits {}/web.yaml:{renamed}", folder.path().display())), "{line}");
}

#[test]
fn suggestions_do_not_overlap() {
    let folder = tempfile::tempdir().unwrap();
    let text = WEB.replace("      annotations:\n        config.linkerd.io/skip-oubound-ports: \"5432\"\n", "");
    let text = text.replace(
        "namespace: shop\n",
        "namespace: shop\n  annotations:\n    config.linkerd.io/proxy-cpu-limit: \"1\"\n",
    );
    let file = write(folder.path(), "web.yaml", &text);
    let document: Value = serde_json::from_str(&fix(folder.path(), &["-o", "sarif"]).out).unwrap();
    let results = document["runs"][0]["results"].as_array().unwrap();
    let fixes = results.iter().filter_map(|result| result["fixes"].as_array()).flatten();
    let changes = fixes.flat_map(|fix| fix["artifactChanges"].as_array().unwrap());
    let regions = changes.flat_map(|change| change["replacements"].as_array().unwrap());
    let mut lines: Vec<(u64, u64)> = regions
        .map(|one| {
            let region = &one["deletedRegion"];
            let start = region["startLine"].as_u64().unwrap();
            (start, region["endLine"].as_u64().unwrap_or(start))
        })
        .collect();
    lines.sort_unstable();
    lines.dedup();
    assert!(!lines.is_empty(), "{document:#}");
    assert!(lines.windows(2).all(|pair| pair[0].1 < pair[1].0), "{lines:?}");
    // All findings are repaired by the edits together.
    fix(folder.path(), &["--write"]);
    assert_eq!(found(folder.path()), Vec::<String>::new(), "{}", read(&file));
}

fn rendered(program: &str, arguments: &[&str]) -> Option<String> {
    let output = match Command::new(program).args(arguments).output() {
        Ok(output) => output,
        Err(_) => {
            skipped(if program == "helm" { Need::Helm } else { Need::Kubectl }, "a repository is not rendered");
            return None;
        }
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Writes what a renderer prints into a folder, and returns its findings.
fn found_in(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "all.yaml", text);
    found(folder.path())
}

const SERVICE: &str = "\
# The database.
apiVersion: v1
kind: Service
metadata:
  name: db
  namespace: shop
  annotations:
    # Postgres
    config.linkerd.io/opaque-port: \"5432\"
spec:
  ports: [{port: 5432}]
";

#[test]
fn kustomize_repository_is_repaired_at_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path).display().to_string();
    let service = write(folder.path(), "base/svc.yaml", SERVICE);
    let web = write(folder.path(), "base/web.yaml", WEB);
    write(folder.path(), "base/kustomization.yaml", "resources: [svc.yaml, web.yaml]\n");
    write(folder.path(), "over/kustomization.yaml", "resources: [../base]\nnamespace: other\n");
    let Some(before) = rendered("kubectl", &["kustomize", &at("over")]) else { return };
    assert!(!found_in(&before).is_empty());
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    assert_eq!(read(&service), SERVICE.replace("opaque-port:", "opaque-ports:"));
    let text = read(&web);
    assert!(!text.contains("oubound") && text.contains("linkerd.io/inject: enabled"), "{text}");
    let after = rendered("kubectl", &["kustomize", &at("over")]).unwrap();
    assert_eq!(found_in(&after), Vec::<String>::new(), "{after}");
}

#[test]
fn app_of_apps_is_repaired_and_its_chart_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, namespace: argocd}\nspec:\n  \
               source: {repoURL: https://example.com/r.git, path: shop, targetRevision: main}\n  \
               destination: {namespace: shop, server: https://kubernetes.default.svc}\n";
    write(folder.path(), "apps/shop.yaml", app);
    let plain = write(folder.path(), "shop/svc.yaml", SERVICE);
    write(folder.path(), "chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    write(folder.path(), "chart/values.yaml", "ports: \"5432\"\n");
    let template = WEB.replace("\"5432\"", "{{ .Values.ports | quote }}");
    let template = write(folder.path(), "chart/templates/web.yaml", &template);
    let chart = folder.path().join("chart").display().to_string();
    let Some(before) = rendered("helm", &["template", "web", &chart]) else { return };
    assert!(found_in(&before).contains(&"annotation-unknown".to_owned()));
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(read(&plain), SERVICE.replace("opaque-port:", "opaque-ports:"), "{}", written.text());
    // Templates stay for a person, who finds the file by the rendered output.
    let output = tempfile::tempdir().unwrap();
    write(output.path(), "web.yaml", &before);
    let shown = fix(output.path(), &[]);
    assert!(shown.out.contains("is rendered from web/templates/web.yaml; edit it there"), "{}", shown.text());
    let text = read(&template).replace("skip-oubound", "skip-outbound");
    let text = text.replace("        linkerd.io/inject: enabled  # wrong place\n", "");
    let text = text.replace("annotations:\n", "annotations:\n        linkerd.io/inject: enabled\n");
    std::fs::write(&template, text).unwrap();
    let after = rendered("helm", &["template", "web", &chart]).unwrap();
    assert_eq!(found_in(&after), Vec::<String>::new(), "{after}");
}

/// Values of annotations that are not strings, which the API server rejects.
#[test]
fn annotations_get_the_type_that_the_api_server_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let text = WEB.replace("        linkerd.io/inject: enabled  # wrong place\n", "").replace(
        "        config.linkerd.io/skip-oubound-ports: \"5432\"\n",
        "        config.linkerd.io/skip-outbound-ports: 5432  # Postgres\n        config.linkerd.io/opaque-ports:\n        \
         - 3306\n        - 6379\n        linkerd.io/inject: true\n",
    );
    let file = write(folder.path(), "web.yaml", &text);
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(found(folder.path()), Vec::<String>::new(), "{}", written.text());
    let expected = text
        .replace("ports: 5432", "ports: \"5432\"")
        .replace("opaque-ports:\n        - 3306\n        - 6379\n", "opaque-ports: \"3306,6379\"\n")
        .replace("inject: true", "inject: enabled");
    assert_eq!(read(&file), expected, "{}", written.text());
}

/// Their text in the file is meant, not the number or boolean that kubectl reads. A byte order mark stays.
#[test]
fn values_in_quotes_keep_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\u{feff}apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  labels:\n    country: NO\n    \
                version: 1.10\n    code: 0443\n    sha: 1234567e2 # of the image\n    size: 5\n    tier: y\n\
                spec: {ports: [{port: 80}]}\n";
    let file = write(folder.path(), "web.yaml", text);
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    let mut expected = text.to_owned();
    for value in ["NO", "1.10", "0443", "1234567e2", "5", "y"] {
        expected = expected.replacen(&format!(": {value}"), &format!(": \"{value}\""), 1);
    }
    assert_eq!(read(&file), expected);
}

#[test]
fn a_key_on_a_workload_and_its_template_is_repaired_in_both() {
    let folder = tempfile::tempdir().unwrap();
    let annotations = "annotations: {linkerd.io/injekt: enabled}";
    let text = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, {annotations}}}\nspec:\n  \
         selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}, {annotations}}}\n    \
         spec: {{containers: [{{name: a, image: x}}]}}\n"
    );
    let file = write(folder.path(), "web.yaml", &text);
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(written.status, 0, "{}", written.text());
    assert!(found(folder.path()).is_empty(), "{}", read(&file));
    assert!(read(&file).contains("linkerd.io/inject: enabled"), "{}", read(&file));
}

#[test]
fn an_item_of_a_list_is_edited_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let item = |namespace: &str, key: &str| {
        format!(
            "- apiVersion: v1\n  kind: Service\n  metadata:\n    name: db\n    namespace: {namespace}\n    annotations:\n      {key}: \"1\"  # {namespace}\n"
        )
    };
    let [right, wrong] = ["config.linkerd.io/opaque-ports", "config.linkerd.io/opaque-port"];
    let list = |second: &str| format!("apiVersion: v1\nkind: List\nitems:\n{}{}", item("a", right), item("b", second));
    let file = write(folder.path(), "list.yaml", list(wrong));
    let written = fix(folder.path(), &["--write"]);
    assert_eq!(read(&file), list(right), "{}", written.text());
    assert_eq!(written.status, 0, "{}", written.text());
}

/// The edit of one namespace would expose a Job that never ends; those of the others are made.
#[test]
fn objects_without_an_edit_do_not_keep_others_from_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let namespace = |name: &str| {
        format!(
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}, annotations: {{linkerd.io/injected: enabled}}}}\n"
        )
    };
    let job = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: backup, namespace: jobs}\nspec:\n  schedule: 0 1 * * *\n  \
               jobTemplate:\n    spec:\n      template:\n        spec: {restartPolicy: Never, containers: [{name: a, image: a}]}\n";
    let shop = write(folder.path(), "shop.yaml", namespace("shop"));
    let jobs = write(folder.path(), "jobs.yaml", format!("{}---\n{job}", namespace("jobs")));
    let shown = fix(folder.path(), &["--write"]);
    assert_eq!(read(&shop), namespace("shop").replace("injected", "inject"), "{}", shown.text());
    assert!(read(&jobs).contains("linkerd.io/injected"), "{}", shown.text());
    let reason = "not edited: Namespace jobs: the edit would add job-proxy-not-ended (CronJob jobs/backup)";
    assert!(shown.out.contains(reason), "{}", shown.text());
}

#[test]
fn patches_of_kustomizations_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "base/web.yaml", WEB.replace("        linkerd.io/inject: enabled  # wrong place\n", ""));
    write(at, "base/kustomization.yaml", "resources: [web.yaml]\n");
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  template:\n    metadata:\n      \
                 annotations:\n        config.linkerd.io/proxy-cpu-requests: 100m  # each\n";
    let over = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\npatches:\n- path: cpu.yaml\n\
                - target: {kind: Deployment, name: web}\n  patch: |\n    - op: add\n      \
                path: /spec/template/metadata/annotations/linkerd.io~1injected\n      value: enabled\n    - op: add\n      \
                path: /metadata/annotations\n      value:\n        linkerd.io/injected: enabled  # a\n    - op: remove\n      \
                path: /metadata/annotations/linkerd.io~1injected\n";
    let patched = write(at, "over/cpu.yaml", patch);
    let kustomization = write(at, "over/kustomization.yaml", over);
    let written = fix(at, &["--write"]);
    assert_eq!(read(&patched), patch.replace("requests", "request"), "{}", written.text());
    let expected = over.replace("linkerd.io~1injected\n      value", "linkerd.io~1inject\n      value");
    let expected = expected.replace("linkerd.io/injected", "linkerd.io/inject");
    assert_eq!(read(&kustomization), expected, "{}", written.text());
}

#[test]
fn values_of_a_chart_alone_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n");
    write(at, "templates/web.yaml", WEB.replace("\"5432\"", "{{ .Values.ports | quote }}"));
    let text = "# web\npodAnnotations:\n  linkerd.io/injected: enabled  # typo\n";
    let values = write(at, "values.yaml", text);
    let written = fix(at, &["--write"]);
    assert_eq!(read(&values), text.replace("injected", "inject"), "{}", written.text());
    assert!(written.text().contains("1 unrendered Helm template"), "{}", written.text());
}

/// A template that installs a chart: its expressions stay as they are.
#[test]
fn values_in_a_template_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "Chart.yaml", "apiVersion: v2\nname: apps\nversion: 0.1.0\n");
    let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: grafana\nspec:\n  source:\n    chart: grafana\n    \
                helm:\n      valuesObject:\n        podAnnotations:\n          linkerd.io/injected: enabled\n  destination:\n    \
                namespace: {{ .Values.home }}\n    name: {{ .Values.cluster | quote }}  # each\n";
    let file = write(at, "templates/grafana.yaml", text);
    let written = fix(at, &["--write"]);
    assert_eq!(read(&file), text.replace("injected", "inject"), "{}", written.text());
}

#[test]
fn programs_that_render_manifests_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "svc.yaml", SERVICE);
    let program = "{ metadata: { annotations: { 'linkerd.io/injected': 'enabled' } } }\n";
    write(folder.path(), "lib/ns.libsonnet", program);
    let shown = fix(folder.path(), &[]);
    let said = format!("1 file with Linkerd settings in Jsonnet or CUE, {}/lib/ns.libsonnet", folder.path().display());
    assert!(shown.text().contains(&said), "{}", shown.text());
}
