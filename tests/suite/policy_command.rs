//! `meshdoctor policy` on a small cluster: who may connect and why, and missing references.

use serde_json::Value;

use crate::binary::{Ran, meshdoctor, ran, write};

/// A small cluster with an effective policy, an ineffective one, and a Server that is passed over.
pub(crate) const SHOP: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: linkerd-destination, namespace: linkerd, labels: {linkerd.io/control-plane-component: destination}}
spec:
  template:
    metadata: {labels: {linkerd.io/control-plane-component: destination}}
    spec:
      containers:
        - {name: policy, image: "cr.l5d.io/linkerd/policy-controller:edge-26.5.5", args: [--cluster-networks=10.0.0.0/8, --probe-networks=0.0.0.0/0]}
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
  initContainers: [{name: linkerd-init, image: i}]
  containers:
    - {name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-26.5.5"}
    - name: app
      image: app
      ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9090}]
      readinessProbe: {httpGet: {path: "/ready?full=1", port: http}}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: web, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {podSelector: {matchLabels: {app: web}}, port: http, proxyProtocol: HTTP/1}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: younger, namespace: shop, creationTimestamp: "2026-02-01T00:00:00Z"}
spec: {podSelector: {}, port: 8080}
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: front, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: web}
  requiredAuthenticationRefs: [{kind: ServiceAccount, name: front}]
---
apiVersion: policy.linkerd.io/v1alpha1
kind: AuthorizationPolicy
metadata: {name: lost, namespace: shop}
spec:
  targetRef: {group: policy.linkerd.io, kind: Server, name: web}
  requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: NetworkAuthentication, name: gone}]
---
apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: astray, namespace: shop}
spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: wbe}], rules: [{matches: [{path: {value: /astray}}]}]}
"#;

/// Runs a command on a complete dump.
pub(crate) fn run_on_dump(command: &str, words: &[&str], dump: &str) -> Ran {
    told_of(command, words, dump, "all")
}

/// The same for a dump that is only complete for some kinds.
pub(crate) fn told_of(command: &str, words: &[&str], dump: &str, complete: &str) -> Ran {
    let of = ["--bundle", dump, "--complete", complete];
    ran(meshdoctor(&[&[command], words, &of].concat()).env("COLUMNS", "100"))
}

fn run(words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", SHOP);
    let Ran { status, out, err } = run_on_dump("policy", words, &dump);
    assert!(err.is_empty() || status != 0, "{err}");
    (status, out)
}

