//! Runs the cases of cards, ours and those that users bring: the small cluster that a case describes is judged by its check,
//! and what is said is held against what the card expects.

use crate::card::{Case, CaseKind};
use crate::checks::{Check, CheckResult, Outcome, evaluate, expressed};
use crate::collect::{Options, collect_now};
use crate::knowledge::Knowledge;
use crate::policy;
use crate::render;
use crate::scene::{Scene, SceneError};

/// The width at which cards quote findings.
const WIDTH: usize = 100;

/// What came of a case.
#[derive(Debug)]
pub struct Ran {
    /// What was said, to the letter.
    pub said: String,
    /// What is wrong with it besides that the card may expect something else.
    pub wrong: Vec<String>,
}

/// Runs a case; `base` gives the text of base clusters.
///
/// # Errors
/// Its blocks make no cluster.
pub fn run(
    check: &'static Check,
    case: &Case,
    base: &dyn Fn(&str) -> Option<String>,
) -> Result<Ran, SceneError> {
    let scene = Scene::of(&case.blocks, base)?;
    let options = Options { whole: expressed::whole_kinds(), ..scene.options.clone() };
    let collected = collect_now(&scene.memory, &policy::items(&[check]), &options, None);
    let mut results = evaluate(&[check], &collected.cluster, Knowledge::embedded(), &scene.settings);
    let result = results.remove(0);
    Ok(Ran { said: render::table::result(&result, WIDTH), wrong: wrong(check, case, &result) })
}

/// What no case of any card may say.
pub fn wrong(check: &Check, case: &Case, result: &CheckResult) -> Vec<String> {
    let mut wrong = Vec::new();
    match (case.kind, &result.outcome) {
        (CaseKind::Fires, Outcome::Findings) => {}
        (CaseKind::Quiet, Outcome::Pass | Outcome::NotApplicable(_)) => {}
        (CaseKind::Unknown, Outcome::Unknown) => {}
        // A finding with a part that could not be judged is an honest unknown as well.
        (CaseKind::Unknown, Outcome::Findings) if !result.gaps.is_empty() => {}
        (kind, outcome) => wrong.push(format!("{}, and the check {}", expected(kind), came_to(outcome))),
    }
    for finding in &result.findings {
        if finding.severity > check.card().front.severity {
            wrong.push("a finding is worse than its card's severity".to_owned());
        }
        if finding.evidence.is_empty() || finding.remedy.steps.is_empty() || finding.remedy.verify.is_none() {
            wrong.push("a finding has evidence, steps and a step that verifies".to_owned());
        }
    }
    wrong
}

/// What a case is there to show, in words.
fn expected(kind: CaseKind) -> &'static str {
    match kind {
        CaseKind::Fires => "a case `fires` shows what the check finds",
        CaseKind::Quiet => "a case `quiet` shows a cluster in which all is well",
        CaseKind::Unknown => "a case `unknown` shows evidence that is missing",
    }
}

fn came_to(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Pass => "passes".to_owned(),
        Outcome::Findings => "finds something".to_owned(),
        Outcome::NotApplicable(why) => format!("does not apply: {why}"),
        Outcome::Unknown => "did not run fully".to_owned(),
        Outcome::Crashed(why) => format!("crashed: {why}"),
    }
}

/// A card's text with another expectation in the case of that title; `None` where the text has no such case.
pub fn with_expectation(text: &str, title: &str, said: &str) -> Option<String> {
    let heading = text
        .lines()
        .find(|l| l.starts_with("### ") && l.split_once(':').is_some_and(|(_, t)| t.trim() == title))?;
    let at = text.find(heading)?;
    let open = at + text[at..].find("```text expect\n")? + "```text expect\n".len();
    let close = open + if text[open..].starts_with("```") { 0 } else { text[open..].find("\n```")? + 1 };
    let body = if said.is_empty() { String::new() } else { format!("{said}\n") };
    Some(format!("{}{body}{}", &text[..open], &text[close..]))
}
