//! The environment of a container: only variables that checks read, redacted.

use std::borrow::Cow;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::certificates::BundlePrint;
use crate::meta::Text;
use crate::redact;

/// Variable with the proxy's trust anchors. Only a [`BundlePrint`] of its value is kept.
pub const TRUST_ANCHORS: &str = "LINKERD2_PROXY_IDENTITY_TRUST_ANCHORS";
/// Variable with the proxy's own identity, with placeholders for account and namespace.
pub const LOCAL_NAME: &str = "LINKERD2_PROXY_IDENTITY_LOCAL_NAME";
/// Variable with the identity that a proxy expects of the identity component.
pub const IDENTITY_NAME: &str = "LINKERD2_PROXY_IDENTITY_SVC_NAME";
/// Variable with the address of identity.
pub const IDENTITY_ADDRESS: &str = "LINKERD2_PROXY_IDENTITY_SVC_ADDR";
/// Variable with the identity that a proxy expects of destination.
pub const DESTINATION_NAME: &str = "LINKERD2_PROXY_DESTINATION_SVC_NAME";
/// Variable with the identity that a proxy expects of the policy controller.
pub const POLICY_NAME: &str = "LINKERD2_PROXY_POLICY_SVC_NAME";
/// Variable with the address of the policy controller.
pub const POLICY_ADDRESS: &str = "LINKERD2_PROXY_POLICY_SVC_ADDR";
/// Variable with the address of destination, which names the namespace of the control plane.
pub const DESTINATION_ADDRESS: &str = "LINKERD2_PROXY_DESTINATION_SVC_ADDR";
/// Variable with the identity of the trace collector.
pub const COLLECTOR_NAME: &str = "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_NAME";
/// Variable with the address of the trace collector.
pub const COLLECTOR_ADDRESS: &str = "LINKERD2_PROXY_TRACE_COLLECTOR_SVC_ADDR";
/// Variable with the time that the proxy waits for open connections when it stops.
pub const SHUTDOWN_GRACE: &str = "LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD";

/// Variable with the networks in which the proxy discovers destinations.
pub const PROFILE_NETWORKS: &str = "LINKERD2_PROXY_DESTINATION_PROFILE_NETWORKS";

/// An environment variable.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct EnvVar {
    /// Variable name.
    pub name: String,
    /// Its value; `None` if it is a reference.
    pub value: Option<String>,
    /// Variables to which its value refers, as `$(NAME)`, and that no earlier one of the container defines. The kubelet
    /// leaves these texts as they are, except for those of a Service ([`is_of_service`]).
    #[serde(skip)]
    pub undefined: Vec<String>,
}

/// Prefix of the proxy's own settings.
const SETTING: &str = "LINKERD2_PROXY_";

/// The names to which a value refers, without `$$(NAME)`, which is an escape, and without the variables about the API
/// server, which the kubelet defines for every pod.
fn undefined(value: &str, defined: &[Cow<'_, str>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(escaped) = rest.strip_prefix('$') {
            rest = escaped;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            let is_everywhere = name.starts_with("KUBERNETES_SERVICE_") || name.starts_with("KUBERNETES_PORT");
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
            if is_name && !is_everywhere && !defined.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
            rest = after;
        }
    }
    found
}

/// Whether the kubelet defines a variable for a Service of the pod's namespace, by the name of the Service.
pub fn is_of_service(variable: &str, service: &str) -> bool {
    let prefix = service.to_ascii_uppercase().replace('-', "_");
    let rest = variable.strip_prefix(prefix.as_str());
    rest.is_some_and(|rest| {
        let of_port = |rest: &str| rest.is_empty() || rest.starts_with('_');
        rest == "_SERVICE_HOST"
            || rest.strip_prefix("_SERVICE_PORT").is_some_and(of_port)
            || rest.strip_prefix("_PORT").is_some_and(of_port)
    })
}

/// Whether a variable may be one that the kubelet defines for a Service.
pub fn may_be_of_service(variable: &str) -> bool {
    variable.contains("_SERVICE_") || variable.contains("_PORT")
}

