//! The state of an earlier report's findings: a table, lines for grep, and JSON (schema
//! `meshdoctor.verify/1`). A report is untrusted, so all quoted text is cleaned like text of a cluster.

use std::fmt::Write;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::{About, Before, Cluster, Invocation, Origin, Tool};
use super::json;
use super::look::Look;
use super::text::{clean, count, pad, some_of, wrap};
use crate::command::{Arg, meshdoctor};
use crate::exit;
use crate::finding::{Finding, Place, Severity};
use crate::model::cluster::TimeSource;
use crate::model::traffic::WorkloadTraffic;
use crate::report::ConfigUse;
use crate::verify::{SameCluster, State, TrafficCheck, Verification, Verified, VerifiedSubject};

/// The schema tag of the JSON form.
pub const SCHEMA: &str = "meshdoctor.verify/1";
/// Maximum number of named subjects of one outcome, unless verbose.
const NAMED: usize = 5;
/// Width of the column for the outcome.
const OUTCOME: usize = 13;

/// As text: the findings that are not fixed first, each with its subjects.
pub fn table(verification: &Verification, look: Look) -> String {
    let mut text = String::new();
    let (at, _) = verification.at;
    let head = format!(
        "meshdoctor {}  findings of {} ({}) checked again on {} {} ({at})",
        env!("CARGO_PKG_VERSION"),
        clean(&verification.file),
        verification.earlier.judged_at,
        clean(&verification.origin.kind),
        clean(&verification.origin.name),
    );
    for line in wrap(&head, look.prose()) {
        _ = writeln!(text, "{line}");
    }
    if verification.same_cluster == SameCluster::Unknown {
        let note = "note: the report or the evidence does not identify its cluster; make sure that both are of \
             the same one";
        for line in wrap(note, look.prose()) {
            _ = writeln!(text, "{line}");
        }
    }
    text.push('\n');
    let shared = shared_reason(&verification.findings);
    if let Some(reason) = shared {
        let number = verification.findings.len();
        for line in wrap(&clean(&format!("None of the {number} findings was checked: {reason}")), look.prose()) {
            _ = writeln!(text, "{line}");
        }
        _ = writeln!(text, "To check them on the cluster:");
        let again = meshdoctor().words("check --verify").arg(Arg::path(verification.file.as_str()));
        _ = writeln!(text, "  {}", look.command(&clean(&again.to_string())));
        if look.verbose {
            text.push('\n');
        }
    }
    for verified in in_order(&verification.findings).into_iter().filter(|_| shared.is_none() || look.verbose) {
        finding(verified, shared, look, &mut text);
    }
    if let Some(traffic) = &verification.traffic {
        numbers(traffic, look, &mut text);
    }
    _ = writeln!(text, "\n{}", result_line(verification));
    text
}

/// The comparison of numbers of proxies: the result, and each workload that is worse.
fn numbers(traffic: &TrafficCheck, look: Look, text: &mut String) {
    let mut say = |first: &str, words: &str| {
        for (at, line) in wrap(words, look.prose() - OUTCOME).iter().enumerate() {
            _ = writeln!(text, "{}{line}", pad(if at == 0 { first } else { "" }, OUTCOME));
        }
    };
    say("numbers", &clean(&traffic.summary()));
    for finding in &traffic.worse {
        for subject in &finding.subjects {
            say("worse", &clean(&format!("{subject}: {}", finding.message)));
        }
        for evidence in &finding.evidence {
            let Place::Other { name } = &evidence.place else { continue };
            say("", &clean(&format!("{name}: {}", evidence.said)));
        }
    }
    for (gap, close) in &traffic.gaps {
        say("not compared", &clean(gap));
        say("", &clean(&format!("to check this: {close}")));
    }
}

/// Infos last, since they do not count. Otherwise sorted by state (still there, not checked, fixed), then by severity,
/// then in the order of the report.
fn in_order(findings: &[Verified]) -> Vec<&Verified> {
    let mut findings: Vec<&Verified> = findings.iter().collect();
    findings.sort_by_key(|verified| {
        let severity = verified.finding.severity;
        std::cmp::Reverse((severity > Severity::Info, verified.state(), severity))
    });
    findings
}

fn state_label(state: State) -> &'static str {
    match state {
        State::Fixed => "fixed",
        State::NotChecked => "not checked",
        State::StillThere => "still there",
    }
}

/// The reason why no finding was checked, if several findings share it, and no single one can be checked on its own.
fn shared_reason(findings: &[Verified]) -> Option<&str> {
    let subjects = || findings.iter().flat_map(|verified| &verified.subjects);
    if subjects().any(|subject| subject.state != State::NotChecked || subject.close.is_some()) {
        return None;
    }
    let mut reasons = subjects().map(|subject| &subject.reason);
    let first = reasons.next()?.as_deref()?;
    (findings.len() > 1 && reasons.all(|reason| reason.as_deref() == Some(first))).then_some(first)
}

