//! Service-account tokens: what their payload claims, and a short hash to distinguish tokens.
//!
//! Only the payload is decoded; the signature is neither verified nor kept, and errors and debug output contain no part
//! of the token. Checks interpret the claims (expired, bound to a deleted pod).

use base64::Engine as _;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Maximum length of a token, in bytes. Real ones are below 4 KiB.
const MAX_TOKEN: usize = 64 * 1024;

/// The claims of a service-account token, bound (nested under `kubernetes.io`) or legacy (flat keys).
///
/// Serialized as `tokenClaims` of the node-snapshot format. Every claim is optional: a missing claim is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Claims {
    /// Issuer URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iss: Option<String>,
    /// Audiences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aud: Vec<String>,
    /// Subject, `system:serviceaccount:<namespace>:<name>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub: Option<String>,
    /// Issued at, seconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iat: Option<i64>,
    /// Not valid before, seconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// Expiry, seconds since the epoch. Legacy tokens have none and never expire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<i64>,
    /// Name of the pod the token is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_name: Option<String>,
    /// UID of that pod: the API server rejects the token after the pod is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_uid: Option<String>,
    /// Name of the node the pod ran on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// UID of the service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sa_uid: Option<String>,
    /// Time when the kubelet should have replaced the token, if the API server extends `exp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnafter: Option<i64>,
}

impl Claims {
    /// Expiry as a time; `None` when the token has none.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.exp.and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// When the token was issued.
    pub fn issued_at(&self) -> Option<Timestamp> {
        self.iat.and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// When the token should have been replaced (`warnafter`).
    pub fn warns_at(&self) -> Option<Timestamp> {
        self.warnafter.and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// The namespace and name in `sub`, when it is a service account.
    pub fn service_account(&self) -> Option<(&str, &str)> {
        self.sub.as_deref()?.strip_prefix("system:serviceaccount:")?.split_once(':')
    }

    /// Whether the token becomes invalid with its pod; legacy tokens do not.
    pub fn is_bound_to_pod(&self) -> bool {
        self.pod_uid.is_some() || self.pod_name.is_some()
    }
}

/// Reason why a token's claims could not be read. Never contains a part of the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error("not three dot-joined parts")]
    NotThreeParts,
    #[error("the payload is not base64url")]
    NotBase64,
    #[error("the payload is not a JSON object")]
    NotJson,
    #[error("longer than any real token")]
    TooLong,
}

/// Decodes the payload of a token. Ignores header and signature.
pub fn decode(token: &str) -> Result<Claims, TokenError> {
    let token = token.trim();
    if token.len() > MAX_TOKEN {
        return Err(TokenError::TooLong);
    }
    let mut parts = token.split('.');
    let (Some(header), Some(payload), Some(_signature), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(TokenError::NotThreeParts);
    };
    if header.is_empty() || payload.is_empty() {
        return Err(TokenError::NotThreeParts);
    }
    // Tokens have no padding; accept padded copies.
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let bytes = GeneralPurpose::new(&URL_SAFE, config).decode(payload).map_err(|_| TokenError::NotBase64)?;
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(value @ Value::Object(_)) => Ok(claims(&value)),
        Ok(_) | Err(_) => Err(TokenError::NotJson),
    }
}

