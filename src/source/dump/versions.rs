//! Which version the API server is of, as the tools that people have print or keep it.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// What `kubectl version` and `/version` print.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Versions {
    server_version: Option<Value>,
    client_version: Option<IgnoredAny>,
    git_version: Option<String>,
    platform: Option<String>,
    /// As Replicated's troubleshoot keeps it.
    info: Option<Value>,
}

/// What a file says of versions.
pub(super) enum Answer {
    /// What the API server's `/version` said.
    Server(Value),
    /// `kubectl version` of somebody who did not reach it.
    KubectlAlone,
}

impl Answer {
    /// `None` where it is about something else.
    pub(super) fn of(json: &[u8]) -> Option<Answer> {
        let said: Versions = serde_json::from_slice(json).ok()?;
        if let Some(server) = said.server_version {
            return Some(Answer::Server(server));
        }
        if said.git_version.is_some() && said.platform.is_some() {
            return serde_json::from_slice(json).ok().map(Answer::Server);
        }
        match said.info {
            Some(info) if info["gitVersion"].is_string() && info["platform"].is_string() => {
                Some(Answer::Server(info))
            }
            _ => said.client_version.map(|_| Answer::KubectlAlone),
        }
    }
}
