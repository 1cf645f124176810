//! Valid Kubernetes names. An invalid name cannot belong to an object of a cluster: it is rejected on input as
//! malformed, and never reaches a report or a command. Valid names can still contain almost any character, so they are
//! not safe to print or run.

/// Rule for the names of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS label: letters, digits and dashes.
    Label,
    /// Labels joined by dots: most kinds.
    Subdomain,
    /// A path segment: RBAC, events, API services.
    Segment,
}

impl NameRule {
    /// Whether a name is valid.
    pub fn accepts(self, name: &str) -> bool {
        match self {
            NameRule::Label => is_label(name),
            NameRule::Subdomain => is_subdomain(name),
            NameRule::Segment => is_segment(name),
        }
    }

    /// The rule for objects of this kind, which may be a custom resource.
    pub fn of_kind(kind: &str) -> NameRule {
        match kind {
            "Namespace" => NameRule::Label,
            "Pod" | "Node" | "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" | "CronJob"
            | "Service" | "ServiceAccount" | "ConfigMap" | "Secret" => NameRule::Subdomain,
            _ => NameRule::Segment,
        }
    }
}

/// A DNS label (RFC 1123), such as the name of a namespace.
pub fn is_label(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= 63 && name.bytes().all(plain) && !name.starts_with('-') && !name.ends_with('-')
}

/// A DNS subdomain (RFC 1123), such as the name of a pod or node. Its labels may be longer than 63 bytes.
pub fn is_subdomain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let part =
        |part: &str| !part.is_empty() && part.bytes().all(plain) && !part.starts_with('-') && !part.ends_with('-');
    name.len() <= 253 && name.split('.').all(part)
}

/// Whether a text is a valid label value.
pub fn is_label_value(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = [text.bytes().next(), text.bytes().last()];
    text.len() <= 63 && text.bytes().all(inner) && ends.into_iter().flatten().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether a text is a valid label key: a name, optionally with a DNS subdomain and a slash before it.
pub fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_subdomain)
}

/// Whether a container port can have this name.
pub fn is_port_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= 15
        && text.bytes().all(is_plain)
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// One segment of a path.
pub fn is_segment(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%'])
}

/// Rule for namespace names, for messages.
pub const A_NAMESPACE: &str = "use at most 63 lower-case letters, digits and dashes, such as linkerd-viz";
/// Rule for node names, for messages.
pub const A_NODE: &str = "use lower-case letters, digits, dashes and dots, such as ip-10-0-1-12.ec2.internal";

/// Reason why an object with these names is rejected, with shortened names.
pub fn refused(rule: NameRule, namespace: &str, name: &str) -> Option<String> {
    if !namespace.is_empty() && !is_label(namespace) {
        return Some(format!("{} is not a valid Kubernetes namespace name", quoted(namespace)));
    }
    (!rule.accepts(name)).then(|| format!("{} is not a valid Kubernetes object name", quoted(name)))
}

/// A noun with its indefinite article, as it is spoken: `an HTTPRoute`, `a Server`, `an EgressNetwork`.
pub fn with_article(noun: &str) -> String {
    let mut letters = noun.chars();
    let (first, second) = (letters.next().unwrap_or_default(), letters.next().unwrap_or_default());
    // The letters of an abbreviation are spoken one by one.
    let abbreviated = first.is_ascii_uppercase() && second.is_ascii_uppercase();
    let vowels = if abbreviated { "AEFHILMNORSX" } else { "AEIOaeio" };
    format!("{} {noun}", if vowels.contains(first) { "an" } else { "a" })
}

/// An invalid name, for a message.
pub fn quoted(name: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = name.chars().take(SHOWN).collect();
    let more = if name.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("{shown:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_follow_the_sound_of_the_noun() {
        for an in ["HTTPRoute", "EgressNetwork", "ExternalWorkload", "HTTPLocalRateLimitPolicy", "Ingress"] {
            assert_eq!(with_article(an), format!("an {an}"));
        }
        for a in ["Server", "GRPCRoute", "TLSRoute", "TCPRoute", "MeshTLSAuthentication", "UserThing", "Pod"] {
            assert_eq!(with_article(a), format!("a {a}"));
        }
        assert_eq!(with_article(""), "a ");
    }

    #[test]
    fn names_match_kubernetes_rules() {
        for name in ["a", "web-5d9f", "1", "kube-system"] {
            assert!(is_label(name) && is_subdomain(name) && is_segment(name), "{name}");
        }
        for name in ["ip-10-0-1-12.ec2.internal", "sh.helm.release.v1.linkerd.v1", &"a".repeat(200)] {
            assert!(!is_label(name) && is_subdomain(name) && is_segment(name), "{name}");
        }
        // Valid names of ClusterRoles or APIServices.
        for name in ["system:node", "v1.", "linkerd $(id)", "A_b", "-x", "a\nb", "::error::"] {
            assert!(!is_label(name) && !is_subdomain(name) && is_segment(name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a%2Fb"] {
            assert!(!is_label(name) && !is_subdomain(name) && !is_segment(name), "{name}");
        }
        assert!(!is_subdomain(&"a".repeat(254)) && !is_label(&"a".repeat(64)));
    }

    #[test]
    fn rejection_names_the_error() {
        assert_eq!(refused(NameRule::Subdomain, "shop", "web"), None);
        assert!(refused(NameRule::Subdomain, "$(id)", "web").is_some_and(|why| why.contains("namespace")));
        let long = refused(NameRule::Subdomain, "", &"X\u{1b}".repeat(1000)).expect("refused");
        assert!(long.len() < 400 && !long.contains('\u{1b}'), "{long}");
    }
}
