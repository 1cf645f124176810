//! Which fields of which objects pass the sanitizer, and as what: the one table of it, and nothing else. A field passes because
//! it is known to hold names, numbers, enumerations, versions or a sentence that Kubernetes or Linkerd wrote; even there
//! nothing of a secret's shape passes. Text in any other field is replaced; keys, lists and types stay.

use super::keys;
use crate::model::objects::meta::{MANAGERS, may_be_linkerds};

/// What may stand in a field.
#[derive(Debug, Clone, Copy)]
pub enum Rule {
    /// Nothing is known of it: texts are replaced.
    Other,
    /// A name, a version, a time, or a sentence about the cluster.
    Text,
    /// One word: an enumeration, a quantity, a number written as text.
    Word,
    /// Certificates: PEM, or PEM in base64. Anything else in it goes.
    Certificates,
    /// A checksum of something public.
    Checksum,
    /// The value of an environment variable; which of them pass is decided where the container is known.
    Env,
    /// Labels: names by name.
    Labels,
    /// Annotations: those that may be meant for Linkerd.
    Annotations,
    /// The same under every key.
    Map(&'static Rule),
    /// All of it, whatever it is: it has passed before.
    Clean,
    /// Fields by name.
    Fields(&'static [(&'static str, Rule)]),
}

use Rule::{Annotations, Certificates, Checksum, Env, Fields, Labels, Map, Text, Word};

static OTHER: Rule = Rule::Other;
static TEXT: Rule = Text;
static CHECKSUM: Rule = Checksum;
/// For what was redacted whole before.
pub static CLEAN: Rule = Rule::Clean;

/// Annotations of Kubernetes' own, which hold names and versions.
const KUBERNETES: [&str; 3] = [
    "kubernetes.io/service-account.name",
    "gateway.networking.k8s.io/bundle-version",
    "gateway.networking.k8s.io/channel",
];

impl Rule {
    /// What may stand in a part of it.
    pub(super) fn child(&'static self, key: &str) -> &'static Rule {
        match self {
            Fields(fields) => fields.iter().find(|(name, _)| *name == key).map_or(&OTHER, |(_, rule)| rule),
            Map(rule) => rule,
            Rule::Clean => &CLEAN,
            Labels => of_label(key),
            // A checksum that Linkerd writes of what is public.
            Annotations if key.starts_with("linkerd.io/") && key.ends_with("sha256") => &CHECKSUM,
            Annotations if may_be_linkerds(key) => of_label(key),
            Annotations if MANAGERS.contains(&key) || KUBERNETES.contains(&key) => &TEXT,
            Annotations | Rule::Other | Text | Word | Certificates | Checksum | Env => &OTHER,
        }
    }

    /// Whether its keys are names of fields, of which there are not many, and not names that somebody gave.
    pub(super) fn has_fields(&self) -> bool {
        matches!(self, Fields(_) | Rule::Clean)
    }
}

fn of_label(key: &str) -> &'static Rule {
    let (domain, name) = key.rsplit_once('/').unwrap_or(("", key));
    let linkerds = domain.ends_with("linkerd.io") || domain == "meshdoctor.io";
    if !linkerds && keys::is_secret_in_text(name) { &OTHER } else { &TEXT }
}

/// The fields of a kind.
pub fn rule(kind: &str) -> &'static Rule {
    let known = KINDS.iter().find(|(kinds, _)| kinds.contains(&kind));
    known.map_or(&UNKNOWN, |(_, rule)| rule)
}

const META: Rule = Fields(&[
    ("name", Text),
    ("namespace", Text),
    ("generateName", Text),
    ("uid", Text),
    ("resourceVersion", Word),
    ("creationTimestamp", Word),
    ("deletionTimestamp", Word),
    ("labels", Labels),
    ("annotations", Annotations),
    ("ownerReferences", REFERENCE),
    ("finalizers", Text),
]);

const REFERENCE: Rule = Fields(&[
    ("apiVersion", Word),
    ("apiGroup", Word),
    ("group", Word),
    ("version", Word),
    ("kind", Word),
    ("resource", Word),
    ("namespace", Text),
    ("name", Text),
    ("uid", Text),
    ("resourceVersion", Word),
    ("fieldPath", Text),
]);

