//! Folders of manifests in which kustomizations set namespaces, or that contain several environments side by
//! side.

use std::path::Path;

use serde_json::Value;

use crate::binary::{meshdoctor, ran, write};

/// A workload with a finding, which shows what was evaluated.
const LABELLED: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: web}}\n  \
                        template:\n    metadata:\n      labels: {app: web, linkerd.io/inject: enabled}\n    spec: {containers: [{name: app, image: app}]}\n";

/// The objects with findings, the skipped parts, and the warnings.
fn checked(paths: &[&Path]) -> (Vec<String>, Vec<String>, String) {
    let mut arguments = vec!["check", "--linkerd-version", "2.19", "--kubernetes-version", "1.33", "-o", "json"];
    for path in paths {
        arguments.extend(["--manifests", path.to_str().unwrap()]);
    }
    let output = ran(meshdoctor(&arguments));
    let report: Value = output.document();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let findings = report["findings"].as_array().unwrap().iter();
    let subjects = findings.flat_map(|finding| finding["subjects"].as_array().unwrap());
    let found = subjects.map(|subject| {
        format!("{}/{}", subject["namespace"].as_str().unwrap_or(""), subject["name"].as_str().unwrap_or(""))
    });
    let found = found.collect();
    (found, texts(&report["coverage"]["setAside"]), output.err)
}

#[test]
fn objects_have_the_namespace_that_their_kustomizations_give() {
    let own = tempfile::tempdir().unwrap();
    write(own.path(), "app/web.yaml", LABELLED);
    write(own.path(), "app/kustomization.yaml", "resources: [web.yaml]\n");
    write(own.path(), "top/kustomization.yaml", "namespace: shop\nresources: [../app]\n");
    let (found, aside, said) = checked(&[own.path()]);
    assert_eq!((found, aside), (vec!["shop/web".to_owned()], vec![]), "{said}");
    assert_eq!(said, "");
    // The outer kustomization wins, also over the object's own namespace.
    write(own.path(), "app/kustomization.yaml", "namespace: other\nresources: [web.yaml]\n");
    write(own.path(), "app/web.yaml", LABELLED.replace("name: web}", "name: web, namespace: third}"));
    assert_eq!(checked(&[own.path()]).0, ["shop/web"]);
    // Two conflicting namespaces are ambiguous: the file is read unchanged, with a notice.
    write(own.path(), "second/kustomization.yaml", "namespace: shop-2\nresources: [../app]\n");
    let (found, aside, _) = checked(&[own.path()]);
    assert_eq!(found, ["third/web"]);
    assert!(aside.len() == 1 && aside[0].starts_with("changes that 3 kustomizations make"), "{aside:?}");
}

#[test]
fn environments_that_contradict_each_other_are_not_judged_as_one() {
    let own = tempfile::tempdir().unwrap();
    let production = LABELLED.replace("replicas: 1", "replicas: 3");
    write(own.path(), "overlays/staging/web.yaml", LABELLED);
    write(own.path(), "overlays/production/web.yaml", &production);
    write(own.path(), "overlays/test/web.yaml", LABELLED);
    let (found, aside, said) = checked(&[own.path()]);
    assert_eq!(found, Vec::<String>::new());
    assert!(
        aside.len() == 1 && aside[0].starts_with("1 object with different content in several folders"),
        "{aside:?}"
    );
    for name in ["staging", "production", "test"] {
        assert!(aside[0].contains(&format!("/overlays/{name}")), "{aside:?}");
    }
    assert!(!said.contains("twice"), "{said}");
    // A single environment is evaluated, and so are identical copies in all of them.
    assert_eq!(checked(&[&own.path().join("overlays/production")]).0, ["default/web"]);
    write(own.path(), "overlays/production/web.yaml", LABELLED);
    let (found, aside, said) = checked(&[own.path()]);
    assert_eq!((found, aside.len(), said.as_str()), (vec!["default/web".to_owned()], 0, ""));
    // Of two given sets, the later one wins.
    write(own.path(), "overlays/production/web.yaml", production.replace(", linkerd.io/inject: enabled", ""));
    let [staging, production] = ["overlays/staging", "overlays/production"].map(|path| own.path().join(path));
    let (found, _, said) = checked(&[&staging, &production]);
    assert_eq!(found, Vec::<String>::new());
    assert!(said.contains("Deployment default/web occurs twice, at "), "{said}");
}

#[test]
fn a_control_plane_of_another_release_than_said_is_not_passed_over_silently() {
    let own = tempfile::tempdir().unwrap();
    let plane = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: linkerd-destination\n  namespace: linkerd\n  labels: \
                 {linkerd.io/control-plane-component: destination, linkerd.io/control-plane-ns: linkerd}\n  annotations: \
                 {linkerd.io/created-by: linkerd/cli edge-24.2.4}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    \
                 metadata: {labels: {a: b}}\n    spec: {containers: [{name: destination, image: 'cr.l5d.io/linkerd/controller:edge-24.2.4'}]}\n";
    write(own.path(), "plane.yaml", plane);
    let said = checked(&[own.path()]).2;
    assert!(said.contains("--linkerd-version 2.19 is ignored") && said.contains("edge-24.2.4"), "{said}");
    let of_it = plane.replace("edge-24.2.4", "edge-25.10.7");
    write(own.path(), "plane.yaml", &of_it);
    let said = checked(&[own.path()]).2;
    assert!(!said.contains("--linkerd-version"), "{said}");
}
