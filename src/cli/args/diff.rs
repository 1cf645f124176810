//! Arguments of `meshdoctor diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FailOn;

/// `meshdoctor diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The earlier report, as check -o json=FILE writes it.
    #[arg(value_name = "BEFORE.json")]
    pub before: PathBuf,
    /// The later report. Of a bundle: check --bundle FILE -o json=FILE.
    #[arg(value_name = "AFTER.json")]
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
