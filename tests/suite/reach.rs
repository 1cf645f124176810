//! `meshdoctor reach` on small clusters: the step at which a call stops, and unknown steps.

use serde_json::Value;

use crate::binary::write;
use crate::policy_command::{SHOP, run_on_dump, told_of};

/// The cluster of [`SHOP`] with a client, a Service and its endpoints.
const CALLS: &str = r#"
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
metadata: {name: plain-1, namespace: shop, labels: {app: plain}}
spec: {containers: [{name: app, image: app}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.7, selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}, {name: gone, port: 81, targetPort: nowhere}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
endpoints: [{addresses: [10.0.0.7], conditions: {ready: true}}]
"#;

fn reached(words: &[&str]) -> (i32, String) {
    reached_in("", words)
}

/// The path as a page: the same steps, and nothing fetched.
#[test]
fn the_path_of_a_call_is_a_page() {
    let (status, page) = reached(&["shop/front-1", "shop/web:80", "-o", "html"]);
    let (same, json) = reached(&["shop/front-1", "shop/web:80", "-o", "json"]);
    assert_eq!(status, same, "{page}");
    assert!(page.starts_with("<!doctype html>"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    for step in json["calls"][0]["steps"].as_array().unwrap() {
        assert!(page.contains(&format!("<strong>{}</strong>", step["name"].as_str().unwrap())), "{page}");
    }
    for loads in ["src=", "url(", "<link", "<script"] {
        assert!(!page.contains(loads), "{loads}");
    }
}

/// A dump that may be incomplete: neither the absence of a policy nor a refusal is known.
#[test]
fn what_nobody_could_see_neither_lets_a_call_through_nor_stops_it() {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{CALLS}"));
    let seen = "pods,services,endpointslices,deployments,crds,namespaces,replicasets,jobs,serviceprofiles";
    for from in ["shop/front-1", "shop/plain-1"] {
        let output = told_of("reach", &[from, "shop/web:80"], &dump, seen);
        let text = output.out;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status, 4, "{text}");
        assert!(!text.contains("the call succeeds") && !text.contains("stops here"), "{text}");
        for resource in ["networkpolicies.networking.k8s.io", "servers.policy.linkerd.io"] {
            let (_, lacking) = words.split_once("unknown evidence ").unwrap_or_else(|| panic!("{text}"));
            assert!(lacking.contains(resource), "{text}");
        }
    }
}

/// The endpoints of a Service can be ExternalWorkloads, which must declare its target port.
#[test]
fn an_external_workload_without_the_port_is_named() {
    const DATABASE: &str = r#"---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {selector: {app: db}, clusterIP: 10.96.0.77, ports: [{port: 5432, targetPort: 5432}]}
---
apiVersion: workload.linkerd.io/v1beta1
kind: ExternalWorkload
metadata: {name: db-vm, namespace: shop, labels: {app: db}}
spec: {meshTLS: {identity: "spiffe://x/db", serverName: db.vm}, workloadIPs: [{ip: 192.0.2.7}], ports: [{port: 5433}]}
"#;
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{CALLS}{DATABASE}"));
    let output = told_of("reach", &["shop/front-1", "shop/db:5432"], &dump, "all");
    let words = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status, 1, "{words}");
    assert!(words.contains("ExternalWorkload db-vm does not declare its target port 5432"), "{words}");
    assert!(!words.contains("labels of the pods"), "the selector is right: {words}");
}

/// In healthy real installs, a workload reaches another.
#[test]
fn calls_in_recorded_installs_get_through() {
    let Some(folder) = crate::recordings::folder() else { return };
    for name in ["healthy-2.15", "healthy-2.17", "healthy-2.18", "healthy-2.18-ha", "healthy-2.19", "healthy-2.20"] {
        let recording = folder.join(name);
        let output = run_on_dump("reach", &["shop/web", "shop/api:80"], recording.to_str().unwrap());
        let text = output.out;
        assert!(!text.contains("stops here"), "{name}: {text}");
        assert!(text.contains("both proxies share a trust anchor"), "{name}: {text}");
        assert_eq!(output.status, 0, "{name}: {text}");
    }
}

/// A Service that declares HTTP/2: other traffic fails, and only --traffic tells which one it is.
#[test]
fn a_call_for_one_kind_of_traffic_is_judged_by_its_kind() {
    let Some(folder) = crate::recordings::folder() else { return };
    let text = std::fs::read_to_string(folder.join("healthy-2.20/cluster.json")).unwrap();
    let mut cluster: serde_json::Value = serde_json::from_str(&text).unwrap();
    let services = cluster["items"].as_array_mut().unwrap().iter_mut();
    let mut api = services.filter(|one| one["kind"] == "Service" && one["metadata"]["name"] == "api");
    api.next().unwrap()["spec"]["ports"][0]["appProtocol"] = "kubernetes.io/h2c".into();
    drop(api);
    let temporary = tempfile::tempdir().unwrap();
    let dump = write(temporary.path(), "cluster.json", cluster.to_string());
    let call = ["shop/web", "shop/api:80"];
    let any = run_on_dump("reach", &call, &dump);
    assert!(any.status == 4 && any.out.contains("the call succeeds, if it is HTTP/2"), "{}", any.out);
    let http2 = run_on_dump("reach", &[&call[..], &["--traffic", "http2"]].concat(), &dump);
    assert_eq!(http2.status, 0, "{}", http2.out);
}

#[test]
fn a_call_is_walked_to_where_it_stops() {
    // These proxies have no anchors in their environment, so that step is not checked, and the status shows
    // it.
    let (status, text) = reached(&["shop/front-1", "shop/web:80"]);
    assert_eq!(status, 4, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Server web authorizes front.shop.serviceaccount"), "{text}");
    assert!(text.contains("not certain: identity"), "{text}");
    let (status, text) = reached(&["shop/plain-1", "web.shop.svc.cluster.local:80"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("it stops at policy"), "{text}");
    for (to, says) in [
        ("shop/web:82", "declares no port 82"),
        ("shop/web:81", "names no port nowhere"),
        ("shop/none:80", "no Service shop/none exists"),
        ("shop/webb:80", "fix Did you mean shop/web? To list all: kubectl -n shop get services,pods"),
    ] {
        let (status, text) = reached(&["shop/front-1", to]);
        assert_eq!(status, 1, "{to}: {text}");
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{to}: {text}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{CALLS}"));
    let misspelt = run_on_dump("reach", &["shop/fornt-1", "shop/web:80"], &dump);
    assert!(misspelt.status == 2 && misspelt.err.contains("shop/front-1?"), "{}", misspelt.err);
    // A dump that may lack pods shows neither that they exist nor that they do not.
    let partly = told_of("reach", &["shop/fornt-1", "shop/web:80"], &dump, "services");
    assert_eq!(partly.status, 4, "{}", partly.out);
    let said = partly.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("not traced: the client is unknown unknown client the evidence has no pod"), "{said}");
    assert!(said.contains("did you mean shop/front-1?") && !said.contains("likely ok"), "{said}");
    let (status, text) = reached(&["shop/front-1", "example.com:443"]);
    assert_eq!((status, text.contains("outside the cluster")), (4, true), "{text}");
    assert_eq!(reached(&["shop/front-1"]).0, 2);
    // Without a port there is no call to judge.
    for to in ["shop/web", "shop/front-1"] {
        assert_eq!(reached(&["shop/front-1", to]).0, 2, "{to}");
    }
    assert_eq!(reached(&["example.com:1", "shop/web:80"]).0, 2);
}

#[test]
fn who_may_call_whom_is_a_matrix() {
    let (status, text) = reached(&["--matrix", "-n", "shop"]);
    // As for a single call, a known failure decides.
    assert_eq!(status, 1, "{text}");
    let row = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
    assert!(row("front-1").contains("yes?"), "{text}");
    assert!(row("plain-1").contains("no: policy"), "{text}");
    assert!(words(&text).contains("no: policy: plain-1 to web:80: Server web"), "{text}");
    let (_, json) = reached(&["--matrix", "-n", "shop", "-o", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["calls"].as_array().unwrap().len(), 6);
}

/// Services for other clusters, a pod that treats a port as opaque, and a policy that allows only the
/// application's port.
const ELSEWHERE: &str = r#"
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop}
spec: {type: ExternalName, externalName: api.example.org}
---
apiVersion: v1
kind: Service
metadata: {name: web-east, namespace: shop, labels: {mirror.linkerd.io/cluster-name: east}}
spec: {clusterIP: 10.96.0.8, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: web-west, namespace: shop, labels: {mirror.linkerd.io/cluster-name: west, multicluster.linkerd.io/remote-discovery: west, multicluster.linkerd.io/remote-service: web}}
spec: {clusterIP: 10.96.0.9, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db-1, namespace: shop, labels: {app: db, linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/opaque-ports: "7000"}}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}
---
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {clusterIP: 10.96.0.10, selector: {app: db}, ports: [{name: db, port: 7000}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
endpoints: [{addresses: [10.0.0.9], conditions: {ready: true}}]
"#;

/// The text of a report on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reached_in(cluster: &str, words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{CALLS}{cluster}"));
    let output = run_on_dump("reach", words, &dump);
    (output.status, output.out)
}

#[test]
fn a_service_that_names_another_host_stops_nothing() {
    let (status, text) = reached_in(ELSEWHERE, &["shop/front-1", "shop/outside:443"]);
    assert_eq!(status, 4, "{text}");
    assert!(words(&text).contains("is an ExternalName"), "{text}");
    assert!(words(&text).contains("meshdoctor reach shop/front-1 HOST:PORT"), "{text}");
}

/// A mirror whose gateway is down has no ready endpoint. A remote service resolved in the other cluster never
/// has one here.
#[test]
fn a_mirror_without_its_gateway_stops_the_call() {
    let (status, text) = reached_in(ELSEWHERE, &["shop/front-1", "shop/web-east:80"]);
    assert_eq!(status, 1, "{text}");
    assert!(words(&text).contains("no endpoint of Service shop/web-east is ready"), "{text}");
    assert!(words(&text).contains("linkerd multicluster check"), "{text}");
    let (status, text) = reached_in(ELSEWHERE, &["shop/front-1", "shop/web-west:80"]);
    assert_eq!((status, text.contains("stops here")), (4, false), "{text}");
}

#[test]
fn both_sides_are_asked_whether_a_port_is_opaque() {
    let (_, text) = reached_in(ELSEWHERE, &["shop/front-1", "shop/db:7000"]);
    assert!(
        words(&text).contains("the client's proxy detects the protocol, the server's treats the port as opaque"),
        "{text}"
    );
    let (_, text) = reached(&["shop/front-1", "shop/web:80"]);
    assert!(words(&text).contains("HTTP/1 and HTTP/2 (Server web); other protocols fail"), "{text}");
}

/// If proxies connect to each other's own port, a policy that only allows the application's port blocks them.
#[test]
fn a_policy_without_the_port_of_the_proxy_stops_calls_that_go_there() {
    let policy = r#"
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec: {podSelector: {matchLabels: {app: web}}, policyTypes: [Ingress], ingress: [{ports: [{port: 8080}]}]}
"#;
    let config = |mode: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: linkerd-config, namespace: linkerd}}\ndata:\n  values: |\n    \
             linkerdVersion: edge-26.5.5\n    proxy:\n      outboundTransportMode: {mode}\n"
        )
    };
    let call = ["shop/front-1", "shop/web:80"];
    let (status, text) = reached_in(&format!("{policy}{}", config("transport-header")), &call);
    assert_eq!((status, text.contains("it stops at network")), (1, true), "{text}");
    assert!(words(&text).contains("does not allow port 4143"), "{text}");
    let (status, text) = reached_in(&format!("{policy}{}", config("transparent")), &call);
    assert_eq!((status, text.contains("stops here")), (4, false), "{text}");
}

