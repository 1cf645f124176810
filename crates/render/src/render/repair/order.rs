//! Which steps of a plan repair which findings, and the order in which both are read.

use super::super::steps::describe;
use super::numbered;
use crate::finding::Applies;
use crate::report::{PlannedFinding, RepairPlan, Report};
use std::collections::{BTreeMap, BTreeSet};

/// A row of a plan, in the order in which it is read.
pub(in crate::render) enum PlanRow<'p> {
    /// The headings of findings, by their numbers: above their steps, or below them if others have all of these.
    Findings(BTreeSet<usize>),
    /// A step by its number, from 1; `repairs` if it repairs others than the findings of the last heading.
    Step { number: usize, repairs: Option<&'p BTreeSet<usize>> },
}

/// Which steps repair which findings of a plan.
pub(in crate::render) struct Order {
    /// The steps of each finding, by their numbers.
    pub(super) steps: BTreeMap<usize, BTreeSet<usize>>,
    /// The findings without a step of their own, each with the findings that have all its steps and more.
    shared: BTreeMap<usize, BTreeSet<usize>>,
}

impl Order {
    pub(in crate::render) fn from_plan(plan: &RepairPlan) -> Order {
        let steps = steps_of(plan);
        let shared = shared(plan, &steps);
        Order { steps, shared }
    }

    /// ` (after error 1)`, or ` (fixed by steps 1 and 2)` for a finding whose steps all belong to others, and ` (steps
    /// 1, 2 and 6)` for one with further steps.
    pub(in crate::render) fn note(&self, report: &Report, planned: &PlannedFinding) -> String {
        let own = self.steps.get(&planned.number).filter(|_| self.shared.contains_key(&planned.number));
        match (own, planned.after.is_empty()) {
            (Some(own), _) => format!(" (fixed by {})", describe(&own.iter().copied().collect::<Vec<_>>())),
            (None, true) => {
                let own = self.steps.get(&planned.number);
                let repairs = |step: &usize| &report.repair.steps[step - 1].repairs;
                let is_foreign = |step: &usize| {
                    repairs(step)
                        .iter()
                        .filter(|other| !self.shared.contains_key(other))
                        .any(|other| *other < planned.number && self.steps.get(other) != own)
                };
                match own.filter(|own| own.iter().any(is_foreign)) {
                    Some(own) => {
                        let steps = describe(&own.iter().copied().collect::<Vec<_>>());
                        match own.iter().all(is_foreign) {
                            true => format!(" (fixed by {steps})"),
                            false => format!(" ({steps})"),
                        }
                    }
                    None => String::new(),
                }
            }
            (None, false) => {
                let numbers = planned.after.iter().map(|(number, _)| *number).collect();
                format!(" (after {})", numbered(report, &numbers))
            }
        }
    }

    /// The rows of a plan. A finding whose steps all belong to others follows these others; one without a step comes
    /// last.
    pub(in crate::render) fn rows<'p>(&self, plan: &'p RepairPlan) -> Vec<PlanRow<'p>> {
        let mut rows = Vec::new();
        let mut current: BTreeSet<usize> = BTreeSet::new();
        let mut introduced: BTreeSet<usize> = BTreeSet::new();
        // Findings whose steps are all above; they follow the last step under the current heading.
        let mut ended: BTreeSet<usize> = BTreeSet::new();
        // Decisions follow the first heading, which states a problem before anything is decided.
        let mut decisions = Vec::new();
        for (number, step) in (1..).zip(&plan.steps) {
            if step.step.applies == Applies::First {
                decisions.push((number, &step.repairs));
                continue;
            }
            let mut new: BTreeSet<usize> = BTreeSet::new();
            for &one in step.repairs.iter().filter(|one| !self.shared.contains_key(*one)) {
                let is_known = |other: &usize| introduced.contains(other) || new.contains(other);
                // A finding with a step of its own later comes there, so that each heading is above its steps.
                let mut later = self.steps.get(&one).into_iter().flat_map(|own| own.range(number + 1..));
                let is_later = step.repairs.iter().any(is_known)
                    && later.any(|later| !plan.steps[later - 1].repairs.iter().any(is_known));
                if !introduced.contains(&one) && !is_later {
                    new.insert(one);
                }
            }
            if !new.is_empty() {
                introduced.extend(&new);
                current.clone_from(&new);
                // The headings stay in the order of their numbers.
                let later = new.first().map(|first| ended.split_off(first)).unwrap_or_default();
                rows.extend(take_findings(&mut ended));
                ended = later;
                rows.push(PlanRow::Findings(new));
                let first = decisions.drain(..).map(|(number, _)| PlanRow::Step { number, repairs: None });
                rows.extend(first);
            }
            // The headings of others name the steps that they have in common.
            let is_of_heading = !current.is_empty() && step.repairs.is_superset(&current);
            rows.push(PlanRow::Step { number, repairs: (!is_of_heading).then_some(&step.repairs) });
            let is_last = |one: &&usize| {
                !introduced.contains(*one) && self.steps.get(*one).and_then(|own| own.last()) == Some(&number)
            };
            let last: BTreeSet<usize> = self.shared.keys().filter(is_last).copied().collect();
            introduced.extend(&last);
            ended.extend(last);
        }
        rows.extend(take_findings(&mut ended));
        let without_steps = plan.findings.values().map(|planned| planned.number);
        let without_steps: BTreeSet<usize> = without_steps.filter(|number| !introduced.contains(number)).collect();
        if !without_steps.is_empty() {
            rows.push(PlanRow::Findings(without_steps));
        }
        rows.extend(decisions.into_iter().map(|(number, repairs)| PlanRow::Step { number, repairs: Some(repairs) }));
        rows
    }
}

fn take_findings<'p>(findings: &mut BTreeSet<usize>) -> Option<PlanRow<'p>> {
    (!findings.is_empty()).then(|| PlanRow::Findings(std::mem::take(findings)))
}

/// The steps of each finding, by their numbers.
fn steps_of(plan: &RepairPlan) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut steps: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    // A decision belongs to several findings.
    let own = (1..).zip(&plan.steps).filter(|(_, step)| step.step.applies != Applies::First);
    for (number, step) in own {
        for finding in &step.repairs {
            steps.entry(*finding).or_default().insert(number);
        }
    }
    steps
}

/// The findings without a step of their own, each with the findings that have all its steps and more.
fn shared(plan: &RepairPlan, steps: &BTreeMap<usize, BTreeSet<usize>>) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut shared = BTreeMap::new();
    for (&finding, own) in steps {
        let first = own.first().and_then(|number| plan.steps.get(number - 1));
        let includes =
            |other: &&usize| steps.get(*other).is_some_and(|all| all.len() > own.len() && all.is_superset(own));
        let others: BTreeSet<usize> =
            first.into_iter().flat_map(|step| &step.repairs).filter(includes).copied().collect();
        if !others.is_empty() {
            shared.insert(finding, others);
        }
    }
    shared
}
