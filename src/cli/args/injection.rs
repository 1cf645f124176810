//! Arguments of `meshdoctor injection`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::inspect::in_namespace;
use super::{Connection, EvidenceArgs, Verbosity};
use crate::cli::values::{linkerd_version, namespace, target};
use crate::inspect::policy::Target;
use crate::version::LinkerdVersion;

/// `meshdoctor injection`.
#[derive(Debug, Args)]
pub struct Injection {
    /// NAMESPACE, or NAMESPACE/NAME of a pod or workload; by default everything.
    #[arg(value_name = "NAMESPACE/NAME", value_parser = target)]
    pub targets: Vec<Target>,
    /// Namespace of names that are given without one; without names, all pods and workloads of it.
    #[arg(short, long, value_name = "NAMESPACE", value_parser = namespace)]
    pub namespace: Option<String>,
    /// Show the pods of manifests: files, folders or '-' for standard input. Repeatable.
    ///
    /// With --bundle or --live, the injector settings of that cluster apply.
    #[arg(long, value_name = "PATH", help_heading = "Manifests", conflicts_with_all = ["nodes", "logs"])]
    pub manifests: Vec<PathBuf>,
    /// The Linkerd release, if neither cluster nor manifests contain a control plane.
    #[arg(long, value_name = "RELEASE", help_heading = "Manifests", value_parser = linkerd_version)]
    pub linkerd_version: Option<LinkerdVersion>,
    /// Namespace for manifests that name none, as with kubectl apply -n (default: default).
    #[arg(long, value_name = "NAMESPACE", help_heading = "Manifests", requires = "manifests", value_parser = namespace)]
    pub into: Option<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = InjectionFormat::Table, help_heading = "Output")]
    pub output: InjectionFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

impl Injection {
    /// The targets, with the namespace of those that are given without one.
    pub fn targets(&self) -> Vec<Target> {
        in_namespace(&self.targets, self.namespace.as_deref())
    }
}

/// Output formats of `injection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InjectionFormat {
    /// A table.
    Table,
    /// JSON.
    Json,
}
