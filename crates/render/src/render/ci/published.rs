//! A report as objects for policy reporters and dashboards: `Report` and `ClusterReport` of openreports.io,
//! or `PolicyReport` and `ClusterPolicyReport` of wgpolicyk8s.io, which have the same schema; and events for
//! new and removed findings. This module does not access a cluster.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::evidence;
use crate::checks::Outcome;
use crate::finding::{Finding, Severity, Subject};
use crate::item::Kind;
use crate::report::Report;
use crate::report_api::{MANAGED_BY, NAME, Published, ReportApi};

/// Maximum number of results in one object.
const RESULTS: usize = 500;
/// Maximum number of objects that one result names.
const RESOURCES: usize = 100;
/// Maximum length of a message, in characters.
const MESSAGE: usize = 1000;
/// Maximum number of events that one run creates.
const EVENTS: usize = 50;

/// The annotation of the cluster's report with the number of results in each namespace, which outlives a
/// deleted namespace.
const NAMESPACES: &str = "meshdoctor.io/namespaces";

/// The objects of a report. `before` are the existing objects, whose results are kept if this run could not
/// check them.
pub fn published(report: &Report, api: ReportApi, before: &[Value]) -> Published {
    let mut results: BTreeMap<String, Vec<Value>> = BTreeMap::from([(String::new(), Vec::new())]);
    for finding in &report.findings {
        let mut by_namespace: BTreeMap<&str, Vec<&Subject>> = BTreeMap::new();
        for subject in &finding.subjects {
            by_namespace.entry(namespace_of(subject)).or_default().push(subject);
        }
        for (namespace, subjects) in by_namespace {
            let one = result(report, finding, &subjects);
            results.entry(namespace.to_owned()).or_default().push(one);
        }
    }
    let now: BTreeSet<(String, String)> = prints(&results);
    let unjudged: BTreeSet<&str> = report.checks.iter().filter(|check| !in_full(check)).map(|check| check.id).collect();
    let earlier = earlier(before);
    for (namespace, one) in &earlier {
        let print = one["properties"]["fingerprint"].as_str().unwrap_or_default();
        let is_unjudged = one["policy"].as_str().is_some_and(|check| unjudged.contains(check));
        if is_unjudged && !now.contains(&(namespace.clone(), print.to_owned())) {
            let mut kept = one.clone();
            kept["properties"]["last-run"] = json!("not checked");
            results.entry(namespace.clone()).or_default().push(kept);
        }
    }
    let known: BTreeSet<(String, String)> = prints(&results);
    let then: BTreeSet<(String, String)> =
        earlier.iter().filter_map(|(namespace, one)| Some((namespace.clone(), print(one)?))).collect();
    let mut events: Vec<Value> = Vec::new();
    for (namespace, all) in &results {
        let new = |one: &&Value| print(one).is_some_and(|print| !then.contains(&(namespace.clone(), print)));
        events.extend(all.iter().filter(new).map(|one| event(report, namespace, one, true)));
    }
    let gone = earlier
        .iter()
        .filter(|(namespace, one)| print(one).is_some_and(|print| !known.contains(&(namespace.clone(), print))));
    events.extend(gone.map(|(namespace, one)| event(report, namespace, one, false)));
    let deleted = deleted(before, &results);
    events.extend(deleted.iter().map(|(namespace, findings)| event_of_deleted(report, namespace, *findings)));
    events.truncate(EVENTS);
    let kept: BTreeMap<&String, usize> =
        results.iter().filter(|(namespace, _)| !namespace.is_empty()).map(|(name, all)| (name, all.len())).collect();
    let kept = json!(kept).to_string();

    // Checks that did not run are in the report of the cluster, so that they are never read as passed.
    let of_cluster = results.entry(String::new()).or_default();
    of_cluster.extend(report.checks.iter().filter(|check| !in_full(check)).map(|check| {
        let why = check.gaps.first().map(ToString::to_string).unwrap_or_default();
        json!({
            "source": NAME, "policy": check.id, "category": check.category, "result": "skip", "scored": false,
            "message": short(&format!("not checked: {why}")), "timestamp": moment(report.at.0),
        })
    }));
    let reports = results
        .into_iter()
        .map(|(namespace, results)| {
            let passed = if namespace.is_empty() { report.verdict.passed } else { 0 };
            let mut object = object(api, &namespace, results, passed);
            if namespace.is_empty() {
                object["metadata"]["annotations"][NAMESPACES] = json!(kept);
            }
            (namespace, object)
        })
        .collect();
    Published { reports, events }
}

