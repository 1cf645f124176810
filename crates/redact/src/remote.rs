//! Redacts the kubeconfig by which a link accesses another cluster: keeps whether a client can use it, and the server
//! address. Tokens, keys and certificates are dropped.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use super::certificate::{KeyMatches, blocks, key_matches};
use crate::{kubeconfig, token};

/// Annotation of a redacted Secret: facts about its kubeconfig, as JSON.
pub const KUBECONFIG: &str = "meshdoctor.io/kubeconfig";
/// The entry of the Secret.
pub(super) const ENTRY: &str = "kubeconfig";

/// Kept facts about a link's kubeconfig.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RemoteAccess {
    /// Reason why a client cannot use it. Quotes nothing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Scheme, host and port of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether its user runs a program for credentials (`exec`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exec: bool,
    /// Expiry of its token, in seconds since 1970, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
}

impl RemoteAccess {
    /// Parses a raw kubeconfig; `None`: the Secret has none.
    pub(super) fn read(kubeconfig: Option<&[u8]>) -> RemoteAccess {
        let broken = |error: String| RemoteAccess { error: Some(error), ..RemoteAccess::default() };
        let Some(kubeconfig) = kubeconfig else { return broken(format!("no entry {ENTRY}")) };
        match kubeconfig::parse::<Raw>(kubeconfig) {
            Err(error) => broken(error),
            Ok(raw) => {
                let server = raw.cluster().and_then(|cluster| address(cluster.server.as_deref()?));
                let token = raw.user().and_then(|user| user.token.as_deref());
                let expires = token.and_then(|token| token::decode(token).ok()).and_then(|claims| claims.exp);
                let exec = raw.user().is_some_and(|user| user.exec.is_some());
                RemoteAccess { error: fault(&raw, server.as_deref()).map(str::to_owned), server, exec, expires }
            }
        }
    }

    /// The facts in a redacted Secret's annotation [`KUBECONFIG`]; `None` if it is missing.
    pub fn parse(annotation: Option<&str>) -> Option<RemoteAccess> {
        serde_json::from_str(annotation?).ok()
    }

    /// Whether a client can use it.
    pub fn is_usable(&self) -> bool {
        self.error.is_none()
    }

    /// When its token expires.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.expires.and_then(|seconds| Timestamp::from_second(seconds).ok())
    }

    /// The error in words; without one, the server address.
    pub fn describe(&self) -> String {
        self.error.as_ref().or(self.server.as_ref()).cloned().unwrap_or_default()
    }
}

/// Records that a Secret has no kubeconfig and no certificates. Only for Secrets read directly from the cluster: dumps
/// omit data. Runs before [`super::object`], which drops entries.
pub fn note_absent_kubeconfig(value: &mut Value) {
    let others = [ENTRY, "tls.crt", "crt.pem"];
    let is_empty = |data: &Map<String, Value>| others.iter().all(|name| !data.contains_key(*name));
    if value["kind"] != "Secret" || !value.get("data").and_then(Value::as_object).is_none_or(is_empty) {
        return;
    }
    let Ok(said) = serde_json::to_string(&RemoteAccess::read(None)) else { return };
    if let Some(Value::Object(metadata)) = value.get_mut("metadata")
        && let Value::Object(annotations) = metadata.entry("annotations").or_insert_with(|| Value::Object(Map::new()))
    {
        annotations.insert(KUBECONFIG.to_owned(), Value::String(said));
    }
}

/// The parts of a kubeconfig that a client reads.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Raw {
    current_context: Option<String>,
    clusters: Option<Vec<Named<Cluster>>>,
    contexts: Option<Vec<Named<Context>>>,
    users: Option<Vec<Named<User>>>,
}

#[derive(Deserialize)]
struct Named<T> {
    name: String,
    #[serde(alias = "cluster", alias = "context", alias = "user")]
    of: Option<T>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Cluster {
    server: Option<String>,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    insecure_skip_tls_verify: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    cluster: Option<String>,
    user: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct User {
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    username: Option<String>,
    password: Option<String>,
    exec: Option<IgnoredAny>,
    auth_provider: Option<IgnoredAny>,
}

impl Raw {
    fn context(&self) -> Option<&Context> {
        by_name(self.contexts.as_deref(), self.current_context.as_deref())
    }

    fn cluster(&self) -> Option<&Cluster> {
        by_name(self.clusters.as_deref(), self.context()?.cluster.as_deref())
    }

    fn user(&self) -> Option<&User> {
        by_name(self.users.as_deref(), self.context()?.user.as_deref())
    }
}

fn by_name<'a, T>(rows: Option<&'a [Named<T>]>, name: Option<&str>) -> Option<&'a T> {
    rows?.iter().find(|row| Some(row.name.as_str()) == name)?.of.as_ref()
}

/// Whether an entry exists and is not empty: clients treat an empty one as missing.
fn is_set(entry: &Option<String>) -> bool {
    entry.as_deref().is_some_and(|text| !text.is_empty())
}