/// Services without an address, addresses and names of pods, and ports that linkerd-init skips.
const SHAPES: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: store-0, namespace: shop, labels: {app: store, linkerd.io/control-plane-ns: linkerd}}
spec:
  initContainers: [{name: linkerd-init, image: i, args: [--incoming-proxy-port, "4143", --inbound-ports-to-ignore, "4190,4191,6000"]}]
  containers: [{name: linkerd-proxy, image: p}, {name: app, image: app, ports: [{name: data, containerPort: 5000}]}]
status: {podIP: 10.0.0.20, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: store, namespace: shop}
spec: {clusterIP: None, selector: {app: store}, ports: [{name: data, port: 80, targetPort: data}]}
---
apiVersion: v1
kind: Service
metadata: {name: store-vip, namespace: shop}
spec: {clusterIP: 10.96.0.30, clusterIPs: [10.96.0.30], selector: {app: store}, ports: [{name: data, port: 80, targetPort: data}, {name: raw, port: 6000}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: store-1, namespace: shop, labels: {kubernetes.io/service-name: store}}
endpoints: [{addresses: [10.0.0.20], conditions: {ready: true}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: store-vip-1, namespace: shop, labels: {kubernetes.io/service-name: store-vip}}
endpoints: [{addresses: [10.0.0.20], conditions: {ready: true}}]
---
apiVersion: v1
kind: Pod
metadata: {name: skips-1, namespace: shop, labels: {app: skips, linkerd.io/control-plane-ns: linkerd}}
spec:
  initContainers: [{name: linkerd-init, image: i, args: [--outbound-ports-to-ignore, "80,4191"]}]
  containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: store, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {podSelector: {matchLabels: {app: store}}, port: 5000}
"#;

/// Two pods of one ReplicaSet, one created before its namespace got the default policy deny.
const CHANGED: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: cart-5d9f8c7b66-aaaaa, namespace: shop, labels: {app: cart, pod-template-hash: 5d9f8c7b66, linkerd.io/control-plane-ns: linkerd}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: cart-5d9f8c7b66, controller: true}]}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}
status: {podIP: 10.0.0.50, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: cart-5d9f8c7b66-bbbbb, namespace: shop, labels: {app: cart, pod-template-hash: 5d9f8c7b66, linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/default-inbound-policy: deny}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: cart-5d9f8c7b66, controller: true}]}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}
status: {podIP: 10.0.0.51, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {clusterIP: 10.96.0.50, selector: {app: cart}, ports: [{name: http, port: 80, targetPort: 9090}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
endpoints: [{addresses: [10.0.0.50], conditions: {ready: true}}, {addresses: [10.0.0.51], conditions: {ready: true}}]
"#;

#[test]
fn pods_of_one_workload_with_other_settings_are_called_too() {
    let (status, text) = reached_in(CHANGED, &["shop/front-1", "shop/cart:80"]);
    assert_eq!(status, 1, "{text}");
    assert!(words(&text).contains("some calls succeed, others fail"), "{text}");
    assert!(words(&text).contains("cart-5d9f8c7b66-bbbbb"), "{text}");
    let alike = CHANGED.replace("config.linkerd.io/default-inbound-policy: deny", "example.com/of: b");
    let (_, text) = reached_in(&alike, &["shop/front-1", "shop/cart:80"]);
    assert!(!words(&text).contains("others fail"), "{text}");
}

/// One pod of the client has no proxy: its calls are not those of the other one.
#[test]
fn client_that_is_meshed_in_part_passes_a_part_of_the_calls() {
    let spec =
        "spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}\nstatus: {podIP: 10.0.0.51";
    let plain = "spec: {containers: [{name: app, image: app}]}\nstatus: {podIP: 10.0.0.51";
    let half =
        CHANGED.replace("config.linkerd.io/default-inbound-policy: deny", "example.com/of: b").replace(spec, plain);
    let (status, text) = reached_in(&half, &["shop/cart", "shop/cart:80"]);
    assert_eq!(status, 0, "{text}");
    assert!(words(&text).contains("without mTLS from 1 of 2 pods of the client"), "{text}");
    // The same calls to pods that require an identity.
    let strict = half.replace(
        "linkerd.io/control-plane-ns: linkerd}, ownerReferences",
        "linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/default-inbound-policy: \
         all-authenticated}, ownerReferences",
    );
    let (status, text) = reached_in(&strict, &["shop/cart", "shop/cart-5d9f8c7b66-aaaaa:80"]);
    assert_eq!(status, 1, "{text}");
    let fails = "1 of 2 pods of the client has no proxy, such as cart-5d9f8c7b66-bbbbb, and calls without a proxy fail";
    assert!(words(&text).contains(fails), "{text}");
    let (_, text) = reached_in(&half, &["shop/cart-5d9f8c7b66-aaaaa", "shop/cart:80"]);
    assert!(!text.contains("of the client"), "{text}");
}

#[test]
fn a_headless_service_leads_to_the_port_of_the_pod_that_is_called() {
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store:80"]);
    assert!(words(&text).contains("at port 80 of the pod itself"), "{text}");
    assert!(words(&text).contains("default policy all-unauthenticated authorizes"), "{text}");
    // `targetPort` only applies to the address of a Service.
    let (status, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:80"]);
    assert_eq!((status, text.contains("Server store of pod store-0 does not authorize")), (1, true), "{text}");
    let (status, text) = reached_in(SHAPES, &["shop/front-1", "shop/store:5000"]);
    assert_eq!((status, words(&text).contains("Server store of pod store-0 does not authorize")), (1, true), "{text}");
}

#[test]
fn names_and_addresses_of_this_cluster_are_not_outside_of_it() {
    for (to, says) in [
        ("store-0.store.shop.svc.cluster.local:5000", "Server store of pod store-0 does not authorize"),
        ("store-0.store.shop:5000", "Server store of pod store-0 does not authorize"),
        ("10.0.0.20:5000", "Server store of pod store-0 does not authorize"),
        ("10.96.0.30:80", "Server store of pod store-0 does not authorize"),
        ("store-vip.shop:80", "Server store of pod store-0 does not authorize"),
        ("store-9.store.shop.svc.cluster.local:5000", "no workload or pod of that name"),
    ] {
        let (status, text) = reached_in(SHAPES, &["shop/front-1", to]);
        assert_eq!((status, words(&text).contains(says)), (1, true), "{to}: {text}");
    }
    for to in ["example.com:443", "192.0.2.7:443", "10.0.0.99:80"] {
        let (status, text) = reached_in(SHAPES, &["shop/front-1", to]);
        assert_eq!((status, text.contains("outside the cluster")), (4, true), "{to}: {text}");
    }
}

#[test]
fn ports_that_linkerd_init_leaves_aside_pass_no_proxy() {
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:6000"]);
    assert!(words(&text).contains("the proxy of pod store-0 skips port 6000"), "{text}");
    let (_, json) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:6000", "-o", "json"]);
    assert!(json.contains("--inbound-ports-to-ignore 4190,4191,6000"), "{json}");
    // The proxy decides itself on the port of its metrics.
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-0:4191"]);
    assert!(!text.contains("skips port"), "{text}");
    let (_, text) = reached_in(SHAPES, &["shop/skips-1", "shop/store-vip:80", "-v"]);
    assert!(words(&text).contains("the client's proxy skips port 80"), "{text}");
    assert!(words(&text).contains("a client without identity"), "{text}");
}

/// Pods in the host network, a port that an annotation skips, and one with an appProtocol.
const HOSTS: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: agent-1, namespace: shop, labels: {app: agent}}
spec: {nodeName: node-1, hostNetwork: true, containers: [{name: app, image: app}]}
status: {podIP: 192.168.1.10}
---
apiVersion: v1
kind: Pod
metadata: {name: agent-2, namespace: shop, labels: {app: agent}}
spec: {nodeName: node-2, hostNetwork: true, containers: [{name: app, image: app}]}
status: {podIP: 192.168.1.20}
---
apiVersion: v1
kind: Pod
metadata: {name: raw-1, namespace: shop, labels: {app: raw, linkerd.io/control-plane-ns: linkerd}, annotations: {config.linkerd.io/skip-inbound-ports: "6000", config.linkerd.io/opaque-ports: "6000,7000"}}
spec: {nodeName: node-1, containers: [{name: linkerd-proxy, image: p}, {name: app, image: app}]}
status: {podIP: 10.0.0.40, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Service
metadata: {name: raw, namespace: shop, annotations: {config.linkerd.io/opaque-ports: "6000"}}
spec: {clusterIP: 10.96.0.40, selector: {app: raw}, ports: [{name: raw, port: 6000}, {name: said, port: 7000, appProtocol: linkerd.io/opaque}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: raw-1, namespace: shop, labels: {kubernetes.io/service-name: raw}}
endpoints: [{addresses: [10.0.0.40], conditions: {ready: true}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: raw, namespace: shop}
spec: {podSelector: {matchLabels: {app: raw}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}], ports: [{port: 6000}, {port: 4143}]}]}
"#;

/// Kubernetes allows traffic from a pod's own node. To a policy, pods in the network of another node are not
/// pods.
#[test]
fn clients_in_the_network_of_a_node_are_let_in_there_alone() {
    let (status, text) = reached_in(HOSTS, &["shop/agent-1", "shop/raw:6000"]);
    assert_eq!(status, 0, "{text}");
    assert!(words(&text).contains("comes from the node of pod raw-1"), "{text}");
    let (status, text) = reached_in(HOSTS, &["shop/agent-2", "shop/raw:6000"]);
    assert_eq!((status, text.contains("it stops at network")), (1, true), "{text}");
}

/// A port that the server's annotation skips: the server's proxy is not mentioned, and the call goes to the
/// port directly.
#[test]
fn a_port_that_the_server_skips_is_taken_for_nothing_by_its_proxy() {
    let (status, text) = reached_in(HOSTS, &["shop/front-1", "shop/raw:6000"]);
    let says = words(&text);
    assert!(says.contains("the client's proxy treats the port as opaque"), "{text}");
    assert!(!says.contains("each end") && !says.contains("the server's"), "{text}");
    assert!(says.contains("the proxy of pod raw-1 skips port 6000"), "{text}");
    assert_eq!(status, 0, "{text}");
    // The application protocol applies to clients, and both sides treat it as opaque here.
    let (_, text) = reached_in(HOSTS, &["shop/front-1", "shop/raw:7000"]);
    assert!(words(&text).contains("the proxy of each end treats the port as opaque"), "{text}");
}

/// An EgressNetwork covers destinations outside the cluster: a denied call stops, an allowed one is not
/// evaluated further.
#[test]
fn calls_outside_are_held_by_egress_networks() {
    let network = |policy: &str| {
        format!(
            "---\napiVersion: policy.linkerd.io/v1alpha1\nkind: EgressNetwork\nmetadata: {{name: all, namespace: shop}}\nspec: {{trafficPolicy: {policy}}}\n"
        )
    };
    let call = ["shop/front-1", "192.0.2.7:443"];
    let (status, text) = reached_in(&network("Deny"), &call);
    assert_eq!((status, words(&text).contains("EgressNetwork all denies it")), (1, true), "{text}");
    let (status, text) = reached_in(&network("Allow"), &call);
    assert_eq!((status, words(&text).contains("EgressNetwork all allows it")), (4, true), "{text}");
    // An EgressNetwork does not apply to clients without a proxy.
    let (_, text) = reached_in(&network("Deny"), &["shop/plain-1", "192.0.2.7:443"]);
    assert!(!text.contains("EgressNetwork all denies"), "{text}");
}

/// A Service with one meshed endpoint that its Server closes to the client and one without a proxy, and others that are not served.
const PARTS: &str = r#"
---
apiVersion: v1
kind: Pod
metadata: {name: mix-1, namespace: shop, labels: {app: mix, part: meshed, linkerd.io/control-plane-ns: linkerd}}
spec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app, ports: [{containerPort: 8080}]}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Pod
metadata: {name: mix-2, namespace: shop, labels: {app: mix, part: bare}}
spec: {containers: [{name: app, image: app, ports: [{containerPort: 8080}]}]}
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: policy.linkerd.io/v1beta3
kind: Server
metadata: {name: mix, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {podSelector: {matchLabels: {part: meshed}}, port: 8080}
---
apiVersion: v1
kind: Service
metadata: {name: mix, namespace: shop}
spec: {clusterIP: 10.96.0.50, selector: {app: mix}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: mix-1, namespace: shop, labels: {kubernetes.io/service-name: mix}}
endpoints: [{addresses: [10.0.0.51], conditions: {ready: true}}, {addresses: [10.0.0.52], conditions: {ready: true}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: idle, namespace: shop}
spec: {replicas: 0, template: {metadata: {labels: {app: idle}}, spec: {containers: [{name: app, image: app}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: asleep, namespace: shop}
spec: {replicas: 0, template: {metadata: {labels: {app: asleep}}, spec: {containers: [{name: app, image: app}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: asleep, namespace: shop}
spec: {clusterIP: 10.96.0.53, selector: {app: asleep}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec: {clusterIP: 10.96.0.51, selector: {app: idle}, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: looping-1, namespace: shop, labels: {app: looping}}
spec: {containers: [{name: app, image: app}]}
status:
  phase: Running
  containerStatuses: [{name: app, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]
---
apiVersion: v1
kind: Service
metadata: {name: looping, namespace: shop}
spec: {clusterIP: 10.96.0.52, selector: {app: looping}, ports: [{name: http, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: astray, namespace: shop, creationTimestamp: "2026-01-01T00:00:00Z"}
spec:
  parentRefs: [{group: "", kind: Service, name: web, port: 80}]
  rules: [{backendRefs: [{name: mix, port: 81}]}]
status:
  parents:
    - parentRef: {group: "", kind: Service, name: web, port: 80}
      controllerName: linkerd.io/policy-controller
      conditions: [{type: Accepted, status: "True"}]
"#;

#[test]
fn endpoints_that_differ_pass_a_part_of_the_calls() {
    let (status, text) = reached_in(PARTS, &["shop/front-1", "shop/mix:80"]);
    let says = words(&text);
    assert_eq!(status, 1, "{text}");
    assert!(says.contains("1 of 2 endpoints (pod mix-1): Server mix of pod mix-1 does not authorize"), "{text}");
    assert!(says.contains("some calls succeed, others fail"), "{text}");
    // Steps that pass are one row; verbose output has each.
    assert!(says.contains("ok client, service, routes") && !says.contains("pod mix-2 has no proxy"), "{text}");
    let (_, text) = reached_in(PARTS, &["shop/front-1", "shop/mix:80", "-v"]);
    assert!(words(&text).contains("pod mix-2 has no proxy"), "{text}");
    let (_, json) = reached_in(PARTS, &["shop/front-1", "shop/mix:80", "-o", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["calls"][0]["outcome"], "partly", "{json}");
    let (_, text) = reached_in(PARTS, &["--matrix", "-n", "shop"]);
    assert!(text.contains("partly"), "{text}");
}

#[test]
fn missing_endpoints_are_explained() {
    for (to, why) in [
        ("shop/idle:80", "because Deployment idle is scaled to 0: HTTP 504"),
        ("shop/asleep:80", "because StatefulSet asleep is scaled to 0: HTTP 504"),
        ("shop/looping:80", "because pod looping-1 is in state CrashLoopBackOff: HTTP 504"),
    ] {
        let (status, text) = reached_in(PARTS, &["shop/front-1", to]);
        assert_eq!((status, words(&text).contains(why)), (1, true), "{to}: {text}");
    }
}

#[test]
fn backend_port_that_the_service_does_not_declare_stops_the_call() {
    let (status, text) = reached_in(PARTS, &["shop/front-1", "shop/web:80"]);
    let why = "Service shop/mix declares no port 81 (HTTP 502)";
    assert_eq!((status, words(&text).contains(why)), (1, true), "{text}");
    // Routes apply to clients with a proxy only.
    let (_, text) = reached_in(PARTS, &["shop/plain-1", "shop/web:80"]);
    assert!(!text.contains("HTTPRoute astray"), "{text}");
}

#[test]
fn pod_that_calls_itself_bypasses_policy() {
    let (status, text) = reached_in(PARTS, &["shop/mix-1", "shop/mix-1:8080"]);
    assert_eq!((status, words(&text).contains("the pod calls itself")), (0, true), "{text}");
}

#[test]
fn traffic_in_which_the_server_speaks_first_needs_an_opaque_port() {
    let call = ["shop/plain-1", "shop/store-vip:80"];
    let open = SHAPES.replace(
        "spec: {podSelector: {matchLabels: {app: store}}, port: 5000}",
        "spec: {podSelector: {matchLabels: {app: store}}, port: 5000, accessPolicy: all-unauthenticated}",
    );
    let (status, text) = reached_in(&open, &call);
    assert_eq!(status, 0, "{text}");
    assert!(words(&text).contains("the call succeeds, unless the server speaks first"), "{text}");
    let (status, text) = reached_in(&open, &[&call[..], &["--traffic", "server-first"]].concat());
    assert_eq!((status, words(&text).contains("closed without a byte after 10 seconds")), (1, true), "{text}");
    let (status, text) = reached_in(&open, &[&call[..], &["--traffic", "http1"]].concat());
    assert_eq!((status, text.contains("unless")), (0, false), "{text}");
}

#[test]
fn calls_hang_while_the_control_plane_is_not_ready() {
    let down = |container: &str| {
        let ready = format!("{{name: {container}, ready: true}}");
        assert!(SHOP.contains(&ready));
        format!("{SHOP}{CALLS}")
            .replace(&ready, &format!("{{name: {container}, ready: false}}"))
            .replace("{type: Ready, status: \"True\"}]\n  containerStatuses: [{name: destination", "{type: Ready, status: \"False\", lastTransitionTime: \"2026-03-01T00:00:00Z\"}]\n  containerStatuses: [{name: destination")
    };
    let reached = |cluster: &str, words: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let dump = write(folder.path(), "shop.yaml", cluster);
        let output = run_on_dump("reach", words, &dump);
        (output.status, output.out)
    };
    for container in ["destination", "policy"] {
        let (status, text) = reached(&down(container), &["shop/front-1", "shop/web:80"]);
        let says = "destination has no ready pod. Proxies cannot discover endpoints or policies";
        assert_eq!((status, words(&text).contains(says)), (1, true), "{text}");
        assert!(words(&text).contains(&format!("containerStatuses[{container}].ready: false")), "{text}");
    }
    // A client without a proxy does not depend on destination.
    let (_, text) = reached(&down("destination"), &["shop/plain-1", "shop/web:80"]);
    assert!(!text.contains("control plane") && text.contains("it stops at policy"), "{text}");
    // A pod that started while the policy controller is not ready applies only its default policy.
    let late = down("policy")
        + "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: late-1, namespace: shop, creationTimestamp: \"2026-03-01T00:01:00Z\", labels: {app: web, linkerd.io/control-plane-ns: linkerd}}\nspec: {containers: [{name: linkerd-proxy, image: p}, {name: app, image: app, ports: [{name: http, containerPort: 8080}]}]}\n";
    let (status, text) = reached(&late, &["shop/plain-1", "shop/late-1:8080"]);
    assert_eq!((status, words(&text).contains("only its default policy applies")), (0, true), "{text}");
}

/// A recorded mesh whose issuer or anchor has expired: no call between proxies under it gets through. The recorded
/// proxies have other anchors, so their certificates may be valid.
#[test]
fn expired_certificate_stops_calls_between_proxies_under_it() {
    let Some(folder) = crate::recordings::folder() else { return };
    for (name, ended) in [
        ("issuer-expired", "the issuer's certificate has expired"),
        ("anchor-expired", "the trust anchor of the mesh has expired"),
    ] {
        let recording = folder.join(name);
        let mut dump = crate::recordings::json(&recording.join("cluster.json"));
        let call = ["shop/web", "shop/api:80"];
        // More than the lifetime of a certificate after the anchor ended.
        let timed = [&call[..], &["--at", "2026-11-22T00:00:00Z"]].concat();
        let other = run_on_dump("reach", &timed, recording.to_str().unwrap());
        assert_eq!((other.status, words(&other.out).contains(ended)), (4, true), "{}", other.out);
        assert!(words(&other.out).contains("come from another issuer"), "{}", other.out);

        let roots = trust_roots(&dump).expect("the trust roots are recorded");
        give_anchors(&mut dump, &roots);
        let own = tempfile::tempdir().unwrap();
        std::fs::write(own.path().join("cluster.json"), dump.to_string()).unwrap();
        let output = run_on_dump("reach", &timed, own.path().to_str().unwrap());
        assert_eq!((output.status, words(&output.out).contains(ended)), (1, true), "{}", output.out);
        // Without a capture time, this machine's clock proves nothing.
        let output = run_on_dump("reach", &call, own.path().to_str().unwrap());
        assert_eq!((output.status, output.out.contains("--at")), (4, true), "{}", output.out);
    }
}

/// The trust anchors in a dump.
fn trust_roots(dump: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match dump {
        Value::Object(fields) => {
            let own = fields.get("ca-bundle.crt").and_then(Value::as_str).map(str::to_owned);
            own.or_else(|| fields.values().find_map(trust_roots))
        }
        Value::Array(items) => items.iter().find_map(trust_roots),
        _ => None,
    }
}

/// Gives all proxies of a dump these trust anchors.
fn give_anchors(dump: &mut serde_json::Value, anchors: &str) {
    use serde_json::Value;
    match dump {
        Value::Object(fields) => {
            if fields.get("name").and_then(Value::as_str) == Some("LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS") {
                fields.insert("value".to_owned(), Value::String(anchors.to_owned()));
            }
            fields.values_mut().for_each(|value| give_anchors(value, anchors));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| give_anchors(item, anchors)),
        _ => {}
    }
}

/// A recorded mesh whose issuer cannot sign: the checks print the steps, and no restart is advised before the repair.
#[test]
fn restart_comes_after_the_repair_of_the_issuer() {
    let Some(folder) = crate::recordings::folder() else { return };
    for (name, id) in [("issuer-rsa", "issuer-unsupported"), ("anchor-expired", "trust-anchor-expired")] {
        let recording = folder.join(name);
        let output = run_on_dump("reach", &["shop/web", "shop/api"], recording.to_str().unwrap());
        let text = output.out;
        let said = words(&text);
        let disjoint = "data-plane-anchors-disjoint";
        let order = format!(
            "Repair {id}, {disjoint}, in this order. This command prints the steps meshdoctor check --only {id},{disjoint}"
        );
        assert!(said.contains(&order), "{text}");
        // A new proxy alone would not accept the control plane, which still has the old anchors.
        assert!(!text.contains("rollout restart") && !text.contains("linkerd inject"), "{text}");
        assert!(said.contains("the call may fail at: control plane"), "{text}");
        assert_eq!(output.status, 4, "{name}: {text}");
        let matrix = run_on_dump("reach", &["--matrix", "-n", "shop"], recording.to_str().unwrap());
        assert_eq!(matrix.status, 4, "{name}: {}", matrix.out);
    }
}

/// An undeclared port works before edge-25.7.1, and is rejected from then on.
#[test]
fn undeclared_port_depends_on_the_release() {
    let Some(folder) = crate::recordings::folder() else { return };
    let call = ["shop/web", "shop/api:8080"];
    let older = run_on_dump("reach", &call, folder.join("healthy-2.18").to_str().unwrap());
    assert_eq!(older.status, 0, "{}", older.out);
    assert!(words(&older.out).contains("from edge-25.7.1 on, it is rejected"), "{}", older.out);
    // No container listens there, as far as they declare.
    let nowhere = run_on_dump("reach", &["shop/web", "shop/api:8081"], folder.join("healthy-2.18").to_str().unwrap());
    let said = words(&nowhere.out);
    assert_eq!(nowhere.status, 4, "{}", nowhere.out);
    assert!(said.contains("the call may fail at: service"), "{}", nowhere.out);
    assert!(said.contains("declares no port 8081, and no container of its pods does"), "{}", nowhere.out);
    for name in ["healthy-2.19", "healthy-2.20"] {
        let newer = run_on_dump("reach", &call, folder.join(name).to_str().unwrap());
        assert_eq!((newer.status, newer.out.contains("declares no port 8080")), (1, true), "{}", newer.out);
    }
}

/// A default policy cannot be the target of an AuthorizationPolicy: the fix is a Server and a policy for it.
#[test]
fn default_deny_is_fixed_by_a_server() {
    let Some(folder) = crate::recordings::folder() else { return };
    let cluster = std::fs::read_to_string(folder.join("healthy-2.18/cluster.json")).unwrap();
    let setting = "--default-policy=all-unauthenticated";
    assert!(cluster.contains(setting));
    let denied = cluster.replace(setting, "--default-policy=deny");
    let copy = tempfile::tempdir().unwrap();
    let dump = write(copy.path(), "cluster.json", denied);
    let output = run_on_dump("reach", &["shop/web", "shop/api"], &dump);
    let text = output.out;
    assert_eq!(output.status, 1, "{text}");
    assert!(words(&text).contains("Create a Server for port 8080 and an AuthorizationPolicy for it"), "{text}");
    assert!(!text.contains("AuthorizationPolicy for default policy"), "{text}");
    // The printed manifest authorizes the client.
    let manifest: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("apiVersion: policy.linkerd.io"))
        .take_while(|line| line.starts_with("      "))
        .map(|line| &line[6..])
        .collect();
    assert!(manifest.iter().any(|line| line.contains("kind: Server")), "{text}");
    write(copy.path(), "policy.yaml", manifest.join("\n"));
    let folder = copy.path().to_str().unwrap().to_owned();
    let cured = run_on_dump("reach", &["shop/web", "shop/api"], &folder);
    assert_eq!(cured.status, 0, "{}", cured.out);
}

/// Column heads that do not fit become numbers with a legend; no line is wider than the terminal.
#[test]
fn wide_matrix_has_a_legend() {
    let Some(folder) = crate::recordings::folder() else { return };
    let dump = folder.join("healthy-2.18");
    let args = ["reach", "--matrix", "-n", "linkerd", "--bundle", dump.to_str().unwrap(), "--complete", "all"];
    let output = crate::binary::ran(crate::binary::meshdoctor(&args).env("COLUMNS", "80"));
    assert!(output.out.lines().any(|line| line.trim() == "1 = linkerd-dst:8086"), "{}", output.out);
    assert!(output.out.lines().all(|line| line.chars().count() <= 80), "{}", output.out);
}

/// The recorded install of 2.20 with changes, and the call of shop/web to Service shop/api.
fn called_after(change: impl FnOnce(&mut Vec<Value>)) -> Option<(i32, String)> {
    let folder = crate::recordings::folder()?;
    let text = std::fs::read_to_string(folder.join("healthy-2.20/cluster.json")).unwrap();
    let mut cluster: Value = serde_json::from_str(&text).unwrap();
    change(cluster["items"].as_array_mut().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let dump = write(temporary.path(), "cluster.json", cluster.to_string());
    let output = run_on_dump("reach", &["shop/web", "shop/api:80"], &dump);
    Some((output.status, output.out.split_whitespace().collect::<Vec<_>>().join(" ")))
}

fn service_of<'o>(objects: &'o mut [Value], name: &str) -> &'o mut Value {
    let is = |one: &&mut Value| one["kind"] == "Service" && one["metadata"]["name"] == name;
    objects.iter_mut().find(is).expect(name)
}

/// An accepted route of Service shop/api whose rules send everything to these Services.
fn route_to(name: &str, created: &str, backends: &[&str]) -> Value {
    let parent = serde_json::json!({"group": "core", "kind": "Service", "name": "api", "port": 80});
    let rules = backends.iter().map(|backend| {
        serde_json::json!({
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [{"name": backend, "port": 80}],
        })
    });
    serde_json::json!({
        "apiVersion": "policy.linkerd.io/v1beta3",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": created},
        "spec": {"parentRefs": [parent.clone()], "rules": rules.collect::<Vec<_>>()},
        "status": {"parents": [{
            "controllerName": "linkerd.io/policy-controller",
            "parentRef": parent,
            "conditions": [{"type": "Accepted", "status": "True", "reason": "Accepted", "message": ""}],
        }]},
    })
}

/// The routes of a case: name, creation time and backends; and the expected exit status.
type RoutesCase<'a> = (&'a [(&'a str, &'a str, &'a [&'a str])], i32);

#[test]
fn timeout_of_zero_in_an_annotation_stops_the_call() {
    for (key, value) in [
        ("timeout.linkerd.io/request", "0s"),
        ("timeout.linkerd.io/request", "0"),
        ("timeout.linkerd.io/response", "0ms"),
    ] {
        let annotated = |objects: &mut Vec<Value>| {
            service_of(objects, "api")["metadata"]["annotations"] = serde_json::json!({key: value});
        };
        let Some((status, text)) = called_after(annotated) else { return };
        assert_eq!(status, 1, "{key} {value}: {text}");
        assert!(text.contains("it stops at routes") && text.contains("time out at once"), "{text}");
        // A route without timeouts of its own has those of the Service.
        let with_route = |objects: &mut Vec<Value>| {
            annotated(objects);
            objects.push(route_to("all", "2026-01-01T00:00:00Z", &["api"]));
        };
        let (status, text) = called_after(with_route).unwrap();
        assert!(status == 1 && text.contains("their timeout is 0 (HTTP 504)"), "{text}");
    }
    let longer = |objects: &mut Vec<Value>| {
        service_of(objects, "api")["metadata"]["annotations"] =
            serde_json::json!({"timeout.linkerd.io/request": "10s"});
    };
    let (status, text) = called_after(longer).unwrap();
    assert!(status == 0 && text.contains("within 10000 ms"), "{text}");
}

#[test]
fn first_of_equal_matches_gets_every_request() {
    let (older, younger) = ("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z");
    let cases: [RoutesCase<'_>; 4] = [
        (&[("b", older, &["api"]), ("a", younger, &["gone"])], 0),
        (&[("b", older, &["gone"]), ("a", younger, &["api"])], 1),
        (&[("a", older, &["api", "gone"])], 0),
        (&[("a", older, &["gone", "api"])], 1),
    ];
    for (routes, expected) in cases {
        let add = |objects: &mut Vec<Value>| {
            objects.extend(routes.iter().map(|(name, created, to)| route_to(name, created, to)));
        };
        let Some((status, text)) = called_after(add) else { return };
        assert_eq!(status, expected, "{routes:?}: {text}");
        assert!(!text.contains("some calls succeed"), "{routes:?}: {text}");
    }
    // A more specific match leaves both in use.
    let specific = |objects: &mut Vec<Value>| {
        let mut route = route_to("a", older, &["gone", "api"]);
        route["spec"]["rules"][0]["matches"][0]["path"]["value"] = "/old".into();
        objects.push(route);
    };
    let (_, text) = called_after(specific).unwrap();
    assert!(text.contains("some calls succeed"), "{text}");
}

#[test]
fn ipv6_service_bypasses_proxies_without_ipv6() {
    let ipv6 = |args: &'static str| {
        move |objects: &mut Vec<Value>| {
            let service = service_of(objects, "api");
            service["spec"]["ipFamilies"] = serde_json::json!(["IPv6"]);
            let pods = objects.iter_mut().filter(|one| one["kind"] == "Pod" && one["metadata"]["namespace"] == "shop");
            for pod in pods {
                let init = pod["spec"]["initContainers"].as_array_mut().into_iter().flatten();
                for container in init.filter(|one| one["name"] == "linkerd-init") {
                    let kept = container["args"].as_array_mut().unwrap();
                    kept.retain(|arg| !arg.as_str().unwrap().starts_with("--ipv6"));
                    kept.push(args.into());
                }
            }
        }
    };
    let Some((_, text)) = called_after(ipv6("--ipv6=false")) else { return };
    assert!(text.contains("IPv6 is disabled in the mesh: the call bypasses the client's proxy"), "{text}");
    assert!(!text.contains("both proxies share a trust anchor"), "{text}");
    let (_, text) = called_after(ipv6("--ipv6=true")).unwrap();
    assert!(!text.contains("IPv6 is disabled"), "{text}");
}
