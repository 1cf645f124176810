//! A canary in every leaf of whole clusters, through the real binary. Every case of the cards, every demo and
//! every node set becomes an untrusted bundle, in whose objects, node files, logs and manifest each text is
//! replaced by or joined with a secret. No part of a secret may be in any form of the report, on standard
//! error, or in a file of a saved bundle.
//!
//! Each run plants another shape in each leaf. By default, the smallest set of clusters runs that covers
//! every leaf of every file of demos, corpus and a part of the cases; `CANARY=all` runs every cluster. A
//! secret is planted whole: a sanitizer that looks at one text after the other cannot find one that is split
//! over two fields.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use meshdoctor::checks;
use meshdoctor::collect::collect_now;
use meshdoctor::demo::{DEMOS, DemoState};
use meshdoctor::save::{ClosingEntries, Writer};
use meshdoctor::scene::Scene;
use serde_json::Value;

use crate::binary::meshdoctor;
use crate::leaves::{Shape, WORD, plant, shapes};
use crate::{bundles, case, corpus};

/// Clusters of demos, corpus and every `of_cases`-th case; more cases would take longer to set up than to
/// run.
fn scenes(of_cases: usize) -> Vec<(String, Scene)> {
    let cases = checks::all().flat_map(|check| check.cases().iter().map(move |case| (check, case)));
    let cards = cases
        .step_by(of_cases)
        .map(|(check, case)| (format!("{} / {}", check.id, case.title), case::live(check, case).0));
    let states = [DemoState::Before, DemoState::After];
    let demos = DEMOS.iter().flat_map(|demo| {
        states.iter().map(move |state| (format!("{} {state:?}", demo.name), demo.scene(*state).unwrap()))
    });
    demos.chain(corpus::scenes()).chain(cards).collect()
}

/// The same secrets in their usual carriers: a URL, a pair, JSON in a text, base64, a long text.
fn carried() -> Vec<Shape> {
    let mut all = shapes();
    for at in 0..all.len() {
        // Each has its own word, so that a leak shows its origin.
        let own = format!("{WORD}{at:03}");
        let Shape { text, needles, .. } = &mut all[at];
        *text = text.replace(WORD, &own);
        needles.iter_mut().filter(|needle| *needle == WORD).for_each(|needle| needle.clone_from(&own));
        let (text, needles) = (text.clone(), needles.clone());
        // Detection by key needs the key at the start of a word.
        let flat = text.replace(['\n', ' '], "%20");
        let mut carry = |name, text| all.push(Shape { name, text, needles: needles.clone() });
        carry("in JSON", serde_json::json!({"note": "x", "password": text}).to_string());
        carry("in a query", format!("https://h.example.com/x?page=2&access_token={flat}"));
        carry("in a pair", format!("region=eu client_secret={flat} size=3"));
        carry("in a long text", format!("{} {text}", "the pod waits for its node ".repeat(40)));
        carry("base64", STANDARD.encode(format!("kind: Config\npassword: x\nnote: {text}\n")));
    }
    let inner: Vec<String> = all.iter().flat_map(|shape| shape.needles.clone()).collect();
    for shape in &mut all {
        // For an encoded secret the encoded form must be removed too.
        if shape.name == "base64" {
            shape.needles = vec![shape.text[16..40].to_owned()];
            shape.needles.extend(inner.iter().filter(|needle| shape.text.contains(*needle)).cloned());
        }
    }
    all
}

/// Whether a leaf determines the type of a file or object. Without it, the fields next to it are not read.
fn decides(file: &str, path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    let object = matches!(path, "kind" | "apiVersion")
        || path.ends_with("items[].kind")
        || path.ends_with("items[].apiVersion")
        || path.ends_with("metadata.name")
        || path.ends_with("metadata.namespace")
        || path.ends_with("[].name")
        || path.contains("abels")
        || path.contains("elector");
    let manifest = file == "manifest.json"
        && (matches!(last, "schema" | "item" | "folder" | "node" | "outcome" | "files[]" | "controlPlane" | "cni")
            || path == "items[].namespace");
    object || manifest || last == "schema" || file.ends_with("meta.json") && last == "node"
}

/// Whether a leaf keeps its text before the secret, so that checks find what they need and quote the rest.
fn is_told(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default();
    let told =
        ["message", "note", "reason", "value", "image", "*", "path", "args[]", "command[]", "values", "text", "error"];
    told.contains(&last) || path.contains("data.")
}

