//! The order of steps: each is merged into an equal one, or added after those that must be done before it.

use std::collections::{BTreeSet, HashMap};

use super::PlanStep;
use super::merge::{Merge, includes_restart};
use crate::command::JoinIndex;
use crate::finding::{Applies, Forced, Severity, Step};

/// Steps with their order.
#[derive(Default)]
pub(super) struct Graph {
    steps: Vec<PlanStep>,
    /// For each step, the severity of the worst finding that needs it.
    severity: Vec<Severity>,
    /// For each step, the steps that must be done before it.
    before: Vec<BTreeSet<usize>>,
    /// The indexes of steps whose commands others were joined to.
    joined: HashMap<usize, JoinIndex>,
    /// The steps that change lists in annotations, by the index of the step that others were joined to.
    lists: HashMap<usize, Vec<Step>>,
}

impl Graph {
    /// Adds a step that comes after others, or merges it into an equal one if this breaks no order and the repair of
    /// a worse finding does not wait for it. Returns its index.
    pub(super) fn add(&mut self, step: PlanStep, severity: Severity, before: &BTreeSet<usize>) -> usize {
        let in_order = |other: usize| {
            let delays = |one: usize| self.severity[one] < self.severity[other] && !self.comes_after(other, one);
            before.iter().all(|&one| one == other || !self.comes_after(one, other) && !delays(one))
        };
        let of_several = step.step.of_several();
        let others = || (0..self.steps.len()).filter(|other| self.steps[*other].is_custom == step.is_custom);
        let lists = others().filter_map(|other| Some((other, self.same_list(other, &step.step)?)));
        let charts = others().filter_map(|other| Some((other, self.same_chart(other, &step.step)?)));
        let equal =
            others().filter_map(|other| Some((other, Merge::find(&self.steps[other].step, &step.step, &of_several)?)));
        let mergeable = lists.chain(charts).chain(equal).find(|(other, _)| in_order(*other));
        let Some((at, merge)) = mergeable else {
            self.steps.push(step);
            self.before.push(before.clone());
            self.severity.push(severity);
            return self.steps.len() - 1;
        };
        self.steps[at].repairs.extend(&step.repairs);
        self.merge(at, merge, &step.step);
        self.severity[at] = self.severity[at].max(severity);
        self.before[at].extend(before.iter().filter(|&&one| one != at));
        at
    }

    /// How a step that changes a list becomes one with a step that changes the same list.
    fn same_list(&self, at: usize, step: &Step) -> Option<Merge> {
        let one = &self.steps[at].step;
        if one.command != step.command
            && let Some(both) = one.with_list_of(step)
        {
            return Some(Merge::Into(Box::new(both)));
        }
        let mut parts = self.lists.get(&at)?.iter().enumerate();
        let (part, both) = parts.find_map(|(part, known)| Some((part, known.with_list_of(step)?)))?;
        Some(Merge::Part(part, Box::new(both)))
    }

    /// How a step that sets values of a chart becomes one with a step that sets others.
    fn same_chart(&self, at: usize, step: &Step) -> Option<Merge> {
        self.steps[at].step.with_chart_of(step).map(Box::new).map(Merge::Into)
    }

    /// Joins the command of another step. Lists of several objects are then known by the steps that change them.
    fn join(&mut self, at: usize, other: &Step) {
        let one = &mut self.steps[at].step;
        let parts = [one.list.is_some().then(|| one.clone()), other.list.is_some().then(|| other.clone())];
        self.lists.entry(at).or_default().extend(parts.into_iter().flatten());
        one.list = None;
        one.text = one.of_several();
        if let (Some(command), Some(more)) = (&mut one.command, &other.command) {
            let index = self.joined.entry(at).or_insert_with(|| JoinIndex::new(command));
            command.join_indexed(index, more);
        }
        let forced = one.forced.as_deref().zip(other.forced.as_deref());
        one.forced = forced.and_then(|(one, other)| Forced::joined(one, other)).map(Box::new);
    }

    /// Replaces one of the joined commands of a step by `both`, which changes its list as another step does too.
    fn join_part(&mut self, at: usize, part: usize, both: Step) {
        let Some(old) = self.lists.get_mut(&at).and_then(|parts| parts.get_mut(part)) else { return };
        let command = &mut self.steps[at].step.command;
        if let (Some(command), Some(before), Some(after)) = (command, &old.command, &both.command) {
            command.replace_lines(before, after);
        }
        *old = both;
        self.joined.remove(&at);
    }

