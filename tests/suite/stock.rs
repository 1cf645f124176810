//! Stock installations have no findings: the manifests that each release's CLI renders, with every
//! combination of control plane and extensions, and the pods, ReplicaSets and endpoints that a cluster
//! derives from them. Everything is listed, including policies, and no check reports a warning or an error.
//! The manifests are outside the repository.

mod cluster;

use std::path::Path;

use meshdoctor::checks::Settings;
use meshdoctor::finding::Severity;
use meshdoctor::report::Report;
use serde_json::Value;

use crate::installs::manifests;
use crate::recordings::report_on;
use cluster::Cluster;

const CONTROL_PLANES: [&str; 4] =
    ["control-plane", "control-plane-cni", "control-plane-ha", "control-plane-native-sidecar"];
/// Optional parts of an install. jaeger has no manifest of its own in most releases.
const PARTS: [&str; 4] = ["viz", "multicluster", "jaeger", "workloads"];

/// Findings of stock installations that are true: the release, the part, the check.
pub(crate) const DEFECTS: [(&str, &str, &str); 1] = [
    // The jobs of viz expect the port names of earlier control planes, until edge-26.4.1.
    ("2.19", "viz", "viz-scrape-mismatch"),
];

/// The objects of a manifest; `None` if the release has none of that name.
fn read(release: &Path, name: &str) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(release.join(format!("{name}.yaml"))).ok()?;
    let mut objects = Vec::new();
    for document in serde_yaml::Deserializer::from_str(&text) {
        let object: Value = serde::Deserialize::deserialize(document).unwrap();
        match object.get("items").and_then(Value::as_array) {
            Some(items) => objects.extend(items.iter().cloned()),
            None if object.is_null() => {}
            None => objects.push(object),
        }
    }
    Some(objects)
}

/// Every combination of the parts that a release has.
fn combinations(release: &Path) -> Vec<Vec<&'static str>> {
    let parts: Vec<&str> = PARTS.into_iter().filter(|part| release.join(format!("{part}.yaml")).exists()).collect();
    let chosen = |mask: usize| (0..parts.len()).filter(move |at| mask & (1 << at) != 0);
    (0..1 << parts.len()).map(|mask| chosen(mask).map(|at| parts[at]).collect()).collect()
}

/// A cluster of a control plane and parts.
fn cluster(release: &Path, control_plane: &str, parts: &[&str]) -> Cluster {
    let cni = control_plane.ends_with("-cni").then_some("cni");
    let names = ["crds", control_plane].into_iter().chain(cni).chain(parts.iter().copied());
    let objects = names.flat_map(|name| read(release, name).unwrap_or_default()).collect();
    let injected = read(release, "workloads").unwrap_or_default();
    Cluster::new(objects, &injected)
}

/// Findings of warning and above, in a line each.
fn alarms(report: &Report) -> Vec<String> {
    let worth = report.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    worth
        .map(|finding| format!("{} {} {}: {}", finding.severity, finding.check, finding.subjects[0], finding.message))
        .collect()
}

/// The errors of one release.
fn wrong_with(release: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for control_plane in CONTROL_PLANES {
        for parts in combinations(release) {
            let cluster = cluster(release, control_plane, &parts);
            let report = report_on(&cluster.memory(), &Settings::default());
            let name = format!("{} {control_plane} {}", release.display(), parts.join(" "));
            let mut alarms = alarms(&report);
            let has_it = |(minor, part, _): &&(&str, &str, &str)| release.ends_with(minor) && parts.contains(part);
            for (_, _, check) in DEFECTS.iter().filter(has_it) {
                match alarms.iter().position(|alarm| alarm.starts_with(&format!("warning {check} "))) {
                    Some(at) => _ = alarms.remove(at),
                    None => wrong.push(format!("{name}: {check} is missing")),
                }
            }
            wrong.extend(alarms.iter().map(|alarm| format!("{name}: {alarm}")));
            let unread = report.coverage.gaps.iter().filter(|gap| gap.missing.was_asked_for());
            wrong.extend(unread.map(|gap| format!("{name}: not checked: {}", gap.missing)));
        }
    }
    wrong
}

