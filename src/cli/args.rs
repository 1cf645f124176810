//! The command line as clap sees it: names, help texts, defaults. Parsing does nothing; every value is plain data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

mod brought;
mod change;
mod connection;
mod diff;
mod fleet;
mod help;
mod injection;
mod rbac;
mod rehearsal;
mod ticket;

pub use brought::{New, Test};
pub use change::Manifests;
pub use connection::{Connection, ConnectionOverrides, Token};
pub use diff::{Diff, DiffFormat};
pub use fleet::Fleet;
pub use injection::{Injection, InjectionFormat};
pub use rbac::Rbac;
pub use rehearsal::Rehearsal;
pub use ticket::Ticket;

use super::values::{
    CliVersionArg, CompleteArg, LogsArg, NodesArg, Output, cli_version, cni_version, complete, end,
    linkerd_version, logs, namespace, node, nodes, output, severity, target,
};
use crate::finding::Severity;
use crate::inspect::policy::Target;
use crate::inspect::reach::End;
use crate::version::{CniVersion, LinkerdVersion};

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
    after_help = "meshdoctor never changes a cluster; 'collect --node-pods' alone adds pods, asks first, and deletes them. Exit status: 0 fine, 1 findings, 2 usage, 3 could not run, 4 not checked."
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
    /// The file that says what flags do not; by default the nearest meshdoctor.toml, here or in a folder above.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = "Configuration",
        conflicts_with = "no_config"
    )]
    pub config: Option<PathBuf>,
    /// Leave every meshdoctor.toml aside.
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
    /// Read the live cluster, also where --nodes or --logs is given.
    #[arg(long, conflicts_with = "bundle")]
    pub live: bool,
    /// Say that the dump lists every object of these kinds (comma-separated, or 'all'). Otherwise what a dump does not hold
    /// counts as not provided.
    #[arg(long, value_name = "KIND,...|all", value_parser = complete, requires = "bundle")]
    pub complete: Vec<CompleteArg>,
    /// Node evidence: a folder of node snapshots, or NAME=PATH of one snapshot or of a copy of /etc/cni/net.d. Repeatable.
    #[arg(long, value_name = "NAME=PATH|DIR", value_parser = nodes)]
    pub nodes: Vec<NodesArg>,
    /// Read the ends of the logs of the control plane, and of proxies that findings are about, from the cluster. With a
    /// value, a log out of a file: the journal text of a node (NODE=FILE), or what kubectl logs prints of a container
    /// (NAMESPACE/POD/CONTAINER=FILE); '-' for standard input. Only lines of known meaning are kept, redacted. Repeatable.
    #[arg(long, value_name = "NAME=FILE", value_parser = logs, num_args = 0..=1, default_missing_value = "")]
    pub logs: Vec<LogsArg>,
    /// The time at which the evidence was captured (RFC 3339), for dumps that do not say so themselves. Expiry is judged
    /// against it.
    #[arg(long, value_name = "RFC3339")]
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

/// The stage of the installation that is checked, spelled as `linkerd check` spells it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Checks")]
pub struct InstallStage {
    /// Check whether the cluster can take Linkerd, before it is installed.
    #[arg(long, conflicts_with = "crds")]
    pub pre: bool,
    /// Check the custom resource definitions, before the control plane is installed.
    #[arg(long)]
    pub crds: bool,
    /// With --pre: the installation will use linkerd-cni, which must be installed and ready.
    #[arg(long, requires = "pre")]
    pub linkerd_cni_enabled: bool,
    /// With -o linkerd, also print the rows of the data plane. meshdoctor's own reports always include it.
    #[arg(long, conflicts_with_all = ["pre", "crds"])]
    pub proxy: bool,
}

