//! Settings of Linkerd's containers that are known not to be secrets: options and variables by name, and values by
//! form. The value of any other option or variable could be anything.

use super::free_text::is_typed_list;

/// Options of Linkerd's programs whose value is a setting, without their dashes.
const OPTIONS: [&str; 73] = [
    "addr",
    "admin-addr",
    "api-namespace",
    "cluster-domain",
    "cluster-networks",
    "cni-namespace",
    "collector-svc-account",
    "collector-svc-addr",
    "collector-trace-protocol",
    "collector-trace-svc-name",
    "connect-addr",
    "control-plane-namespace",
    "controller-namespace",
    "default-opaque-ports",
    "default-policy",
    "enable-endpoint-slices",
    "enable-h2-upgrade",
    "enable-ipv6",
    "enable-namespace-creation",
    "enable-pprof",
    "enforced-host",
    "event-requeue-limit",
    "excluded-annotations",
    "excluded-labels",
    "federated-service-selector",
    "firewall-bin-path",
    "firewall-save-bin-path",
    "global-egress-network-namespace",
    "grafana-addr",
    "grafana-external-addr",
    "grafana-prefix",
    "grpc-addr",
    "identity-clock-skew-allowance",
    "identity-domain",
    "identity-issuance-lifetime",
    "identity-scheme",
    "identity-trust-domain",
    "inbound-ports-to-ignore",
    "incoming-proxy-port",
    "iptables-mode",
    "ipv6",
    "jaeger-addr",
    "kube-apiclient-burst",
    "kube-apiclient-qps",
    "linkerd-metrics-api-addr",
    "linkerd-namespace",
    "listen-addr",
    "local-mirror",
    "log-format",
    "log-level",
    "meshed-http2-client-params",
    "metrics-addr",
    "namespace",
    "netns",
    "outbound-ports-to-ignore",
    "outbound-transport-mode",
    "outgoing-proxy-port",
    "ports-to-redirect",
    "probe-networks",
    "probe-service",
    "prometheus-url",
    "proxy-gid",
    "proxy-uid",
    "server-addr",
    "server-tls-certs",
    "server-tls-key",
    "skip-ports",
    "subnets-to-ignore",
    "tap-service-name",
    "timeout",
    "trust-domain",
    "viz-namespace",
    "wait",
];

/// Programs and commands of Linkerd's containers: the last part of their path.
const PROGRAMS: [&str; 25] = [
    "api",
    "controller",
    "destination",
    "heartbeat",
    "identity",
    "injector",
    "install-cni.sh",
    "linkerd-cni-repair-controller",
    "linkerd-policy-controller",
    "linkerd2-cni-plugin",
    "linkerd2-network-validator",
    "linkerd2-proxy",
    "linkerd2-proxy-identity",
    "linkerd2-proxy-init",
    "linkerd2-proxy-run",
    "metrics-api",
    "policy",
    "proxy-injector",
    "proxy-init",
    "public-api",
    "service-mirror",
    "sp-validator",
    "tap",
    "tap-injector",
    "web",
];

/// Variables of the proxy and its helpers with a value that is a name, a path, an address or a word.
const VARIABLES: [&str; 35] = [
    "LINKERD2_PROXY_CONTROL_URL",
    "LINKERD2_PROXY_DESTINATION_CONTEXT",
    "LINKERD2_PROXY_DESTINATION_GET_NETWORKS",
    "LINKERD2_PROXY_DESTINATION_GET_SUFFIXES",
    "LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS",
    "LINKERD2_PROXY_DESTINATION_PROFILE_SUFFIXES",
    "LINKERD2_PROXY_DESTINATION_SVC_ADDR",
    "LINKERD2_PROXY_DESTINATION_SVC_NAME",
    "LINKERD2_PROXY_ID",
    "LINKERD2_PROXY_IDENTITY_DIR",
    "LINKERD2_PROXY_IDENTITY_LOCAL_NAME",
    "LINKERD2_PROXY_IDENTITY_SERVER_ID",
    "LINKERD2_PROXY_IDENTITY_SERVER_NAME",
    "LINKERD2_PROXY_IDENTITY_SPIRE_WORKLOAD_API_ADDRESS",
    "LINKERD2_PROXY_IDENTITY_SVC_ADDR",
    "LINKERD2_PROXY_IDENTITY_SVC_NAME",
    "LINKERD2_PROXY_IDENTITY_TOKEN_FILE",
    "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY",
    "LINKERD2_PROXY_LABELS_FILE_PATH",
    "LINKERD2_PROXY_LOG",
    "LINKERD2_PROXY_LOG_FORMAT",
    "LINKERD2_PROXY_POD_NAMESPACE",
    "LINKERD2_PROXY_POLICY_CLUSTER_NETWORKS",
    "LINKERD2_PROXY_POLICY_SVC_ADDR",
    "LINKERD2_PROXY_POLICY_SVC_NAME",
    "LINKERD2_PROXY_POLICY_WORKLOAD",
    "LINKERD2_PROXY_TAP_SVC_NAME",
    "LINKERD2_PROXY_TRACE_ATTRIBUTES_PATH",
    "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_ADDR",
    "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_NAME",
    "LINKERD2_PROXY_TRACE_PROTOCOL",
    "LINKERD2_PROXY_TRACE_SERVICE_NAME",
    "LINKERD_DISABLED",
    "LINKERD_AWAIT_DISABLED",
    "LINKERD_PROXY_INJECTOR_NAMESPACE",
];

/// Prefixes of variables that the injector copies from the pod and from its own values.
const COPIED: [&str; 2] = ["_pod_", "_l5d_"];

/// Whether the value of an option is a setting. The name may have its dashes.
pub(super) fn is_option(name: &str) -> bool {
    OPTIONS.contains(&name.trim_start_matches('-'))
}

/// Whether a word without an option is a program of Linkerd's, or one of its commands.
pub(super) fn is_program(word: &str) -> bool {
    PROGRAMS.contains(&word.rsplit('/').next().unwrap_or_default())
}

/// Whether the value of a variable is a setting.
pub(super) fn is_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || COPIED.iter().any(|start| name.starts_with(start))
}

/// Whether a value is harmless by its form, whatever its name is: empty, a boolean, or numbers, durations, addresses
/// and port ranges between commas.
pub(super) fn is_harmless_value(value: &str) -> bool {
    matches!(value, "" | "true" | "false") || is_typed_list(value)
}
