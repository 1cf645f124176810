//! Flags that name manifests: a set to judge by itself, or a change to lay over a cluster.

use std::path::PathBuf;

use clap::Args;

use crate::cli::values::{kubernetes_version, linkerd_version, namespace, selector};
use crate::objects::LabelSelector;
use crate::version::{K8sVersion, LinkerdVersion};

/// Manifests, before they are applied.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Manifests")]
pub struct Manifests {
    /// Judge manifests without a cluster: files, folders or '-' for standard input, as helm template, kustomize build and
    /// linkerd install print them. What they do not hold is not checked, and changes no exit status. Repeatable.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["with", "live", "nodes", "logs", "pre", "crds", "verify", "save"])]
    pub manifests: Vec<PathBuf>,
    /// With --manifests: the release of Linkerd that they are for, where they do not hold the control plane. With --bundle
    /// beside --manifests it is read from there.
    #[arg(long, value_name = "RELEASE", requires = "manifests", value_parser = linkerd_version)]
    pub linkerd_version: Option<LinkerdVersion>,
    /// With --manifests: the Kubernetes that they are for, such as 1.34.
    #[arg(long, value_name = "VERSION", requires = "manifests", value_parser = kubernetes_version)]
    pub kubernetes_version: Option<K8sVersion>,
    /// Lay manifests over the cluster or bundle, as if they were applied, and judge the cluster as it would be: says what
    /// the change brings in, what it cures and what stays. --fail-on counts what it brings in. Repeatable.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["to", "pre", "crds", "verify"])]
    pub with: Vec<PathBuf>,
    /// With --with: objects with these labels that the manifests do not name are deleted, as kubectl apply --prune does.
    #[arg(long, value_name = "SELECTOR", requires = "with", value_parser = selector)]
    pub prune: Option<LabelSelector>,
    /// Judge values that are about to be given to a chart of Linkerd's: unknown and unread ones, wrong types, what the chart
    /// refuses. By themselves; with --bundle or --live over what the cluster has; with --to for the upgrade. A later file counts
    /// over an earlier one, as with helm. Repeatable.
    #[arg(long, value_name = "FILE", requires = "chart", conflicts_with_all = ["manifests", "with", "pre", "crds", "verify"])]
    pub values: Vec<PathBuf>,
    /// The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5, or with the version
    /// of the chart, linkerd2-cni@2025.10.7. Without a release it is that of the cluster or of --to.
    #[arg(long, value_name = "CHART[@RELEASE]", requires = "values")]
    pub chart: Option<String>,
    /// The namespace of manifests that name none, as with kubectl apply -n; default when not given.
    #[arg(long, value_name = "NAMESPACE", value_parser = namespace)]
    pub into: Option<String>,
}
