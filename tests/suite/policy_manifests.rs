//! `policy --generate`: the manifests deny nothing that is allowed today, pass `check --with`, and state what is not known.

use std::path::Path;

use crate::binary::{Ran, meshdoctor, ran, write};

const AT: &str = "2026-01-15T12:00:00Z";

/// A client in another namespace, and a Service of the workload `web` with two ports.
const SERVICES: &str = r#"
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.43.0.9
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}, {name: db, port: 5432, targetPort: 5432}]
---
apiVersion: v1
kind: Service
metadata: {name: web-again, namespace: shop}
spec:
  clusterIP: 10.43.0.10
  selector: {app: web}
  ports: [{name: http, port: 8080}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: shop}
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop}
spec:
  clusterIP: 10.43.0.11
  ports: [{port: 80}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}, {name: db, port: 5432, protocol: TCP}]
endpoints:
- {addresses: [10.0.1.20], conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-5d9f8c7b66-4xq7p}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-again-1, namespace: shop, labels: {kubernetes.io/service-name: web-again}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.0.1.20], conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-5d9f8c7b66-4xq7p}}
---
apiVersion: v1
kind: Pod
metadata:
  name: batch
  namespace: tools
  labels: {app: batch, linkerd.io/control-plane-ns: linkerd}
  annotations: {linkerd.io/created-by: linkerd/proxy-injector edge-25.4.4, linkerd.io/proxy-version: edge-25.4.4}
spec:
  nodeName: ip-10-0-1-12
  serviceAccountName: batch
  containers:
    - {name: batch, image: "registry.example.com/tools/batch:1"}
    - {name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-25.4.4", env: [{name: LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS, value: "ANCHORS"}]}
status:
  phase: Running
  podIP: 10.0.1.77
  conditions: [{type: Ready, status: "True"}]
  containerStatuses:
    - {name: batch, ready: true, restartCount: 0, state: {running: {startedAt: "2026-01-13T09:00:10Z"}}}
    - {name: linkerd-proxy, ready: true, restartCount: 0, state: {running: {startedAt: "2026-01-13T09:00:10Z"}}}
"#;

/// Annotations of the workload's pods, and with an opaque port.
const PODS: &str = "linkerd.io/inject: enabled, linkerd.io/proxy-version";
const PODS_OPAQUE: &str = "linkerd.io/inject: enabled, config.linkerd.io/opaque-ports: '5432', ";

/// The mesh as a file. Servers are of v1beta3 if `audits`.
fn mesh(folder: &Path, audits: bool, more: &str) -> String {
    let base = crate::case::base("healthy").unwrap();
    let value: serde_yaml::Value = serde_yaml::Deserializer::from_str(&base)
        .map(|document| serde::Deserialize::deserialize(document).unwrap())
        .find(|object: &serde_yaml::Value| object["metadata"]["name"] == "linkerd-identity-trust-roots")
        .unwrap();
    let anchors = value["data"]["ca-bundle.crt"].as_str().unwrap().replace('\n', "\\n");
    let text = format!("{base}\n{}\n{more}", SERVICES.replace("ANCHORS", &anchors));
    let text = text.replace(PODS, &format!("{PODS_OPAQUE}linkerd.io/proxy-version"));
    let text =
        if audits { text } else { text.replace("{name: v1beta3, served: true", "{name: v1beta3, served: false") };
    write(folder, "mesh.yaml", text)
}

/// The option as users type it.
#[test]
fn option_without_dashes_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    for words in [&["generate", "-n", "shop"][..], &["generate", "shop"]] {
        let all = [&["policy"], words, &["--bundle", &bundle, "--complete", "all", "--at", AT]].concat();
        let ran = ran(meshdoctor(&all));
        assert!(ran.err.contains("meshdoctor policy --generate -n shop\n"), "{}", ran.err);
    }
}

fn generated(bundle: &str, more: &[&str]) -> Ran {
    let words = ["policy", "shop", "--generate", "--bundle", bundle, "--complete", "all", "--at", AT];
    ran(meshdoctor(&[&words[..], more].concat()))
}

