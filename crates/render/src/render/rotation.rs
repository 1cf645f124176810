//! The answer of `meshdoctor rotate`, as text and as JSON.

use std::collections::BTreeSet;
use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::look::Look;
use super::text::{clean, count, escape_ci_commands, lasting, pad, some_of, width, write_hanging};
use crate::checks::cli_installation;
use crate::checks::rotation::{
    AnchorRole, Condition, ConditionStatus, Phase, PlannedStage, Progress, Rotation, RotationSubject, Stage, Workload,
};
use crate::command::{Command, meshdoctor, own};
use crate::finding::{Applies, Finding, Remedy, Restarts, Step};
use crate::inspect::rotation::{Decision, RotationAnswer};
use crate::report::RepairPlan;

/// The schema of the JSON form.
pub const SCHEMA: &str = "meshdoctor.rotation/1";

/// Width of the labels of sections.
const LABELS: usize = 8;
/// Maximum number of listed workloads.
const LISTED: usize = 10;

/// As text. `asked` is the step that the exit status is about, if not the next one.
pub fn text(answer: &RotationAnswer, asked: Option<Stage>, now: Timestamp, look: Look) -> String {
    let rotation = &answer.rotation;
    let mut text = String::new();
    section(&mut text, "phase", &rotation.summary, look);
    text.push('\n');
    anchors(&mut text, rotation, now, look);
    issuer(&mut text, rotation, now, look);
    workloads(&mut text, rotation, look);
    for note in &rotation.notes {
        section(&mut text, "note", note, look);
    }
    let repair = Repair::from_findings(&answer.broken);
    let steps = all_steps(answer, &repair, asked, look);
    installations(&mut text, &steps, answer, look);
    text.push_str(&steps);
    text.push('\n');
    text.push_str(&result(answer, &repair, asked, look));
    escape_ci_commands(&text).into_owned()
}

/// The commands that install the linkerd CLI of each release that a command of these steps needs, unless it is
/// installed.
fn installations(text: &mut String, steps: &str, answer: &RotationAnswer, look: Look) {
    let of_plan = answer.rotation.plan.iter().map(|planned| &planned.remedy).chain([&answer.rotation.kept]);
    let remedies = of_plan.chain(answer.broken.iter().map(|finding| &finding.remedy));
    let commands = remedies.flat_map(|remedy| &remedy.steps).filter_map(|step| step.command.as_ref());
    let needed: BTreeSet<&str> = commands.filter_map(Command::required_cli).collect();
    let is_installed = |release: &str| answer.cli.as_ref().is_some_and(|cli| cli.as_str() == release);
    let printed =
        needed.into_iter().filter(|release| !is_installed(release) && steps.contains(&format!("grep -Fx {release}")));
    let lines: Vec<String> = printed.filter_map(cli_installation).flat_map(|command| command.rendered()).collect();
    for (at, line) in lines.iter().enumerate() {
        let label = if at == 0 { look.strong(&pad("cli", LABELS)) } else { " ".repeat(LABELS) };
        let gap = if at == 0 { "\n" } else { "" };
        _ = writeln!(text, "{gap}{label}{}", look.command(&clean(line)));
    }
}