/// A finding with its outcome. `shared`: a reason that was already printed for all of them.
fn finding(verified: &Verified, shared: Option<&str>, look: Look, text: &mut String) {
    let state = verified.state();
    let shown = pad(state_label(state), OUTCOME);
    let shown = match state {
        State::Fixed => look.good(&shown),
        State::NotChecked => look.doubtful(&shown),
        State::StillThere => look.bad(&shown),
    };
    let (fixed, all) = (verified.fixed(), verified.subjects.len());
    let share = if state != State::Fixed && fixed > 0 {
        format!("  {fixed} of {} fixed", count(all, "subject", "subjects"))
    } else {
        String::new()
    };
    _ = writeln!(
        text,
        "{shown}{}  {}{share}",
        look.severity(verified.finding.severity),
        look.strong(&clean(&verified.finding.check)),
    );
    let indent = " ".repeat(OUTCOME);
    for group in groups(&verified.subjects) {
        let names: Vec<String> = group.iter().map(|subject| clean(&subject.subject.to_string()).into_owned()).collect();
        let first = group[0];
        let mut said = some_of(&names, look.most(NAMED));
        if first.state != state {
            said = format!("{}: {said}", state_label(first.state));
        }
        if let Some(reason) = first.reason.as_deref().filter(|reason| Some(*reason) != shared) {
            said = format!("{said}: {}", clean(reason));
        }
        for line in wrap(&said, look.prose() - OUTCOME) {
            _ = writeln!(text, "{indent}{line}");
        }
        if let Some(close) = &first.close {
            for line in wrap(&format!("to check this: {}", clean(close)), look.prose() - OUTCOME) {
                _ = writeln!(text, "{indent}{line}");
            }
        }
    }
}

/// The subjects grouped by outcome and reason; fixed ones last.
fn groups(subjects: &[VerifiedSubject]) -> Vec<Vec<&VerifiedSubject>> {
    let mut sorted: Vec<&VerifiedSubject> = subjects.iter().collect();
    let key =
        |subject: &VerifiedSubject| (std::cmp::Reverse(subject.state), subject.reason.clone(), subject.close.clone());
    sorted.sort_by_cached_key(|subject| key(subject));
    let mut groups: Vec<Vec<&VerifiedSubject>> = Vec::new();
    for subject in sorted {
        match groups.last_mut() {
            Some(group) if key(group[0]) == key(subject) => group.push(subject),
            Some(_) | None => groups.push(vec![subject]),
        }
    }
    groups
}

/// The result on one line.
pub fn result_line(verification: &Verification) -> String {
    let tally = verification.tally;
    let rechecked = tally.fixed + tally.still_there + tally.not_checked;
    let below = verification.findings.len().saturating_sub(rechecked);
    let below = match below {
        0 => String::new(),
        n => format!(" ({} below {} not counted)", count(n, "finding", "findings"), verification.gate),
    };
    let by = verification.run.config.as_ref().map(ConfigUse::of_gate).unwrap_or_default();
    format!(
        "result  {} fixed, {} still there, {} not checked{}{below} -> exit {}{}",
        tally.fixed,
        tally.still_there,
        tally.not_checked,
        if tally.worse > 0 { format!(", {} worse", tally.worse) } else { String::new() },
        tally.status(),
        clean(&by)
    )
}

/// One line for each subject and always one `result`:
///
/// ```text
/// fixed|still-there|not-checked SEVERITY CHECK SUBJECT[: REASON][ [HOW TO HAVE IT CHECKED]]
/// worse SEVERITY traffic-worse-than-before WORKLOAD: MESSAGE
/// not-compared GAP [HOW TO HAVE IT CHECKED]
/// result N fixed, N still-there, N not-checked; exit STATUS
/// ```
pub fn short(verification: &Verification) -> String {
    let mut text = String::new();
    for verified in in_order(&verification.findings) {
        for subject in &verified.subjects {
            let reason = subject.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let close = subject.close.as_ref().map(|close| format!(" [{close}]")).unwrap_or_default();
            let line = format!(
                "{} {} {} {}{reason}{close}",
                subject.state.label(),
                verified.finding.severity,
                verified.finding.check,
                subject.subject
            );
            _ = writeln!(text, "{}", clean(&line));
        }
    }
    for finding in verification.traffic.iter().flat_map(|traffic| &traffic.worse) {
        let line = format!("worse {} {} {}", finding.severity, finding.check, subject_of(finding));
        _ = writeln!(text, "{}: {}", clean(&line), clean(&finding.message));
    }
    for (gap, close) in verification.traffic.iter().flat_map(|traffic| &traffic.gaps) {
        _ = writeln!(text, "not-compared {} [{}]", clean(gap), clean(close));
    }
    let tally = verification.tally;
    _ = writeln!(
        text,
        "result {} fixed, {} still-there, {} not-checked; exit {}",
        tally.fixed,
        tally.still_there,
        tally.not_checked,
        tally.status()
    );
    text
}

