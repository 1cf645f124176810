//! Checks of metrics on texts of real proxies and control-plane containers, recorded before and after calls. Each scenario
//! has the expected checks; healthy ones have none. The recordings are outside the repository (`MESHDOCTOR_LAB`, else next
//! to it).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use meshdoctor::checks::{Check, Settings, all, evaluate};
use meshdoctor::collect::{Options, collect_now};
use meshdoctor::finding::Severity;
use meshdoctor::item::Item;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::policy::run_items;
use meshdoctor::source::Completeness;
use meshdoctor::source::memory::Memory;
use serde_json::Value;

use crate::skip::{Need, skipped};

/// Scenarios with findings, and the checks of metrics that report them. All others have none.
const EXPECTED: &[(&str, &[&str])] = &[
    ("4143-drop", &["endpoints-unreachable"]),
    ("4143-reject", &["endpoints-unreachable"]),
    ("anchors-disjoint", &["proxy-cut-off"]),
    ("anchors-disjoint-server", &["endpoints-unreachable", "proxy-cut-off"]),
    ("destination-down", &["inbound-requests-shed", "proxy-cut-off"]),
    ("egress-deny-route", &["outbound-connection-forbidden"]),
    ("egress-global-deny", &["outbound-connection-forbidden"]),
    ("identity-down-expired", &["proxy-certificate-expired", "proxy-cut-off"]),
    ("networkpolicy-app-port-only", &["endpoints-unreachable"]),
    ("networkpolicy-egress-app-port-only", &["endpoints-unreachable"]),
    ("no-endpoints-repeat", &["endpoints-unreachable"]),
    ("policy-down", &["inbound-requests-shed", "proxy-cut-off"]),
    ("policy-down-new-pod", &["inbound-requests-shed", "proxy-cut-off"]),
    ("policy-down-new-pod-server", &["inbound-requests-shed", "proxy-cut-off", "proxy-policy-stale"]),
    ("policy-down-running-pods", &["proxy-cut-off", "proxy-policy-stale"]),
    ("route-split", &["endpoints-unreachable"]),
    ("server-proxy-dead", &["endpoints-unreachable"]),
    ("undeclared-service-port", &["outbound-connection-forbidden"]),
];

/// Names of control-plane containers in the recordings, and the component of their pod.
const CONTROLLERS: [(&str, &str, &str); 3] = [
    ("linkerd_destination", "destination", "destination"),
    ("linkerd_identity", "identity", "identity"),
    ("linkerd_policy", "policy", "destination"),
];

pub fn lab() -> Option<PathBuf> {
    let named = std::env::var_os("MESHDOCTOR_LAB").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/lab"));
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(Need::Lab, &format!("no recordings in {} (set MESHDOCTOR_LAB)", folder.display()));
    None
}

fn unpacked(path: &Path) -> Option<String> {
    let packed = std::fs::File::open(path).ok()?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed), &mut text).unwrap();
    Some(text)
}

/// The recorded cluster, with the metrics of both moments as the linkerd command prints them.
pub fn recorded(scenario: &Path) -> Memory {
    let truth: Value = serde_json::from_slice(&std::fs::read(scenario.join("truth.json")).unwrap()).unwrap();
    let cluster: Value = serde_json::from_str(&unpacked(&scenario.join("cluster.json.gz")).unwrap()).unwrap();
    let mut memory = Memory {
        completeness: Completeness::All,
        captured_at: Some(truth["cluster_at"].as_str().unwrap().parse().unwrap()),
        ..Memory::default()
    };
    let mut files: Vec<(String, String, &str)> = Vec::new();
    for object in cluster["items"].as_array().unwrap() {
        memory.add(object).unwrap();
        if object["kind"] != "Pod" {
            continue;
        }
        let metadata = &object["metadata"];
        let pod = metadata["name"].as_str().unwrap();
        let key = format!("{}/{pod}", metadata["namespace"].as_str().unwrap());
        if let Some(name) = truth["pods"][&key]["metrics"].as_str() {
            files.push((pod.to_owned(), format!("{name}.proxy"), "linkerd-proxy"));
        }
        let component = metadata["labels"]["linkerd.io/control-plane-component"].as_str();
        for (file, container, of) in CONTROLLERS.into_iter().filter(|(.., of)| component == Some(of)) {
            files.push((pod.to_owned(), file.to_owned(), container));
            let end = object["status"]["podIP"].as_str().and_then(|address| address.rsplit('.').next());
            let proxy = format!("linkerd_{of}_{}.proxy", end.unwrap_or_default());
            files.push((pod.to_owned(), proxy, "linkerd-proxy"));
        }
        files.sort();
        files.dedup();
    }
    for moment in ["before", "after"] {
        let mut text = String::new();
        for (pod, file, container) in &files {
            if let Some(metrics) = unpacked(&scenario.join(format!("metrics/{file}.{moment}.txt.gz"))) {
                _ = write!(text, "#\n# POD {pod} (1 of 1)\n# CONTAINER {container} \n#\n{metrics}");
            }
        }
        if !text.is_empty() {
            memory.diagnostics.read(&text, None).unwrap();
        }
    }
    memory
}

#[test]
fn metrics_of_real_proxies_have_the_expected_findings() {
    let Some(lab) = lab() else { return };
    let checks: Vec<&'static Check> =
        all().filter(|check| check.card().front.needs.contains(&Item::Diagnostics)).collect();
    let items: BTreeSet<Item> = run_items(&checks).into_iter().collect();
    let mut scenarios: Vec<PathBuf> = std::fs::read_dir(&lab)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("truth.json").is_file())
        .collect();
    scenarios.sort();
    assert!(!scenarios.is_empty(), "{}: no recordings", lab.display());
    let mut wrong = String::new();
    for scenario in scenarios {
        let name = scenario.file_name().unwrap().to_string_lossy().into_owned();
        let memory = recorded(&scenario);
        let collected = collect_now(&memory, &items, &Options::default(), None);
        let results = evaluate(&checks, &collected.cluster, Knowledge::embedded(), &Settings::default());
        let found: Vec<_> = results.iter().flat_map(|result| &result.findings).collect();
        // Denials are information: the scenarios of policy have them on purpose.
        let loud: BTreeSet<&str> =
            found.iter().filter(|one| one.severity > Severity::Info).map(|one| one.check).collect();
        let expected = EXPECTED.iter().find(|(of, _)| *of == name).map_or(&[][..], |(_, ids)| *ids);
        if loud != expected.iter().copied().collect() {
            _ = writeln!(wrong, "{name}: {loud:?}, expected {expected:?}");
            for one in found.iter().filter(|one| one.severity > Severity::Info) {
                _ = writeln!(wrong, "    {:?} {}", one.subjects, one.message);
                one.evidence.iter().for_each(|evidence| _ = writeln!(wrong, "      {evidence:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