/// Reason why a client cannot use it: rejected by client-go before it connects, or a user without credentials. `server`
/// is the parsed address.
fn fault(raw: &Raw, server: Option<&str>) -> Option<&'static str> {
    if raw.clusters.is_none() && raw.contexts.is_none() && raw.users.is_none() {
        return Some("it has no clusters, contexts or users");
    }
    if raw.context().is_none() {
        return Some("its current context does not exist");
    }
    let Some(cluster) = raw.cluster() else { return Some("its context refers to a missing cluster") };
    match server {
        None => Some("it has no API server address"),
        Some(server) if is_of_the_pod_itself(server) => {
            Some("its server is a loopback address, which here is the controller's own pod")
        }
        // Without TLS, authority and user do not matter.
        Some(server) if server.starts_with("http:") => None,
        Some(_) => fault_of_cluster(cluster).or_else(|| match raw.user() {
            None => Some("its context refers to a missing user"),
            Some(user) => fault_of_user(user),
        }),
    }
}

/// Whether an address refers to the local machine.
fn is_of_the_pod_itself(server: &str) -> bool {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => rest.split(':').next().unwrap_or(rest),
    };
    let own = |address: IpAddr| address.is_loopback() || address.is_unspecified();
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(own)
}

fn fault_of_cluster(cluster: &Cluster) -> Option<&'static str> {
    let insecure = cluster.insecure_skip_tls_verify == Some(true);
    let data = cluster.certificate_authority_data.as_deref().unwrap_or_default();
    match () {
        () if is_set(&cluster.certificate_authority) => {
            Some("its certificate-authority is a file, which the controller does not have")
        }
        () if data.is_empty() => None,
        () if insecure => Some("it has certificate-authority-data, which insecure-skip-tls-verify disables"),
        // For Go, one readable certificate is sufficient.
        () if bytes(data).is_some_and(|pem| blocks(&pem).iter().any(is_certificate)) => None,
        () => Some("its certificate-authority-data contains no certificate"),
    }
}

fn fault_of_user(user: &User) -> Option<&'static str> {
    let certified = is_set(&user.client_certificate) || is_set(&user.client_certificate_data);
    let by_name = is_set(&user.username) || is_set(&user.password);
    let by_token = is_set(&user.token) || is_set(&user.token_file);
    let pem = |data: &Option<String>| bytes(data.as_deref().unwrap_or_default());
    match () {
        () if by_name && is_set(&user.token) => {
            Some("its user has both a token and a password, but a client accepts only one")
        }
        () if is_set(&user.client_certificate) || is_set(&user.client_key) => {
            Some("its user's certificate or key is a file, which the controller does not have")
        }
        () if is_set(&user.token_file) && !is_set(&user.token) => {
            Some("its user's token is a file, which the controller does not have")
        }
        () if certified => match (pem(&user.client_certificate_data), pem(&user.client_key_data)) {
            (Some(certificate), Some(key)) if is_pair(&certificate, &key) => None,
            _ => Some("its user's client-certificate-data and client-key-data do not match"),
        },
        () if by_token || by_name || user.exec.is_some() || user.auth_provider.is_some() => None,
        () => Some("its user has no credentials"),
    }
}

/// Unknown formats may match.
fn is_pair(certificate: &[u8], key: &[u8]) -> bool {
    let there = !blocks(certificate).is_empty() && !blocks(key).is_empty();
    there && !matches!(key_matches(certificate, key), KeyMatches::False)
}

fn is_certificate(block: &super::certificate::Block) -> bool {
    block.label == "CERTIFICATE" && Certificate::from_der(&block.der).is_ok()
}

/// Content of a base64 entry; Go ignores line breaks in it.
fn bytes(data: &str) -> Option<Vec<u8>> {
    STANDARD.decode(data.replace(['\n', '\r'], "")).ok()
}

