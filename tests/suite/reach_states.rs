//! `meshdoctor reach` where pods of one workload differ, or a component of the control plane is gone.

use crate::binary::write;
use crate::policy_command::{SHOP, run_on_dump};

/// A control plane with all components, and a Service whose two pods come from one ReplicaSet: one has no proxy.
const DUO: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: front-1, namespace: shop, labels: {app: front, linkerd.io/control-plane-ns: linkerd}}
spec:
  serviceAccountName: front
  containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]
---
apiVersion: v1
kind: Pod
metadata:
  name: duo-5d8f7c9b6f-a
  namespace: shop
  labels: {app: duo, pod-template-hash: 5d8f7c9b6f}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: duo-5d8f7c9b6f, controller: true}]
spec: {containers: [{name: app, image: app, ports: [{name: http, containerPort: 8080}]}]}
status: {phase: Running, podIP: 10.0.0.8, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: duo-5d8f7c9b6f-b
  namespace: shop
  labels: {app: duo, pod-template-hash: 5d8f7c9b6f, linkerd.io/control-plane-ns: linkerd}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: duo-5d8f7c9b6f, controller: true}]
spec:
  containers:
  - {name: linkerd-proxy, image: p}
  - {name: app, image: app, ports: [{name: http, containerPort: 8080}]}
status:
  phase: Running
  podIP: 10.0.0.9
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: linkerd-proxy, ready: true}]
---
apiVersion: v1
kind: Service
metadata: {name: duo, namespace: shop}
spec: {clusterIP: 10.96.0.8, selector: {app: duo}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: duo-1, namespace: shop, labels: {kubernetes.io/service-name: duo}}
endpoints: [{addresses: [10.0.0.8], conditions: {ready: true}}, {addresses: [10.0.0.9], conditions: {ready: true}}]
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: duo, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {podSelector: {matchLabels: {app: duo}}, port: http, proxyProtocol: HTTP/1}
"#;

fn reached(cluster: &str) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{DUO}{cluster}"));
    let output = run_on_dump("reach", &["shop/front-1", "shop/duo:80"], &dump);
    (output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn pods_of_one_replica_set_are_judged_apart_if_one_has_no_proxy() {
    let (status, text) = reached("");
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("some calls succeed, others fail"), "{text}");
    assert!(text.contains("1 of 2 endpoints (pod duo-5d8f7c9b6f-b)"), "{text}");
}

#[test]
fn certificates_are_unknown_while_identity_has_no_pod() {
    let identity = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: linkerd-identity-1, namespace: linkerd, labels: {linkerd.io/control-plane-component: identity}}
spec: {containers: [{name: identity, image: c}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: identity, ready: true}]
"#;
    let unknown = "identity has no ready pod, and nothing shows since when";
    assert!(reached("").1.contains(unknown), "{}", reached("").1);
    assert!(!reached(identity).1.contains(unknown), "{}", reached(identity).1);
}
