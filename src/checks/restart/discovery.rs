//! Problems of the control plane that keep proxies from endpoints or policies although destination is ready,
//! for commands that answer a single question.

use crate::checks::serving::component_missing;
use crate::checks::{Check, Settings, control_plane, evaluate};
use crate::finding::{Finding, Severity, Tie};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::model::Cluster;

/// The checks whose errors keep destination from serving its clients.
const CHECKS: [&str; 3] = ["control-plane-rbac-missing", "control-plane-service-missing", DEFINITIONS];
/// The check of the CRDs.
const DEFINITIONS: &str = "crd-missing";
/// The component that proxies read endpoints and policies from.
const COMPONENT: &str = "destination";

/// The errors of these checks that concern destination.
pub fn discovery_faults(cluster: &Cluster, knowledge: &Knowledge) -> Vec<Finding> {
    // Every cluster has roles, and every mesh has CRDs: without any, the evidence is a part of a cluster.
    let has = |kind| cluster.answer(&Item::List(kind)).is_some_and(|answer| answer.count() > 0);
    if !has(Kind::ClusterRole) || !has(Kind::CustomResourceDefinition) {
        return Vec::new();
    }
    let is_listed = |check: &&'static Check| CHECKS.contains(&check.id);
    let checks: Vec<&'static Check> = control_plane::TABLE.iter().filter(is_listed).collect();
    let results = evaluate(&checks, cluster, knowledge, &Settings::default());
    let found = results.into_iter().flat_map(|result| result.findings);
    found.filter(|finding| finding.severity == Severity::Error && concerns_destination(finding)).collect()
}

/// Whether a finding concerns destination: by its ties, or because every controller watches the kinds of the CRDs.
fn concerns_destination(finding: &Finding) -> bool {
    let refused = Tie::Fact(format!("component-refused:{COMPONENT}"));
    finding.check == DEFINITIONS
        || finding.ties.contains(&component_missing(COMPONENT))
        || finding.ties.contains(&refused)
}
