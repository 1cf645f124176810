//! Collections of other tools in their own layouts, built from recorded clusters. The findings equal those
//! for the whole recording, and no check passes without its evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::binary::{meshdoctor, ran};
use crate::recordings;

/// Recordings with several kinds of failures, and a healthy one.
const OF: [&str; 4] = ["healthy-2.18", "inject-as-label", "destination-scaled-to-zero", "control-plane-mixed"];
/// File names of troubleshoot that differ from the resource's name.
const NAMES: [(&str, &str); 6] = [
    ("poddisruptionbudgets", "pod-disruption-budgets"),
    ("networkpolicies", "network-policy"),
    ("resourcequotas", "resource-quota"),
    ("customresourcedefinitions", "custom-resource-definitions"),
    ("validatingwebhookconfigurations", "validating-webhook-configurations"),
    ("mutatingwebhookconfigurations", "mutating-webhook-configurations"),
];
/// The resources that it lists, in every namespace.
const LISTED: [&str; 18] = [
    "pods",
    "poddisruptionbudgets",
    "services",
    "deployments",
    "replicasets",
    "statefulsets",
    "daemonsets",
    "jobs",
    "cronjobs",
    "networkpolicies",
    "resourcequotas",
    "limitranges",
    "events",
    "roles",
    "rolebindings",
    "endpoints",
    "endpointslices",
    "serviceaccounts",
];
/// And in none.
const OF_CLUSTER: [&str; 7] = [
    "nodes",
    "namespaces",
    "clusterroles",
    "clusterrolebindings",
    "customresourcedefinitions",
    "validatingwebhookconfigurations",
    "mutatingwebhookconfigurations",
];

/// The objects of a recording, by resource and namespace.
fn objects(recording: &Path) -> BTreeMap<String, BTreeMap<String, Vec<Value>>> {
    let mut all: BTreeMap<String, BTreeMap<String, Vec<Value>>> = BTreeMap::new();
    for object in recordings::json(&recording.join("cluster.json"))["items"].as_array().unwrap() {
        let kind = object["kind"].as_str().unwrap().to_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => kind,
            None => format!("{kind}s"),
        };
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        all.entry(plural).or_default().entry(namespace).or_default().push(object.clone());
    }
    all
}

