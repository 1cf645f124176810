//! The flags of `ticket`.

use std::path::PathBuf;

use clap::Args;

use super::{Connection, EvidenceArgs, Verbosity, help};

/// `meshdoctor ticket`.
#[derive(Debug, Args)]
#[command(after_help = help::of_ticket())]
pub struct Ticket {
    /// Where to: FILE.tar.gz, FILE.tar.zst, a folder, or '-' for a tar.gz on standard output.
    #[arg(short, long, value_name = "PATH", required_unless_present = "dry_run")]
    pub output: Option<PathBuf>,
    /// Overwrite a file that is there.
    #[arg(long)]
    pub force: bool,
    /// List every file that would leave this machine, how large it is and how much of it is redacted, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub evidence: EvidenceArgs,
    #[command(flatten)]
    pub connection: Connection,
    #[command(flatten)]
    pub verbosity: Verbosity,
}
