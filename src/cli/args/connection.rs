//! Flags that say which cluster is asked, and as whom; spelled as kubectl spells them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::{duration, some_time};

/// How to reach the cluster, spelled as kubectl spells it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct Connection {
    /// The kubeconfig file; otherwise $KUBECONFIG, ~/.kube/config, or the service account inside a pod.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use. 'check' takes several, and judges each cluster.
    #[arg(long, value_name = "NAME")]
    pub context: Vec<String>,
    /// The cluster of the kubeconfig to use, instead of the context's.
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// The user of the kubeconfig to use, instead of the context's.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Act as this user.
    #[arg(long = "as", value_name = "USER")]
    pub as_user: Option<String>,
    /// Act as a member of this group. Repeatable.
    #[arg(long = "as-group", value_name = "GROUP", requires = "as_user")]
    pub as_group: Vec<String>,
    /// How long to wait for one response of the API server: 30s, 2m; 0 waits forever.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "30s")]
    pub request_timeout: Duration,
    /// How long the whole run may take; what is not read by then is not checked. Without it, reading a cluster may take 5m.
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub timeout: Option<Duration>,
    /// Ask for uncompressed answers: faster on the API server's own machine or a very fast link.
    #[arg(long)]
    pub disable_compression: bool,
    /// Also query running programs through port-forwards: webhooks for the certificates that they serve, metrics-api,
    /// Prometheus, the controllers of links.
    #[arg(long)]
    pub probe: bool,
    /// What is said instead of the kubeconfig; only under kubectl's name.
    #[arg(skip)]
    pub overrides: ConnectionOverrides,
}

/// What kubectl's own flags say instead of the kubeconfig. Taken under kubectl's name only: elsewhere nobody expects them,
/// and a token is better off in a file than on a command line.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionOverrides {
    /// The address of the API server, instead of the cluster's in the kubeconfig.
    #[arg(short, long, value_name = "URL")]
    pub server: Option<String>,
    /// The file with the certificate authority of the API server.
    #[arg(long, value_name = "FILE", conflicts_with = "insecure_skip_tls_verify")]
    pub certificate_authority: Option<PathBuf>,
    /// Take whatever certificate the API server shows. Whoever is on the way can then read and change everything.
    #[arg(long)]
    pub insecure_skip_tls_verify: bool,
    /// The name that the API server's certificate must have, instead of the host in its address.
    #[arg(long, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// The file with the client's certificate.
    #[arg(long, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// The file with the key of the client's certificate.
    #[arg(long, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// The bearer token that signs in, instead of the user's in the kubeconfig. It is never printed or kept.
    #[arg(long, value_name = "TOKEN")]
    pub token: Option<Token>,
}

/// A token that no message shows.
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
