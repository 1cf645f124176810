//! `meshdoctor policy --to`, and `reach` with routes and destinations outside the cluster, on one small
//! cluster.

use crate::binary::{Ran, meshdoctor, ran, write};

const CLUSTER: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: linkerd-destination, namespace: linkerd, labels: {linkerd.io/control-plane-component: destination}}
spec:
  template:
    metadata: {labels: {linkerd.io/control-plane-component: destination}}
    spec:
      containers:
        - {name: policy, image: "cr.l5d.io/linkerd/policy-controller:edge-26.8.3", args: [--cluster-networks=10.0.0.0/8, "--default-opaque-ports=25,5432"]}
---
apiVersion: v1
kind: Pod
metadata: {name: linkerd-destination-1, namespace: linkerd, labels: {linkerd.io/control-plane-component: destination}}
spec: {containers: [{name: destination, image: c}, {name: policy, image: p}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: destination, ready: true}, {name: policy, ready: true}]
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web, linkerd.io/control-plane-ns: linkerd}}
spec:
  containers: [{name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-26.8.3"}, {name: app, image: app}]
status: {phase: Running}
---
apiVersion: v1
kind: Service
metadata:
  name: api
  namespace: shop
  annotations: {timeout.linkerd.io/request: 5s, retry.linkerd.io/http: 5xx, balancer.linkerd.io/failure-accrual: consecutive}
spec: {clusterIP: 10.96.0.7, selector: {app: api}, ports: [{port: 80, targetPort: 8080}, {port: 5432}]}
---
apiVersion: v1
kind: Service
metadata: {name: lost, namespace: shop, annotations: {timeout.linkerd.io/request: "5"}}
spec: {clusterIP: 10.96.0.8, selector: {app: lost}, ports: [{port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: split, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  parentRefs: [{group: "", kind: Service, name: api, port: 80}]
  rules:
    - matches: [{path: {type: PathPrefix, value: /v2}, method: GET}]
      backendRefs: [{name: api, port: 80, weight: 90}, {name: gone, port: 80, weight: 10}]
      timeouts: {request: 2s}
status:
  parents:
    - parentRef: {group: "", kind: Service, name: api, port: 80}
      controllerName: linkerd.io/policy-controller
      conditions: [{type: Accepted, status: "True"}]
---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: dead, namespace: shop}
spec:
  parentRefs: [{group: core, kind: Service, name: lost, port: 80}]
  rules: [{backendRefs: [{name: gone, port: 80}]}]
status:
  parents:
    - parentRef: {group: core, kind: Service, name: lost, port: 80}
      controllerName: linkerd.io/policy-controller
      conditions: [{type: Accepted, status: "True"}]
---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: mistyped, namespace: shop, annotations: {retry.linkerd.io/http: 99x}}
spec:
  parentRefs: [{group: core, kind: Service, name: api, port: 80}]
  rules: [{}]
---
apiVersion: policy.linkerd.io/v1alpha1
kind: EgressNetwork
metadata: {name: out, namespace: shop}
spec: {trafficPolicy: Deny}
"#;

fn run_with(words: &[&str], more: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{CLUSTER}{more}"));
    let ran = run(words, &dump);
    (ran.status, ran.text())
}

fn run(words: &[&str], dump: &str) -> Ran {
    let of = ["--bundle", dump, "--complete", "all"];
    ran(meshdoctor(&[words, &of].concat()).env("COLUMNS", "100"))
}

#[test]
fn where_calls_go_is_told() {
    let (status, text) = run_with(
        &["policy", "--to", "shop/api", "--to", "shop/lost:80", "--to", "192.0.2.7:443", "--from", "shop"],
        "",
    );
    let expected = "\
Service shop/api, port 80, for clients of shop
  the proxy detects the protocol: these rules apply to HTTP, other protocols pass unchanged
  HTTPRoute shop/split
    GET /v2/* -> 90% to api:80, 10% fails with 500 (Service shop/gone does not exist)
      time limits: request 2s; retried once on 500-599
  requests that match none of these rules are answered with 404
  circuit breaking: an endpoint is excluded after 7 failures in a row, for 1s to 60s
  has no effect: HTTPRoute shop/mistyped: retry.linkerd.io/http: \"99x\" is not a status to retry

Service shop/api, port 5432, for clients of shop
  the port is opaque: no HTTP routes, limits or retries
  no route is attached: all traffic goes to the Service itself

Service shop/lost, port 80, for clients of shop
  the proxy detects the protocol: these rules apply to HTTP, other protocols pass unchanged
  HTTPRoute shop/dead
    every request -> fails with 500 (Service shop/gone does not exist)
  has no effect: timeout.linkerd.io/request: \"5\" is not a duration such as 250ms or 10s

192.0.2.7:443, for clients of shop
  the proxy detects the protocol: these rules apply to HTTP, other protocols pass unchanged
  EgressNetwork shop/out selects it: denied; HTTP is answered with 403

";
    assert_eq!((status, text.as_str()), (0, expected));
}

#[test]
fn a_call_that_its_routes_let_fail_stops_there() {
    for (to, words) in [
        ("shop/api:80", "HTTPRoute split: some of the requests fail: Service shop/gone does not exist (HTTP 500)"),
        ("shop/lost:80", "HTTPRoute dead: every request that it matches fails: Service shop/gone does not exist"),
        ("192.0.2.7:443", "EgressNetwork out denies it, and no route allows it"),
        ("api.example.com:443", "EgressNetwork out denies it, and no route allows it"),
    ] {
        let (status, text) = run_with(&["reach", "shop/web-1", to], "");
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(words), "{to}: {text}");
        assert_eq!(status, 1, "{to}: {text}");
    }
}

#[test]
fn a_network_that_lets_out_or_that_may_not_hold_is_no_refusal() {
    let narrow = CLUSTER.replace("{trafficPolicy: Deny}", "{trafficPolicy: Deny, networks: [{cidr: 198.51.100.0/24}]}");
    let open = CLUSTER.replace("{trafficPolicy: Deny}", "{trafficPolicy: Allow}");
    for (cluster, to, words) in [
        (&open, "192.0.2.7:443", "EgressNetwork out allows it"),
        (&narrow, "api.example.com:443", "whether EgressNetwork out selects it depends on its address and port"),
        (&narrow, "192.0.2.7:443", "is outside the cluster"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let dump = write(folder.path(), "shop.yaml", cluster);
        let output = run(&["reach", "shop/web-1", to], &dump);
        let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words) && !text.contains("denies"), "{to}: {text}");
        assert_eq!(output.status, 4, "{to}: {text}");
    }
}

#[test]
fn the_answer_is_there_for_programs_and_what_is_meant_wrongly_is_refused() {
    let (_, text) = run_with(&["policy", "--to", "shop/api:80", "-o", "json"], "");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let call = &answer["calls"][0];
    assert_eq!(call["routes"][0]["rules"][0]["backends"][1]["fails"], "Service shop/gone does not exist");
    assert_eq!(call["matchesEverything"], false);
    let (_, text) = run_with(&["policy", "--to", "10.96.0.7:81", "-o", "controller"], "");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        answer["outbound"][0]["policy"]["protocol"]["opaque"]["routes"][0]["metadata"]["default"],
        "undefined-port"
    );
    for (to, words) in [
        ("api", "has no namespace"),
        ("shop/api:0", "is not a NAMESPACE/SERVICE"),
        ("shop/none", "no Service shop/none with a port exists"),
    ] {
        let (status, text) = run_with(&["policy", "--to", to], "");
        assert!(status == 2 && text.contains(words), "{to}: {status} {text}");
    }
}