/// The result as one document. Fields are only ever added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerificationDocument {
    /// [`SCHEMA`].
    pub schema: String,
    /// The tool that wrote it.
    pub tool: Tool,
    /// The report whose findings were checked again.
    pub report: OfReport,
    /// Metadata of the run.
    pub run: Run,
    /// The source of the new evidence.
    pub origin: Origin,
    /// The result as counts.
    pub verdict: VerificationVerdict,
    /// Every finding of the report, in its order.
    pub findings: Vec<RecheckedFinding>,
    /// The comparison of numbers of proxies; absent if the report has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Numbers>,
}

/// Numbers of proxies, before and now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// The workloads with numbers in both, as they are now.
    pub compared: Vec<WorkloadTraffic>,
    /// The earlier numbers.
    pub before: Before,
    /// Workloads that are worse.
    pub worse: Vec<Worse>,
    /// Missing evidence.
    pub not_compared: Vec<String>,
}

/// A workload that is worse than before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worse {
    pub severity: Severity,
    /// The workload.
    pub subject: About,
    /// The numbers that are worse.
    pub message: String,
}

/// The earlier report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfReport {
    pub file: String,
    /// Its evaluation time.
    pub judged_at: Timestamp,
    /// The cluster, if the report identifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
}

/// Metadata of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    #[serde(flatten)]
    pub invocation: Invocation,
    /// The evaluation time.
    pub judged_at: Timestamp,
    /// The source of that time.
    pub judged_at_source: TimeSource,
}

/// The result as counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerificationVerdict {
    /// The exit status.
    pub status: u8,
    /// The meaning of that status.
    pub meaning: String,
    /// The severity from which findings fail the run.
    pub gate: String,
    /// Whether report and evidence are known to be of the same cluster.
    pub same_cluster: bool,
    /// Findings that are fixed.
    pub fixed: usize,
    /// Findings that are still there, at least in part.
    pub still_there: usize,
    /// Findings that could not be checked, at least in part.
    pub not_checked: usize,
}

/// A finding, checked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecheckedFinding {
    /// The check that found it.
    pub check: String,
    pub severity: Severity,
    /// Its fingerprint in the report.
    pub fingerprint: String,
    pub message: String,
    /// `fixed`, `still-there` or `not-checked`: the worst of its subjects.
    pub state: String,
    /// The result for each subject.
    pub subjects: Vec<SubjectAgain>,
}

/// A subject, checked again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectAgain {
    pub subject: About,
    /// `fixed`, `still-there` or `not-checked`.
    pub state: String,
    /// Why it was not checked, or another remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How to check it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
}

/// The result as JSON.
pub fn json(verification: &Verification) -> String {
    let tally = verification.tally;
    let status = tally.status();
    json::write(&VerificationDocument {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            name: "meshdoctor".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            knowledge: Some(verification.knowledge_date.clone()),
        },
        report: OfReport {
            file: verification.file.clone(),
            judged_at: verification.earlier.judged_at,
            cluster: verification.earlier.cluster_uid.clone().map(|uid| Cluster { uid }),
        },
        run: Run {
            invocation: Invocation::from(&verification.run),
            judged_at: verification.at.0,
            judged_at_source: verification.at.1,
        },
        origin: Origin { kind: verification.origin.kind.clone(), name: verification.origin.name.clone() },
        verdict: VerificationVerdict {
            status,
            meaning: meaning(status),
            gate: verification.gate.to_owned(),
            same_cluster: verification.same_cluster == SameCluster::Yes,
            fixed: tally.fixed,
            still_there: tally.still_there,
            not_checked: tally.not_checked,
        },
        findings: verification.findings.iter().map(rechecked).collect(),
        traffic: verification.traffic.as_ref().map(in_document),
    })
}

fn in_document(traffic: &TrafficCheck) -> Numbers {
    let worse = traffic.worse.iter().flat_map(|finding| {
        finding.subjects.iter().map(|subject| Worse {
            severity: finding.severity,
            subject: About::new(subject, None),
            message: finding.message.clone(),
        })
    });
    Numbers {
        compared: traffic.compared.clone(),
        before: Before { file: traffic.before.file.clone(), workloads: traffic.before.workloads.clone() },
        worse: worse.collect(),
        not_compared: traffic.gaps.iter().map(|(gap, _)| gap.clone()).collect(),
    }
}

/// The first subject of a finding.
fn subject_of(finding: &Finding) -> String {
    finding.subjects.first().map(ToString::to_string).unwrap_or_default()
}

fn meaning(status: u8) -> String {
    exit::VERIFY.iter().find(|(known, _)| *known == status).map_or("", |(_, meaning)| meaning).to_owned()
}

fn rechecked(verified: &Verified) -> RecheckedFinding {
    let finding = &verified.finding;
    let subject = |subject: &VerifiedSubject| SubjectAgain {
        subject: About::new(&subject.subject, subject.fingerprint.clone()),
        state: subject.state.label().to_owned(),
        reason: subject.reason.clone(),
        close: subject.close.clone(),
    };
    RecheckedFinding {
        check: finding.check.clone(),
        severity: finding.severity,
        fingerprint: finding.fingerprint.clone(),
        message: finding.message.clone(),
        state: verified.state().label().to_owned(),
        subjects: verified.subjects.iter().map(subject).collect(),
    }
}
