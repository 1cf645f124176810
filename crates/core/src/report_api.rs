//! Objects that a run writes into the cluster on request: the API for reports, and the intended objects. `render`
//! creates their content, the live source writes them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Name of all written objects, and of their manager.
pub const NAME: &str = "meshdoctor";
/// Label that identifies these objects.
pub const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportApi {
    /// `openreports.io`
    pub group: &'static str,
    /// The version to write.
    pub version: &'static str,
    /// Kind and resource of namespaced reports.
    pub namespaced: (&'static str, &'static str),
    /// Kind and resource of the cluster report.
    pub of_cluster: (&'static str, &'static str),
}

/// Both APIs, the preferred one first.
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

/// Intended state of the cluster after a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Published {
    /// Reports by namespace; the cluster report has an empty name.
    pub reports: BTreeMap<String, Value>,
    /// Events for new and fixed findings.
    pub events: Vec<Value>,
}
