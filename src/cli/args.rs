//! The command line as clap sees it: names, help texts, defaults. Parsing does nothing; every value is plain data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

mod brought;
mod change;
mod check;
mod connection;
mod diff;
mod fleet;
mod gather;
pub(in crate::cli) mod help;
mod injection;
mod inspect;
mod rbac;
mod rehearsal;
mod saved;
mod ticket;

pub use brought::{New, Test};
pub use change::Manifests;
pub use check::{Check, FailOn, InstallStage, OnNotChecked, Told};
pub use connection::{Connection, ConnectionOverrides, Token};
pub use diff::{Diff, DiffFormat};
pub use fleet::Fleet;
pub use gather::{Collect, NodePods, NodeSnapshot};
pub use injection::{Injection, InjectionFormat};
pub use inspect::{Policy, PolicyFormat, Reach, ReachFormat};
pub use rbac::Rbac;
pub use rehearsal::Rehearsal;
pub use saved::Saved;
pub use ticket::Ticket;

use super::format::{Output, output};
use super::values::{
    CliVersionArg, CompleteArg, DiagnosticsArg, LogsArg, NodesArg, cli_version, complete, diagnostics, logs,
    namespace, nodes, time,
};

/// A doctor for the Linkerd service mesh: finds what is wrong, proves it, and says what to do about it.
#[derive(Debug, Parser)]
#[command(
    name = "meshdoctor",
    version,
    propagate_version = true,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "meshdoctor never changes a cluster, but where it is told to: 'collect --node-pods' adds pods, asks first, and deletes them; 'check --publish' leaves its report. Exit status: 0 fine, 1 findings, 2 usage, 3 could not run, 4 not checked, 130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// When to use colour.
    #[arg(long, value_enum, global = true, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
    /// Checks of your own: a folder of cards whose rules are expressions. They stand beside the built-in ones in everything.
    /// Repeatable.
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help_heading = "Checks",
        env = "MESHDOCTOR_CHECKS",
        value_delimiter = ':'
    )]
    pub checks: Vec<PathBuf>,
    /// Configuration file; flags override it. By default $MESHDOCTOR_CONFIG, or the nearest meshdoctor.toml here or in a folder
    /// above. A file that was found rather than named cannot choose clusters, programs or outputs.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Configuration",
        conflicts_with = "no_config"
    )]
    pub config: Option<PathBuf>,
    /// Ignore meshdoctor.toml files and $MESHDOCTOR_CONFIG.
    #[arg(long, global = true, help_heading = "Configuration")]
    pub no_config: bool,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set; CLICOLOR_FORCE forces it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look at a mesh and say what is wrong, what proves it and what to do.
    Check(Box<Check>),
    /// Show a saved report again, in any form: check -o json=FILE saves one. The exit status is that of the saved run.
    Report(Saved),
    /// Compare two reports: what is new, changed, fixed or unchanged, and what cannot be compared.
    Diff(Diff),
    /// Show what Linkerd's policy says of the ports of workloads: what takes them, who is let in by what, and what of that
    /// which people wrote counts for nothing.
    Policy(Box<Policy>),
    /// Show what would be injected: for everything that makes pods whether it gets a proxy and why, which annotations act, and
    /// what the proxy would be asked to do.
    Injection(Box<Injection>),
    /// Say whether a call would get from one workload to another, step by step as Linkerd takes it, and where it stops.
    Reach(Box<Reach>),
    /// Save everything that the checks need, redacted, as one file for a ticket or for later.
    Collect(Box<Collect>),
    /// Write one small redacted archive for a support ticket: the report, and the evidence that its findings rest on.
    Ticket(Box<Ticket>),
    /// Save what checks need to know of a node, read on the node itself or in a pod that has its files mounted.
    NodeSnapshot(NodeSnapshot),
    /// Check an embedded cluster with a known failure; without a name, list them.
    Demo(Demo),
    /// List the checks.
    List(List),
    /// Explain a check: what it finds, why it matters, how to fix it, what it cannot see.
    Explain(Explain),
    /// Run the cases of cards of your own, and say which do not say what their card claims.
    Test(Test),
    /// Write a card to start a check of your own from.
    New(New),
    /// Print the role that suffices for the chosen checks, as a manifest.
    Rbac(Rbac),
    /// Print a completion script for a shell.
    Completions(Completions),
    /// Show what meshdoctor.toml sets, and where.
    Config,
    /// Print the version of meshdoctor and of what it knows.
    Version(Version),
}