    fn merge(&mut self, at: usize, merge: Merge, other: &Step) {
        let one = &mut self.steps[at].step;
        match merge {
            Merge::First => one.restarts = one.restarts.max(other.restarts),
            Merge::Into(both) => {
                *one = *both;
                self.joined.remove(&at);
            }
            Merge::Part(part, both) => self.join_part(at, part, *both),
            Merge::Both => self.join(at, other),
        }
    }

    /// The last step of earlier findings that restarts everything that `step` restarts, which then repairs
    /// its finding too.
    pub(super) fn restarted(&mut self, step: &PlanStep, earlier: &BTreeSet<usize>) -> Option<usize> {
        let restarts = |other: &PlanStep| {
            other.is_custom == step.is_custom
                && !other.repairs.is_disjoint(earlier)
                && includes_restart(&other.step, &step.step)
        };
        let at = self.steps.iter().rposition(restarts)?;
        self.steps[at].repairs.extend(&step.repairs);
        Some(at)
    }

    /// The step of another finding that can set the values of `step` too. It is done first, whatever the order of the
    /// findings: without these values it may fail, and later it would be done again.
    pub(super) fn set_with(&mut self, step: &PlanStep, severity: Severity) -> Option<usize> {
        let mut others = (0..self.steps.len()).filter(|at| self.steps[*at].is_custom == step.is_custom);
        let (at, merge) = others.find_map(|at| Some((at, self.same_chart(at, &step.step)?)))?;
        self.steps[at].repairs.extend(&step.repairs);
        self.merge(at, merge, &step.step);
        self.severity[at] = self.severity[at].max(severity);
        Some(at)
    }

    /// Whether `later` must wait for `earlier`, directly or through other steps.
    fn comes_after(&self, later: usize, earlier: usize) -> bool {
        let mut open = vec![later];
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if at == earlier {
                return true;
            }
            if seen.insert(at) {
                open.extend(&self.before[at]);
            }
        }
        false
    }

    /// The release of the linkerd CLI that a step needs.
    fn required_cli(&self, at: usize) -> Option<&str> {
        self.steps[at].step.command.as_ref()?.required_cli()
    }

    /// A step that installs a release of the linkerd CLI comes before the first step that needs it, and repairs the
    /// findings of all that need it too. Returns the order in which steps are tried.
    fn install_cli_first(&mut self) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..self.steps.len()).collect();
        let installs =
            |at: usize| self.required_cli(at).is_none().then(|| self.steps[at].step.command.as_ref()?.installed_cli());
        let own = sequence.iter().copied().filter(|at| !self.steps[*at].is_custom);
        let installing: Vec<(usize, String)> = own.filter_map(|at| Some((at, installs(at)??))).collect();
        for (at, release) in installing {
            let needs =
                |other: usize| self.required_cli(other) == Some(release.as_str()) && !self.comes_after(at, other);
            let needing: Vec<usize> = sequence.iter().copied().filter(|other| needs(*other)).collect();
            let place_of = |step: usize| sequence.iter().position(|other| *other == step);
            let Some(place) = needing.first().and_then(|first| place_of(*first)) else { continue };
            if place_of(at) > Some(place) {
                sequence.retain(|other| *other != at);
                sequence.insert(place, at);
            }
            for other in needing {
                self.before[other].insert(at);
                let repaired = self.steps[other].repairs.clone();
                self.steps[at].repairs.extend(repaired);
            }
        }
        sequence
    }

    /// The steps in an order that satisfies all constraints; otherwise in the order of insertion.
    pub(super) fn into_sorted(mut self) -> Vec<PlanStep> {
        let mut waiting = self.install_cli_first();
        // Decisions come first; no step is before them.
        waiting.sort_by_key(|&at| self.steps[at].step.applies != Applies::First);
        let mut order = Vec::with_capacity(waiting.len());
        let mut open: BTreeSet<usize> = waiting.iter().copied().collect();
        let is_free = |at: usize, open: &BTreeSet<usize>| self.before[at].iter().all(|one| !open.contains(one));
        while !waiting.is_empty() {
            let place = waiting.iter().position(|&at| is_free(at, &open)).unwrap_or_default();
            let next = waiting.remove(place);
            open.remove(&next);
            order.push(next);
        }
        let mut steps: Vec<Option<PlanStep>> = self.steps.into_iter().map(Some).collect();
        order.into_iter().filter_map(|at| steps[at].take()).collect()
    }
}
