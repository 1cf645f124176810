//! `meshdoctor rotate`: the state of a rotation of the trust anchor or the issuer, with the findings that
//! must be repaired first.

use std::collections::BTreeSet;

use crate::cause;
use crate::checks::rotation::{
    ConditionStatus, Obstacles, Phase, Rotation, Stage, Statements, blocking, checks, is_blocking,
};
use crate::checks::{Settings, evaluate};
use crate::finding::{Finding, Fingerprint, Severity};
use crate::item::{Item, Kind};
use crate::knowledge::Knowledge;
use crate::model::Cluster;
use crate::policy;
use crate::version::LinkerdVersion;

pub struct RotationAnswer {
    /// The state and the plan.
    pub rotation: Rotation,
    /// Problems to repair before any step, in the order of repair.
    pub broken: Vec<Finding>,
    /// Other findings about certificates, of warning and above.
    pub others: Vec<Finding>,
    /// The operator's linkerd CLI, if it is known.
    pub cli: Option<LinkerdVersion>,
}

/// Whether a step may be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Each condition is known to be met.
    Go,
    /// It was done.
    Done,
    /// At least one condition is known not to be met.
    NoGo,
    /// Evidence is missing.
    Unknown,
}

/// The evidence to read.
pub fn items() -> BTreeSet<Item> {
    let mut items = policy::run_items(&checks());
    items.insert(Item::List(Kind::Namespace));
    items.insert(Item::CliVersion);
    items
}

impl RotationAnswer {
    /// The state of a cluster.
    pub fn read(
        cluster: &Cluster,
        knowledge: &Knowledge,
        settings: &Settings,
        statements: &Statements,
    ) -> RotationAnswer {
        let results = evaluate(&checks(), cluster, knowledge, settings);
        let blocking: BTreeSet<&str> = blocking().iter().map(|check| check.id).collect();
        let mut obstacles = Obstacles::default();
        let mut found = Vec::new();
        for result in results {
            if blocking.contains(result.id) {
                let gaps = result.gaps.into_iter().filter(|gap| gap.was_asked_for());
                obstacles.unjudged.extend(gaps);
            }
            found.extend(result.findings);
        }
        obstacles.unjudged.sort();
        obstacles.unjudged.dedup();
        let linked = cause::link_by_cards(found, &cluster.namespaces);
        let roots =
            linked.into_iter().filter(|finding| finding.caused_by.is_empty() && finding.severity > Severity::Info);
        let roots: Vec<Finding> = roots.collect();
        // What must be repaired before a blocking finding blocks too.
        let is_own = |finding: &Finding| blocking.contains(finding.check) && is_blocking(finding);
        let earlier: BTreeSet<Fingerprint> =
            roots.iter().filter(|finding| is_own(finding)).flat_map(|finding| finding.after.clone()).collect();
        let (broken, others) =
            roots.into_iter().partition(|finding| is_own(finding) || earlier.contains(&finding.fingerprint()));
        obstacles.broken = broken;
        let rotation = Rotation::read(cluster, knowledge, settings, statements, &obstacles);
        RotationAnswer { rotation, broken: obstacles.broken, others, cli: cluster.cli_version.as_ref().ok().cloned() }
    }

    /// Whether a step may be done now; the next one if `None`.
    pub fn decision(&self, stage: Option<Stage>) -> Decision {
        let rotation = &self.rotation;
        let planned = match stage {
            None if rotation.phase == Phase::Broken => return Decision::NoGo,
            None => rotation.next(),
            Some(stage) => rotation.plan.iter().find(|planned| planned.stage == stage),
        };
        // No rotation is in progress: the last step of the latest one is done, as far as the pods show.
        if stage == Some(Stage::DropOldAnchor) && rotation.phase == Phase::None && planned.is_some() {
            let current = rotation.workloads.iter().map(|workload| workload.is_current).min();
            return match current.unwrap_or(ConditionStatus::Yes) {
                ConditionStatus::Yes => Decision::Done,
                ConditionStatus::No => Decision::NoGo,
                ConditionStatus::Unknown => Decision::Unknown,
            };
        }
        match planned {
            None if rotation.phase == Phase::Unknown => Decision::Unknown,
            None => Decision::NoGo,
            Some(planned) if planned.conditions.is_empty() => Decision::Done,
            Some(planned) => match planned.decision() {
                ConditionStatus::Yes => Decision::Go,
                ConditionStatus::No => Decision::NoGo,
                ConditionStatus::Unknown => Decision::Unknown,
            },
        }
    }
}