/// A port that skips the proxy, a Server in audit mode, and an authorized service account that does not exist.
const EDGES: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: skip-1, namespace: shop, annotations: {config.linkerd.io/skip-inbound-ports: "8080"}, labels: {app: skip, linkerd.io/control-plane-ns: linkerd}}
spec:
  containers:
    - {name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-26.5.5"}
    - {name: app, image: app, ports: [{name: http, containerPort: 8080}]}
---
apiVersion: v1
kind: Pod
metadata: {name: audit-1, namespace: shop, labels: {app: audit, linkerd.io/control-plane-ns: linkerd}}
spec:
  containers:
    - {name: linkerd-proxy, image: "cr.l5d.io/linkerd/proxy:edge-26.5.5"}
    - {name: app, image: app, ports: [{name: http, containerPort: 7000}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: audit, namespace: shop}
spec: {podSelector: {matchLabels: {app: audit}}, port: 7000, accessPolicy: audit}
"#;

#[test]
fn skipped_ports_audits_and_lost_accounts_are_stated() {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{EDGES}"));
    let text = |target: &str| run_on_dump("policy", &[target], &dump).out;
    let skipped = text("shop/skip-1");
    assert!(skipped.contains("8080 http  skips the proxy  -         all clients      no policy applies"), "{skipped}");
    let audited = text("shop/audit-1");
    assert!(audited.contains("accessPolicy audit") && !audited.contains("default policy  "), "{audited}");
    let lost = text("shop/web-1");
    assert!(lost.contains("ServiceAccount shop/front does not exist"), "{lost}");
    let json: Value = serde_json::from_str(&run_on_dump("policy", &["shop/skip-1", "-o", "json"], &dump).out).unwrap();
    let ports = json["workloads"][0]["ports"].as_array().unwrap();
    let skips = |number: u16| ports.iter().find(|port| port["port"] == number).unwrap()["skipsProxy"].clone();
    assert_eq!((skips(8080), skips(4191)), (Value::Bool(true), Value::Bool(false)));
}

#[test]
fn the_command_says_who_is_let_in_by_what() {
    let (status, text) = run(&["shop"]);
    assert_eq!(status, 0);
    let expected = "\
Pod shop/web-1
  PORT        SERVER      PROTOCOL  ALLOWED CLIENTS                        ALLOWED BY
  8080 http   Server web  HTTP/1    ServiceAccount shop/front              AuthorizationPolicy front
                                    (does not exist)
  9090 admin  none        detected  all clients                            default policy
  default policy: all-unauthenticated; kubelet probes, with exactly their paths, are allowed on 8080
  note: younger also selects port 8080, and is ignored: Server web is older (2026-01-01T00:00:00Z
    against 2026-02-01T00:00:00Z)
  note: ServiceAccount shop/front does not exist, so its authorization allows no client

No effect
  HTTPRoute shop/astray: Server wbe does not exist in namespace shop
  AuthorizationPolicy shop/lost: it requires NetworkAuthentication shop/gone, which is missing or
  has no effect
";
    assert_eq!(text, expected);
    let (_, json) = run(&["shop/web-1:8080", "-o", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let port = &json["workloads"][0]["ports"][0];
    assert_eq!(port["takenBy"]["name"], "web");
    assert_eq!(port["admits"][0]["identities"][0], "front.shop.serviceaccount.identity.linkerd.cluster.local");
    assert_eq!(json["ignored"][0]["name"], "astray");
    assert_eq!(json["ignored"][1]["name"], "lost");
    let (_, as_controller) = run(&["shop/web-1:8080", "-o", "controller"]);
    let as_controller: Value = serde_json::from_str(&as_controller).unwrap();
    let port = &as_controller["inbound"]["shop/web-1"]["8080"];
    assert_eq!(port["labels"]["name"], "web");
    assert_eq!(port["protocol"]["http1"]["routes"][1]["rules"][0]["matches"][0]["path"]["exact"], "/ready");
}

#[test]
fn what_is_asked_for_and_is_not_there_is_no_answer() {
    assert_eq!(run(&["shop/gone"]).0, 2);
    assert_eq!(run(&["shop/web-1:0"]).0, 2);
    assert_eq!(run(&["Shop"]).0, 2);
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", SHOP);
    for (given, meant) in [("shop/web:8080", "shop/web-1:8080"), ("shop/wbe-1", "shop/web-1"), ("shopp", "shop")] {
        let output = run_on_dump("policy", &[given], &dump);
        assert!(output.err.contains(&format!("did you mean {meant}?")), "{given}: {}", output.err);
    }
    let name = "metadata: {name: web-1, namespace: shop,";
    assert!(SHOP.contains(name));
    let owner = "ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, controller: true}],";
    let dump = write(folder.path(), "owned.yaml", SHOP.replace(name, &format!("{name} {owner}")));
    let output = run_on_dump("policy", &["shop/wbe"], &dump);
    assert!(output.err.contains("did you mean shop/web?"), "{}", output.err);
}

#[test]
fn namespace_option_completes_names() {
    let of_namespace = run(&["-n", "shop"]);
    assert_eq!(of_namespace, run(&["shop"]));
    assert_eq!(run(&["-n", "shop", "web-1"]), run(&["shop/web-1"]));
    assert_eq!(run(&["-n", "gone"]).0, 2);
    let folder = tempfile::tempdir().unwrap();
    let service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: api, namespace: shop}\nspec: {clusterIP: \
                   10.96.0.7, ports: [{port: 80}]}\n";
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{service}"));
    let short = run_on_dump("policy", &["--to", "api:80", "-n", "shop"], &dump);
    let long = run_on_dump("policy", &["--to", "shop/api:80"], &dump);
    assert_eq!((short.status, &short.out), (long.status, &long.out), "{}", short.err);
    assert!(short.out.contains("shop/api"), "{}{}", short.out, short.err);
    let misspelt = run_on_dump("policy", &["--to", "shop/apii"], &dump);
    assert!(misspelt.status == 2 && misspelt.err.contains("did you mean shop/api?"), "{}", misspelt.err);
}

/// In releases that have the defect, an invalid selector is worse than without an effect.
#[test]
fn invalid_selector_names_the_known_defect_of_the_release() {
    let invalid = "---\napiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: bad, namespace: shop}\n\
                   spec: {port: 1, podSelector: {matchLabels: {app: shop/web/x}}}\n";
    let folder = tempfile::tempdir().unwrap();
    for (release, has_defect) in [("edge-25.4.4", true), ("edge-26.5.5", false)] {
        let cluster = format!("{SHOP}{invalid}").replace("edge-26.5.5", release);
        let dump = write(folder.path(), "shop.yaml", cluster);
        let out = run_on_dump("policy", &["shop"], &dump).out;
        let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(out.contains("its selector is invalid"), "{out}");
        let names = out.contains("meshdoctor check --only known-defect/server-invalid-selector");
        assert_eq!(names, has_defect, "{release}: {out}");
    }
}

/// Applications first; a port that no client may use is named in the first line, with the policy that denies.
#[test]
fn denied_ports_are_named_first() {
    let denied = SHOP.replace("--cluster-networks=10.0.0.0/8", "--cluster-networks=10.0.0.0/8, --default-policy=deny")
        + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: linkerd-destination-2, namespace: linkerd, labels: \
           {linkerd.io/control-plane-component: destination, linkerd.io/control-plane-ns: linkerd}}\nspec: \
           {containers: [{name: linkerd-proxy, image: p}, {name: policy, image: p, ports: [{containerPort: 8090}]}]}\n";
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", denied);
    let words = ["policy", "--bundle", dump.as_str(), "--complete", "all"];
    let text = ran(meshdoctor(&words).env("COLUMNS", "80")).out;
    let (shop, linkerd) = (text.find("Pod shop/web-1").unwrap(), text.find("Pod linkerd/").unwrap());
    assert!(shop < linkerd, "{text}");
    let row = text.lines().find(|line| line.contains("9090 admin")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["9090", "admin", "none", "detected", "none", "default", "policy"], "{text}");
    assert!(text.contains("default policy: deny"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let full = ran(meshdoctor(&[&words[..], &["-v"]].concat()).env("COLUMNS", "200")).out;
    assert!(full.lines().any(|line| line.trim_start().starts_with("4191 ")), "{full}");
    assert!(full.contains("kubelet: GET /ready"), "{full}");
}
