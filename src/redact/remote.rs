//! What passes the border of the kubeconfig with which a link reaches another cluster: whether it can be read, whether its
//! context is there, and the address it leads to. Its tokens, keys and certificates do not.

use serde::{Deserialize, Serialize};

use crate::model::node::kubeconfig_facts;
use crate::model::objects::Meta;

/// Annotation of a redacted Secret: what its kubeconfig says of itself, as JSON.
pub const KUBECONFIG: &str = "meshdoctor.io/kubeconfig";
/// The entry of the Secret.
pub(super) const ENTRY: &str = "kubeconfig";

/// What is kept of a link's kubeconfig.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct RemoteAccess {
    /// Why it could not be read; the rest is then unknown. Quotes nothing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Scheme, host and port of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether its current context is one of its contexts.
    pub context: bool,
}

impl RemoteAccess {
    /// Reads a raw kubeconfig; `None`: the Secret has none.
    pub(super) fn read(kubeconfig: Option<&[u8]>) -> RemoteAccess {
        let Some(kubeconfig) = kubeconfig else {
            return RemoteAccess { error: Some(format!("no entry {ENTRY}")), ..RemoteAccess::default() };
        };
        let facts = kubeconfig_facts("", kubeconfig);
        if let Some(error) = facts.parse_error {
            return RemoteAccess { error: Some(error), ..RemoteAccess::default() };
        }
        RemoteAccess {
            error: None,
            server: facts.server.as_deref().and_then(address),
            context: facts.current_context.is_some_and(|current| facts.contexts.contains(&current)),
        }
    }

    /// What a redacted Secret says; `None` when it says nothing.
    pub fn of(secret: &Meta) -> Option<RemoteAccess> {
        serde_json::from_str(secret.annotation(KUBECONFIG)?).ok()
    }

    /// Whether a client could begin to use it.
    pub fn is_usable(&self) -> bool {
        self.error.is_none() && self.server.is_some() && self.context
    }

    /// What is wrong with it, in words; where nothing is, where it leads.
    pub fn in_words(&self) -> String {
        match (&self.error, &self.server) {
            (Some(error), _) => error.clone(),
            (None, None) => "no address of an API server".to_owned(),
            (None, Some(_)) if !self.context => "its current context is none of its contexts".to_owned(),
            (None, Some(server)) => server.clone(),
        }
    }
}

/// Scheme, host and port of an address, and nothing that could be a secret.
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
    use super::*;

    const GOOD: &str = "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: east, cluster: {server: \
        'https://u:canary@10.1.0.1:6443/path?token=canary'}}]\ncontexts: [{name: c, context: {cluster: east, user: u}}]\n\
        users: [{name: u, user: {token: canary}}]\n";

    #[test]
    fn only_the_address_is_kept() {
        let access = RemoteAccess::read(Some(GOOD.as_bytes()));
        assert!(access.is_usable(), "{access:?}");
        assert_eq!(access.server.as_deref(), Some("https://10.1.0.1:6443"));
        let text = serde_json::to_string(&access).expect("plain data");
        assert!(!text.contains("canary"), "{text}");
    }

    #[test]
    fn what_no_client_could_use_says_why() {
        for (text, said) in [
            ("", "the file is empty"),
            ("canary: [", "not a kubeconfig"),
            ("canary: canary\n", "no clusters, contexts or users in it"),
            (
                &GOOD.replace("current-context: c", "current-context: canary"),
                "its current context is none of its contexts",
            ),
            (&GOOD.replace("https://u:", "canary://u:"), "no address of an API server"),
        ] {
            let access = RemoteAccess::read(Some(text.as_bytes()));
            assert!(!access.is_usable(), "{text}");
            assert!(access.in_words().starts_with(said), "{text}: {}", access.in_words());
            assert!(!access.in_words().contains("canary"), "{text}: {}", access.in_words());
        }
        assert_eq!(RemoteAccess::read(None).in_words(), "no entry kubeconfig");
    }
}