/// Namespaces that were deleted with their reports, and the number of results of each.
fn deleted(before: &[Value], results: &BTreeMap<String, Vec<Value>>) -> BTreeMap<String, u64> {
    let place = |object: &Value| object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let standing: BTreeSet<String> = before.iter().map(place).collect();
    let of_cluster = before.iter().find(|object| place(object).is_empty());
    let counted = of_cluster.and_then(|object| object["metadata"]["annotations"][NAMESPACES].as_str());
    let counted: BTreeMap<String, u64> = counted.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_gone = |namespace: &String| !standing.contains(namespace) && !results.contains_key(namespace);
    counted.into_iter().filter(|(namespace, _)| is_gone(namespace)).collect()
}

/// The event for a namespace that was deleted with its findings.
fn event_of_deleted(report: &Report, namespace: &str, findings: u64) -> Value {
    let message = format!("the report of namespace {namespace} is gone with {findings} findings");
    let gone = json!({
        "policy": "namespace", "message": message, "severity": "info",
        "properties": {"fingerprint": namespace},
        "resources": [{"apiVersion": "v1", "kind": "Namespace", "name": namespace}],
    });
    event(report, "", &gone, false)
}

/// Whether a check has a complete result.
fn in_full(check: &crate::check_outcome::CheckOutcome) -> bool {
    check.gaps.is_empty() && !matches!(check.outcome, Outcome::Unknown | Outcome::Crashed(_))
}

/// The existing results of findings, each with its namespace.
fn earlier(before: &[Value]) -> Vec<(String, Value)> {
    let of = |object: &Value| -> Vec<(String, Value)> {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let results = object["results"].as_array().cloned().unwrap_or_default();
        results.into_iter().filter(|one| print(one).is_some()).map(|one| (namespace.clone(), one)).collect()
    };
    before.iter().flat_map(of).collect()
}

fn print(result: &Value) -> Option<String> {
    result["properties"]["fingerprint"].as_str().map(str::to_owned)
}

fn prints(results: &BTreeMap<String, Vec<Value>>) -> BTreeSet<(String, String)> {
    let of = |(namespace, all): (&String, &Vec<Value>)| -> Vec<(String, String)> {
        all.iter().filter_map(|one| Some((namespace.clone(), print(one)?))).collect()
    };
    results.iter().flat_map(of).collect()
}

fn object(api: ReportApi, namespace: &str, mut results: Vec<Value>, passed: usize) -> Value {
    let left_out = results.len().saturating_sub(RESULTS);
    results.truncate(RESULTS);
    let count = |word: &str| results.iter().filter(|one| one["result"] == word).count();
    let summary = json!({
        "pass": passed, "fail": count("fail"), "warn": count("warn"), "error": 0, "skip": count("skip"),
    });
    let kind = if namespace.is_empty() { api.of_cluster.0 } else { api.namespaced.0 };
    let mut metadata = json!({"name": NAME, "labels": {MANAGED_BY: NAME}});
    if !namespace.is_empty() {
        metadata["namespace"] = json!(namespace);
    }
    if left_out > 0 {
        metadata["annotations"] = json!({"meshdoctor.io/left-out": format!("{left_out} results")});
    }
    let mut object = json!({
        "apiVersion": format!("{}/{}", api.group, api.version), "kind": kind,
        "metadata": metadata, "summary": summary, "results": results,
    });
    if api.group == "openreports.io" {
        object["source"] = json!(NAME);
    }
    object
}

