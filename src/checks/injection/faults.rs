//! Errors that keep pods from being injected although they request a proxy, for commands that answer a single question.

use std::collections::BTreeSet;

use crate::checks::serving::{component_missing, silent_injector};
use crate::checks::{Check, Settings, certificates, control_plane, evaluate, versions};
use crate::finding::{Finding, Severity, Subject};
use crate::item::Item;
use crate::knowledge::Knowledge;
use crate::model::Cluster;

/// The checks whose findings are consequences of an injector that cannot be called.
const CONSEQUENCES: [&str; 3] = ["injector-fails-open", "pod-missing-proxy", "workload-half-meshed"];
/// The check of pods that the API server rejects.
const REFUSED: &str = "pods-refused";

/// Errors of checks that injection depends on.
pub struct InjectionFaults {
    /// Those that keep the API server from calling the injector.
    injector: Vec<Finding>,
    /// Those that keep the pods of single workloads from being created.
    workloads: Vec<Finding>,
}

impl InjectionFaults {
    /// The evidence that its checks read.
    pub fn items() -> BTreeSet<Item> {
        let fronts = checks().map(|check| &check.card().front);
        fronts.flat_map(|front| front.needs.iter().chain(&front.uses)).cloned().collect()
    }

    /// Evaluates the checks.
    pub fn read(cluster: &Cluster, knowledge: &Knowledge) -> InjectionFaults {
        let checks: Vec<&'static Check> = checks().collect();
        let results = evaluate(&checks, cluster, knowledge, &Settings::default());
        let found = results.into_iter().flat_map(|result| result.findings);
        let errors = found.filter(|finding| finding.severity == Severity::Error);
        let (workloads, others): (Vec<Finding>, Vec<Finding>) = errors
            .filter(|finding| !CONSEQUENCES.contains(&finding.check))
            .partition(|finding| [REFUSED, versions::known_defect::ID].contains(&finding.check));
        let silent = [silent_injector(), component_missing("proxy-injector")];
        let is_cause = |finding: &Finding| finding.ties.iter().any(|tie| silent.contains(tie));
        let injector = others.into_iter().filter(is_cause).collect();
        InjectionFaults { injector, workloads }
    }

    /// The first error that concerns new pods of a workload, which request a proxy.
    pub fn of(&self, kind: &str, namespace: &str, name: &str) -> Option<&Finding> {
        let is_own = |subject: &Subject| match subject {
            Subject::Object { kind: of, namespace: home, name: own, .. } => {
                of == kind && home == namespace && own == name
            }
            _ => false,
        };
        let own = self.workloads.iter().filter(|finding| finding.subjects.iter().any(is_own));
        // A known defect is a cause, and the refusal its symptom.
        own.min_by_key(|finding| finding.check == REFUSED).or(self.injector.first())
    }
}

fn checks() -> impl Iterator<Item = &'static Check> {
    let all = [control_plane::TABLE, certificates::TABLE, super::TABLE, versions::TABLE];
    all.into_iter().flatten().filter(|check| {
        !CONSEQUENCES.contains(&check.id)
            && (check.card().front.category != "versions" || check.id == versions::known_defect::ID)
    })
}
