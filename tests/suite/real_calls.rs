//! `meshdoctor reach` against real calls: each was made through real proxies, and the objects were recorded
//! just before. The conclusion of `reach` must match the real outcome, or be listed in [`DIFFERENT`] with the
//! reason why the objects do not show it. The recordings are outside the repository (`MESHDOCTOR_LAB`, else
//! next to it).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use meshdoctor::collect::{Options, collect_now};
use meshdoctor::inspect::evidence::{OutboundEvidence, PolicyEvidence, reach_items};
use meshdoctor::inspect::reach::{End, Mesh, Outcome, Traffic, Walk};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::source::Completeness;
use meshdoctor::source::memory::Memory;
use serde_json::Value;

use crate::skip::{Need, skipped};

/// Calls whose outcome the objects do not show: scenario, target, conclusion, reason.
const DIFFERENT: &[(&str, &str, Outcome, &str)] = &[
    ("4143-drop", "", Outcome::Passes, "packets were dropped by hand, without a NetworkPolicy"),
    ("4143-reject", "", Outcome::Passes, "packets were dropped by hand, without a NetworkPolicy"),
    ("one-endpoint-unreachable", "", Outcome::Passes, "packets were dropped by hand, without a NetworkPolicy"),
    (
        "anchors-disjoint",
        "raw.legacy.svc.cluster.local:80/",
        Outcome::Partly,
        "no target was cached; a client with a cached one goes on",
    ),
    (
        "by-pod-address",
        "10.244.1.25:9999/",
        Outcome::NotJudged,
        "containers need not declare the ports that they serve",
    ),
    ("destination-down", "", Outcome::Partly, "no target was cached; a client with a cached one goes on"),
    ("policy-down", "", Outcome::Partly, "one target was cached, the others were not"),
    ("policy-down-new-pod", "", Outcome::Partly, "no target was cached; a client with a cached one goes on"),
    ("egress-allow", "", Outcome::NotJudged, "what is outside of the cluster is not in the evidence"),
    ("egress-deny-route", "", Outcome::NotJudged, "a route decides by the request"),
    ("egress-global-deny", "", Outcome::NotJudged, "what is outside of the cluster is not in the evidence"),
    (
        "failure-accrual",
        "apif.shop.svc.cluster.local:80/x",
        Outcome::Passes,
        "the circuit breaker opened after errors of the application",
    ),
    ("route-no-match", "", Outcome::NotJudged, "the answer depends on the request, which is not an object"),
    (
        "route-timeouts",
        "api.shop.svc.cluster.local:80/slow/1",
        Outcome::Passes,
        "reach names the time limit; how long the application needs is not in objects",
    ),
    (
        "serviceprofile-beside-httproute",
        "api.shop.svc.cluster.local:80/slow/1",
        Outcome::Passes,
        "reach names the time limit; how long the application needs is not in objects",
    ),
    (
        "timeout-annotation",
        "apit.shop.svc.cluster.local:80/slow/2",
        Outcome::Passes,
        "reach names the time limit; how long the application needs is not in objects",
    ),
    ("rate-limit", "", Outcome::Passes, "the limit is on the number of requests"),
];

/// The recorded calls, if they are on this machine.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("MESHDOCTOR_LAB").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/lab"));
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(Need::Lab, &format!("no recorded calls in {} (set MESHDOCTOR_LAB)", folder.display()));
    None
}

/// Calls of one client to one target, and what came of them.
pub struct Calls {
    pub from: End,
    pub to: End,
    path: String,
    traffic: Traffic,
    pub served: Vec<bool>,
    outcomes: Vec<String>,
}

impl Calls {
    fn outcome(&self) -> Outcome {
        match (self.served.contains(&true), self.served.contains(&false)) {
            (true, false) => Outcome::Passes,
            (true, true) => Outcome::Partly,
            (false, _) => Outcome::Stops,
        }
    }
}

/// Whether the application responded.
fn is_served(call: &Value) -> bool {
    let got = call["got"].as_str().unwrap_or_default();
    match call["call"]["kind"].as_str().unwrap() {
        "http" => call["pod"].is_string(),
        "greet" => got.starts_with("HELLO"),
        "echo" => got.starts_with("ECHO"),
        kind => panic!("a call of kind {kind}"),
    }
}

