//! Arguments of `meshdoctor diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FailOn;

/// `meshdoctor diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The earlier report, as check -o json=FILE writes it; or a bundle or folder, which is checked first.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The later report, bundle or folder.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Exit with 1 when something of at least this severity is new or has become worse, and with 4 when such cannot be
    /// compared. By default error.
    #[arg(long, value_enum)]
    pub fail_on: Option<FailOn>,
    /// The form of the answer.
    #[arg(short, long, value_enum, default_value_t = DiffFormat::Table)]
    pub output: DiffFormat,
}

/// The form of `diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}