const NAMED: Rule = Fields(&[("name", Text), ("key", Text), ("namespace", Text)]);
const QUANTITIES: Rule = Map(&Word);

const SELECTOR: Rule = Fields(&[("matchLabels", Labels), ("matchExpressions", EXPRESSION)]);
const EXPRESSION: Rule = Fields(&[("key", Text), ("operator", Word), ("values", Text)]);

const CONDITIONS: Rule = Fields(&[
    ("type", Word),
    ("status", Word),
    ("reason", Word),
    ("message", Text),
    ("lastTransitionTime", Word),
    ("lastUpdateTime", Word),
    ("lastHeartbeatTime", Word),
    ("lastProbeTime", Word),
]);

const CONTAINERS: Rule = Fields(&[
    ("name", Text),
    ("image", Text),
    ("imagePullPolicy", Word),
    ("restartPolicy", Word),
    ("terminationMessagePolicy", Word),
    ("command", Text),
    ("args", Text),
    ("env", ENV),
    ("envFrom", Fields(&[("configMapRef", NAMED), ("secretRef", NAMED)])),
    ("ports", Fields(&[("name", Text), ("protocol", Word)])),
    ("resources", Fields(&[("limits", QUANTITIES), ("requests", QUANTITIES)])),
    ("volumeMounts", Fields(&[("name", Text), ("mountPropagation", Word)])),
    ("securityContext", SECURITY),
    ("readinessProbe", PROBE),
    ("livenessProbe", PROBE),
    ("startupProbe", PROBE),
    ("lifecycle", Fields(&[("preStop", PROBE), ("postStart", PROBE)])),
]);
const ENV: Rule = Fields(&[
    ("name", Text),
    ("value", Env),
    (
        "valueFrom",
        Fields(&[
            ("fieldRef", Fields(&[("apiVersion", Word), ("fieldPath", Text)])),
            ("resourceFieldRef", Fields(&[("containerName", Text), ("resource", Word), ("divisor", Word)])),
            ("secretKeyRef", NAMED),
            ("configMapKeyRef", NAMED),
        ]),
    ),
]);
/// Paths, commands and headers of probes are the workload's own.
const PROBE: Rule = Fields(&[
    ("httpGet", Fields(&[("port", Text), ("scheme", Word), ("httpHeaders", Fields(&[("name", Text)]))])),
    ("tcpSocket", Fields(&[("port", Text)])),
]);
const SECURITY: Rule = Fields(&[
    ("capabilities", Fields(&[("add", Word), ("drop", Word)])),
    ("seccompProfile", Fields(&[("type", Word)])),
    ("appArmorProfile", Fields(&[("type", Word)])),
    ("procMount", Word),
    ("fsGroupChangePolicy", Word),
]);

const POD_SPEC: Rule = Fields(&[
    ("nodeName", Text),
    ("serviceAccountName", Text),
    ("serviceAccount", Text),
    ("containers", CONTAINERS),
    ("initContainers", CONTAINERS),
    ("ephemeralContainers", CONTAINERS),
    ("volumes", VOLUMES),
    ("restartPolicy", Word),
    ("nodeSelector", Labels),
    ("dnsPolicy", Word),
    ("schedulerName", Text),
    ("priorityClassName", Text),
    ("preemptionPolicy", Word),
    ("runtimeClassName", Text),
    ("tolerations", Fields(&[("key", Text), ("operator", Word), ("effect", Word), ("value", Text)])),
    ("imagePullSecrets", NAMED),
    ("securityContext", SECURITY),
    ("os", NAMED),
    (
        "topologySpreadConstraints",
        Fields(&[("topologyKey", Text), ("whenUnsatisfiable", Word), ("labelSelector", SELECTOR)]),
    ),
]);
const VOLUMES: Rule = Fields(&[
    ("name", Text),
    ("secret", Fields(&[("secretName", Text)])),
    ("configMap", NAMED),
    ("emptyDir", Fields(&[("medium", Word), ("sizeLimit", Word)])),
    ("hostPath", Fields(&[("type", Word)])),
    ("persistentVolumeClaim", Fields(&[("claimName", Text)])),
    ("csi", Fields(&[("driver", Text)])),
    (
        "projected",
        Fields(&[(
            "sources",
            Fields(&[
                ("secret", NAMED),
                ("configMap", NAMED),
                ("serviceAccountToken", Fields(&[("audience", Text)])),
            ]),
        )]),
    ),
]);
const TEMPLATE: Rule = Fields(&[("metadata", META), ("spec", POD_SPEC)]);

