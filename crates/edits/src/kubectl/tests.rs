use serde_json::json;

use super::*;

fn one(command: &str) -> Action {
    let mut actions = actions(command).unwrap_or_else(|why| panic!("{command}: {why}"));
    assert_eq!(actions.len(), 1, "{command}");
    actions.remove(0)
}

fn edited(command: &str, object: Value) -> Result<Value, String> {
    match one(command) {
        Action::Edit { edit, .. } => edit.apply(&object),
        other => panic!("{command}: {other:?}"),
    }
}

fn reason(command: &str) -> String {
    actions(command).map_or_else(|why| why.to_string(), |actions| panic!("{command}: {actions:?}"))
}

#[test]
fn annotate_sets_and_removes_keys() {
    let object = json!({"metadata": {"annotations": {"a": "1", "b": "2"}}});
    let after = edited("kubectl annotate --overwrite namespace shop a=x b- c-", object.clone());
    assert_eq!(after, Ok(json!({"metadata": {"annotations": {"a": "x"}}})));
    let refused = edited("kubectl annotate namespace shop a=x", object);
    assert_eq!(refused, Err("kubectl refuses to replace a without --overwrite".to_owned()));
}

#[test]
fn label_without_entries_removes_the_field() {
    let object = json!({"metadata": {"name": "x", "labels": {"a": "1"}}});
    assert_eq!(edited("kubectl -n shop label pod x a-", object), Ok(json!({"metadata": {"name": "x"}})));
}

#[test]
fn targets_are_read_in_both_notations() {
    let target = |kind, namespace: &str, names: &[&str]| Target {
        kind,
        namespace: namespace.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(
        one("kubectl --context east -n shop rollout restart deployment/web deployment/api"),
        Action::Restart(target(Kind::Deployment, "shop", &["web", "api"]))
    );
    assert_eq!(
        one("kubectl -n linkerd rollout restart deployment"),
        Action::Restart(target(Kind::Deployment, "linkerd", &[]))
    );
    assert_eq!(
        one("kubectl -n shop delete servers.policy.linkerd.io api"),
        Action::Delete { target: target(Kind::Server, "shop", &["api"]), must_exist: true }
    );
    assert_eq!(reason("kubectl -n a rollout restart deployment/web daemonset/x"), "it names objects of several kinds");
}

#[test]
fn patches_of_each_type_change_fields() {
    let merged = edited(
        r#"kubectl -n shop patch deployment web --type merge -p '{"spec":{"template":{"metadata":{"annotations":{"a":"1","b":null}}}}}'"#,
        json!({"spec": {"template": {"metadata": {"annotations": {"b": "2"}}}}}),
    );
    assert_eq!(merged, Ok(json!({"spec": {"template": {"metadata": {"annotations": {"a": "1"}}}}})));
    let strategic = edited(
        r#"kubectl -n x patch daemonset y --type strategic -p '{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i:2"}],"hostNetwork":null}}}}'"#,
        json!({"spec": {"template": {"spec": {"hostNetwork": true, "containers": [{"name": "b"}, {"name": "a", "tty": true}]}}}}),
    );
    let containers = json!([{"name": "b"}, {"name": "a", "tty": true, "image": "i:2"}]);
    assert_eq!(strategic, Ok(json!({"spec": {"template": {"spec": {"containers": containers}}}})));
    let json = edited(
        r#"kubectl -n x patch networkpolicy y --type=json -p '[{"op":"add","path":"/spec/egress/0/ports/-","value":{"port":1}}]'"#,
        json!({"spec": {"egress": [{"ports": []}]}}),
    );
    assert_eq!(json, Ok(json!({"spec": {"egress": [{"ports": [{"port": 1}]}]}})));
}

#[test]
fn impossible_patches_are_refused() {
    let command = r#"kubectl patch networkpolicy y --type=json -p '[{"op":"add","path":"/spec/a/b","value":1}]'"#;
    assert_eq!(edited(command, json!({"spec": {}})), Err("/spec/a/b does not exist".to_owned()));
    assert!(reason("kubectl patch servers.policy.linkerd.io y -p '{}'").contains("no strategic patch"));
}

#[test]
fn scale_resume_cordon_and_env_are_edits() {
    let spec = |command: &str| edited(command, json!({"spec": {"paused": true, "unschedulable": true}})).unwrap();
    assert_eq!(spec("kubectl -n v scale deployment m --replicas 2")["spec"]["replicas"], json!(2));
    assert!(spec("kubectl -n v rollout resume deployment/m")["spec"].get("paused").is_none());
    assert!(spec("kubectl uncordon n1")["spec"].get("unschedulable").is_none());
    let object = json!({"spec": {"template": {"spec": {"containers": [{"name": "a"}]}}}});
    let after = edited("kubectl -n k set env daemonset aws-node A=b", object).unwrap();
    assert_eq!(after.pointer("/spec/template/spec/containers/0/env"), Some(&json!([{"name": "A", "value": "b"}])));
}

#[test]
fn reading_commands_observe() {
    for command in [
        "kubectl -n shop get pods -o yaml | grep x",
        "kubectl -n linkerd rollout status deployment/linkerd-identity --timeout=120s",
        "kubectl -n shop describe pod \"$POD\"",
        "meshdoctor check --only a",
    ] {
        assert_eq!(one(command), Action::Observe, "{command}");
    }
}

#[test]
fn unknown_effects_name_their_reason() {
    for (command, why) in [
        (
            "linkerd version --client --short | grep -Fx edge-25.4.4 && linkerd upgrade | kubectl apply -f -",
            "it runs linkerd upgrade",
        ),
        ("linkerd viz install | kubectl apply -f -", "it runs linkerd viz install"),
        ("kubectl get x -o json | kubectl replace -f -", "it applies the output of another command"),
        ("kubectl -n shop delete pod \"$POD\"", "it has values that are only known when it runs"),
        ("kubectl -n shop edit deployment web", "the right value is your decision"),
        (
            "kubectl -n argo patch rollouts.argoproj.io x --type merge -p '{}'",
            "rollouts.argoproj.io is a kind that is not read",
        ),
        ("for a in b; do echo; done", "it is a script with loops or conditions"),
        ("kubectl -n a delete pod -l app=x", "it selects objects by labels, fields or a file"),
    ] {
        assert_eq!(reason(command), why, "{command}");
    }
}
