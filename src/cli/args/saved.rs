//! Arguments of `meshdoctor report`.

use std::path::PathBuf;

use clap::Args;

use super::{Reports, Verbosity};

/// `meshdoctor report`.
#[derive(Debug, Args)]
pub struct Saved {
    /// The report that check -o json=FILE wrote; '-' for standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub report: Reports,
    #[command(flatten)]
    pub verbosity: Verbosity,
}
