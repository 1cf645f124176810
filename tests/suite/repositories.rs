//! Folders of manifests as in real repositories, with other files: charts, kustomizations, encrypted Secrets,
//! files of other tools. Files that cannot be applied unchanged are reported without failing the run; broken
//! files fail it.

use std::path::Path;

use crate::binary::{meshdoctor, ran, write};

/// A workload on which a check finds something, so that it is seen whether it was read.
const LABELLED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  \
                        template:\n    metadata:\n      labels: {app: web, linkerd.io/inject: enabled}\n    spec: {containers: [{name: app, image: app}]}\n";

fn labelled(name: &str) -> String {
    LABELLED.replace("NAME", name)
}

/// The exit status, the report in JSON, and standard error.
fn checked(paths: &[&Path]) -> (i32, serde_json::Value, String) {
    let mut arguments = vec!["check", "--linkerd-version", "2.19", "--kubernetes-version", "1.33", "-o", "json"];
    for path in paths {
        arguments.extend(["--manifests", path.to_str().unwrap()]);
    }
    let output = ran(meshdoctor(&arguments));
    let report = output.document();
    (output.status, report, output.err)
}

/// The objects that a finding is about.
fn found(report: &serde_json::Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let subjects = findings.flat_map(|finding| finding["subjects"].as_array().unwrap());
    let mut names: Vec<String> = subjects.filter_map(|subject| Some(subject["name"].as_str()?.to_owned())).collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn what_cannot_be_applied_as_it_is_is_set_aside_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "web.yaml", labelled("web"));
    write(root, "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: %VERSION%\n");
    write(root, "chart/values.yaml", "a: {{ nothing }}\n");
    write(root, "chart/templates/web.yaml", labelled("\"{{ .Release.Name }}\""));
    write(root, "chart/templates/if.yaml", "{{- if .Values.a }}\nkind: Pod\n{{- end }}\n");
    write(root, "chart/templates/plain.yaml", labelled("of-chart"));
    write(root, "base/kustomization.yaml", "namespace: a\nresources: [app.yaml]\npatches: [{path: patch.yaml}]\n");
    write(root, "base/app.yaml", labelled("base"));
    write(root, "base/patch.yaml", labelled("patch"));
    write(root, "jinja.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: {{ name }}}\n");
    write(root, "flux.yaml", labelled("\"web-${REGION}\""));
    write(root, "flow.yaml", labelled("web-${REGION}"));
    write(root, "count.yaml", labelled("count").replace("spec:\n  sel", "spec:\n  replicas: ${REPLICAS}\n  sel"));
    write(
        root,
        "value.yaml",
        labelled("value").replace(
            "      labels",
            "      annotations: {config.linkerd.io/proxy-cpu-limit: \"${CPU}\"}\n      labels",
        ),
    );
    let sops = "apiVersion: v1\nkind: Secret\nmetadata: {name: linkerd-identity-issuer, namespace: linkerd}\nstringData:\n  \
                tls.crt: ENC[AES256_GCM,data:x]\nsops: {mac: \"ENC[AES256_GCM,data:y]\"}\n";
    write(root, "issuer.yaml", sops);
    let (status, report, said) = checked(&[root]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(found(&report), ["base", "of-chart", "web"], "{report:#}");
    let aside: Vec<&str> =
        report["coverage"]["setAside"].as_array().unwrap().iter().map(|what| what.as_str().unwrap()).collect();
    let expected = [
        "2 unrendered Helm templates in",
        "2 unrendered templates at",
        "changes that 1 kustomization makes to its objects",
        "3 objects with a placeholder",
        "1 object encrypted by SOPS",
    ];
    assert_eq!(aside.len(), expected.len(), "{aside:#?}");
    for (what, begins) in aside.iter().zip(expected) {
        assert!(what.starts_with(begins), "{what}");
        assert!(said.contains(&format!("not checked: {what}")), "{said}");
    }
    assert!(aside[0].contains("/chart: use helm template DIR") && aside[1].contains("/jinja.yaml:3: "), "{aside:#?}");
    assert!(aside[2].contains("/base: use kustomize build DIR"), "{aside:#?}");
    // Without any other input nothing was evaluated, and the error gives the reason.
    let alone = root.join("jinja.yaml");
    let output = ran(meshdoctor(&["check", "--manifests", alone.to_str().unwrap()]));
    let said = output.err;
    assert!(output.status == 3 && said.contains("1 unrendered template"), "{said}");
}

