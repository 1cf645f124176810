//! Connects to an API server: finds the configuration, gets credentials once, and requests `/version`, so that
//! connection problems are reported once rather than for every item.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, StatusCode, header};
use kube::config::{AuthInfo, Config};

use super::api_client::{ApiClient, RequestError};
use super::call::Call;
use super::cli::Cli;
use super::connection_lost::ConnectionError;
use super::error::ConnectError;
use super::overrides::ConnectionOverrides;
use super::quote::quote;
use super::traffic::{Ledger, Meter, Traffic};
use super::{Live, exec, fetch_error, kubeconfig};
use crate::fetched::Why;

/// Maximum size of `/version`.
const VERSION_BODY: usize = 64 * 1024;
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Connection options, named after kubectl's flags.
#[derive(Debug, Clone)]
pub struct Connect {
    /// `--kubeconfig`; else `$KUBECONFIG`, `~/.kube/config`, or the service account of this pod.
    pub kubeconfig: Option<PathBuf>,
    /// `--context`; else the current one.
    pub context: Option<String>,
    /// `--cluster`; else the context's.
    pub cluster: Option<String>,
    /// `--user`; else the context's.
    pub user: Option<String>,
    /// Overrides of the kubeconfig.
    pub overrides: ConnectionOverrides,
    /// `--as`.
    pub as_user: Option<String>,
    /// `--as-group`.
    pub as_groups: Vec<String>,
    /// `--request-timeout`: maximum time for a response; one that arrives steadily may take four times
    /// as long in total. Zero means no limit, as with kubectl.
    pub request_timeout: Duration,
    /// `--disable-compression`: request uncompressed responses; the kubeconfig can also set it.
    pub disable_compression: bool,
    /// The User-Agent header. The API server pretty-prints JSON for agents like curl or a browser, which is slower.
    pub user_agent: String,
    /// Source of the version of the operator's CLI (`--linkerd-cli`).
    pub cli: Cli,
    /// Deadline of the whole run (`--timeout`); see [`Live::with_deadline`].
    pub deadline: Option<Instant>,
    /// Whether a credential plugin may use the terminal.
    pub terminal: bool,
    /// Time limit of a credential plugin; `None` means 30 s, or 3 min if it may use the terminal.
    pub exec_timeout: Option<Duration>,
    /// Whether lists of large kinds may come from the API server's watch cache: cheaper, and at worst seconds old.
    pub from_cache: bool,
    /// Receiver for the announcement of the first long pause.
    pub notice: fn(&str),
}

impl Default for Connect {
    fn default() -> Connect {
        Connect {
            kubeconfig: None,
            context: None,
            cluster: None,
            user: None,
            overrides: ConnectionOverrides::default(),
            as_user: None,
            as_groups: Vec::new(),
            request_timeout: Duration::from_secs(30),
            disable_compression: false,
            user_agent: concat!("meshdoctor/", env!("CARGO_PKG_VERSION")).to_owned(),
            cli: Cli::default(),
            deadline: None,
            terminal: std::io::stdin().is_terminal() && std::io::stderr().is_terminal(),
            exec_timeout: None,
            from_cache: false,
            notice: |_| (),
        }
    }
}

/// The connection's parts, for error messages.
struct Target {
    /// Scheme, host and port of the server.
    server: String,
    /// Host and port of the proxy, if any.
    proxy: Option<String>,
    /// Owner of the credentials.
    user: String,
    plugin: Option<String>,
}

impl Live {
    /// Connects, and requests the API server's version.
    ///
    /// # Errors
    /// There is no reachable cluster; the error has cause and next step.
    pub async fn connect(connect: Connect) -> Result<Live, ConnectError> {
        // The only built-in cryptography; another part of the process may have installed it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let started = Instant::now();
        let (context, user, mut config) = find(&connect)?;
        impersonate(&mut config.auth_info, &connect)?;
        let left = connect.deadline.map(|deadline| deadline.saturating_duration_since(started));
        let time = exec::Time { limit: connect.exec_timeout, left };
        let plugin = exec::resolve(&mut config.auth_info, connect.terminal, &time).await?;
        let silence = Some(connect.request_timeout).filter(|timeout| !timeout.is_zero());
        let gzip = !(connect.disable_compression || config.disable_compression);
        prepare(&mut config, &connect, silence)?;
        let target = Target {
            server: origin(&config.cluster_url),
            proxy: config.proxy_url.as_ref().map(origin),
            user,
            plugin: plugin.map(|plugin| plugin.command),
        };
        let client = kube::Client::try_from(config)
            .map_err(|error| ConnectError::Kubeconfig { path: None, what: quote(&error.to_string(), 300) })?;
        let api = ApiClient::new(client, silence, gzip).with_cache(connect.from_cache).with_notice(connect.notice);
        let api = Arc::new(api);
        let meter = Meter::default();
        let version = match connect.deadline {
            None => target.version(&api, &meter).await?,
            Some(deadline) => {
                let version = tokio::time::timeout_at(deadline.into(), target.version(&api, &meter));
                version.await.map_err(|_| {
                    target.failed(RequestError::TimedOut {
                        seconds: deadline.saturating_duration_since(started).as_secs().max(1),
                    })
                })??
            }
        };
        Ok(Live {
            api,
            context,
            server: target.server,
            cli: connect.cli,
            version,
            deadline: connect.deadline,
            probing: false,
            started,
            greeting: meter.read(started.elapsed()),
            ledger: Ledger::default(),
        })
    }
}

