//! A large cluster for measurements: 500 nodes with their snapshots and 5,000 meshed pods, all healthy except
//! for a few nodes. It is only written, not evaluated: timings of a debug build are meaningless.

use std::fs;
use std::path::Path;

use meshdoctor::item::Kind;
use serde_json::{Value, json};

const NODES: usize = 500;
const PODS: usize = 10;

/// Interval of nodes whose entry has the token of a deleted pod.
const DEAD: usize = 50;

fn put(folder: &Path, name: &str, bytes: &[u8]) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The same thing on another node: names, uids and places follow the number.
fn moved(text: &str, from: &str, at: usize) -> String {
    text.replace(from, &format!("ip-10-9-{}-{}", at / 250, at % 250))
        .replace("linkerd-cni-7xk2p", &format!("linkerd-cni-{at:05}"))
        .replace("p-cni-1", &format!("p-cni-{at}-n"))
}

#[test]
#[ignore = "writes 500 nodes and 5,000 pods into the folder that CORPUS_LARGE names, to be judged by hand"]
fn a_large_cluster_to_measure_with() {
    let folder = std::env::var("CORPUS_LARGE").expect("CORPUS_LARGE names a folder");
    let folder = Path::new(&folder);
    let set = super::read("eks-al2023-healthy");
    let from = "ip-10-8-1-20";
    let files = &set.scene.memory.nodes.iter().find(|files| files.node == from).unwrap().files;
    let mut items: Vec<Value> = Vec::new();
    for held in set.scene.memory.objects.values().flatten() {
        let object: Value = serde_json::from_slice(&held.json).unwrap();
        let of_a_node = ["Node", "Pod"].iter().any(|kind| object["kind"] == *kind);
        if !of_a_node || object["metadata"]["namespace"] == "linkerd" {
            items.push(serde_json::from_str(&moved(&object.to_string(), from, 0)).unwrap());
        }
    }
    let find = |kind: Kind, name: &str| {
        let held = &set.scene.memory.objects[&kind];
        let held = held.iter().find(|held| held.name.starts_with(name)).unwrap();
        String::from_utf8(held.json.clone()).unwrap()
    };
    let (node, installer, pod) =
        (find(Kind::Node, from), find(Kind::Pod, "linkerd-cni-7xk2p"), find(Kind::Pod, "authors-"));
    for at in 0..NODES {
        let add = |text: &str| serde_json::from_str::<Value>(&moved(text, from, at)).unwrap();
        items.push(add(&node));
        items.push(add(&installer));
        for number in 0..PODS - 1 {
            let suffix = format!("{at:03}{number}");
            items.push(add(&pod.replace("-6tnzc", &format!("-{suffix}")).replace("p-authors", &format!("p-{suffix}"))));
        }
        let name = moved(from, from, at);
        for (path, bytes) in files {
            let mut text = moved(std::str::from_utf8(bytes).unwrap(), from, at);
            if at % DEAD == DEAD - 1 && path == "cni/kubeconfig.facts.json" {
                text = text.replace(&format!("p-cni-{at}-n"), "p-cni-of-yesterday");
            }
            put(folder, &format!("nodes/{name}/{path}"), text.as_bytes());
        }
    }
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
    put(folder, "cluster.json", list.to_string().as_bytes());
    assert_eq!(fs::read_dir(folder.join("nodes")).unwrap().count(), NODES);
}
