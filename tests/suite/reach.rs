//! `meshdoctor reach` on small clusters: where a call stops, and what is not known of it.

use serde_json::Value;

use crate::binary::write;
use crate::policy_command::{SHOP, told, told_of};

/// The cluster of [`SHOP`] with a client, a Service and what stands behind it.
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

/// A dump that may hold more than it shows: neither "no policy is about it" nor a refusal is known then.
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
        assert!(!text.contains("gets through") && !text.contains("stops here"), "{text}");
        for resource in ["networkpolicies.networking.k8s.io", "servers.policy.linkerd.io"] {
            assert!(words.contains(&format!("as far as could be looked: {resource}: ")), "{text}");
        }
    }
}

/// In real installs that are well, a workload reaches another.
#[test]
fn calls_in_recorded_installs_get_through() {
    let Some(folder) = crate::recordings::folder() else { return };
    for name in
        ["healthy-2.15", "healthy-2.17", "healthy-2.18", "healthy-2.18-ha", "healthy-2.19", "healthy-2.20"]
    {
        let recording = folder.join(name);
        let output = told("reach", &["shop/web", "shop/api:80"], recording.to_str().unwrap());
        let text = output.out;
        assert!(!text.contains("stops here"), "{name}: {text}");
        assert!(text.contains("both proxies share a trust anchor"), "{name}: {text}");
        assert_eq!(output.status, 0, "{name}: {text}");
    }
}

#[test]
fn a_call_is_walked_to_where_it_stops() {
    // The environment of these proxies has no anchors, so that step is not judged, and the status says so.
    let (status, text) = reached(&["shop/front-1", "shop/web:80"]);
    assert_eq!(status, 4, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Server web lets in front.shop.serviceaccount"), "{text}");
    assert!(text.contains("not judged: identity"), "{text}");
    let (status, text) = reached(&["shop/plain-1", "web.shop.svc.cluster.local:80"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("it stops at policy"), "{text}");
    for (to, says) in [
        ("shop/web", "which port of Service shop/web is not said"),
        ("shop/web:82", "declares no port 82"),
        ("shop/web:81", "names no port nowhere"),
        ("shop/none:80", "there is no Service shop/none"),
        ("shop/webb:80", "did you mean shop/web?"),
    ] {
        let (status, text) = reached(&["shop/front-1", to]);
        assert_eq!(status, 1, "{to}: {text}");
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{to}: {text}");
    }
    let (status, text) = reached(&["shop/fornt-1", "shop/web:80"]);
    assert!(status == 1 && text.contains("shop/front-1?"), "{text}");
    let (status, text) = reached(&["shop/front-1", "example.com:443"]);
    assert_eq!((status, text.contains("outside of the cluster")), (4, true), "{text}");
    assert_eq!(reached(&["shop/front-1"]).0, 2);
    assert_eq!(reached(&["example.com:1", "shop/web:80"]).0, 2);
}

#[test]
fn who_may_call_whom_is_a_matrix() {
    let (status, text) = reached(&["--matrix", "-n", "shop"]);
    assert_eq!(status, 0, "{text}");
    let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(row("shop/front-1").contains("yes?"), "{text}");
    assert!(row("shop/plain-1").contains("no: policy"), "{text}");
    let (_, json) = reached(&["--matrix", "-n", "shop", "-o", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["calls"].as_array().unwrap().len(), 6);
}

/// Services that lead elsewhere, a pod that takes a port for opaque, and a policy that lets the port of the application through alone.
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
metadata: {name: web-west, namespace: shop, labels: {mirror.linkerd.io/cluster-name: west, multicluster.linkerd.io/remote-discovery: west}}
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

/// What a report says, on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reached_in(cluster: &str, words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = write(folder.path(), "shop.yaml", format!("{SHOP}{CALLS}{cluster}"));
    let output = told("reach", words, &dump);
    (output.status, output.out)
}

#[test]
fn a_service_that_names_another_host_stops_nothing() {
    let (status, text) = reached_in(ELSEWHERE, &["shop/front-1", "shop/outside:443"]);
    assert_eq!(status, 4, "{text}");
    assert!(words(&text).contains("only names another host"), "{text}");
    assert!(words(&text).contains("meshdoctor reach shop/front-1 HOST:PORT"), "{text}");
}

/// A mirror whose gateway is down has no endpoint here; one whose endpoints are asked for over there never has.
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
        words(&text).contains("the client looks into the protocol, the server takes the port for opaque"),
        "{text}"
    );
    let (_, text) = reached(&["shop/front-1", "shop/web:80"]);
    assert!(words(&text).contains("client and server look into the protocol"), "{text}");
}

/// Where proxies come to each other's own port, a policy that lets the application's port through alone shuts them out.
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
    assert!(words(&text).contains("at port 4143"), "{text}");
    let (status, text) = reached_in(&format!("{policy}{}", config("transparent")), &call);
    assert_eq!((status, text.contains("stops here")), (4, false), "{text}");
}

/// Services without an address, addresses and names of pods, and rules of linkerd-init that leave ports aside.
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

