//! Flags of the role that is printed.

use clap::Args;

use super::Selection;
use crate::cli::values::service_account;

/// `meshdoctor rbac`.
#[derive(Debug, Args)]
pub struct Rbac {
    #[command(flatten)]
    pub selection: Selection,
    /// Also print a binding to this user.
    #[arg(long, value_name = "NAME", conflicts_with = "service_account")]
    pub user: Option<String>,
    /// Also print a binding to this service account.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = service_account)]
    pub service_account: Option<(String, String)>,
}
