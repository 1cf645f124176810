//! The flags of what shows how Linkerd sees a mesh: `policy` and `reach`.

use clap::{Args, ValueEnum};

use super::{Connection, EvidenceArgs, Verbosity};
use crate::cli::values::{called, end, namespace, target};
use crate::inspect::outbound::Called;
use crate::inspect::policy::Target;
use crate::inspect::reach::{End, Traffic};

/// `meshdoctor policy`.
#[derive(Debug, Args)]
pub struct Policy {
    /// What to show: NAMESPACE, NAMESPACE/NAME or NAMESPACE/NAME:PORT, of a pod, a workload such as a Deployment, or an
    /// ExternalWorkload. Everything that is injected when not given.
    #[arg(value_name = "NAMESPACE/NAME[:PORT]", value_parser = target)]
    pub targets: Vec<Target>,
    /// Show instead what clients get on the way to a Service, NAMESPACE/NAME[:PORT], or to an address, ADDRESS:PORT: routes, where
    /// they send what, time limits, retries, and what is forbidden.
    #[arg(long, value_name = "SERVICE[:PORT]", value_parser = called, conflicts_with = "targets")]
    pub to: Vec<Called>,
    /// With --to, the namespace of the clients; that of the Service when not given, `default` for addresses.
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace, requires = "to")]
    pub from: Option<String>,
    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = PolicyFormat::Table, help_heading = "Output")]
    pub output: PolicyFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The form of `policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PolicyFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// As the policy controller itself answers proxies: {"inbound": {"NAMESPACE/POD": {"PORT": ANSWER}}}, with --to {"outbound":
    /// [{"query": QUERY, "policy": ANSWER}]}.
    Controller,
}

/// `meshdoctor reach`.
#[derive(Debug, Args)]
pub struct Reach {
    /// The client: a pod or a workload, NAMESPACE/NAME, or NAME with --namespace.
    #[arg(value_name = "FROM", value_parser = end)]
    pub from: Option<End>,
    /// The called end: a Service, a workload or a pod, NAMESPACE/NAME[:PORT], or NAME[:PORT] with --namespace; or a host,
    /// HOST:PORT.
    #[arg(value_name = "TO[:PORT]", value_parser = end)]
    pub to: Option<End>,
    /// Show who may call whom in a namespace: its workloads, and the ports of its Services.
    #[arg(long, requires = "namespace", conflicts_with_all = ["from", "to"])]
    pub matrix: bool,
    /// What is sent. Without it, the answer names the kinds of traffic that fail.
    #[arg(long, value_enum, value_name = "KIND")]
    pub traffic: Option<TrafficArg>,
    /// The namespace of names that state none, and of --matrix.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub namespace: Option<String>,
    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = ReachFormat::Table, help_heading = "Output")]
    pub output: ReachFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// What a call of `reach` sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// The form of `reach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReachFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For a browser: the path of each call.
    Html,
}
