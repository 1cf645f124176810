//! The pods that findings are about, so that their logs and metrics are read.

use std::collections::BTreeSet;

use crate::checks::{self, Check, Settings, evaluate};
use crate::finding::{Severity, Subject};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::model::Cluster;

/// Pods with warnings and errors, by namespace and name, as far as the items show.
pub fn all(cluster: &Cluster, items: &BTreeSet<Item>) -> BTreeSet<(String, String)> {
    let able = |check: &&'static Check| check.card().front.needs.iter().all(|item| items.contains(item));
    let checks: Vec<&'static Check> = checks::all().filter(able).collect();
    let results = evaluate(&checks, cluster, Knowledge::embedded(), &Settings::default());
    let findings = results.iter().flat_map(|result| &result.findings);
    let subjects = findings.filter(|finding| finding.severity >= Severity::Warning).flat_map(|f| &f.subjects);
    let mut pods = BTreeSet::new();
    for subject in subjects {
        if let Subject::Object { kind, namespace, name, pods: of_it } = subject {
            pods.extend(of_it.iter().map(|pod| (namespace.clone(), pod.clone())));
            if kind == "Pod" {
                pods.insert((namespace.clone(), name.clone()));
            }
        }
    }
    pods
}
