//! Flags that name a Prometheus server as the source of metrics.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::values::{PrometheusArg, prometheus, prometheus_label, window};

/// A Prometheus server.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Evidence")]
pub struct PrometheusArgs {
    /// Read the metrics of all proxies from a Prometheus server: its URL, or 'viz' for the one of the viz extension.
    ///
    /// At most 30 queries return the values at the start and at the end of the window. With -n, only proxies of these
    /// namespaces are read. 'viz' needs a port-forward to the pod of Prometheus.
    #[arg(long, value_name = "URL|viz", value_parser = prometheus, conflicts_with_all = ["bundle", "proxies"])]
    pub prometheus: Option<PrometheusArg>,
    /// The time between the two values, from 1m to 24h.
    #[arg(long, value_name = "DURATION", value_parser = window, default_value = "10m", requires = "prometheus")]
    pub prometheus_window: Duration,
    /// File with a bearer token for the Prometheus server; by default $MESHDOCTOR_PROMETHEUS_TOKEN, if set.
    ///
    /// A token is sent only over https, or to this machine. It is never printed or stored.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    pub prometheus_token_file: Option<PathBuf>,
    /// File with the certificate authority of the Prometheus server (PEM); by default those of the system.
    #[arg(long, value_name = "FILE", requires = "prometheus")]
    pub prometheus_ca: Option<PathBuf>,
    /// Read only series with this label, such as cluster=east if the server has series of several clusters. Repeatable.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = prometheus_label, requires = "prometheus")]
    pub prometheus_label: Vec<(String, String)>,
}
