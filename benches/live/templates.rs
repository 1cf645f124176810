//! Templates of the objects that a simulated cluster has many of, with `@marks@` for the varying parts. The
//! pod is what an API server 1.34 and the injector of edge-25.4.4 made of a small Deployment.

use serde_json::{Value, json};

use crate::fields::{Writer, manage};

const CONTROLLER: Writer = ("kube-controller-manager", "", &["metadata", "spec"]);
const STATUS: Writer = ("kube-controller-manager", "status", &["status"]);

pub(crate) fn pod() -> Value {
    let mut pod: Value = serde_json::from_str(include_str!("pod.json")).expect("the file is JSON");
    manage(&mut pod, &[CONTROLLER, ("kubelet", "status", &["status"])]);
    pod
}

/// The pod template before injection: the pod without the injected parts.
fn template() -> Value {
    let mut spec: Value = pod()["spec"].take();
    let only_app =
        |name: &Value| !name.as_str().is_some_and(|name| name.contains("linkerd") || name.contains("kube-api"));
    for list in ["containers", "volumes"] {
        if let Some(items) = spec[list].as_array_mut() {
            items.retain(|item| only_app(&item["name"]));
        }
    }
    if let Some(map) = spec.as_object_mut() {
        map.remove("initContainers");
        map.remove("nodeName");
        map.remove("tolerations");
    }
    json!({ "metadata": { "labels": { "app": "@app@" }, "annotations": { "linkerd.io/inject": "enabled" } }, "spec": spec })
}

pub(crate) fn deployment() -> Value {
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "@app@", "namespace": "@ns@", "uid": "@deployuid@", "resourceVersion": "@rv@", "generation": 2,
            "creationTimestamp": "2026-01-10T08:00:00Z", "labels": { "app": "@app@", "team": "@ns@" },
            "annotations": { "deployment.kubernetes.io/revision": "2" },
        },
        "spec": {
            "progressDeadlineSeconds": 600, "replicas": 10, "revisionHistoryLimit": 10,
            "selector": { "matchLabels": { "app": "@app@" } },
            "strategy": { "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": "25%" }, "type": "RollingUpdate" },
            "template": template(),
        },
        "status": {
            "availableReplicas": 10, "observedGeneration": 2, "readyReplicas": 10, "replicas": 10, "updatedReplicas": 10,
            "conditions": [
                condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
                condition("Progressing", "NewReplicaSetAvailable", "ReplicaSet \"@app@-@hash@\" has successfully progressed."),
            ],
        },
    });
    manage(&mut deployment, &[("helm", "", &["metadata", "spec"]), STATUS]);
    deployment
}

fn condition(kind: &str, reason: &str, message: &str) -> Value {
    let time = "2026-01-20T01:51:02Z";
    json!({
        "type": kind, "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": time, "lastUpdateTime": time,
    })
}

/// The ReplicaSet of the pods, and that of the previous revision.
pub(crate) fn replica_sets() -> Vec<Value> {
    let set = |hash: &str, uid: &str, replicas: u32| {
        let mut set = json!({
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {
                "name": format!("@app@-{hash}"), "namespace": "@ns@", "uid": uid, "resourceVersion": "@rv@", "generation": 1,
                "creationTimestamp": "2026-01-20T01:50:50Z", "labels": { "app": "@app@", "pod-template-hash": hash },
                "annotations": { "deployment.kubernetes.io/desired-replicas": "10", "deployment.kubernetes.io/revision": "2" },
                "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": "Deployment", "name": "@app@", "uid": "@deployuid@",
                    "controller": true, "blockOwnerDeletion": true,
                }],
            },
            "spec": {
                "replicas": replicas, "selector": { "matchLabels": { "app": "@app@", "pod-template-hash": hash } },
                "template": template(),
            },
            "status": { "observedGeneration": 1, "replicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas },
        });
        manage(&mut set, &[CONTROLLER, STATUS]);
        set
    };
    vec![set("@hash@", "@rsuid@", 10), set("@oldhash@", "@oldrsuid@", 0)]
}

pub(crate) fn service() -> Value {
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {
            "name": "@app@", "namespace": "@ns@", "uid": "@serviceuid@", "resourceVersion": "@rv@",
            "creationTimestamp": "2026-01-10T08:00:00Z", "labels": { "app": "@app@", "team": "@ns@" },
        },
        "spec": {
            "clusterIP": "172.20.3.4", "clusterIPs": ["172.20.3.4"], "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None", "type": "ClusterIP",
            "ports": [{ "name": "http", "port": 80, "protocol": "TCP", "targetPort": "http" }], "selector": { "app": "@app@" },
        },
        "status": { "loadBalancer": {} },
    });
    manage(&mut service, &[("helm", "", &["metadata", "spec"])]);
    service
}

