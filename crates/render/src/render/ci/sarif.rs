//! The report as SARIF 2.1.0, for code scanning and editors. A check is a rule, a finding is a result, and a
//! gap is a notification of the run, with the level error if it fails the run. A finding in a manifest has a
//! physical location, any other the logical one of its object or node.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::document::Failure;
use super::super::fix::RepairedFinding;
use super::super::json::write;
use super::super::table::Folding;
use super::super::text::clean;
use super::{
    Spot, causes, earlier, evidence, finding_line, gap_fails, meaning, not_checked, path, remedy, spots, waivers,
};
use crate::card::SECTIONS;
use crate::check_outcome::CheckOutcome;
use crate::checks::{self, Outcome};
use crate::exit;
use crate::finding::{Finding, ManifestLocation, Place, Severity, Standing, Subject};
use crate::page;
use crate::report::{ConfigUse, Report, Run};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub fn report(report: &Report) -> String {
    with_fixes(report, &[])
}

/// A report of manifests with the edits of its findings.
pub fn with_fixes(report: &Report, repaired: &[RepairedFinding]) -> String {
    let repaired: BTreeMap<usize, &RepairedFinding> = repaired.iter().map(|one| (one.at, one)).collect();
    let places: BTreeMap<&str, usize> = (0..).zip(&report.checks).map(|(at, check)| (check.id, at)).collect();
    let folding = Folding::from_findings(&report.findings);
    let results: Vec<Value> = report
        .findings
        .iter()
        .enumerate()
        .flat_map(|(at, finding)| {
            let causes = causes(report, &folding, at);
            let earlier = earlier(report, &folding, at);
            let spots = spots(finding);
            let mut results: Vec<Value> =
                spots.iter().map(|spot| result(report, finding, (&causes, &earlier), spot, &places)).collect();
            if let Some(repaired) = repaired.get(&at) {
                add_fixes(report, repaired, &spots, &mut results);
            }
            results
        })
        .collect();
    let mut notes: Vec<Value> = Vec::new();
    for gap in &report.coverage.gaps {
        let level = if gap_fails(report, gap) { "error" } else { "note" };
        let each = gap.checks.iter().map(|check| {
            let mut note = notification("not-checked", level, &format!("not checked: {}", not_checked(gap)));
            note["associatedRule"] = json!({"id": check});
            if let Some(at) = places.get(check) {
                note["associatedRule"]["index"] = json!(at);
            }
            note
        });
        notes.extend(each);
    }
    for check in &report.checks {
        if let Outcome::Crashed(message) = &check.outcome {
            let text = format!("{} crashed, a bug in meshdoctor: {}", check.id, clean(message));
            notes.push(notification("crashed", "error", &text));
        }
    }
    notes.extend(report.errors.iter().map(|error| notification("trouble", "error", error)));
    if let Some(settings) = report.run.config.as_ref().and_then(ConfigUse::gate_settings) {
        notes.push(notification("configuration", "note", &settings));
    }
    let found: BTreeSet<&str> = report.findings.iter().map(|finding| finding.check).collect();
    let rules: Vec<Value> = report.checks.iter().map(|check| rule(check, found.contains(check.id))).collect();
    let status = report.verdict.status;
    log(&rules, &results, &invocation(status, meaning(status), &report.run, &notes), &report.knowledge_date)
}

/// A run without a report.
pub fn failure(failure: &Failure) -> String {
    let notes: Vec<Value> = failure.errors.iter().map(|error| notification("could-not-run", "error", error)).collect();
    log(&[], &[], &invocation(failure.status, meaning(failure.status), &failure.run, &notes), "")
}

fn log(rules: &[Value], results: &[Value], invocation: &Value, release_data: &str) -> String {
    let descriptor = |id: &str, text: &str| json!({"id": id, "shortDescription": {"text": text}});
    let mut driver = json!({
        "name": "meshdoctor",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": rules,
        "notifications": [
            descriptor("not-checked", "Evidence that a check needs is missing; it has not passed."),
            descriptor("crashed", "A check crashed."),
            descriptor("trouble", "The run had a problem."),
            descriptor("configuration", "A configuration file sets flags that affect the exit status."),
            descriptor("could-not-run", "The run produced no report."),
        ],
    });
    if !release_data.is_empty() {
        driver["properties"] = json!({"releaseData": release_data});
    }
    write(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "automationDetails": {"id": "meshdoctor/"},
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    }))
}

fn invocation(status: u8, meaning: &str, run: &Run, notes: &[Value]) -> Value {
    let mut invocation = json!({
        // The tool succeeded if its status is a verdict on the mesh.
        "executionSuccessful": matches!(status, exit::FINE | exit::FINDINGS),
        "exitCode": status,
        "exitCodeDescription": meaning,
        "arguments": run.command,
        "toolExecutionNotifications": notes,
    });
    if let Some(started) = run.started {
        invocation["startTimeUtc"] = json!(started.to_string());
    }
    invocation
}

