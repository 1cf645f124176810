//! The flags of `ticket`.

use std::path::PathBuf;

use clap::Args;

use super::{Connection, EvidenceArgs, Selection, Verbosity, help};
use crate::cli::values::{Parameter, cni_version, kubernetes_version, linkerd_version, namespace, parameter, release};
use crate::version::{CniVersion, K8sVersion, LinkerdVersion};

/// `meshdoctor ticket`.
#[derive(Debug, Clone, Args)]
#[command(after_help = help::of_ticket())]
pub struct Ticket {
    /// Bundles, dumps or folders to read instead of the cluster, as with --bundle.
    #[arg(value_name = "FILE", conflicts_with = "live")]
    pub files: Vec<PathBuf>,
    /// Destination: FILE.tar.gz, FILE.tar.zst, a folder, or '-' for a tar.gz on standard output.
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
    /// List the files of the archive, their size and redactions, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub selection: Selection,
    /// Check only workloads in these namespaces (comma-separated). The control plane is always checked.
    #[arg(
        short,
        long,
        value_name = "NAMESPACE,...",
        value_delimiter = ',',
        value_parser = namespace,
        help_heading = "Checks",
    )]
    pub namespace: Vec<String>,
    /// Check whether the cluster can run Linkerd, before it is installed.
    #[arg(long, conflicts_with_all = ["crds", "to"], help_heading = "Checks")]
    pub pre: bool,
    /// Check the custom resource definitions, before the control plane is installed.
    #[arg(long, conflicts_with = "to", help_heading = "Checks")]
    pub crds: bool,
    /// With --pre: the installation will use linkerd-cni, which must be installed and ready.
    #[arg(long, requires = "pre", help_heading = "Checks")]
    pub linkerd_cni_enabled: bool,
    /// Add a preview of an upgrade to this Linkerd release to the report.
    #[arg(long, value_name = "RELEASE", help_heading = "Upgrade")]
    pub to: Option<String>,
    /// With --to: Kubernetes version at the time of the upgrade, such as 1.35.
    #[arg(long, value_name = "VERSION", requires = "to", value_parser = kubernetes_version, help_heading = "Upgrade")]
    pub to_kubernetes: Option<K8sVersion>,
    /// With --to: the installed release, if the evidence does not contain it.
    #[arg(long, value_name = "RELEASE", requires = "to", value_parser = linkerd_version, help_heading = "Upgrade")]
    pub from: Option<LinkerdVersion>,
    /// The linkerd-cni version of the next upgrade, such as v1.6.8.
    #[arg(long, value_name = "VERSION", value_parser = cni_version, help_heading = "Checks")]
    pub to_cni: Option<CniVersion>,
    /// The release that all components should run, such as edge-26.8.3 or stable-2.14.10.
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Checks")]
    pub expected_version: Option<LinkerdVersion>,
    /// Override a check's parameter: trust-anchor-expiring.days=30. Repeatable.
    #[arg(long, value_name = "CHECK.NAME=VALUE", value_parser = parameter, help_heading = "Checks")]
    pub param: Vec<Parameter>,
    #[command(flatten)]
    pub verbosity: Verbosity,
}
