//! Flags of `policy`, `reach` and `sync`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Connection, EvidenceArgs, Verbosity};
use crate::cli::values::{called, end, namespace, target};
use crate::inspect::outbound::Called;
use crate::inspect::policy::Target;
use crate::inspect::reach::{End, Traffic};

/// `meshdoctor policy`.
#[derive(Debug, Args)]
pub struct Policy {
    /// NAMESPACE, or NAMESPACE/NAME[:PORT] of a pod, a workload or an ExternalWorkload; by default all
    /// injected workloads.
    #[arg(value_name = "NAMESPACE/NAME[:PORT]", value_parser = target)]
    pub targets: Vec<Target>,
    /// Show the outbound policy of clients for a Service, NAMESPACE/NAME[:PORT], or an address, ADDRESS:PORT.
    ///
    /// Lists routes, their backends, timeouts, retries, and forbidden traffic.
    #[arg(long, value_name = "SERVICE[:PORT]", value_parser = called, conflicts_with = "targets")]
    pub to: Vec<Called>,
    /// Print policies as manifests for the Service ports of the given namespaces, which allow what the objects show.
    ///
    /// Other clients stay allowed and are logged, unless --enforce is given. With metrics of proxies
    /// (--proxies), the clients that were seen are named; otherwise the ServiceAccounts of the namespace, to
    /// be edited.
    #[arg(long, conflicts_with_all = ["to", "output"])]
    pub generate: bool,
    /// With --generate: deny every client that the manifests do not name.
    #[arg(long, requires = "generate")]
    pub enforce: bool,
    /// Namespace of names that are given without one; without names, all injected workloads of it.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub namespace: Option<String>,
    /// With --to: namespace of the clients (default: the Service's, or 'default' for addresses).
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub from: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = PolicyFormat::Table, help_heading = "Output")]
    pub output: PolicyFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The option `--generate`, typed like a command.
const GENERATE: &str = "generate";

impl Policy {
    /// Whether the first name is the option `--generate` without its dashes.
    pub fn names_generate(&self) -> bool {
        self.targets.first().is_some_and(|first| first.workload.is_none() && first.namespace == GENERATE)
    }

    /// The namespace that was given with it.
    pub fn namespace_of_generate(&self) -> &str {
        let named = self.targets.get(1).map(|target| target.namespace.as_str());
        self.namespace.as_deref().or(named).unwrap_or("NAMESPACE")
    }

    /// The targets, with the namespace of those that are given without one.
    pub fn targets(&self) -> Vec<Target> {
        in_namespace(&self.targets, self.namespace.as_deref())
    }
}

/// The targets, with `--namespace` for those that are given without a namespace; without targets, the whole namespace.
pub(super) fn in_namespace(targets: &[Target], namespace: Option<&str>) -> Vec<Target> {
    let Some(namespace) = namespace.map(str::to_owned) else { return targets.to_vec() };
    if targets.is_empty() {
        return vec![Target { namespace, workload: None, port: None }];
    }
    let within = |target: &Target| match &target.workload {
        // KIND/NAME, as kubectl writes it.
        Some(_) if is_workload_kind(&target.namespace) => Target { namespace: namespace.clone(), ..target.clone() },
        Some(_) => target.clone(),
        None => Target { namespace: namespace.clone(), workload: Some(target.namespace.clone()), port: target.port },
    };
    targets.iter().map(within).collect()
}

/// Names of kinds of workloads in front of a slash, which `--namespace` distinguishes from a namespace.
const WORKLOAD_KINDS: [&str; 24] = [
    "po",
    "pod",
    "pods",
    "deploy",
    "deployment",
    "deployments",
    "sts",
    "statefulset",
    "statefulsets",
    "ds",
    "daemonset",
    "daemonsets",
    "rs",
    "replicaset",
    "replicasets",
    "job",
    "jobs",
    "cj",
    "cronjob",
    "cronjobs",
    "svc",
    "service",
    "services",
    "externalworkload",
];

/// Whether a word is the name of a kind of workloads.
pub(in crate::cli) fn is_workload_kind(word: &str) -> bool {
    WORKLOAD_KINDS.contains(&word)
}

/// Output formats of `policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyFormat {
    /// A table.
    Table,
    /// JSON.
    Json,
    /// The response of the policy controller to proxies: {"inbound": {"NAMESPACE/POD": {"PORT": ANSWER}}},
    /// with --to {"outbound": [{"query": QUERY, "policy": ANSWER}]}.
    Controller,
}

/// `meshdoctor reach`.
#[derive(Debug, Args)]
pub struct Reach {
    /// The client: a pod or a workload, NAMESPACE/NAME, or NAME with --namespace.
    #[arg(value_name = "FROM", value_parser = end)]
    pub from: Option<End>,
    /// The destination: a Service, workload or pod, NAMESPACE/NAME[:PORT], or NAME[:PORT] with --namespace;
    /// or HOST:PORT.
    #[arg(value_name = "TO[:PORT]", value_parser = end)]
    pub to: Option<End>,
    /// Show which workloads of a namespace can connect to which of its Service ports.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub matrix: bool,
    /// Kind of traffic. By default, the report names the kinds that fail.
    #[arg(long, value_enum, value_name = "KIND")]
    pub traffic: Option<TrafficArg>,
    /// Namespace for names without one, and for --matrix.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub namespace: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = ReachFormat::Table, help_heading = "Output")]
    pub output: ReachFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The kind of traffic to trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[cfg_attr(feature = "mcp", derive(serde::Deserialize, rmcp::schemars::JsonSchema))]
#[cfg_attr(feature = "mcp", serde(rename_all = "kebab-case"), schemars(crate = "rmcp::schemars"))]
pub enum TrafficArg {
    /// HTTP/1.
    Http1,
    /// HTTP/2, such as gRPC.
    Http2,
    /// Another protocol in which the client sends the first byte.
    ClientFirst,
    /// Another protocol in which the server sends the first byte.
    ServerFirst,
}

impl From<TrafficArg> for Traffic {
    fn from(arg: TrafficArg) -> Traffic {
        match arg {
            TrafficArg::Http1 => Traffic::Http1,
            TrafficArg::Http2 => Traffic::Http2,
            TrafficArg::ClientFirst => Traffic::ClientFirst,
            TrafficArg::ServerFirst => Traffic::ServerFirst,
        }
    }
}

/// Output formats of `reach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReachFormat {
    /// A table.
    Table,
    /// JSON.
    Json,
    /// An HTML page with the path of each connection.
    Html,
}

/// `meshdoctor sync`.
#[derive(Debug, Args)]
pub struct Sync {
    /// Bundles, dumps or folders to read instead of the cluster, as with --bundle.
    #[arg(value_name = "FILE", conflicts_with = "live")]
    pub files: Vec<PathBuf>,
    /// Show only proxies in these namespaces (comma-separated). The control plane is always shown.
    #[arg(short, long, value_name = "NAMESPACE,...", value_delimiter = ',', value_parser = namespace)]
    pub namespace: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = SyncFormat::Table, help_heading = "Output")]
    pub output: SyncFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Output formats of `sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SyncFormat {
    /// A table.
    Table,
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}