/// Scheme, host and port of an address, without possible secrets.
fn address(server: &str) -> Option<String> {
    let (scheme, rest) = server.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']' | '_');
    (matches!(scheme, "http" | "https") && !host.is_empty() && host.chars().all(plain))
        .then(|| format!("{scheme}://{host}"))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use serde_json::json;

    use super::*;
    use crate::tests::sanitize;

    const GOOD: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: east, cluster: {server: \
        'https://u:canary@10.1.0.1:6443/path?token=canary'}}]\ncontexts: [{name: c, context: {cluster: east, user: u}}]\n\
        users: [{name: u, user: {token: canary}}]\n";

    fn read(text: &str) -> RemoteAccess {
        let access = RemoteAccess::read(Some(text.as_bytes()));
        let kept = serde_json::to_string(&access).expect("plain data");
        assert!(!kept.contains("canary"), "{text}: {kept}");
        access
    }

    #[test]
    fn only_the_address_is_kept() {
        let access = read(GOOD);
        assert!(access.is_usable(), "{access:?}");
        assert_eq!(access.server.as_deref(), Some("https://10.1.0.1:6443"));
        assert_eq!(access.describe(), "https://10.1.0.1:6443");
    }

    #[test]
    fn missing_kubeconfig_is_known_only_for_live_secrets() {
        let said = |secret: &Value| RemoteAccess::parse(secret["metadata"]["annotations"][KUBECONFIG].as_str());
        let secret = |data: Value| json!({"kind": "Secret", "metadata": {"name": "east"}, "data": data});
        for data in [json!({}), json!(null), json!({"config": "eA=="})] {
            let mut handed_on = secret(data.clone());
            sanitize(&mut handed_on);
            assert_eq!(said(&handed_on), None, "{data}");
            let mut first_hand = secret(data.clone());
            note_absent_kubeconfig(&mut first_hand);
            sanitize(&mut first_hand);
            assert_eq!(said(&first_hand).unwrap().describe(), "no entry kubeconfig", "{data}");
        }
        for data in [json!({"tls.crt": ""}), json!({"kubeconfig": ""})] {
            let mut other = secret(data);
            note_absent_kubeconfig(&mut other);
            assert_eq!(said(&other), None, "{other}");
        }
        let mut masked = secret(json!({"kubeconfig": "REDACTED!"}));
        sanitize(&mut masked);
        assert_eq!(said(&masked), None, "{masked}");
    }

    #[test]
    fn unusable_kubeconfig_has_a_reason() {
        for (text, said) in [
            ("", "the file is empty"),
            ("canary: [", "not a kubeconfig"),
            ("canary: canary\n", "it has no clusters, contexts or users"),
            (&GOOD.replace("current-context: c", "current-context: canary"), "its current context does not exist"),
            (&GOOD.replace("current-context: c\n", ""), "its current context does not exist"),
            (&GOOD.replace("https://u:", "canary://u:"), "it has no API server address"),
            (&GOOD.replace("10.1.0.1", "127.0.0.1"), "its server is a loopback address"),
            (&GOOD.replace("10.1.0.1", "0.0.0.0"), "its server is a loopback address"),
            (&GOOD.replace("10.1.0.1", "localhost"), "its server is a loopback address"),
            (&GOOD.replace("10.1.0.1", "[::1]"), "its server is a loopback address"),
            (&GOOD.replace("{cluster: east", "{cluster: canary"), "its context refers to a missing cluster"),
            (&GOOD.replace("user: u}", "user: canary}"), "its context refers to a missing user"),
            (&GOOD.replace(", user: u}", "}"), "its context refers to a missing user"),
        ] {
            let access = read(text);
            assert!(!access.is_usable(), "{text}");
            assert!(access.describe().starts_with(said), "{text}: {}", access.describe());
        }
        assert_eq!(RemoteAccess::read(None).describe(), "no entry kubeconfig");
    }

    /// A matching certificate and key, as in kubeconfigs.
    fn pair() -> [String; 2] {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["canary".into()]).unwrap().self_signed(&key).unwrap();
        [certificate.pem(), key.serialize_pem()].map(|pem| STANDARD.encode(pem))
    }

    #[test]
    fn authority_is_valid_or_has_an_error() {
        let [authority, _] = pair();
        let with = |entries: &str| read(&GOOD.replace("token=canary'", &format!("token=canary', {entries}"))).error;
        let data = format!("certificate-authority-data: {authority}");
        assert_eq!(with(&data), None);
        assert_eq!(with("insecure-skip-tls-verify: true"), None);
        assert_eq!(with("certificate-authority-data: ''"), None);
        let begins = STANDARD.encode("-----BEGIN");
        for (entries, said) in [
            ("certificate-authority: /canary/ca.crt", "is a file"),
            ("certificate-authority-data: canary", "contains no certificate"),
            (&format!("certificate-authority-data: {begins}"), "contains no certificate"),
            (&format!("insecure-skip-tls-verify: true, {data}"), "insecure-skip-tls-verify disables"),
        ] {
            let error = with(entries).unwrap_or_default();
            assert!(error.contains(said), "{entries}: {error}");
        }
        let plain = GOOD.replace("https:", "http:").replace("token=canary'", "', certificate-authority: /canary");
        assert_eq!(read(&plain).error, None, "it is not read without TLS");
    }

    #[test]
    fn user_is_valid_or_has_an_error() {
        let ([certificate, key], [_, other]) = (pair(), pair());
        let with = |user: &str| read(&GOOD.replace("{token: canary}", user)).error;
        let certified = |key: &str| format!("{{client-certificate-data: {certificate}, client-key-data: {key}}}");
        for user in [
            "{username: canary, password: canary}",
            "{exec: {command: canary}}",
            "{auth-provider: {name: canary}}",
            "{token: canary, tokenFile: /canary}",
            &certified(&key),
        ] {
            assert_eq!(with(user), None, "{user}");
        }
        for (user, said) in [
            ("{}", "has no credentials"),
            ("{token: ''}", "has no credentials"),
            ("{tokenFile: /canary}", "token is a file"),
            ("{client-certificate: /canary, client-key: /canary}", "is a file"),
            ("{token: canary, username: canary}", "both a token and a password"),
            (&format!("{{client-certificate-data: {certificate}}}"), "do not match"),
            (&certified(&other), "do not match"),
            (&certified("canary"), "do not match"),
        ] {
            let error = with(user).unwrap_or_default();
            assert!(error.contains(said), "{user}: {error}");
        }
    }
}