/// Contexts of the kubeconfig, in order.
///
/// # Errors
/// The kubeconfig cannot be read.
pub fn contexts(kubeconfig: Option<&std::path::Path>) -> Result<Vec<String>, ConnectError> {
    let variable = std::env::var_os("KUBECONFIG");
    let home = std::env::home_dir();
    let places = kubeconfig::places(kubeconfig, variable.as_deref(), home.as_deref());
    let merged = kubeconfig::read(&places, kubeconfig.is_some())?;
    Ok(merged.map_or_else(Vec::new, |config| config.contexts.into_iter().map(|context| context.name).collect()))
}

/// The default context; `None` if there is none or the kubeconfig cannot be read.
pub fn current_context(kubeconfig: Option<&std::path::Path>) -> Option<String> {
    let variable = std::env::var_os("KUBECONFIG");
    let home = std::env::home_dir();
    let places = kubeconfig::places(kubeconfig, variable.as_deref(), home.as_deref());
    kubeconfig::read(&places, kubeconfig.is_some()).ok()??.current_context
}

/// Name of the context, owner of its credentials, and client configuration.
fn find(connect: &Connect) -> Result<(String, String, Config), ConnectError> {
    let variable = std::env::var_os("KUBECONFIG");
    let home = std::env::home_dir();
    let places = kubeconfig::places(connect.kubeconfig.as_deref(), variable.as_deref(), home.as_deref());
    let merged = kubeconfig::read(&places, connect.kubeconfig.is_some())?;
    // An empty kubeconfig counts as missing, unless it was named.
    let asked = kubeconfig::KubeconfigSelection {
        context: connect.context.as_deref(),
        cluster: connect.cluster.as_deref(),
        user: connect.user.as_deref(),
    };
    let chosen = connect.kubeconfig.is_some() || asked != kubeconfig::KubeconfigSelection::default();
    let merged = merged.filter(|config| chosen || !config.contexts.is_empty());
    let picked = match merged.map(|config| kubeconfig::pick(config, asked)) {
        // Without context and user, the address is sufficient.
        None | Some(Err(ConnectError::NoContext { .. }))
            if asked.user.is_none() && connect.overrides.server.is_some() =>
        {
            connect.overrides.without_kubeconfig()
        }
        None => None,
        Some(picked) => Some(picked?),
    };
    match picked {
        Some(mut picked) => {
            connect.overrides.over(&mut picked);
            let config = kubeconfig::configure(&picked.cluster, picked.user, |name| std::env::var(name).ok())?;
            let user = match picked.user_name {
                Some(name) if connect.overrides.token.is_some() => format!("the token {name}"),
                Some(name) => format!("user {name:?}"),
                None => "no user (the context names none)".to_owned(),
            };
            Ok((picked.context, user, config))
        }
        None if !connect.overrides.is_empty() => Err(ConnectError::NoServer),
        None => {
            let Ok(mut config) = Config::incluster() else {
                return Err(ConnectError::NoKubeconfig {
                    looked: places.iter().map(|path| path.display().to_string()).collect(),
                });
            };
            // Read once: the run is shorter than a token's lifetime.
            let token = Path::new(SERVICE_ACCOUNT).join("token");
            let text = std::fs::read_to_string(&token)
                .map_err(|error| ConnectError::Unreadable { path: token, what: quote(&error.to_string(), 200) })?;
            config.auth_info.token_file = None;
            config.auth_info.token = Some(text.trim().to_owned().into());
            Ok(("in-cluster".to_owned(), "this pod's service account".to_owned(), config))
        }
    }
}

fn impersonate(user: &mut AuthInfo, connect: &Connect) -> Result<(), ConnectError> {
    if let Some(name) = &connect.as_user {
        user.impersonate = Some(name.clone());
    }
    if !connect.as_groups.is_empty() {
        if user.impersonate.is_none() {
            return Err(ConnectError::GroupWithoutUser);
        }
        user.impersonate_groups = Some(connect.as_groups.clone());
    }
    Ok(())
}