#[test]
fn a_headless_service_leads_to_the_port_of_the_pod_that_is_called() {
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store:80"]);
    assert!(words(&text).contains("at port 80 of the pod itself"), "{text}");
    assert!(words(&text).contains("default policy all-unauthenticated lets in"), "{text}");
    // What targetPort says counts at the address of a Service alone.
    let (status, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:80"]);
    assert_eq!((status, text.contains("Server store of pod store-0 lets nobody in")), (1, true), "{text}");
    let (status, text) = reached_in(SHAPES, &["shop/front-1", "shop/store:5000"]);
    assert_eq!(
        (status, words(&text).contains("Server store of pod store-0 lets nobody in")),
        (1, true),
        "{text}"
    );
}

#[test]
fn names_and_addresses_of_this_cluster_are_not_outside_of_it() {
    for (to, says) in [
        ("store-0.store.shop.svc.cluster.local:5000", "Server store of pod store-0 lets nobody in"),
        ("store-0.store.shop:5000", "Server store of pod store-0 lets nobody in"),
        ("10.0.0.20:5000", "Server store of pod store-0 lets nobody in"),
        ("10.96.0.30:80", "Server store of pod store-0 lets nobody in"),
        ("store-vip.shop:80", "Server store of pod store-0 lets nobody in"),
        ("store-9.store.shop.svc.cluster.local:5000", "no pod of that name"),
    ] {
        let (status, text) = reached_in(SHAPES, &["shop/front-1", to]);
        assert_eq!((status, words(&text).contains(says)), (1, true), "{to}: {text}");
    }
    for to in ["example.com:443", "192.0.2.7:443", "10.0.0.99:80"] {
        let (status, text) = reached_in(SHAPES, &["shop/front-1", to]);
        assert_eq!((status, text.contains("outside of the cluster")), (4, true), "{to}: {text}");
    }
}

#[test]
fn ports_that_linkerd_init_leaves_aside_pass_no_proxy() {
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:6000"]);
    assert!(words(&text).contains("port 6000 of pod store-0 is skipped by its proxy"), "{text}");
    let (_, json) = reached_in(SHAPES, &["shop/front-1", "shop/store-vip:6000", "-o", "json"]);
    assert!(json.contains("--inbound-ports-to-ignore 4190,4191,6000"), "{json}");
    // The proxy decides itself on the port of its metrics.
    let (_, text) = reached_in(SHAPES, &["shop/front-1", "shop/store-0:4191"]);
    assert!(!text.contains("is skipped by its proxy"), "{text}");
    let (_, text) = reached_in(SHAPES, &["shop/skips-1", "shop/store-vip:80"]);
    assert!(words(&text).contains("port 80 is skipped by the client's proxy"), "{text}");
    assert!(words(&text).contains("a client without identity"), "{text}");
}

/// Pods in the network of their node, a port that an annotation skips, and one whose appProtocol says what is spoken.
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

/// Kubernetes lets in what comes from the node of a pod; pods in the network of another node are no pods to a policy.
#[test]
fn clients_in_the_network_of_a_node_are_let_in_there_alone() {
    let (status, text) = reached_in(HOSTS, &["shop/agent-1", "shop/raw:6000"]);
    assert_eq!(status, 0, "{text}");
    assert!(words(&text).contains("comes from the node of pod raw-1"), "{text}");
    let (status, text) = reached_in(HOSTS, &["shop/agent-2", "shop/raw:6000"]);
    assert_eq!((status, text.contains("it stops at network")), (1, true), "{text}");
}

/// A port that the server's annotation skips: nothing is said of its proxy, and the call goes to the port itself.
#[test]
fn a_port_that_the_server_skips_is_taken_for_nothing_by_its_proxy() {
    let (status, text) = reached_in(HOSTS, &["shop/front-1", "shop/raw:6000"]);
    let says = words(&text);
    assert!(says.contains("the client takes the port for opaque"), "{text}");
    assert!(!says.contains("client and server") && !says.contains("the server"), "{text}");
    assert!(says.contains("port 6000 of pod raw-1 is skipped by its proxy"), "{text}");
    assert_eq!(status, 0, "{text}");
    // What the application protocol says counts for clients, and both sides take it for opaque here.
    let (_, text) = reached_in(HOSTS, &["shop/front-1", "shop/raw:7000"]);
    assert!(words(&text).contains("client and server take the port for opaque"), "{text}");
}

/// An EgressNetwork holds what lies outside: what it denies stops, and what a route lets out is not judged further.
#[test]
fn calls_outside_are_held_by_egress_networks() {
    let network = |policy: &str| {
        format!(
            "---\napiVersion: policy.linkerd.io/v1alpha1\nkind: EgressNetwork\nmetadata: {{name: all, namespace: shop}}\nspec: {{trafficPolicy: {policy}}}\n"
        )
    };
    let call = ["shop/front-1", "192.0.2.7:443"];
    let (status, text) = reached_in(&network("Deny"), &call);
    assert_eq!((status, words(&text).contains("EgressNetwork all forbids it")), (1, true), "{text}");
    let (status, text) = reached_in(&network("Allow"), &call);
    assert_eq!((status, words(&text).contains("EgressNetwork all lets it out")), (4, true), "{text}");
    // Without a proxy nobody asks for it.
    let (_, text) = reached_in(&network("Deny"), &["shop/plain-1", "192.0.2.7:443"]);
    assert!(!text.contains("EgressNetwork all forbids"), "{text}");
}