/// The calls from pods; nodes and outside clients are unknown to `reach`.
pub fn calls(truth: &Value) -> Vec<Calls> {
    let mut all: BTreeMap<String, Calls> = BTreeMap::new();
    for call in truth["calls"].as_array().unwrap() {
        let from = call["from"].as_str().unwrap();
        let Ok(from) = from.parse::<End>() else { continue };
        if from.namespace.as_deref().is_none_or(|namespace| namespace == "outside") {
            continue;
        }
        let asked = &call["call"];
        let (kind, path) = (asked["kind"].as_str().unwrap(), asked["path"].as_str().unwrap_or("/"));
        let to = format!("{}:{}", asked["host"].as_str().unwrap(), asked["port"]);
        let traffic = match kind {
            "greet" => Traffic::ServerFirst,
            "echo" => Traffic::ClientFirst,
            _ => Traffic::Http1,
        };
        let entry = all.entry(format!("{from} {kind} {to}{path}")).or_insert_with(|| Calls {
            from,
            to: to.parse().unwrap(),
            path: path.to_owned(),
            traffic,
            served: Vec::new(),
            outcomes: Vec::new(),
        });
        entry.served.push(is_served(call));
        entry.outcomes.push(call["outcome"].as_str().unwrap().to_owned());
    }
    all.into_values().collect()
}

fn read(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text).unwrap();
    text
}

/// The result of `reach` for each call of a scenario: with the traffic that was sent, and without it.
fn walks(scenario: &Path, truth: &Value, calls: &[Calls]) -> Vec<(Walk, Walk)> {
    let cluster: Value = serde_json::from_slice(&read(&scenario.join("cluster.json.gz"))).unwrap();
    let mut memory = Memory {
        completeness: Completeness::All,
        captured_at: Some(truth["cluster_at"].as_str().unwrap().parse().unwrap()),
        ..Memory::default()
    };
    for object in cluster["items"].as_array().unwrap() {
        memory.add(object).unwrap();
    }
    let collected = collect_now(&memory, &reach_items(), &Options::default(), None);
    let (cluster, knowledge) = (&collected.cluster, Knowledge::embedded());
    let mesh = |traffic| {
        let policy = PolicyEvidence::read(cluster, knowledge).map_err(|(why, _)| why).unwrap();
        let outbound = OutboundEvidence::read(cluster, knowledge).map_err(|(why, _)| why).unwrap();
        Mesh::new(policy, outbound, cluster, knowledge, meshdoctor::command::Connection::default(), traffic)
    };
    let known = [Traffic::Http1, Traffic::ClientFirst, Traffic::ServerFirst].map(|one| (one, mesh(Some(one))));
    let unknown = mesh(None);
    let walk = |call: &Calls| {
        let (_, mesh) = known.iter().find(|(traffic, _)| *traffic == call.traffic).unwrap();
        (mesh.walk(&call.from, &call.to), unknown.walk(&call.from, &call.to))
    };
    calls.iter().map(walk).collect()
}

fn steps(walk: &Walk) -> String {
    let mut text = String::new();
    for step in &walk.steps {
        _ = writeln!(text, "      {:?} {}: {}", step.outcome, step.part.name(), step.says);
    }
    text
}

#[test]
fn reach_agrees_with_real_calls() {
    let Some(folder) = folder() else { return };
    let mut scenarios: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("truth.json").is_file())
        .collect();
    scenarios.sort();
    assert!(!scenarios.is_empty(), "{}: no recorded calls", folder.display());
    let (mut agree, mut table, mut wrong) = (0, String::new(), String::new());
    let mut used = vec![false; DIFFERENT.len()];
    for scenario in scenarios {
        let name = scenario.file_name().unwrap().to_string_lossy().into_owned();
        let truth = std::fs::read(scenario.join("truth.json")).unwrap();
        let truth: Value = serde_json::from_slice(&truth).unwrap();
        let calls = calls(&truth);
        for (call, (walk, untold)) in calls.iter().zip(walks(&scenario, &truth, &calls)) {
            let (real, said) = (call.outcome(), walk.outcome());
            let target = format!("{}{}", call.to, call.path);
            let known = DIFFERENT.iter().position(|(of, to, concluded, _)| {
                *of == name && (*to == target || to.is_empty()) && *concluded == said && said != real
            });
            let who = format!("{name}: {} to {target} ({:?})", call.from, call.traffic);
            match known {
                _ if said == real => agree += 1,
                Some(at) => {
                    used[at] = true;
                    _ = writeln!(table, "  {who}: {real:?}, reach {said:?}: {}", DIFFERENT[at].3);
                }
                None => {
                    _ = write!(wrong, "{who}: {real:?}, reach {said:?}\n      {:?}\n{}", call.outcomes, steps(&walk));
                }
            }
            // Without known traffic, a failure must be reported as a condition.
            if said > untold.outcome() && untold.outcome() == Outcome::Passes && untold.conditions().is_empty() {
                _ = write!(wrong, "{who}: without --traffic it gets through without a condition\n{}", steps(&untold));
            }
        }
    }
    let unused = DIFFERENT.iter().zip(&used).filter(|(_, used)| !**used);
    unused.for_each(|((name, to, ..), _)| _ = writeln!(wrong, "{name} {to}: listed as different, and is not"));
    println!("calls that agree: {agree}; different, as listed:\n{table}");
    assert!(wrong.is_empty(), "{wrong}");
}