/// The repairs, the next step, the steps that must wait, and the plan.
fn all_steps(answer: &RotationAnswer, repair: &Repair<'_>, asked: Option<Stage>, look: Look) -> String {
    let rotation = &answer.rotation;
    let mut text = String::new();
    if !answer.broken.is_empty() {
        text.push('\n');
        broken(&mut text, answer, repair, look);
    }
    if let Some(next) = rotation.next() {
        text.push('\n');
        let is_idle = rotation.phase == Phase::None && !rotation.is_due;
        let label = if is_idle { "first" } else { "next" };
        stage(&mut text, label, next, look, !is_idle || look.verbose);
    }
    let of_asked = rotation.plan.iter().find(|planned| Some(planned.stage) == asked && !planned.conditions.is_empty());
    let is_next = |planned: &PlannedStage| rotation.next().is_some_and(|next| next.stage == planned.stage);
    if let Some(planned) = of_asked.filter(|planned| !is_next(planned))
        && rotation.phase != Phase::Broken
        && answer.decision(asked) != Decision::Done
    {
        text.push('\n');
        stage(&mut text, "asked", planned, look, false);
    }
    // If something is broken, its repair comes first, as the phase states.
    if !rotation.not_yet.is_empty() && rotation.phase != Phase::Broken {
        text.push('\n');
        for (at, (stage, why)) in rotation.not_yet.iter().enumerate() {
            let label = if at == 0 { "not yet" } else { "" };
            section(&mut text, label, &format!("{}: {why}", stage.title()), look);
        }
    }
    if rotation.phase != Phase::Broken {
        text.push('\n');
        plan(&mut text, rotation, look);
    }
    if !answer.others.is_empty() {
        text.push('\n');
        others(&mut text, &answer.others, look);
    }
    text
}

/// A text after a label, wrapped.
fn section(text: &mut String, label: &str, said: &str, look: Look) {
    indented(text, label, LABELS, said, look);
}

fn indented(text: &mut String, label: &str, columns: usize, said: &str, look: Look) {
    write_hanging(text, (&look.strong(&pad(label, columns)), columns), said, look.prose());
}

/// `expires 2027-11-21, in 364 days`, or `expired 2026-11-20`.
fn expiry(at: Timestamp, now: Timestamp) -> String {
    let date = at.to_zoned(TimeZone::UTC).date();
    let left = at.duration_since(now).as_secs();
    if left > 0 { format!("expires {date}, in {}", lasting(left)) } else { format!("expired {date}") }
}

fn short(print: &str) -> &str {
    print.get(..8).unwrap_or(print)
}

fn anchors(text: &mut String, rotation: &Rotation, now: Timestamp, look: Look) {
    if rotation.anchors.is_empty() {
        section(text, "anchors", "the bundle of trust anchors is not known", look);
        return;
    }
    for (at, anchor) in rotation.anchors.iter().enumerate() {
        let label = if at == 0 { "anchors" } else { "" };
        let unknown = match anchor.unknown {
            0 => String::new(),
            unknown => format!(", not known of {unknown}"),
        };
        let trusted = match rotation.meshed {
            Some(meshed) => {
                format!("{} of {}{unknown}", anchor.trusted_by, count(meshed, "meshed pod", "meshed pods"))
            }
            None => "an unknown number of meshed pods".to_owned(),
        };
        let said = format!(
            "{} {} ({}), {}; trusted by {trusted}",
            clean(&anchor.subject),
            short(&anchor.print),
            role(anchor.role),
            expiry(anchor.not_after, now),
        );
        section(text, label, &said, look);
    }
}

fn role(role: AnchorRole) -> &'static str {
    match role {
        AnchorRole::Unknown => "role unknown",
        AnchorRole::Current | AnchorRole::New | AnchorRole::Old => role.name(),
    }
}

fn issuer(text: &mut String, rotation: &Rotation, now: Timestamp, look: Look) {
    let said = match &rotation.issuer {
        None => "not known".to_owned(),
        Some(issuer) => {
            let signed: Vec<&str> = issuer.signed_by.iter().map(|print| short(print)).collect();
            let signed = match (signed.is_empty(), rotation.anchors.is_empty()) {
                (true, true) => "an anchor that is not known".to_owned(),
                (true, false) => "no anchor of the bundle".to_owned(),
                (false, _) => signed.join(", "),
            };
            let since = match &issuer.since {
                Some((at, source)) => format!("; in place since {at} at the latest ({source})"),
                None => String::new(),
            };
            format!(
                "{} {}, {}; signed by {signed}{since}",
                clean(&issuer.subject),
                short(&issuer.print),
                expiry(issuer.not_after, now)
            )
        }
    };
    section(text, "issuer", &said, look);
}

