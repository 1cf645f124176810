//! The objects that a run may leave in a cluster, where that is asked for: which API takes reports, and what is to be there. What is
//! in them is `render`'s business, how they get there that of the live source.

use std::collections::BTreeMap;

use serde_json::Value;

/// The name of every object that is written, and of who writes it.
pub const NAME: &str = "meshdoctor";
/// The label by which these objects are found again.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
/// An API that reports are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportApi {
    /// `openreports.io`
    pub group: &'static str,
    /// The version that is written.
    pub version: &'static str,
    /// Kind and resource of a namespace's report.
    pub namespaced: (&'static str, &'static str),
    /// Kind and resource of the cluster's.
    pub of_cluster: (&'static str, &'static str),
}

/// Both of them, the one that is preferred first.
pub const APIS: [ReportApi; 2] = [
    ReportApi {
        group: "openreports.io",
        version: "v1alpha1",
        namespaced: ("Report", "reports"),
        of_cluster: ("ClusterReport", "clusterreports"),
    },
    ReportApi {
        group: "wgpolicyk8s.io",
        version: "v1alpha2",
        namespaced: ("PolicyReport", "policyreports"),
        of_cluster: ("ClusterPolicyReport", "clusterpolicyreports"),
    },
];

/// What is to be in the cluster after a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// The reports by namespace; that of the cluster under the empty name.
    pub reports: BTreeMap<String, Value>,
    /// The events of what came and what went.
    pub events: Vec<Value>,
}
