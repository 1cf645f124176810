//! The repair plan and the plan of an upgrade: steps in order, each with its command.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::document::{Document, Remedy};
use super::super::plan::continue_when;
use super::super::repair::{Order, PlanRow};
use super::super::text::count;
use super::super::{repair, steps, subject};
use super::{escaped, script};
use crate::checks;
use crate::command::Command;
use crate::finding::NodeRound;
use crate::report::{PlanStep, Report};

/// Maximum number of further nodes that a step names.
const NODES: usize = 10;

/// The repair plan as in the terminal: each finding, and the steps that begin with it. Steps are numbered
/// throughout.
pub(super) fn repair_plan(report: &Report, body: &mut String) {
    let plan = &report.repair;
    if plan.steps.is_empty() || report.change.is_some() {
        return;
    }
    body.push_str("<section id=\"repair-plan\"><h2>Repair plan</h2>");
    let own = report.subject.cli.as_deref();
    let missing = plan.missing_clis().into_iter().filter(|release| own != Some(*release));
    let mut missing: BTreeSet<&str> = missing.collect();
    let mut is_open = false;
    let rounds = plan.node_rounds();
    let order = Order::from_plan(plan);
    for row in order.rows(plan) {
        match row {
            PlanRow::Findings(numbers) => {
                body.push_str(if std::mem::take(&mut is_open) { "</ol>" } else { "" });
                numbers.iter().for_each(|&finding| heading(report, &order, finding, body));
            }
            PlanRow::Step { number, repairs } => {
                if !std::mem::replace(&mut is_open, true) {
                    _ = write!(body, "<ol start=\"{number}\">");
                }
                let repairs = repairs.filter(|_| plan.findings.len() > 1);
                let planned = &plan.steps[number - 1];
                let required = planned.step.command.as_ref().and_then(Command::required_cli);
                let installed = required.filter(|release| missing.remove(release));
                step(report, (number, planned), repairs, (&rounds, installed), body);
            }
        }
    }
    body.push_str(if is_open { "</ol>" } else { "" });
    let verify = repair::verify_lines(&plan.verify).concat();
    if !verify.is_empty() {
        body.push_str("<h3>Verify</h3>");
        script(&verify, note(&verify), body);
    }
    body.push_str("</section>");
}

/// `error 2`, or `error` if it is the only finding of the plan.
pub(super) fn numbered(report: &Report, at: usize) -> String {
    let severity = report.findings[at].severity.label();
    match report.repair.findings.get(&at) {
        Some(planned) if report.repair.findings.len() > 1 && report.change.is_none() => {
            format!("{severity} {}", planned.number)
        }
        _ => severity.to_owned(),
    }
}

/// A finding above its steps: severity, check, subjects and message.
fn heading(report: &Report, order: &Order, number: usize, body: &mut String) {
    let planned = report.repair.findings.iter().find(|(_, planned)| planned.number == number);
    let Some((&at, planned)) = planned else { return };
    let finding = &report.findings[at];
    let after = match order.note(report, planned) {
        note if note.is_empty() => note,
        note => format!("<span class=\"faint\">{note}</span>"),
    };
    _ = write!(
        body,
        "<div class=\"planned {severity}\"><h3><span class=\"{severity}\">{}</span> <a href=\"#f-{}\">{}</a></h3> \
         {}{after}<p>{}</p></div>",
        numbered(report, at),
        escaped(&finding.fingerprint().0),
        escaped(finding.check),
        escaped(&subject::brief(finding.subjects.iter())),
        escaped(&finding.message),
        severity = finding.severity.label(),
    );
}

/// A step; `repairs` if it repairs others than the finding above it. With the nodes of its rounds, and the release of
/// the linkerd CLI that it needs, if no earlier step does.
fn step(
    report: &Report,
    (number, step): (usize, &PlanStep),
    repairs: Option<&BTreeSet<usize>>,
    (rounds, required): (&[NodeRound<'_>], Option<&str>),
    body: &mut String,
) {
    let repairs =
        repairs.map(|numbers| format!(" <span class=\"faint\">(for {})</span>", repair::numbered(report, numbers)));
    _ = write!(
        body,
        "<li id=\"step-{number}\">{}{}{}",
        escaped(&steps::in_plan(&report.repair, number, &step.step.text)),
        escaped(&repair::elsewhere(&step.step, number, rounds, NODES)),
        repairs.unwrap_or_default()
    );
    if let Some(release) = required {
        let lines: Vec<String> = checks::cli_installation(release).iter().flat_map(Command::rendered).collect();
        _ = write!(body, "<p>Unless you have linkerd CLI {}, install it:</p>", escaped(release));
        script(&lines, note(&lines), body);
    }
    if let Some(command) = &step.step.command {
        let lines = command.rendered();
        script(&lines, note(&lines), body);
    }
    body.push_str("</li>");
}

/// `50 commands`: the content of a scrollable box.
fn note(lines: &[String]) -> Option<String> {
    let (one, many) = if steps::are_commands(lines) { ("command", "commands") } else { ("line", "lines") };
    (lines.len() > 1).then(|| count(lines.len(), one, many))
}

/// The steps of a remedy that the repair plan does not have.
pub(super) fn remedy_steps(remedy: &Remedy, body: &mut String) {
    body.push_str("<ol>");
    for step in &remedy.steps {
        let nodes = match step.other_nodes.as_slice() {
            [] => String::new(),
            nodes => format!(" (then likewise on {})", super::super::text::some_of(nodes, NODES)),
        };
        _ = write!(body, "<li>{}{}", escaped(&step.text), escaped(&nodes));
        let lines: Vec<&str> = step.command.iter().flat_map(|command| command.lines()).collect();
        script(&lines, None, body);
        body.push_str("</li>");
    }
    body.push_str("</ol>");
}

/// The plan of an upgrade, or the reason that it is missing.
pub(super) fn upgrade_plan(document: &Document, body: &mut String) {
    let Some(rehearsal) = &document.rehearsal else { return };
    _ = write!(body, "<section id=\"upgrade-plan\"><h2>Upgrade plan to {}</h2>", escaped(&rehearsal.target));
    if rehearsal.plan.is_empty() {
        body.push_str("<p>No plan: the target is not a later release, or the release data lacks the way to it.</p>");
        body.push_str("</section>");
        return;
    }
    body.push_str("<ol class=\"phases\">");
    for phase in &rehearsal.plan {
        _ = write!(body, "<li><h3>{}</h3>", escaped(&phase.title));
        let resolved = document.findings.iter().filter(|one| phase.deals_with.contains(&one.fingerprint));
        let links: Vec<String> = resolved
            .map(|one| format!("<a href=\"#f-{}\">{}</a>", escaped(&one.fingerprint), escaped(&one.check)))
            .collect();
        if !links.is_empty() {
            _ = write!(body, "<p>Resolve in this phase: {}</p>", links.join(", "));
        }
        remedy_steps(&phase.remedy, body);
        let verify: Vec<&str> = phase.remedy.verify.lines().collect();
        if !verify.is_empty() {
            _ = write!(body, "<p>{}:</p>", continue_when(verify.len()));
            script(&verify, None, body);
        }
        body.push_str("</li>");
    }
    body.push_str("</ol></section>");
}
