//! The plan of a rehearsed upgrade as Markdown, for a change request: the breaking and other changes, then
//! the steps in order, with a check for each phase.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::rehearsal;
use super::text::clean;
use super::{coverage, subject};
use crate::checks::words::sentence;
use crate::checks::{AFTER, Phase, Plan, find};
use crate::command::Command;
use crate::finding::{Finding, Remedy, Severity, Step, When};
use crate::report::Report;

/// The sections of findings that begin with the upgrade: errors, and others.
const BREAKS: &str = "Will break";
const CHANGES: &str = "Will change";

/// The section of a finding that begins with the upgrade.
fn title_of(finding: &Finding) -> &'static str {
    if finding.severity == Severity::Error { BREAKS } else { CHANGES }
}

/// The plan, or the reason why there is no plan.
pub fn markdown(report: &Report) -> String {
    let Some(rehearsal) = &report.rehearsal else {
        return "No upgrade was rehearsed: name the release with --to.\n".to_owned();
    };
    let change = sentence(rehearsal::change(report, rehearsal));
    let mut text = format!("# {change} of Linkerd to {}\n\n", clean(&rehearsal.target));
    let subject = &report.subject;
    let mut installed: Vec<&str> = subject.control_plane.values().map(String::as_str).collect();
    installed.sort_unstable();
    installed.dedup();
    let kubernetes = subject.kubernetes.as_deref().unwrap_or("of unknown version");
    _ = writeln!(
        text,
        "Rehearsed on {} {} (Kubernetes {}), which runs {}; as of {}, with release data of {}.\n",
        clean(&report.origin.kind),
        clean(&report.origin.name),
        clean(kubernetes),
        clean(&installed.join(", ")),
        report.at.0,
        report.knowledge_date
    );
    if let Some(by_then) = by_then(report) {
        let words = "Evaluated for the cluster on Kubernetes";
        _ = writeln!(text, "{words} {by_then}; the steps below do not upgrade Kubernetes.\n");
    }
    _ = writeln!(text, "**{}**\n", rehearsal::verdict(report, rehearsal));
    for row in rehearsal::rows(report, rehearsal, true) {
        _ = writeln!(text, "- {}", clean(&row));
    }
    text.push('\n');
    let roots = || report.findings.iter().filter(|finding| finding.caused_by.is_empty());
    let later = || roots().filter(|finding| finding.when == When::AfterUpgrade);
    let (plan, target) = (rehearsal.plan.as_ref(), rehearsal.to.as_str());
    for title in [BREAKS, CHANGES] {
        section(&mut text, title, (plan, target), later().filter(|finding| title_of(finding) == title));
    }
    let today = |finding: &&Finding| finding.when != When::AfterUpgrade && finding.severity > Severity::Info;
    section(&mut text, "Repair before", (plan, target), roots().filter(today));
    let gaps: Vec<_> = coverage::deciding(report).into_iter().filter(|gap| is_of_an_upgrade(&gap.checks)).collect();
    if !gaps.is_empty() {
        text.push_str("## Could not be rehearsed\n\n");
        for gap in gaps {
            _ = writeln!(text, "- {}", clean(&gap.what));
            for (words, lines) in gap.ways {
                _ = writeln!(text, "  - {}", clean(&words));
                for line in lines {
                    _ = writeln!(text, "    `{}`", clean(&line));
                }
            }
        }
        text.push('\n');
    }
    let Some(plan) = &rehearsal.plan else {
        text.push_str("No plan: the target is not a later release, or the release data lacks the way to it.\n");
        return text;
    };
    for (number, phase) in (1..).zip(&plan.phases) {
        _ = writeln!(text, "## {number}. {}\n", clean(&phase.title));
        let here: Vec<&Finding> = later().filter(|finding| plan.step_of(finding) == Some(number)).collect();
        let by_steps = |finding: &&Finding| {
            phase.part.resolves_findings() || repeats(phase, finding) || names_the_plan(&finding.remedy)
        };
        let (resolved, others): (Vec<&Finding>, Vec<&Finding>) = here.into_iter().partition(by_steps);
        resolutions(&mut text, &others);
        for line in reminders(&resolved) {
            _ = writeln!(text, "These steps resolve {line}.\n");
        }
        steps(&mut text, &phase.remedy);
    }
    text
}

/// Whether a remedy only names the plan: in the plan, it would point to itself.
fn names_the_plan(remedy: &Remedy) -> bool {
    let mut commands = remedy.steps.iter().filter_map(|step| step.command.as_ref()).peekable();
    commands.peek().is_some() && commands.all(|command| is_the_plan(command, None))
}

/// Whether a command prints the plan of an upgrade, or that of an upgrade to `target`.
fn is_the_plan(command: &Command, target: Option<&str>) -> bool {
    let of_target = |line: &str| target.is_none_or(|target| line.contains(&format!(" --to {target} ")));
    let lines = command.rendered();
    lines.iter().all(|line| line.contains(" check --to ") && line.ends_with(" -o plan") && of_target(line))
}

