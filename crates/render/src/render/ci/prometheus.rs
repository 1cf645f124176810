//! The report as metrics in Prometheus' text format, for the textfile collector of node_exporter or a push
//! gateway. A run without a report only has its exit status, so that values of an earlier run do not persist.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::super::document::Failure;
use super::super::text::clean;
use super::gap_fails;
use crate::checks::Outcome;
use crate::finding::{Confidence, Severity, Standing};
use crate::report::{ConfigUse, Report, Run};

pub fn report(report: &Report) -> String {
    let mut text = String::new();
    info(&mut text, &report.knowledge_date, &report.origin.kind, &report.origin.name);
    findings(&mut text, report);
    family(&mut text, "root_findings", "Findings that no other explains, by severity; 0 if none.");
    let roots = report.verdict.roots;
    for (severity, n) in [("error", roots.error), ("warning", roots.warning), ("info", roots.info)] {
        sample(&mut text, "root_findings", &[("severity", severity)], n);
    }
    family(&mut text, "check_outcome", "How each selected check ended: 1 at its outcome. Only pass is a pass.");
    for check in &report.checks {
        let outcome = match &check.outcome {
            // Findings take precedence over gaps.
            Outcome::Findings => "findings",
            Outcome::Pass => "pass",
            Outcome::NotApplicable(_) => "not-applicable",
            Outcome::Unknown => "not-checked",
            Outcome::Crashed(_) => "crashed",
        };
        let labels = [("check", check.id), ("category", &check.category), ("outcome", outcome)];
        sample(&mut text, "check_outcome", &labels, 1);
    }
    family(&mut text, "not_checked", "Missing pieces of evidence by check and whether that fails the run.");
    let mut gaps: BTreeMap<(&str, bool), usize> = BTreeMap::new();
    for gap in &report.coverage.gaps {
        for check in &gap.checks {
            *gaps.entry((check, gap_fails(report, gap))).or_default() += 1;
        }
    }
    for ((check, fails), n) in gaps {
        sample(&mut text, "not_checked", &[("check", check), ("fails", label(fails))], n);
    }
    family(&mut text, "objects_read", "Objects that were read.");
    sample(&mut text, "objects_read", &[], report.coverage.objects);
    family(&mut text, "judged_timestamp_seconds", "The time for which the cluster was checked.");
    sample(&mut text, "judged_timestamp_seconds", &[], report.at.0.as_second());
    if let Some(settings) = report.run.config.as_ref().and_then(ConfigUse::gate_settings) {
        family(&mut text, "config_info", "The configuration file that sets flags of the gate.");
        sample(&mut text, "config_info", &[("settings", &settings)], 1);
    }
    ended(&mut text, report.verdict.status, &report.run);
    text
}

/// The findings that the report still has.
fn findings(text: &mut String, report: &Report) {
    family(
        text,
        "findings",
        "Findings by check, severity, confidence and standing: whether they fail the run, pass, are waived \
         or in the baseline.",
    );
    let mut findings: BTreeMap<(&str, Severity, Confidence, bool, &str), usize> = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| !finding.when.ends()) {
        let standing = match finding.standing {
            Standing::Fails => "fails",
            Standing::Passes => "passes",
            Standing::Waived(_) => "waived",
            Standing::InBaseline => "in-baseline",
        };
        let root = finding.caused_by.is_empty();
        *findings.entry((finding.check, finding.severity, finding.confidence, root, standing)).or_default() += 1;
    }
    let category = |id: &str| report.checks.iter().find(|check| check.id == id).map(|check| check.category.as_str());
    for ((check, severity, confidence, root, standing), n) in findings {
        let confidence = match confidence {
            Confidence::Likely => "likely",
            Confidence::Observed => "observed",
        };
        let labels = [
            ("check", check),
            ("category", category(check).unwrap_or_default()),
            ("severity", severity.label()),
            ("confidence", confidence),
            ("root", label(root)),
            ("standing", standing),
        ];
        sample(text, "findings", &labels, n);
    }
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let mut text = String::new();
    info(&mut text, "", "", "");
    ended(&mut text, failure.status, &failure.run);
    text
}

fn info(text: &mut String, release_data: &str, kind: &str, origin: &str) {
    family(text, "info", "Version of meshdoctor and source of the evidence.");
    let labels = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("release_data", release_data),
        ("origin_kind", kind),
        ("origin", origin),
    ];
    sample(text, "info", &labels, 1);
}

fn ended(text: &mut String, status: u8, run: &Run) {
    if let Some(started) = run.started {
        family(text, "run_timestamp_seconds", "Start time of the run.");
        sample(text, "run_timestamp_seconds", &[], started.as_second());
    }
    family(text, "run_duration_seconds", "Duration of the run.");
    sample(
        text,
        "run_duration_seconds",
        &[],
        format!("{:.3}", std::time::Duration::from_millis(run.milliseconds).as_secs_f64()),
    );
    family(text, "exit_status", "The exit status: 0 fine, 1 findings, 2 usage, 3 could not run, 4 not checked.");
    sample(text, "exit_status", &[], status);
}

fn label(yes: bool) -> &'static str {
    if yes { "true" } else { "false" }
}

fn family(text: &mut String, name: &str, help: &str) {
    _ = writeln!(text, "# HELP meshdoctor_{name} {help}\n# TYPE meshdoctor_{name} gauge");
}

fn sample(text: &mut String, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    _ = writeln!(text, "meshdoctor_{name}{labels} {value}");
}

fn escaped(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
