//! Flags for checks that users bring.

use std::path::PathBuf;

use clap::Args;

/// `meshdoctor test`.
#[derive(Debug, Args)]
pub struct Test {
    /// Folders of cards, or cards; by default those of --checks. With UPDATE=1 in the environment what the cases say is
    /// written into the cards.
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

/// `meshdoctor new`.
#[derive(Debug, Args)]
pub struct New {
    /// The id of the check: what is wrong, in words with dashes between them, such as workload-without-owner.
    #[arg(value_name = "CHECK")]
    pub check: String,
    /// The folder that it is written into.
    #[arg(long = "dir", value_name = "DIR", default_value = "checks")]
    pub folder: PathBuf,
}