/// Whether the steps of a phase have all commands of a finding's steps.
fn repeats(phase: &Phase, finding: &Finding) -> bool {
    let lines = |steps: &[Step]| -> BTreeSet<String> {
        steps.iter().filter_map(|step| step.command.as_ref()).flat_map(Command::rendered).collect()
    };
    let own = lines(&finding.remedy.steps);
    !own.is_empty() && own.is_subset(&lines(&phase.remedy.steps))
}

/// The findings that a phase resolves. A short remedy is repeated here, where it is carried out.
fn resolutions(text: &mut String, findings: &[&Finding]) {
    for finding in findings {
        let about = clean(&subject::brief(finding.subjects.iter())).into_owned();
        let [step] = finding.remedy.steps.as_slice() else { continue };
        _ = writeln!(text, "- [ ] **{}** of {about}: {}", finding.check, clean(&step.text));
        fenced(text, &step.command.iter().flat_map(|command| command.rendered()).collect::<Vec<_>>());
    }
    for title in [BREAKS, CHANGES] {
        let is_long = |one: &&&Finding| one.remedy.steps.len() != 1 && title_of(one) == title;
        let long: Vec<&Finding> = findings.iter().filter(is_long).copied().collect();
        for line in reminders(&long) {
            _ = writeln!(text, "- [ ] Resolve {line}, with the steps under \"{title}\"");
        }
    }
}

/// A line for each finding that a phase resolves. Findings about the same objects state their difference,
/// and no line is repeated.
fn reminders(findings: &[&Finding]) -> Vec<String> {
    let plain =
        |finding: &Finding| format!("**{}** of {}", finding.check, clean(&subject::brief(finding.subjects.iter())));
    let mut lines: Vec<String> = Vec::new();
    for finding in findings {
        let line = plain(finding);
        let several = findings.iter().filter(|other| plain(other) == line).count() > 1;
        let own = finding.parameters.iter().filter(|one| *one != AFTER).map(String::as_str);
        let own: Vec<&str> = own.collect();
        let line = match several && !own.is_empty() {
            true => format!("{line} ({})", clean(&own.join(", "))),
            false => line,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// The Kubernetes version of the cluster at the time of the upgrade.
pub(super) fn by_then(report: &Report) -> Option<String> {
    let kubernetes = report.asked.upgrade.as_ref()?.kubernetes.as_ref()?;
    Some(kubernetes.to_string())
}

/// Whether one of these checks is about an upgrade.
pub(super) fn is_of_an_upgrade(checks: &[&str]) -> bool {
    checks.iter().filter_map(|id| find(id)).any(|check| check.card().front.with_an_upgrade().is_some())
}

fn section<'a>(
    text: &mut String,
    title: &str,
    (plan, target): (Option<&Plan>, &str),
    findings: impl Iterator<Item = &'a Finding>,
) {
    let mut findings = findings.peekable();
    if findings.peek().is_none() {
        return;
    }
    _ = writeln!(text, "## {title}\n");
    for finding in findings {
        _ = writeln!(
            text,
            "- [ ] **{}**, {}: {}{}",
            finding.check,
            clean(&subject::brief(finding.subjects.iter())),
            clean(&finding.message),
            plan.and_then(|plan| plan.step_of(finding)).map_or_else(String::new, |step| format!(" (step {step})"))
        );
        if plan.is_some_and(|plan| plan.answers(finding)) {
            text.push_str(
                "  - The steps below go one minor at a time, each with its data plane; none can be \
                 skipped\n",
            );
            continue;
        }
        for step in &finding.remedy.steps {
            _ = writeln!(text, "  - {}", clean(&step.text));
            let others = step.command.iter().filter(|command| !is_the_plan(command, Some(target)));
            for line in others.flat_map(Command::rendered) {
                _ = writeln!(text, "    `{}`", clean(&line));
            }
        }
    }
    text.push('\n');
}

fn steps(text: &mut String, remedy: &Remedy) {
    for step in &remedy.steps {
        _ = writeln!(text, "- [ ] {}", clean(&step.text));
        let lines: Vec<String> = step.command.iter().flat_map(|command| command.rendered()).collect();
        fenced(text, &lines);
    }
    let verify: Vec<String> = remedy.verify.iter().flat_map(|command| command.rendered()).collect();
    if !verify.is_empty() {
        let when = continue_when(verify.len());
        _ = writeln!(text, "- [ ] {when}; while pods still start, run it again:");
        fenced(text, &verify);
    }
    text.push('\n');
}

/// When the next phase may begin, by the number of commands that verify this one.
pub(super) fn continue_when(commands: usize) -> &'static str {
    if commands == 1 { "Continue once this exits with 0" } else { "Continue once each of these exits with 0" }
}

fn fenced(text: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str("  ```sh\n");
    for line in lines {
        _ = writeln!(text, "  {}", clean(line));
    }
    text.push_str("  ```\n");
}
