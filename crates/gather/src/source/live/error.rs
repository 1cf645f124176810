//! Connection errors: the cause (`Display`) and the next step ([`ConnectError::next_step`]), one line each. No variant
//! contains secrets: messages of plugins and servers have passed [`super::quote`].

use std::path::PathBuf;

use thiserror::Error;

/// Reason why there is no connection to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Neither a kubeconfig nor a pod's service account.
    #[error("no kubeconfig at {}, and meshdoctor does not run in a pod", list(looked))]
    NoKubeconfig {
        /// Paths that were searched.
        looked: Vec<String>,
    },
    /// The named kubeconfig does not exist.
    #[error("the kubeconfig {} does not exist", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
    },
    /// A kubeconfig, or a file that it refers to, cannot be read.
    #[error("{} cannot be read: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the system, or position of the syntax error.
        what: String,
    },
    /// The kubeconfig is readable but incomplete or invalid.
    #[error(
        "the kubeconfig{} cannot be used: {what}",
        path.as_ref().map(|p| format!(" {}", p.display())).unwrap_or_default()
    )]
    Kubeconfig {
        /// The file, if known.
        path: Option<PathBuf>,
        /// The error.
        what: String,
    },
    /// No context was given, and the kubeconfig has no current one.
    #[error("the kubeconfig has no current context")]
    NoContext {
        /// Existing contexts.
        known: Vec<String>,
    },
    /// Connection flags were given without a cluster.
    #[error("no cluster is selected: there is no kubeconfig and no --server")]
    NoServer,
    /// The context does not exist.
    #[error("the context {name:?} does not exist{}", did_you_mean(nearest))]
    UnknownContext {
        /// The requested name.
        name: String,
        /// Whether it came from the command line rather than from `current-context`.
        asked: bool,
        /// The most similar existing name.
        nearest: Option<String>,
        /// Existing contexts.
        known: Vec<String>,
    },
    /// The context refers to a cluster or user that is missing from the kubeconfig.
    #[error(
        "context {context:?} refers to the {part} {name:?}, which is missing from the kubeconfig{}",
        did_you_mean(nearest)
    )]
    UnknownPart {
        context: String,
        /// `cluster` or `user`.
        part: &'static str,
        /// The missing name.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
    },
    /// The command line names a cluster or user that is missing from the kubeconfig.
    #[error("the kubeconfig has no {part} {name:?}{}", did_you_mean(nearest))]
    UnknownName {
        /// `cluster` or `user`.
        part: &'static str,
        /// The requested name.
        name: String,
        /// The most similar existing name.
        nearest: Option<String>,
    },
    /// `--as-group` without `--as`.
    #[error("--as-group needs a user to impersonate")]
    GroupWithoutUser,
    /// An unsupported login method.
    #[error(
        "the kubeconfig's user logs in with auth-provider {name:?}, which kubectl has not supported \
         since 1.26"
    )]
    AuthProvider { name: String },
    /// The credential plugin is not installed.
    #[error("the credential plugin {command:?} that the kubeconfig names is not installed")]
    ExecMissing {
        /// The plugin.
        command: String,
        /// Installation hint of the kubeconfig.
        hint: Option<String>,
    },
    /// The credential plugin could not be started.
    #[error("the credential plugin {command:?} could not be started: {what}")]
    ExecNotStarted {
        /// The plugin.
        command: String,
        /// Error of the system.
        what: String,
    },
    /// The credential plugin failed.
    #[error("the credential plugin {command:?} failed ({status}){}", after(stderr))]
    ExecFailed {
        /// The plugin.
        command: String,
        /// Its exit status.
        status: String,
        /// The end of its error output, redacted.
        stderr: String,
    },
    /// The credential plugin timed out.
    #[error("the credential plugin {command:?} did not finish within {seconds} s")]
    ExecTimedOut {
        /// The plugin.
        command: String,
        /// Time limit.
        seconds: u64,
    },
    /// The credential plugin needs a terminal, and there is none.
    #[error("the credential plugin {command:?} needs a terminal, but there is none")]
    ExecWantsTerminal {
        /// The plugin.
        command: String,
    },
    /// The output of the credential plugin is invalid.
    #[error("the credential plugin {command:?} returned {what}")]
    ExecUnreadable {
        /// The plugin.
        command: String,
        /// Description of its output.
        what: String,
    },
    /// The credential plugin returned expired credentials.
    #[error("the credential plugin {command:?} returned credentials that expired at {expiry}")]
    ExecExpired {
        /// The plugin.
        command: String,
        /// Time of expiry.
        expiry: String,
    },
    /// The connection was refused.
    #[error("{server} refused the connection{}", through(proxy))]
    Refused {
        /// The API server.
        server: String,
        /// The proxy, if any.
        proxy: Option<String>,
    },
    /// The server is unreachable.
    #[error("{server} is unreachable{}: {what}", through(proxy))]
    Unreachable {
        /// The API server.
        server: String,
        /// The proxy, if any.
        proxy: Option<String>,
        /// The error.
        what: String,
    },
    /// The proxy does not connect to the server.
    #[error("the proxy {proxy} does not connect to {server}: {what}")]
    Proxy {
        /// The API server.
        server: String,
        proxy: String,
        /// The error.
        what: String,
    },
    /// The server did not respond.
    #[error("{server} did not respond{} within {seconds} s", through(proxy))]
    TimedOut {
        /// The API server.
        server: String,
        /// The proxy, if any.
        proxy: Option<String>,
        /// Time limit.
        seconds: u64,
    },
    /// The server's certificate is not trusted.
    #[error("the certificate of {server} is not trusted: {what}")]
    Certificate {
        /// The API server.
        server: String,
        /// The reason.
        what: String,
    },
    /// TLS failed for another reason.
    #[error("TLS connection to {server} failed: {what}")]
    Tls {
        /// The API server.
        server: String,
        /// The reason.
        what: String,
    },
    /// The server rejects the credentials.
    #[error("{server} rejects the credentials of {user} (HTTP 401{})", after(message))]
    Unauthorized {
        /// The API server.
        server: String,
        /// Owner of the credentials: the kubeconfig's user, or the service account.
        user: String,
        /// The server's message.
        message: String,
        /// The credential plugin, if any.
        plugin: Option<String>,
    },
    /// A redirect to another address.
    #[error("{server} redirects to {location} (HTTP {status})")]
    Redirected {
        /// The API server.
        server: String,
        /// Target: scheme and host.
        location: String,
        /// 301, 302, ...
        status: u16,
    },
    /// The server is not a Kubernetes API server.
    #[error("{server} does not respond like a Kubernetes API server: {what}")]
    NotKubernetes {
        /// Assumed address of the API server.
        server: String,
        /// The actual response.
        what: String,
    },
    /// The server reports an error of its own.
    #[error("{server} does not work: {what}")]
    Unwell {
        /// The API server.
        server: String,
        /// Its status and message.
        what: String,
    },
}

