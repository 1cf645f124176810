//! Protobuf and JSON: the same objects of a real server are equal in both forms. A wrong field number would
//! only stay unnoticed in a field without a value, so these objects set every field that is read.

use std::collections::BTreeMap;
use std::path::Path;

use meshdoctor::fetched::{Fetched, Why};
use meshdoctor::item::{Item, Kind};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::objects::{Job, Pod, Workload};
use meshdoctor::protobuf::Message;
use meshdoctor::protobuf::schema::{Holds, Schema};
use meshdoctor::request::Request;
use meshdoctor::source::live::{Connect, Live};
use meshdoctor::source::{ObjectSink, Source};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::harness::kubeconfig::{ADMIN, write_kubeconfig};
use crate::harness::{Cluster, Options};

#[test]
fn objects_are_the_same_in_both_forms() {
    let Some(cluster) = Cluster::start(Options::still().user("nobody")) else { return };
    objects().iter().for_each(|object| cluster.api.create(object));
    let pod = "/api/v1/namespaces/default/pods/full";
    let deployment = "/apis/apps/v1/namespaces/default/deployments/full";
    let job = "/apis/batch/v1/namespaces/default/jobs/full";
    let others = ["replicasets", "statefulsets", "daemonsets"];
    let others = others.map(|kind| format!("/apis/apps/v1/namespaces/default/{kind}/full"));
    // Their finalizers keep them, with the time at which they were deleted.
    for path in [pod, deployment, job].into_iter().map(str::to_owned).chain(others) {
        let answer = cluster.api.call("DELETE", &path, "application/json", Vec::new()).unwrap();
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }

    let kubeconfig = cluster.folder().join("forms.kubeconfig");
    write_kubeconfig(&kubeconfig, &[("cluster", cluster.context(ADMIN))]);
    same::<Pod>(&kubeconfig, Kind::Pod);
    for kind in [Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::DaemonSet] {
        same::<Workload>(&kubeconfig, kind);
    }
    same::<Job>(&kubeconfig, Kind::Job);

    // A refusal has the requested form.
    let kubeconfig = cluster.folder().join("refused.kubeconfig");
    write_kubeconfig(&kubeconfig, &[("cluster", cluster.context("nobody"))]);
    let refused = [true, false].map(|messages| fetch::<Pod>(&kubeconfig, Kind::Pod, messages, true).0);
    let Fetched::Missing { reason: Why::Denied { message } } = &refused[0] else { panic!("{refused:?}") };
    assert!(message.contains("User \"nobody\" cannot list resource \"pods\""), "{message}");
    assert_eq!(refused[0], refused[1]);
}

/// Reads a kind in both forms, packed and not.
fn same<T: DeserializeOwned + PartialEq + std::fmt::Debug + Send>(kubeconfig: &Path, kind: Kind) {
    for plain in [false, true] {
        let [messages, texts] = [true, false].map(|messages| {
            let (fetched, taken) = fetch::<T>(kubeconfig, kind, messages, plain);
            assert_eq!(fetched, Fetched::Complete, "{kind}");
            taken
        });
        assert!(messages.json.is_empty(), "{kind}: the server has no protobuf");
        assert!(texts.objects.len() > 1, "{kind}");
        assert_eq!(messages.objects, texts.objects, "{kind}");
        let missing = missing(kind.info().message.unwrap(), &texts.json);
        assert_eq!(missing, [""; 0], "{kind}: in no object");
    }
}

fn fetch<T: DeserializeOwned + Send>(
    kubeconfig: &Path,
    kind: Kind,
    messages: bool,
    disable_compression: bool,
) -> (Fetched, Taken<T>) {
    let mut taken = Taken { messages, objects: Vec::new(), json: Vec::new() };
    let connect = Connect { kubeconfig: Some(kubeconfig.to_owned()), disable_compression, ..Connect::default() };
    let fetched = tokio::runtime::Runtime::new().unwrap().block_on(async {
        Live::connect(connect).await.unwrap().fetch(&Request::new(Item::List(kind)), &mut taken).await
    });
    (fetched, taken)
}

/// The objects of one answer.
struct Taken<T> {
    messages: bool,
    objects: Vec<T>,
    json: Vec<Value>,
}

impl<T: DeserializeOwned + Send> ObjectSink for Taken<T> {
    fn object(&mut self, json: &[u8]) {
        self.objects.push(serde_json::from_slice(json).unwrap());
        self.json.push(serde_json::from_slice(json).unwrap());
    }

    fn takes_messages(&self) -> bool {
        self.messages
    }

    fn message(&mut self, message: Message<'_>) -> bool {
        self.objects.push(T::deserialize(message).unwrap());
        true
    }

    fn node(&mut self, _: NodeFiles) {}

    fn restart(&mut self) {
        self.objects.clear();
    }
}

