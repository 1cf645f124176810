//! Mixes of objects on top of a small healthy mesh.

use meshdoctor::markdown::{Block, BlockKind};
use meshdoctor::scene::Scene;
use serde_json::{Value, json};

/// A number of objects of some kinds.
pub struct Mix {
    /// Name in the table.
    pub name: &'static str,
    make: fn(usize) -> Vec<Value>,
}

/// All of them.
pub const MIXES: &[Mix] = &[
    Mix { name: "workloads", make: |n| (0..n).flat_map(|at| workload("shop", at)).collect() },
    Mix { name: "workloads, 50 to a namespace", make: spread },
    Mix { name: "network policies", make: network_policies },
    Mix { name: "authorization policies", make: authorization },
    Mix { name: "services", make: |n| (0..n).flat_map(service).collect() },
    Mix { name: "routes", make: routes },
    Mix { name: "waivers", make: waivers },
    Mix { name: "events", make: |n| (0..n).flat_map(event).collect() },
    Mix { name: "jobs", make: |n| (0..n).flat_map(job).collect() },
    Mix { name: "links", make: |n| (0..n).flat_map(link).collect() },
    Mix { name: "nodes", make: |n| (0..n).flat_map(node).collect() },
];

/// The cluster of a mix.
pub fn scene(mix: &Mix, size: usize) -> Scene {
    let base = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases");
        std::fs::read_to_string(format!("{folder}/{name}.yaml")).ok()
    };
    let on = Some("healthy,cni,multicluster".to_owned());
    let block = Block { content: BlockKind::Cluster { on }, text: String::new(), line: 1 };
    let mut scene = Scene::parse(&[block], &base).expect("the bases are clusters");
    // Objects are filed one by one below, in their order; a later one of a name would replace the earlier one.
    for object in (mix.make)(size) {
        push(&mut scene, &object);
    }
    scene
}

/// Files an object of a new name, without a look for an earlier one.
fn push(scene: &mut Scene, object: &Value) {
    let mut alone = meshdoctor::source::memory::Memory::default();
    alone.add(object).expect("it has a kind and a name");
    for (kind, held) in alone.objects {
        scene.memory.objects.entry(kind).or_default().extend(held);
    }
}

fn object(version: &str, kind: &str, (namespace, name): (&str, &str), rest: Value) -> Value {
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name,
        "uid": format!("{kind}-{namespace}-{name}"), "creationTimestamp": "2026-01-13T09:00:00Z"}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    let (Value::Object(into), Value::Object(rest)) = (&mut object, rest) else { return Value::Null };
    for (key, value) in rest {
        if ["labels", "annotations", "ownerReferences"].contains(&key.as_str()) {
            into["metadata"][&key] = value;
        } else {
            into.insert(key, value);
        }
    }
    object
}

fn owner(version: &str, kind: &str, (namespace, name): (&str, &str)) -> Value {
    json!([{"apiVersion": version, "kind": kind, "name": name, "uid": format!("{kind}-{namespace}-{name}"), "controller": true}])
}

