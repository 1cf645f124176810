//! Names that announce a secret.
//!
//! The list follows the snapshot format; case, dashes and underscores are ignored. Free text has a shorter list, since
//! a false positive removes useful evidence.

use super::memo::Memo;

thread_local! {
    /// Cache for names in files.
    static SECRET: Memo<bool> = Memo::with_slots(512);
    /// Cache for names in free text.
    static TELLING: Memo<bool> = Memo::with_slots(512);
}

/// Whether the value of this name is replaced in JSON and YAML files.
pub(super) fn is_secret(key: &str) -> bool {
    SECRET.with(|known| known.known(key, announces))
}

fn announces(key: &str) -> bool {
    let key = plain(key);
    let has = |part: &str| key.contains(part);
    key.ends_with("token")
        || has("password")
        || has("passwd")
        || has("secret")
        || has("passphrase")
        || has("privatekey")
        || has("apikey")
        || has("accesskey")
        || has("accountkey")
        || has("sshkey")
        || has("clientkey")
        || has("signingkey")
        || has("encryptionkey")
        || has("sharedaccess")
        || has("credential")
        || key.starts_with("auth")
        || key.ends_with("psk")
        || key.ends_with("pwd")
        || key.ends_with("pw")
        || key.ends_with("keypem")
        || matches!(
            key.as_str(),
            "clientcertificatedata" | "license" | "pass" | "dbpass" | "jwt" | "sig" | "cookie" | "setcookie"
        )
}

/// Whether a field of this name may contain a secret, so that cards cannot read it.
pub fn names_a_secret(field: &str) -> bool {
    matches!(field, "data" | "stringData" | "binaryData") || is_secret_in_text(field)
}

/// Whether the value of this name is replaced in event messages and log lines.
pub(super) fn is_secret_in_text(key: &str) -> bool {
    TELLING.with(|known| known.known(key, is_telling))
}

fn is_telling(key: &str) -> bool {
    let key = plain(key);
    let reference =
        ["name", "names", "ref", "refs", "namespace", "path", "file", "dir", "id"].iter().any(|end| key.ends_with(end));
    let auth = key.starts_with("auth") && !matches!(key.as_str(), "auth" | "authorization");
    !reference && !auth && is_secret(&key) || matches!(key.as_str(), "authtoken" | "authkey")
}

/// Empty values, which show that there is no secret; they are kept.
pub(super) fn is_harmless(value: &[u8]) -> bool {
    let template = value.len() > 4
        && value.starts_with(b"__")
        && value.ends_with(b"__")
        && value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_');
    template || matches!(value, b"" | b"true" | b"false" | b"null" | b"~" | b"{}" | b"[]" | b"{" | b"[" | b"|" | b">")
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| *c != '-' && *c != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_snapshot_format_are_secret_in_any_spelling() {
        for key in [
            "token",
            "TOKEN",
            "k8s_auth_token",
            "dbPassword",
            "client-key-data",
            "Client-Certificate-Data",
            "auth",
            "authInfo",
            "etcd_secret",
            "access_token",
            "PRIVATE_KEY",
        ] {
            assert!(is_secret(key), "{key}");
        }
        for key in ["type", "kubeconfig", "tokenClaims", "tokenSha256Prefix", "certificate-authority-data", "name"] {
            assert!(!is_secret(key), "{key}");
        }
    }

    #[test]
    fn template_placeholder_is_no_secret() {
        assert!(is_harmless(b"__SERVICEACCOUNT_TOKEN__"));
        assert!(!is_harmless(b"__x__"));
        assert!(!is_harmless(b"hunter2"));
    }
}
