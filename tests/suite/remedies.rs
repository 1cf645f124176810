//! Remedies that are proven: the printed commands of firing cases are run, or the cluster after them is judged.
//! `UPDATE=1` writes the class of each card and the table of docs/remedies.md. `MESHDOCTOR_SWEEP=1` runs every case, also
//! those with the same commands as another one. `REMEDY=WORD,WORD` runs the checks whose id contains one of the words,
//! and prints their commands.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Mutex;

use meshdoctor::card::{Case, CaseKind, Proves};
use meshdoctor::checks::{self, Check};
use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::docgen;
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

use crate::executed::{Machine, Ran};
use crate::skip::{Need, skipped};
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

    pub fn report(&self, set: &Set, checks: &[&'static Check]) -> Report {
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
    let scene = Scene::parse(&case.blocks, &case::base).unwrap();
    let checks = selected(&scene);
    let overlay = CaseOverlay::new(&scene, &checks);
    let own = CaseOverlay::new(&scene, &[]);
    let begin = Set::default();
    let report = of_check(&own, &begin, check);
    let plan = RepairPlan::from_findings(&report.findings);
    let (mut set, mut open, mut changes) = (begin.clone(), None, false);
    for step in plan.steps.iter().filter(|step| !step.step.is_conditional()) {
        let Some(command) = &step.step.command else { continue };
        let applied = kubectl::actions(&command.to_string()).map_err(|why| why.to_string()).and_then(|actions| {
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

/// The proof for one case.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Proof {
    /// Its commands were run.
    Runs,
    /// Those of an earlier case with the same programs and options were run.
    Alike,
    /// The state after its steps was judged.
    Judged,
    /// Neither, for this reason.
    Open(&'static str),
    /// The case that should be the cluster after the remedy is not.
    Wrong(String),
}

/// Programs and options of the commands of a remedy, without names and values.
fn shape(check: &'static Check, scene: &Scene) -> Vec<String> {
    let report = of_check(&CaseOverlay::new(scene, &[]), &Set::default(), check);
    let plan = RepairPlan::from_findings(&report.findings);
    let mut words = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let text = step.step.command.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_kept = |word: &&str| {
            word.starts_with('-') || word.chars().all(|letter| letter.is_ascii_lowercase() || "|&".contains(letter))
        };
        words.push(format!("{at} {:?}", step.step.applies));
        words.extend(text.split_whitespace().filter(is_kept).map(str::to_owned));
    }
    words
}

/// The proof of one case, and its remedy: the index of the first case with the same programs and options.
type CaseProof = (usize, Proof);

/// The proof of each firing case of a check.
fn proofs(machine: &Machine, check: &'static Check) -> Vec<CaseProof> {
    let every = std::env::var_os("MESHDOCTOR_SWEEP").is_some();
    let mut proven = BTreeSet::new();
    let mut shapes: Vec<Vec<String>> = Vec::new();
    let fires = check.cases().iter().filter(|case| case.kind == CaseKind::Fires);
    fires
        .map(|case| {
            let scene = Scene::parse(&case.blocks, &case::base).unwrap();
            let shape = shape(check, &scene);
            let known = shapes.iter().position(|known| *known == shape);
            let remedy = known.unwrap_or_else(|| {
                shapes.push(shape.clone());
                shapes.len() - 1
            });
            if !every && proven.contains(&shape) {
                return (remedy, Proof::Alike);
            }
            let proof = proof(machine, check, case, &scene);
            if proof == Proof::Runs {
                proven.insert(shape);
            }
            (remedy, proof)
        })
        .collect()
}

/// The proof of a case.
fn proof(machine: &Machine, check: &'static Check, case: &Case, scene: &Scene) -> Proof {
    let ran = machine.remedy(check, scene);
    if ran == Ran::Cured {
        return Proof::Runs;
    }
    if let Some(title) = &case.repaired {
        let after = check.cases().iter().find(|other| other.title == *title);
        let after = after.unwrap_or_else(|| panic!("{}: no case is called {title:?}", check.id));
        return match repaired(check, case, after) {
            Outcome::Proven => {
                println!("judged\t{}\t{}\t{ran:?}", check.id, case.title);
                Proof::Judged
            }
            other => Proof::Wrong(format!("{} / {}: {title}: {other:?}", check.id, case.title)),
        };
    }
    if outcome(check, case) == Outcome::Proven {
        println!("judged\t{}\t{}\t{ran:?}", check.id, case.title);
        return Proof::Judged;
    }
    println!("open\t{}\t{}\t{ran:?}", check.id, case.title);
    Proof::Open(match ran {
        Ran::NoCommand => "it has no command",
        Ran::Failed(..) => "a command needs more than the test cluster has",
        Ran::Adds(_) => "a manual step of the remedy is missing",
        _ => "the finding shows in state that the test does not change",
    })
}

/// The proof of a check by the best proof of each remedy; `None` if none is proven.
fn class(proofs: &[CaseProof]) -> Option<Proves> {
    let best = |remedy: usize| -> Option<&Proof> {
        let own = || proofs.iter().filter(|(of, _)| *of == remedy).map(|(_, proof)| proof);
        let first = |proof: Proof| own().find(|one| **one == proof);
        first(Proof::Runs).or_else(|| first(Proof::Judged)).or_else(|| own().next())
    };
    let remedies: BTreeSet<usize> = proofs.iter().map(|(remedy, _)| *remedy).collect();
    let best: Vec<&Proof> = remedies.into_iter().filter_map(best).collect();
    let count = |wanted: &Proof| best.iter().filter(|proof| **proof == wanted).count();
    let (runs, overlay) = (count(&Proof::Runs), count(&Proof::Judged));
    let open = best.len() - runs - overlay;
    match (runs, overlay, open) {
        (0, 0, _) => None,
        (_, 0, 0) => Some(Proves::Runs),
        (0, _, 0) => Some(Proves::Overlay),
        (runs, overlay, open) => Some(Proves::Several { runs, overlay, open, reason: reasons(best.into_iter()) }),
    }
}

/// The reasons of open proofs, each once.
fn reasons<'p>(proofs: impl Iterator<Item = &'p Proof>) -> String {
    let reasons: BTreeSet<&str> = proofs
        .filter_map(|proof| match proof {
            Proof::Open(reason) => Some(*reason),
            _ => None,
        })
        .collect();
    reasons.into_iter().collect::<Vec<_>>().join("; ")
}

/// Compares the claim of a card with the result, or writes it. Returns the claim.
fn claim(check: &'static Check, proofs: &[CaseProof], wrong: &mut Vec<String>) -> Proves {
    wrong.extend(proofs.iter().filter_map(|(_, proof)| match proof {
        Proof::Wrong(why) => Some(why.clone()),
        _ => None,
    }));
    let claimed = check.card().front.proves.clone();
    let Some(proven) = class(proofs) else {
        return match claimed {
            Some(manual @ Proves::Manual(_)) => manual,
            other => {
                wrong.push(format!("{}: its remedy is not proven, and its card states {other:?}", check.id));
                Proves::Manual("unknown".to_owned())
            }
        };
    };
    if claimed.as_ref() != Some(&proven) {
        if std::env::var_os("UPDATE").is_some() {
            write_claim(check, &proven);
        } else {
            wrong.push(format!("{}: its card states {claimed:?}, and the result is {proven:?}", check.id));
        }
    }
    proven
}

/// Writes `proves` into the front matter of a card.
fn write_claim(check: &'static Check, proven: &Proves) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(check.card().path());
    let text = std::fs::read_to_string(&path).unwrap();
    let claim = proven.text();
    let line = match claim.contains(": ") {
        true => format!("proves: \"{claim}\""),
        false => format!("proves: {claim}"),
    };
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("proves: ")).collect();
    let at = lines.iter().position(|line| line.starts_with("since: ")).unwrap() + 1;
    let mut lines = lines;
    lines.insert(at, &line);
    std::fs::write(path, format!("{}\n", lines.join("\n"))).unwrap();
}

const HEAD: &str = "<!-- Generated from the cards by `UPDATE=1 cargo test`; do not edit. -->
# Proven remedies

A test carries out the remedy of each firing case, and all checks judge the cluster again. A remedy is proven if the finding is gone and nothing new of
warning or above came. Cases of a check whose commands have the same programs and options share a remedy. Each remedy has one of three classes, from the
best of its cases:

- **runs**: the printed commands are run with `/bin/sh` and the real `kubectl` on an API server that holds the objects of the case. The programs `linkerd`,
  `helm`, `step`, `argocd`, `flux` and those of a node are stand-ins with the guards of the real ones; new pods come from the model of injection.
- **overlay**: the cluster is judged as a person leaves it who follows the steps.
- **manual**, or open for some remedies of a check: no test carries it out, for the reason in the last column.

In the columns of cases, \"same\" counts cases that are not run because a case with the same programs and options was run: they differ in names and values.

";

/// The text of docs/remedies.md.
fn page(all: &BTreeMap<&str, (Proves, Vec<CaseProof>)>) -> String {
    let count = |is: fn(&Proves) -> bool| all.values().filter(|(claim, _)| is(claim)).count();
    let (runs, overlay) = (count(|one| *one == Proves::Runs), count(|one| *one == Proves::Overlay));
    let several = count(|one| matches!(one, Proves::Several { .. }));
    let mut text = HEAD.to_owned();
    _ = writeln!(
        text,
        "Of {} checks, {runs} run with all remedies, {overlay} are judged on an overlay, {several} have remedies of several classes, and {} \
         are manual.\n",
        all.len(),
        all.len() - runs - overlay - several
    );
    text.push_str("| check | class | cases | run | same | judged | the others |\n|---|---|---|---|---|---|---|\n");
    for (check, (claim, proofs)) in all {
        let open = reasons(proofs.iter().map(|(_, proof)| proof));
        let (class, others) = match claim {
            Proves::Manual(reason) => ("manual".to_owned(), reason.clone()),
            Proves::Several { runs, overlay, open: left, .. } => {
                let each = [("runs", runs), ("overlay", overlay), ("open", left)].into_iter();
                let each = each.filter(|(_, number)| **number > 0);
                let each: Vec<String> = each.map(|(class, number)| format!("{class} {number}")).collect();
                (each.join(", "), open)
            }
            other => (other.text(), open),
        };
        let of = |wanted: &Proof| proofs.iter().filter(|(_, proof)| proof == wanted).count();
        let (run, same, judged) = (of(&Proof::Runs), of(&Proof::Alike), of(&Proof::Judged));
        let cases = proofs.len();
        let link = docgen::card_link(checks::find(check).unwrap());
        _ = writeln!(text, "| {link} | {class} | {cases} | {run} | {same} | {judged} | {others} |");
    }
    text
}

#[test]
fn printed_remedies_cure_their_cases() {
    if Machine::new().is_none() {
        skipped(Need::Kubectl, "printed remedies are not run");
        return;
    }
    let wanted = std::env::var("REMEDY").ok();
    let is_wanted = |check: &&'static Check| {
        wanted.as_ref().is_none_or(|words| words.split(',').any(|word| check.id.contains(word)))
    };
    let left = Mutex::new(checks::all().filter(is_wanted).collect::<Vec<_>>());
    let all = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let machine = Machine::new().unwrap();
                loop {
                    let Some(check) = left.lock().unwrap().pop() else { return };
                    let proofs = proofs(&machine, check);
                    all.lock().unwrap().insert(check.id, (check, proofs));
                }
            });
        }
    });
    let mut wrong = Vec::new();
    let all = all.into_inner().unwrap().into_iter().map(|(id, (check, proofs))| {
        let claim = claim(check, &proofs, &mut wrong);
        (id, (claim, proofs))
    });
    let all: BTreeMap<&str, (Proves, Vec<CaseProof>)> = all.collect();
    if wanted.is_some() {
        print!("{}", page(&all));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if wanted.is_some() {
        return;
    }
    golden::check("docs/remedies.md", &page(&all));
}

/// Judges another case of the card as the cluster after the remedy of a case.
fn repaired(check: &'static Check, case: &Case, after: &Case) -> Outcome {
    let (before, after) =
        (Scene::parse(&case.blocks, &case::base).unwrap(), Scene::parse(&after.blocks, &case::base).unwrap());
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