pub(crate) fn endpoint_slice() -> Value {
    let endpoints: Vec<Value> = (0..10)
        .map(|replica| {
            json!({
                "addresses": [format!("@net@.{}", 10 + replica)], "nodeName": "@node@",
                "conditions": { "ready": true, "serving": true, "terminating": false },
                "targetRef": { "kind": "Pod", "namespace": "@ns@", "name": format!("@app@-@hash@-{replica}kq7z"), "uid": "@uid@" },
            })
        })
        .collect();
    let mut slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": endpoints,
        "metadata": {
            "name": "@app@-8k2wd", "generateName": "@app@-", "namespace": "@ns@", "uid": "@sliceuid@", "resourceVersion": "@rv@",
            "creationTimestamp": "2026-01-10T08:00:00Z",
            "labels": { "app": "@app@", "kubernetes.io/service-name": "@app@",
                "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io" },
        },
        "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
    });
    manage(&mut slice, &[("kube-controller-manager", "", &["metadata", "endpoints", "ports", "addressType"])]);
    slice
}

/// The kubelet's event for each start; every fifth pod still has one.
pub(crate) fn event() -> Value {
    let mut event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {
            "name": "@pod@.18641f0a7c2e93b1", "namespace": "@ns@", "uid": "@eventuid@", "resourceVersion": "@rv@",
            "creationTimestamp": "2026-01-20T01:50:54Z",
        },
        "involvedObject": { "apiVersion": "v1", "kind": "Pod", "name": "@pod@", "namespace": "@ns@", "uid": "@uid@",
            "resourceVersion": "@rv@", "fieldPath": "spec.containers{app}" },
        "reason": "Started", "message": "Started container app", "type": "Normal", "count": 1,
        "source": { "component": "kubelet", "host": "@node@" }, "reportingComponent": "kubelet", "reportingInstance": "@node@",
        "firstTimestamp": "2026-01-20T01:50:54Z", "lastTimestamp": "2026-01-20T01:50:54Z", "eventTime": null,
    });
    let parts = &["involvedObject", "reason", "message", "type", "count", "source", "firstTimestamp", "lastTimestamp"];
    manage(&mut event, &[("kubelet", "", parts)]);
    event
}

pub(crate) fn namespace() -> Value {
    let mut namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": "@ns@", "uid": "@nsuid@", "resourceVersion": "@rv@", "creationTimestamp": "2025-11-01T08:00:00Z",
            "labels": { "kubernetes.io/metadata.name": "@ns@" }, "annotations": { "linkerd.io/inject": "enabled" },
        },
        "spec": { "finalizers": ["kubernetes"] }, "status": { "phase": "Active" },
    });
    manage(&mut namespace, &[("kubectl-client-side-apply", "", &["metadata"])]);
    namespace
}

pub(crate) fn node() -> Value {
    let ready = json!([{
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
        "lastHeartbeatTime": "2026-01-20T01:50:52Z", "lastTransitionTime": "2026-01-10T06:00:00Z",
    }]);
    let images: Vec<Value> = (0..50)
        .map(|image| json!({ "names": [format!("registry.example.com/image-{image}@sha256:{}", "5a".repeat(32))], "sizeBytes": 81_237_112 }))
        .collect();
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": "@node@", "uid": "@nodeuid@", "resourceVersion": "@rv@", "creationTimestamp": "2026-01-10T06:00:00Z",
            "labels": { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": "@node@",
                "eks.amazonaws.com/nodegroup": "main", "node.kubernetes.io/instance-type": "m6i.4xlarge" },
        },
        "spec": { "providerID": "aws:///us-east-1a/@node@" },
        "status": {
            "capacity": { "cpu": "16", "memory": "64Gi", "pods": "234" }, "conditions": ready, "images": images,
            "nodeInfo": { "kubeletVersion": "v1.31.5-eks-5d632ec", "osImage": "Amazon Linux 2023.6.20250203",
                "operatingSystem": "linux", "architecture": "amd64", "kernelVersion": "6.1.127-135.201.amzn2023.x86_64",
                "containerRuntimeVersion": "containerd://1.7.25" },
        },
    });
    manage(&mut node, &[("kubelet", "", &["metadata", "spec"]), ("kubelet", "status", &["status"])]);
    node
}
