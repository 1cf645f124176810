//! Flags of `meshdoctor rbac`.

use clap::Args;

use super::Selection;
use crate::cli::values::service_account;

/// `meshdoctor rbac`.
#[derive(Debug, Args)]
pub struct Rbac {
    #[command(flatten)]
    pub selection: Selection,
    /// Also allow port-forwards to pods in every namespace, which 'check --proxies' and 'sync' need to read metrics.
    #[arg(long)]
    pub proxies: bool,
    /// Also print a binding to this user.
    #[arg(long, value_name = "NAME", conflicts_with = "service_account")]
    pub user: Option<String>,
    /// Also print a binding to this service account.
    #[arg(long, value_name = "NAMESPACE/NAME", value_parser = service_account)]
    pub service_account: Option<(String, String)>,
    /// Use Roles instead of a ClusterRole for Secrets and ConfigMaps that are read by name.
    ///
    /// The Roles are in the namespaces of the control plane and of linkerd-cni and in kube-system. Lists
    /// still cover all namespaces.
    #[arg(long)]
    pub namespaced: bool,
    /// With --namespaced: namespace of the control plane.
    #[arg(short = 'L', long, value_name = "NAMESPACE", default_value = "linkerd", requires = "namespaced")]
    pub linkerd_namespace: String,
    /// With --namespaced: namespace of linkerd-cni.
    #[arg(long, value_name = "NAMESPACE", default_value = "linkerd-cni", requires = "namespaced")]
    pub cni_namespace: String,
}
