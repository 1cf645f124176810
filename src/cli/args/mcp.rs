//! Arguments of `meshdoctor mcp`.

use std::path::PathBuf;

use clap::Args;

use super::{Connection, EvidenceArgs};

/// `meshdoctor mcp`.
#[derive(Debug, Clone, Args)]
pub struct Mcp {
    /// An earlier report (check -o json=FILE), which the tool diff knows as "baseline".
    #[arg(long, value_name = "REPORT.json", help_heading = "Checks")]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
}
