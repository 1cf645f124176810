use serde_json::json;

use super::*;
use crate::kubectl::Edit;

fn edited(text: &str, edit: &Edit) -> Result<String, String> {
    let before: Value = crate::yaml::parse(text).unwrap();
    changed(text, &before, &edit.apply(&before).unwrap())
}

fn merged(text: &str, patch: Value) -> Result<String, String> {
    edited(text, &Edit::Merge(patch))
}

const DEPLOYMENT: &str = "\
# The shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web   # its name
  labels: {app: web}
spec:
  replicas: 2
  template:
    metadata:
      annotations:
        # Databases.
        config.linkerd.io/skip-outbound-ports: '5432'  # old
        team: shop
    spec:
      containers:
      - name: web
        image: \"web:1\"
        args: [a, b]
      - name: other
";

#[test]
fn added_annotation_follows_the_last_one() {
    let patch =
        json!({"spec": {"template": {"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}}}});
    let expected = DEPLOYMENT
        .replace("        team: shop\n", "        team: shop\n        linkerd.io/inject: enabled\n");
    assert_eq!(merged(DEPLOYMENT, patch), Ok(expected));
}

#[test]
fn changed_value_keeps_quotes_and_comment() {
    let key = "config.linkerd.io/skip-outbound-ports";
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {key: "3306,5432"}}}}});
    assert_eq!(merged(DEPLOYMENT, patch), Ok(DEPLOYMENT.replace("'5432'", "'3306,5432'")));
}

#[test]
fn renamed_annotation_keeps_its_place_and_comment() {
    let (old, new) = ("config.linkerd.io/skip-outbound-ports", "config.linkerd.io/skip-inbound-ports");
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {old: null, new: "5432"}}}}});
    assert_eq!(merged(DEPLOYMENT, patch), Ok(DEPLOYMENT.replace(old, new)));
    let patch = json!({"metadata": {"labels": null, "label": {"app": "web"}}});
    assert_eq!(merged(DEPLOYMENT, patch), Ok(DEPLOYMENT.replace("labels: {app", "label: {app")));
}

#[test]
fn removed_annotation_takes_only_its_line() {
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {"team": null}}}}});
    assert_eq!(merged(DEPLOYMENT, patch), Ok(DEPLOYMENT.replace("        team: shop\n", "")));
}

#[test]
fn missing_maps_are_written() {
    let changes = vec![("linkerd.io/inject".to_owned(), Some("true".to_owned()))];
    let edit = Edit::Metadata { field: "annotations", changes, overwrite: false };
    let expected =
        DEPLOYMENT.replace("{app: web}\n", "{app: web}\n  annotations:\n    linkerd.io/inject: \"true\"\n");
    assert_eq!(edited(DEPLOYMENT, &edit), Ok(expected));
}

#[test]
fn maps_in_braces_grow_and_shrink() {
    let label = |key: &str, value: Option<&str>| Edit::Metadata {
        field: "labels",
        changes: vec![(key.to_owned(), value.map(str::to_owned))],
        overwrite: true,
    };
    assert_eq!(
        edited(DEPLOYMENT, &label("a", Some("b"))),
        Ok(DEPLOYMENT.replace("{app: web}", "{app: web, a: b}"))
    );
    let text = "metadata:\n  labels: {app: web, a: b}\n";
    assert_eq!(edited(text, &label("a", None)), Ok("metadata:\n  labels: {app: web}\n".to_owned()));
    assert_eq!(
        edited("metadata:\n  name: x\n  labels: {a: b}\n", &label("a", None)),
        Ok("metadata:\n  name: x\n".to_owned())
    );
}

#[test]
fn list_items_are_added_with_the_layout_of_the_list() {
    let add = |path: &str| {
        Edit::Json(vec![json!({"op": "add", "path": path, "value": {"name": "new", "ports": [1]}})])
    };
    let expected = format!("{DEPLOYMENT}      - name: new\n        ports:\n          - 1\n");
    assert_eq!(edited(DEPLOYMENT, &add("/spec/template/spec/containers/-")), Ok(expected));
    let in_front = DEPLOYMENT.replace(
        "      - name: web\n",
        "      - name: new\n        ports:\n          - 1\n      - name: web\n",
    );
    assert_eq!(edited(DEPLOYMENT, &add("/spec/template/spec/containers/0")), Ok(in_front));
}

#[test]
fn empty_values_and_last_lines_are_edited() {
    let patch = json!({"metadata": {"annotations": {"a": "b"}}});
    assert_eq!(
        merged("metadata:\n  annotations:\nkind: X\n", patch.clone()),
        Ok("metadata:\n  annotations:\n    a: b\nkind: X\n".to_owned())
    );
    assert_eq!(
        merged("metadata:\n  name: x", patch),
        Ok("metadata:\n  name: x\n  annotations:\n    a: b\n".to_owned())
    );
    assert_eq!(
        merged("kind: X\r\nspec:\r\n  a: 1\r\n", json!({"spec": {"b": 2}})),
        Ok("kind: X\r\nspec:\r\n  a: 1\r\n  b: 2\r\n".to_owned())
    );
}

#[test]
fn first_key_of_an_item_is_removed_with_its_place_kept() {
    let text = "list:\n- a: 1\n  b: 2\n- c: 3\n";
    let remove = Edit::Json(vec![json!({"op": "remove", "path": "/list/0/a"})]);
    assert_eq!(edited(text, &remove), Ok("list:\n- b: 2\n- c: 3\n".to_owned()));
}

#[test]
fn unsafe_layouts_are_refused() {
    assert!(merged("a: &x {b: 1}\nc: *x\n", json!({"c": {"b": 2}})).is_err());
    assert!(merged("a: |\n  long\n  text\n", json!({"a": "short"})).is_err());
    assert!(merged("a: {b: 1, # x\n  c: 2}\n", json!({"a": {"b": null}})).is_err());
}
