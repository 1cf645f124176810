//! Flags for upgrade previews.

use clap::Args;

use crate::cli::values::{kubernetes_version, linkerd_version};
use crate::version::{K8sVersion, LinkerdVersion};

/// The upgrade to preview.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Upgrade")]
pub struct Rehearsal {
    /// Preview an upgrade to this Linkerd release: a minor such as 2.20, or a release such as edge-26.8.3.
    ///
    /// Reports what the upgrade breaks and changes on this cluster; -o plan prints the steps in order.
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["pre", "crds", "verify"])]
    pub to: Option<String>,
    /// With --to: Kubernetes version at the time of the upgrade, such as 1.35.
    #[arg(long, value_name = "VERSION", requires = "to", value_parser = kubernetes_version)]
    pub to_kubernetes: Option<K8sVersion>,
    /// With --to: the installed release, if the evidence does not contain it.
    #[arg(long, value_name = "RELEASE", requires = "to", value_parser = linkerd_version)]
    pub from: Option<LinkerdVersion>,
}