fn list(items: &[Value]) -> Value {
    let kind = items.first().map_or("PodList".to_owned(), |one| format!("{}List", one["kind"].as_str().unwrap()));
    let version = items.first().map_or(json!("v1"), |one| one["apiVersion"].clone());
    json!({"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "1"}, "items": items})
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A support bundle of troubleshoot.
fn troubleshoot(recording: &Path, folder: &Path) {
    let all = objects(recording);
    let root = folder.join("support-bundle-2026-11-23/cluster-resources");
    let named = |resource: &str| -> String {
        let other = NAMES.iter().find(|(name, _)| *name == resource);
        other.map_or(resource, |(_, name)| name).to_owned()
    };
    let none = BTreeMap::new();
    let namespaces: Vec<&str> =
        all["namespaces"][""].iter().map(|one| one["metadata"]["name"].as_str().unwrap()).collect();
    for resource in LISTED {
        let held = all.get(resource).unwrap_or(&none);
        for namespace in &namespaces {
            let items = held.get(*namespace).cloned().unwrap_or_default();
            write(&root.join(named(resource)).join(format!("{namespace}.json")), &list(&items).to_string());
        }
    }
    for resource in OF_CLUSTER {
        let items = all.get(resource).and_then(|held| held.get("")).cloned().unwrap_or_default();
        write(&root.join(format!("{}.json", named(resource))), &list(&items).to_string());
        write(&root.join(format!("{}-errors.json", named(resource))), "null");
    }
    let version = recordings::json(&recording.join("version.json"));
    let version = json!({"info": version["serverVersion"], "string": "v1"});
    write(&folder.join("support-bundle-2026-11-23/cluster-info/cluster_version.json"), &version.to_string());
}

/// A sysdump of Cilium, unpacked.
fn sysdump(recording: &Path, folder: &Path) {
    let all = objects(recording);
    for resource in ["nodes", "namespaces", "pods", "services", "endpoints", "endpointslices", "events"] {
        let items: Vec<Value> = all.get(resource).into_iter().flat_map(BTreeMap::values).flatten().cloned().collect();
        // The tool prints typed lists: only the list has `kind` and `apiVersion`, and has them after its
        // items.
        let mut typed = list(&items);
        for item in typed["items"].as_array_mut().unwrap() {
            item.as_object_mut().unwrap().retain(|field, _| field != "kind" && field != "apiVersion");
        }
        let text = serde_yaml::to_string(&typed).unwrap();
        write(&folder.join(format!("cilium-sysdump-20261123/k8s-{resource}-20261123-101010.yaml")), &text);
    }
}

#[test]
fn a_sysdump_tells_the_version_and_the_cni_configuration_of_its_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("cilium-sysdump-20261123-101010");
    let pod = |name: &str, node: &str| json!({"metadata": {"namespace": "kube-system", "name": name}, "spec": {"nodeName": node}});
    let pods =
        json!({"kind": "PodList", "apiVersion": "v1", "items": [pod("cilium-7xk2p", "n1"), pod("cilium-b82qm", "n2")]});
    let node = |name: &str| json!({"metadata": {"name": name}});
    let nodes = json!({"kind": "NodeList", "apiVersion": "v1", "items": [node("n1"), node("n2")]});
    let conflist = json!({"cniVersion": "0.3.1", "name": "cilium", "plugins": [{"type": "cilium-cni"},
        {"type": "linkerd-cni", "policy": {"type": "k8s", "k8s_auth_token": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"}}]});
    write(&root.join("k8s-pods-20261123-101010.yaml"), &serde_yaml::to_string(&pods).unwrap());
    write(&root.join("k8s-nodes-20261123-101010.yaml"), &serde_yaml::to_string(&nodes).unwrap());
    write(&root.join("k8s-version-20261123-101010.txt"), "v1.31.5");
    for pod in ["cilium-7xk2p", "cilium-gone"] {
        let name = format!("cniconf-05-cilium.conflist-{pod}-20261123-101010.txt");
        write(&root.join(name), &conflist.to_string());
    }
    let path = folder.path().display().to_string();
    let kept = folder.path().join("kept/").display().to_string();
    let words = ["check", "--bundle", &path, "--linkerd-cli", "none", "-v", "-o", "json", "--save", &kept];
    let output = ran(meshdoctor(&words));
    let report: Value = output.document();
    assert_eq!(report["subject"]["versions"]["kubernetes"], "v1.31.5", "{}", report["subject"]);
    assert_eq!(report["coverage"]["snapshots"], 1, "{}", report["coverage"]["snapshots"]);
    let said = output.err;
    assert!(said.contains("cilium-gone") && said.contains("missing from the dump"), "{said}");
    let file = fs::read_to_string(folder.path().join("kept/nodes/n1/cni/net.d/05-cilium.conflist")).unwrap();
    assert!(file.contains("linkerd-cni") && !file.contains("eyJ"), "{file}");
    // The directory may contain more files, so neither a missing entry nor a pass is reported.
    let checks = report["checks"].as_array().unwrap().iter();
    let passed =
        checks.filter(|check| check["id"].as_str().unwrap().starts_with("cni-entry") && check["outcome"] == "pass");
    assert_eq!(passed.count(), 0);
}

/// The outcome of each check, and the fingerprints of the findings.
fn judged(path: &Path, more: &[&str]) -> (BTreeMap<String, String>, BTreeSet<String>) {
    let path = path.display().to_string();
    let words =
        [&["check", "--bundle", &path, "--linkerd-cli", "none", "--at", "2026-07-01T00:00:00Z", "-o", "json"], more]
            .concat();
    let report = ran(meshdoctor(&words)).document();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = report["checks"].as_array().unwrap().iter();
    let outcomes = checks.map(|check| (text(&check["id"]), text(&check["outcome"]))).collect();
    let findings = report["findings"].as_array().unwrap().iter();
    (outcomes, findings.map(|finding| format!("{} {}", finding["check"], finding["fingerprint"])).collect())
}

#[test]
fn nothing_is_said_of_a_collection_that_is_not_said_of_the_cluster() {
    let Some(all) = recordings::folder() else { return };
    for name in OF {
        let recording = all.join(name);
        let (whole, found) = judged(&recording, &["--complete", "all"]);
        for (tool, make) in [("troubleshoot", troubleshoot as fn(&Path, &Path)), ("sysdump", sysdump)] {
            let folder = tempfile::tempdir().unwrap();
            make(&recording, folder.path());
            let (outcomes, told) = judged(folder.path(), &[]);
            let passed = |of: &BTreeMap<String, String>| of.values().filter(|outcome| *outcome == "pass").count();
            for (id, outcome) in &outcomes {
                let honest = outcome != "pass" || whole[id] == "pass" || whole[id] == "not-applicable";
                assert!(honest, "{name}, {tool}: {id} passes, and of the whole recording it is {}", whole[id]);
            }
            let more: Vec<&String> = told.difference(&found).collect();
            assert!(more.is_empty(), "{name}, {tool}: {more:?}");
            let enough = if tool == "troubleshoot" { 60 } else { 20 };
            assert!(passed(&outcomes) >= enough, "{name}, {tool}: {} checks pass", passed(&outcomes));
        }
    }
}

#[test]
fn a_collection_of_some_namespaces_is_not_all() {
    let Some(all) = recordings::folder() else { return };
    let folder = tempfile::tempdir().unwrap();
    troubleshoot(&all.join("healthy-2.18"), folder.path());
    let outcome = |id: &str| judged(folder.path(), &[]).0[id].clone();
    assert_eq!(outcome("pod-missing-proxy"), "pass");
    let root = folder.path().join("support-bundle-2026-11-23/cluster-resources");
    // Something could not be listed.
    write(&root.join("pods-errors.json"), r#"{"shop": "pods is forbidden"}"#);
    assert_eq!(outcome("pod-missing-proxy"), "not-checked");
    fs::remove_file(root.join("pods-errors.json")).unwrap();
    assert_eq!(outcome("pod-missing-proxy"), "pass");
    // A namespace has no list.
    fs::remove_file(root.join("pods/default.json")).unwrap();
    assert_eq!(outcome("pod-missing-proxy"), "not-checked");
}

/// A zip archive, as `cilium sysdump` writes it.
#[test]
fn a_zip_archive_is_judged_as_the_folder_that_it_holds() {
    use std::io::Write as _;

    let Some(all) = recordings::folder() else { return };
    let folder = tempfile::tempdir().unwrap();
    sysdump(&all.join("inject-as-label"), &folder.path().join("open"));
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    for entry in walkdir::WalkDir::new(folder.path().join("open")).sort_by_file_name() {
        let entry = entry.unwrap();
        if !entry.file_type().is_file() {
            continue;
        }
        let name = entry.path().strip_prefix(folder.path().join("open")).unwrap().to_str().unwrap();
        let method = rawzip::CompressionMethod::DEFLATE;
        let (mut file, config) = archive.new_file(name).compression_method(method).start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut file, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(&fs::read(entry.path()).unwrap()).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        file.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    let zip = folder.path().join("cilium-sysdump-20261123.zip");
    fs::write(&zip, &bytes).unwrap();
    assert_eq!(judged(&zip, &[]), judged(&folder.path().join("open"), &[]));
    // Cut off on the way here.
    fs::write(&zip, &bytes[..bytes.len() - 40]).unwrap();
    let output = ran(meshdoctor(&["check", "--bundle", zip.to_str().unwrap()]));
    assert_eq!(output.status, 3, "{}", output.err);
}

/// A small healthy mesh as `oc adm inspect` writes it, with an issuer in cert-manager's format.
fn must_gather(folder: &Path, issuer: [&str; 2]) {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/checks/bases/healthy.yaml")).unwrap();
    let scheme = if issuer[0] == "tls.crt" { "kubernetes.io/tls" } else { "linkerd.io/tls" };
    let text = text.replace("linkerd.io/tls", scheme).replace("meshdoctor.io/key-matches", "example.com/unread");
    let documents = serde_yaml::Deserializer::from_str(&text);
    let objects = documents.map(|one| <Value as serde::Deserialize>::deserialize(one).unwrap());
    let objects: Vec<Value> = objects.filter(|object| object["kind"].is_string()).collect();
    let roots = objects.iter().find_map(|object| object["data"]["ca-bundle.crt"].as_str()).unwrap();
    let roots = STANDARD.encode(roots);
    let (mut secrets, mut others) = (Vec::new(), Vec::new());
    for mut object in objects {
        if object["kind"] != "Secret" {
            others.push(object);
            continue;
        }
        // An empty Secret is stored without `data`.
        let mut data = object["data"].as_object().cloned().unwrap_or_default();
        data.insert("tls.key".to_owned(), json!("a key"));
        data.insert("ca.crt".to_owned(), json!(roots));
        let elided = data.into_iter().map(|(name, value)| {
            let name = match name.as_str() {
                "tls.crt" | "crt.pem" if object["metadata"]["name"] == "linkerd-identity-issuer" => {
                    issuer[0].to_owned()
                }
                "tls.key" | "key.pem" if object["metadata"]["name"] == "linkerd-identity-issuer" => {
                    issuer[1].to_owned()
                }
                other => other.to_owned(),
            };
            let shown = ["tls.crt", "ca.crt", "service-ca.crt"].contains(&name.as_str());
            let length = value.as_str().unwrap().len();
            let value = if shown { value } else { json!(STANDARD.encode(format!("{length} bytes long"))) };
            (name, value)
        });
        object["data"] = Value::Object(elided.collect());
        secrets.push(object);
    }
    let root = folder.join("must-gather.local.1/registry-sha256-1");
    let list =
        |items: &[Value]| serde_yaml::to_string(&json!({"apiVersion": "v1", "kind": "List", "items": items})).unwrap();
    write(&root.join("namespaces/linkerd/core/secrets.yaml"), &list(&secrets));
    write(&root.join("cluster-scoped-resources/everything.yaml"), &list(&others));
}

#[test]
fn certificates_that_must_gather_shows_are_judged_and_keys_are_not() {
    let at = |folder: &Path, at: &str| {
        let path = folder.display().to_string();
        let words =
            ["check", "--bundle", &path, "--only", "certificates", "--complete", "all", "--at", at, "-o", "json"];
        let report = ran(meshdoctor(&words)).document();
        let checks = report["checks"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        checks.map(|check| (text(&check["id"]), text(&check["outcome"]))).collect::<BTreeMap<_, _>>()
    };
    let folder = tempfile::tempdir().unwrap();
    must_gather(folder.path(), ["tls.crt", "tls.key"]);
    let now = at(folder.path(), "2026-01-15T12:00:00Z");
    let later = at(folder.path(), "2060-01-15T12:00:00Z");
    for (id, was, is) in [
        ("issuer-expired", "pass", "findings"),
        ("webhook-certificate-expired", "pass", "findings"),
        // Its anchor has expired with it.
        ("issuer-not-trusted", "pass", "findings"),
        ("issuer-key-mismatch", "not-checked", "not-checked"),
        ("webhook-key-mismatch", "not-checked", "not-checked"),
    ] {
        assert_eq!((now[id].as_str(), later[id].as_str()), (was, is), "{id}");
    }
    assert!(now.values().all(|outcome| outcome != "findings"), "{now:?}");
    // As `linkerd install` creates it; only the length is visible.
    let folder = tempfile::tempdir().unwrap();
    must_gather(folder.path(), ["crt.pem", "key.pem"]);
    let now = at(folder.path(), "2026-01-15T12:00:00Z");
    let later = at(folder.path(), "2060-01-15T12:00:00Z");
    assert_eq!((now["issuer-expired"].as_str(), later["issuer-expired"].as_str()), ("not-checked", "not-checked"));
    assert_eq!(later["webhook-certificate-expired"], "findings");
    assert!(now.values().all(|outcome| outcome != "findings"), "{now:?}");
}
