//! Which names Kubernetes accepts. What it would not accept names no object of any cluster: it is refused where it comes
//! in, as something malformed, and never reaches a report or a command. Names that it does accept can still hold
//! anything but a slash or a percent sign, so nobody is to trust one because it passed here.

/// What a kind asks of the names of its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A DNS label: letters, digits and dashes.
    Label,
    /// Labels joined by dots: most kinds.
    Subdomain,
    /// What can stand between two slashes of a path: RBAC, events, API services.
    Segment,
}

impl Rule {
    /// Whether a name is one.
    pub fn accepts(self, name: &str) -> bool {
        match self {
            Rule::Label => is_label(name),
            Rule::Subdomain => is_subdomain(name),
            Rule::Segment => is_segment(name),
        }
    }

    /// The rule for an object of this kind, which may be one of somebody's own.
    pub fn of_kind(kind: &str) -> Rule {
        match kind {
            "Namespace" => Rule::Label,
            "Pod" | "Node" | "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job"
            | "CronJob" | "Service" | "ServiceAccount" | "ConfigMap" | "Secret" => Rule::Subdomain,
            _ => Rule::Segment,
        }
    }
}

/// A DNS label (RFC 1123), such as the name of a namespace.
pub fn is_label(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty()
        && name.len() <= 63
        && name.bytes().all(plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// A DNS subdomain (RFC 1123), such as the name of a pod or a node. Its parts may be longer than 63 bytes.
pub fn is_subdomain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(plain) && !part.starts_with('-') && !part.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(part)
}

/// Whether the API server takes a text as the value of a label.
pub fn is_label_value(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = [text.bytes().next(), text.bytes().last()];
    text.len() <= 63
        && text.bytes().all(inner)
        && ends.into_iter().flatten().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether the API server takes a text as the key of a label: a name, with a DNS subdomain and a slash before it or without.
pub fn is_label_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    !name.is_empty() && is_label_value(name) && prefix.is_none_or(is_subdomain)
}

/// One segment of a path.
pub fn is_segment(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '%'])
}

/// What a namespace can be called, for a message.
pub const A_NAMESPACE: &str =
    "a namespace has lower-case letters, digits and dashes, 63 at most, such as linkerd-viz";
/// What a node can be called, for a message.
pub const A_NODE: &str =
    "a node has lower-case letters, digits, dashes and dots, such as ip-10-0-1-12.ec2.internal";

/// Why an object with these names is refused; the names are quoted so far as a message needs.
pub fn refused(rule: Rule, namespace: &str, name: &str) -> Option<String> {
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

/// A name that is none, for a message.
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
        for a in ["Server", "GRPCRoute", "TLSRoute", "TCPRoute", "MeshTLSAuthentication", "UserThing", "Pod"]
        {
            assert_eq!(with_article(a), format!("a {a}"));
        }
        assert_eq!(with_article(""), "a ");
    }

    #[test]
    fn names_are_those_that_kubernetes_accepts() {
        for name in ["a", "web-5d9f", "1", "kube-system"] {
            assert!(is_label(name) && is_subdomain(name) && is_segment(name), "{name}");
        }
        for name in ["ip-10-0-1-12.ec2.internal", "sh.helm.release.v1.linkerd.v1", &"a".repeat(200)] {
            assert!(!is_label(name) && is_subdomain(name) && is_segment(name), "{name}");
        }
        // What an API server takes as the name of a ClusterRole or an APIService.
        for name in ["system:node", "v1.", "linkerd $(id)", "A_b", "-x", "a\nb", "::error::"] {
            assert!(!is_label(name) && !is_subdomain(name) && is_segment(name), "{name}");
        }
        for name in ["", ".", "..", "a/b", "a%2Fb"] {
            assert!(!is_label(name) && !is_subdomain(name) && !is_segment(name), "{name}");
        }
        assert!(!is_subdomain(&"a".repeat(254)) && !is_label(&"a".repeat(64)));
    }

    #[test]
    fn a_refusal_names_what_is_wrong() {
        assert_eq!(refused(Rule::Subdomain, "shop", "web"), None);
        assert!(refused(Rule::Subdomain, "$(id)", "web").is_some_and(|why| why.contains("namespace")));
        let long = refused(Rule::Subdomain, "", &"X\u{1b}".repeat(1000)).expect("refused");
        assert!(long.len() < 400 && !long.contains('\u{1b}'), "{long}");
    }
}
