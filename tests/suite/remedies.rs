//! Remedies that are judged: the printed kubectl commands of every firing case are applied on top of its evidence, and
//! all checks run again. `UPDATE=1` writes the table of docs/remedies.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use meshdoctor::card::{Case, CaseKind};
use meshdoctor::checks::{self, Check};
use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::finding::Severity;
use meshdoctor::item::Item;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::kubectl::{self, Action};
use meshdoctor::policy::{self, Policy};
use meshdoctor::repair::{Overlay, State};
use meshdoctor::report::{self, Question, RepairPlan, Report};
use meshdoctor::scene::Scene;
use meshdoctor::source::Source;
use meshdoctor::source::change::{Change, Set};

use crate::{case, golden};

/// A case, to judge changes of it.
pub struct CaseOverlay<'a> {
    scene: &'a Scene,
    /// The checks that judge the result.
    checks: &'a [&'static Check],
}

/// The checks of a case's run.
pub fn selected(scene: &Scene) -> Vec<&'static Check> {
    Policy { mode: scene.settings.mode, ..Policy::default() }.select().unwrap()
}

impl<'a> CaseOverlay<'a> {
    pub fn new(scene: &'a Scene, checks: &'a [&'static Check]) -> CaseOverlay<'a> {
        CaseOverlay { scene, checks }
    }
}

impl CaseOverlay<'_> {
    fn change<'s>(&'s self, set: &'s Set) -> Change<'s, meshdoctor::source::memory::Memory> {
        let at = self.scene.memory.captured_at().unwrap();
        Change::new(&self.scene.memory, set, Knowledge::embedded(), at)
    }

    fn collected(&self, set: &Set, items: &BTreeSet<Item>) -> Collected {
        let options = Options {
            whole: checks::expressed::whole_kinds(),
            applied: set.keys().chain(self.scene.options.applied.iter().cloned()).collect(),
            ..self.scene.options.clone()
        };
        collect_now(&self.change(set), items, &options, None)
    }

    fn report(&self, set: &Set, checks: &[&'static Check]) -> Report {
        let question = Question {
            checks,
            policy: &Policy::default(),
            settings: &self.scene.settings,
            knowledge: Knowledge::embedded(),
            origin: self.scene.memory.origin(),
            change: None,
        };
        report::judge(&question, &self.collected(set, &policy::items(checks)))
    }
}

impl Overlay for CaseOverlay<'_> {
    fn apply(&self, set: &Set, action: &Action) -> Result<Set, String> {
        futures::executor::block_on(self.change(set).with_action(action))
    }

    fn judge(&self, set: &Set) -> State {
        State::from_report(&self.report(set, self.checks))
    }
}

/// The result of the remedy of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The finding is gone, and nothing new came.
    Proven,
    /// A step has an effect that cannot be computed, for this reason.
    NotSimulated(String),
    /// No step changes objects by a command that always applies.
    Manual,
    /// The finding is still there, although all commands were applied.
    Remains,
    /// The commands add findings of these checks.
    Adds(String),
}

/// The report of one check, with its infos as warnings: the remedies of infos are judged too.
pub fn of_check(overlay: &CaseOverlay<'_>, set: &Set, check: &'static Check) -> Report {
    let mut report = overlay.report(set, &[check]);
    for finding in &mut report.findings {
        finding.severity = finding.severity.max(Severity::Warning);
    }
    report
}

fn outcome(check: &'static Check, case: &Case) -> Outcome {
    let scene = Scene::of(&case.blocks, &case::base).unwrap();
    let checks = selected(&scene);
    let overlay = CaseOverlay::new(&scene, &checks);
    let own = CaseOverlay::new(&scene, &[]);
    let begin = Set::default();
    let report = of_check(&own, &begin, check);
    let plan = RepairPlan::from_findings(&report.findings);
    let (mut set, mut open, mut changes) = (begin.clone(), None, false);
    for step in plan.steps.iter().filter(|step| !step.step.is_conditional()) {
        let Some(command) = &step.step.command else { continue };
        let applied =
            kubectl::actions(&command.to_string()).map_err(|why| why.to_string()).and_then(|actions| {
                changes |= actions.iter().any(|action| *action != Action::Observe);
                actions.iter().try_fold(set.clone(), |set, action| overlay.apply(&set, action))
            });
        match applied {
            Ok(changed) => set = changed,
            Err(why) => open = open.or(Some(why)),
        }
    }
    if !changes {
        return open.map_or(Outcome::Manual, Outcome::NotSimulated);
    }
    let before = State::from_report(&report);
    let after = State::from_report(&of_check(&own, &set, check));
    if before.problems.keys().any(|print| after.problems.contains_key(print)) {
        return open.map_or(Outcome::Remains, Outcome::NotSimulated);
    }
    let (today, then) = (overlay.judge(&begin), overlay.judge(&set));
    let new = then.beyond(&today);
    match (new.is_empty(), open) {
        (true, _) => Outcome::Proven,
        (false, Some(why)) => Outcome::NotSimulated(why),
        (false, None) => {
            let checks: BTreeSet<&str> = new.iter().map(|(_, problem)| problem.check).collect();
            Outcome::Adds(checks.into_iter().collect::<Vec<_>>().join(", "))
        }
    }
}