/// `meshdoctor check`.
#[derive(Debug, Clone, Args)]
#[command(after_help = help::of_check())]
pub struct Check {
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub fleet: Fleet,
    #[command(flatten)]
    pub selection: Selection,
    /// Check only workloads in these namespaces (comma-separated). The control plane is always checked.
    #[arg(short, long, value_name = "NAMESPACE,...", value_delimiter = ',', value_parser = namespace, help_heading = "Checks")]
    pub namespace: Vec<String>,
    /// The version of linkerd-cni that you are about to upgrade to, such as v1.6.8: says what that upgrade would break. By
    /// default the newest release that meshdoctor knows.
    #[arg(long, value_name = "VERSION", value_parser = cni_version, help_heading = "Checks")]
    pub to_cni: Option<CniVersion>,
    #[command(flatten)]
    pub manifests: Manifests,
    #[command(flatten)]
    pub rehearsal: Rehearsal,
    #[command(flatten)]
    pub stage: InstallStage,
    /// The release that everything should run, such as edge-26.8.3 or stable-2.14.10. By default what the evidence and
    /// meshdoctor's release data say.
    #[arg(long, value_name = "VERSION", value_parser = linkerd_version, help_heading = "Checks")]
    pub expected_version: Option<LinkerdVersion>,
    /// Exit with 1 when there is a finding of at least this severity; with :observed what is inferred ('likely') does not
    /// count. By default error, and with --verify warning.
    #[arg(long, value_enum, help_heading = "Checks")]
    pub fail_on: Option<FailOn>,
    /// How bad the findings of a check are here: error, warning or info. Its lesser findings stay no worse than they are.
    /// Repeatable; leave a check out with --skip.
    #[arg(long, value_name = "CHECK=SEVERITY", value_parser = severity, conflicts_with = "verify", help_heading = "Checks")]
    pub severity: Vec<(String, Severity)>,
    /// What it means for the exit status when evidence that was asked for could not be had.
    #[arg(long, alias = "on-unknown", value_enum, default_value_t = OnNotChecked::Fail, conflicts_with = "verify", help_heading = "Checks")]
    pub on_not_checked: OnNotChecked,
    /// Findings that are accepted: a YAML file of waivers, each with check or fingerprint, scope, reason, owner and expiry.
    /// They stay in the report, marked, and do not count. Waivers that have expired, are unused, accept everything or name no
    /// check are findings. Repeatable.
    #[arg(long, value_name = "FILE", conflicts_with = "verify", help_heading = "Checks")]
    pub waivers: Vec<PathBuf>,
    /// An earlier report (-o json=FILE) of the same cluster: what was found then, at the same subjects and as bad, does not
    /// count.
    #[arg(long, value_name = "REPORT.json", conflicts_with = "verify", help_heading = "Checks")]
    pub baseline: Option<PathBuf>,
    /// Check the findings of an earlier report (-o json=FILE) again on fresh evidence, and say of each: fixed, still there,
    /// or not checked. What the report's run was asked is asked again where no flag says otherwise.
    #[arg(long, value_name = "REPORT.json", help_heading = "Checks")]
    pub verify: Option<PathBuf>,
    #[command(flatten)]
    pub report: Reports,
    /// Also save what was read as a bundle: FILE.tar.gz, FILE.tar.zst or a folder.
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub save: Option<PathBuf>,
    /// Let --save overwrite a file that is there.
    #[arg(long, requires = "save", help_heading = "Output")]
    pub force: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
    /// Read the release data and other facts that age from this folder instead of the embedded ones.
    #[arg(long, value_name = "DIR", help_heading = "Checks")]
    pub knowledge: Option<PathBuf>,
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

/// `meshdoctor collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// Where to: FILE.tar.gz, FILE.tar.zst or a folder.
    #[arg(short, long, value_name = "PATH", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is there.
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub node_pods: NodePods,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub selection: Selection,
    /// Collect what 'check --pre' needs, before Linkerd is installed; this includes your own permissions.
    #[arg(long, conflicts_with = "crds", help_heading = "Checks")]
    pub pre: bool,
    /// Collect what 'check --crds' needs, before the control plane is installed.
    #[arg(long, help_heading = "Checks")]
    pub crds: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// `meshdoctor node-snapshot`.
#[derive(Debug, Args)]
pub struct NodeSnapshot {
    /// Where to: FILE.tar.gz, FILE.tar.zst, a folder, or '-' for a tar.gz on standard output. NODE.tar.gz when not given.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is there.
    #[arg(long, conflicts_with = "to_log")]
    pub force: bool,
    /// Write to standard output as lines of a log, as the pods of 'collect --node-pods' do: what --nodes reads again.
    #[arg(long, conflicts_with = "output")]
    pub to_log: bool,
    /// The root of the node's file system, where a pod has it mounted. No link leads out of it. By default /, or /host in a
    /// pod that has the node's files there.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// The node's name in the cluster; by default the one that the kubelet was given, else /etc/hostname.
    #[arg(long, value_name = "NAME", env = "NODE_NAME")]
    pub node: Option<String>,
    /// The directory of CNI configuration, instead of what the container runtime says.
    #[arg(long, value_name = "DIR", help_heading = "Directories")]
    pub conf_dir: Option<String>,
    /// A directory of plugin binaries, instead of what the container runtime says. Repeatable.
    #[arg(long, value_name = "DIR", help_heading = "Directories")]
    pub bin_dir: Vec<String>,
    /// Run no program. By default crictl, journalctl, iptables --version and the version question of linkerd-cni are run
    /// where the root is /.
    #[arg(long, conflicts_with = "ask_plugin", help_heading = "Programs")]
    pub no_run: bool,
    /// Run the linkerd-cni binary of another root than / as well, to ask it for its versions.
    #[arg(long, help_heading = "Programs")]
    pub ask_plugin: bool,
    /// Say nothing on standard error but errors.
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Reading nodes through pods.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Node pods")]
pub struct NodePods {
    /// Read the files of nodes by a short-lived pod on each, which is deleted again. Needs rights to create and delete pods;
    /// shows what it would create, and asks.
    #[arg(long, conflicts_with = "bundle")]
    pub node_pods: bool,
    /// Only this node, ready or not. Repeatable; every Linux node when not given.
    #[arg(long, value_name = "NAME", value_parser = node, requires = "node_pods")]
    pub node: Vec<String>,
    /// The image of the pods; it must hold this version of meshdoctor on its PATH.
    #[arg(long, value_name = "IMAGE", requires = "node_pods")]
    pub node_image: Option<String>,
    /// The namespace of the pods; it must admit pods that mount files of the node.
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace, requires = "node_pods", default_value = "kube-system")]
    pub node_namespace: String,
    /// Create the pods without asking.
    #[arg(long, requires = "node_pods")]
    pub yes: bool,
    /// Print the manifests of the pods, and do nothing.
    #[arg(long, requires = "node_pods")]
    pub dry_run: bool,
}

