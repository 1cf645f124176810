//! The leaves of objects that keep a plain word, and the reason: `passing.txt` lists them by reason. All
//! other leaves contain only a marker; a leaf without a reason fails.

use std::collections::{BTreeMap, BTreeSet};

use meshdoctor::redact;

use crate::golden;
use crate::leaves::{objects, plant, rule_of};

/// A text that does not look like a secret, and is replaced if it is not known to be harmless.
const PLAIN: &str = "plaincanary";

/// Reasons to keep a text, and the last field of the leaves that they apply to. The first match applies.
const REASONS: &[(&str, &[&str])] = &[
    ("The name of a Secret, without its content: it finds the source of the trust anchors.", &["secretName"]),
    (
        "The name and the dates of a certificate, which every client of it sees: they find the Certificate of cert-manager \
         that renews a trust anchor.",
        &["commonName", "notBefore", "notAfter", "renewalTime"],
    ),
    (
        "An enumeration: Kubernetes or its controllers choose the word, one of a few, without blanks.",
        &[
            "scopes[]",
            "type",
            "status",
            "reason",
            "phase",
            "restartPolicy",
            "rotationPolicy",
            "routingType",
            "algorithm",
            "concurrencyPolicy",
            "failurePolicy",
            "internalTrafficPolicy",
            "dnsPolicy",
            "scheme",
            "externalTrafficPolicy",
            "sessionAffinity",
            "operator",
            "protocol",
            "appProtocol",
            "ipFamilies[]",
            "ipFamilyPolicy",
            "scope",
            "addressType",
            "operatingSystem",
            "taints[].effect",
            "policyTypes[]",
            "pathType",
            "proxyProtocol",
            "accessPolicy",
            "trafficPolicy",
            "matches[].method",
            "verbs[]",
            "medium",
            "capabilities.add[]",
            "capabilities.drop[]",
            "types[]",
            "action",
            "defaultAction",
            "Entities[]",
            "authentication.mode",
            "notProtocol",
            "bpfConnectTimeLoadBalancing",
            "operations[]",
            "validationActions[]",
            "admissionReviewVersions[]",
            "sideEffects",
            "matchPolicy",
        ],
    ),
    (
        "A kind, a resource or an API group with its version: the names of Kubernetes' own vocabulary.",
        &[
            "apiVersion",
            "kind",
            "group",
            "apiGroup",
            "apiGroups[]",
            "apiVersions[]",
            "resources[]",
            "plural",
            "version",
        ],
    ),
    (
        "When a CronJob runs, and in which time zone. A schedule is searched for the shapes of secrets.",
        &["schedule", "timeZone"],
    ),
    (
        "A time that Kubernetes writes.",
        &[
            "creationTimestamp",
            "deletionTimestamp",
            "lastTransitionTime",
            "reconciledAt",
            "lastHeartbeatTime",
            "firstTimestamp",
            "lastTimestamp",
            "eventTime",
            "lastObservedTime",
            "lastScheduleTime",
            "lastSuccessfulTime",
            "startTime",
            "startedAt",
            "renewTime",
            "finishedAt",
        ],
    ),
    ("An id that the API server gives.", &["uid"]),
    (
        "What a monitor of the Prometheus operator compares names of ports with: names of labels, and an expression. It is \
         searched for the shapes of secrets.",
        &["sourceLabels[]", "regex"],
    ),
    (
        "The name of an object, of a node, of a cluster or of a domain: what a finding points to. Kubernetes holds them to \
         the letters of DNS names.",
        &[
            "name",
            "namespace",
            "nodeName",
            "runtimeClassName",
            "serviceAccountName",
            "host",
            "resourceNames[]",
            "namespaceSelector.*[]",
            "targetClusterName",
            "targetClusterDomain",
            "targetClusterLinkerdNamespace",
            "clusterCredentialsSecret",
            "gatewayIdentity",
            "controllerName",
            "audience",
            "providerID",
            "controller",
            "ingressClassName",
            "tier",
            "serviceAccounts.names[]",
            "matchPattern",
            "spec.service",
            "backends[].service",
            "policyName",
            "fieldPath",
        ],
    ),
    (
        "A label, or what selects by labels: names and short words by Kubernetes' rules, sixty-three letters at most. Those \
         whose name announces a secret are replaced.",
        &[
            "taints[].value",
            "key",
            "values[]",
            "app",
            "component",
            "selector.*",
            "Selector.*.release",
            "nodeSelector.*",
            "matchLabels.*",
            "io/control-plane-component",
            "istio-injection",
        ],
    ),
    (
        "An annotation for Linkerd, or one in which Helm, Argo CD or Kubernetes name themselves: settings, names, versions. \
         Others are replaced, and those whose name announces a secret.",
        &["annotations.*"],
    ),
    (
        "An address, a port or a number.",
        &[
            "podIP",
            "podIPs[].ip",
            "workloadIPs[].ip",
            "podCIDR",
            "podCIDRs[]",
            "CIDR[]",
            "nets[]",
            "notNets[]",
            "ports[]",
            "notPorts[]",
            "addresses[].address",
            "externalName",
            "cidr",
            "except[]",
            "clusterIP",
            "addresses[]",
            "nameservers[]",
            "targetPort",
            "gatewayAddress",
            "gatewayPort",
            "port",
            "failureThreshold",
            "cpu",
            "memory",
            "allocatable.pods",
            "hard.pods",
            "hard.count/replicasets.apps",
            "used.count/replicasets.apps",
            "used.pods",
            "weight",
            "period",
            "timeout",
            "ttl",
            "timeouts.request",
            "timeouts.backendRequest",
        ],
    ),
    (
        "An expression by which a policy of Calico's selects by labels: their names and values. It is searched for the shapes of \
         secrets.",
        &["selector", "Selector"],
    ),
    (
        "An expression of an admission policy in CEL, which is code. It is searched for the shapes of secrets.",
        &["expression"],
    ),
    (
        "A path, a host, a header or a method by which a policy or a route tells requests apart, or the path that a probe asks \
         for: the policy controller hands them to every proxy. They are searched for the shapes of secrets.",
        &[
            "value",
            "method.service",
            "method.method",
            "hostnames[]",
            "rules[].host",
            "hostname",
            "remove[]",
            "replaceFullPath",
            "replacePrefixMatch",
            "pathRegex",
            "httpGet.path",
            "paths[].path",
            "authority",
        ],
    ),
    (
        "An identity of the mesh, or a network, that a policy names.",
        &["identities[]", "identity", "serverName", "cidr", "except[]", "sourceRange[]"],
    ),
    (
        "The URL or path at which the API server calls a webhook. Parts that look random are replaced.",
        &["clientConfig.url", "clientConfig.service.path"],
    ),
    (
        "The API server of the cluster to which Argo CD applies an Application: it decides whether that is this cluster.",
        &["destination.server"],
    ),
    ("The namespace to which Flux applies a chart.", &["targetNamespace"]),
    (
        "A key of labels or annotations that a Link excludes from its mirrors.",
        &["excludedLabels[]", "excludedAnnotations[]"],
    ),
    ("The path at which a Link's gateway is probed; the mirror writes it.", &["probeSpec.path"]),
    ("The name of a Helm chart.", &["source.chart", "sources[].chart", "spec.chart", "history[].chartName"]),
    (
        "A version, or an image with its tag: what is compared with releases.",
        &["image", "containerRuntimeVersion", "kernelVersion", "kubeletVersion", "osImage", "storedVersions[]"],
    ),
    (
        "A sentence that Kubernetes, the container runtime or Linkerd writes, and in which the cause stands. It is searched for \
         the shapes of secrets and for what announces one.",
        &["message", "note"],
    ),
    (
        "A word of the command of a container that is Linkerd's own, by namespace and labels. Those of others are replaced.",
        &["command[]", "args[]"],
    ),
    (
        "The value of a variable that Linkerd sets for its own containers, of those that are known by name.",
        &["env[].value"],
    ),
    (
        "A setting of Linkerd's, its CNI plugin's or Cilium's ConfigMap, of those that are known by name. The data of other \
         ConfigMaps is replaced.",
        &["data.*"],
    ),
];