#[test]
fn generated_policies_deny_nothing_and_pass_check_with() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    let ran = generated(&bundle, &[]);
    for words in [
        "kind: Server",
        "accessPolicy: audit",
        "proxyProtocol: opaque",
        "kind: MeshTLSAuthentication",
        "Edit this list",
        "left out: Service shop/web-again port 8080",
        "left out: Service shop/outside port 80: it selects no pods",
    ] {
        assert!(ran.out.contains(words), "{words}: {}\n{}", ran.out, ran.err);
    }
    // Ports with the same clients share their list.
    assert_eq!(ran.out.matches("kind: MeshTLSAuthentication\nmetadata").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("\n      name: meshed-clients\n").count(), 2, "{}", ran.out);
    assert!(!ran.out.contains("denied with these manifests") && ran.out.contains("# proof: "), "{}", ran.out);
    assert_eq!(ran.status, 0, "{}\n{}", ran.out, ran.err);
    let manifests = write(folder.path(), "policies.yaml", &ran.out);
    let check = |with: &[&str]| {
        let words =
            ["check", "--bundle", &bundle, "--complete", "all", "--at", AT, "--fail-on", "warning", "-o", "json"];
        crate::binary::ran(meshdoctor(&[&words[..], with].concat())).document()
    };
    let report = check(&["--with", &manifests]);
    let new: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["change"] == "new" && one["severity"] != "info")
        .map(|one| format!("{}: {}", one["check"], one["message"]))
        .collect();
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn enforced_policies_name_the_clients_that_they_would_deny() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    let ran = generated(&bundle, &["--enforce"]);
    assert_eq!(ran.status, 1, "{}\n{}", ran.out, ran.err);
    assert!(!ran.out.contains("accessPolicy:"), "{}", ran.out);
    assert!(ran.out.contains("denied with these manifests: tools/batch to shop/web:80"), "{}", ran.out);
    assert!(!ran.out.contains("denied with these manifests: shop/web to"), "{}", ran.out);
    // The control plane calls no application.
    assert!(!ran.out.contains("denied with these manifests: linkerd/"), "{}", ran.out);
}

/// A webhook of a meshed workload, and a CronJob without a pod in each of two namespaces.
const OTHERS: &str = r#"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: shop}
webhooks:
- name: web.shop.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: shop, name: web, port: 80, path: /validate}}
  rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: nightly, namespace: shop}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {metadata: {annotations: {linkerd.io/inject: enabled}},
    spec: {serviceAccountName: nightly, containers: [{name: nightly, image: "registry.example.com/nightly:1"}]}}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: tools}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {metadata: {annotations: {linkerd.io/inject: enabled}},
    spec: {serviceAccountName: report, containers: [{name: report, image: "registry.example.com/report:1"}]}}}}
"#;

#[test]
fn enforced_policies_cover_clients_without_a_pod() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, OTHERS);
    let ran = generated(&bundle, &["--enforce"]);
    let out = ran.out.replace("\n# ", " ");
    assert!(out.contains("new problem with these manifests: caller-without-identity"), "{}", ran.out);
    assert!(out.contains("CronJob tools/report has no pod now"), "{}", ran.out);
    assert!(!out.contains("CronJob shop/nightly has no pod now"), "{}", ran.out);
    assert!(ran.out.contains("name: nightly"), "{}", ran.out);
}

#[test]
fn releases_without_audit_require_enforce() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), false, "");
    let ran = generated(&bundle, &[]);
    assert_eq!(ran.status, 2, "{}\n{}", ran.out, ran.err);
    assert!(ran.err.contains("--enforce"), "{}", ran.err);
}

