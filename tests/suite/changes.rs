//! Manifests in place of a cluster, and manifests applied on top of one: the findings that a change
//! introduces and cures. A change without effect is reported as such, and the pods predicted from templates
//! match those of the real injector.

use std::collections::BTreeMap;
use std::path::Path;

use meshdoctor::collect::{Options, collect_now};
use meshdoctor::item::{Item, Kind};
use meshdoctor::knowledge::Knowledge;
use meshdoctor::objects::container::Container;
use meshdoctor::objects::{Containers, Listed, Pod};
use meshdoctor::source::change::{Change, Set};
use meshdoctor::source::evidence::Captured;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran, ran_to};
use crate::recordings::{folder, json, memory};
use crate::stock::DEFECTS;

/// Recordings whose workloads were injected by the release's own code.
pub const INJECTED: [&str; 7] = [
    "healthy-2.15",
    "healthy-2.17",
    "healthy-2.18",
    "healthy-2.18-cni",
    "healthy-2.18-native-sidecar",
    "healthy-2.19",
    "healthy-2.20",
];

fn set(manifests: &Value) -> Set {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.json");
    std::fs::write(&path, manifests.to_string()).unwrap();
    let given = Captured::manifests(&[path], None, std::io::empty()).unwrap();
    futures::executor::block_on(Set::read(&given, None))
}

/// A change does not make the capture time of a cluster more certain.
#[test]
fn evidence_with_a_change_over_it_is_of_no_better_known_moment() {
    let own = tempfile::tempdir().unwrap();
    let change = own.path().join("with.yaml");
    std::fs::write(&change, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n").unwrap();
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let saved = own.path().join("saved.tar.gz").display().to_string();
    let source = |words: &[&str]| {
        let more = ["--complete", "all", "--on-not-checked", "pass", "--fail-on", "never", "-o", "json"];
        let report = ran_to(0, meshdoctor(&[&["check"], words, &more].concat())).document();
        report["run"]["judgedAtSource"].clone()
    };
    let with = ["--with", change.to_str().unwrap()];
    for (given, expected) in [
        (&["--bundle", base][..], "clock"),
        (&["--bundle", base, "--at", "2026-07-01T00:00:00Z", "--save", &saved], "flag"),
        (&["--bundle", &saved], "captured"),
    ] {
        assert_eq!(source(given), expected, "{given:?}");
        let over: Vec<&str> = given.iter().copied().filter(|word| !["--save", &*saved].contains(word)).collect();
        let over = if expected == "captured" { given.to_vec() } else { over };
        assert_eq!(source(&[&over[..], &with].concat()), expected, "{given:?} --with");
    }
}

fn pods(memory: &Memory, set: &Set) -> Vec<Pod> {
    let at = memory.captured_at.unwrap();
    let change = Change::new(memory, set, Knowledge::embedded(), at);
    let items = [Item::List(Kind::Pod)].into();
    let collected = collect_now(&change, &items, &Options::default(), None);
    collected.cluster.answer(&Item::List(Pod::KIND)).unwrap().objects::<Pod>().to_vec()
}

/// The workloads of a recording in meshed namespaces, as people wrote them before they were injected.
pub fn as_written(recording: &Path) -> Value {
    let all = json(&recording.join("cluster.json"));
    let of_mesh = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("linkerd"));
    let mut written = Vec::new();
    for object in all["items"].as_array().unwrap() {
        let kept = matches!(object["kind"].as_str(), Some("Deployment" | "StatefulSet" | "DaemonSet"));
        if !kept || object["metadata"]["namespace"] != json!("shop") {
            continue;
        }
        let mut object = object.clone();
        let template = &mut object["spec"]["template"];
        for field in ["labels", "annotations"] {
            if let Some(map) = template["metadata"][field].as_object_mut() {
                map.retain(|key, _| !key.starts_with("linkerd.io/"));
            }
        }
        for list in ["containers", "initContainers", "volumes"] {
            if let Some(list) = template["spec"][list].as_array_mut() {
                list.retain(|item| !of_mesh(&item["name"]));
            }
        }
        written.push(object);
    }
    assert!(!written.is_empty(), "{}: no workloads", recording.display());
    json!({"apiVersion": "v1", "kind": "List", "items": written})
}

