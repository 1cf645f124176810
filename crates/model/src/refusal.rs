//! The API server's answers when it rejects a pod: finds the component that rejected it. The texts are
//! those of Kubernetes 1.22 to 1.34 and of OpenShift 4.

use crate::objects::container::{DEBUG_CONTAINER, INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};

/// Containers that the injector adds.
pub const LINKERDS: [&str; 4] = [PROXY_CONTAINER, INIT_CONTAINER, VALIDATOR_CONTAINER, DEBUG_CONTAINER];

/// The component that rejects a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal<'a> {
    /// Pod Security admission, or the older PodSecurityPolicies.
    PodSecurity {
        /// `baseline`, `restricted`; empty for a PodSecurityPolicy.
        level: &'a str,
    },
    /// A ResourceQuota that requires a resource of every container.
    Unstated {
        /// Its name.
        quota: &'a str,
        /// The missing resources and their containers: `limits.cpu for: linkerd-proxy`.
        lacking: &'a str,
    },
    /// A ResourceQuota that is used up.
    UsedUp {
        /// Its name.
        quota: &'a str,
    },
    /// A LimitRange.
    LimitRange,
    /// OpenShift's security context constraints.
    Constraints,
    /// A webhook that could not be called.
    Uncalled {
        /// Its name.
        webhook: &'a str,
        /// Why not.
        trouble: Trouble,
    },
    /// A webhook that denied the pod.
    Denied {
        /// Its name.
        webhook: &'a str,
    },
    /// Its ServiceAccount does not exist.
    ServiceAccount,
    /// Its PriorityClass does not exist.
    PriorityClass {
        /// Its name.
        name: &'a str,
    },
    /// The API server allows its priority only in namespaces with a ResourceQuota for PriorityClasses.
    Priority,
    /// An init container has probes or hooks of a native sidecar, but no `restartPolicy: Always`.
    NotNative,
    /// Another reason.
    Other,
}

/// Why a webhook could not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// No answer in time, or no route.
    Timeout,
    /// Connection refused.
    Refused,
    /// Its Service has no endpoint, or does not exist.
    NoEndpoint,
    /// Its certificate is not trusted.
    Certificate,
    /// Its caBundle holds no certificate, so the API server cannot connect.
    Bundle,
    /// Another reason.
    Other,
}

/// Finds the component that rejected a pod from the API server's message.
pub fn read(message: &str) -> Refusal<'_> {
    if let Some((_, rest)) = message.split_once("violates PodSecurity \"") {
        let level = rest.split(['"', ':']).next().unwrap_or_default();
        return Refusal::PodSecurity { level };
    }
    if message.contains("unable to validate against any security context constraint") {
        return Refusal::Constraints;
    }
    if message.contains("PodSecurityPolicy: unable to")
        || message.contains("unable to validate against any pod security policy")
    {
        return Refusal::PodSecurity { level: "" };
    }
    if let Some((_, rest)) = message.split_once("failed quota: ")
        && let Some((quota, lacking)) = rest.split_once(": must specify ")
    {
        return Refusal::Unstated { quota, lacking };
    }
    if let Some((_, rest)) = message.split_once("exceeded quota: ") {
        return Refusal::UsedUp { quota: rest.split(',').next().unwrap_or_default() };
    }
    if let Some(webhook) = quoted(message, "failed calling webhook \"") {
        return Refusal::Uncalled { webhook, trouble: trouble(message) };
    }
    if let Some(webhook) = quoted(message, "admission webhook \"") {
        return Refusal::Denied { webhook };
    }
    if [" per Container is ", " per Pod is "].iter().any(|part| message.contains(part)) {
        return Refusal::LimitRange;
    }
    if message.contains("error looking up service account") {
        return Refusal::ServiceAccount;
    }
    if let Some((_, rest)) = message.split_once("no PriorityClass with name ")
        && let Some((name, _)) = rest.split_once(" was found")
    {
        return Refusal::PriorityClass { name };
    }
    if message.contains("insufficient quota to match these scopes") && message.contains("PriorityClass") {
        return Refusal::Priority;
    }
    if message.contains("may not be set for init containers without restartPolicy=Always") {
        return Refusal::NotNative;
    }
    Refusal::Other
}

fn quoted<'a>(message: &'a str, before: &str) -> Option<&'a str> {
    message.split_once(before)?.1.split_once('"').map(|(name, _)| name)
}

fn trouble(message: &str) -> Trouble {
    let has = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    match () {
        () if has(&["unable to load root certificates"]) => Trouble::Bundle,
        () if has(&["x509:", "tls: ", "certificate"]) => Trouble::Certificate,
        () if has(&["no endpoints available", "\" not found"]) => Trouble::NoEndpoint,
        () if has(&["connection refused"]) => Trouble::Refused,
        () if has(&[
            "context deadline exceeded",
            "i/o timeout",
            "Client.Timeout",
            "request canceled",
            "no route to host",
            "network is unreachable",
            "Gateway Timeout",
            "timed out",
        ]) =>
        {
            Trouble::Timeout
        }
        () => Trouble::Other,
    }
}

/// Whether a rejection names an injected container, or a capability that only such a container requests.
pub fn names_linkerds(message: &str) -> bool {
    LINKERDS.iter().any(|name| message.contains(name))
}