const STATE: Rule = Fields(&[
    ("waiting", Fields(&[("reason", Word), ("message", Text)])),
    ("running", Fields(&[("startedAt", Word)])),
    (
        "terminated",
        Fields(&[
            ("reason", Word),
            ("message", Text),
            ("startedAt", Word),
            ("finishedAt", Word),
            ("containerID", Text),
        ]),
    ),
]);
const CONTAINER_STATUS: Rule = Fields(&[
    ("name", Text),
    ("image", Text),
    ("imageID", Text),
    ("containerID", Text),
    ("state", STATE),
    ("lastState", STATE),
]);
const POD_STATUS: Rule = Fields(&[
    ("phase", Word),
    ("reason", Word),
    ("message", Text),
    ("startTime", Word),
    ("podIP", Word),
    ("hostIP", Word),
    ("podIPs", Fields(&[("ip", Word)])),
    ("hostIPs", Fields(&[("ip", Word)])),
    ("qosClass", Word),
    ("nominatedNodeName", Text),
    ("conditions", CONDITIONS),
    ("containerStatuses", CONTAINER_STATUS),
    ("initContainerStatuses", CONTAINER_STATUS),
    ("ephemeralContainerStatuses", CONTAINER_STATUS),
]);

const JOB_SPEC: Rule = Fields(&[
    ("selector", SELECTOR),
    ("template", TEMPLATE),
    ("completionMode", Word),
    ("podReplacementPolicy", Word),
]);

const WEBHOOKS: Rule = Fields(&[
    ("name", Text),
    ("failurePolicy", Word),
    ("matchPolicy", Word),
    ("sideEffects", Word),
    ("reinvocationPolicy", Word),
    ("admissionReviewVersions", Word),
    ("clientConfig", Fields(&[("caBundle", Certificates), ("service", SERVICE_REFERENCE)])),
    ("namespaceSelector", SELECTOR),
    ("objectSelector", SELECTOR),
    (
        "rules",
        Fields(&[
            ("apiGroups", Word),
            ("apiVersions", Word),
            ("operations", Word),
            ("resources", Word),
            ("scope", Word),
        ]),
    ),
]);
const SERVICE_REFERENCE: Rule = Fields(&[("namespace", Text), ("name", Text)]);

const POLICY_RULES: Rule =
    Fields(&[("apiGroups", Text), ("resources", Text), ("resourceNames", Text), ("verbs", Text)]);

const RULES: Rule =
    Fields(&[("apiVersion", Word), ("kind", Word), ("metadata", META), ("rules", POLICY_RULES)]);
const BINDING: Rule = Fields(&[
    ("apiVersion", Word),
    ("kind", Word),
    ("metadata", META),
    ("roleRef", REFERENCE),
    ("subjects", REFERENCE),
]);

const SOURCE: Rule = Fields(&[("component", Text), ("host", Text)]);
const SPEC_PROBE: Rule = Fields(&[
    ("path", Text),
    ("port", Word),
    ("period", Word),
    ("timeout", Word),
    ("failureThreshold", Word),
]);

static UNKNOWN: Rule = Fields(&[("apiVersion", Word), ("kind", Word), ("metadata", META)]);

