//! Predicted statuses from the policy controller, for manifests and for objects that a change refers to.

use serde_json::{Value, json};

use crate::changes::{check_output, document, recording, written};

/// A route with a missing parent, and one with a missing backend.
const LOST: &str = r#"
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: lost, namespace: shop}
spec:
  parentRefs: [{group: core, kind: Service, name: wbe, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: split, namespace: shop}
spec:
  parentRefs: [{group: "", kind: Service, name: web, port: 80}]
  rules: [{backendRefs: [{name: canary, port: 80}]}]
"#;

#[test]
fn routes_that_nobody_applied_are_told_what_the_policy_controller_would_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "routes.yaml", LOST);
    let shown = path.display().to_string();
    let only = ["--only", "route-not-accepted"];
    // Objects outside the set are not reported as missing.
    let alone = ["check", "--manifests", &shown, "--linkerd-version", "2.18", "-o", "short"];
    let said = check_output(&[&alone[..], &only].concat(), 4);
    assert!(!said.contains("shop/lost"), "{said}");
    let headless = "apiVersion: v1\nkind: Service\nmetadata: {name: wbe, namespace: shop}\nspec: {clusterIP: None}\n";
    let headless = written(folder.path(), "service.yaml", headless).display().to_string();
    let said = check_output(&[&alone[..], &only, &["--manifests", &headless]].concat(), 0);
    assert!(said.contains("warning route-not-accepted HTTPRoute shop/lost"), "{said}");
    assert!(!said.contains("shop/split"), "{said}");
    let Some(cluster) = recording("healthy-2.18") else { return };
    // A backend that does not exist fails requests.
    let said = document(&cluster, &path, 1);
    let found: Vec<(&str, &str)> = said["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["check"] == json!("route-not-accepted"))
        .map(|finding| (finding["when"].as_str().unwrap(), finding["message"].as_str().unwrap()))
        .collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(when, _)| *when == "after-change"), "{found:?}");
    assert!(found.iter().any(|(_, message)| message.contains("Service wbe does not exist")), "{found:?}");
    assert!(found.iter().any(|(_, message)| message.contains("Service shop/canary")), "{found:?}");
}

/// A control plane and three routes with the status that the policy controller wrote: two accepted, one without its Service.
const ROUTED: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: linkerd-destination, namespace: linkerd, labels: {linkerd.io/control-plane-component: destination, linkerd.io/control-plane-ns: linkerd}}
spec:
  template:
    metadata: {labels: {linkerd.io/control-plane-component: destination}}
    spec:
      containers: [{name: policy, image: "cr.l5d.io/linkerd/policy-controller:edge-25.4.4"}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop, labels: {app: web}}
spec: {clusterIP: 10.96.0.7, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {clusterIP: 10.96.0.8, ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: web, port: 80}], rules: [{backendRefs: [{name: web, port: 80}]}]}
status:
  parents:
    - controllerName: linkerd.io/policy-controller
      parentRef: {group: core, kind: Service, name: web, namespace: shop, port: 80}
      conditions: [{type: Accepted, status: "True", reason: Accepted}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: api, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: api, port: 80}], rules: [{backendRefs: [{name: api, port: 80}]}]}
status:
  parents:
    - controllerName: linkerd.io/policy-controller
      parentRef: {group: core, kind: Service, name: api, namespace: shop, port: 80}
      conditions: [{type: Accepted, status: "True", reason: Accepted}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: late, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: late, port: 80}]}
status:
  parents:
    - controllerName: linkerd.io/policy-controller
      parentRef: {group: core, kind: Service, name: late, namespace: shop, port: 80}
      conditions: [{type: Accepted, status: "False", reason: NoMatchingParent}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}]
"#;

#[test]
fn a_change_gives_routes_another_status_with_what_they_refer_to() {
    let folder = tempfile::tempdir().unwrap();
    let dump = written(folder.path(), "dump.yaml", ROUTED).display().to_string();
    let route = r#"
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: api, namespace: shop}
spec: {parentRefs: [{group: "", kind: Service, name: api, port: 80}], rules: [{backendRefs: [{name: gone, port: 80}]}]}
"#;
    let late = "apiVersion: v1\nkind: Service\nmetadata: {name: late, namespace: shop}\nspec: {ports: [{port: 80}]}\n";
    let idle = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: idle, namespace: shop}\n";
    let said = |set: &str, more: &[&str], exit: i32| -> Vec<(String, String)> {
        let set = written(folder.path(), "set.yaml", set).display().to_string();
        let all = ["check", "--bundle", &dump, "--complete", "all", "--only", "route-not-accepted", "-o", "json"];
        let text = check_output(&[&all[..], &["--with", &set], more].concat(), exit);
        let document: Value = serde_json::from_str(&text).unwrap();
        let findings = document["findings"].as_array().unwrap().iter();
        let of = |finding: &Value| {
            let name = finding["subjects"][0]["name"].as_str().unwrap_or_default().to_owned();
            (name, finding["when"].as_str().unwrap_or_default().to_owned())
        };
        findings.map(of).collect()
    };
    let is = |name: &str, when: &str| (name.to_owned(), when.to_owned());
    // The route to a missing backend is new; the unchanged route is not.
    let changed = said(route, &[], 1);
    assert!(changed.contains(&is("api", "after-change")), "{changed:?}");
    assert!(!changed.iter().any(|(name, _)| name == "web"), "{changed:?}");
    assert!(!changed.contains(&is("late", "until-change")), "{changed:?}");
    // The Service that a route waits for cures it.
    assert_eq!(said(late, &[], 0), [is("late", "until-change")]);
    // Routes that name a deleted object are reported.
    let pruned = said(idle, &["--prune", "app=web"], 0);
    assert!(pruned.contains(&is("web", "after-change")), "{pruned:?}");
    assert!(!pruned.iter().any(|(name, _)| name == "api"), "{pruned:?}");
}
