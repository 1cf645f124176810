//! Flags for manifests: checked without a cluster, or applied on top of one.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values::{kubernetes_version, linkerd_version, namespace, selector};
use crate::objects::LabelSelector;
use crate::version::{K8sVersion, LinkerdVersion};

/// Manifests that are not applied yet.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Manifests")]
pub struct Manifests {
    /// Check manifests without a cluster: files, folders or '-' for standard input. Several paths may follow.
    ///
    /// Accepts the output of helm template, kustomize build and linkerd install. What the manifests do not contain is
    /// not checked and does not change the exit status.
    #[arg(
        long,
        value_name = "PATH",
        num_args = 1..,
        conflicts_with_all = ["with", "live", "nodes", "logs", "pre", "crds", "verify", "save"],
    )]
    pub manifests: Vec<PathBuf>,
    /// With --manifests: the Linkerd release to check for, if they do not contain the control plane. With --pre or
    /// --crds: the release to install.
    ///
    /// With --manifests and --bundle, the release of the bundle is used.
    #[arg(long, value_name = "RELEASE", requires = "manifests", value_parser = linkerd_version)]
    pub linkerd_version: Option<LinkerdVersion>,
    /// With --manifests: the Kubernetes version to check for, such as 1.34.
    #[arg(long, value_name = "VERSION", requires = "manifests", value_parser = kubernetes_version)]
    pub kubernetes_version: Option<K8sVersion>,
    /// Check the cluster or bundle as it would be with these manifests applied. Repeatable.
    ///
    /// Reports what the change introduces, what it fixes and what stays. --fail-on counts only what it introduces.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["to", "pre", "crds", "verify"])]
    pub with: Vec<PathBuf>,
    /// With --with: also delete objects with these labels that the manifests do not name, like kubectl apply --prune.
    #[arg(long, value_name = "SELECTOR", requires = "with", value_parser = selector)]
    pub prune: Option<LabelSelector>,
    /// Check values for a Linkerd Helm chart: unknown and unused values, wrong types, and values that the chart
    /// rejects. Repeatable.
    ///
    /// Without a cluster, the files are checked alone; with --bundle or --live, on top of the values in the cluster;
    /// with --to, for the upgrade. Later files override earlier ones, as with helm.
    #[arg(
        long,
        value_name = "FILE",
        requires = "chart",
        conflicts_with_all = ["manifests", "with", "pre", "crds", "verify"],
    )]
    pub values: Vec<PathBuf>,
    /// The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5.
    ///
    /// A chart version also works: linkerd2-cni@2025.10.7. The default is the release of the cluster or of --to.
    #[arg(long, value_name = "CHART[@RELEASE]", requires = "values")]
    pub chart: Option<String>,
    /// Namespace for manifests that name none, as with kubectl apply -n (default: default).
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub into: Option<String>,
}
