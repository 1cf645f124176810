//! Paths on the API server.

use crate::item::Kind;

/// List paths of a kind over all namespaces, the preferred version first.
pub(super) fn lists(kind: Kind) -> Vec<String> {
    let info = kind.info();
    let versions = std::iter::once(&info.version).chain(info.older);
    versions.map(|version| format!("{}/{}", base(kind, version), info.plural)).collect()
}

/// Path of one object; `None` if its kind needs a namespace and none is known.
pub(super) fn object(kind: Kind, namespace: Option<&str>, name: &str) -> Option<String> {
    let (base, plural, name) = (base(kind, kind.info().version), kind.info().plural, encode(name));
    if kind.info().namespaced {
        let namespace = encode(namespace?);
        Some(format!("{base}/namespaces/{namespace}/{plural}/{name}"))
    } else {
        Some(format!("{base}/{plural}/{name}"))
    }
}

fn base(kind: Kind, version: &str) -> String {
    let group = kind.info().group;
    if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
}

/// Percent-encodes a path segment or query value: names come from flags and tokens from servers.
pub(super) fn encode(text: &str) -> String {
    // A segment of only dots would change the path.
    let dots = !text.is_empty() && text.bytes().all(|byte| byte == b'.');
    text.bytes().fold(String::with_capacity(text.len()), |mut encoded, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            b'.' if !dots => encoded.push('.'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_api() {
        assert_eq!(lists(Kind::Pod), ["/api/v1/pods"]);
        assert_eq!(lists(Kind::EndpointSlice), ["/apis/discovery.k8s.io/v1/endpointslices"]);
        let older = ["v1", "v1beta1"].map(|v| format!("/apis/gateway.networking.k8s.io/{v}/httproutes"));
        assert_eq!(lists(Kind::HTTPRoute), older);
        let config = object(Kind::ConfigMap, Some("linkerd"), "linkerd-config");
        assert_eq!(config.as_deref(), Some("/api/v1/namespaces/linkerd/configmaps/linkerd-config"));
        assert_eq!(object(Kind::ConfigMap, None, "linkerd-config"), None);
        let role = object(Kind::ClusterRole, None, "system:x");
        assert_eq!(role.as_deref(), Some("/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax"));
    }

    #[test]
    fn names_are_encoded_in_paths() {
        let path = object(Kind::Secret, Some("../../x?y"), "..").unwrap();
        assert_eq!(path, "/api/v1/namespaces/..%2F..%2Fx%3Fy/secrets/%2E%2E");
    }
}