/// The state of a workload that the phase is about; `None` if nothing is left to do for it.
fn left(phase: Phase, workload: &Workload) -> Option<&'static str> {
    let (state, no, unknown) = match phase {
        Phase::AnchorAdded => (workload.trusts, "does not trust the new anchor", "not known to trust the new anchor"),
        Phase::IssuerReplaced => (
            workload.renewed,
            "may have a certificate of the old issuer",
            "not known to have a certificate of the new issuer",
        ),
        Phase::AnchorRemoved => {
            (workload.is_current, "still trusts the old anchor", "not known to have the current bundle only")
        }
        _ => return None,
    };
    match state {
        ConditionStatus::Yes => None,
        ConditionStatus::No => Some(no),
        ConditionStatus::Unknown => Some(unknown),
    }
}

fn workloads(text: &mut String, rotation: &Rotation, look: Look) {
    let open: Vec<(&Workload, &str)> =
        rotation.workloads.iter().filter_map(|workload| Some((workload, left(rotation.phase, workload)?))).collect();
    let most = if look.verbose { usize::MAX } else { LISTED };
    for (at, (workload, state)) in open.iter().take(most).enumerate() {
        let label = if at == 0 { "open" } else { "" };
        let pods = count(workload.pods.len(), "pod", "pods");
        section(text, label, &format!("{} ({pods}): {state}", workload.subject), look);
    }
    if open.len() > most {
        section(text, "", &format!("and {} more workloads (-v lists them)", open.len() - most), look);
    }
}

/// The problems to repair before any step, with the plan that repairs them. If calls can be kept working, there are two
/// plans.
fn broken(text: &mut String, answer: &RotationAnswer, repair: &Repair<'_>, look: Look) {
    let said = |finding: &Finding| {
        let subjects: Vec<String> = finding.subjects.iter().map(ToString::to_string).collect();
        format!("{}  {}: {}", finding.check, some_of(&subjects, 2), finding.message)
    };
    for (at, finding) in repair.together.iter().enumerate() {
        section(text, if at == 0 { "broken" } else { "and" }, &said(finding), look);
    }
    let kept = &answer.rotation.kept;
    if kept.steps.is_empty() {
        numbered_steps(text, (1..).zip(repair.steps(false)), LABELS, look);
    } else {
        text.push('\n');
        let question = "Do calls between your applications still work?  Yes: plan A.  No: plan B";
        section(text, "choose", question, look);
        section(text, "plan A", "If calls still work: this keeps them working. Restart nothing else", look);
        steps(text, kept, LABELS, look);
        text.push('\n');
        section(text, "plan B", "If calls fail already: this repairs them", look);
        numbered_steps(text, (1..).zip(repair.steps(true)), LABELS, look);
    }
    // The others come later, and the first repair may cure them.
    for finding in &repair.later {
        text.push('\n');
        section(text, "then", &said(finding), look);
        section(text, "", &format!("{} then shows its steps, if it is still found", own("rotate")), look);
    }
}

/// The repair of the problems before any step.
struct Repair<'a> {
    /// The first problem with those that are repaired together with it.
    together: Vec<Finding>,
    /// Those that come later.
    later: Vec<&'a Finding>,
    plan: RepairPlan,
}

