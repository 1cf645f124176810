//! The JSON form of `meshdoctor fix`.

use serde::Serialize;

use super::{found_card, from_found_card, planned, proof_text};
use crate::finding::{Severity, StepKind};
use crate::render::document::Config;
use crate::render::json::write;
use crate::repair::{JudgedPlan, Problem, Proof};
use crate::report::Report;

/// The schema tag.
pub const SCHEMA: &str = "meshdoctor.fix/1";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixDocument {
    schema: &'static str,
    origin: FixOrigin,
    judged_at: String,
    /// The configuration file that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<Config>,
    findings: Vec<Planned>,
    steps: Vec<FixStep>,
    /// The state after all judged steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Left>,
    /// Commands that show whether the repair worked.
    verify: Vec<String>,
}

#[derive(Serialize)]
struct FixOrigin {
    kind: String,
    name: String,
}

#[derive(Serialize)]
struct Planned {
    number: usize,
    check: &'static str,
    severity: Severity,
    message: String,
    subjects: Vec<String>,
    fingerprint: String,
    /// Numbers of the findings to repair first.
    after: Vec<usize>,
}

#[derive(Serialize)]
struct FixStep {
    number: usize,
    kind: StepKind,
    text: String,
    repairs: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    offered: bool,
    proof: ProofDocument,
    /// Why a person must run the command, if its card is that of a found file.
    #[serde(skip_serializing_if = "Option::is_none")]
    manual: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProofDocument {
    kind: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<ProblemDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<ProblemDocument>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    until_later: Vec<ProblemDocument>,
    /// Symptoms that are left without their cause, and end later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symptoms: Vec<ProblemDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<Left>,
}

#[derive(Serialize)]
struct ProblemDocument {
    check: &'static str,
    severity: Severity,
    subject: String,
}

#[derive(Serialize)]
struct Left {
    errors: usize,
    warnings: usize,
}

fn problems(problems: &[Problem]) -> Vec<ProblemDocument> {
    let one =
        |one: &Problem| ProblemDocument { check: one.check, severity: one.severity, subject: one.subject.clone() };
    problems.iter().map(one).collect()
}

fn proof(proof: &Proof) -> ProofDocument {
    let text = proof_text(proof);
    let fresh = |kind| ProofDocument {
        kind,
        text: text.clone(),
        gone: Vec::new(),
        added: Vec::new(),
        until_later: Vec::new(),
        symptoms: Vec::new(),
        left: None,
    };
    match proof {
        Proof::Simulated { gone, until_later, added, symptoms, errors, warnings } => ProofDocument {
            gone: problems(gone),
            added: problems(added),
            until_later: problems(until_later),
            symptoms: problems(symptoms),
            left: Some(Left { errors: *errors, warnings: *warnings }),
            ..fresh("simulated")
        },
        Proof::Reads => fresh("reads"),
        Proof::Manual => fresh("manual"),
        Proof::Conditional => fresh("conditional"),
        Proof::NotSimulated(_) => fresh("not-simulated"),
        Proof::Withheld(added) => ProofDocument { added: problems(added), ..fresh("withheld") },
        Proof::DependsOn(_) => fresh("depends-on-withheld"),
    }
}

/// The plan as JSON.
pub fn json(report: &Report, plan: &JudgedPlan) -> String {
    let findings = planned(report).map(|(planned, finding)| Planned {
        number: planned.number,
        check: finding.check,
        severity: finding.severity,
        message: finding.message.clone(),
        subjects: finding.subjects.iter().map(ToString::to_string).collect(),
        fingerprint: finding.fingerprint().to_string(),
        after: planned.after.iter().map(|(number, _)| *number).collect(),
    });
    let steps = (1..).zip(report.repair.steps.iter().zip(&plan.proofs)).map(|(number, (step, judged))| FixStep {
        number,
        kind: step.step.kind,
        text: step.step.text.clone(),
        repairs: step.repairs.iter().copied().collect(),
        command: step.step.command.as_ref().map(ToString::to_string),
        offered: judged.is_offered(),
        proof: proof(judged),
        manual: found_card(report, step).map(from_found_card),
    });
    write(&FixDocument {
        schema: SCHEMA,
        origin: FixOrigin { kind: report.origin.kind.clone(), name: report.origin.name.clone() },
        judged_at: report.at.0.to_string(),
        config: report.run.config.as_ref().map(Config::new),
        findings: findings.collect(),
        steps: steps.collect(),
        after: plan
            .after
            .as_ref()
            .map(|after| Left { errors: after.count(Severity::Error), warnings: after.count(Severity::Warning) }),
        verify: report.repair.verify.iter().map(ToString::to_string).collect(),
    })
}
