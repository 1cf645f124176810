//! Arguments of `meshdoctor diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FailOn;

/// `meshdoctor diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The earlier report (check -o json=FILE), or a bundle or folder, which is checked first.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The later report, bundle or folder.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Exit with 1 if findings of at least this severity are new or worse (default error).
    ///
    /// Exits with 4 if such findings cannot be compared.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub fail_on: Option<FailOn>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t = DiffFormat::Table)]
    pub output: DiffFormat,
}

/// Output formats of `diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// A table.
    Table,
    /// JSON.
    Json,
}