/// Which leaves of a cluster are planted, and how.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    /// Leaves that a report quotes, after their text.
    Told,
    /// All except times, quantities and addresses, replacing their text, and not the manifest: the planted
    /// text is read.
    All,
    /// All, replacing their text: the planted text is refused, with an error that quotes it.
    Broken,
}

struct Planter<'a> {
    shapes: &'a [Shape],
    next: usize,
    depth: Depth,
    /// Leaves that were planted in any run.
    seen: &'a mut BTreeSet<(String, String)>,
}

impl Planter<'_> {
    fn shape(&mut self) -> String {
        // Prime to the number of shapes, so that neighbours differ and each meets each in the end.
        self.next += 37;
        self.shapes[self.next % self.shapes.len()].text.clone()
    }

    fn json(&mut self, file: &str, value: &mut Value) {
        let mut leaves: Vec<(String, bool)> = Vec::new();
        plant(&mut value.clone(), "", &mut |path, text| {
            leaves.push((path.to_owned(), text.starts_with(|first: char| first.is_ascii_digit())));
        });
        let texts: Vec<Option<String>> = leaves
            .iter()
            .map(|(path, strict)| {
                let skip = decides(file, path)
                    || match self.depth {
                        Depth::Told => !is_told(path),
                        Depth::All => *strict || file == "manifest.json",
                        Depth::Broken => false,
                    };
                (!skip).then(|| {
                    self.seen.insert((class(file), path.clone()));
                    self.shape()
                })
            })
            .collect();
        let mut texts = texts.into_iter();
        let depth = self.depth;
        plant(value, "", &mut |_, text| {
            if let Some(Some(secret)) = texts.next() {
                *text = if depth == Depth::Told { format!("{text} {secret}") } else { secret };
            }
        });
    }

    /// Every file below a folder.
    fn folder(&mut self, folder: &Path) {
        for path in files(folder) {
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let bytes = fs::read(&path).unwrap();
            let planted = match serde_json::from_slice::<Value>(&bytes) {
                Ok(mut value) => {
                    self.json(&name, &mut value);
                    value.to_string()
                }
                Err(_) => {
                    self.seen.insert((class(&name), "text".to_owned()));
                    let secret = self.shape();
                    format!("{}cni linkerd {secret}\n", String::from_utf8_lossy(&bytes))
                }
            };
            fs::write(&path, planted).unwrap();
        }
    }
}

/// The leaves of a cluster, and the files of its nodes.
fn leaves_of(scene: &Scene) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let memory = &scene.memory;
    for (kind, held) in &memory.objects {
        for object in held {
            let Ok(mut value) = serde_json::from_slice::<Value>(&object.json) else { continue };
            plant(&mut value, "", &mut |path, _| {
                found.insert((kind.info().kind.to_owned(), path.to_owned()));
            });
        }
    }
    for (path, bytes) in memory.nodes.iter().flat_map(|node| &node.files) {
        let file = class(&format!("nodes/n/{path}"));
        match serde_json::from_slice::<Value>(bytes) {
            Ok(mut value) => plant(&mut value, "", &mut |path, _| {
                found.insert((file.clone(), path.to_owned()));
            }),
            Err(_) => _ = found.insert((file, "text".to_owned())),
        }
    }
    for (what, there) in [
        ("logs", !memory.logs.is_empty()),
        ("diagnostics", !memory.diagnostics.is_empty()),
        ("probes", !memory.probes.is_empty()),
        ("served", !memory.served.is_empty()),
        ("trouble", !memory.trouble.is_empty()),
    ] {
        if there {
            found.insert((what.to_owned(), String::new()));
        }
    }
    found
}

/// A small set of clusters that covers every leaf: repeatedly the one with the most uncovered leaves.
fn covering(all: Vec<(String, Scene)>) -> Vec<(String, Scene)> {
    let mut left: Vec<_> = all.into_iter().map(|one| (leaves_of(&one.1), one)).collect();
    let mut chosen = Vec::new();
    while let Some(most) = (0..left.len()).max_by_key(|at| (left[*at].0.len(), std::cmp::Reverse(*at))) {
        let (leaves, one) = left.swap_remove(most);
        chosen.push(one);
        left.iter_mut().for_each(|(other, _)| other.retain(|leaf| !leaves.contains(leaf)));
        left.retain(|(other, _)| !other.is_empty());
    }
    chosen
}