impl<'a> Repair<'a> {
    fn from_findings(broken: &'a [Finding]) -> Repair<'a> {
        let (first, later) = broken.split_at(broken.len().min(1));
        let follows = |finding: &&Finding| first.iter().any(|first| follows_at_once(first, finding));
        let (at_once, later): (Vec<&Finding>, Vec<&Finding>) = later.iter().partition(follows);
        let together: Vec<Finding> = first.iter().chain(at_once).cloned().collect();
        Repair { plan: RepairPlan::from_findings(&together), together, later }
    }

    /// The steps. Those of several findings depend on each other, so they stay in the order of the plan. `decided`: the
    /// decision before them was already printed.
    fn steps(&self, decided: bool) -> impl Iterator<Item = &Step> {
        let steps = self.plan.steps.iter().map(|step| &step.step);
        steps.filter(move |step| !(decided && step.applies == Applies::First))
    }
}

/// Whether a repair belongs to an earlier one: that one restarts the control plane, and this one replaces the pods
/// that then cannot reach it.
fn follows_at_once(first: &Finding, finding: &Finding) -> bool {
    let restarts_control_plane =
        |step: &Step| matches!(step.restarts, Restarts::ControlPlane | Restarts::ControlPlaneByUpgrade);
    first.remedy.steps.iter().any(restarts_control_plane)
        && finding.after.contains(&first.fingerprint())
        && finding.remedy.steps.iter().any(|step| step.restarts == Restarts::Workloads)
}

fn stage(text: &mut String, label: &str, planned: &PlannedStage, look: Look, commands: bool) {
    let decision = match planned.decision() {
        ConditionStatus::Yes => String::new(),
        ConditionStatus::No => format!(": {}", look.bad("not yet")),
        ConditionStatus::Unknown => format!(": {}", look.doubtful("not known to be safe")),
    };
    _ = writeln!(text, "{}{}{decision}", look.strong(&pad(label, LABELS)), planned.stage.title());
    for condition in &planned.conditions {
        self::condition(text, condition, look);
    }
    if commands {
        steps(text, &planned.remedy, LABELS, look);
    }
}

fn condition(text: &mut String, condition: &Condition, look: Look) {
    let word = match condition.state {
        ConditionStatus::Yes => "met",
        ConditionStatus::No => "not met",
        ConditionStatus::Unknown => "unknown",
    };
    let indent = " ".repeat(LABELS);
    let columns = LABELS + 9;
    indented(text, &format!("{indent}{}", pad(word, 9)), columns, &condition.text, look);
    if condition.state == ConditionStatus::Yes && !look.verbose {
        return;
    }
    for evidence in &condition.evidence {
        indented(text, "", columns + 2, evidence, look);
    }
    if let Some(close) = &condition.close {
        indented(text, "", columns + 2, &format!("to find out: {close}"), look);
    }
}

fn steps(text: &mut String, remedy: &Remedy, indent: usize, look: Look) {
    numbered_steps(text, (1..).zip(&remedy.steps), indent, look);
}

/// Prints steps with their numbers.
fn numbered_steps<'a>(
    text: &mut String,
    steps: impl IntoIterator<Item = (usize, &'a Step)>,
    indent: usize,
    look: Look,
) {
    let mut required = None;
    for (number, step) in steps {
        let release = step.command.as_ref().and_then(Command::required_cli);
        // The required release of the CLI is stated once.
        let is_new = release.is_some() && release != required;
        let said = if is_new { &step.text } else { step.without_requirement() };
        required = release.or(required);
        self::step(text, number, (step, said), indent, look);
    }
}

fn step(text: &mut String, number: usize, (step, said): (&Step, &str), indent: usize, look: Look) {
    let label = format!("{}{number}.", " ".repeat(indent));
    indented(text, &pad(&label, indent + 3), indent + 3, said, look);
    for line in step.command.iter().flat_map(|command| command.rendered()) {
        _ = writeln!(text, "{}{}", " ".repeat(indent + 5), look.command(&clean(&line)));
    }
}

fn plan(text: &mut String, rotation: &Rotation, look: Look) {
    let titles = rotation.plan.iter().map(|planned| width(planned.stage.title())).max().unwrap_or_default();
    for (at, planned) in rotation.plan.iter().enumerate() {
        let word = planned.progress.name();
        let label = if at == 0 { "plan" } else { "" };
        let steps = match planned.progress {
            Progress::Later if !planned.remedy.steps.is_empty() => count(planned.remedy.steps.len(), "step", "steps"),
            _ => String::new(),
        };
        let title = pad(planned.stage.title(), titles);
        let line = format!("{}{}  {title}  {steps}", look.strong(&pad(label, LABELS)), pad(word, 5));
        _ = writeln!(text, "{}", line.trim_end());
        if look.verbose && planned.progress == Progress::Later {
            self::steps(text, &planned.remedy, LABELS + 7, look);
        }
    }
    let is_hidden = !look.verbose && rotation.plan.iter().any(|planned| planned.progress == Progress::Later);
    if is_hidden {
        section(text, "", "-v prints the commands of all steps", look);
    }
}

fn others(text: &mut String, findings: &[Finding], look: Look) {
    for (at, finding) in findings.iter().enumerate() {
        let label = if at == 0 { "also" } else { "" };
        section(text, label, &format!("{}  {}: {}", finding.severity.label(), finding.check, finding.message), look);
    }
    let mut ids: Vec<&str> = findings.iter().map(|finding| finding.check).collect();
    ids.sort_unstable();
    ids.dedup();
    section(text, "", &format!("evidence and repair: {}", meshdoctor().words("check --only").arg(ids.join(","))), look);
}

fn result(answer: &RotationAnswer, repair: &Repair<'_>, asked: Option<Stage>, look: Look) -> String {
    let rotation = &answer.rotation;
    let what = asked.or(rotation.next().map(|next| next.stage)).map_or("any step of a rotation", Stage::title);
    let first = match answer.broken.first() {
        Some(_) if !rotation.kept.steps.is_empty() => ". Do calls between your applications still work?".to_owned(),
        Some(first) => format!(". Repair {} first", first.check),
        None => String::new(),
    };
    let (head, rest) = match answer.decision(asked) {
        Decision::Go if rotation.phase == Phase::None && asked.is_none() => {
            ("No rotation is in progress; one may begin", ". -v prints its steps".to_owned())
        }
        Decision::Go => ("May be done now", format!(": {what}")),
        Decision::Done if rotation.phase == Phase::None => {
            ("Already done", format!(": {what}. No pod trusts an anchor that is not in the bundle"))
        }
        Decision::Done => ("Already done", format!(": {what}")),
        Decision::NoGo if asked.is_none() && rotation.next().is_none() => ("Do not rotate yet", first),
        Decision::NoGo => ("Not yet", format!(": {what}{first}")),
        Decision::Unknown if rotation.phase == Phase::None && asked.is_none() => {
            ("No rotation is in progress", "; whether one may begin is unknown (see the conditions above)".to_owned())
        }
        Decision::Unknown => ("Not yet", format!(": {what}. Whether this is safe is unknown")),
    };
    let painted = match answer.decision(asked) {
        Decision::Go | Decision::Done => look.good(head),
        Decision::NoGo => look.bad(head),
        Decision::Unknown => look.doubtful(head),
    };
    let mut text = String::new();
    section(&mut text, "result", &format!("{head}{rest}"), look);
    let mut text = text.replacen(head, &painted, 1);
    starts(&mut text, answer, repair, asked, look);
    text
}

/// The first step of each plan above, so that the last lines name what to do now.
fn starts(text: &mut String, answer: &RotationAnswer, repair: &Repair<'_>, asked: Option<Stage>, look: Look) {
    let rotation = &answer.rotation;
    let kept = rotation.kept.steps.first();
    let repairing = repair.steps(kept.is_some()).next();
    let starts = match rotation.next() {
        _ if !answer.broken.is_empty() && kept.is_some() => {
            vec![("If they work, plan A, step 1", kept), ("If they fail, plan B, step 1", repairing)]
        }
        _ if !answer.broken.is_empty() => vec![("Step 1", repairing)],
        Some(next) if rotation.phase != Phase::None && answer.decision(asked) == Decision::Go => {
            vec![("Step 1", next.remedy.steps.first())]
        }
        _ => Vec::new(),
    };
    for (when, step) in starts {
        let Some(step) = step else { continue };
        section(text, "", &format!("{when}: {}", step.text), look);
        for line in step.command.iter().flat_map(|command| command.rendered()).take(1) {
            _ = writeln!(text, "{}{}", " ".repeat(LABELS + 2), look.command(&clean(&line)));
        }
    }
}

fn answer_label(known: ConditionStatus) -> &'static str {
    match known {
        ConditionStatus::Yes => "yes",
        ConditionStatus::No => "no",
        ConditionStatus::Unknown => "unknown",
    }
}

