//! The command line as clap parses it: names, help texts, defaults. Parsing only yields plain data; it reads no file
//! and no cluster.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

mod change;
mod check;
mod connection;
mod custom_checks;
mod diff;
mod fix;
mod fleet;
mod gather;
pub(in crate::cli) mod help;
mod injection;
mod inspect;
mod mcp;
mod prometheus;
mod rbac;
mod rehearsal;
mod rotate;
mod saved;
mod ticket;

pub use change::Manifests;
pub use check::{Check, ConfidenceArg, FailOn, InstallStage, OnNotChecked};
pub use connection::{Connection, ConnectionOverrides, Token};
pub use custom_checks::{New, Test};
pub use diff::{Diff, DiffFormat};
pub use fix::{Fix, FixFormat};
pub use fleet::Fleet;
pub use gather::{Collect, NodePods, NodeSnapshot};
pub use injection::{Injection, InjectionFormat};
pub(super) use inspect::is_workload_kind;
pub use inspect::{Policy, PolicyFormat, Reach, ReachFormat, Sync, SyncFormat, TrafficArg};
pub use mcp::Mcp;
pub use prometheus::PrometheusArgs;
pub use rbac::Rbac;
pub use rehearsal::Rehearsal;
pub use rotate::{Confirmed, Rotate, RotateFormat, Rotated, StageArg};
pub use saved::Saved;
pub use ticket::Ticket;

use super::format::{Output, output};
use super::values::{
    CliVersionArg, CompleteArg, DiagnosticsArg, LogsArg, NodesArg, cli_version, complete, diagnostics, interval, logs,
    max_proxies, namespace, nodes, time,
};

/// Diagnose the Linkerd service mesh: what is broken, the evidence, and how to repair it.
#[derive(Debug, Parser)]
#[command(name = "meshdoctor", version, propagate_version = true, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = help::start(), after_long_help = help::start())]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// When to use color.
    #[arg(long, value_enum, global = true, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Folder with your own checks, which run like the built-in ones. Repeatable.
    ///
    /// Each check is a Markdown file (a card) whose rule is a CEL expression; `meshdoctor new` writes one.
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help_heading = "Checks",
        env = "MESHDOCTOR_CHECKS",
        value_delimiter = ':'
    )]
    pub checks: Vec<PathBuf>,
    /// Configuration file; flags override it.
    ///
    /// By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml in this folder or a parent folder. A file that was
    /// found in this way cannot choose clusters, programs or outputs.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Configuration", conflicts_with = "no_config")]
    pub config: Option<PathBuf>,
    /// Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG.
    #[arg(long, global = true, help_heading = "Configuration")]
    pub no_config: bool,
}

/// When to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check a mesh: what is broken, the evidence, and how to repair it.
    Check(Box<Check>),
    /// Explain a check, a log line, a header, a status or an exit code.
    Explain(Explain),
    /// Trace a connection between two workloads, and show where it fails.
    Reach(Box<Reach>),
    /// Show who may connect to the ports of workloads, and why.
    ///
    /// The effective policy of each port, and the policies that have no effect.
    Policy(Box<Policy>),
    /// Show which pods would be injected, and their proxy settings.
    ///
    /// For each pod or workload: the reason, the annotations that take effect, and the resulting settings.
    Injection(Box<Injection>),
    /// Show whether control-plane replicas and proxies are in sync.
    ///
    /// Each control-plane replica and a sample of proxies: version, certificate, connections to the control plane,
    /// endpoints, policies, uptime, and problems.
    Sync(Box<Sync>),
    /// Show the state of a certificate rotation and the next safe step.
    ///
    /// A rotation of the trust anchor or the issuer, with the steps that must wait.
    Rotate(Box<Rotate>),
    /// Print the repair plan as a script or patches, or edit manifests.
    ///
    /// Each step is judged before it is offered.
    Fix(Box<Fix>),
    /// Compare two reports: new, changed, fixed and unchanged findings.
    ///
    /// Findings that cannot be compared are listed too.
    Diff(Diff),
    /// Show a saved JSON report in any format.
    ///
    /// The exit status is that of the saved run.
    Report(Saved),
    /// Save the evidence of the checks as one redacted file (a bundle).
    Collect(Box<Collect>),
    /// Write a small redacted archive for a support ticket.
    ///
    /// It holds the report and the evidence of its findings.
    Ticket(Box<Ticket>),
    /// Save the CNI and runtime files of a node.
    ///
    /// Run it on the node, or in a pod that mounts the node's file system.
    NodeSnapshot(NodeSnapshot),
    /// Check an embedded demo cluster with a known failure.
    ///
    /// Without a name, it lists the demos.
    Demo(Demo),
    /// List the checks.
    List(List),
    /// Write a card to start your own check from.
    New(New),
    /// Run the test cases of your own checks.
    ///
    /// Results that differ from the card are reported.
    Test(Test),
    /// Print the RBAC role that the chosen checks need, as a manifest.
    Rbac(Rbac),
    /// Serve the checks to an AI agent (Model Context Protocol).
    ///
    /// A read-only server on standard input and output. An MCP client starts it. The flags determine the evidence; a
    /// client can choose neither files nor clusters.
    Mcp(Box<Mcp>),
    /// Print a completion script for a shell.
    Completions(Completions),
    /// Show the settings of meshdoctor.toml and their origin.
    Config,
    /// Print the version of meshdoctor and of its release data.
    Version(Version),
}