/// A reason without the names of a case.
fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Proven => None,
        Outcome::NotSimulated(why) if why.ends_with("is not in the evidence") => {
            Some("the case has no workload for its pods".to_owned())
        }
        Outcome::NotSimulated(why) if why.ends_with("are not predicted") => {
            Some("the new pods and endpoints are not predicted".to_owned())
        }
        Outcome::NotSimulated(why) => Some(why.clone()),
        Outcome::Manual => Some("a person decides".to_owned()),
        Outcome::Remains => Some("it shows in state that is not predicted".to_owned()),
        Outcome::Adds(checks) => Some(format!("then {checks} applies")),
    }
}

const HEAD: &str = "<!-- Generated from the cards by `UPDATE=1 cargo test`; do not edit. -->
# Proven remedies

For each firing case of a check, its printed `kubectl` commands are applied on top of the case as by [`fix`](fix.md), and all checks run again. The
remedy is proven if the finding is gone and nothing new of warning or above came. Conditional steps are left out.

";

/// The table of docs/remedies.md.
fn page(outcomes: &BTreeMap<&str, Vec<Outcome>>) -> String {
    let all: Vec<&Outcome> = outcomes.values().flatten().collect();
    let count = |is: fn(&Outcome) -> bool| all.iter().filter(|outcome| is(outcome)).count();
    let proven = count(|outcome| *outcome == Outcome::Proven);
    let unknown = count(|outcome| matches!(outcome, Outcome::NotSimulated(_)));
    let manual = count(|outcome| *outcome == Outcome::Manual);
    let open = all.len() - proven - unknown - manual;
    let mut text = HEAD.to_owned();
    _ = writeln!(
        text,
        "Of {} cases, {proven} are proven, {unknown} have a step that is not simulated, {manual} are left to a person, and {open} are not proven by their commands.\n",
        all.len()
    );
    text.push_str("| check | cases | proven | otherwise |\n|---|---|---|---|\n");
    for (check, outcomes) in outcomes {
        let proven = outcomes.iter().filter(|outcome| **outcome == Outcome::Proven).count();
        let reasons: BTreeSet<String> = outcomes.iter().filter_map(reason).collect();
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        _ = writeln!(text, "| [{check}](checks/{check}.md) | {} | {proven} | {reasons} |", outcomes.len());
    }
    text
}

#[test]
fn printed_commands_cure_their_cases() {
    let mut outcomes: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    let (mut open, mut added) = (Vec::new(), Vec::new());
    for check in checks::all() {
        for case in check.cases().iter().filter(|case| case.kind == CaseKind::Fires) {
            let outcome = outcome(check, case);
            let place = format!("{} / {}", check.id, case.title);
            match &outcome {
                Outcome::Remains => open.push(place),
                Outcome::Adds(checks) => added.push(format!("{place}: {checks}")),
                _ => {}
            }
            outcomes.entry(check.id).or_default().push(outcome);
        }
    }
    println!("not proven:\n{}\nadded:\n{}", open.join("\n"), added.join("\n"));
    golden::check("docs/remedies.md", &page(&outcomes));
}

/// Judges another case of the card as the cluster after the remedy of a case.
fn repaired(check: &'static Check, case: &Case, after: &Case) -> Outcome {
    let (before, after) = (Scene::of(&case.blocks, &case::base).unwrap(), Scene::of(&after.blocks, &case::base).unwrap());
    let (checks, none) = (selected(&before), Set::default());
    let (begin, then) = (CaseOverlay::new(&before, &checks), CaseOverlay::new(&after, &checks));
    let own = of_check(&then, &none, check);
    if !own.findings.is_empty() || own.checks.iter().any(|one| !one.gaps.is_empty()) {
        return Outcome::Remains;
    }
    let (today, then) = (begin.judge(&none), then.judge(&none));
    let new: BTreeSet<&str> = then.beyond(&today).iter().map(|(_, problem)| problem.check).collect();
    match new.is_empty() {
        true => Outcome::Proven,
        false => Outcome::Adds(new.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Prints the cases that could be the cluster after the remedy of each case.
#[test]
#[ignore = "for development"]
fn candidates() {
    let word = std::env::var("REMEDY").unwrap_or_default();
    for check in checks::all().filter(|check| check.id.contains(&word)) {
        for case in check.cases().iter().filter(|case| case.kind == CaseKind::Fires) {
            for after in check.cases().iter().filter(|case| case.kind == CaseKind::Quiet) {
                if repaired(check, case, after) == Outcome::Proven {
                    println!("{}\t{}\t{}", check.id, case.title, after.title);
                }
            }
        }
    }
}

/// Prints the result of running each remedy; `REMEDY=word` selects checks.
#[test]
#[ignore = "for development"]
fn trial() {
    let machine = crate::executed::Machine::new().unwrap();
    let word = std::env::var("REMEDY").unwrap_or_default();
    let overlay = std::env::var_os("REMEDY_ALL").is_none();
    for check in checks::all().filter(|check| check.id.contains(&word)) {
        for case in check.cases().iter().filter(|case| case.kind == CaseKind::Fires) {
            let first = outcome(check, case);
            if overlay && (first == Outcome::Proven || first == Outcome::Manual) {
                println!("{first:?}\t{}\t{}", check.id, case.title);
                continue;
            }
            let scene = Scene::of(&case.blocks, &case::base).unwrap();
            println!("{:?}\t{}\t{}", machine.remedy(check, &scene), check.id, case.title);
        }
    }
}