fn result(report: &Report, finding: &Finding, subjects: &[&Subject]) -> Value {
    let (word, severity) = match finding.severity {
        Severity::Error => ("fail", "high"),
        Severity::Warning => ("warn", "medium"),
        Severity::Info => ("warn", "info"),
    };
    let word = if finding.is_waived() { "skip" } else { word };
    let mut properties = BTreeMap::from([
        ("fingerprint", finding.fingerprint().0),
        ("confidence", format!("{:?}", finding.confidence).to_ascii_lowercase()),
    ]);
    if let Some(first) = finding.evidence.first() {
        properties.insert("evidence", short(&evidence(first)));
    }
    // A symptom is fixed through its causes.
    if let Some(step) = finding.remedy.steps.first().filter(|_| finding.caused_by.is_empty()) {
        properties.insert("fix", short(&step.text));
    }
    if !finding.caused_by.is_empty() {
        let causes: Vec<&str> = finding.caused_by.iter().map(|cause| cause.0.as_str()).collect();
        properties.insert("caused-by", causes.join(","));
    }
    if let Some(by) = finding.waived_by().first() {
        properties.insert("waived", short(&by.reason));
    }
    let resources: Vec<Value> = subjects.iter().filter_map(|subject| reference(subject)).take(RESOURCES).collect();
    json!({
        "source": NAME,
        "policy": finding.check,
        "category": category(finding.check),
        "severity": severity,
        "result": word,
        "scored": !finding.is_waived() && finding.severity > Severity::Info,
        "message": short(&finding.message),
        "timestamp": moment(report.at.0),
        "resources": resources,
        "properties": properties,
    })
}

fn category(check: &str) -> String {
    crate::checks::find(check).map_or_else(|| "waivers".to_owned(), |check| check.card().front.category.clone())
}

fn namespace_of(subject: &Subject) -> &str {
    match subject {
        Subject::Object { namespace, .. } => namespace,
        Subject::Node { .. } | Subject::Thing { .. } => "",
    }
}

/// A reference to an object; `None` for other subjects.
fn reference(subject: &Subject) -> Option<Value> {
    match subject {
        Subject::Object { kind, namespace, name, .. } => {
            let known = Kind::all().find(|known| known.info().kind == kind);
            let mut reference = json!({"kind": kind, "name": name});
            if let Some(known) = known {
                reference["apiVersion"] = json!(known.api_version());
            }
            if !namespace.is_empty() {
                reference["namespace"] = json!(namespace);
            }
            Some(reference)
        }
        Subject::Node { node, .. } => Some(json!({"apiVersion": "v1", "kind": "Node", "name": node})),
        Subject::Thing { .. } => None,
    }
}

/// An event for a new or removed finding. Its name contains the finding and the time, so that none is created
/// twice.
fn event(report: &Report, namespace: &str, result: &Value, came: bool) -> Value {
    let at = report.at.0;
    let print = print(result).unwrap_or_default();
    let home = if namespace.is_empty() { "default" } else { namespace };
    // An event about a cluster-scoped object is in the namespace `default`.
    let about = result["resources"][0].clone();
    let about = if about.is_null() { json!({"apiVersion": "v1", "kind": "Namespace", "name": home}) } else { about };
    let check = result["policy"].as_str().unwrap_or_default();
    let said = result["message"].as_str().unwrap_or_default();
    let (reason, kind) = match (came, result["severity"].as_str()) {
        (false, _) => ("FindingGone", "Normal"),
        (true, Some("info")) => ("FindingAppeared", "Normal"),
        (true, _) => ("FindingAppeared", "Warning"),
    };
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {
            "name": format!("{NAME}.{print}.{:x}{}", at.as_second(), if came { "" } else { ".gone" }),
            "namespace": home, "labels": {MANAGED_BY: NAME},
        },
        "involvedObject": about,
        "reason": reason, "type": kind, "message": short(&format!("{check}: {said}")),
        "source": {"component": NAME}, "reportingComponent": NAME, "count": 1,
        "firstTimestamp": seconds(at), "lastTimestamp": seconds(at),
    })
}

fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second()).unwrap_or(at).to_string()
}

fn moment(at: Timestamp) -> Value {
    json!({"seconds": at.as_second(), "nanos": 0})
}

fn short(text: &str) -> String {
    match text.char_indices().nth(MESSAGE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