fn reason(leaf: &str) -> &'static str {
    // An ending that begins with a capital is that of several names: `toCIDR[]`, `fromCIDR[]`.
    let of = |ending: &&str| {
        leaf.ends_with(&format!(".{ending}"))
            || leaf.ends_with(&format!(" {ending}"))
            || ending.starts_with(char::is_uppercase) && leaf.ends_with(ending)
    };
    let found = REASONS.iter().find(|(_, endings)| endings.iter().any(&of));
    found.unwrap_or_else(|| panic!("{leaf} passes without a reason")).0
}

#[test]
fn what_passes_is_known_leaf_by_leaf_and_why() {
    let mut passing: BTreeSet<String> = BTreeSet::new();
    for (kind, objects) in objects() {
        for object in objects {
            let mut planted = object.clone();
            plant(&mut planted, "", &mut |path, text| {
                let decides =
                    ["kind", "metadata.name", "metadata.namespace"].contains(&path) || path.contains("metadata.labels");
                if !decides && !path.ends_with("[].name") {
                    PLAIN.clone_into(text);
                }
            });
            redact::object(kind, rule_of(kind), &mut planted);
            plant(&mut planted, "", &mut |path, text| {
                if text == PLAIN {
                    passing.insert(format!("{kind} {path}"));
                }
            });
        }
    }
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for leaf in passing {
        groups.entry(reason(&leaf)).or_default().push(leaf);
    }
    let mut text = String::from(
        "# Leaves of objects through which a word passes, beside names of objects, containers and the like, and labels; and why\n\
         # it may. Written by UPDATE=1 cargo test, with the reasons of tests/suite/passing.rs.\n",
    );
    for (why, _) in REASONS {
        if let Some(leaves) = groups.get(why) {
            text += &format!("\n## {why}\n{}\n", leaves.join("\n"));
        }
    }
    golden::check("tests/suite/passing.txt", &text);
}
