//! Judges the steps of a repair plan before they are offered: each step is applied on top of the evidence, and the
//! checks run again. A step whose effect on objects cannot be computed is offered with the reason. A step that adds a
//! finding of warning or above is not offered.

use std::collections::{BTreeMap, BTreeSet};

use crate::check_outcome::CheckOutcome;
use crate::finding::{Finding, Fingerprint, Severity, Standing, Tie};
use crate::kubectl::{Action, Target, actions};
use crate::objects::Kind;
use crate::report::{PlanStep, RepairPlan, Report};
use crate::source::change::Set;

/// A finding of warning or above, about one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub check: &'static str,
    pub severity: Severity,
    pub subject: String,
    /// Whether lines of logs show it, which are from before any step.
    is_logged: bool,
}

/// The findings of warning or above in one state of a cluster.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// By the fingerprint of a subject.
    pub problems: BTreeMap<Fingerprint, Problem>,
    /// The findings that no other finding explains, as a report counts them: their severities, and their problems.
    roots: Vec<(Severity, Vec<Fingerprint>)>,
    /// The problems that another finding explains.
    symptoms: BTreeSet<Fingerprint>,
    /// Checks that could not judge all evidence.
    unjudged: BTreeSet<&'static str>,
}

impl State {
    /// The state that a report describes.
    pub fn from_report(report: &Report) -> State {
        State::new(&report.findings, &report.checks)
    }

    /// The state of findings and of the checks that ran.
    pub fn new(findings: &[Finding], checks: &[CheckOutcome]) -> State {
        let mut problems = BTreeMap::new();
        let counts = |finding: &&Finding| {
            finding.severity > Severity::Info && matches!(finding.standing, Standing::Passes | Standing::Fails)
        };
        let (mut roots, mut symptoms) = (Vec::new(), BTreeSet::new());
        for finding in findings.iter().filter(counts) {
            let is_logged = finding.ties.iter().any(is_of_log);
            let prints = finding.subjects.iter().map(|subject| finding.subject_fingerprint(subject));
            match finding.caused_by.is_empty() {
                true => roots.push((finding.severity, prints.collect())),
                false => symptoms.extend(prints),
            }
            for subject in &finding.subjects {
                let (check, severity) = (finding.check, finding.severity);
                let problem = Problem { check, severity, subject: subject.to_string(), is_logged };
                problems.insert(finding.subject_fingerprint(subject), problem);
            }
        }
        let unjudged = checks.iter().filter(|check| !check.gaps.is_empty()).map(|check| check.id).collect();
        State { problems, roots, symptoms, unjudged }
    }

    /// The problems that another state does not have, or has with a lower severity.
    pub fn beyond(&self, other: &State) -> Vec<(&Fingerprint, &Problem)> {
        let is_new = |(print, problem): &(&Fingerprint, &Problem)| {
            other.problems.get(*print).is_none_or(|known| known.severity < problem.severity)
        };
        self.problems.iter().filter(is_new).collect()
    }

    /// The problems that another state no longer has. A check that cannot judge that state proves nothing.
    fn gone_in(&self, other: &State) -> Vec<Problem> {
        let is_gone = |(print, problem): &(&Fingerprint, &Problem)| {
            let lost = other.unjudged.contains(problem.check) && !self.unjudged.contains(problem.check);
            !other.problems.contains_key(*print) && !lost
        };
        self.problems.iter().filter(is_gone).map(|(_, problem)| problem.clone()).collect()
    }

    /// What changed up to a later state.
    pub fn change_to(&self, later: &State) -> Proof {
        Proof::Simulated {
            gone: self.gone_in(later),
            until_later: Vec::new(),
            added: later.beyond(self).into_iter().map(|(_, problem)| problem.clone()).collect(),
            symptoms: later.left_symptoms(self),
            errors: later.count(Severity::Error),
            warnings: later.count(Severity::Warning),
        }
    }