/// Disables built-in behavior of the client: long retries, no time limit, decompression before bytes are counted.
fn prepare(config: &mut Config, connect: &Connect, silence: Option<Duration>) -> Result<(), ConnectError> {
    config.default_retry = false;
    config.disable_compression = true;
    // Only a fallback: the own limit is shorter.
    config.read_timeout = silence.map(|silence| silence * 2);
    config.reset_reader_on_write = true;
    config.connect_timeout = silence;
    let agent = HeaderValue::from_str(&connect.user_agent).map_err(|_| ConnectError::Kubeconfig {
        path: None,
        what: "the user agent is not a valid header value".to_owned(),
    })?;
    config.headers.push((header::USER_AGENT, agent));
    Ok(())
}

/// Scheme, host and port, without user name, password and path.
fn origin(uri: &http::Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or("https");
    let host = uri.host().unwrap_or_default();
    match uri.port_u16() {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    }
}

impl Target {
    /// The body of `/version`, or the reason why the server's response is unusable.
    async fn version(&self, api: &ApiClient, meter: &Meter) -> Result<Result<Vec<u8>, Why>, ConnectError> {
        let call = Call { most: VERSION_BODY, ..Call::get("/version") };
        let answer = match api.send(&call, meter, false).await {
            Ok(answer) => answer,
            Err(RequestError::Refused(refusal)) if refusal.status == StatusCode::FORBIDDEN => {
                return Ok(Err(fetch_error::why(&RequestError::Refused(refusal))));
            }
            Err(trouble) => return Err(self.failed(trouble)),
        };
        let strange = |what: &str| ConnectError::NotKubernetes { server: self.server.clone(), what: what.to_owned() };
        let body =
            answer.whole(meter, VERSION_BODY).map_err(|_| strange("its response to /version is broken or endless"))?;
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Version {
            #[serde(rename = "gitVersion")]
            _git_version: String,
        }
        match serde_json::from_slice::<Version>(&body) {
            Ok(_) => Ok(Ok(body)),
            Err(_) if body.trim_ascii_start().starts_with(b"<") => {
                Err(strange("/version is an HTML page, possibly the login page of a proxy"))
            }
            Err(_) => Err(strange("/version is not the response of an API server")),
        }
    }

    fn failed(&self, trouble: RequestError) -> ConnectError {
        let (server, proxy) = (self.server.clone(), self.proxy.clone());
        match trouble {
            RequestError::TimedOut { seconds } => ConnectError::TimedOut { server, proxy, seconds },
            RequestError::Broken(broken) => match (broken, proxy) {
                // With a proxy, the failed connection is to the proxy.
                (
                    broken @ (ConnectionError::Refused
                    | ConnectionError::NoSuchHost { .. }
                    | ConnectionError::Unreachable { .. }
                    | ConnectionError::ConnectTimedOut
                    | ConnectionError::Proxy { .. }),
                    Some(proxy),
                ) => ConnectError::Proxy { server, proxy, what: broken.words() },
                (ConnectionError::Refused, proxy) => ConnectError::Refused { server, proxy },
                (ConnectionError::Certificate { message }, _) => ConnectError::Certificate { server, what: message },
                (broken @ ConnectionError::TooLarge { .. }, _) => {
                    ConnectError::NotKubernetes { server, what: broken.words() }
                }
                (ConnectionError::Tls { message }, _) => ConnectError::Tls { server, what: message },
                (
                    broken @ (ConnectionError::NoSuchHost { .. }
                    | ConnectionError::Unreachable { .. }
                    | ConnectionError::ConnectTimedOut
                    | ConnectionError::Proxy { .. }
                    | ConnectionError::Cut
                    | ConnectionError::Other { .. }),
                    proxy,
                ) => ConnectError::Unreachable { server, proxy, what: broken.words() },
            },
            RequestError::Refused(refusal) => {
                let status = refusal.status;
                match &refusal.location {
                    Some(location) => {
                        ConnectError::Redirected { server, location: location.clone(), status: status.as_u16() }
                    }
                    None if status == StatusCode::UNAUTHORIZED => ConnectError::Unauthorized {
                        server,
                        user: self.user.clone(),
                        message: refusal.message.clone(),
                        plugin: self.plugin.clone(),
                    },
                    None if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                        ConnectError::Unwell { server, what: refusal.words() }
                    }
                    None => ConnectError::NotKubernetes { server, what: refusal.words() },
                }
            }
        }
    }
}

impl Live {
    /// Cost of the version request, before any item.
    pub fn greeting(&self) -> Traffic {
        self.greeting
    }
}
