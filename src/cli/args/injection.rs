//! Arguments of `meshdoctor injection`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Connection, EvidenceArgs, Verbosity};
use crate::cli::values::{linkerd_version, namespace, target};
use crate::inspect::policy::Target;
use crate::version::LinkerdVersion;

/// `meshdoctor injection`.
#[derive(Debug, Args)]
pub struct Injection {
    /// What to show: NAMESPACE or NAMESPACE/NAME of something that makes pods. Everything when not given.
    #[arg(value_name = "NAMESPACE/NAME", value_parser = target)]
    pub targets: Vec<Target>,
    /// Show what manifests make: files, folders or '-' for standard input. By themselves, or with --bundle or --live as the
    /// injector of that cluster treats them. Repeatable.
    #[arg(long, value_name = "PATH", help_heading = "Manifests", conflicts_with_all = ["nodes", "logs"])]
    pub manifests: Vec<PathBuf>,
    /// The release that injects, where neither cluster nor manifests hold a control plane.
    #[arg(long, value_name = "RELEASE", help_heading = "Manifests", value_parser = linkerd_version)]
    pub linkerd_version: Option<LinkerdVersion>,
    /// The namespace of manifests that name none, as with kubectl apply -n; default when not given.
    #[arg(long, value_name = "NAMESPACE", help_heading = "Manifests", requires = "manifests", value_parser = namespace)]
    pub into: Option<String>,
    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = InjectionFormat::Table, help_heading = "Output")]
    pub output: InjectionFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// The form of the answer of `injection`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InjectionFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}