/// The fields that are read of a container that the injector added; mount paths do not matter.
fn read_of(container: &Container) -> Container {
    let mut container = container.clone();
    // The mount of the API server's token is ignored.
    container.volume_mounts.some = !container.volume_mounts.named.is_empty();
    container.env.sort_by(|a, b| a.name.cmp(&b.name));
    container
}

#[test]
fn the_pods_that_templates_will_make_are_those_of_the_real_injector() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for name in INJECTED {
        let recording = folder.join(name);
        let memory = memory(&recording);
        let set = set(&as_written(&recording));
        let recorded = pods(&memory, &Set::default());
        let made: BTreeMap<String, Pod> =
            pods(&memory, &set).into_iter().map(|pod| (pod.metadata.name.clone(), pod)).collect();
        for before in recorded.iter().filter(|pod| pod.metadata.namespace == "shop" && pod.spec.proxy().is_some()) {
            let after = &made[&before.metadata.name];
            assert_ne!(before.metadata.creation_timestamp, after.metadata.creation_timestamp, "{name}: not made again");
            for list in [
                (&before.spec.containers, &after.spec.containers),
                (&before.spec.init_containers, &after.spec.init_containers),
            ] {
                let names = |list: &Containers| list.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
                if names(list.0) != names(list.1) {
                    wrong.push(format!("{name}: {:?} became {:?}", names(list.0), names(list.1)));
                    continue;
                }
                for (real, ours) in list.0.iter().zip(list.1.iter()) {
                    let (real, ours) = (read_of(real), read_of(ours));
                    if real != ours {
                        wrong.push(format!("{name} {}\n  {real:?}\n  {ours:?}", real.name));
                    }
                }
            }
            if before.spec.volumes != after.spec.volumes {
                wrong.push(format!("{name} volumes {:?} {:?}", before.spec.volumes, after.spec.volumes));
            }
            for key in ["linkerd.io/control-plane-ns", "linkerd.io/proxy-deployment", "linkerd.io/workload-ns"] {
                if before.metadata.label(key) != after.metadata.label(key) {
                    wrong.push(format!("{name} {key}"));
                }
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The output of `check`.
pub fn check_output(arguments: &[&str], exit: i32) -> String {
    ran_to(exit, meshdoctor(arguments)).out
}

/// A recording as the paths and flags of a command line.
pub fn recording(name: &str) -> Option<[String; 4]> {
    let path = folder()?.join(name).display().to_string();
    Some(["--bundle".to_owned(), path, "--complete".to_owned(), "all".to_owned()])
}

pub fn with<'a>(recording: &'a [String; 4], more: &[&'a str]) -> Vec<&'a str> {
    ["check"].into_iter().chain(recording.iter().map(String::as_str)).chain(more.iter().copied()).collect()
}

/// The document of a run.
pub fn document(recording: &[String; 4], manifests: &Path, exit: i32) -> Value {
    let path = manifests.display().to_string();
    let text = check_output(&with(recording, &["--with", &path, "-o", "json"]), exit);
    serde_json::from_str(&text).unwrap()
}

pub fn written(folder: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const MISSPELLED: &str = r#"---
# Source: report/templates/job.yaml
apiVersion: batch/v1
kind: Job
metadata:
  name: report
  namespace: shop
spec:
  template:
    metadata:
      annotations:
        config.linkerd.io/proxy-native-sidecar: "true"
    spec:
      restartPolicy: Never
      containers:
      - name: app
        image: registry.example.com/report:1
"#;

#[test]
fn a_change_brings_in_what_it_brings_and_points_at_the_line() {
    let Some(cluster) = recording("healthy-2.18") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "job.yaml", MISSPELLED);
    let said = document(&cluster, &path, 0);
    let begins: Vec<&Value> =
        said["findings"].as_array().unwrap().iter().filter(|f| f["when"] == json!("after-change")).collect();
    // With an ordinary proxy, which the misspelled key does not change, the Job does not end.
    let mut brought: Vec<&str> = begins.iter().filter_map(|finding| finding["check"].as_str()).collect();
    brought.sort_unstable();
    assert_eq!(brought, ["job-proxy-not-ended", "native-sidecar-key-misspelled"]);
    let misspelled = |finding: &&&Value| finding["check"] == json!("native-sidecar-key-misspelled");
    let finding = begins.iter().find(misspelled).unwrap();
    let place = &finding["written"][0];
    assert_eq!((&place["line"], &place["column"]), (&json!(12), &json!(9)), "{place}");
    assert_eq!(place["source"], json!("report/templates/job.yaml"));
    assert_eq!(said["change"]["bringsOthers"], json!(2));
    // The gate applies to new findings.
    let text = path.display().to_string();
    let table = check_output(&with(&cluster, &["--with", &text, "--fail-on", "warning"]), 1);
    assert!(table.contains("WITH THE CHANGE of"), "{table}");
    assert!(table.contains("job.yaml:12:9 (from report/templates/job.yaml)"), "{table}");
    assert!(table.contains(&format!("verify    meshdoctor check --with {text} --only")), "{table}");
    let right = MISSPELLED
        .replace("config.linkerd.io/proxy-native-sidecar", "config.alpha.linkerd.io/proxy-enable-native-sidecar");
    let cured = written(folder.path(), "cured.yaml", &right);
    assert_eq!(document(&cluster, &cured, 0)["change"]["bringsOthers"], json!(0));
}

/// The cause is in the manifest, and the repair in an object of the cluster: the step names no line of the manifest.
#[test]
fn step_about_another_object_keeps_its_command() {
    const BUNDLE: &str = "apiVersion: trust.cert-manager.io/v1alpha1
kind: Bundle
metadata: {name: linkerd-identity-trust-roots}
spec:
  sources: [{secret: {name: linkerd-trust-anchor, key: tls.crt}}]
  target: {configMap: {key: ca-bundle.crt}, namespaceSelector: {matchLabels: {trust: mesh}}}
";
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "bundle.yaml", BUNDLE).display().to_string();
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml");
    let given = ["check", "--no-config", "--bundle", base, "--complete", "all", "--with", &path, "-o", "json"];
    let more = ["--at", "2026-01-15T12:00:00Z", "--linkerd-cli", "edge-25.4.4"];
    let said = ran(meshdoctor(&[&given[..], &more].concat())).document();
    let mut findings = said["findings"].as_array().unwrap().iter();
    let finding = findings.find(|finding| finding["check"] == json!("trust-bundle-not-synced")).unwrap();
    let step = &finding["remedy"]["steps"][0];
    assert!(step["text"].as_str().unwrap().starts_with("Give the namespace the labels"), "{step}");
    assert!(step.to_string().contains("label --overwrite namespace linkerd trust=mesh"), "{step}");
}

#[test]
fn what_a_change_does_not_touch_stays_and_does_not_fail_the_run() {
    let Some(cluster) = recording("issuer-expired") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = written(
        folder.path(),
        "idle.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: idle, namespace: shop}\n",
    );
    let said = document(&cluster, &path, 0);
    assert_eq!((&said["change"]["bringsErrors"], &said["change"]["cures"]), (&json!(0), &json!(0)));
    assert!(said["verdict"]["roots"]["error"].as_u64().unwrap() > 0, "what is wrong is wrong still");
    check_output(&with(&cluster, &[]), 1);
    let path = path.display().to_string();
    let table = check_output(&with(&cluster, &["--with", &path]), 0);
    assert!(table.contains("remains with the change or without it\n  error    issuer-expired: "), "{table}");
}

#[test]
fn a_pod_that_gets_its_proxy_back_is_cured() {
    let Some(cluster) = recording("pods-not-injected") else { return };
    let all = json(&folder().unwrap().join("pods-not-injected/cluster.json"));
    let late = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|object| object["kind"] == json!("Deployment") && object["metadata"]["name"] == json!("late"));
    let mut late = late.unwrap().clone();
    late["spec"]["template"]["metadata"]["annotations"]["example.com/restarted"] = json!("now");
    late["spec"]["template"]["spec"]["priorityClassName"] = json!("high");
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "late.json", &late.to_string());
    let said = document(&cluster, &path, 0);
    let ended: Vec<&Value> =
        said["findings"].as_array().unwrap().iter().filter(|f| f["when"] == json!("until-change")).collect();
    assert!(ended.iter().any(|finding| finding["check"] == json!("pod-missing-proxy")), "{ended:#?}");
}

#[test]
fn what_is_pruned_goes_with_its_pods() {
    let Some(cluster) = recording("healthy-2.18") else { return };
    let folder = tempfile::tempdir().unwrap();
    let idle = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: idle, namespace: shop}\n";
    let path = written(folder.path(), "idle.yaml", idle).display().to_string();
    let selector = "linkerd.io/control-plane-component=destination";
    let said = check_output(&with(&cluster, &["--with", &path, "--prune", selector, "-o", "short"]), 1);
    assert!(said.contains("error control-plane-missing") || said.contains("[introduced by the change]"), "{said}");
    check_output(&with(&cluster, &["--with", &path, "--prune", "a b=c"]), 2);
}

