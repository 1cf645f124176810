//! Users of a cluster and the files that name them, with one context or several.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use serde_json::{Value, json};

use super::Api;

/// The user with all rights.
pub const ADMIN: &str = "admin";

/// A user at a server, as a kubeconfig names them.
#[derive(Debug, Clone)]
pub struct Context {
    server: String,
    authority: String,
    token: String,
}

impl Context {
    /// The user at the server of this address.
    pub fn new(url: &str, authority: &str, user: &str) -> Context {
        Context { server: url.to_owned(), authority: authority.to_owned(), token: token(user) }
    }

    /// A user with this token, at the same server.
    pub fn signed(&self, token: &str) -> Context {
        Context { token: token.to_owned(), ..self.clone() }
    }

    /// The server as this user sees it.
    pub fn api(&self) -> Api {
        Api::new(&self.server, Some(self.authority.as_bytes()), Some(&self.token))
    }
}

/// Writes a kubeconfig with these contexts, by name; the first is the current one.
pub fn write_kubeconfig(path: &Path, contexts: &[(&str, Context)]) {
    let each = |part: &dyn Fn(&str, &Context) -> Value| -> Vec<Value> {
        contexts.iter().map(|(name, context)| part(name, context)).collect()
    };
    let clusters = each(&|name, context| {
        let authority = base64::engine::general_purpose::STANDARD.encode(&context.authority);
        let mut cluster = json!({ "server": context.server });
        if context.server.starts_with("https:") {
            cluster["certificate-authority-data"] = json!(authority);
        }
        json!({ "name": name, "cluster": cluster })
    });
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": contexts[0].0,
        "clusters": clusters,
        "users": each(&|name, context| json!({ "name": name, "user": { "token": context.token } })),
        "contexts": each(&|name, _| json!({ "name": name, "context": { "cluster": name, "user": name } })),
    });
    fs::write(path, serde_json::to_string_pretty(&config).unwrap()).unwrap();
}

/// The token that the server knows this user by.
pub fn token(user: &str) -> String {
    format!("token-of-{user}")
}
