//! The repair plan of a report: the steps of all findings that need a repair, in order, without duplicates.
//! [`crate::cause`] determines the order of the findings; this module merges their steps.

mod graph;
mod merge;

use std::collections::{BTreeMap, BTreeSet};

use crate::command::Command;
use crate::finding::{
    Applies, Finding, Fingerprint, NodeRound, Severity, Standing, Step, keep_lists, keep_values, lift_forced,
};
use graph::Graph;

/// The steps that repair all errors and warnings of the report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairPlan {
    /// The findings to repair, by their index in the report.
    pub findings: BTreeMap<usize, PlannedFinding>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// Commands that show whether the repair worked, each once.
    pub verify: Vec<Command>,
}

/// A finding that the plan repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFinding {
    /// Its number, from 1.
    pub number: usize,
    /// The findings to repair before it, nearest only: number and check.
    pub after: Vec<(usize, &'static str)>,
}

/// One step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// The step. A merged step has the commands of all its findings.
    pub step: Step,
    /// The numbers of the findings that it repairs.
    pub repairs: BTreeSet<usize>,
    /// Whether custom checks recommend it. It is never merged with a step of other checks, since its author may be
    /// another person.
    pub is_custom: bool,
}

impl RepairPlan {
    /// The index of the step that installs the linkerd CLI of a release, if one does. A step that needs another one
    /// only restores it.
    pub fn installing_cli(&self, release: &str) -> Option<usize> {
        let installed = |step: &PlanStep| {
            let command = step.step.command.as_ref()?;
            if command.required_cli().is_some() { None } else { command.installed_cli() }
        };
        self.steps.iter().position(|step| installed(step).as_deref() == Some(release))
    }

    /// The releases of the linkerd CLI that steps need and no step installs.
    pub fn missing_clis(&self) -> BTreeSet<&str> {
        let needed = self.steps.iter().filter_map(|step| step.step.command.as_ref()?.required_cli());
        needed.filter(|release| self.installing_cli(release).is_none()).collect()
    }

    /// The rounds of steps on nodes, in order.
    pub fn node_rounds(&self) -> Vec<NodeRound<'_>> {
        NodeRound::all(self.steps.iter().map(|step| &step.step))
    }

    /// The plan for findings that are sorted in the order of their repair.
    pub fn from_findings(findings: &[Finding]) -> RepairPlan {
        let planned = number(findings);
        let mut graph = Graph::default();
        let mut last_steps: BTreeMap<usize, usize> = BTreeMap::new();
        let mut earlier: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let urgency = urgency(findings, &planned);
        for (&at, finding) in &planned {
            let nearest = || finding.after.iter().map(|(number, _)| number);
            let further = nearest().filter_map(|number| earlier.get(number)).flatten();
            let all: BTreeSet<usize> = nearest().chain(further).copied().collect();
            let mut before: BTreeSet<usize> = nearest().filter_map(|number| last_steps.get(number).copied()).collect();
            let mut is_first = true;
            let is_custom = crate::checks::find(findings[at].check).is_some_and(|check| check.is_brought());
            for step in &findings[at].remedy.steps {
                let repairs = BTreeSet::from([finding.number]);
                let node = PlanStep { step: step.clone(), repairs, is_custom };
                let severity = urgency[&finding.number];
                if step.applies == Applies::First {
                    // The steps of earlier findings come between.
                    before.insert(graph.add(node, severity, &BTreeSet::new()));
                    continue;
                }
                // A restart at the end of an earlier repair is also the first step of this one.
                let restarted = if is_first { graph.restarted(&node, &all) } else { None };
                // Values of an earlier repair are set together with those of this one.
                let first = if is_first { restarted.or_else(|| graph.set_with(&node, severity)) } else { None };
                is_first = restarted.is_some();
                let node = first.unwrap_or_else(|| graph.add(node, severity, &before));
                last_steps.insert(finding.number, node);
                before = BTreeSet::from([node]);
            }
            earlier.insert(finding.number, all);
        }
        let mut verify: Vec<Command> = Vec::new();
        for command in planned.keys().filter_map(|&at| findings[at].remedy.verify.as_ref()) {
            if !verify.contains(command) {
                verify.push(command.clone());
            }
        }
        let mut steps = graph.into_sorted();
        lift_forced(steps.iter_mut().map(|step| &mut step.step));
        keep_lists(steps.iter_mut().map(|step| &mut step.step));
        keep_values(steps.iter_mut().map(|step| &mut step.step));
        RepairPlan { findings: planned, steps, verify }
    }
}

/// Whether a finding needs a repair now: a cause of warning or above that is neither accepted nor known.
fn needs_repair(finding: &Finding) -> bool {
    finding.caused_by.is_empty()
        && finding.severity > Severity::Info
        && !finding.when.begins()
        && matches!(finding.standing, Standing::Passes | Standing::Fails)
}

fn number(findings: &[Finding]) -> BTreeMap<usize, PlannedFinding> {
    let mut numbers: BTreeMap<Fingerprint, (usize, &'static str)> = BTreeMap::new();
    let mut planned = BTreeMap::new();
    let roots = findings.iter().enumerate().filter(|(_, finding)| needs_repair(finding));
    for (number, (at, finding)) in (1..).zip(roots) {
        let mut after: Vec<_> = finding.after.iter().filter_map(|one| numbers.get(one).copied()).collect();
        after.sort_unstable();
        numbers.insert(finding.fingerprint(), (number, finding.check));
        planned.insert(at, PlannedFinding { number, after });
    }
    planned
}

/// The severity of each finding by number, or that of the worst finding that must be repaired after it.
fn urgency(findings: &[Finding], planned: &BTreeMap<usize, PlannedFinding>) -> BTreeMap<usize, Severity> {
    let mut urgency: BTreeMap<usize, Severity> =
        planned.iter().map(|(&at, finding)| (finding.number, findings[at].severity)).collect();
    for finding in planned.values().rev() {
        let own = urgency[&finding.number];
        for (earlier, _) in &finding.after {
            urgency.entry(*earlier).and_modify(|severity| *severity = own.max(*severity));
        }
    }
    urgency
}

#[cfg(test)]
mod tests;