    /// The problems that no finding explains any more and that one explained in an earlier state: they end some time
    /// after their cause.
    pub fn left_symptoms(&self, earlier: &State) -> Vec<Problem> {
        let is_symptom = |prints: &&Vec<Fingerprint>| prints.iter().all(|print| earlier.symptoms.contains(print));
        let left = self.roots.iter().map(|(_, prints)| prints).filter(is_symptom).flatten();
        left.filter_map(|print| self.problems.get(print)).cloned().collect()
    }

    /// Number of findings of a severity, without those that another finding explains.
    pub fn count(&self, severity: Severity) -> usize {
        self.roots.iter().filter(|(root, _)| *root == severity).count()
    }
}

/// What is known about the effect of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It was applied on top of the evidence, and the checks ran again.
    Simulated {
        /// Findings that it removes.
        gone: Vec<Problem>,
        /// Findings that it adds and a later step of the plan removes.
        until_later: Vec<Problem>,
        /// Findings that it adds, and that a later step, whose effect is unknown, may remove.
        added: Vec<Problem>,
        /// Symptoms that are left without their cause, and end later. They count among the errors and warnings.
        symptoms: Vec<Problem>,
        /// Errors that are left.
        errors: usize,
        /// Warnings that are left.
        warnings: usize,
    },
    /// It changes nothing: it only reads or waits.
    Reads,
    /// It has no command.
    Manual,
    /// It only applies in some cases, or instead of another step.
    Conditional,
    /// Its effect is unknown, for this reason.
    NotSimulated(String),
    /// It is not offered: it adds these findings.
    Withheld(Vec<Problem>),
    /// It is not offered: the step with this number, from 1, is not offered.
    DependsOn(usize),
}

impl Proof {
    /// Whether the step is offered.
    pub fn is_offered(&self) -> bool {
        !matches!(self, Proof::Withheld(_) | Proof::DependsOn(_))
    }
}

/// A plan with a proof for each of its steps.
#[derive(Debug, Clone, Default)]
pub struct JudgedPlan {
    /// A proof for each step, in the order of the plan.
    pub proofs: Vec<Proof>,
    /// The state after all simulated steps; `None` if no step was simulated.
    pub after: Option<State>,
}

/// A cluster on which changes can be judged without making them.
pub trait Overlay {
    /// The set with the effect of a command added.
    ///
    /// # Errors
    /// The command would fail, or its objects are not in the evidence.
    fn apply(&self, set: &Set, action: &Action) -> Result<Set, String>;

    /// The findings with the set applied.
    fn judge(&self, set: &Set) -> State;
}

impl JudgedPlan {
    /// The plan of a saved report, which has no evidence to judge it on.
    pub fn without_evidence(plan: &RepairPlan) -> JudgedPlan {
        let proof = |step: &PlanStep| match effects(step) {
            Err(proof) => proof,
            Ok(_) => Proof::NotSimulated("a saved report contains no evidence to judge it on".to_owned()),
        };
        JudgedPlan { proofs: plan.steps.iter().map(proof).collect(), after: None }
    }

    /// Judges each step of a plan on top of the steps before it, beginning with a set and the state today.
    pub fn new(plan: &RepairPlan, begin: &Set, today: &State, overlay: &dyn Overlay) -> JudgedPlan {
        let mut withheld: BTreeMap<usize, Proof> = BTreeMap::new();
        loop {
            let pass = Pass::run(plan, begin, today, overlay, &withheld);
            let Some((at, lasting)) = pass.harmful(plan) else { return pass.into_plan(plan) };
            withheld.insert(at, Proof::Withheld(lasting));
            let repairs = &plan.steps[at].repairs;
            for (later, step) in plan.steps.iter().enumerate().skip(at + 1) {
                if step.repairs.is_subset(repairs) {
                    withheld.entry(later).or_insert(Proof::DependsOn(at + 1));
                }
            }
        }
    }
}

/// The effects of a step that changes objects; otherwise its proof.
fn effects(step: &PlanStep) -> Result<Vec<Action>, Proof> {
    let Some(command) = &step.step.command else { return Err(Proof::Manual) };
    // The values are set in files; the command only helps to find them.
    if step.step.settings.is_some() {
        return Err(Proof::Manual);
    }
    if step.step.is_conditional() {
        return Err(Proof::Conditional);
    }
    let actions = actions(&command.to_string()).map_err(|why| Proof::NotSimulated(why.to_string()))?;
    match actions.iter().all(|action| *action == Action::Observe) {
        true => Err(Proof::Reads),
        false => Ok(actions),
    }
}

