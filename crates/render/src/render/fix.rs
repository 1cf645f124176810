//! The output of `meshdoctor fix`: the repair plan as a shell script, as patches, as chart values and as JSON.

mod document;
mod files;
mod patches;
mod script;
mod unified;
mod values;

pub use document::{SCHEMA, json};
pub use files::{
    EditedFile, FileRepair, ObjectEdit, RepairedFinding, json as file_json, summary as file_summary, text as file_text,
};
pub use patches::patches;
pub use script::{can_run, guarded, script};
pub use unified::{Replacement, replacements};
pub use values::values;

use super::steps::describe;
use super::text::{count, some_of};
use crate::checks::words::sentence;
use crate::command::own;
use crate::exit;
use crate::finding::{Finding, NodeRound, Severity};
use crate::repair::{JudgedPlan, Problem, Proof, State};
use crate::report::{PlanStep, PlannedFinding, Report};

/// Maximum number of findings that a sentence names.
const NAMED: usize = 4;

/// The findings of a plan, with their numbers.
fn planned(report: &Report) -> impl Iterator<Item = (&PlannedFinding, &Finding)> {
    report.repair.findings.iter().map(|(&at, planned)| (planned, &report.findings[at]))
}

/// The configuration file that chose checks or evidence of this plan, for a comment.
fn configured(report: &Report) -> Option<String> {
    let config = report.run.config.as_ref()?;
    let origin = if config.named { "" } else { " (a file that was found)" };
    (!config.gate.is_empty()).then(|| format!("{}{origin} sets {}", config.file, config.gate_flags()))
}

/// The found configuration file whose cards recommend a step: another person may have written its commands.
fn found_card<'a>(report: &'a Report, step: &PlanStep) -> Option<&'a str> {
    let config = report.run.config.as_ref().filter(|config| !config.named)?;
    let is_of_file = config.settings.iter().any(|flag| flag == "checks");
    (is_of_file && step.is_custom).then_some(config.file.as_str())
}

/// Why a step of a card is manual.
fn from_found_card(file: &str) -> String {
    format!("manual: from a card that {file} brings, a file that was found")
}

/// `viz-pods-not-injected (Deployment linkerd-viz/tap and 2 more) and 1 more`: each check once.
fn problem_names(problems: &[Problem]) -> String {
    let mut checks: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in problems {
        match checks.iter_mut().find(|(check, _)| *check == one.check) {
            Some((_, subjects)) if subjects.contains(&one.subject.as_str()) => {}
            Some((_, subjects)) => subjects.push(&one.subject),
            None => checks.push((one.check, vec![&one.subject])),
        }
    }
    let name = |(check, subjects): &(&str, Vec<&str>)| match subjects.as_slice() {
        [first] => format!("{check} ({first})"),
        [first, others @ ..] => format!("{check} ({first} and {} more)", others.len()),
        [] => (*check).to_owned(),
    };
    let names: Vec<String> = checks.iter().map(name).collect();
    some_of(&names, NAMED)
}

/// The plan is empty. Without evidence of some checks, only the evidence that was read has no finding.
fn nothing_to_repair(report: &Report) -> String {
    match report.verdict.status == exit::NOT_CHECKED {
        true => {
            let checks = count(report.verdict.not_judged, "check", "checks");
            format!("no finding of warning or above in the evidence that was read; {checks} did not run fully")
        }
        false => "no finding of warning or above needs a repair".to_owned(),
    }
}

/// `1 error and 2 warnings left`.
fn left(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no error or warning left".to_owned(),
        (errors, 0) => format!("{} left", count(errors, "error", "errors")),
        (0, warnings) => format!("{} left", count(warnings, "warning", "warnings")),
        (errors, warnings) => {
            format!("{} and {} left", count(errors, "error", "errors"), count(warnings, "warning", "warnings"))
        }
    }
}

/// `1 error and 2 warnings remain`.
fn remaining(errors: usize, warnings: usize) -> String {
    let verb = if errors + warnings == 1 { "remains" } else { "remain" };
    match left(errors, warnings).strip_suffix(" left") {
        Some(counts) if errors + warnings > 0 => format!("{counts} {verb}"),
        _ => "no error or warning remains".to_owned(),
    }
}

