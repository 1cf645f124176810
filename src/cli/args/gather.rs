//! Flags of the commands that gather evidence without checking it: `collect` and `node-snapshot`.

use std::path::PathBuf;

use clap::Args;

use super::{Connection, EvidenceArgs, Selection, Verbosity};
use crate::cli::values::{namespace, node};

/// `meshdoctor collect`.
#[derive(Debug, Args)]
pub struct Collect {
    /// Destination: FILE.tar.gz, FILE.tar.zst or a folder.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file.
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
    /// Collect the evidence for 'check --pre', before Linkerd is installed; this includes your own permissions.
    #[arg(long, conflicts_with = "crds", help_heading = "Checks")]
    pub pre: bool,
    /// Collect the evidence for 'check --crds', before the control plane is installed.
    #[arg(long, help_heading = "Checks")]
    pub crds: bool,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// `meshdoctor node-snapshot`.
#[derive(Debug, Args)]
pub struct NodeSnapshot {
    /// Destination: FILE.tar.gz, FILE.tar.zst, a folder, or '-' for a tar.gz on standard output (default NODE.tar.gz).
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long, conflicts_with = "to_log")]
    pub force: bool,
    /// Write to standard output as log lines, as the pods of 'collect --node-pods' do. --nodes reads them.
    #[arg(long, conflicts_with = "output")]
    pub to_log: bool,
    /// With --to-log: keep running afterwards, as the pod of a DaemonSet must.
    #[arg(long, requires = "to_log")]
    pub hold: bool,
    /// Root of the node's file system. Links that lead out of it are not followed.
    ///
    /// The default is /, or /host in a pod that mounts the node's files there.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Name of the node in the cluster; by default the kubelet's node name, else /etc/hostname.
    #[arg(long, value_name = "NAME", env = "NODE_NAME")]
    pub node: Option<String>,
    /// CNI configuration directory; overrides the container runtime's setting.
    #[arg(long, value_name = "DIR", help_heading = "Directories")]
    pub conf_dir: Option<String>,
    /// Directory with plugin binaries; overrides the container runtime's setting. Repeatable.
    #[arg(long, value_name = "DIR", help_heading = "Directories")]
    pub bin_dir: Vec<String>,
    /// Run no programs.
    ///
    /// By default, if the root is /, crictl, journalctl, iptables --version and the version request of linkerd-cni are
    /// run.
    #[arg(long, conflicts_with = "ask_plugin", help_heading = "Programs")]
    pub no_run: bool,
    /// Run the linkerd-cni binary for its versions even if the root is not /.
    #[arg(long, help_heading = "Programs")]
    pub ask_plugin: bool,
    /// Print no warnings or progress on standard error.
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
}

/// Reading nodes through pods.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Node pods")]
pub struct NodePods {
    /// Read node files with a short-lived pod on each node, after confirmation.
    ///
    /// The pods are deleted afterwards. This needs permission to create and delete pods.
    #[arg(long, conflicts_with = "bundle")]
    pub node_pods: bool,
    /// Read only this node, ready or not. Repeatable. By default every Linux node is read.
    #[arg(long, value_name = "NAME", value_parser = node, requires = "node_pods")]
    pub node: Vec<String>,
    /// Image of the pods; it must contain this version of meshdoctor on its PATH.
    #[arg(long, value_name = "IMAGE", requires = "node_pods")]
    pub node_image: Option<String>,
    /// Namespace of the pods; it must admit pods that mount the node's files.
    #[arg(
        long,
        value_name = "NAMESPACE",
        value_parser = namespace,
        requires = "node_pods",
        default_value = "kube-system",
    )]
    pub node_namespace: String,
    /// Create the pods without confirmation.
    #[arg(long, requires = "node_pods")]
    pub yes: bool,
    /// Print the manifests of the pods, and create nothing.
    #[arg(long, requires = "node_pods")]
    pub dry_run: bool,
}