/// What a simulation does not predict of an action.
fn unpredicted(action: &Action) -> Option<&'static str> {
    match action {
        Action::Restart(_) | Action::Delete { target: Target { kind: Kind::Pod, .. }, .. } => {
            Some("whether the new pods become ready is not predicted")
        }
        Action::Edit { target, .. } if DECIDE_ON_PODS.contains(&target.kind) => {
            Some("whether the pods are then scheduled and become ready is not predicted")
        }
        _ => None,
    }
}

/// Kinds that decide whether pods are created, scheduled or started.
const DECIDE_ON_PODS: [Kind; 9] = [
    Kind::Deployment,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::ReplicaSet,
    Kind::Job,
    Kind::CronJob,
    Kind::Node,
    Kind::ResourceQuota,
    Kind::LimitRange,
];
/// The effects of a step's command, if they can be computed and change something.
fn computed(step: &PlanStep) -> Option<Vec<Action>> {
    let actions = actions(&step.step.command.as_ref()?.to_string()).ok()?;
    actions.iter().any(|action| *action != Action::Observe).then_some(actions)
}

/// Whether the effect of a step's command cannot be computed.
fn has_unknown_effect(step: &PlanStep) -> bool {
    step.step.command.as_ref().is_some_and(|command| actions(&command.to_string()).is_err())
}

/// Whether an instruction names an object: `Deployment shop/web` or its name.
fn names(text: &str, subject: &str) -> bool {
    let object = subject.rsplit(' ').next().unwrap_or(subject);
    let name = object.rsplit('/').next().unwrap_or(object);
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
    text.split(|letter| !is_word(letter)).any(|word| word.trim_end_matches('.') == name)
}

/// Whether a tie is a line of a log. Another finding of the same check may hide such a finding until its repair.
fn is_of_log(tie: &Tie) -> bool {
    matches!(tie, Tie::Fact(fact) if fact.starts_with("log "))
}

/// One simulation of all steps that are not withheld.
#[derive(Default)]
struct Pass {
    proofs: Vec<Proof>,
    /// For each simulated step, the findings that it adds.
    added: BTreeMap<usize, Vec<(Fingerprint, Problem)>>,
    last: Option<State>,
    /// For each conditional step with computable effects, the state with them on top of all others.
    conditional: BTreeMap<usize, State>,
}

impl Pass {
    fn run(
        plan: &RepairPlan,
        begin: &Set,
        today: &State,
        overlay: &dyn Overlay,
        withheld: &BTreeMap<usize, Proof>,
    ) -> Pass {
        let mut set = begin.clone();
        let mut pass = Pass::default();
        for (at, step) in plan.steps.iter().enumerate() {
            if let Some(proof) = withheld.get(&at) {
                pass.proofs.push(proof.clone());
                continue;
            }
            let applied = effects(step).and_then(|actions| {
                let each = actions.iter().try_fold(set.clone(), |set, action| overlay.apply(&set, action));
                each.map_err(Proof::NotSimulated)
            });
            match applied {
                Err(proof) => pass.proofs.push(proof),
                Ok(changed) => {
                    set = changed;
                    let state = overlay.judge(&set);
                    let before = pass.last.as_ref().unwrap_or(today);
                    let added = state.beyond(before).into_iter().filter(|(_, problem)| !problem.is_logged);
                    let added: Vec<_> = added.map(|(print, problem)| (print.clone(), problem.clone())).collect();
                    pass.proofs.push(Proof::Simulated {
                        gone: before.gone_in(&state),
                        until_later: Vec::new(),
                        added: Vec::new(),
                        symptoms: state.left_symptoms(today),
                        errors: state.count(Severity::Error),
                        warnings: state.count(Severity::Warning),
                    });
                    pass.added.insert(at, added);
                    pass.last = Some(state);
                }
            }
        }
        let lasts = pass.added.keys().any(|&at| !pass.lasting(at).is_empty());
        for (at, step) in plan.steps.iter().enumerate().filter(|_| lasts) {
            if pass.proofs[at] == Proof::Conditional
                && let Some(changed) = computed(step).and_then(|actions| {
                    actions.iter().try_fold(set.clone(), |set, action| overlay.apply(&set, action).ok())
                })
            {
                pass.conditional.insert(at, overlay.judge(&changed));
            }
        }
        pass
    }