#[test]
fn stock_installs_are_silent_in_every_combination() {
    let Some(folder) = manifests() else { return };
    let releases = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut releases: Vec<_> = releases.filter(|path| path.is_dir()).collect();
    releases.sort();
    assert!(!releases.is_empty(), "{} holds no manifests", folder.display());
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = releases.iter().map(|release| scope.spawn(move || wrong_with(release))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A stock installation of the newest release, to lay something over.
fn newest() -> Option<Cluster> {
    let release = manifests()?.join("2.18");
    Some(cluster(&release, "control-plane", &["workloads"]))
}

fn in_cni_mode() -> Option<Cluster> {
    let release = manifests()?.join("2.18");
    Some(cluster(&release, "control-plane-cni", &["workloads"]))
}

fn found(cluster: &Cluster) -> Vec<String> {
    alarms(&report_on(&cluster.memory(), &Settings::default()))
}

#[test]
fn empty_extension_namespace_is_one_warning() {
    for (extension, check) in
        [("viz", "viz-namespace-empty"), ("jaeger", "jaeger-namespace-empty"), ("multicluster", "link-crd-missing")]
    {
        let Some(mut cluster) = newest() else { return };
        cluster.add_namespace(&format!("linkerd-{extension}"), extension);
        let found = found(&cluster);
        assert!(
            found.len() == 1 && found[0].starts_with(&format!("warning {check} Namespace linkerd-{extension}")),
            "{extension}: {found:#?}"
        );
    }
}

#[test]
fn label_on_two_empty_namespaces_is_one_root() {
    let Some(mut cluster) = newest() else { return };
    cluster.add_namespace("linkerd-viz", "viz");
    cluster.add_namespace("observe", "viz");
    let report = report_on(&cluster.memory(), &Settings::default());
    let roots = report.findings.iter().filter(|f| f.severity >= Severity::Warning && f.caused_by.is_empty());
    let roots: Vec<&str> = roots.map(|finding| finding.check).collect();
    assert_eq!(roots, ["extension-namespace-twice"]);
}

#[test]
fn new_node_in_cni_mode_has_a_grace_period() {
    // Before its pod exists, and while that is being created.
    for pod in [false, true] {
        let Some(mut cluster) = in_cni_mode() else { return };
        cluster.add_node("node-9", "2026-11-21T07:59:40Z", pod);
        assert_eq!(found(&cluster), [""; 0], "with a pod: {pod}");
    }
    for pod in [false, true] {
        let Some(mut cluster) = in_cni_mode() else { return };
        cluster.add_node("node-9", "2026-11-21T07:30:00Z", pod);
        let found = found(&cluster);
        let error = "error cni-ds-coverage DaemonSet linkerd-cni/linkerd-cni";
        assert!(found.iter().any(|alarm| alarm.starts_with(error)), "with a pod: {pod}: {found:#?}");
    }
}

#[test]
fn new_control_plane_has_a_grace_period_except_when_waiting() {
    let Some(mut cluster) = newest() else { return };
    cluster.restart("linkerd", "2026-11-21T07:59:40Z");
    assert_eq!(found(&cluster), [""; 0]);
    let waiting = Settings { no_grace: true, ..Settings::default() };
    let found = alarms(&report_on(&cluster.memory(), &waiting));
    assert!(found.iter().any(|alarm| alarm.starts_with("error control-plane-not-ready")), "{found:#?}");
    let Some(mut cluster) = newest() else { return };
    cluster.restart("linkerd", "2026-11-21T07:30:00Z");
    let found = alarms(&report_on(&cluster.memory(), &Settings::default()));
    assert!(found.iter().any(|alarm| alarm.starts_with("error control-plane-not-ready")), "{found:#?}");
}

#[test]
fn new_extension_has_a_grace_period() {
    for (created, silent) in [("2026-11-21T07:59:40Z", true), ("2026-11-21T07:30:00Z", false)] {
        for extension in ["viz", "multicluster"] {
            let Some(folder) = manifests() else { return };
            let mut cluster = cluster(&folder.join("2.18"), "control-plane", &[extension]);
            cluster.restart(&format!("linkerd-{extension}"), created);
            let found = found(&cluster);
            assert_eq!(found.is_empty(), silent, "{extension} {created}: {found:#?}");
        }
    }
}
