//! The answer of `meshdoctor sync` as JSON.

use serde_json::{Value, json};

use super::{NOT_KNOWN, NOT_READ, SCHEMA, state_label, words};
use crate::finding::Finding;
use crate::inspect::sync::{
    Agreement, AppliedPolicy, BalancedService, Certificate, ProxyState, ProxySync, Since, Sync, SyncRow,
};
use crate::model::control_clients::CLIENTS;

/// As JSON; the schema is `docs/schema/sync.v1.json`.
pub fn json(sync: &Sync<'_>) -> Value {
    let verdict = match () {
        () if sync.is_out_of_sync() => ProxySync::OutOfSync,
        () if sync.is_incomplete() => ProxySync::Unknown,
        () => ProxySync::InSync,
    };
    json!({
        "schema": SCHEMA,
        "verdict": key(state_label(verdict)),
        "pods": sync.rows.iter().map(|row| pod(row, sync)).collect::<Vec<_>>(),
        "problems": sync.findings.iter().map(problem).collect::<Vec<_>>(),
        "leftOut": sync.left,
        "leftOutPods": sync.left_out,
        "notEvaluated": sync.not_evaluated,
        "notChecked": sync.gaps.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// A word as an enumerated value: `out-of-sync`.
fn key(word: &str) -> String {
    word.replace(' ', "-")
}

fn pod(row: &SyncRow<'_>, sync: &Sync<'_>) -> Value {
    let (namespace, name) = row.pod.metadata.key();
    let proxy = row.proxy.as_ref().ok();
    let client = |at: usize| key(proxy.map_or(NOT_READ, |proxy| words(proxy.clients[at].state)));
    let clients = CLIENTS.iter().enumerate().map(|(at, name)| ((*name).to_owned(), client(at).into()));
    let problems: Vec<&str> =
        row.problems.iter().filter_map(|at| sync.findings.get(*at)).map(|finding| finding.check).collect();
    json!({
        "namespace": namespace,
        "name": name,
        "component": row.component,
        "version": row.version,
        "proxyVersion": proxy.and_then(|proxy| proxy.build.as_deref()),
        "state": key(state_label(row.state(sync))),
        "notRead": row.proxy.as_ref().err(),
        "certificate": certificate_json(proxy),
        "controlPlane": clients.collect::<serde_json::Map<String, Value>>(),
        "replicas": replicas_json(proxy),
        "endpoints": endpoints_json(proxy),
        "policies": policies_json(proxy),
        "since": since_json(row.since()),
        "uptimeSeconds": proxy.and_then(|proxy| proxy.uptime),
        "secondsBetweenReads": proxy.and_then(|proxy| proxy.period),
        "problems": problems,
    })
}

fn certificate_json(proxy: Option<&ProxyState>) -> Value {
    let (state, seconds) = match proxy.map(|proxy| proxy.certificate) {
        None => (NOT_READ, None),
        Some(Certificate::Valid(seconds)) => ("valid", Some(seconds)),
        Some(Certificate::Expired(seconds)) => ("expired", Some(seconds.saturating_neg())),
        Some(Certificate::NotYet) => ("none yet", None),
        Some(Certificate::Never) => ("never had one", None),
        Some(Certificate::Unknown) => (NOT_KNOWN, None),
    };
    json!({"state": key(state), "secondsLeft": seconds})
}

/// The replicas of each component to which the proxy has connections.
fn replicas_json(proxy: Option<&ProxyState>) -> Value {
    let one = |at: usize| {
        let client = proxy.map(|proxy| &proxy.clients[at]);
        let ready = proxy.map_or(&[][..], |proxy| &proxy.replicas[at]);
        let connected = client.map(|client| client.connected);
        // Metrics have numbers only: the names are known if every ready replica is among them.
        let is_each = !ready.is_empty() && connected == u64::try_from(ready.len()).ok();
        json!({
            "connected": connected,
            "ready": proxy.map(|_| ready.len()),
            "names": is_each.then_some(ready),
            "sinceSeconds": client.and_then(|client| client.since),
        })
    };
    let each = CLIENTS.iter().enumerate().map(|(at, name)| ((*name).to_owned(), one(at)));
    Value::Object(each.collect())
}

fn since_json(since: Option<Since>) -> Value {
    match since {
        Some(Since::Exactly(seconds)) => json!({"seconds": seconds, "atLeast": false}),
        Some(Since::AtLeast(seconds)) => json!({"seconds": seconds, "atLeast": true}),
        None => Value::Null,
    }
}

fn policies_json(proxy: Option<&ProxyState>) -> Value {
    let policies = proxy.and_then(|proxy| proxy.policies.as_ref());
    let one = |policy: &AppliedPolicy| {
        json!({
            "port": policy.port,
            "applied": policy.applied,
            "expected": policy.expected,
            "agreement": key(agreement(policy.agreement)),
        })
    };
    json!({
        "read": policies.is_some(),
        "ports": policies.into_iter().flatten().map(one).collect::<Vec<_>>(),
    })
}

fn agreement(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agrees => "agrees",
        Agreement::Unknown => NOT_KNOWN,
        Agreement::Differs => "differs",
    }
}

fn endpoints_json(proxy: Option<&ProxyState>) -> Value {
    let services = proxy.map_or(&[][..], |proxy| &proxy.services);
    let one = |service: &BalancedService| {
        json!({
            "namespace": service.namespace,
            "service": service.name,
            "port": service.port,
            "held": service.held,
            "ready": service.ready,
            "agreement": key(agreement(service.agreement)),
        })
    };
    json!({
        "read": proxy.is_some_and(|proxy| proxy.knows_endpoints),
        "services": services.iter().map(one).collect::<Vec<_>>(),
    })
}

fn problem(finding: &Finding) -> Value {
    json!({
        "check": finding.check,
        "severity": finding.severity.label(),
        "subjects": finding.subjects,
        "message": finding.message,
    })
}
