//! The order of repair in reports of the recorded clusters: no report restarts workloads before the things that new proxies need
//! are repaired; and reports are short and lead to the next step.

use meshdoctor::checks::Settings;
use meshdoctor::finding::Severity;
use meshdoctor::item::Kind;
use meshdoctor::render::{Look, table};
use meshdoctor::report::Report;
use meshdoctor::source::Completeness;
use meshdoctor::source::memory::Memory;

use crate::recordings::{folder, memory, report_on};
use crate::render::with_whole_commands;
use crate::skip::{Need, skipped};

/// Problems to fix before workloads are restarted: until then, a starting proxy gets no certificate, or no
/// proxy is added at all.
const BEFORE_RESTARTS: &[&str] = &[
    "control-plane-rbac-missing",
    "injector-ca-mismatch",
    "issuer-expired",
    "issuer-not-trusted",
    "issuer-secret-invalid",
    "issuer-unsupported",
    "trust-anchor-expired",
    "trust-roots-missing",
    "webhook-certificate-expired",
];

const RESTART: &str = "data-plane-anchors-disjoint";

/// In a report that restarts workloads: the number of repairs that must come first, and those that come later
/// or have no number.
fn out_of_order(report: &Report) -> (usize, Vec<String>) {
    let Some(restart) = report.findings.iter().position(|finding| finding.check == RESTART) else {
        return (0, Vec::new());
    };
    let roots = report.findings.iter().enumerate().filter(|(_, finding)| finding.caused_by.is_empty());
    let first =
        roots.filter(|(_, finding)| finding.severity == Severity::Error && BEFORE_RESTARTS.contains(&finding.check));
    let mut wrong = Vec::new();
    let mut met = 0;
    for (at, finding) in first {
        met += 1;
        if at > restart {
            wrong.push(format!("{RESTART} comes before {}", finding.check));
        }
        if report.findings[restart].after.is_empty() {
            wrong.push(format!("{RESTART} does not state that it comes after {}", finding.check));
        }
    }
    (met, wrong)
}

#[test]
fn what_restarted_workloads_need_is_repaired_before_they_are_restarted() {
    let Some(folder) = folder() else { return };
    let mut met = 0;
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let recording = entry.unwrap().path();
        if !recording.join("cluster.json").is_file() {
            continue;
        }
        let (pairs, troubles) = out_of_order(&report_on(&memory(&recording), &Settings::default()));
        met += pairs;
        wrong.extend(troubles.into_iter().map(|trouble| format!("{}: {trouble}", recording.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(met > 0, "{}: no recording has both", folder.display());
}

/// No recording has both problems, so a role is removed from one with stale anchors.
#[test]
fn a_missing_role_is_put_back_before_workloads_are_restarted() {
    let Some(folder) = folder() else { return };
    let recording = folder.join("data-plane-stale-anchor");
    if !recording.is_dir() {
        skipped(Need::Recordings, &format!("{} is not there", recording.display()));
        return;
    }
    let mut memory = memory(&recording);
    let roles = memory.objects.get_mut(&Kind::ClusterRole).unwrap();
    roles.retain(|role| role.name != "linkerd-linkerd-destination");
    let (met, wrong) = out_of_order(&report_on(&memory, &Settings::default()));
    assert!(met > 0 && wrong.is_empty(), "{met}: {}", wrong.join("\n"));
}

/// Both findings need new proxies. The error does not wait for the steps of a warning, which follow once it is repaired.
#[test]
fn error_does_not_wait_for_steps_of_a_warning() {
    let Some(folder) = folder() else { return };
    for name in ["anchor-expired", "anchor-bundle-one-expired", "anchor-expiring"] {
        let recording = folder.join(name);
        if !recording.is_dir() {
            skipped(Need::Recordings, &format!("{} is not there", recording.display()));
            continue;
        }
        let listed = Memory { completeness: Completeness::All, ..memory(&recording) };
        let report = report_on(&listed, &Settings::default());
        let text = table::report(&report, Look::plain(100));
        let count = |words: &str| {
            let commands = report.repair.steps.iter().filter_map(|step| step.step.command.as_ref());
            commands.filter(|command| command.to_string().contains(words)).count()
        };
        assert_eq!(count("linkerd inject --manual"), 1, "{name}:\n{text}");
        let is_error = |number: &usize| {
            report
                .repair
                .findings
                .iter()
                .any(|(&at, planned)| planned.number == *number && report.findings[at].severity == Severity::Error)
        };
        let urgent: Vec<bool> = report.repair.steps.iter().map(|step| step.repairs.iter().any(is_error)).collect();
        let is_first = urgent[0] && urgent.is_sorted_by(|one, next| one >= next);
        assert!(is_first, "{name}: {urgent:?}\n{text}");
    }
}

/// On a terminal of 80 columns, reports are short, their first command is on the first screen, and they end with the next step.
#[test]
fn reports_lead_to_the_next_step() {
    let Some(folder) = folder() else { return };
    let mut lengths = Vec::new();
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let recording = entry.unwrap().path();
        if !recording.join("cluster.json").is_file() {
            continue;
        }
        // As on a live cluster, which lists every kind.
        let listed = Memory { completeness: Completeness::All, ..memory(&recording) };
        let report = report_on(&listed, &Settings::default());
        if report.repair.steps.is_empty() {
            continue;
        }
        let printed = table::report(&report, Look::plain(80));
        let text = with_whole_commands(&printed);
        let lines: Vec<&str> = text.lines().collect();
        lengths.push(printed.lines().count());
        let commands: Vec<String> = report
            .repair
            .steps
            .iter()
            .filter_map(|step| step.step.command.as_ref()?.rendered().into_iter().next())
            .collect();
        let is_command = |line: &str| commands.iter().any(|command| line.trim() == command.trim());
        let name = recording.file_name().unwrap().to_string_lossy().into_owned();
        // A step without a command is one that a person does.
        let has_command = report.repair.steps.first().is_some_and(|step| step.step.command.is_some());
        let leads = |line: &&str| match has_command {
            true => is_command(line),
            false => line.trim_start().starts_with("1. "),
        };
        if !lines.iter().take(15).any(leads) {
            wrong.push(format!("{name}: the first step is not in the first 15 lines:\n{text}"));
        }
        // While the first step is visible, it is not repeated.
        let end = &lines[lines.len().saturating_sub(24)..];
        let is_first = |line: &&str| commands.first().is_some_and(|first| line.trim() == first.trim());
        let next = match lines.len() {
            ..=24 => Some(0),
            _ => end.iter().position(|line| line.starts_with("next ") || is_first(line)),
        };
        if !next.is_some_and(|at| commands.is_empty() || end[at..].iter().any(|line| is_command(line))) {
            wrong.push(format!("{name}: no next step in the last 24 lines:\n{text}"));
        }
    }
    lengths.sort_unstable();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let median = lengths[lengths.len() / 2];
    assert!(median <= 30, "{}: the median of {lengths:?} is {median} lines", folder.display());
}