/// Fields without a non-empty value in any of the objects. A schema that is used in several places counts
/// once.
fn missing(schema: &'static Schema, objects: &[Value]) -> Vec<String> {
    let mut places = BTreeMap::new();
    objects.iter().for_each(|object| sort(schema, object, &mut places));
    let mut missing = Vec::new();
    for (name, (schema, values)) in places {
        let lacks = |name: &str| !values.iter().any(|value| is_stated(&value[name]));
        let written = schema.fields.iter().filter(|f| !matches!(f.holds, Holds::Inline(_)));
        missing.extend(written.filter(|f| lacks(f.name)).map(|f| format!("{name}.{}", f.name)));
    }
    missing
}

type Places<'a> = BTreeMap<&'static str, (&'static Schema, Vec<&'a Value>)>;

/// Collects an object and its parts by schema.
fn sort<'a>(schema: &'static Schema, object: &'a Value, places: &mut Places<'a>) {
    places.entry(schema.name).or_insert((schema, Vec::new())).1.push(object);
    for field in schema.fields {
        match (&field.holds, &object[field.name]) {
            (Holds::One(inner), value) => sort(inner, value, places),
            (Holds::Many(inner), Value::Array(values)) => values.iter().for_each(|v| sort(inner, v, places)),
            (Holds::Inline(inner), _) => sort(inner, object, places),
            _ => {}
        }
    }
}

