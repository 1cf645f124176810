//! Runs the cases of cards: runs the check on the small cluster of a case, and compares the result with the expected
//! one.

use crate::card::{Case, CaseKind};
use crate::checks::{Check, CheckResult, Outcome, evaluate, expressed};
use crate::collect::{Options, collect_now};
use crate::knowledge::Knowledge;
use crate::policy;
use crate::render;
use crate::scene::{Scene, SceneError};

/// Width of findings on cards.
const WIDTH: usize = 100;

/// Result of a case.
#[derive(Debug)]
pub struct Ran {
    /// The exact output.
    pub said: String,
    /// Further errors, in addition to a different output.
    pub wrong: Vec<String>,
}

/// Runs a case; `base` returns the text of base clusters.
///
/// # Errors
/// Its blocks do not define a valid cluster.
pub fn run(check: &'static Check, case: &Case, base: &dyn Fn(&str) -> Option<String>) -> Result<Ran, SceneError> {
    let scene = Scene::parse(&case.blocks, base)?;
    let options = Options { whole: expressed::whole_kinds(), ..scene.options.clone() };
    let collected = collect_now(&scene.memory, &policy::items(&[check]), &options, None);
    let mut results = evaluate(&[check], &collected.cluster, Knowledge::embedded(), &scene.settings);
    let result = results.remove(0);
    Ok(Ran { said: render::table::result(&result, WIDTH), wrong: wrong(check, case, &result) })
}

/// Errors that no case may have.
pub fn wrong(check: &Check, case: &Case, result: &CheckResult) -> Vec<String> {
    let mut wrong = Vec::new();
    match (case.kind, &result.outcome) {
        (CaseKind::Fires, Outcome::Findings) => {}
        (CaseKind::Quiet, Outcome::Pass | Outcome::NotApplicable(_)) => {}
        (CaseKind::Unknown, Outcome::Unknown) => {}
        // A finding with a part that was not checked also counts as unknown.
        (CaseKind::Unknown, Outcome::Findings) if !result.gaps.is_empty() => {}
        (kind, outcome) => wrong.push(format!("{}, but the check {}", expected(kind), came_to(outcome))),
    }
    for finding in &result.findings {
        if finding.severity > check.card().front.severity {
            wrong.push("a finding is more severe than its card".to_owned());
        }
        if finding.evidence.is_empty() || finding.remedy.steps.is_empty() || finding.remedy.verify.is_none() {
            wrong.push("a finding needs evidence, steps and a verification step".to_owned());
        }
    }
    wrong
}

/// Purpose of a case, in words.
fn expected(kind: CaseKind) -> &'static str {
    match kind {
        CaseKind::Fires => "a case `fires` needs a finding",
        CaseKind::Quiet => "a case `quiet` needs a cluster without findings",
        CaseKind::Unknown => "a case `unknown` needs missing evidence",
    }
}

fn came_to(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Pass => "passes".to_owned(),
        Outcome::Findings => "finds something".to_owned(),
        Outcome::NotApplicable(why) => format!("does not apply: {why}"),
        Outcome::Unknown => "did not run completely".to_owned(),
        Outcome::Crashed(why) => format!("crashed: {why}"),
    }
}

/// A card's text with another expected result for the case of that title; `None` if there is no such case.
pub fn with_expectation(text: &str, title: &str, said: &str) -> Option<String> {
    let heading =
        text.lines().find(|l| l.starts_with("### ") && l.split_once(':').is_some_and(|(_, t)| t.trim() == title))?;
    let at = text.find(heading)?;
    let open = at + text[at..].find("```text expect\n")? + "```text expect\n".len();
    let close = open + if text[open..].starts_with("```") { 0 } else { text[open..].find("\n```")? + 1 };
    let body = if said.is_empty() { String::new() } else { format!("{said}\n") };
    Some(format!("{}{body}{}", &text[..open], &text[close..]))
}
