use serde_json::json;

use super::*;
use crate::kubectl::Edit;

fn edited(text: &str, edit: &Edit) -> Result<String, String> {
    let before: Value = crate::yaml::parse_applied(text).unwrap();
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
    let patch = json!({"spec": {"template": {"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}}}});
    let expected =
        DEPLOYMENT.replace("        team: shop\n", "        team: shop\n        linkerd.io/inject: enabled\n");
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
    let expected = DEPLOYMENT.replace("{app: web}\n", "{app: web}\n  annotations:\n    linkerd.io/inject: \"true\"\n");
    assert_eq!(edited(DEPLOYMENT, &edit), Ok(expected));
}

#[test]
fn maps_in_braces_grow_and_shrink() {
    let label = |key: &str, value: Option<&str>| Edit::Metadata {
        field: "labels",
        changes: vec![(key.to_owned(), value.map(str::to_owned))],
        overwrite: true,
    };
    assert_eq!(edited(DEPLOYMENT, &label("a", Some("b"))), Ok(DEPLOYMENT.replace("{app: web}", "{app: web, a: b}")));
    let text = "metadata:\n  labels: {app: web, a: b}\n";
    assert_eq!(edited(text, &label("a", None)), Ok("metadata:\n  labels: {app: web}\n".to_owned()));
    assert_eq!(
        edited("metadata:\n  name: x\n  labels: {a: b}\n", &label("a", None)),
        Ok("metadata:\n  name: x\n".to_owned())
    );
}

#[test]
fn list_items_are_added_with_the_layout_of_the_list() {
    let add = |path: &str| Edit::Json(vec![json!({"op": "add", "path": path, "value": {"name": "new", "ports": [1]}})]);
    let expected = format!("{DEPLOYMENT}      - name: new\n        ports:\n          - 1\n");
    assert_eq!(edited(DEPLOYMENT, &add("/spec/template/spec/containers/-")), Ok(expected));
    let in_front = DEPLOYMENT
        .replace("      - name: web\n", "      - name: new\n        ports:\n          - 1\n      - name: web\n");
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

#[test]
fn comments_go_with_a_moved_field() {
    let text = "\
metadata:
  name: web
  annotations:
    # The databases of team a.
    config.linkerd.io/opaque-ports: \"3306\" # MySQL
    team: shop # stays
spec:
  template:
    metadata:
      labels: {app: web}
";
    let key = "config.linkerd.io/opaque-ports";
    let patch = json!({"metadata": {"annotations": {key: null}},
        "spec": {"template": {"metadata": {"annotations": {key: "3306"}}}}});
    let expected = "\
metadata:
  name: web
  annotations:
    team: shop # stays
spec:
  template:
    metadata:
      labels: {app: web}
      annotations:
        # The databases of team a.
        config.linkerd.io/opaque-ports: \"3306\" # MySQL
";
    assert_eq!(merged(text, patch), Ok(expected.to_owned()));
}

#[test]
fn comments_of_other_fields_stay() {
    let text = "a:\n  # of b\n  b: 1 # one\n\n  # of c\n  c: 2 # two\nd: 3\n";
    assert_eq!(merged(text, json!({"a": {"c": null}})), Ok("a:\n  # of b\n  b: 1 # one\n\nd: 3\n".to_owned()));
    let text = "a:\n  b:\n    c: 1 # one\n  d: 2\n";
    let removed = Edit::Json(vec![json!({"op": "remove", "path": "/a/b/c"})]);
    assert_eq!(edited(text, &removed), Ok("a:\n  b: {}\n  d: 2\n".to_owned()));
}

/// `kubectl get -o json`, with one field in each line.
const IN_JSON: &str = r#"{
  "kind": "Deployment",
  "metadata": {
    "name": "web",
    "annotations": {
      "config.linkerd.io/opaque-ports": "3306"
    },
    "labels": {"app": "web", "team": "a"}
  },
  "args": ["a", "b"],
  "replicas": 2
}
"#;

fn json_merged(patch: Value) -> String {
    let text = merged(IN_JSON, patch).expect("an edit");
    serde_json::from_str::<Value>(&text).expect("JSON");
    text
}

#[test]
fn json_stays_json_with_its_layout() {
    assert_eq!(
        json_merged(json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}})),
        IN_JSON.replace("\"3306\"\n", "\"3306\",\n      \"linkerd.io/inject\": \"enabled\"\n")
    );
    assert_eq!(
        json_merged(json!({"metadata": {"labels": {"app": null}}})),
        IN_JSON.replace("{\"app\": \"web\", ", "{")
    );
    assert_eq!(
        json_merged(json!({"metadata": {"labels": {"team": null, "tier": 1}}})),
        IN_JSON.replace("\"team\": \"a\"", "\"tier\": 1")
    );
    assert_eq!(json_merged(json!({"replicas": "x"})), IN_JSON.replace("2\n", "\"x\"\n"));
    assert_eq!(json_merged(json!({"replicas": null})), IN_JSON.replace(",\n  \"replicas\": 2", ""));
    let rename = json!({"metadata": {"annotations": {"config.linkerd.io/opaque-ports": null,
        "config.linkerd.io/skip-outbound-ports": "3306"}}});
    assert_eq!(json_merged(rename), IN_JSON.replace("opaque-ports", "skip-outbound-ports"));
    let add = Edit::Json(vec![json!({"op": "add", "path": "/args/1", "value": "c"})]);
    assert_eq!(edited(IN_JSON, &add), Ok(IN_JSON.replace("\"a\", ", "\"a\", \"c\", ")));
    let remove = Edit::Json(vec![json!({"op": "remove", "path": "/args/0"})]);
    assert_eq!(edited(IN_JSON, &remove), Ok(IN_JSON.replace("\"a\", ", "")));
}

#[test]
fn json_within_yaml_keeps_its_quotes() {
    let text = "metadata:\n  labels: {\"app\": \"web\"} # as JSON\n";
    let add = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(merged(text, add), Ok(text.replace("}", ", \"a\": \"b\"}")));
    let text = "a: {\n  b: 1, # one\n  c: 2 # two\n}\n";
    let add = json!({"a": {"d": 3}});
    assert_eq!(merged(text, add), Ok("a: {\n  b: 1, # one\n  c: 2, # two\n  d: 3\n}\n".to_owned()));
}