fn list(names: &[String]) -> String {
    match names {
        [] => "any of the usual places".to_owned(),
        names => names.join(", "),
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

fn after(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}

fn through(proxy: &Option<String>) -> String {
    proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default()
}

// Next steps that are the same for every error of their kind.
const GIVE_EXISTING_FILE: &str = "give an existing file with --kubeconfig FILE; if a Secret provides it to a \
                                  pod, check that the Secret and its key exist";
const REPAIR_KUBECONFIG: &str =
    "repair the kubeconfig (kubectl config view shows it), or give another one with --kubeconfig FILE";
const CHECK_CLUSTER: &str = "check that the cluster runs and that its address in the kubeconfig is correct \
                             (kubectl cluster-info); connect to the VPN if it needs one";
const CHECK_PROXY: &str = "check the proxy (HTTPS_PROXY, or proxy-url in the kubeconfig); to connect without \
                           it, add the server's host to NO_PROXY";
const CHECK_NETWORK: &str =
    "check VPN, firewall and proxy, or raise the limits: --request-timeout 2m, and --timeout if given";
const DOWNLOAD_KUBECONFIG: &str =
    "download the kubeconfig of this cluster again; its certificate-authority-data must match";
const CHECK_SERVER: &str = "check scheme, host and port of the server in the kubeconfig, and its client certificate";
const LOG_IN_AGAIN: &str =
    "log in again or download the kubeconfig again: its token or certificate has expired or was revoked";
const LOG_IN_TO_PROXY: &str = "log in to the proxy or gateway, or use the API server's own address in the kubeconfig";
const CHECK_ADDRESS: &str =
    "check the server's address in the kubeconfig, and the proxy settings (HTTPS_PROXY, proxy-url)";

impl ConnectError {
    /// Whether the command line is wrong (exit status 2) rather than the environment (3).
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            ConnectError::UnknownContext { asked: true, .. }
                | ConnectError::UnknownName { .. }
                | ConnectError::GroupWithoutUser
        )
    }

    /// Whether a client could be built, so that the kubeconfig was usable.
    pub fn had_client(&self) -> bool {
        !matches!(
            self,
            ConnectError::NoKubeconfig { .. }
                | ConnectError::NotThere { .. }
                | ConnectError::Unreadable { .. }
                | ConnectError::Kubeconfig { .. }
                | ConnectError::NoContext { .. }
                | ConnectError::NoServer
                | ConnectError::UnknownContext { .. }
                | ConnectError::UnknownPart { .. }
                | ConnectError::GroupWithoutUser
                | ConnectError::AuthProvider { .. }
        )
    }

    /// The next step: a sentence that starts with a verb.
    pub fn next_step(&self) -> String {
        match self {
            ConnectError::NoKubeconfig { .. } => {
                "give one with --kubeconfig FILE or $KUBECONFIG, or check a bundle: --bundle FILE".to_owned()
            }
            ConnectError::NotThere { .. } => GIVE_EXISTING_FILE.to_owned(),
            ConnectError::Unreadable { .. } | ConnectError::Kubeconfig { .. } => REPAIR_KUBECONFIG.to_owned(),
            ConnectError::NoContext { known } => {
                format!("select one with --context NAME or kubectl config use-context NAME; {}", contexts(known))
            }
            ConnectError::NoServer => "give --server URL or --kubeconfig FILE".to_owned(),
            ConnectError::UnknownContext { asked: true, known, .. } => {
                format!("give a context of the kubeconfig; {}", contexts(known))
            }
            ConnectError::UnknownContext { asked: false, known, .. } => format!(
                "set another current context (kubectl config use-context NAME), or give --context NAME; {}",
                contexts(known)
            ),
            ConnectError::UnknownPart { part, .. } => format!(
                "add the {part} to the kubeconfig, or correct the context (kubectl config set-context NAME \
                 --{part}=...)"
            ),
            ConnectError::UnknownName { part, .. } => {
                format!("use a {part} that kubectl config view shows")
            }
            ConnectError::GroupWithoutUser => "add --as USER".to_owned(),
            ConnectError::AuthProvider { name } => match name.as_str() {
                "gcp" => {
                    "install gke-gcloud-auth-plugin and run gcloud container clusters get-credentials again".to_owned()
                }
                "azure" => "install kubelogin and run kubelogin convert-kubeconfig".to_owned(),
                _ => "use a credential plugin (exec) instead".to_owned(),
            },
            ConnectError::ExecMissing { hint: Some(hint), .. } => format!("install it: {hint}"),
            ConnectError::ExecMissing { hint: None, .. } => {
                "install it, or add it to PATH; kubectl also needs it".to_owned()
            }
            ConnectError::ExecNotStarted { command, .. }
            | ConnectError::ExecFailed { command, .. }
            | ConnectError::ExecUnreadable { command, .. }
            | ConnectError::ExecExpired { command, .. } => {
                format!("log in again with {command}, then try kubectl version")
            }
            ConnectError::ExecTimedOut { command, .. } => format!(
                "try kubectl version: if it also hangs, {command} is waiting (for a login, a network or a \
                 lock)"
            ),
            ConnectError::ExecWantsTerminal { .. } => {
                "run it in a terminal, or use a kubeconfig with a token for unattended runs".to_owned()
            }
            ConnectError::Refused { .. } | ConnectError::Unreachable { .. } => CHECK_CLUSTER.to_owned(),
            ConnectError::Proxy { .. } => CHECK_PROXY.to_owned(),
            ConnectError::TimedOut { .. } => CHECK_NETWORK.to_owned(),
            ConnectError::Certificate { .. } => DOWNLOAD_KUBECONFIG.to_owned(),
            ConnectError::Tls { .. } => CHECK_SERVER.to_owned(),
            ConnectError::Unauthorized { plugin: Some(command), .. } => {
                format!("log in again ({command} returned credentials that this cluster rejects)")
            }
            ConnectError::Unauthorized { plugin: None, .. } => LOG_IN_AGAIN.to_owned(),
            ConnectError::Redirected { .. } => LOG_IN_TO_PROXY.to_owned(),
            ConnectError::NotKubernetes { .. } => CHECK_ADDRESS.to_owned(),
            ConnectError::Unwell { .. } => {
                "try again when the API server is ready: kubectl get --raw /readyz".to_owned()
            }
        }
    }
}

fn contexts(known: &[String]) -> String {
    match known {
        [] => "it has none".to_owned(),
        known => format!("it has {}", known.join(", ")),
    }
}