/// The effect that a step had, as one sentence.
pub fn effect_text(number: usize, effect: &Proof) -> String {
    proof_text(effect).replacen("simulated result", &format!("after step {number}"), 1)
}

/// The proof of a step, as one sentence.
pub fn proof_text(proof: &Proof) -> String {
    match proof {
        Proof::Simulated { gone, until_later, added, symptoms, errors, warnings } => {
            let gone = match gone.is_empty() {
                true => "repairs no finding alone".to_owned(),
                false => format!("repairs {}", problem_names(gone)),
            };
            let mut text = format!("simulated result: {gone}; {}", remaining(*errors, *warnings));
            if !symptoms.is_empty() {
                text.push_str(&format!("; symptoms that end later: {}", problem_names(symptoms)));
            }
            if !until_later.is_empty() {
                text.push_str(&format!("; new until a later step: {}", problem_names(until_later)));
            }
            match added.is_empty() {
                true => {}
                false => text.push_str(&format!(
                    "; new, unless a later step without simulation removes it: {}; not run automatically",
                    problem_names(added)
                )),
            }
            text
        }
        Proof::Reads => "read-only".to_owned(),
        Proof::Manual => "manual".to_owned(),
        Proof::Conditional => "conditional: not run automatically".to_owned(),
        Proof::NotSimulated(reason) => format!("not simulated: {reason}"),
        Proof::Withheld(problems) => format!("not offered: it would add {}", problem_names(problems)),
        Proof::DependsOn(step) => format!("not offered: it belongs to step {step}, which is not offered"),
    }
}

/// The state after a run of the steps, for standard error.
pub fn applied(report: &Report) -> String {
    let state = State::from_report(report);
    format!("result: {}", left(state.count(Severity::Error), state.count(Severity::Warning)))
}

/// The result of the plan, for standard error.
pub fn summary(report: &Report, plan: &JudgedPlan) -> Vec<String> {
    let findings = report.repair.findings.len();
    if findings == 0 {
        let mut lines = vec![nothing_to_repair(report)];
        if report.verdict.status == exit::NOT_CHECKED {
            let list = own("check --coverage");
            lines.push(format!("requested evidence was unavailable: {list} lists it"));
        }
        return lines;
    }
    let steps = || report.repair.steps.iter().zip(&plan.proofs);
    let withheld = steps().filter(|(_, proof)| !proof.is_offered()).count();
    let rounds = report.repair.node_rounds();
    let runs = |(number, (step, proof)): &(usize, (&PlanStep, &Proof))| {
        let needs_person = found_card(report, step).is_some() || NodeRound::find(&rounds, *number).is_some();
        !needs_person && proof.is_offered() && script::runs_by_itself(step, proof)
    };
    let alone = (1..).zip(steps()).filter(runs).count();
    let needs_you = report.repair.steps.len() - withheld - alone;
    let of = |number: usize, one: &str, several: &str| {
        (number > 0).then(|| format!("{number} {}", if number == 1 { one } else { several }))
    };
    let parts = [
        of(alone, "automatic", "automatic"),
        of(needs_you, "manual", "manual"),
        of(withheld, "not offered", "not offered"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let steps = count(report.repair.steps.len(), "step", "steps");
    let findings = count(findings, "finding", "findings");
    let mut lines = vec![format!("{steps} for {findings}: {}", parts.join(", "))];
    if let Some(after) = &plan.after {
        let (errors, warnings) = (after.count(Severity::Error), after.count(Severity::Warning));
        let unproven: Vec<usize> = (1..)
            .zip(&plan.proofs)
            .filter(|(_, proof)| matches!(proof, Proof::Manual | Proof::Conditional | Proof::NotSimulated(_)))
            .map(|(number, _)| number)
            .collect();
        // With most steps not simulated, the rest would look like a plan that fails.
        if unproven.len() * 2 < plan.proofs.len().max(1) {
            lines.push(format!("simulated result: {}", remaining(errors, warnings)));
        }
        if !unproven.is_empty() {
            let words = sentence(&describe(&unproven));
            lines.push(format!("{words} cannot be simulated; run {} afterwards", own("check")));
        }
    }
    lines
}
