//! Why there is no cluster to ask: one line of cause (`Display`), one line of what to do ([`ConnectError::next_step`]).
//! No variant carries anything secret: what plugins and servers said has been through [`super::quote`].

use std::path::PathBuf;

use thiserror::Error;

/// Why there is no cluster to ask.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Neither a kubeconfig nor a pod's service account.
    #[error("no kubeconfig: there is nothing at {}, and this is not a pod", list(looked))]
    NoKubeconfig {
        /// Where one was looked for.
        looked: Vec<String>,
    },
    /// The kubeconfig that was named is not there.
    #[error("there is no kubeconfig {}", path.display())]
    NotThere {
        /// The file.
        path: PathBuf,
    },
    /// A kubeconfig, or a file that it names, cannot be read.
    #[error("{} cannot be read: {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says, or where in the file it stops making sense.
        what: String,
    },
    /// The kubeconfig is readable, but does not say what it must.
    #[error("the kubeconfig{} cannot be used: {what}", path.as_ref().map(|p| format!(" {}", p.display())).unwrap_or_default())]
    Kubeconfig {
        /// The file, where it is known which.
        path: Option<PathBuf>,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody said which context, and the kubeconfig has no current one.
    #[error("the kubeconfig has no current context")]
    NoContext {
        /// The contexts there are.
        known: Vec<String>,
    },
    /// The command line says how to reach a cluster, and nothing says which.
    #[error("nothing says which cluster: there is no kubeconfig, and no --server")]
    NoServer,
    /// There is no context of that name.
    #[error("no context is named {name:?}{}", did_you_mean(nearest))]
    UnknownContext {
        /// What was asked for.
        name: String,
        /// Whether it came from the command line, rather than from `current-context`.
        asked: bool,
        /// The nearest real name.
        nearest: Option<String>,
        /// The contexts there are.
        known: Vec<String>,
    },
    /// The context names a cluster or a user that the kubeconfig does not have.
    #[error(
        "context {context:?} names the {part} {name:?}, which the kubeconfig does not have{}",
        did_you_mean(nearest)
    )]
    UnknownPart {
        /// The context.
        context: String,
        /// `cluster` or `user`.
        part: &'static str,
        /// The name that leads nowhere.
        name: String,
        /// The nearest real name.
        nearest: Option<String>,
    },
    /// The command line names a cluster or a user that the kubeconfig does not have.
    #[error("no {part} of the kubeconfig is named {name:?}{}", did_you_mean(nearest))]
    UnknownName {
        /// `cluster` or `user`.
        part: &'static str,
        /// What was asked for.
        name: String,
        /// The nearest real name.
        nearest: Option<String>,
    },
    /// `--as-group` without anybody to be in that group.
    #[error("a group to act as was given, but no user")]
    GroupWithoutUser,
    /// A way of logging in that is not supported.
    #[error(
        "the kubeconfig's user logs in with auth-provider {name:?}, which kubectl has not supported since 1.26"
    )]
    AuthProvider {
        /// Its name.
        name: String,
    },
    /// The credential plugin is not installed.
    #[error("the credential plugin {command:?} that the kubeconfig names is not installed")]
    ExecMissing {
        /// The plugin.
        command: String,
        /// The kubeconfig's advice on how to install it.
        hint: Option<String>,
    },
    /// The credential plugin could not be started.
    #[error("the credential plugin {command:?} could not be started: {what}")]
    ExecNotStarted {
        /// The plugin.
        command: String,
        /// What the system says.
        what: String,
    },
    /// The credential plugin failed.
    #[error("the credential plugin {command:?} failed ({status}){}", after(stderr))]
    ExecFailed {
        /// The plugin.
        command: String,
        /// How it ended.
        status: String,
        /// Its last words, fit to be shown.
        stderr: String,
    },
    /// The credential plugin did not end.
    #[error("the credential plugin {command:?} gave no answer within {seconds} s")]
    ExecTimedOut {
        /// The plugin.
        command: String,
        /// How long it was given.
        seconds: u64,
    },
    /// The credential plugin insists on a terminal, and there is none.
    #[error("the credential plugin {command:?} needs a terminal, and there is none")]
    ExecWantsTerminal {
        /// The plugin.
        command: String,
    },
    /// The credential plugin's answer is not what it should be.
    #[error("the credential plugin {command:?} answered with {what}")]
    ExecUnreadable {
        /// The plugin.
        command: String,
        /// What it answered, in our words.
        what: String,
    },
    /// The credential plugin gave credentials of yesterday.
    #[error("the credential plugin {command:?} gave credentials that expired at {expiry}")]
    ExecExpired {
        /// The plugin.
        command: String,
        /// When they expired.
        expiry: String,
    },
    /// Nobody listens at the server's address.
    #[error("{server} refused the connection{}", through(proxy))]
    Refused {
        /// The API server.
        server: String,
        /// The proxy that leads there.
        proxy: Option<String>,
    },
    /// The way to the server is broken.
    #[error("{server} cannot be reached{}: {what}", through(proxy))]
    Unreachable {
        /// The API server.
        server: String,
        /// The proxy that leads there.
        proxy: Option<String>,
        /// What happened.
        what: String,
    },
    /// The proxy does not lead to the server.
    #[error("the proxy {proxy} does not connect to {server}: {what}")]
    Proxy {
        /// The API server.
        server: String,
        /// The proxy.
        proxy: String,
        /// What happened.
        what: String,
    },
    /// The server did not answer.
    #[error("{server} gave no answer{} within {seconds} s", through(proxy))]
    TimedOut {
        /// The API server.
        server: String,
        /// The proxy that leads there.
        proxy: Option<String>,
        /// How long was waited.
        seconds: u64,
    },
    /// The server's certificate is not trusted.
    #[error("the certificate of {server} is not trusted: {what}")]
    Certificate {
        /// The API server.
        server: String,
        /// Why.
        what: String,
    },
    /// TLS failed for another reason.
    #[error("{server} cannot be talked to: {what}")]
    Tls {
        /// The API server.
        server: String,
        /// Why.
        what: String,
    },
    /// The server does not know who we are.
    #[error("{server} does not accept the credentials of {user} (HTTP 401{})", after(message))]
    Unauthorized {
        /// The API server.
        server: String,
        /// Whose: the kubeconfig's user, or the service account.
        user: String,
        /// The server's own words.
        message: String,
        /// The credential plugin that gave them.
        plugin: Option<String>,
    },
    /// Something in between sends us elsewhere.
    #[error("{server} redirects to {location} (HTTP {status}) instead of answering")]
    Redirected {
        /// The API server.
        server: String,
        /// Where to: scheme and host.
        location: String,
        /// 301, 302, ...
        status: u16,
    },
    /// What answers is no Kubernetes API server.
    #[error("{server} does not answer like a Kubernetes API server: {what}")]
    NotKubernetes {
        /// The API server's supposed address.
        server: String,
        /// What came instead.
        what: String,
    },
    /// The server answers that it cannot answer.
    #[error("{server} does not work: {what}")]
    Unwell {
        /// The API server.
        server: String,
        /// Its status and words.
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

impl ConnectError {
    /// Whether what was typed is wrong (exit status 2), rather than the world (3).
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            ConnectError::UnknownContext { asked: true, .. }
                | ConnectError::UnknownName { .. }
                | ConnectError::GroupWithoutUser
        )
    }

    /// Whether there was a client: the kubeconfig was good enough to ask somebody.
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

    /// What to do about it: a sentence that starts with a verb.
    pub fn next_step(&self) -> String {
        match self {
            ConnectError::NoKubeconfig { .. } => {
                "give one with --kubeconfig FILE or $KUBECONFIG, or judge a capture: --bundle FILE".to_owned()
            }
            ConnectError::NotThere { .. } => {
                "give one that is there: --kubeconfig FILE; where a Secret brings it into a pod, see that the Secret and its key exist"
                    .to_owned()
            }
            ConnectError::Unreadable { .. } | ConnectError::Kubeconfig { .. } => {
                "repair the kubeconfig (kubectl config view shows what it holds), or give another: --kubeconfig FILE"
                    .to_owned()
            }
            ConnectError::NoContext { known } => {
                format!("say which: --context NAME, or kubectl config use-context NAME; {}", contexts(known))
            }
            ConnectError::NoServer => "give --server URL, or a kubeconfig with --kubeconfig FILE".to_owned(),
            ConnectError::UnknownContext { asked: true, known, .. } => {
                format!("give a context of the kubeconfig; {}", contexts(known))
            }
            ConnectError::UnknownContext { asked: false, known, .. } => format!(
                "set another current context (kubectl config use-context NAME), or give --context NAME; {}",
                contexts(known)
            ),
            ConnectError::UnknownPart { part, .. } => format!(
                "add the {part} to the kubeconfig, or correct the context (kubectl config set-context NAME --{part}=...)"
            ),
            ConnectError::UnknownName { part, .. } => {
                format!("give a {part} that kubectl config view shows")
            }
            ConnectError::GroupWithoutUser => "add --as USER".to_owned(),
            ConnectError::AuthProvider { name } => match name.as_str() {
                "gcp" => "install gke-gcloud-auth-plugin and run gcloud container clusters get-credentials again"
                    .to_owned(),
                "azure" => "install kubelogin and run kubelogin convert-kubeconfig".to_owned(),
                _ => "use a credential plugin (exec) instead".to_owned(),
            },
            ConnectError::ExecMissing { hint: Some(hint), .. } => format!("install it: {hint}"),
            ConnectError::ExecMissing { hint: None, .. } => {
                "install it, or put it on PATH; kubectl needs it as well".to_owned()
            }
            ConnectError::ExecNotStarted { command, .. }
            | ConnectError::ExecFailed { command, .. }
            | ConnectError::ExecUnreadable { command, .. }
            | ConnectError::ExecExpired { command, .. } => {
                format!("log in again with {command}'s own login, and try: kubectl version")
            }
            ConnectError::ExecTimedOut { command, .. } => format!(
                "try kubectl version: if that waits too, {command} waits for something (a login, a network, a lock)"
            ),
            ConnectError::ExecWantsTerminal { .. } => {
                "run it in a terminal, or use a kubeconfig with a token for unattended runs".to_owned()
            }
            ConnectError::Refused { .. } | ConnectError::Unreachable { .. } => {
                "check that the cluster runs and that its address in the kubeconfig is right (kubectl cluster-info); behind a VPN, connect first"
                    .to_owned()
            }
            ConnectError::Proxy { .. } => {
                "check the proxy (HTTPS_PROXY, or proxy-url in the kubeconfig); to connect without it, add the server's host to NO_PROXY"
                    .to_owned()
            }
            ConnectError::TimedOut { .. } => {
                "check VPN, firewall and proxy, or wait longer: --request-timeout 2m, and a longer --timeout where it is given".to_owned()
            }
            ConnectError::Certificate { .. } => {
                "fetch the kubeconfig again from where the cluster was made; its certificate-authority-data must be that of this cluster"
                    .to_owned()
            }
            ConnectError::Tls { .. } => {
                "check scheme, host and port of the server in the kubeconfig, and its client certificate".to_owned()
            }
            ConnectError::Unauthorized { plugin: Some(command), .. } => {
                format!("log in again ({command} answered, but with credentials that this cluster does not take)")
            }
            ConnectError::Unauthorized { plugin: None, .. } => {
                "log in again or fetch the kubeconfig again: its token or certificate has expired or was revoked"
                    .to_owned()
            }
            ConnectError::Redirected { .. } => {
                "log in to the proxy or gateway in between, or use the API server's own address in the kubeconfig"
                    .to_owned()
            }
            ConnectError::NotKubernetes { .. } => {
                "check the server's address in the kubeconfig, and any proxy in between (HTTPS_PROXY, proxy-url)"
                    .to_owned()
            }
            ConnectError::Unwell { .. } => {
                "try again when the API server answers: kubectl get --raw /readyz".to_owned()
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
