//! Flags that say which upgrade is about to come.

use clap::Args;

use crate::cli::values::{kubernetes_version, linkerd_version};
use crate::version::{K8sVersion, LinkerdVersion};

/// An upgrade that is rehearsed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Upgrade")]
pub struct Rehearsal {
    /// The release of Linkerd that you are about to upgrade to: a minor such as 2.20, or a release such as edge-26.8.3. Says
    /// what that upgrade will break and what it will change on this cluster, and in which order to go about it (-o plan).
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["pre", "crds", "verify"])]
    pub to: Option<String>,
    /// With --to: the Kubernetes that the cluster will run by then, such as 1.35.
    #[arg(long, value_name = "VERSION", requires = "to", value_parser = kubernetes_version)]
    pub to_kubernetes: Option<K8sVersion>,
    /// With --to: the release that is installed, where the evidence does not tell.
    #[arg(long, value_name = "RELEASE", requires = "to", value_parser = linkerd_version)]
    pub from: Option<LinkerdVersion>,
}