fn pod(namespace: &str, name: &str, labels: &Value, owners: &Value, node: &str) -> Value {
    let proxy = json!({"name": "linkerd-proxy", "image": "cr.l5d.io/linkerd/proxy:edge-25.4.4",
        "env": [{"name": "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "value": "0.0.0.0:4143"}],
        "ports": [{"name": "linkerd-proxy", "containerPort": 4143}]});
    let app = json!({"name": "app", "image": "app:1", "ports": [{"name": "http", "containerPort": 8080}]});
    let running = |name: &str| json!({"name": name, "ready": true, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-13T09:00:08Z"}}});
    object(
        "v1",
        "Pod",
        (namespace, name),
        json!({"labels": labels, "ownerReferences": owners, "annotations": {"linkerd.io/proxy-version": "edge-25.4.4"},
            "spec": {"nodeName": node, "serviceAccountName": "default", "containers": [app, proxy]},
            "status": {"phase": "Running", "podIP": "10.244.0.9", "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [running("app"), running("linkerd-proxy")]}}),
    )
}

/// A Deployment, its ReplicaSet and its pod.
fn workload(namespace: &str, at: usize) -> Vec<Value> {
    let name = format!("web-{at}");
    let set = format!("{name}-5d8f7c9b6f");
    let labels = json!({"app": name, "tier": format!("t{}", at % 7), "linkerd.io/control-plane-ns": "linkerd",
        "linkerd.io/proxy-deployment": name, "pod-template-hash": "5d8f7c9b6f"});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}, "template": {
        "metadata": {"labels": {"app": name}, "annotations": {"linkerd.io/inject": "enabled"}},
        "spec": {"containers": [{"name": "app", "image": "app:1", "ports": [{"name": "http", "containerPort": 8080}]}]}}});
    let of_deployment = owner("apps/v1", "Deployment", (namespace, &name));
    let of_set = owner("apps/v1", "ReplicaSet", (namespace, &set));
    vec![
        object("apps/v1", "Deployment", (namespace, &name), json!({"spec": spec})),
        object("apps/v1", "ReplicaSet", (namespace, &set), json!({"spec": spec, "ownerReferences": of_deployment})),
        pod(namespace, &format!("{set}-abcde"), &labels, &of_set, "ip-10-0-1-12"),
    ]
}

fn namespace(name: &str, annotations: Value) -> Value {
    object("v1", "Namespace", ("", name), json!({"annotations": annotations}))
}

fn spread(n: usize) -> Vec<Value> {
    let of = |at: usize| {
        let home = format!("team-{}", at / 50);
        let first = (at.is_multiple_of(50)).then(|| namespace(&home, json!({"linkerd.io/inject": "enabled"})));
        first.into_iter().chain(workload(&home, at))
    };
    (0..n).flat_map(of).collect()
}

/// Workloads, a policy for every tenth of them, and seven policies that select many.
fn network_policies(n: usize) -> Vec<Value> {
    let policy = |at: usize| {
        let selector = match at % 10 {
            0 => json!({"matchLabels": {"tier": format!("t{}", at % 7)}}),
            _ => json!({"matchLabels": {"app": format!("web-{at}")}}),
        };
        object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            ("shop", &format!("p-{at}")),
            json!({"spec": {"podSelector": selector, "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"ports": [{"protocol": "TCP", "port": 8080}]}],
                "egress": [{"to": [{"podSelector": {}}], "ports": [{"protocol": "TCP", "port": 8080}]}]}}),
        )
    };
    let policies = (0..n / 10).map(|at| policy(at * 10 + at % 2));
    (0..n).flat_map(|at| workload("shop", at)).chain(policies).collect()
}

fn authorization(n: usize) -> Vec<Value> {
    let of = |at: usize| {
        let name = format!("web-{at}");
        let server = object(
            "policy.linkerd.io/v1beta3",
            "Server",
            ("shop", &name),
            json!({"spec": {"podSelector": {"matchLabels": {"app": name}}, "port": "http", "proxyProtocol": "HTTP/1"}}),
        );
        let policy = object(
            "policy.linkerd.io/v1alpha1",
            "AuthorizationPolicy",
            ("shop", &name),
            json!({"spec": {"targetRef": {"group": "policy.linkerd.io", "kind": "Server", "name": name},
                "requiredAuthenticationRefs": [{"group": "policy.linkerd.io", "kind": "MeshTLSAuthentication", "name": name}]}}),
        );
        let authentication = object(
            "policy.linkerd.io/v1alpha1",
            "MeshTLSAuthentication",
            ("shop", &name),
            json!({"spec": {"identities": ["*"]}}),
        );
        workload("shop", at).into_iter().chain([server, policy, authentication])
    };
    (0..n).flat_map(of).collect()
}

/// A workload, its Service and its EndpointSlice.
fn service(at: usize) -> Vec<Value> {
    let name = format!("web-{at}");
    let service = object(
        "v1",
        "Service",
        ("shop", &name),
        json!({"spec": {"clusterIP": "10.96.0.9", "selector": {"app": name}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}}),
    );
    let pod = format!("{name}-5d8f7c9b6f-abcde");
    let slice = object(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        ("shop", &format!("{name}-x")),
        json!({"labels": {"kubernetes.io/service-name": name}, "addressType": "IPv4", "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
            "endpoints": [{"addresses": ["10.244.0.9"], "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "namespace": "shop", "name": pod}}]}),
    );
    workload("shop", at).into_iter().chain([service, slice]).collect()
}

fn routes(n: usize) -> Vec<Value> {
    let route = |at: usize| {
        let name = format!("web-{at}");
        object(
            "gateway.networking.k8s.io/v1",
            "HTTPRoute",
            ("shop", &name),
            json!({"spec": {"parentRefs": [{"group": "", "kind": "Service", "name": name, "port": 80}],
                "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": [{"name": name, "port": 80}]}]}}),
        )
    };
    (0..n).flat_map(|at| service(at).into_iter().chain([route(at)])).collect()
}

/// Namespaces with a hundred waivers each, all unused.
fn waivers(n: usize) -> Vec<Value> {
    let of = |check: fn(usize) -> String| -> String {
        let line = |at| format!("- {{check: {}, reason: r{at}, owner: o, expires: 2027-01-31}}\n", check(at));
        (0..100).map(line).collect()
    };
    let (text, known) = (of(|at| format!("no-such-check-{at}")), of(|_| "proxy-not-ready".to_owned()));
    (0..n / 10)
        .map(|at| {
            let text = if at % 2 == 0 { &text } else { &known };
            namespace(&format!("team-{at}"), json!({"meshdoctor.io/ignore": text}))
        })
        .collect()
}

fn event(at: usize) -> Vec<Value> {
    let name = format!("web-{at}-5d8f7c9b6f-abcde");
    let event = object(
        "v1",
        "Event",
        ("shop", &format!("{name}.1")),
        json!({"type": "Warning", "reason": "FailedCreatePodSandBox", "count": 3,
            "firstTimestamp": "2026-01-15T11:50:00Z", "lastTimestamp": "2026-01-15T11:59:00Z",
            "message": "Failed to create pod sandbox: plugin type=\"linkerd-cni\" failed (add): Unauthorized",
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": name}}),
    );
    workload("shop", at).into_iter().chain([event]).collect()
}

fn job(at: usize) -> Vec<Value> {
    let name = format!("batch-{at}");
    let template = json!({"metadata": {"annotations": {"linkerd.io/inject": "enabled"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1"}]}});
    let labels = json!({"job-name": name, "linkerd.io/control-plane-ns": "linkerd"});
    vec![
        object(
            "batch/v1",
            "CronJob",
            ("shop", &name),
            json!({"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}}}),
        ),
        object(
            "batch/v1",
            "Job",
            ("shop", &name),
            json!({"spec": {"template": template}, "ownerReferences": owner("batch/v1", "CronJob", ("shop", &name))}),
        ),
        pod("shop", &format!("{name}-abcde"), &labels, &owner("batch/v1", "Job", ("shop", &name)), "ip-10-0-1-12"),
    ]
}

fn link(at: usize) -> Vec<Value> {
    let name = format!("east-{at}");
    let link = object(
        "multicluster.linkerd.io/v1alpha3",
        "Link",
        ("linkerd-multicluster", &name),
        json!({"spec": {"targetClusterName": name, "targetClusterDomain": "cluster.local", "targetClusterLinkerdNamespace": "linkerd",
            "clusterCredentialsSecret": format!("cluster-credentials-{name}"), "gatewayAddress": "10.1.2.3", "gatewayPort": "4143",
            "gatewayIdentity": "linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local",
            "selector": {"matchLabels": {"mirror.linkerd.io/exported": "true"}}}}),
    );
    let mirrored = object(
        "v1",
        "Service",
        ("shop", &format!("web-{name}")),
        json!({"labels": {"mirror.linkerd.io/mirrored-service": "true", "mirror.linkerd.io/cluster-name": name},
            "spec": {"clusterIP": "10.96.0.9", "ports": [{"name": "http", "port": 80}]}}),
    );
    vec![link, mirrored]
}

fn node(at: usize) -> Vec<Value> {
    let name = format!("node-{at}");
    let labels =
        json!({"app": "agent", "linkerd.io/control-plane-ns": "linkerd", "linkerd.io/proxy-daemonset": "agent"});
    let installer = json!({"k8s-app": "linkerd-cni"});
    let mut plugin = object(
        "v1",
        "Pod",
        ("linkerd-cni", &format!("linkerd-cni-{at}")),
        json!({"labels": installer, "ownerReferences": owner("apps/v1", "DaemonSet", ("linkerd-cni", "linkerd-cni"))}),
    );
    plugin["spec"] = json!({"nodeName": name, "containers": [{"name": "install-cni", "image": "cr.l5d.io/linkerd/cni-plugin:v1.6.2"}]});
    plugin["status"] = json!({"phase": "Running", "containerStatuses": [{"name": "install-cni", "ready": true, "restartCount": 0,
        "state": {"running": {"startedAt": "2026-01-13T09:00:08Z"}}}]});
    vec![
        object(
            "v1",
            "Node",
            ("", &name),
            json!({"labels": {"kubernetes.io/os": "linux"}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
                "nodeInfo": {"kubeletVersion": "v1.31.5", "operatingSystem": "linux", "containerRuntimeVersion": "containerd://1.7.24", "osImage": "Ubuntu 22.04"}}}),
        ),
        pod("shop", &format!("agent-{at}"), &labels, &owner("apps/v1", "DaemonSet", ("shop", "agent")), &name),
        plugin,
    ]
}
