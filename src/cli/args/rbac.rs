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
    /// Grant what is read by name, Secrets and ConfigMaps, in its own namespace alone: by Roles in those of the control plane and of
    /// linkerd-cni and in kube-system, in the place of a ClusterRole. Lists are of all namespaces as before.
    #[arg(long)]
    pub namespaced: bool,
    /// With --namespaced: the namespace of the control plane.
    #[arg(short = 'L', long, value_name = "NAMESPACE", default_value = "linkerd", requires = "namespaced")]
    pub linkerd_namespace: String,
    /// With --namespaced: the namespace of linkerd-cni.
    #[arg(long, value_name = "NAMESPACE", default_value = "linkerd-cni", requires = "namespaced")]
    pub cni_namespace: String,
}