#[test]
fn manifests_alone_say_what_they_show_and_nothing_of_what_they_do_not_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(folder.path(), "job.yaml", MISSPELLED).display().to_string();
    let versions = ["--linkerd-version", "edge-25.4.4", "--kubernetes-version", "1.31"];
    let all: Vec<&str> = ["check", "--manifests", &path].into_iter().chain(versions).collect();
    let said = check_output(&[&all[..], &["-o", "short"]].concat(), 0);
    let findings: Vec<&str> =
        said.lines().filter(|line| line.starts_with("error") || line.starts_with("warning")).collect();
    assert_eq!(findings.len(), 1, "{said}");
    assert!(findings[0].contains("native-sidecar-key-misspelled Job shop/report"), "{said}");
    check_output(&[&all[..], &["--fail-on", "warning"]].concat(), 1);
    // If an object occurs twice, the later one wins, with a warning.
    let well =
        MISSPELLED.replace("config.linkerd.io/proxy-native-sidecar", "config.linkerd.io/proxy-enable-native-sidecar");
    let well = written(folder.path(), "zz.yaml", &well).display().to_string();
    let out = ran(meshdoctor(&[&all[..], &["--manifests", &well, "-o", "short"]].concat()));
    let (said, warned) = (out.out, out.err);
    assert!(!said.contains("warning native-sidecar-key-misspelled"), "{said}");
    assert!(warned.contains("Job shop/report occurs twice, at ") && warned.contains("zz.yaml:"), "{warned}");
    // An empty file in a folder is ignored, as by kubectl apply.
    let some = tempfile::tempdir().unwrap();
    written(some.path(), "job.yaml", MISSPELLED);
    written(some.path(), "left-over.yaml", "");
    let some = some.path().display().to_string();
    let said = check_output(&[&["check", "--manifests", &some], &versions[..], &["-o", "short"]].concat(), 0);
    assert!(
        said.contains("error native-sidecar-key-misspelled") || said.contains("warning native-sidecar-key-misspelled"),
        "{said}"
    );
    // A file that cannot be parsed never passes.
    let broken = written(folder.path(), "broken.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: x\n");
    let broken = broken.display().to_string();
    check_output(&["check", "--manifests", &broken], 3);
    let both = [&all[..], &["--manifests", &broken]].concat();
    check_output(&both, 4);
    for wrong in [&["--with", "x"][..], &["--live"], &["--save", "x"]] {
        check_output(&[&all[..], wrong].concat(), 2);
    }
}

