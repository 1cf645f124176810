//! The numbers of proxies in an earlier report, compared with those of fresh evidence.

use super::{Earlier, Fresh, Tally, stale};
use crate::checks::TRAFFIC;
use crate::finding::{Finding, Severity};
use crate::missing::Missing;
use crate::model::traffic::{EarlierTraffic, WorkloadTraffic};

/// The result of the comparison.
#[derive(Debug, Clone)]
pub struct TrafficCheck {
    /// The earlier numbers.
    pub before: EarlierTraffic,
    /// The workloads with numbers in both, as they are now.
    pub compared: Vec<WorkloadTraffic>,
    /// Findings about workloads that are worse.
    pub worse: Vec<Finding>,
    /// Missing evidence, and how to provide it.
    pub gaps: Vec<(String, String)>,
    /// Whether missing evidence was requested.
    is_requested: bool,
}

impl TrafficCheck {
    /// Compares earlier numbers with those of fresh evidence.
    pub fn new(before: &EarlierTraffic, earlier: &Earlier, fresh: &Fresh<'_>) -> TrafficCheck {
        if let Some(reason) = stale(earlier, fresh.cluster) {
            let next = "compare with newer evidence: --proxies reads it".to_owned();
            return TrafficCheck {
                before: before.clone(),
                compared: Vec::new(),
                worse: Vec::new(),
                gaps: vec![(reason, next)],
                is_requested: true,
            };
        }
        let now = WorkloadTraffic::of_cluster(fresh.cluster);
        let is_known = |now: &WorkloadTraffic| before.workloads.iter().any(|then| then.is_same_workload(now));
        let result = fresh.results.get(TRAFFIC);
        let gaps: &[Missing] = result.map_or(&[], |result| &result.gaps);
        let connection = &fresh.settings.rerun.connection;
        let of = |gap: &Missing| (gap.to_string(), gap.close().aimed(connection).to_string());
        TrafficCheck {
            before: before.clone(),
            compared: now.into_iter().filter(is_known).collect(),
            worse: fresh.findings.iter().filter(|finding| finding.check == TRAFFIC).cloned().collect(),
            gaps: gaps.iter().map(of).collect(),
            is_requested: gaps.iter().any(Missing::was_asked_for),
        }
    }

    /// Counts it in a result: workloads that are worse, from the severities that `counts` accepts.
    pub fn counted(&self, tally: Tally, counts: impl Fn(Severity) -> bool) -> Tally {
        Tally {
            worse: self.worse.iter().filter(|finding| counts(finding.severity)).count(),
            not_compared: self.is_requested,
            ..tally
        }
    }

    /// The result as one sentence.
    pub fn summary(&self) -> String {
        format!(
            "{} of {} workloads with numbers in {} compared, {} worse",
            self.compared.len(),
            self.before.workloads.len(),
            self.before.file,
            self.worse.len()
        )
    }
}