/// `meshdoctor policy`.
#[derive(Debug, Args)]
pub struct Policy {
    /// What to show: NAMESPACE, NAMESPACE/POD or NAMESPACE/POD:PORT; an ExternalWorkload is named like a pod. Everything
    /// that is injected when not given.
    #[arg(value_name = "NAMESPACE/POD[:PORT]", value_parser = target)]
    pub targets: Vec<Target>,
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
    /// As the policy controller itself answers proxies: {"inbound": {"NAMESPACE/POD": {"PORT": ANSWER}}}.
    Controller,
}

/// `meshdoctor reach`.
#[derive(Debug, Args)]
pub struct Reach {
    /// The client: a pod or a workload, NAMESPACE/NAME.
    #[arg(value_name = "FROM", value_parser = end)]
    pub from: Option<End>,
    /// What is called: a Service, a workload or a pod, NAMESPACE/NAME[:PORT], or a host, HOST:PORT.
    #[arg(value_name = "TO[:PORT]", value_parser = end)]
    pub to: Option<End>,
    /// Show who may call whom in a namespace: its workloads, and the ports of its Services.
    #[arg(long, requires = "namespace", conflicts_with_all = ["from", "to"])]
    pub matrix: bool,
    /// The namespace of --matrix.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace, requires = "matrix")]
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

/// The form of `reach`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReachFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
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

/// `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Info,
    Never,
    #[value(name = "error:observed")]
    ErrorObserved,
    #[value(name = "warning:observed")]
    WarningObserved,
}

/// `--on-not-checked`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnNotChecked {
    /// Exit with 4.
    Fail,
    /// Exit with 0.
    Pass,
}