/// The source of the evidence.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Evidence")]
pub struct EvidenceArgs {
    /// Read a bundle or dump instead of a cluster: a file, a folder or '-' for standard input. Repeatable.
    ///
    /// Several of them are read as one cluster.
    #[arg(long, value_name = "PATH")]
    pub bundle: Vec<PathBuf>,
    /// Read the live cluster even if --nodes, --logs or --diagnostics is given.
    #[arg(long, conflicts_with = "bundle")]
    pub live: bool,
    /// Declare that the dump lists every object of these kinds (comma-separated, or 'all').
    ///
    /// Kinds that a dump does not contain otherwise count as not provided.
    #[arg(long, value_name = "KIND,...|all", value_parser = complete)]
    pub complete: Vec<CompleteArg>,
    /// Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d.
    /// Repeatable.
    #[arg(long, value_name = "NAME=PATH|DIR", value_parser = nodes)]
    pub nodes: Vec<NodesArg>,
    /// Read recent control-plane logs and the logs of affected proxies; with a value, read logs from files. Repeatable.
    ///
    /// NODE=FILE is the journal text of a node, NAMESPACE/POD/CONTAINER=FILE the output of kubectl logs for a
    /// container; '-' is standard input. Only lines of known meaning are kept, redacted.
    #[arg(long, value_name = "NAME=FILE", value_parser = logs, num_args = 0..=1, default_missing_value = "")]
    pub logs: Vec<LogsArg>,
    /// Read the metrics of the control plane and of a sample of proxies twice, DURATION apart, through port-forwards.
    ///
    /// DURATION is 30s by default. Of each workload, it reads the newest ready pod and the one whose proxy
    /// restarted most, and pods with findings: at most 200 proxies, in 20 seconds per read. Only known series are kept.
    /// It also asks each replica of destination for the endpoints of at most 200 Service ports.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = interval,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "30s",
        conflicts_with = "bundle"
    )]
    pub proxies: Option<Duration>,
    /// Maximum number of proxies whose metrics --proxies reads, from 1 to 2000; 200 by default.
    #[arg(long, value_name = "NUMBER", value_parser = max_proxies, conflicts_with = "bundle")]
    pub max_proxies: Option<u16>,
    #[command(flatten)]
    pub prometheus: PrometheusArgs,
    /// Output of 'linkerd diagnostics' in a file, to compare with the cluster or bundle. Repeatable.
    ///
    /// It takes proxy-metrics, controller-metrics, endpoints -o json, policy, what a proxy or controller serves
    /// at /metrics, and /federate of Prometheus. For policy and /metrics, add the pod and the port that were queried.
    /// Metrics that were read twice, with some time in between, also show what grew.
    #[arg(long, value_name = "[NAMESPACE/POD:PORT=]FILE", value_parser = diagnostics)]
    pub diagnostics: Vec<DiagnosticsArg>,
    /// Time at which the evidence was captured (RFC 3339), for dumps without a timestamp. Expiry is judged at this
    /// time.
    #[arg(long, value_name = "RFC3339", value_parser = time)]
    pub at: Option<Timestamp>,
    /// The linkerd CLI: its path (with a '/'), its version, or 'none'.
    ///
    /// By default, the version of the linkerd CLI on PATH is read if a live cluster is checked.
    #[arg(long, value_name = "PATH|VERSION|none", value_parser = cli_version)]
    pub linkerd_cli: Option<CliVersionArg>,
    /// Namespace of the control plane; by default found by its labels.
    #[arg(short = 'L', long, value_name = "NAMESPACE", value_parser = namespace, env = "LINKERD_NAMESPACE")]
    pub linkerd_namespace: Option<String>,
    /// Namespace of linkerd-cni; by default found by its labels.
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub cni_namespace: Option<String>,
}