fn is_stated(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) => true,
        Value::Number(number) => number.as_i64() != Some(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// For each kind, an object with all fields, and one with almost none.
fn objects() -> Vec<Value> {
    let owner = |controller: Value| json!({ "apiVersion": "example.com/v1", "kind": "App", "name": "a", "uid": "uid-of-a", "controller": controller });
    let metadata = |name: &str| match name {
        "full" => json!({
            "name": name, "namespace": "default", "finalizers": ["example.com/kept"],
            "labels": { "app": "a", "empty": "" },
            "annotations": { "linkerd.io/inject": "enabled", "config.linkerd.io/proxy-log-level": "", "example.com/other": "x" },
            "ownerReferences": [owner(json!(true)), {
                "apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": "uid-of-b", "controller": false,
            }],
        }),
        _ => json!({ "name": name, "namespace": "default", "labels": { "app": "a" } }),
    };
    let spec = json!({
        "nodeName": "node-1", "hostNetwork": true, "priorityClassName": "system-node-critical", "runtimeClassName": "sandbox", "serviceAccountName": "someone", "automountServiceAccountToken": false,
        "dnsPolicy": "None", "dnsConfig": { "nameservers": ["10.96.0.10"] },
        "nodeSelector": { "disk": "ssd" }, "restartPolicy": "Always", "terminationGracePeriodSeconds": 45,
        "securityContext": { "runAsUser": 1000, "runAsGroup": 1001 },
        "volumes": [
            { "name": "one", "emptyDir": {} }, { "name": "two", "hostPath": { "path": "/tmp" } },
            { "name": "linkerd-identity-end-entity", "emptyDir": { "medium": "Memory" } },
            { "name": "linkerd-identity-token", "projected": { "sources": [
                { "configMap": { "name": "c" } },
                { "serviceAccountToken": { "path": "linkerd-identity-token", "audience": "identity.l5d.io", "expirationSeconds": 86400 } },
            ] } },
        ],
        "initContainers": [
            { "name": "linkerd-init", "image": "init:1", "args": ["--outbound-proxy-port", ""] },
            { "name": "linkerd-proxy", "image": "proxy:1", "restartPolicy": "Always", "command": ["linkerd-await", "--"],
              "livenessProbe": { "httpGet": { "path": "/live", "port": 4191 }, "initialDelaySeconds": 10 },
              "readinessProbe": { "httpGet": { "path": "/ready", "port": "admin", "scheme": "HTTPS" } },
              "startupProbe": { "httpGet": { "port": "admin" }, "failureThreshold": 120 },
              "resources": { "limits": { "cpu": "1", "memory": "250Mi" }, "requests": { "cpu": "100m", "memory": "20Mi" } },
              "securityContext": { "runAsUser": 2102, "runAsGroup": 2102, "privileged": false, "capabilities": { "add": ["NET_ADMIN"], "drop": ["ALL"] } },
              "volumeMounts": [{ "name": "linkerd-identity-end-entity", "mountPath": "/var/run/linkerd/identity/end-entity" }],
              "lifecycle": { "postStart": { "exec": { "command": ["linkerd-await", "--timeout=2m"] } }, "preStop": { "sleep": { "seconds": 20 } } },
              "envFrom": [{ "prefix": "A_", "configMapRef": { "name": "c" } }],
              "env": [
                { "name": "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "value": "0.0.0.0:4143" },
                { "name": "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS", "value": "" },
                { "name": "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } },
              ],
              "ports": [{ "name": "admin", "containerPort": 4191, "hostPort": 4191 }] },
        ],
        "containers": [
            { "name": "app", "image": "app:1", "command": ["app"], "args": ["a"], "env": [{ "name": "A", "value": "b" }],
              "ports": [{ "containerPort": 65535, "hostPort": 65535 }] },
            { "name": "other", "image": "other:1", "lifecycle": { "preStop": { "httpGet": { "path": "/drain", "port": 9000, "scheme": "HTTPS" } } },
              "livenessProbe": { "tcpSocket": { "port": 80 } },
              "readinessProbe": { "grpc": { "port": 9000, "service": "health" } },
              "startupProbe": { "exec": { "command": ["true"] } }, "resources": { "requests": { "example.com/gpu": "1" }, "limits": { "example.com/gpu": "1" } } },
        ],
    });
    let lean = json!({ "containers": [{ "name": "app", "image": "app:1" }] });
    let time = "2026-01-15T12:00:00Z";
    let state = |name: &str, state: Value, last: Value| json!({ "name": name, "image": "app:1", "imageID": "", "ready": name == "app", "restartCount": 3, "state": state, "lastState": last });
    let ended = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled", "message": "it was\nkilled", "startedAt": time, "finishedAt": time } });
    let waiting = json!({ "waiting": { "reason": "CrashLoopBackOff", "message": "back-off" } });
    let running = json!({ "running": { "startedAt": time } });
    let condition = |kind: &str| json!({ "type": kind, "status": "True", "reason": "Because", "message": "it is so", "lastTransitionTime": time });
    let pod_status = json!({
        "phase": "Running", "reason": "Evicted", "podIP": "10.1.2.3", "podIPs": [{ "ip": "10.1.2.3" }, { "ip": "fd00::3" }], "startTime": time,
        "conditions": [condition("Ready"), { "type": "PodScheduled", "status": "False" }],
        "containerStatuses": [state("app", running.clone(), ended.clone()), state("other", waiting.clone(), ended.clone())],
        "initContainerStatuses": [state("linkerd-init", ended.clone(), waiting), state("linkerd-proxy", running, json!({}))],
    });
    let mut objects = Vec::new();
    let mut add = |api: &str, kind: &str, name: &str, spec: Value, status: Value| {
        objects.push(
            json!({ "apiVersion": api, "kind": kind, "metadata": metadata(name), "spec": spec, "status": status }),
        );
    };
    add("v1", "Pod", "full", spec.clone(), pod_status);
    add("v1", "Pod", "lean", lean.clone(), json!({}));
    let selector = json!({ "matchLabels": { "app": "a" } });
    let template = |spec: &Value| json!({ "metadata": { "labels": { "app": "a" }, "annotations": { "linkerd.io/inject": "enabled" } }, "spec": spec });
    for kind in ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"] {
        let status = match kind {
            "DaemonSet" => {
                json!({ "currentNumberScheduled": 3, "numberMisscheduled": 0, "desiredNumberScheduled": 4, "numberReady": 2 })
            }
            _ => json!({ "replicas": 3, "readyReplicas": 2, "availableReplicas": 1 }),
        };
        let mut whole = json!({ "selector": selector, "template": template(&spec) });
        let mut little = json!({ "selector": selector, "template": template(&lean) });
        match kind {
            "Deployment" => {
                whole["paused"] = json!(true);
                whole["strategy"] =
                    json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "30%", "maxSurge": 1 } });
            }
            "StatefulSet" => {
                whole["updateStrategy"] = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
            }
            "DaemonSet" => {
                whole["updateStrategy"] = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 2 } });
            }
            _ => {}
        }
        if kind != "DaemonSet" {
            whole["replicas"] = json!(4);
            little["replicas"] = json!(0);
        }
        let mut status = status;
        status["conditions"] = json!([condition("Available"), { "type": "Progressing", "status": "False" }]);
        add("apps/v1", kind, "full", whole, status);
        add("apps/v1", kind, "lean", little, json!({}));
    }
    let mut of_job = spec;
    of_job["restartPolicy"] = json!("Never");
    let mut of_lean_job = lean;
    of_lean_job["restartPolicy"] = json!("OnFailure");
    let done = [condition("SuccessCriteriaMet"), condition("Complete")];
    add(
        "batch/v1",
        "Job",
        "full",
        json!({ "template": { "spec": of_job }, "activeDeadlineSeconds": 600 }),
        json!({ "succeeded": 1, "startTime": time, "completionTime": time, "conditions": done }),
    );
    add(
        "batch/v1",
        "Job",
        "lean",
        json!({ "template": { "spec": of_lean_job } }),
        json!({ "active": 1, "startTime": time }),
    );
    objects
}