fn claims(payload: &Value) -> Claims {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let bound = &payload["kubernetes.io"];
    let flat = |key: &str| payload.get(format!("kubernetes.io/serviceaccount/{key}")).and_then(text);
    let aud = match &payload["aud"] {
        Value::String(one) => vec![one.clone()],
        Value::Array(many) => many.iter().filter_map(text).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    Claims {
        iss: text(&payload["iss"]),
        aud,
        sub: text(&payload["sub"]),
        iat: seconds(&payload["iat"]),
        nbf: seconds(&payload["nbf"]),
        exp: seconds(&payload["exp"]),
        pod_name: text(&bound["pod"]["name"]),
        pod_uid: text(&bound["pod"]["uid"]),
        node_name: text(&bound["node"]["name"]),
        sa_uid: text(&bound["serviceaccount"]["uid"]).or_else(|| flat("service-account.uid")),
        warnafter: seconds(&bound["warnafter"]),
    }
}

/// A numeric date: whole seconds, also if written as a fraction (RFC 7519 allows it).
fn seconds(value: &Value) -> Option<i64> {
    if let Some(whole) = value.as_i64() {
        return Some(whole);
    }
    let fraction = value.as_f64()?;
    // Values outside this range are not valid times.
    (fraction.abs() < 1e15).then_some(fraction.trunc() as i64)
}

/// The first twelve hex digits of a token's SHA-256, to recognize equal tokens.
pub fn sha256_prefix(token: &[u8]) -> String {
    let mut hex = sha256_hex(token);
    hex.truncate(12);
    hex
}

/// SHA-256 in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("writing to a String cannot fail");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use meshdoctor_test_support::{bound_token_payload, sample_token};
    use proptest::prelude::*;

    #[test]
    fn bound_token_has_pod_and_node() {
        let claims = decode(&sample_token(&bound_token_payload(), "signature")).unwrap();
        assert_eq!(claims.pod_uid.as_deref(), Some("p-uid"));
        assert_eq!(claims.node_name.as_deref(), Some("n1"));
        assert_eq!(claims.sa_uid.as_deref(), Some("sa-uid"));
        assert_eq!(claims.warnafter, Some(1760993607));
        assert_eq!(claims.service_account(), Some(("linkerd-cni", "linkerd-cni")));
        assert_eq!(claims.expires_at().unwrap().to_string(), "2026-10-20T19:53:20Z");
        assert!(claims.is_bound_to_pod());
        let json = serde_json::to_value(&claims).unwrap();
        assert_eq!(json["podName"], "linkerd-cni-x");
        assert_eq!(serde_json::from_value::<Claims>(json).unwrap(), claims);
    }

    #[test]
    fn legacy_token_has_no_expiry_and_no_pod() {
        let payload = serde_json::json!({
            "iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:linkerd-cni:linkerd-cni",
            "kubernetes.io/serviceaccount/service-account.uid": "old-uid",
        });
        let claims = decode(&sample_token(&payload, "s")).unwrap();
        assert_eq!(claims.sa_uid.as_deref(), Some("old-uid"));
        assert_eq!(claims.exp, None);
        assert!(!claims.is_bound_to_pod());
    }

    #[test]
    fn odd_but_legal_claims_are_read() {
        let payload = serde_json::json!({"aud": "one", "exp": 17925.9e5, "iat": "soon", "nbf": 1e300});
        let claims = decode(&format!("{}\n", sample_token(&payload, "s"))).unwrap();
        assert_eq!((claims.aud.as_slice(), claims.exp), (["one".to_owned()].as_slice(), Some(1792590000)));
        assert_eq!((claims.iat, claims.nbf), (None, None));
    }

    #[test]
    fn malformed_tokens_are_values() {
        assert_eq!(decode(""), Err(TokenError::NotThreeParts));
        assert_eq!(decode("eyJh.eyJi"), Err(TokenError::NotThreeParts));
        assert_eq!(decode("a.b.c.d"), Err(TokenError::NotThreeParts));
        assert_eq!(decode("eyJh.%%%.s"), Err(TokenError::NotBase64));
        assert_eq!(decode("eyJh.MTI.s"), Err(TokenError::NotJson));
    }

    proptest! {
        #[test]
        fn any_text_decodes_without_panic(token in ".*") {
            let parts = token.trim().split('.').count();
            proptest::prop_assert!(parts == 3 || decode(&token) == Err(TokenError::NotThreeParts));
        }

        #[test]
        fn any_payload_decodes_without_panic(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            let is_object = serde_json::from_slice::<serde_json::Map<String, Value>>(&payload).is_ok();
            let decoded = decode(&format!("eyJh.{}.s", URL_SAFE_NO_PAD.encode(&payload)));
            proptest::prop_assert_eq!(decoded.is_ok(), is_object);
        }
    }
}