/// An audit policy would allow clients that a stricter default denies.
#[test]
fn stricter_default_policy_of_a_port_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    let text = std::fs::read_to_string(&bundle).unwrap();
    let strict = format!("{PODS_OPAQUE}config.linkerd.io/default-inbound-policy: all-authenticated, ");
    let text = text.replace(PODS_OPAQUE, &strict);
    let bundle = write(folder.path(), "strict.yaml", text);
    let ran = generated(&bundle, &[]);
    assert!(ran.out.contains("accessPolicy: all-authenticated"), "{}\n{}", ran.out, ran.err);
    assert!(!ran.out.contains("accessPolicy: audit"), "{}", ran.out);
}

/// A second pod of the Service `web`, with annotations of its own.
fn second_pod(annotations: &str) -> String {
    format!(
        r#"---
apiVersion: v1
kind: Pod
metadata:
  name: web-other
  namespace: shop
  labels: {{app: web, track: other, linkerd.io/control-plane-ns: linkerd}}
  annotations: {{linkerd.io/created-by: linkerd/proxy-injector edge-25.4.4, linkerd.io/proxy-version: edge-25.4.4{annotations}}}
spec:
  nodeName: ip-10-0-1-12
  serviceAccountName: web
  containers:
    - {{name: web, image: "registry.example.com/shop/web:1", ports: [{{containerPort: 8080}}]}}
    - {{name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-25.4.4"}}
status: {{phase: Running, podIP: 10.0.1.78, conditions: [{{type: Ready, status: "True"}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: dns, namespace: shop}}
spec: {{clusterIP: 10.43.0.12, selector: {{app: web}}, ports: [{{port: 53, protocol: UDP}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: zz-other, namespace: shop}}
spec: {{clusterIP: 10.43.0.13, selector: {{track: other}}, ports: [{{port: 8080}}]}}
"#
    )
}

/// One Server for all pods would open or close some of them.
#[test]
fn ports_whose_pods_differ_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    for (annotation, words) in [
        (", config.linkerd.io/default-inbound-policy: deny", "pod web-other (default policy deny)"),
        (", config.linkerd.io/opaque-ports: '8080'", "pod web-other (default policy all-unauthenticated, opaque)"),
    ] {
        let bundle = mesh(folder.path(), true, &second_pod(annotation));
        let ran = generated(&bundle, &[]);
        let out = ran.out.replace("\n# ", " ");
        let said = "left out: Service shop/web port 80: its pods differ";
        assert!(out.contains(said) && out.contains(words), "{out}\n{}", ran.err);
        assert!(out.contains("left out: Service shop/dns port 53: the proxies handle only TCP"), "{out}");
    }
}

/// A default policy that denies every client is not opened.
#[test]
fn denied_port_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, &second_pod(", config.linkerd.io/default-inbound-policy: deny"));
    let out = generated(&bundle, &[]).out.replace("\n# ", " ");
    assert!(out.contains("left out: Service shop/zz-other port 8080: the default policy denies"), "{out}");
    assert!(!out.contains("allowed with these manifests"), "{out}");
}

/// A Service that selects a part of the pods of another one.
#[test]
fn pods_without_policy_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let more = second_pod("").replace("zz-other", "a-other");
    let bundle = mesh(folder.path(), true, &more);
    let out = generated(&bundle, &["--enforce"]).out.replace("\n# ", " ");
    let words = "selects pod web-other, and a pod may have only one for a port. No policy is generated for pods web-";
    assert!(out.contains(words), "{out}");
}

#[test]
fn namespaces_of_linkerd_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    let words = ["policy", "linkerd", "--generate", "--bundle", &bundle, "--complete", "all", "--at", AT];
    let ran = ran(meshdoctor(&words));
    assert_eq!(ran.status, 2, "{}\n{}", ran.out, ran.err);
    assert!(ran.err.contains("which holds a part of Linkerd"), "{}", ran.err);
}

/// Without every pod, it is unknown which clients exist.
#[test]
fn missing_lists_are_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = mesh(folder.path(), true, "");
    let words = ["policy", "shop", "--generate", "--bundle", &bundle, "--at", AT];
    let ran = ran(meshdoctor(&words));
    assert_ne!(ran.status, 0, "{}\n{}", ran.out, ran.err);
}