    /// The findings that a step adds and the plan does not remove again.
    fn lasting(&self, at: usize) -> Vec<Problem> {
        self.lasting_prints(at).map(|(_, problem)| problem.clone()).collect()
    }

    fn lasting_prints(&self, at: usize) -> impl Iterator<Item = &(Fingerprint, Problem)> {
        let is_left = |print| self.last.as_ref().is_some_and(|last| last.problems.contains_key(print));
        self.added.get(&at).into_iter().flatten().filter(move |(print, _)| is_left(print))
    }

    /// Whether a later step that repairs the same findings can remove what a step added: its effect is unknown, it
    /// removes the finding if it applies, or its instruction names the object.
    fn is_open(&self, plan: &RepairPlan, at: usize, print: &Fingerprint, problem: &Problem) -> bool {
        let repairs = &plan.steps[at].repairs;
        let later = plan.steps.iter().enumerate().skip(at + 1);
        let mut later = later.filter(|(_, step)| !step.repairs.is_disjoint(repairs));
        later.any(|(number, step)| match &self.proofs[number] {
            Proof::NotSimulated(_) => true,
            Proof::Conditional if self.conditional.contains_key(&number) => {
                !self.conditional[&number].problems.contains_key(print)
            }
            Proof::Conditional if has_unknown_effect(step) => true,
            Proof::Conditional | Proof::Manual => names(&step.step.text, &problem.subject),
            _ => false,
        })
    }

    /// The first step whose new findings last, with those that no later step can remove.
    fn harmful(&self, plan: &RepairPlan) -> Option<(usize, Vec<Problem>)> {
        self.added.keys().find_map(|&at| {
            let left = self.lasting_prints(at).filter(|(print, problem)| !self.is_open(plan, at, print, problem));
            let left: Vec<Problem> = left.map(|(_, problem)| problem.clone()).collect();
            (!left.is_empty()).then_some((at, left))
        })
    }

    fn into_plan(mut self, plan: &RepairPlan) -> JudgedPlan {
        for at in self.added.keys().copied().collect::<Vec<_>>() {
            let lasting = self.lasting(at);
            let passing = self.added[&at].iter().map(|(_, problem)| problem);
            let passing: Vec<Problem> = passing.filter(|problem| !lasting.contains(problem)).cloned().collect();
            if let Proof::Simulated { until_later, added, .. } = &mut self.proofs[at] {
                *until_later = passing;
                *added = lasting;
            }
        }
        let unseen: Vec<_> = (0..plan.steps.len()).filter_map(|at| Some((at, self.unseen(plan, at)?))).collect();
        for (at, reason) in unseen {
            self.proofs[at] = Proof::NotSimulated(reason.to_owned());
        }
        JudgedPlan { proofs: self.proofs, after: self.last }
    }

    /// Why the simulation shows no effect of a step, if this depends on pods that it does not schedule or start.
    fn unseen(&self, plan: &RepairPlan, at: usize) -> Option<&'static str> {
        let Proof::Simulated { gone, until_later, added, .. } = &self.proofs[at] else { return None };
        if !(gone.is_empty() && until_later.is_empty() && added.is_empty()) {
            return None;
        }
        let step = &plan.steps[at];
        let repairs = |(other, proof): (&PlanStep, &Proof)| {
            let is_same = !other.repairs.is_disjoint(&step.repairs);
            is_same && matches!(proof, Proof::Simulated { gone, .. } if !gone.is_empty())
        };
        let is_repaired_later = plan.steps.iter().zip(&self.proofs).skip(at + 1).any(repairs);
        let actions = effects(step).ok().filter(|_| !is_repaired_later)?;
        actions.iter().find_map(unpredicted)
    }
}

#[cfg(test)]
mod tests;