/// Progress messages and the level of detail.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Verbosity {
    /// Show all details; for check, also symptoms, infos and versions.
    ///
    /// `-v=2` also prints what is read on standard error: requests, bytes and time of each item.
    #[arg(
        short,
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = 0,
        hide_default_value = true,
        default_missing_value = "1",
    )]
    pub verbose: u8,
    /// Print no warnings or progress on standard error.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// The checks to run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct Selection {
    /// Run only these checks, categories or known defects (known-defect/ID), comma-separated.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Skip these checks, categories or known defects (known-defect/ID), comma-separated.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',')]
    pub skip: Vec<String>,
}

/// The destinations of reports.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Reports {
    /// Print the report in this format (default table), or write it to a file with FORMAT=FILE. Repeatable.
    ///
    /// Formats: table, short, json, yaml; html (one self-contained page); for pipelines sarif, junit, github
    /// (annotations), gitlab (code quality), markdown, prometheus (textfile), ndjson; plan, with --to, for the upgrade
    /// plan as Markdown; linkerd or linkerd-table for the rows of 'linkerd check' as JSON or table.
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = output)]
    pub output: Vec<Output>,
    /// Show what was not checked completely, why, and how to check it.
    #[arg(long)]
    pub coverage: bool,
}

/// `meshdoctor demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// The demo to check.
    pub name: Option<String>,
    /// Check the cluster after the fix.
    #[arg(long)]
    pub cured: bool,
    #[command(flatten)]
    pub report: Reports,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// `meshdoctor list`.
#[derive(Debug, Args)]
pub struct List {
    /// List only these checks or categories (comma-separated).
    #[arg(value_delimiter = ',')]
    pub only: Vec<String>,
    /// The same, as for other commands.
    #[arg(long = "only", value_name = "ID,...", value_delimiter = ',', hide = true, conflicts_with = "defects")]
    pub also: Vec<String>,
    /// List known defects of Linkerd releases instead of checks.
    #[arg(long, conflicts_with = "only")]
    pub defects: bool,
    /// Folder with newer release data (with --defects).
    #[arg(long, value_name = "DIR", requires = "defects")]
    pub knowledge: Option<PathBuf>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = ListFormat::Table)]
    pub output: ListFormat,
}

/// Output formats of `list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table.
    Table,
    /// One id per line.
    Name,
    /// JSON.
    Json,
}

/// `meshdoctor explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// One or more check ids, a known defect (known-defect/ID), the hint anchor of a row of 'linkerd check'
    /// (l5d-...), or a text to explain; '-' reads a text from standard input.
    ///
    /// If several checks cover a row, they are listed. Known texts are lines of logs, the message of an
    /// event, a response header l5d-proxy-error, a status code with its headers, an annotation or label of
    /// Linkerd ('linkerd.io/inject: enabled'), and the exit code of a program: 'exit code 95'.
    #[arg(value_name = "CHECK|TEXT", required = true)]
    pub text: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = PageFormat::Text)]
    pub output: PageFormat,
}

/// Output formats of `explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// Plain text.
    Text,
    /// Markdown, as on the documentation page.
    Markdown,
    /// JSON.
    Json,
}

/// `meshdoctor completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Shells with a completion script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
    #[value(alias = "pwsh")]
    Powershell,
    Elvish,
}

/// `meshdoctor version`.
#[derive(Debug, Args)]
pub struct Version {
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = VersionFormat::Text)]
    pub output: VersionFormat,
}

/// Output formats of `version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VersionFormat {
    /// Plain text.
    Text,
    /// JSON.
    Json,
}
