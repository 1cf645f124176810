//! The flags of what gathers evidence and judges none: `collect` and `node-snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{Connection, EvidenceArgs, Selection, Verbosity};
use crate::cli::values::{namespace, node};

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
    /// With --to-log: stay until ended, and do nothing, as the pod of a DaemonSet must.
    #[arg(long, requires = "to_log")]
    pub hold: bool,
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
