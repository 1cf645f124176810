//! Completes the snapshots of the corpus: writes the files that a collector adds to those of a set. Files
//! that a set defines are kept.

use std::collections::{BTreeMap, BTreeSet};

use meshdoctor::item::Kind;
use meshdoctor::node_files::NodeFiles;
use meshdoctor::source::memory::Memory;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::host::Host;

/// Time of snapshots, five minutes before the evaluation time of scenes.
const TAKEN: &str = "2026-01-15T11:55:00Z";
/// Time of the installer's last write.
const WRITTEN: &str = "2026-01-12T07:50:08Z";
/// When the token was last renewed: 2026-01-15T11:30:00Z, seconds.
const ISSUED: i64 = 1_768_476_600;

/// Adds the missing files to a node's snapshot.
pub fn complete(memory: &mut Memory, node: &str, host: &Host) {
    let installer = installer(memory, node);
    let [net_dir, bin_dir] = ["dest_cni_net_dir", "dest_cni_bin_dir"].map(|key| setting(memory, key));
    let at = memory.nodes.iter().position(|files| files.node == node).unwrap_or_else(|| {
        memory.nodes.push(NodeFiles { node: node.to_owned(), files: BTreeMap::new() });
        memory.nodes.len() - 1
    });
    let files = &mut memory.nodes[at].files;
    let mut add = |path: &str, text: String| {
        files.entry(path.to_owned()).or_insert_with(|| text.into_bytes());
    };
    let meta = json!({
        "schema": "node-snapshot/1", "node": node, "collectedAt": TAKEN, "collector": "meshdoctor 0.1.0", "hostRoot": "/host",
    });
    add("meta.json", meta.to_string());
    for (path, text) in host.files() {
        add(path, text);
    }
    add("cni/dirs.json", dirs().to_string());
    let dirs: Value = serde_json::from_slice(&files["cni/dirs.json"]).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let facts = installer.as_ref().map(|pod| json!([facts(pod, node, &net_dir)]));
    let mut add = |path: &str, value: Value| {
        files.entry(path.to_owned()).or_insert_with(|| value.to_string().into_bytes());
    };
    add("cni/kubeconfig.facts.json", facts.unwrap_or_else(|| json!([])));
    let plugin = installer.as_ref().map(|pod| (bin_dir.as_str(), version(pod)));
    let bins = bins(files, &text(&dirs["binDirs"][0]), plugin);
    files.entry("cni/bin.json".to_owned()).or_insert_with(|| bins.to_string().into_bytes());
    let index = index(files, &text(&dirs["confDir"]));
    files.entry("cni/index.json".to_owned()).or_insert_with(|| index.to_string().into_bytes());
}

fn dirs() -> Value {
    json!({
        "confDir": "/etc/cni/net.d", "binDirs": ["/opt/cni/bin"], "source": "crictl", "maxConfNum": 1,
        "dirs": [{"path": "/etc/cni/net.d", "exists": true}, {"path": "/etc/cni/multus/net.d", "exists": false}],
    })
}

/// A setting of the installer from the chart's ConfigMap, or the chart's default if it is not installed.
fn setting(memory: &Memory, key: &str) -> String {
    let maps = memory.objects.get(&Kind::ConfigMap).into_iter().flatten();
    let set = maps
        .filter(|held| held.name == "linkerd-cni-config")
        .find_map(|held| serde_json::from_slice::<Value>(&held.json).unwrap()["data"][key].as_str().map(str::to_owned));
    let default = if key == "dest_cni_net_dir" { "/etc/cni/net.d" } else { "/opt/cni/bin" };
    set.unwrap_or_else(|| default.to_owned())
}

/// The installer's pod on a node.
fn installer(memory: &Memory, node: &str) -> Option<Value> {
    let pods = memory.objects.get(&Kind::Pod).into_iter().flatten();
    pods.map(|held| serde_json::from_slice::<Value>(&held.json).unwrap())
        .find(|pod| pod["metadata"]["labels"]["k8s-app"] == "linkerd-cni" && pod["spec"]["nodeName"] == node)
}

/// The plugin's version, by the tag of the installer's image.
fn version(pod: &Value) -> Option<semver::Version> {
    let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
    image.rsplit_once(":v").and_then(|(_, tag)| tag.parse().ok())
}