fn decision(decision: Decision) -> &'static str {
    match decision {
        Decision::Go => "go",
        Decision::Done => "done",
        Decision::NoGo => "no-go",
        Decision::Unknown => "unknown",
    }
}

pub fn json(answer: &RotationAnswer, asked: Option<Stage>) -> Value {
    let rotation = &answer.rotation;
    let anchors: Vec<Value> = rotation
        .anchors
        .iter()
        .map(|anchor| {
            json!({
                "role": anchor.role.name(),
                "subject": anchor.subject,
                "sha256": anchor.print,
                "notBefore": anchor.not_before.to_string(),
                "notAfter": anchor.not_after.to_string(),
                "trustedBy": rotation.meshed.map(|_| anchor.trusted_by),
                "unknown": rotation.meshed.map(|_| anchor.unknown),
            })
        })
        .collect();
    let issuer = rotation.issuer.as_ref().map(|issuer| {
        json!({
            "subject": issuer.subject,
            "sha256": issuer.print,
            "notBefore": issuer.not_before.to_string(),
            "notAfter": issuer.not_after.to_string(),
            "signedBy": issuer.signed_by,
            "inPlaceSince": issuer.since.as_ref().map(|(at, _)| at.to_string()),
            "inPlaceSource": issuer.since.as_ref().map(|(_, source)| source),
        })
    });
    let workloads: Vec<Value> = rotation
        .workloads
        .iter()
        .map(|workload| {
            json!({
                "subject": workload.subject,
                "pods": workload.pods,
                "trustsNextAnchor": answer_label(workload.trusts),
                "hasNewCertificate": answer_label(workload.renewed),
                "hasOnlyCurrentBundle": answer_label(workload.is_current),
            })
        })
        .collect();
    let not_yet = rotation.not_yet.iter().map(|(stage, why)| json!({"step": stage.name(), "reason": why}));
    json!({
        "schema": SCHEMA,
        "phase": rotation.phase.name(),
        "summary": rotation.summary,
        "isDue": rotation.is_due,
        "rotates": match rotation.of {
            RotationSubject::Anchor => "anchor",
            RotationSubject::Issuer => "issuer",
        },
        "decision": decision(answer.decision(asked)),
        "step": asked.or(rotation.next().map(|next| next.stage)).map(Stage::name),
        "anchors": anchors,
        "issuer": issuer,
        "workloads": workloads,
        "keepCalls": steps_json(&rotation.kept),
        "repairFirst": answer.broken.iter().map(finding_json).collect::<Vec<_>>(),
        "otherFindings": answer.others.iter().map(finding_json).collect::<Vec<_>>(),
        "plan": rotation.plan.iter().map(stage_json).collect::<Vec<_>>(),
        "notYet": not_yet.collect::<Vec<_>>(),
        "notes": rotation.notes,
        "notChecked": rotation.gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "severity": finding.severity.label(),
        "subjects": finding.subjects.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "message": finding.message,
        "steps": steps_json(&finding.remedy),
    })
}

fn steps_json(remedy: &Remedy) -> Vec<Value> {
    let steps = remedy.steps.iter();
    steps
        .map(|step| {
            let commands: Vec<String> = step.command.iter().flat_map(|command| command.rendered()).collect();
            json!({"text": step.text, "commands": commands})
        })
        .collect()
}

fn stage_json(planned: &PlannedStage) -> Value {
    let conditions: Vec<Value> = planned
        .conditions
        .iter()
        .map(|condition| {
            json!({
                "text": condition.text,
                "met": answer_label(condition.state),
                "evidence": condition.evidence,
                "close": condition.close,
            })
        })
        .collect();
    let go = match (planned.progress, planned.decision()) {
        (Progress::Done, _) => "done",
        (_, ConditionStatus::Yes) => "go",
        (_, ConditionStatus::No) => "no-go",
        (_, ConditionStatus::Unknown) => "unknown",
    };
    json!({
        "step": planned.stage.name(),
        "title": planned.stage.title(),
        "progress": planned.progress.name(),
        "decision": go,
        "conditions": conditions,
        "steps": steps_json(&planned.remedy),
    })
}