/// The class of a file, independent of the cluster.
fn class(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    match parts.as_slice() {
        ["nodes", _, rest @ .., last] => {
            let last = if rest.contains(&"net.d") { last.rsplit('.').next().unwrap_or(last) } else { last };
            format!("nodes/{}/{last}", rest.join("/"))
        }
        ["cluster", group, version, plural, ..] => format!("{group}/{version}/{plural}"),
        [first, second, ..] => format!("{first}/{second}"),
        _ => file.to_owned(),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    all.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Everything that a run outputs: printed text, and every written file, unpacked.
fn left(folder: &Path) -> BTreeMap<String, String> {
    let mut left = BTreeMap::new();
    for path in files(folder) {
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        let bytes = fs::read(&path).unwrap();
        if name.ends_with(".tar.gz") {
            let mut archive = tar::Archive::new(flate2::read::MultiGzDecoder::new(bytes.as_slice()));
            for entry in archive.entries().unwrap() {
                let mut entry = entry.unwrap();
                let inner = format!("{name}: {}", entry.path().unwrap().display());
                let mut text = Vec::new();
                entry.read_to_end(&mut text).unwrap();
                left.insert(inner, String::from_utf8_lossy(&text).into_owned());
            }
        } else {
            left.insert(name, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    left
}

/// Checks a planted cluster in every form, and collects it again.
fn run(bundle: &str, at: usize, whole: bool) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str| folder.path().join(name).display().to_string();
    let saved = there(if at.is_multiple_of(2) { "saved.tar.gz" } else { "saved/" });
    let mut args = vec!["check", "--bundle", bundle, "-v=2", "--coverage", "-o", "table", "--save", &saved];
    let forms: Vec<String> = ["short", "json", "yaml", "linkerd", "linkerd-table"]
        .iter()
        .map(|form| format!("{form}={}", there(form)))
        .collect();
    forms.iter().for_each(|form| args.extend(["-o", form]));
    let output = meshdoctor(&args).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1 | 3 | 4)), "{args:?}: {output:?}");
    let mut all = left(folder.path());
    assert!(output.status.code() == Some(3) || all.len() > 5, "{:?}", all.keys());
    if !whole || !at.is_multiple_of(8) {
        all.insert("standard output".to_owned(), String::from_utf8_lossy(&output.stdout).into_owned());
        all.insert("standard error".to_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
        return all;
    }
    let extension =
        meshdoctor(&["check", "--bundle", bundle, "-o", "json"]).arg0("linkerd-meshdoctor").output().unwrap();
    for (name, bytes) in [
        ("standard output", output.stdout),
        ("standard error", output.stderr),
        ("standard output of the extension", extension.stdout),
        ("standard error of the extension", extension.stderr),
    ] {
        all.insert(name.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
    }
    all
}

/// The objects of a bundle as `kubectl get -o json` prints them.
fn dump(planted: &Path) -> Option<Value> {
    if !planted.join("cluster").is_dir() {
        return None;
    }
    let items: Vec<Value> = files(&planted.join("cluster"))
        .iter()
        .filter_map(|path| serde_json::from_slice::<Value>(&fs::read(path).unwrap()).ok())
        .flat_map(|list| match list {
            Value::Object(mut list) if list.contains_key("items") => {
                list.remove("items").and_then(|items| items.as_array().cloned()).unwrap_or_default()
            }
            one => vec![one],
        })
        .collect();
    (!items.is_empty()).then(|| serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items}))
}

/// The output and files of a command that takes one output path.
fn written(args: &[&str]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let to = format!("{}/out.tar.gz", folder.path().display());
    let output = meshdoctor(&[args, &["-o", &to]].concat()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3 | 4)), "{args:?}: {output:?}");
    let mut all = left(folder.path());
    assert!(!all.is_empty(), "{args:?}: {output:?}");
    all.insert("standard output".to_owned(), String::from_utf8_lossy(&output.stdout).into_owned());
    all.insert("standard error".to_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    all.into_iter().map(|(name, text)| (format!("{}: {name}", args[0]), text)).collect()
}

/// The leaks: for each remaining shape the first place, and the text before it.
#[derive(Default)]
struct Leaks(BTreeMap<String, String>);