#[test]
fn what_the_releases_print_is_silent_before_it_is_applied() {
    let Some(manifests) = crate::installs::manifests() else { return };
    let mut wrong = Vec::new();
    for release in ["2.15", "2.16", "2.17", "2.18", "2.19", "2.20"] {
        for shape in ["control-plane", "control-plane-ha", "control-plane-cni", "control-plane-native-sidecar"] {
            let paths = [format!("{shape}.yaml"), "crds.yaml".to_owned(), "viz.yaml".to_owned()];
            let mut arguments = vec!["check".to_owned(), "-o".to_owned(), "short".to_owned()];
            for path in paths {
                arguments.extend(["--manifests".to_owned(), manifests.join(release).join(path).display().to_string()]);
            }
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let said = check_output(&arguments, 0);
            let is_alarm = |line: &&str| line.starts_with("error") || line.starts_with("warning");
            let mut alarms: Vec<&str> = said.lines().filter(is_alarm).collect();
            for (_, _, check) in DEFECTS.iter().filter(|(minor, part, _)| *minor == release && *part == "viz") {
                let known = alarms.iter().position(|line| line.starts_with(&format!("warning {check} ")));
                match known {
                    Some(at) => _ = alarms.remove(at),
                    None => wrong.push(format!("{release} {shape}: {check} is missing")),
                }
            }
            wrong.extend(alarms.iter().map(|line| format!("{release} {shape}: {line}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_change_that_changes_nothing_is_told_as_that() {
    let Some(folder) = folder() else { return };
    let own = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for name in INJECTED {
        let cluster = recording(name).unwrap();
        let all = json(&folder.join(name).join("cluster.json"));
        let kinds = ["Deployment", "StatefulSet", "DaemonSet", "Namespace", "Service", "MutatingWebhookConfiguration"];
        let mut same: Vec<Value> = Vec::new();
        for object in all["items"].as_array().unwrap() {
            if kinds.iter().any(|kind| object["kind"] == json!(kind)) {
                same.push(object.clone());
            }
        }
        // All pods are recreated, which is not a visible change either.
        let mut again = same.clone();
        for object in &mut again {
            if object["spec"]["template"].is_object() {
                object["spec"]["template"]["spec"]["priorityClassName"] = json!("other");
            }
        }
        for (what, items) in [("same", same), ("again", again)] {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
            let path = written(own.path(), "all.json", &list.to_string());
            let said = document(&cluster, &path, 0);
            let change = &said["change"];
            if [&change["bringsErrors"], &change["bringsOthers"], &change["cures"]] != [&json!(0); 3] {
                wrong.push(format!("{name} {what}: {change}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_proxy_of_a_release_that_reads_like_a_number_is_of_that_release() {
    let folder = tempfile::tempdir().unwrap();
    let meshed = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}\n---\n\
        apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {template: {spec: {containers: [{name: app, image: \"r/app:1\"}]}}}\n";
    let path = written(folder.path(), "meshed.yaml", meshed).display().to_string();
    let set = ["--manifests", &path, "--linkerd-version", "2.20", "--kubernetes-version", "1.34"];
    // Without a control plane the check does not apply, and nothing is checked.
    let said = check_output(&[&["check", "--only", "data-plane-skew", "-o", "short"], &set[..]].concat(), 4);
    assert!(!said.contains("warning data-plane-skew"), "{said}");
    let said = check_output(&[&["injection"], &set[..4]].concat(), 0);
    assert!(said.contains("cr.l5d.io/linkerd/proxy:2.20,"), "{said}");
}
