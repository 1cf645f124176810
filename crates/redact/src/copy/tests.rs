//! The one-pass result equals that of the tree.

use serde_json::{Value, json};

use super::super::object::object;
use super::*;
use crate::tests::kind_rule as rule;
use meshdoctor_objects::Kind;

/// Whether the object was redacted in one pass; asserts the same result as with a tree.
fn is_read_at_once(text: &str) -> bool {
    let mut tree: Value = serde_json::from_str(text).expect("it is JSON");
    let touched = object("Pod", rule(Kind::Pod), &mut tree).touched();
    let Some((json, changed)) = copied("Pod", rule(Kind::Pod), text, None) else { return false };
    assert_eq!(serde_json::from_slice::<Value>(&json).expect("it is JSON"), tree, "{text}");
    assert_eq!(changed, touched, "{text}");
    true
}

const PROXY: &str = r#"{"args":["run","--token","hunter2"],"env":[{"name":"LINKERD2_PROXY_LOG","value":"warn"},{"name":"X","value":"y"}],"name":"linkerd-proxy"}"#;
const APP: &str =
    r#"{"name":"app","command":["linkerd-await","--","/x"],"args":["-c","d"],"env":[{"name":"A","value":"b"}]}"#;

#[test]
fn metadata_determines_container_owner() {
    for labels in [
        r#"{"linkerd.io/extension":"viz"}"#,
        r#"{"k8s-app":"linkerd-cni"}"#,
        r#"{"k8s-app":7}"#,
        r#"{"linkerd.io/control-plane-component":"x","linkerd.io/control-plane-ns":"elsewhere"}"#,
        r#"{"a":"b"}"#,
        "null",
        "[]",
    ] {
        for annotations in [r#"{"linkerd.io/inject":"enabled"}"#, r#"{"linkerd.io/last-applied":"x"}"#, "{}"] {
            let metadata = format!(
                r#"{{"annotations":{annotations},"labels":{labels},"managedFields":[{{}}],"name":"n","namespace":"shop"}}"#
            );
            let spec = format!(r#"{{"containers":[{PROXY},{APP},7,[{APP}]],"initContainers":{{}}}}"#);
            let spec = spec.replace(r#","initContainers":{}"#, "");
            assert!(is_read_at_once(&format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#)));
            assert!(is_read_at_once(&format!(
                r#"{{"metadata":{{"name":"n","namespace":"linkerd"}},"spec":{{"template":{{"metadata":{metadata},"spec":{spec}}}}}}}"#
            )));
            assert!(!is_read_at_once(&format!(r#"{{"spec":{spec},"metadata":{metadata}}}"#)));
        }
    }
}

#[test]
fn ambiguous_object_uses_the_tree() {
    for odd in [
        r#"{"metadata":{"name":"a","name":"b"}}"#,
        r#"{"metadata":{"labels":{"metadata":{"managedFields":[]}}}}"#,
        r#"{"spec":{"containers":{"containers":[]}}}"#,
        r#"{"spec":{"containers":[{"name":"a","env":[{"value":"b","name":"c"}]}]}}"#,
        r#"{"metadata":{"annotations":{"password=hunter2":"x"}}}"#,
        r#"{"kind":"Secret"}"#,
        "[]",
        "7",
    ] {
        assert!(!is_read_at_once(odd), "{odd}");
    }
    assert!(copied("Pod", rule(Kind::Pod), "{\"a\":", None).is_none());
    assert!(copied("Pod", rule(Kind::Pod), "{} x", None).is_none());
    assert!(copied("Secret", rule(Kind::Secret), "{}", None).is_none());
}

#[test]
fn commands_of_wrong_type_are_replaced() {
    for field in [
        r#""args":"--password=hunter2""#,
        r#""command":[["sh","hunter2"]]"#,
        r#""args":[{"a":"hunter2"}]"#,
        r#""args":{"hunter2":1}"#,
        r#""env":"hunter2""#,
        r#""env":[["hunter2"]]"#,
        r#""env":[{"name":"A","value":{"a":"hunter2"}}]"#,
    ] {
        for labels in ["{}", r#"{"linkerd.io/extension":"viz"}"#] {
            let text = format!(
                r#"{{"metadata":{{"labels":{labels},"name":"n"}},"spec":{{"containers":[{{"name":"a",{field}}}]}}}}"#
            );
            assert!(!is_read_at_once(&text), "{field}");
            let mut tree: Value = serde_json::from_str(&text).expect("it is JSON");
            object("Pod", rule(Kind::Pod), &mut tree);
            assert!(!tree.to_string().contains("hunter2"), "{tree}");
        }
    }
}

#[test]
fn texts_numbers_and_escapes_are_unchanged() {
    assert!(is_read_at_once(
        r#"{"a\u0022b":1,"x":{"token":5,"token2":-0,"n":[1.5,-3,18446744073709551615,1e400,true,null]},
            "metadata":{"name":"\u00e9\n\"","labels":{"\ttab":"\\"},"annotations":{"x/last-applied":{},"linkerd.io/a":"b\u007f"}},
            "status":{"containerStatuses":[{"name":"a","metadata":{"managedFields":1}}]},
            "spec":{"containers":[{"name":5,"metadata":{"labels":{"linkerd.io/extension":"x"}},"args":["a"],"env":null},
                {"name":"b","containers":[{"name":"c","args":["d"]}],"command":["e"]}]}}"#
            .replace("1e400,", "")
            .as_str()
    ));
}

#[test]
fn missing_kind_is_added() {
    let alone = Some(("v1", "Pod"));
    for (text, wanted) in [
        ("{}", json!({"apiVersion": "v1", "kind": "Pod"})),
        (r#"{"spec":{}}"#, json!({"apiVersion": "v1", "kind": "Pod", "spec": {}})),
        (r#"{"kind":"X","apiVersion":"v2"}"#, json!({"apiVersion": "v2", "kind": "X"})),
        (r#"{"kind":null}"#, json!({"apiVersion": "v1", "kind": null})),
    ] {
        let (json, _) = copied("Pod", rule(Kind::Pod), text, alone).expect("an object");
        assert_eq!(serde_json::from_slice::<Value>(&json).expect("it is JSON"), wanted);
    }
}

#[test]
fn cache_respects_owner_and_position() {
    let long = "a word and another ".repeat(5);
    let env = format!(r#"[{{"name":"LINKERD2_PROXY_LOG","value":"{long}"}},{{"name":"X","value":"hunter2"}}]"#);
    let pod = |annotations: &str, container: &str| {
        format!(
            r#"{{"metadata":{{"annotations":{annotations},"name":"n","namespace":"shop"}},"spec":{{"containers":[{container}]}}}}"#
        )
    };
    let meshed = r#"{"linkerd.io/inject":"enabled"}"#;
    for _ in 0..3 {
        for (annotations, name) in [(meshed, "linkerd-proxy"), (meshed, "app"), ("{}", "linkerd-proxy")] {
            for field in ["env", "args", "command", "ports", "livenessProbe", "password", "whatever"] {
                let before = format!(r#"{{"name":"{name}","{field}":{env}}}"#);
                let behind = format!(r#"{{"{field}":{env},"name":"{name}"}}"#);
                // An object is not a word of a command.
                let malformed = matches!(field, "args" | "command");
                assert_eq!(is_read_at_once(&pod(annotations, &before)), !malformed, "{field}");
                is_read_at_once(&pod(annotations, &behind));
            }
            for field in ["ports", "password"] {
                let numbers = format!("[{}7]", "123456789,".repeat(10));
                let container = format!(r#"{{"name":"{name}","{field}":{numbers}}}"#);
                assert!(is_read_at_once(&pod(annotations, &container)));
            }
        }
    }
}
