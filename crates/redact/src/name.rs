//! Fields that hold names by the rules of the API: kept in the form of a name, whatever its parts resemble. Tokens and
//! keys have capitals, underscores or other characters that no name may have; lower-case words behind a prefix of
//! tokens (`pypi-server`, `xapp-frontend`) and hexadecimal digits (`pr-3f78...`) are names. Anything else is treated as
//! text.

use std::borrow::Cow;

use super::marker::hashed;
use super::text::text;
use crate::names::{is_label_key, is_label_value, is_subdomain};

/// Fields of a pod in references to one of its containers: `spec.containers{web}`.
const CONTAINERS: [&str; 3] = ["spec.containers{", "spec.initContainers{", "spec.ephemeralContainers{"];

/// The name of an object, a port, a host or a key; or several, as in `NAMESPACE/NAME`, `HOST:PORT` or an identity.
pub fn object(content: &str) -> Cow<'_, str> {
    if is_object(content) { Cow::Borrowed(content) } else { text(content) }
}

fn is_object(content: &str) -> bool {
    let container = CONTAINERS.iter().find_map(|field| content.strip_prefix(field)?.strip_suffix('}'));
    let content = container.unwrap_or(content);
    let content = content.strip_prefix("spiffe://").unwrap_or(content);
    // Names may be prefixes, and hosts may begin with any label or end at the root.
    let content = content.strip_prefix("*.").unwrap_or(content);
    let content = content.strip_suffix(['-', '.']).unwrap_or(content);
    content.split(['/', ':']).all(is_subdomain)
}

/// The key of a label or an annotation.
pub(super) fn is_key(key: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-./".contains(&byte);
    key.bytes().all(is_plain) && is_label_key(key)
}

/// The value of a label: public, and compared with selectors. A token is replaced by its hash, so that equal values
/// stay equal and different ones different.
pub(super) fn label(content: &str) -> Cow<'_, str> {
    let is_hex = content.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_label_value(content) && (is_hex || is_subdomain(content)) {
        return Cow::Borrowed(content);
    }
    match text(content) {
        Cow::Owned(_) if is_label_value(content) => Cow::Owned(hashed(content.as_bytes())),
        clean => clean,
    }
}

/// An image: a repository, with a tag or a digest or both.
pub(super) fn image(content: &str) -> Cow<'_, str> {
    if is_image(content) { Cow::Borrowed(content) } else { text(content) }
}

fn is_image(content: &str) -> bool {
    let (name, digest) = content.split_once("@sha256:").unwrap_or((content, ""));
    let is_part = |part: &str| {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._".contains(&byte);
        !part.is_empty() && part.bytes().all(is_plain) && part.starts_with(|c: char| c.is_ascii_alphanumeric())
    };
    let is_hex = digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (digest.is_empty() || digest.len() == 64 && is_hex) && name.split(['/', ':']).all(is_part)
}

/// A selector of Calico: `app == 'web' && has(tier)`. In quotes are values of labels; without those that resemble
/// tokens, the rest must have no shape of a secret.
pub(super) fn selectors(content: &str) -> Cow<'_, str> {
    let clean = text(content);
    if matches!(clean, Cow::Borrowed(_)) {
        return clean;
    }
    let (mut out, mut others) = (String::new(), String::new());
    let mut rest = content;
    while let Some(open) = rest.find(['"', '\'']) {
        let (before, quoted) = rest.split_at(open);
        let quote = &quoted[..1];
        let Some(close) = quoted[1..].find(quote) else { return clean };
        let value = &quoted[1..=close];
        let is_shaped = is_label_value(value) && matches!(text(value), Cow::Owned(_));
        out.extend([before, quote, &*label(value), quote]);
        others.extend([before, quote, if is_shaped { "x" } else { value }, quote]);
        rest = &quoted[close + 2..];
    }
    out.push_str(rest);
    others.push_str(rest);
    match text(&others) {
        Cow::Owned(_) => clean,
        Cow::Borrowed(_) if out == content => Cow::Borrowed(content),
        Cow::Borrowed(_) => Cow::Owned(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "3f786850e387550fdab836ed7e6dc881de23001b";

    #[test]
    fn names_that_resemble_tokens_are_kept() {
        for name in [
            "pypi-server-prod",
            "xapp-frontend",
            "my-sk-checkout-service-production",
            "gldt-runner-prod",
            "hvs.example-host.internal",
            "etl-load-orders-0123456789abcdef0123456789abcdef",
            "shop/xapp-frontend",
            "spec.containers{pypi-server-prod}",
            "spec.initContainers{pypi-server-prod}",
            "pypi-server-prod.svc.cluster.local:8080",
            "*.pypi-server-prod.serviceaccount.identity.linkerd.cluster.local",
            "spiffe://root.linkerd.cluster.local/pypi-server-prod",
            "xapp-frontend-",
        ] {
            assert_eq!(object(name), name);
        }
        assert_eq!(object(&format!("pr-{SHA}")), format!("pr-{SHA}"));
        assert_eq!(
            image(&format!("ghcr.io/shop/pypi-server-prod:{SHA}")),
            format!("ghcr.io/shop/pypi-server-prod:{SHA}")
        );
        for key in ["pypi-server-prod", "example.com/xapp-frontend"] {
            assert!(is_key(key), "{key}");
        }
    }

    #[test]
    fn tokens_in_names_are_replaced() {
        let slack = ["xoxb-", "123456789012-Ab3dE6gH9jK2"].concat();
        let github = ["ghp_", "aB3dE6gH9jK2mN5pQ8rS"].concat();
        for token in [slack.as_str(), github.as_str(), "AKIAIOSFODNN7EXAMPLE", "pypi-AgEIcHlwaS5vcmc"] {
            assert!(!object(token).contains(token), "{token}");
            assert!(!image(&format!("registry.example/{token}")).contains(token), "{token}");
            assert!(!is_key(token), "{token}");
            let clean = label(token).into_owned();
            assert!(clean.starts_with("REDACTED(sha256:"), "{token}: {clean}");
            assert_eq!(label(&clean), clean, "redacted twice");
        }
        assert_ne!(label("AKIAIOSFODNN7EXAMPLE"), label("AKIAIOSFODNN7EXAMPLF"));
    }

    #[test]
    fn label_values_stay_different() {
        for value in [SHA, "3F786850E387550FDAB836ED7E6DC881DE23001B", "xapp-frontend", "v1.2_3", ""] {
            assert_eq!(label(value), value);
        }
        let selector = format!("sha == '{SHA}' && app in {{\"xapp-frontend\"}}");
        assert_eq!(selectors(&selector), selector);
        assert!(!selectors("token == 'AKIAIOSFODNN7EXAMPLE'").contains("AKIA"));
        for secret in
            ["password=hunter2 'x", "password=\"first\nhunter2\"", "password=\"hunter2\"", "{\"token\": \"hunter2\"}"]
        {
            assert!(!selectors(secret).contains("hunter2"), "{secret}");
        }
    }
}