fn notification(id: &str, level: &str, text: &str) -> Value {
    json!({"descriptor": {"id": id}, "level": level, "message": {"text": clean(text)}})
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// A check. Its texts are large, so only a rule with results has them; of the others, the title, the outcome and the
/// address of the page remain.
fn rule(check: &CheckOutcome, has_results: bool) -> Value {
    let mut rule = json!({
        "id": check.id,
        "shortDescription": {"text": clean(&check.title)},
        "properties": {"outcome": outcome(&check.outcome)},
    });
    let found = checks::find(check.id);
    if let Some(url) = page::page_url(check.id) {
        rule["helpUri"] = json!(url);
    }
    if !has_results {
        return rule;
    }
    rule["defaultConfiguration"] = json!({"level": level(check.severity)});
    rule["properties"] = json!({
        "category": check.category,
        "tags": ["linkerd", check.category],
        "problem.severity": if check.severity == Severity::Info { "recommendation" } else { check.severity.label() },
        "outcome": outcome(&check.outcome),
    });
    if let Some(found) = found {
        let card = found.card();
        let section = |at: usize| format!("## {}\n\n{}", SECTIONS[at], card.prose[at].trim());
        let text: Vec<String> = (1..card.prose.len()).map(section).collect();
        rule["fullDescription"] = json!({"text": card.prose[0].trim()});
        rule["help"] = json!({"text": text.join("\n\n"), "markdown": text.join("\n\n")});
    }
    rule
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Findings => "findings",
        Outcome::NotApplicable(_) => "not-applicable",
        Outcome::Unknown => "not-checked",
        Outcome::Crashed(_) => "crashed",
    }
}

fn result(
    report: &Report,
    finding: &Finding,
    (causes, earlier): (&[String], &[String]),
    spot: &Spot<'_>,
    places: &BTreeMap<&str, usize>,
) -> Value {
    let written = spot.written.iter().map(|written| physical(written, &path(report, &written.file)));
    let mut locations: Vec<Value> = written.collect();
    if locations.is_empty() {
        locations.extend(spot.subjects.iter().map(|subject| json!({"logicalLocations": [logical(subject)]})));
    }
    let related = finding.evidence.iter().map(|seen| {
        let name = match &seen.place {
            Place::Field { object, .. } | Place::Event { object, .. } => object.clone(),
            Place::File { node, file, .. } => format!("{node}{file}"),
            Place::Other { name } => name.clone(),
        };
        json!({
            "message": {"text": evidence(seen)},
            "logicalLocations": [{"fullyQualifiedName": clean(&name)}],
        })
    });
    let mut result = json!({
        "ruleId": finding.check,
        "kind": "fail",
        "level": level(finding.severity),
        "message": {"text": finding_line(finding, &spot.subjects, causes)},
        "locations": locations,
        "relatedLocations": related.collect::<Vec<Value>>(),
        "partialFingerprints": {"meshdoctor/v1": spot.fingerprint},
        "properties": {
            "confidence": finding.confidence,
            "when": finding.when,
            "failsTheRun": finding.standing == Standing::Fails,
            "finding": finding.fingerprint(),
            "causedBy": finding.caused_by,
            "remedy": remedy(finding, causes, earlier),
        },
    });
    let waived = waivers(finding, &spot.subjects).into_iter().map(|by| {
        let text = format!("until {} by {}: {}", by.expires, by.owner, by.reason);
        json!({"kind": "external", "status": "accepted", "justification": clean(&text)})
    });
    let waived: Vec<Value> = waived.collect();
    if !waived.is_empty() {
        result["suppressions"] = json!(waived);
    }
    if finding.standing == Standing::InBaseline {
        result["baselineState"] = json!("unchanged");
    }
    if let Some(at) = places.get(finding.check) {
        result["ruleIndex"] = json!(at);
    }
    result
}

/// Adds each edit to the result of its object, or to the first result.
fn add_fixes(report: &Report, repaired: &RepairedFinding, spots: &[Spot<'_>], results: &mut [Value]) {
    let mut changes: BTreeMap<usize, BTreeMap<&str, Vec<Value>>> = BTreeMap::new();
    for edit in &repaired.edits {
        let is_its = |spot: &Spot<'_>| spot.subjects.iter().any(|subject| subject.to_string() == edit.object);
        let at = spots.iter().position(is_its).unwrap_or(0);
        let lines = edit.replacements.iter().map(|one| {
            json!({
                "deletedRegion": {"startLine": one.first, "endLine": one.last},
                "insertedContent": {"text": one.text},
            })
        });
        changes.entry(at).or_default().entry(&edit.file).or_default().extend(lines);
    }
    for (at, files) in changes {
        let files = files
            .into_iter()
            .map(|(file, lines)| json!({"artifactLocation": {"uri": uri(&path(report, file))}, "replacements": lines}));
        let fix = json!({
            "description": {"text": "Change these lines. The findings were checked again with the change."},
            "artifactChanges": files.collect::<Vec<Value>>(),
        });
        if let Some(result) = results.get_mut(at) {
            result["fixes"] = json!([fix]);
        }
    }
}

fn physical(written: &ManifestLocation, file: &str) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": {"uri": uri(file)},
            "region": {"startLine": written.line, "startColumn": written.column.max(1)},
        },
        "logicalLocations": [{"fullyQualifiedName": clean(&written.object), "kind": "object"}],
    })
}

fn logical(subject: &Subject) -> Value {
    let (name, kind) = match subject {
        Subject::Object { name, .. } => (name, "object"),
        Subject::Node { node, file, .. } => (file.as_ref().unwrap_or(node), "node"),
        Subject::Thing { thing } => (thing, "thing"),
    };
    let full = match subject {
        Subject::Object { .. } | Subject::Thing { .. } => subject.to_string(),
        Subject::Node { node, file, .. } => format!("Node {node}{}", file.as_deref().unwrap_or_default()),
    };
    json!({"name": clean(name), "fullyQualifiedName": clean(&full), "kind": kind})
}

/// A path as a reference of RFC 3986; a relative path stays relative.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("k8s/web app.yaml"), "k8s/web%20app.yaml");
        assert_eq!(uri("/tmp/a:b.yaml"), "file:///tmp/a%3Ab.yaml");
    }
}
