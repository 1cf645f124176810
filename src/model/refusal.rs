//! What the API server answers where it refuses to create a pod, in its own words: which of the things that can refuse one did.
//! The sentences are those of Kubernetes 1.22 to 1.34 and of OpenShift 4.

use crate::objects::container::{DEBUG_CONTAINER, INIT_CONTAINER, PROXY_CONTAINER, VALIDATOR_CONTAINER};

/// Containers that the injector adds.
pub const LINKERDS: [&str; 4] = [PROXY_CONTAINER, INIT_CONTAINER, VALIDATOR_CONTAINER, DEBUG_CONTAINER];

/// What refuses a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal<'a> {
    /// Pod Security admission, or the PodSecurityPolicies of before.
    PodSecurity {
        /// `baseline`, `restricted`; empty where a PodSecurityPolicy refused.
        level: &'a str,
    },
    /// A ResourceQuota under which every container has to say what it needs.
    Unstated {
        /// Its name.
        quota: &'a str,
        /// What is lacking, and where: `limits.cpu for: linkerd-proxy`.
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
    /// A webhook that was called, and said no.
    Denied {
        /// Its name.
        webhook: &'a str,
    },
    /// Its ServiceAccount is not there.
    ServiceAccount,
    /// Something else.
    Other,
}

/// Why a webhook could not be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Nothing answered in time, or there is no way to it.
    Timeout,
    /// Nothing listens there.
    Refused,
    /// Its Service has no endpoint, or is not there.
    NoEndpoint,
    /// Its certificate is not trusted.
    Certificate,
    /// Something else.
    Other,
}

/// What refused a pod, from what the API server said.
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
    Refusal::Other
}

fn quoted<'a>(message: &'a str, before: &str) -> Option<&'a str> {
    message.split_once(before)?.1.split_once('"').map(|(name, _)| name)
}

fn trouble(message: &str) -> Trouble {
    let has = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    match () {
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

/// Whether a refusal names a container that the injector adds, or what only such a container asks for.
pub fn names_linkerds(message: &str) -> bool {
    LINKERDS.iter().any(|name| message.contains(name))
}

/// The part of a refusal that names a container that the injector adds, as far as the marks go that such answers are divided by.
pub fn about_linkerds(message: &str) -> Option<&str> {
    const MARKS: [char; 8] = ['{', '}', '[', ']', '"', ';', '\n', ':'];
    let at = LINKERDS.iter().filter_map(|name| message.find(name)).min()?;
    let (before, after) = message.split_at_checked(at)?;
    let begin = before.rfind(MARKS).map_or(0, |mark| mark + 1);
    let end = after.find(MARKS).map_or(message.len(), |mark| at + mark);
    message.get(begin..end).map(str::trim)
}

/// The resources that a quota misses in containers of Linkerd's, from [`Refusal::Unstated`]: `limits.cpu for: linkerd-init,linkerd-proxy;
/// limits.memory for: web`.
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
    fn the_part_that_names_a_container_of_linkerds_is_found() {
        let said = r#"Violations details: {"[denied by autogke-default-linux-capabilities]":["linux capability 'NET_ADMIN,NET_RAW' on container 'linkerd-init' not allowed; Autopilot only allows the capabilities"]}"#;
        let part = "linux capability 'NET_ADMIN,NET_RAW' on container 'linkerd-init' not allowed";
        assert_eq!(about_linkerds(said), Some(part));
        assert_eq!(about_linkerds("denied the request: no: linkerd-proxy"), Some("linkerd-proxy"));
        assert_eq!(about_linkerds("exceeded quota: compute"), None);
    }

    #[test]
    fn each_refusal_is_known_by_its_words() {
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
            ("etcdserver: request timed out", Refusal::Other),
        ] {
            assert_eq!(read(said), refusal, "{said}");
        }
        let lacking = "limits.cpu for: linkerd-init,linkerd-proxy; limits.memory for: web";
        assert_eq!(unstated_by_linkerd(lacking).collect::<Vec<_>>(), ["limits.cpu"]);
    }
}