/// The part of a rejection that names an injected container, up to the separators that such answers use.
pub fn about_linkerds(message: &str) -> Option<&str> {
    const MARKS: [char; 8] = ['{', '}', '[', ']', '"', ';', '\n', ':'];
    let at = LINKERDS.iter().filter_map(|name| message.find(name)).min()?;
    let (before, after) = message.split_at_checked(at)?;
    let begin = before.rfind(MARKS).map_or(0, |mark| mark + 1);
    let end = after.find(MARKS).map_or(message.len(), |mark| at + mark);
    message.get(begin..end).map(str::trim)
}

/// The resources that a quota requires of Linkerd's containers, from [`Refusal::Unstated`]: `limits.cpu
/// for: linkerd-init,linkerd-proxy; limits.memory for: web`.
pub fn unstated_by_linkerd(lacking: &str) -> impl Iterator<Item = &str> {
    let parts = lacking.split(';').filter_map(|part| part.trim().split_once(" for: "));
    parts
        .filter(|(_, containers)| containers.split(',').any(|name| LINKERDS.contains(&name.trim())))
        .flat_map(|(resources, _)| resources.split(',').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_about_a_linkerd_container_is_found() {
        let said = r#"Violations details: {"[denied by autogke-default-linux-capabilities]":["linux capability 'NET_ADMIN,NET_RAW' on container 'linkerd-init' not allowed; Autopilot only allows the capabilities"]}"#;
        let part = "linux capability 'NET_ADMIN,NET_RAW' on container 'linkerd-init' not allowed";
        assert_eq!(about_linkerds(said), Some(part));
        assert_eq!(about_linkerds("denied the request: no: linkerd-proxy"), Some("linkerd-proxy"));
        assert_eq!(about_linkerds("exceeded quota: compute"), None);
    }

    #[test]
    fn each_rejection_is_recognized_by_its_text() {
        for (said, refusal) in [
            (
                "pods \"web-1\" is forbidden: violates PodSecurity \"baseline:latest\": non-default capabilities (container \
                 \"linkerd-init\" must not include \"NET_ADMIN\", \"NET_RAW\" in securityContext.capabilities.add)",
                Refusal::PodSecurity { level: "baseline" },
            ),
            (
                "pods \"x\" is forbidden: unable to validate against any security context constraint: [provider \"anyuid\": \
                 Forbidden: not usable by user or serviceaccount]",
                Refusal::Constraints,
            ),
            (
                "pods \"x\" is forbidden: failed quota: compute: must specify limits.cpu for: linkerd-proxy",
                Refusal::Unstated { quota: "compute", lacking: "limits.cpu for: linkerd-proxy" },
            ),
            (
                "pods \"x\" is forbidden: exceeded quota: mesh, requested: pods=1, used: pods=9, limited: pods=9",
                Refusal::UsedUp { quota: "mesh" },
            ),
            (
                "pods \"x\" is forbidden: minimum memory usage per Container is 100Mi, but request is 20Mi",
                Refusal::LimitRange,
            ),
            (
                "pods \"x\" is forbidden: no PriorityClass with name mesh-critical was found",
                Refusal::PriorityClass { name: "mesh-critical" },
            ),
            (
                "insufficient quota to match these scopes: [{PriorityClass In [system-node-critical \
                 system-cluster-critical]}]",
                Refusal::Priority,
            ),
            (
                "Internal error occurred: failed calling webhook \"linkerd-proxy-injector.linkerd.io\": could not get REST client: \
                 unable to load root certificates: unable to parse bytes as PEM block",
                Refusal::Uncalled { webhook: "linkerd-proxy-injector.linkerd.io", trouble: Trouble::Bundle },
            ),
            (
                "Internal error occurred: failed calling webhook \"linkerd-proxy-injector.linkerd.io\": failed to call webhook: \
                 Post \"https://linkerd-proxy-injector.linkerd.svc:443/?timeout=10s\": context deadline exceeded",
                Refusal::Uncalled { webhook: "linkerd-proxy-injector.linkerd.io", trouble: Trouble::Timeout },
            ),
            (
                "Internal error occurred: failed calling webhook \"a.b.c\": failed to call webhook: Post \
                 \"https://x.y.svc:443/?timeout=10s\": no endpoints available for service \"x\"",
                Refusal::Uncalled { webhook: "a.b.c", trouble: Trouble::NoEndpoint },
            ),
            ("admission webhook \"a.b.c\" denied the request: no", Refusal::Denied { webhook: "a.b.c" }),
            (
                "pods \"x\" is forbidden: error looking up service account shop/web: serviceaccount \"web\" not found",
                Refusal::ServiceAccount,
            ),
            (
                "Pod \"web-1\" is invalid: spec.initContainers[1].readinessProbe: Forbidden: may not be set for init \
                 containers without restartPolicy=Always",
                Refusal::NotNative,
            ),
            ("etcdserver: request timed out", Refusal::Other),
        ] {
            assert_eq!(read(said), refusal, "{said}");
        }
        let lacking = "limits.cpu for: linkerd-init,linkerd-proxy; limits.memory for: web";
        assert_eq!(unstated_by_linkerd(lacking).collect::<Vec<_>>(), ["limits.cpu"]);
    }
}