/// Environment variables that checks read. The rest of a proxy's environment is large and the same in every pod.
const KEPT: &[&str] = &[
    TRUST_ANCHORS,
    "LINKERD2_PROXY_INBOUND_DEFAULT_POLICY",
    "LINKERD2_PROXY_INBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDR",
    "LINKERD2_PROXY_OUTBOUND_LISTEN_ADDRS",
    "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED",
    LOCAL_NAME,
    IDENTITY_NAME,
    IDENTITY_ADDRESS,
    DESTINATION_ADDRESS,
    DESTINATION_NAME,
    POLICY_ADDRESS,
    POLICY_NAME,
    COLLECTOR_NAME,
    COLLECTOR_ADDRESS,
    SHUTDOWN_GRACE,
    PROFILE_NETWORKS,
    "LINKERD2_PROXY_INGRESS_MODE",
    "DEST_CNI_NET_DIR",
    "DEST_CNI_BIN_DIR",
];

/// Deserializes only the kept parts of an environment.
pub(super) fn deserialize_kept<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<EnvVar>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Variable<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        #[serde(borrow)]
        value: Option<Text<'a>>,
    }
    struct Kept;
    impl<'de> Visitor<'de> for Kept {
        type Value = Vec<EnvVar>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of environment variables")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_seq(self)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut kept = Vec::new();
            let mut defined = Vec::new();
            while let Some(variable) = items.next_element::<Variable<'de>>()? {
                let undefined = match &variable.value {
                    Some(Text(value)) if variable.name.starts_with(SETTING) && value.contains("$(") => {
                        undefined(value, &defined)
                    }
                    _ => Vec::new(),
                };
                defined.push(variable.name.clone());
                let is_kept = KEPT.contains(&&*variable.name) || redact::is_controller_variable(&variable.name);
                if is_kept || !undefined.is_empty() {
                    let value = variable.value.and_then(|Text(value)| match &*variable.name {
                        // A partly redacted bundle is unknown.
                        TRUST_ANCHORS
                            if redact::is_placeholder(&value)
                                || value.contains("REDACTED")
                                || value.contains("***") =>
                        {
                            None
                        }
                        TRUST_ANCHORS => {
                            Some(BundlePrint::sanitized(&value, |pem| redact::setting(TRUST_ANCHORS, pem)))
                        }
                        name => Some(redact::setting(name, &value).into_owned()),
                    });
                    kept.push(EnvVar { name: variable.name.into_owned(), value, undefined });
                }
            }
            Ok(kept)
        }
    }
    deserializer.deserialize_option(Kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_later_variables_are_undefined() {
        let defined = ["_pod_ns", "_pod_name"].map(Cow::from);
        assert_eq!(undefined(r#"{"ns":"$(_pod_ns)", "pod":"$(_pod_name)"}"#, &defined), [""; 0]);
        assert_eq!(undefined("$(_pod_sa).$(_pod_ns).x", &defined), ["_pod_sa"]);
        assert_eq!(undefined("$$(_pod_sa) $(KUBERNETES_SERVICE_HOST) $ $( $()", &defined), [""; 0]);
        assert_eq!(undefined("$$$(HOST_IP):4317", &defined), ["HOST_IP"]);
    }

    #[test]
    fn variables_of_a_service_have_its_name() {
        for (variable, expected) in [
            ("OTEL_COLLECTOR_SERVICE_HOST", true),
            ("OTEL_COLLECTOR_SERVICE_PORT", true),
            ("OTEL_COLLECTOR_SERVICE_PORT_GRPC", true),
            ("OTEL_COLLECTOR_PORT", true),
            ("OTEL_COLLECTOR_PORT_4317_TCP_ADDR", true),
            ("OTEL_COLLECTOR_PORTS", false),
            ("OTEL_COLLECTOR_SERVICE", false),
            ("OTEL_PORT", false),
        ] {
            assert_eq!(is_of_service(variable, "otel-collector"), expected, "{variable}");
        }
    }
}