#[test]
fn files_of_other_tools_are_passed_over_and_broken_manifests_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "web.yaml", labelled("web"));
    write(root, "README.md", "---\ntitle: x\n---\n\napiVersion: v1\n  {{ broken\n");
    write(root, "values.yaml.tpl", "apiVersion: v1\nkind: {{ x }}\n");
    write(root, "devcontainer.json", "{\n  // a remark\n  \"name\": \"x\"\n}\n");
    write(
        root,
        "stack.yaml",
        "Resources:\n  Vpc: !Ref Other\n  Script: |\n      kubectl apply <<E\n      apiVersion: v1\n",
    );
    write(root, "home.yaml", "automation: !include automations.yaml\n");
    let (status, report, said) = checked(&[root]);
    assert_eq!((status, found(&report)), (0, vec!["web".to_owned()]), "{said}");
    assert!(report["coverage"].get("setAside").is_none() && said.is_empty(), "{said}");
    // Passed explicitly as a manifest, a file of another tool cannot be read.
    let (status, _, said) = checked(&[&root.join("web.yaml"), &root.join("stack.yaml")]);
    assert!(status == 4 && said.contains("stack.yaml:2"), "{said}");
    write(root, "bad.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x\n");
    let (status, _, said) = checked(&[root]);
    assert!(status == 4 && said.contains("bad.yaml:"), "{said}");
    std::fs::remove_file(root.join("bad.yaml")).unwrap();
    // An object that the API server would refuse is named with its line.
    write(root, "typed.yaml", format!("---\n{}", labelled("typed").replace("app: web, l", "app: true, l")));
    let (status, _, said) = checked(&[root]);
    assert!(
        status == 1
            && said.contains(
                "Deployment shop/typed: spec.template.metadata.labels[app] is a boolean: put its value in quotes"
            ),
        "{said}"
    );
}

#[test]
fn annotation_of_another_tool_that_is_not_text_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\n  annotations:\n    example.com/port: 8080\n";
    write(folder.path(), "web.yaml", text);
    let expected =
        "web.yaml:7: Service shop/web: metadata.annotations[example.com/port] is a number: put its value in quotes";
    let (status, _, said) = checked(&[folder.path()]);
    assert!(status == 1 && said.contains(expected), "{status} {said}");
    // As a dump, it is named with the line of its object.
    let file = folder.path().join("web.yaml");
    let dump = ran(meshdoctor(&["check", "--no-config", "--bundle", file.to_str().unwrap()]));
    let named = "Service shop/web: metadata.annotations[example.com/port] is a number: put its value in quotes";
    assert!(dump.err.contains(named), "{} {}", dump.err, dump.out);
}

#[test]
fn an_object_that_is_named_when_it_is_created_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-, namespace: shop}\nspec:\n  template:\n    metadata:\n      \
               labels: {linkerd.io/inject: enabled}\n    spec: {restartPolicy: Never, containers: [{name: a, image: a}]}\n";
    write(folder.path(), "job.yaml", job);
    let list = format!("kind: List\napiVersion: v1\nitems:\n- {}", labelled("web").replace('\n', "\n  "));
    write(folder.path(), "list.yaml", list.trim_end());
    let (status, report, said) = checked(&[folder.path()]);
    assert_eq!(status, 0, "{said}");
    assert_eq!(found(&report), ["migrate-xxxxx", "web"], "{report:#}");
    // Objects that already exist must have a name.
    let path = folder.path().join("job.yaml");
    let output = ran(meshdoctor(&["check", "--bundle", path.to_str().unwrap()]));
    assert!(output.err.contains("a Job without a name"));
}

#[test]
fn manifests_alone_never_make_a_mesh_healthy_nor_speak_of_a_linkerd_cni_that_nobody_saw() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let control_plane = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: linkerd-identity\n  namespace: linkerd\n  labels: \
                         {linkerd.io/control-plane-component: identity}\n  annotations: {linkerd.io/created-by: linkerd/cli edge-25.10.7}\n\
                         spec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: []}\n";
    write(root, "identity.yaml", control_plane);
    let cilium = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {cluster-id: \"0\"}\n";
    write(root, "cilium.yaml", cilium);
    let node = "apiVersion: v1\nkind: Node\nmetadata: {name: worker, labels: {a: b}}\n";
    write(root, "node.yaml", node);
    let arguments = ["check", "--kubernetes-version", "1.33", "--manifests", root.to_str().unwrap()];
    let output = ran(meshdoctor(&arguments));
    let said = output.out;
    assert_eq!(output.status, 0, "{said}");
    assert!(!said.contains("HEALTHY") && said.contains("NO ERRORS OR WARNINGS"), "{said}");
    assert!(!said.contains("warning  cni-cilium-exclusive"), "{said}");
}
