//! Samples that the tests of several crates share. Only tests depend on this crate.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// A token of the usual shape around a payload, with the given text as signature.
pub fn sample_token(payload: &Value, signature: &str) -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", part(r#"{"alg":"RS256"}"#), part(&payload.to_string()), part(signature))
}

/// The payload of a token that is bound to a pod and a node.
pub fn bound_token_payload() -> Value {
    serde_json::json!({
        "iss": "https://kubernetes.default.svc", "aud": ["https://kubernetes.default.svc"],
        "sub": "system:serviceaccount:linkerd-cni:linkerd-cni",
        "iat": 1760990000, "nbf": 1760990000, "exp": 1792526000,
        "kubernetes.io": {
            "namespace": "linkerd-cni", "node": {"name": "n1", "uid": "n-uid"},
            "pod": {"name": "linkerd-cni-x", "uid": "p-uid"},
            "serviceaccount": {"name": "linkerd-cni", "uid": "sa-uid"}, "warnafter": 1760993607,
        }
    })
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct TestSupportReadme;
