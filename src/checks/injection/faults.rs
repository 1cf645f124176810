//! Errors that keep pods from being injected although they request a proxy, for commands that answer a single question.

use crate::checks::prelude::*;
use crate::checks::serving::{component_missing, silent_injector};
use crate::checks::{Check, Settings, certificates, control_plane, evaluate, versions};
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
    /// Its checks.
    pub fn checks() -> Vec<&'static Check> {
        let all = [control_plane::TABLE, certificates::TABLE, super::TABLE].into_iter().flatten();
        let causes = all.filter(|check| !CONSEQUENCES.contains(&check.id));
        causes.chain(versions::TABLE.iter().filter(|check| check.id == versions::known_defect::ID)).collect()
    }

    /// Evaluates the checks.
    pub fn read(cluster: &Cluster, knowledge: &Knowledge) -> InjectionFaults {
        let results = evaluate(&InjectionFaults::checks(), cluster, knowledge, &Settings::default());
        let found = results.into_iter().flat_map(|result| result.findings);
        let errors = found.filter(|finding| finding.severity == Severity::Error);
        let (workloads, others): (Vec<Finding>, Vec<Finding>) =
            errors.partition(|finding| [REFUSED, versions::known_defect::ID].contains(&finding.check));
        let silent = [silent_injector(), component_missing("proxy-injector")];
        let is_cause = |finding: &Finding| finding.ties.iter().any(|tie| silent.contains(tie));
        let injector = others.into_iter().filter(is_cause).collect();
        InjectionFaults { injector, workloads }
    }

    /// The first error that concerns new pods of a workload, which request a proxy.
    pub fn of(&self, kind: &str, namespace: &str, name: &str) -> Option<&Finding> {
        let workload = Subject::object(kind, namespace, name);
        let is_own = |subject: &Subject| subject.is_same_object(&workload);
        let own = self.workloads.iter().filter(|finding| finding.subjects.iter().any(is_own));
        // A known defect is a cause, and the refusal its symptom.
        own.min_by_key(|finding| finding.check == REFUSED).or(self.injector.first())
    }
}
