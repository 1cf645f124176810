//! Arguments of `meshdoctor rotate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::{Connection, EvidenceArgs, Verbosity};
use crate::checks::rotation::{RotationSubject, Stage, Statements};
use crate::cli::values::time;

/// `meshdoctor rotate`.
#[derive(Debug, Args)]
pub struct Rotate {
    /// Bundles, dumps or folders to read instead of the cluster, as with --bundle.
    #[arg(value_name = "FILE", conflicts_with = "live")]
    pub files: Vec<PathBuf>,
    /// What to rotate; by default the issuer alone if it expires within 60 days and its trust anchor does
    /// not, else both.
    ///
    /// A rotation that is in progress is continued in any case.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub of: Option<Rotated>,
    /// Report with the exit status whether this step may be done now, instead of the next step.
    #[arg(long, value_enum, value_name = "STEP")]
    pub may: Option<StageArg>,
    /// A time at which the current issuer was already in place, if no event shows it (RFC 3339).
    #[arg(long, value_name = "RFC3339", value_parser = time)]
    pub issuer_since: Option<Timestamp>,
    /// A time at which the current bundle of trust anchors was already in place (RFC 3339).
    #[arg(long, value_name = "RFC3339", value_parser = time)]
    pub bundle_since: Option<Timestamp>,
    /// State that this is ready for the next step; use it only after you have checked it. Repeatable.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub confirm: Vec<Confirmed>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = RotateFormat::Table, help_heading = "Output")]
    pub output: RotateFormat,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}

/// What to rotate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[cfg_attr(feature = "mcp", derive(serde::Deserialize, rmcp::schemars::JsonSchema))]
#[cfg_attr(feature = "mcp", serde(rename_all = "kebab-case"), schemars(crate = "rmcp::schemars"))]
pub enum Rotated {
    /// The trust anchor, and the issuer under it.
    Anchor,
    /// The issuer, under the current trust anchor.
    Issuer,
}

/// What the operator checked by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[cfg_attr(feature = "mcp", derive(serde::Deserialize, rmcp::schemars::JsonSchema))]
#[cfg_attr(feature = "mcp", serde(rename_all = "kebab-case"), schemars(crate = "rmcp::schemars"))]
pub enum Confirmed {
    /// The clusters that this cluster has Links to.
    LinkedClusters,
    /// The proxies of ExternalWorkloads.
    ExternalWorkloads,
}

/// Output formats of `rotate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RotateFormat {
    /// Text.
    Table,
    /// JSON.
    Json,
}

/// A step of a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[cfg_attr(feature = "mcp", derive(serde::Deserialize, rmcp::schemars::JsonSchema))]
#[cfg_attr(feature = "mcp", serde(rename_all = "kebab-case"), schemars(crate = "rmcp::schemars"))]
pub enum StageArg {
    /// Add a new trust anchor to the bundle.
    AddAnchor,
    /// Restart the control plane with the new bundle.
    RestartControlPlane,
    /// Restart the meshed workloads with the new bundle.
    RestartWorkloads,
    /// Replace the issuer.
    ReplaceIssuer,
    /// Renew certificates of the old issuer.
    RenewCertificates,
    /// Remove the old trust anchor from the bundle.
    RemoveAnchor,
    /// Restart everything that still trusts the old anchor.
    DropOldAnchor,
}

impl StageArg {
    /// The step.
    pub fn stage(self) -> Stage {
        match self {
            StageArg::AddAnchor => Stage::AddAnchor,
            StageArg::RestartControlPlane => Stage::RestartControlPlane,
            StageArg::RestartWorkloads => Stage::RestartWorkloads,
            StageArg::ReplaceIssuer => Stage::ReplaceIssuer,
            StageArg::RenewCertificates => Stage::RenewCertificates,
            StageArg::RemoveAnchor => Stage::RemoveAnchor,
            StageArg::DropOldAnchor => Stage::DropOldAnchor,
        }
    }
}

impl Rotate {
    /// What the operator states.
    pub fn statements(&self) -> Statements {
        // Only the replacement of the issuer is a step of both rotations.
        let by_step = self.may.map(StageArg::stage).filter(|stage| *stage != Stage::ReplaceIssuer);
        let named = self.of.map(|of| match of {
            Rotated::Anchor => RotationSubject::Anchor,
            Rotated::Issuer => RotationSubject::Issuer,
        });
        Statements {
            of: named.or(by_step.map(|_| RotationSubject::Anchor)),
            issuer_since: self.issuer_since,
            bundle_since: self.bundle_since,
            linked_clusters: self.confirm.contains(&Confirmed::LinkedClusters),
            external_workloads: self.confirm.contains(&Confirmed::ExternalWorkloads),
        }
    }
}