/// Where the evidence comes from.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Evidence")]
pub struct EvidenceArgs {
    /// Read a bundle or dump instead of a cluster: a file, a folder or '-' for standard input. Repeatable; all of them
    /// together are one cluster.
    #[arg(long, value_name = "PATH")]
    pub bundle: Vec<PathBuf>,
    /// Read the live cluster, also where --nodes, --logs or --diagnostics is given.
    #[arg(long, conflicts_with = "bundle")]
    pub live: bool,
    /// Say that the dump lists every object of these kinds (comma-separated, or 'all'). Otherwise what a dump does not hold
    /// counts as not provided.
    #[arg(long, value_name = "KIND,...|all", value_parser = complete)]
    pub complete: Vec<CompleteArg>,
    /// Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable.
    #[arg(long, value_name = "NAME=PATH|DIR", value_parser = nodes)]
    pub nodes: Vec<NodesArg>,
    /// Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a
    /// value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container
    /// (NAMESPACE/POD/CONTAINER=FILE); '-' for standard input. Only lines of known meaning are kept, redacted. Repeatable.
    #[arg(long, value_name = "NAME=FILE", value_parser = logs, num_args = 0..=1, default_missing_value = "")]
    pub logs: Vec<LogsArg>,
    /// What linkerd diagnostics proxy-metrics or endpoints -o json printed, in a file; of linkerd diagnostics policy with the
    /// pod and port that it was asked of. It is compared with the cluster or bundle. Repeatable.
    #[arg(long, value_name = "[NAMESPACE/POD:PORT=]FILE", value_parser = diagnostics)]
    pub diagnostics: Vec<DiagnosticsArg>,
    /// The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged
    /// against it.
    #[arg(long, value_name = "RFC3339", value_parser = time)]
    pub at: Option<Timestamp>,
    /// The linkerd CLI: its path (with a '/'), its version, or 'none'. By default the one on PATH is asked when a live
    /// cluster is read.
    #[arg(long, value_name = "PATH|VERSION|none", value_parser = cli_version)]
    pub linkerd_cli: Option<CliVersionArg>,
    /// The namespace of the control plane; found by its labels when not given.
    #[arg(short = 'L', long, value_name = "NAMESPACE", value_parser = namespace, env = "LINKERD_NAMESPACE")]
    pub linkerd_namespace: Option<String>,
    /// The namespace of linkerd-cni; found by its labels when not given.
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub cni_namespace: Option<String>,
}

/// How much to say beside the report.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Verbosity {
    /// Unfold the report: every subject, all evidence, symptoms and infos in full, all versions, the whole coverage. Also
    /// say on standard error what is read: requests, bytes and time of each item.
    #[arg(short, long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_value_t = 0, default_missing_value = "1")]
    pub verbose: u8,
    /// Print nothing on standard error but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
}

/// Which checks run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct Selection {
    /// Run only these checks or categories (comma-separated).
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leave out these checks or categories (comma-separated).
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',')]
    pub skip: Vec<String>,
}

/// Where reports go.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Reports {
    /// Output format: table, short, json or yaml; html (one page that needs nothing else); sarif, junit, github (annotations), gitlab (code quality), markdown, prometheus
    /// (textfile) or ndjson for pipelines; plan, with --to, for the plan of the upgrade as Markdown; linkerd or linkerd-table for
    /// the rows of 'linkerd check' as its JSON document or table. FORMAT=FILE writes it to a file. Repeatable.
    #[arg(short, long, value_name = "FORMAT[=FILE]", value_parser = output)]
    pub output: Vec<Output>,
    /// Say in a table what was not checked in full: why, and how to check it.
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
    /// Only these checks or categories (comma-separated).
    #[arg(value_delimiter = ',')]
    pub only: Vec<String>,
    /// The form of the list.
    #[arg(short, long, value_enum, default_value_t = ListFormat::Table)]
    pub output: ListFormat,
}

/// The form of `list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people.
    Table,
    /// One id a line.
    Name,
    /// For programs.
    Json,
}

/// `meshdoctor explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The check: its id, or the anchor of a row of 'linkerd check' (l5d-...). Where several checks answer a row, they are
    /// listed.
    pub check: String,
    /// The form of the page.
    #[arg(short, long, value_enum, default_value_t = PageFormat::Text)]
    pub output: PageFormat,
}

/// The form of `explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// For people.
    Text,
    /// As on the documentation page.
    Markdown,
    /// For programs.
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
    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = VersionFormat::Text)]
    pub output: VersionFormat,
}

/// The form of `version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VersionFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}
