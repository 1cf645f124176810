//! Arguments of `meshdoctor fix`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Check, Connection, EvidenceArgs, FailOn, Manifests, Selection, Verbosity};
use crate::cli::values::{kubernetes_version, linkerd_version, namespace};
use crate::version::{K8sVersion, LinkerdVersion};

/// `meshdoctor fix`.
#[derive(Debug, Clone, Args)]
pub struct Fix {
    /// A bundle, dump or folder to read instead of the cluster, as with --bundle, or a saved report (check -o
    /// json=FILE), whose plan is printed as it is.
    #[arg(
        value_name = "FILE",
        conflicts_with_all = [
            "live", "manifests", "values", "write", "linkerd_version", "kubernetes_version", "into",
        ],
    )]
    pub report: Option<PathBuf>,
    /// Repair manifests instead of a cluster: files or folders. Several paths may follow. Shows a diff unless
    /// --write is given.
    #[arg(
        long,
        value_name = "PATH",
        num_args = 1..,
        help_heading = "Manifests",
        group = "files",
        conflicts_with_all = ["live", "nodes", "logs"],
    )]
    pub manifests: Vec<PathBuf>,
    /// Repair values for a Linkerd Helm chart instead, as with check --values. Repeatable; later files override
    /// earlier ones.
    #[arg(
        long,
        value_name = "FILE",
        requires = "chart",
        help_heading = "Manifests",
        group = "files",
        conflicts_with_all = ["live", "nodes", "logs", "bundle"],
    )]
    pub values: Vec<PathBuf>,
    /// The chart that --values are for, and its release: linkerd-control-plane@2.19, linkerd-viz@edge-26.5.5.
    #[arg(long, value_name = "CHART@RELEASE", requires = "values", help_heading = "Manifests")]
    pub chart: Option<String>,
    /// Edit the files of --manifests or --values, and check them again.
    #[arg(long, requires = "files", help_heading = "Manifests")]
    pub write: bool,
    /// Run the steps on the cluster, each after a confirmation, and check the cluster again after each. Stops
    /// if one fails.
    #[arg(long, conflicts_with_all = ["manifests", "values", "nodes", "logs", "output"])]
    pub apply: bool,
    /// With --manifests: the Linkerd release to check for, if they do not contain the control plane.
    #[arg(
        long,
        value_name = "RELEASE",
        requires = "manifests",
        help_heading = "Manifests",
        value_parser = linkerd_version,
    )]
    pub linkerd_version: Option<LinkerdVersion>,
    /// With --manifests: the Kubernetes version to check for, such as 1.34.
    #[arg(
        long,
        value_name = "VERSION",
        requires = "manifests",
        help_heading = "Manifests",
        value_parser = kubernetes_version,
    )]
    pub kubernetes_version: Option<K8sVersion>,
    /// Namespace for manifests that name none, as with kubectl apply -n (default: default).
    #[arg(long, value_name = "NAMESPACE", requires = "manifests", help_heading = "Manifests", value_parser = namespace)]
    pub into: Option<String>,
    #[command(flatten)]
    pub selection: Selection,
    /// Repair only workloads in these namespaces (comma-separated). The control plane is always checked.
    #[arg(
        short,
        long,
        value_name = "NAMESPACE,...",
        value_delimiter = ',',
        value_parser = namespace,
        help_heading = "Checks",
    )]
    pub namespace: Vec<String>,
    /// Output format. The default is a script for a cluster, and a diff for files.
    #[arg(short, long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<FixFormat>,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// Output formats of `fix`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FixFormat {
    /// A shell script that stops at the first failure and at each manual step.
    Script,
    /// Patches of objects, in the form of a kustomization.
    #[value(alias = "kustomize")]
    Patch,
    /// The chart values that steps set, for the values files of each chart.
    Values,
    /// A unified diff of the files of --manifests or --values.
    Diff,
    /// The findings of these files as SARIF, each with its edit under `fixes`.
    Sarif,
    /// JSON.
    Json,
}

impl Fix {
    /// The flags of the check that precedes the repair.
    pub fn as_check(&self) -> Check {
        Check {
            evidence: self.evidence.clone(),
            connection: self.connection.clone(),
            selection: self.selection.clone(),
            namespace: self.namespace.clone(),
            manifests: Manifests {
                manifests: self.manifests.clone(),
                values: self.values.clone(),
                chart: self.chart.clone(),
                linkerd_version: self.linkerd_version.clone(),
                kubernetes_version: self.kubernetes_version.clone(),
                into: self.into.clone(),
                ..Manifests::default()
            },
            fail_on: Some(FailOn::Warning),
            verbosity: self.verbosity.clone(),
            ..Check::default()
        }
    }
}