/// Kinds, and their fields.
static KINDS: &[(&[&str], Rule)] = &[
    (
        &["Namespace", "ServiceAccount", "AuthorizationPolicy"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("secrets", NAMED),
            ("imagePullSecrets", NAMED),
            (
                "spec",
                Fields(&[
                    ("finalizers", Text),
                    ("targetRef", REFERENCE),
                    ("requiredAuthenticationRefs", REFERENCE),
                ]),
            ),
            ("status", Fields(&[("phase", Word), ("conditions", CONDITIONS)])),
        ]),
    ),
    (
        &["Node"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("providerID", Text),
                    ("podCIDR", Word),
                    ("podCIDRs", Word),
                    (
                        "taints",
                        Fields(&[("key", Text), ("value", Text), ("effect", Word), ("timeAdded", Word)]),
                    ),
                ]),
            ),
            (
                "status",
                Fields(&[
                    ("conditions", CONDITIONS),
                    (
                        "nodeInfo",
                        Fields(&[
                            ("kubeletVersion", Word),
                            ("kubeProxyVersion", Word),
                            ("osImage", Text),
                            ("operatingSystem", Word),
                            ("architecture", Word),
                            ("kernelVersion", Word),
                            ("containerRuntimeVersion", Word),
                        ]),
                    ),
                    ("addresses", Fields(&[("type", Word), ("address", Text)])),
                    ("capacity", QUANTITIES),
                    ("allocatable", QUANTITIES),
                ]),
            ),
        ]),
    ),
    (
        &["Pod"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("spec", POD_SPEC),
            ("status", POD_STATUS),
        ]),
    ),
    (
        &["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("selector", SELECTOR),
                    ("template", TEMPLATE),
                    ("strategy", Fields(&[("type", Word), ("rollingUpdate", QUANTITIES)])),
                    ("updateStrategy", Fields(&[("type", Word), ("rollingUpdate", QUANTITIES)])),
                    ("serviceName", Text),
                    ("podManagementPolicy", Word),
                ]),
            ),
            (
                "status",
                Fields(&[("conditions", CONDITIONS), ("currentRevision", Text), ("updateRevision", Text)]),
            ),
        ]),
    ),
    (
        &["ControllerRevision"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("data", Fields(&[("spec", Fields(&[("template", TEMPLATE)]))])),
        ]),
    ),
    (
        &["Job"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("spec", JOB_SPEC),
            ("status", Fields(&[("conditions", CONDITIONS), ("startTime", Word), ("completionTime", Word)])),
        ]),
    ),
    (
        &["CronJob"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("schedule", Text),
                    ("timeZone", Word),
                    ("concurrencyPolicy", Word),
                    ("jobTemplate", Fields(&[("metadata", META), ("spec", JOB_SPEC)])),
                ]),
            ),
            ("status", Fields(&[("lastScheduleTime", Word), ("lastSuccessfulTime", Word)])),
        ]),
    ),
    // What of their data passes is decided by name (`config_map`, `secret`).
    (
        &["ConfigMap", "Secret"],
        Fields(&[("apiVersion", Word), ("kind", Word), ("metadata", META), ("type", Word)]),
    ),
    (
        &["Service"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("clusterIP", Word),
                    ("clusterIPs", Word),
                    ("type", Word),
                    ("selector", Labels),
                    (
                        "ports",
                        Fields(&[
                            ("name", Text),
                            ("protocol", Word),
                            ("appProtocol", Word),
                            ("targetPort", Text),
                        ]),
                    ),
                    ("ipFamilies", Word),
                    ("ipFamilyPolicy", Word),
                    ("sessionAffinity", Word),
                    ("internalTrafficPolicy", Word),
                    ("externalTrafficPolicy", Word),
                ]),
            ),
        ]),
    ),
    (
        &["EndpointSlice", "Endpoints"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("addressType", Word),
            ("ports", Fields(&[("name", Text), ("protocol", Word), ("appProtocol", Word)])),
            (
                "endpoints",
                Fields(&[
                    ("addresses", Word),
                    ("hostname", Text),
                    ("nodeName", Text),
                    ("zone", Text),
                    ("targetRef", REFERENCE),
                ]),
            ),
        ]),
    ),
    (
        &["Event"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("involvedObject", REFERENCE),
            ("regarding", REFERENCE),
            ("related", REFERENCE),
            ("reason", Word),
            ("type", Word),
            ("action", Word),
            ("message", Text),
            ("note", Text),
            ("firstTimestamp", Word),
            ("lastTimestamp", Word),
            ("deprecatedFirstTimestamp", Word),
            ("deprecatedLastTimestamp", Word),
            ("eventTime", Word),
            ("series", Fields(&[("lastObservedTime", Word), ("state", Word)])),
            ("source", SOURCE),
            ("deprecatedSource", SOURCE),
            ("reportingInstance", Text),
            ("reportingComponent", Text),
            ("reportingController", Text),
        ]),
    ),
    (
        &["CustomResourceDefinition"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("group", Word),
                    ("scope", Word),
                    (
                        "names",
                        Fields(&[("kind", Word), ("listKind", Word), ("plural", Word), ("singular", Word)]),
                    ),
                    ("versions", NAMED),
                ]),
            ),
            ("status", Fields(&[("conditions", CONDITIONS), ("storedVersions", Word)])),
        ]),
    ),
    (
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        Fields(&[("apiVersion", Word), ("kind", Word), ("metadata", META), ("webhooks", WEBHOOKS)]),
    ),
    (&["ClusterRole", "Role"], RULES),
    (&["ClusterRoleBinding", "RoleBinding"], BINDING),
    (
        &["APIService"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("caBundle", Certificates),
                    ("group", Word),
                    ("version", Word),
                    ("service", SERVICE_REFERENCE),
                ]),
            ),
            ("status", Fields(&[("conditions", CONDITIONS)])),
        ]),
    ),
    (
        &["Link"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("targetClusterName", Text),
                    ("targetClusterDomain", Text),
                    ("targetClusterLinkerdNamespace", Text),
                    ("clusterCredentialsSecret", Text),
                    ("gatewayAddress", Text),
                    ("gatewayPort", Word),
                    ("gatewayIdentity", Text),
                    ("probeSpec", SPEC_PROBE),
                    ("selector", SELECTOR),
                    ("remoteDiscoverySelector", SELECTOR),
                    ("federatedServiceSelector", SELECTOR),
                ]),
            ),
            ("status", Fields(&[("conditions", CONDITIONS)])),
        ]),
    ),
    (
        &["PodDisruptionBudget", "ResourceQuota", "LimitRange"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[
                    ("selector", SELECTOR),
                    ("minAvailable", Word),
                    ("maxUnavailable", Word),
                    ("hard", QUANTITIES),
                    ("scopes", Word),
                ]),
            ),
            ("status", Fields(&[("conditions", CONDITIONS), ("hard", QUANTITIES), ("used", QUANTITIES)])),
        ]),
    ),
    (
        &["SelfSubjectAccessReview"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            (
                "spec",
                Fields(&[(
                    "resourceAttributes",
                    Fields(&[
                        ("namespace", Text),
                        ("group", Word),
                        ("resource", Word),
                        ("subresource", Word),
                        ("verb", Word),
                        ("version", Word),
                    ]),
                )]),
            ),
            ("status", Fields(&[("reason", Text), ("evaluationError", Text)])),
        ]),
    ),
    (
        &["ProbeAnswer"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("program", Word),
            ("answer", Fields(&[("trouble", Text), ("pods", Text), ("anchors", Checksum)])),
        ]),
    ),
    (
        &["ServedCertificates"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", META),
            ("pods", Fields(&[("name", Text), ("chain", Certificates), ("error", Text)])),
        ]),
    ),
    (
        &["Log"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("metadata", Fields(&[("namespace", Text), ("name", Text)])),
            ("text", Text),
        ]),
    ),
    (
        &["Version"],
        Fields(&[
            ("apiVersion", Word),
            ("kind", Word),
            ("major", Word),
            ("minor", Word),
            ("gitVersion", Word),
            ("gitTreeState", Word),
            ("buildDate", Word),
            ("goVersion", Word),
            ("compiler", Word),
            ("platform", Word),
            ("version", Word),
            ("extensions", Word),
        ]),
    ),
];