/// The kubeconfig of the installer: a fresh token of its own pod.
fn facts(pod: &Value, node: &str, dir: &str) -> Value {
    let bare = version(pod).is_some_and(|version| version >= semver::Version::new(1, 6, 5));
    let host = if bare { "10.96.0.1" } else { "[10.96.0.1]" };
    json!({
        "path": format!("{dir}/ZZZ-linkerd-cni-kubeconfig"), "mode": "0600", "size": 2763, "mtime": "2026-01-15T11:30:02Z",
        "parseError": null, "server": format!("https://{host}:443"), "currentContext": "linkerd-cni-context",
        "contexts": ["linkerd-cni-context"], "users": ["linkerd-cni"], "insecure": false,
        "caSha256": "6b1f0c2de57a4a14a1f3c1a7b9f1f50e2b61c6b98a9d1d3be0f1c86f3c1e7a55",
        "tokenClaims": {
            "iss": "https://kubernetes.default.svc.cluster.local", "aud": ["https://kubernetes.default.svc.cluster.local"],
            "sub": "system:serviceaccount:linkerd-cni:linkerd-cni", "iat": ISSUED, "nbf": ISSUED,
            "exp": ISSUED + 31_536_000, "warnafter": ISSUED + 3607, "nodeName": node,
            "podName": pod["metadata"]["name"], "podUid": pod["metadata"]["uid"], "saUid": "sa-linkerd-cni",
        },
        "tokenSha256Prefix": "5f0c2b7a91de",
    })
}

/// The plugin directory: the plugins that the configurations call, the usual ones, and linkerd-cni in the
/// chart's directory.
fn bins(files: &BTreeMap<String, Vec<u8>>, dir: &str, plugin: Option<(&str, Option<semver::Version>)>) -> Value {
    let mut names: BTreeSet<String> = ["loopback", "host-local", "portmap", "bandwidth"].map(str::to_owned).into();
    for (_, bytes) in configurations(files) {
        types(&serde_json::from_slice(bytes).unwrap_or_default(), &mut names);
    }
    names.remove("linkerd-cni");
    let row = |dir: &str, name: &str| json!({"dir": dir, "name": name, "size": 9_437_184, "mode": "0755", "mtime": "2026-01-02T08:00:00Z"});
    let mut rows: Vec<Value> = names.iter().map(|name| row(dir, name)).collect();
    rows.extend(plugin.iter().map(|(dir, _)| row(dir, "linkerd-cni")));
    let answer = plugin.map(|(_, version)| {
        let mut spoken = vec!["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"];
        if version.is_none_or(|version| version >= semver::Version::new(1, 5, 1)) {
            spoken.push("1.1.0");
        }
        json!({"cniVersion": spoken.last(), "supportedVersions": spoken})
    });
    json!({"entries": rows, "linkerdCniVersion": answer})
}

fn types(config: &Value, names: &mut BTreeSet<String>) {
    if let Some(name) = config["type"].as_str() {
        names.insert(name.to_owned());
    }
    for list in ["plugins", "delegates"] {
        config[list].as_array().into_iter().flatten().for_each(|inner| types(inner, names));
    }
    if config["ipam"]["type"].is_string() {
        types(&config["ipam"], names);
    }
}

fn configurations(files: &BTreeMap<String, Vec<u8>>) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    files.iter().filter(|(path, _)| path.starts_with("cni/net.d/") || path.starts_with("cni/other/"))
}

/// The listing: every copied file, and every kubeconfig with recorded facts.
fn index(files: &BTreeMap<String, Vec<u8>>, conf_dir: &str) -> Value {
    let row = |dir: &str, name: &str, mode: &str, mtime: &str, bytes: &[u8]| {
        let sha256: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        json!({
            "dir": dir, "name": name, "type": "file", "size": bytes.len(), "mode": mode, "uid": 0, "gid": 0, "mtime": mtime,
            "sha256": sha256,
        })
    };
    let mut rows: Vec<Value> = configurations(files)
        .map(|(path, bytes)| {
            let (dir, name) = match path.strip_prefix("cni/other/") {
                Some(other) => other.split_once('/').unwrap(),
                None => (conf_dir, path.strip_prefix("cni/net.d/").unwrap()),
            };
            row(&dir.replace("%2F", "/"), name, "0644", WRITTEN, bytes)
        })
        .collect();
    let facts: Vec<Value> = serde_json::from_slice(&files["cni/kubeconfig.facts.json"]).unwrap();
    for fact in facts {
        let (dir, name) = fact["path"].as_str().unwrap().rsplit_once('/').unwrap();
        rows.push(row(dir, name, fact["mode"].as_str().unwrap_or("0600"), "2026-01-15T11:30:02Z", b"kubeconfig"));
    }
    Value::Array(rows)
}
