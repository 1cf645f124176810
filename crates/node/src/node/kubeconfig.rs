//! Facts of a raw kubeconfig: its server and the identity of its token, without the token.
//!
//! Runs before redaction, so messages may contain only names, numbers and positions. The parser's own error
//! texts quote the file and are not used.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::facts::KubeconfigFacts;
use crate::{kubeconfig, token};

/// The context that the plugin uses.
const CONTEXT: &str = "linkerd-cni-context";
/// Whether a file looks like a kubeconfig.
pub fn is_kubeconfig(name: &str, content: &[u8]) -> bool {
    let has = |word: &[u8]| content.windows(word.len()).any(|window| window == word);
    name.to_ascii_lowercase().contains("kubeconfig")
        || has(b"clusters") && has(b"contexts") && has(b"users") && has(b"Config")
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Raw {
    current_context: Option<String>,
    clusters: Option<Vec<KubeconfigEntry>>,
    contexts: Option<Vec<KubeconfigEntry>>,
    users: Option<Vec<KubeconfigEntry>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct KubeconfigEntry {
    name: Option<String>,
    cluster: Option<KubeconfigCluster>,
    context: Option<Context>,
    user: Option<User>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct KubeconfigCluster {
    server: Option<String>,
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
#[serde(default)]
struct User {
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
}

/// Reads a raw kubeconfig found at `path` on the node.
pub fn facts(path: &str, content: &[u8]) -> KubeconfigFacts {
    // The token in a copy may already be masked.
    let size = crate::redact::original_len(content) as u64;
    let mut facts = KubeconfigFacts { path: path.to_owned(), size: Some(size), ..Default::default() };
    match kubeconfig::parse::<Raw>(content) {
        Ok(raw) => fill(&mut facts, &raw),
        Err(why) => facts.parse_error = Some(why),
    }
    facts
}

fn fill(facts: &mut KubeconfigFacts, raw: &Raw) {
    let rows = |rows: &'_ Option<Vec<KubeconfigEntry>>| rows.as_ref().map_or(0, Vec::len);
    if rows(&raw.clusters) + rows(&raw.contexts) + rows(&raw.users) == 0 {
        facts.parse_error = Some("no clusters, contexts or users in it".to_owned());
        return;
    }
    let names = |rows: &Option<Vec<KubeconfigEntry>>| {
        rows.iter().flatten().filter_map(|row| row.name.clone()).collect::<Vec<_>>()
    };
    facts.current_context.clone_from(&raw.current_context);
    facts.contexts = names(&raw.contexts);
    facts.users = names(&raw.users);

    let named = |rows: &'_ Option<Vec<KubeconfigEntry>>, name: Option<&str>| {
        rows.iter().flatten().position(|row| row.name.as_deref() == name && name.is_some())
    };
    let context = named(&raw.contexts, Some(CONTEXT))
        .or_else(|| named(&raw.contexts, raw.current_context.as_deref()))
        .and_then(|at| raw.contexts.as_ref()?.get(at)?.context.as_ref());
    // If the context names a missing cluster or user, the only one is reported instead.
    let pick = |rows: &'_ Option<Vec<KubeconfigEntry>>, name: Option<&str>| named(rows, name).unwrap_or(0);
    let cluster_at = pick(&raw.clusters, context.and_then(|context| context.cluster.as_deref()));
    let user_at = pick(&raw.users, context.and_then(|context| context.user.as_deref()));

    if let Some(cluster) = raw.clusters.as_ref().and_then(|rows| rows.get(cluster_at)?.cluster.as_ref()) {
        facts.server.clone_from(&cluster.server);
        facts.insecure = Some(cluster.insecure_skip_tls_verify.unwrap_or(false));
        facts.ca_sha256 = cluster
            .certificate_authority_data
            .as_deref()
            .and_then(|data| STANDARD.decode(data.trim()).ok())
            .map(|pem| token::sha256_hex(&pem));
    }
    let Some(user) = raw.users.as_ref().and_then(|rows| rows.get(user_at)?.user.as_ref()) else {
        facts.has_token = Some(false);
        return;
    };
    let secret = user.token.as_deref().map(str::trim).filter(|token| !token.is_empty());
    facts.has_token = Some(secret.is_some() || user.token_file.is_some());
    let Some(secret) = secret else { return };
    if let Some(marker) = crate::redact::Marker::whole(secret.as_bytes()) {
        facts.token_sha256_prefix = marker.sha256_prefix;
        facts.token_error = Some("redacted before it was read, so its claims are unknown".to_owned());
        return;
    }
    match token::decode(secret) {
        Ok(claims) => {
            facts.token_claims = Some(claims);
            facts.token_sha256_prefix = Some(token::sha256_prefix(secret.as_bytes()));
        }
        // Not hashed: a value that is not a JWT could be short enough to guess.
        Err(error) => facts.token_error = Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meshdoctor_test_support::{bound_token_payload, sample_token};

    fn mk_kubeconfig(token: &str) -> String {
        format!(
            "# Kubeconfig file for linkerd CNI plugin.\napiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    \
             server: https://[10.96.0.1]:443\n    certificate-authority-data: Zm9v\nusers:\n- name: linkerd-cni\n  user:\n    \
             token: \"{token}\"\ncontexts:\n- name: linkerd-cni-context\n  context:\n    cluster: local\n    \
             user: linkerd-cni\ncurrent-context: linkerd-cni-context\n"
        )
    }

    #[test]
    fn installer_kubeconfig_becomes_facts() {
        let secret = sample_token(&bound_token_payload(), "signature");
        let content = mk_kubeconfig(&secret);
        assert!(is_kubeconfig("x", content.as_bytes()));
        let facts = facts("/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig", content.as_bytes());
        assert_eq!(facts.parse_error, None);
        assert_eq!(facts.server.as_deref(), Some("https://[10.96.0.1]:443"));
        assert_eq!(facts.contexts, ["linkerd-cni-context"]);
        assert_eq!(facts.token_claims.as_ref().unwrap().pod_uid.as_deref(), Some("p-uid"));
        assert_eq!(facts.token_sha256_prefix, Some(token::sha256_prefix(secret.as_bytes())));
        assert_eq!(facts.insecure, Some(false));
        assert_eq!(facts.ca_sha256, Some(token::sha256_hex(b"foo")));
        assert!(!serde_json::to_string(&facts).unwrap().contains("eyJ"));
    }

    #[test]
    fn unreadable_file_has_a_position_and_no_quote() {
        let secret = sample_token(&bound_token_payload(), "signature");
        for broken in [format!("users: [{{token: {secret}"), format!("a: b: {secret}"), format!("users: {secret}")] {
            let facts = facts("/x", broken.as_bytes());
            let why = facts.parse_error.clone().unwrap();
            assert!(why.contains("line 1"), "{why}");
            assert!(!serde_json::to_string(&facts).unwrap().contains("eyJ"));
        }
        assert_eq!(facts("/x", b"\n").parse_error.as_deref(), Some("the file is empty"));
        assert_eq!(facts("/x", b"{}").parse_error.as_deref(), Some("no clusters, contexts or users in it"));
    }

    #[test]
    fn invalid_token_is_neither_shown_nor_hashed() {
        let facts = facts("/x", mk_kubeconfig("hunter2").as_bytes());
        assert_eq!((facts.token_present(), facts.token_sha256_prefix.as_deref()), (Some(true), None));
        assert_eq!(facts.token_error.as_deref(), Some("not three dot-joined parts"));
        let none = super::facts("/x", mk_kubeconfig("").as_bytes());
        assert_eq!(none.token_present(), Some(false));
    }
}
