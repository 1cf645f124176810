//! The output of `meshdoctor fix`: the repair plan as a shell script, as patches and as JSON.

mod document;
mod files;
mod patches;
mod script;
mod unified;

pub use document::{SCHEMA, json};
pub use files::{
    EditedFile, FileRepair, RepairedFinding, json as file_json, summary as file_summary, text as file_text,
};
pub use patches::patches;
pub use script::script;

use super::text::{count, some_of};
use crate::command::own;
use crate::exit;
use crate::finding::{Finding, Severity};
use crate::repair::{JudgedPlan, Problem, Proof};
use crate::report::{PlannedFinding, Report};

/// Maximum number of findings that a sentence names.
const NAMED: usize = 4;

/// The findings of a plan, with their numbers.
fn planned(report: &Report) -> impl Iterator<Item = (&PlannedFinding, &Finding)> {
    report.repair.findings.iter().map(|(&at, planned)| (planned, &report.findings[at]))
}

/// `issuer-expired (Secret linkerd/linkerd-identity-issuer) and 1 more`.
fn named(problems: &[Problem]) -> String {
    let mut names: Vec<String> =
        problems.iter().map(|one| format!("{} ({})", one.check, one.subject)).collect();
    names.dedup();
    some_of(&names, NAMED)
}

/// `1 error and 2 warnings left`.
fn left(errors: usize, warnings: usize) -> String {
    match (errors, warnings) {
        (0, 0) => "no error or warning left".to_owned(),
        (errors, 0) => format!("{} left", count(errors, "error", "errors")),
        (0, warnings) => format!("{} left", count(warnings, "warning", "warnings")),
        (errors, warnings) => format!(
            "{} and {} left",
            count(errors, "error", "errors"),
            count(warnings, "warning", "warnings")
        ),
    }
}

/// The proof of a step, as one sentence.
fn proof_text(number: usize, proof: &Proof) -> String {
    match proof {
        Proof::Simulated { gone, until_later, added, errors, warnings } => {
            let gone = match gone.is_empty() {
                true => "no finding gone".to_owned(),
                false => format!("{} gone", named(gone)),
            };
            let mut text = format!("after step {number}: {gone}; {}", left(*errors, *warnings));
            if !until_later.is_empty() {
                text.push_str(&format!("; new until a later step: {}", named(until_later)));
            }
            match added.is_empty() {
                true if until_later.is_empty() => text.push_str("; nothing new"),
                true => {}
                false => text.push_str(&format!(
                    "; new, unless a later step without simulation removes it: {}",
                    named(added)
                )),
            }
            text
        }
        Proof::Reads => "changes nothing".to_owned(),
        Proof::Manual => "manual".to_owned(),
        Proof::Conditional => "conditional: run it only if it applies".to_owned(),
        Proof::NotSimulated(reason) => format!("not simulated: {reason}"),
        Proof::Withheld(problems) => format!("not offered: it would add {}", named(problems)),
        Proof::DependsOn(step) => format!("not offered: it belongs to step {step}, which is not offered"),
    }
}

/// The result of the plan, for standard error.
pub fn summary(report: &Report, plan: &JudgedPlan) -> Vec<String> {
    let findings = report.repair.findings.len();
    if findings == 0 {
        let mut lines = vec!["no finding of warning or above needs a repair".to_owned()];
        if report.verdict.status == exit::NOT_CHECKED {
            let list = own("check --coverage");
            lines.push(format!("requested evidence was unavailable: {list} lists it"));
        }
        return lines;
    }
    let of = |is: fn(&Proof) -> bool| plan.proofs.iter().filter(|proof| is(proof)).count();
    let simulated = of(|proof| matches!(proof, Proof::Simulated { .. }));
    let unknown = of(|proof| matches!(proof, Proof::NotSimulated(_)));
    let manual = of(|proof| matches!(proof, Proof::Manual | Proof::Conditional | Proof::Reads));
    let withheld = of(|proof| !proof.is_offered());
    let mut parts = vec![format!("{simulated} judged on the evidence")];
    parts.extend((unknown > 0).then(|| format!("{unknown} not simulated")));
    parts.extend((manual > 0).then(|| format!("{manual} manual, conditional or reading")));
    parts.extend((withheld > 0).then(|| format!("{withheld} not offered")));
    let steps = count(report.repair.steps.len(), "step", "steps");
    let findings = count(findings, "finding", "findings");
    let mut lines = vec![format!("{steps} for {findings}: {}", parts.join(", "))];
    if let Some(after) = &plan.after {
        let (errors, warnings) = (after.count(Severity::Error), after.count(Severity::Warning));
        lines.push(format!("after the judged steps: {}", left(errors, warnings)));
    }
    lines
}
