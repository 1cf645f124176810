//! Flags that select the cluster and the user; spelled as kubectl spells them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::{duration, some_time};

/// The connection to the cluster, spelled as kubectl spells it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// Kubeconfig file; by default $KUBECONFIG, ~/.kube/config, or the service account inside a pod.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Kubeconfig context. 'check' accepts several and checks each cluster.
    #[arg(long, value_name = "NAME")]
    pub context: Vec<String>,
    /// Kubeconfig cluster, instead of the context's.
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Kubeconfig user, instead of the context's.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Impersonate this user.
    #[arg(long = "as", value_name = "USER")]
    pub as_user: Option<String>,
    /// Impersonate this group. Repeatable.
    #[arg(long = "as-group", value_name = "GROUP", requires = "as_user")]
    pub as_group: Vec<String>,
    /// Time limit for one response of the API server: 30s, 2m; 0 means no limit. A long list that arrives
    /// steadily may take longer.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = duration, default_value = "30s")]
    pub request_timeout: Duration,
    /// Time limit for the whole run; the rest is not checked. At least 10s are left for the checks. Without the flag,
    /// reading a cluster and the checks may take 5m each.
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = some_time)]
    pub timeout: Option<Duration>,
    /// Request uncompressed responses; faster on the API server's machine or a very fast link.
    #[arg(long)]
    pub disable_compression: bool,
    /// Also query running programs through port-forwards.
    ///
    /// These are webhooks (for their serving certificates), metrics-api, Prometheus, and the controllers of
    /// multicluster links.
    #[arg(long)]
    pub probe: bool,
    /// Overrides of the kubeconfig; only for the kubectl plugin.
    #[arg(skip)]
    pub overrides: ConnectionOverrides,
}

/// kubectl's own flags that override the kubeconfig. Accepted only under kubectl's name: other users do not expect
/// them, and a token is safer in a file than on a command line.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionOverrides {
    /// Address of the API server; overrides the kubeconfig.
    #[arg(short, long, value_name = "URL")]
    pub server: Option<String>,
    /// File with the certificate authority of the API server.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure_skip_tls_verify")]
    pub certificate_authority: Option<PathBuf>,
    /// Accept any certificate of the API server. Connections can then be read and changed on their way.
    #[arg(long)]
    pub insecure_skip_tls_verify: bool,
    /// Name to expect in the API server's certificate, instead of the host in its address.
    #[arg(long, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// File with the client certificate.
    #[arg(long, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// File with the key of the client certificate.
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// Bearer token; overrides the kubeconfig user. It is never printed or stored.
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<Token>,
}

/// A token; its `Debug` output does not show it.
#[derive(Clone)]
pub struct Token(pub String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

impl From<&str> for Token {
    fn from(text: &str) -> Token {
        Token(text.to_owned())
    }
}
