//! The version of the API server, in the formats of various tools.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// Output of `kubectl version` and `/version`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Versions {
    server_version: Option<Value>,
    client_version: Option<IgnoredAny>,
    git_version: Option<String>,
    platform: Option<String>,
    /// Format of Replicated's troubleshoot.
    info: Option<Value>,
}

/// The versions in a file.
pub(super) enum VersionsFile {
    /// Response of the API server's `/version`.
    Server(Value),
    /// Output of `kubectl version` without access to the API server.
    KubectlAlone,
}

impl VersionsFile {
    /// `None` if the file has other content.
    pub(super) fn parse(json: &[u8]) -> Option<VersionsFile> {
        let said: Versions = serde_json::from_slice(json).ok()?;
        if let Some(server) = said.server_version {
            return Some(VersionsFile::Server(server));
        }
        if said.git_version.is_some() && said.platform.is_some() {
            return serde_json::from_slice(json).ok().map(VersionsFile::Server);
        }
        match said.info {
            Some(info) if info["gitVersion"].is_string() && info["platform"].is_string() => {
                Some(VersionsFile::Server(info))
            }
            _ => said.client_version.map(|_| VersionsFile::KubectlAlone),
        }
    }
}