impl Leaks {
    fn search(&mut self, shapes: &[Shape], name: &str, all: BTreeMap<String, String>) {
        for (file, text) in all {
            for shape in shapes {
                for needle in shape.needles.iter().filter(|needle| text.contains(needle.as_str())) {
                    let place = text.find(needle.as_str()).unwrap();
                    let mut start = place.saturating_sub(160);
                    while !text.is_char_boundary(start) {
                        start -= 1;
                    }
                    let place = format!("{name}: {file}: …{}{needle}", &text[start..place]);
                    self.0.entry(format!("{} {needle}", shape.name)).or_insert_with(|| {
                        println!("{}: {place}", shape.name);
                        place
                    });
                }
            }
        }
    }

    fn judge(self) {
        let told: Vec<String> = self.0.iter().map(|(what, place)| format!("{what}\n    {place}\n")).collect();
        assert!(told.is_empty(), "{} leaks\n{}", told.len(), told.concat());
    }
}

#[test]
fn no_output_and_no_file_holds_a_canary_of_any_leaf() {
    let all = std::env::var("CANARY").is_ok_and(|what| what == "all");
    let shapes = carried();
    let mut seen = BTreeSet::new();
    let mut leaks = Leaks::default();
    let clusters = if all { scenes(1) } else { covering(scenes(12)) };
    println!("{} clusters", clusters.len());
    for (at, (name, scene)) in clusters.into_iter().enumerate() {
        for (depth, every) in [(Depth::All, 1), (Depth::Told, 2), (Depth::Broken, 6)] {
            if !all && at % every != 0 {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let planted = folder.path().join("planted");
            let writer = Writer::create(&folder.path().join("planted/")).unwrap();
            let whole = collect_now(&scene.memory, &bundles::everything(), &scene.options, Some(&writer));
            writer.finish(ClosingEntries::new(&whole, Some("prod".to_owned()), None)).unwrap();
            Planter { shapes: &shapes, next: at * 101, depth, seen: &mut seen }.folder(&planted);
            let bundle = format!("{}/", planted.display());
            leaks.search(&shapes, &name, run(&bundle, at, true));
            if at % 8 == 0 && depth != Depth::Broken {
                leaks.search(&shapes, &name, written(&["collect", "--bundle", &bundle]));
            }
            if at % 8 == 0
                && depth == Depth::All
                && let Some(dump) = dump(&planted)
            {
                let path = folder.path().join("dump.json");
                fs::write(&path, dump.to_string()).unwrap();
                let printed = run(&path.display().to_string(), at, false);
                leaks.search(&shapes, &format!("{name} as a dump"), printed);
            }
        }
    }
    println!("{} leaves", seen.len());
    leaks.judge();
    assert!(seen.len() > 300, "{} leaves", seen.len());
}

/// The files of a node as its collector reads them, with every shape in each.
#[test]
#[cfg(target_os = "linux")]
fn no_snapshot_of_a_node_holds_a_canary() {
    let shapes = carried();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let write = |path: &str, text: String| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n".to_owned());
    let mut syslog = String::new();
    for (at, Shape { text, .. }) in shapes.iter().enumerate() {
        let json = Value::from(text.as_str());
        let list = serde_json::json!({"cniVersion": "0.4.0", "name": text, "plugins": [
            {"type": "x", "key": text, "odd": [text], "policy": {"k8s_auth_token": text}},
            {"type": "linkerd-cni", "linkerd": {"log-level": text, "iptables-mode": text}, "kubernetes": {"kubeconfig": text}}]});
        write(&format!("etc/cni/net.d/{at:03}-a.conflist"), list.to_string());
        write(
            &format!("etc/cni/net.d/{at:03}-b.conflist"),
            format!("{{\"plugins\": [{{\"type\": \"linkerd-cni\", \"psk\": {json}"),
        );
        write(
            &format!("etc/cni/net.d/{at:03}-kubeconfig"),
            format!(
                "apiVersion: v1\nkind: Config\nclusters: [{{name: local, cluster: {{server: {json}}}}}]\nusers: [{{name: linkerd-cni, user: {{token: {json}, password: {json}}}}}]\n"
            ),
        );
        // A log message is one line with escaped line ends. Two messages of a program are two texts.
        let line = text.replace('\n', "\\n");
        syslog += &format!("Jan 15 12:00:00 n containerd[1]: cni linkerd said {line}\n");
    }
    write("var/log/syslog", syslog);
    let mut leaks = Leaks::default();
    let root = root.display().to_string();
    let all = written(&["node-snapshot", "--root", &root, "--node", "n1"]);
    assert!(all.values().map(String::len).sum::<usize>() > 10_000, "{:?}", all.keys());
    leaks.search(&shapes, "node", all);
    leaks.judge();
}
