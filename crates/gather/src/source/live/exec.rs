//! Credential plugins (`exec` in a kubeconfig): run once with a deadline; the result is stored as static credentials.
//! The client itself would run them three times, without a limit.
//!
//! Arguments and standard output of a plugin never appear in messages.

use std::time::Duration;

use base64::Engine;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::error::ConnectError;
use super::process::{NotRun, run};
use super::quote::{quote, quote_end};

/// Time limit of a plugin without interaction.
const DEADLINE: Duration = Duration::from_secs(30);
/// Time limit of a plugin with a login.
const DEADLINE_WITH_TERMINAL: Duration = Duration::from_secs(180);

/// Time limits of a plugin.
pub(super) struct Time {
    /// Overrides the default limit.
    pub(super) limit: Option<Duration>,
    /// Remaining time of the whole run.
    pub(super) left: Option<Duration>,
}

/// Content of KUBERNETES_EXEC_INFO and of the plugin's output.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecInfo<'a> {
    kind: &'static str,
    api_version: &'a str,
    spec: ExecSpec<'a>,
}

#[derive(Serialize)]
struct ExecSpec<'a> {
    interactive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a kube::config::ExecAuthCluster>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<ExecStatus>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ExecStatus {
    expiration_timestamp: Option<String>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Facts about a plugin, for later errors about its credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plugin {
    pub(super) command: String,
}

/// Runs the plugin, if there is one: replaces `exec` of `user` by its credentials.
pub(super) async fn resolve(user: &mut AuthInfo, terminal: bool, time: &Time) -> Result<Option<Plugin>, ConnectError> {
    let Some(exec) = user.exec.take() else { return Ok(None) };
    // Static credentials take precedence, as with kubectl.
    if user.token.is_some() || user.token_file.is_some() || user.username.is_some() {
        return Ok(None);
    }
    let command = exec.command.clone().unwrap_or_default();
    if command.is_empty() {
        return Err(ConnectError::Kubeconfig { what: "the user's exec section has no command".to_owned(), path: None });
    }
    let wants_terminal = !matches!(exec.interactive_mode, Some(ExecInteractiveMode::Never));
    if exec.interactive_mode == Some(ExecInteractiveMode::Always) && !terminal {
        return Err(ConnectError::ExecWantsTerminal { command });
    }
    let status = credentials(&exec, &command, terminal && wants_terminal, time).await?;
    let unreadable = |what: &str| ConnectError::ExecUnreadable { command: command.clone(), what: what.to_owned() };
    let encode = |pem: &str| base64::engine::general_purpose::STANDARD.encode(pem);
    let mut found = false;
    match (status.client_certificate_data.as_deref(), status.client_key_data.as_deref()) {
        (Some(certificate), Some(key)) => {
            user.client_certificate_data = Some(encode(certificate));
            user.client_key_data = Some(encode(key).into());
            found = true;
        }
        (None, None) => {}
        (Some(_), None) => return Err(unreadable("a client certificate without its key")),
        (None, Some(_)) => return Err(unreadable("a client key without its certificate")),
    }
    if let Some(token) = status.token.filter(|token| !token.is_empty()) {
        user.token = Some(token.into());
        found = true;
    }
    if !found {
        return Err(unreadable("neither a token nor a client certificate"));
    }
    if let Some(expiry) = status.expiration_timestamp.as_deref()
        && let Ok(expiry) = expiry.parse::<jiff::Timestamp>()
        && expiry < jiff::Timestamp::now()
    {
        return Err(ConnectError::ExecExpired { command, expiry: expiry.to_string() });
    }
    Ok(Some(Plugin { command }))
}

async fn credentials(exec: &ExecConfig, name: &str, terminal: bool, time: &Time) -> Result<ExecStatus, ConnectError> {
    let mut command = Command::new(name);
    command.args(exec.args.iter().flatten());
    for variable in exec.env.iter().flatten() {
        if let (Some(name), Some(value)) = (variable.get("name"), variable.get("value")) {
            command.env(name, value);
        }
    }
    let api_version = exec.api_version.as_deref().unwrap_or("client.authentication.k8s.io/v1beta1");
    let info = ExecInfo {
        kind: "ExecCredential",
        api_version,
        spec: ExecSpec { interactive: terminal, cluster: exec.cluster.as_ref().filter(|_| exec.provide_cluster_info) },
    };
    let command_name = || name.to_owned();
    let info = serde_json::to_string(&info)
        .map_err(|error| ConnectError::ExecNotStarted { command: command_name(), what: error.to_string() })?;
    command.env("KUBERNETES_EXEC_INFO", info);
    let usual = if terminal { DEADLINE_WITH_TERMINAL } else { DEADLINE };
    let deadline = time.left.into_iter().fold(time.limit.unwrap_or(usual), Duration::min);
    let ran = run(command, deadline, terminal).await.map_err(|error| match error {
        NotRun::Absent => ConnectError::ExecMissing {
            command: command_name(),
            hint: exec.install_hint.as_deref().map(|hint| quote(hint, 300)).filter(|hint| !hint.is_empty()),
        },
        NotRun::Failed(error) => {
            ConnectError::ExecNotStarted { command: command_name(), what: quote(&error.to_string(), 200) }
        }
        NotRun::TimedOut => ConnectError::ExecTimedOut { command: command_name(), seconds: deadline.as_secs() },
    })?;
    if !ran.status.success() {
        return Err(ConnectError::ExecFailed {
            command: command_name(),
            status: ran.status.to_string(),
            stderr: quote_end(&String::from_utf8_lossy(&ran.stderr), 300),
        });
    }
    let unreadable = |what: &str| ConnectError::ExecUnreadable { command: command_name(), what: what.to_owned() };
    // YAML includes JSON; kubectl accepts both. The parser's message would quote the input.
    let credential: ExecCredential =
        serde_saphyr::from_slice(&ran.stdout).map_err(|_| unreadable("something other than an ExecCredential"))?;
    if credential.kind.as_deref() != Some("ExecCredential") {
        return Err(unreadable("something other than an ExecCredential"));
    }
    if credential.api_version.as_deref() != Some(api_version) {
        return Err(unreadable(&format!(
            "an ExecCredential of {}, not of {api_version} as in the kubeconfig",
            quote(credential.api_version.as_deref().unwrap_or("no version"), 60)
        )));
    }
    credential.status.ok_or_else(|| unreadable("an ExecCredential without a status"))
}
