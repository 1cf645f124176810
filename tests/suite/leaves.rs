//! A secret of every shape in every leaf of every object and node file of every case: the sanitizer removes
//! all of them. `planted` tests whole clusters, in reports and bundles.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use meshdoctor::checks;
use meshdoctor::item::{Item, Kind};
use meshdoctor::model::node::{Defaults, normalise};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::redact::{self, Rule, Sanitized};
use serde_json::Value;

use crate::case;

/// The redaction rule for objects of a kind: a Kubernetes kind or another kind of evidence.
pub fn rule_of(kind: &str) -> &'static Rule {
    let answers =
        ["access/get/pods", "probe/prometheus", "served/sp-validator", "server-version", "logs", "diagnostics"];
    let answers = answers.iter().map(|text| text.parse().unwrap());
    let mut all = Kind::ALL.iter().map(|kind| Item::List(*kind)).chain(answers);
    all.find(|item| item.answers() == kind).map_or_else(redact::unknown, |item| item.rule())
}

/// A secret that only the name before it reveals.
pub const WORD: &str = "hunter2-canary";
/// A secret that looks random.
const RANDOM: &str = "Zx9Qm2Vb7Lk4Tn8Rw3Yp6Hs1Dq5Jf0";
/// A text with a secret, and the parts that must not remain.
pub struct Shape {
    pub name: &'static str,
    pub text: String,
    pub needles: Vec<String>,
}

fn shape(name: &'static str, text: String, needles: &[&str]) -> Shape {
    Shape { name, text, needles: needles.iter().map(|needle| (*needle).to_owned()).collect() }
}

fn wrapped(text: &str) -> String {
    text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// All shapes of secrets: encodings of keys, announced values, known prefixes.
pub fn shapes() -> Vec<Shape> {
    let key: Vec<u8> = (0..160_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let der = STANDARD.encode([&[0x30, 0x81, 0x9d, 0x02, 0x01, 0x00][..], &key].concat());
    let lines = wrapped(&der);
    let tail = lines.lines().last().unwrap().to_owned();
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let (head, spaced) = (part("{\"alg\":\"RS256\"}"), part("{ \"alg\" : \"none\" }"));
    let kubeconfig = STANDARD.encode(format!("apiVersion: v1\nkind: Config\nusers:\n- user:\n    token: {WORD}\n"));
    let twice = STANDARD.encode(STANDARD.encode(format!("password={WORD} and more of it")));
    let pem =
        |dashes: &str, label: &str| format!("{dashes}BEGIN {label}{dashes}\n{lines}\n{dashes}END {label}{dashes}\n");
    let own = |name, text: String| shape(name, text, &[WORD]);
    let all = [&der[4..24], &der[70..90], &tail[..tail.len().min(12)]];
    vec![
        shape("jwt", format!("{head}.{}.{RANDOM}", part("{}")), &[RANDOM]),
        shape("jwt with blanks", format!("{spaced}.{}.{WORD}", part("{ }")), &[WORD]),
        shape("jwt in a URL", format!("{head}%2E{}%2E{WORD}", part("{}")), &[WORD]),
        shape("jwt over lines", format!("{head}.{}\n.{RANDOM}", part("{\"sub\":\"abcdefghij\"}")), &[RANDOM]),
        shape("pem", pem("-----", "PRIVATE KEY"), &all),
        shape("pem in small letters", pem("-----", "private key").to_lowercase(), &[&der.to_lowercase()[4..24]]),
        shape("pem with four dashes", pem("----", "RSA PRIVATE KEY"), &all),
        shape("pem called a certificate", pem("-----", "CERTIFICATE").replacen('M', "Q", 1), &[&der[4..24]]),
        shape("base64 of a key", der.clone(), &all[..2]),
        shape("base64 in lines", lines.clone(), &all),
        shape("base64 at an odd offset", format!("x{der}"), &all[..2]),
        shape("base64 twice", twice.clone(), &[&twice[4..24]]),
        shape("base64 of a kubeconfig", kubeconfig.clone(), &[&kubeconfig[8..32]]),
        own("userinfo", format!("https://user:{WORD}@proxy.example.com/x")),
        own("userinfo with a slash", format!("https://user:a/{WORD}#b,c@proxy.example.com/x")),
        own("header", format!("X-Api-Key: {WORD}")),
        own("token", format!("token: {WORD}")),
        own("password", format!("login with password: {WORD} failed")),
        own("option", format!("--password {WORD}")),
        own("assignment", format!("PASSWORD={WORD}")),
        own("quoted over lines", format!("password=\"first\nsecond {WORD}\"")),
        own("bearer", format!("Authorization: Bearer {WORD}")),
        own("signature", format!("https://x.blob.core.windows.net/c?sv=1&sig={WORD}&se=2")),
        own("account", format!("AccountName=x;AccountKey={WORD};End=1")),
        own("block scalar", format!("token: |\n  {WORD}\n").replace("|\n  ", "")),
        shape("aws", format!("key AKIA{}", "IOSFODNN7EXAMPLE"), &["IOSFODNN7"]),
        shape("github", "ghp_abcdefCanary0123456789".to_owned(), &["Canary01234"]),
        // In lower case, it would be a valid name.
        shape("slack", "xoxb-1234-Canaryword".to_owned(), &["Canaryword"]),
        shape("google", "AIzaSyCanary-0123".to_owned(), &["SyCanary"]),
    ]
}

/// Puts a text in place of every text below, and calls each by its path (`spec.containers[].image`).
pub fn plant(value: &mut Value, path: &str, put: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                // The keys of label, annotation and selector maps and of `data` are user-defined names.
                let named = path.ends_with("abels")
                    || path.ends_with("nnotations")
                    || path.ends_with("elector")
                    || path == "data";
                let key = if named { "*" } else { key };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                plant(value, &path, put);
            }
        }
        Value::Array(items) => {
            let path = format!("{path}[]");
            items.iter_mut().for_each(|item| plant(item, &path, put));
        }
        Value::String(text) => put(path, text),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// One object of each kind for each set of leaves that occurs in the cases.
pub fn objects() -> &'static BTreeMap<&'static str, Vec<Value>> {
    static OBJECTS: std::sync::OnceLock<BTreeMap<&'static str, Vec<Value>>> = std::sync::OnceLock::new();
    OBJECTS.get_or_init(gathered)
}

fn gathered() -> BTreeMap<&'static str, Vec<Value>> {
    let mut seen: BTreeSet<(&str, String)> = BTreeSet::new();
    let mut kept: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for check in checks::all() {
        for case in check.cases() {
            for (kind, held) in case::live(check, case).0.memory.objects {
                for object in held {
                    let Ok(mut value) = serde_json::from_slice::<Value>(&object.json) else { continue };
                    let kind = kind.info().kind;
                    let whole = value.clone();
                    let mut new = false;
                    plant(&mut value, "", &mut |path, _| new |= seen.insert((kind, path.to_owned())));
                    if new {
                        kept.entry(kind).or_default().push(whole);
                    }
                }
            }
        }
    }
    kept
}

#[test]
fn no_shape_of_a_secret_passes_through_any_leaf() {
    let (objects, shapes) = (objects(), shapes());
    assert!(objects.len() > 20, "{:?}", objects.keys());
    for (kind, objects) in objects {
        for object in objects {
            for shape in &shapes {
                let mut planted = object.clone();
                plant(&mut planted, "", &mut |path, text| {
                    // Fields that identify the object select its redaction rule, and are tested as names
                    // below.
                    let names = ["kind", "metadata.name", "metadata.namespace"].contains(&path);
                    if !names && !path.ends_with("[].name") {
                        text.clone_from(&shape.text);
                    }
                });
                let json = planted.to_string();
                redact::object(kind, rule_of(kind), &mut planted);
                let passed = Sanitized::read(kind, rule_of(kind), json.as_bytes(), None, false).unwrap();
                assert_eq!(passed.object.value().unwrap(), planted, "{kind}: {}, read at once", shape.name);
                let left = planted.to_string();
                for needle in &shape.needles {
                    assert!(!left.contains(needle.as_str()), "{kind}: {} leaves {needle}: {left}", shape.name);
                }
            }
        }
    }
}

#[test]
fn names_hold_no_secret_either() {
    for shape in shapes() {
        let mut pod = serde_json::json!({"kind": "Pod",
            "metadata": {"name": shape.text, "namespace": shape.text, "labels": {"x": shape.text, &shape.text: "y"},
                "annotations": {&shape.text: "y", "linkerd.io/inject": shape.text}},
            "spec": {"containers": [{"name": shape.text, "env": [{"name": shape.text, "value": shape.text}]}]}});
        redact::object("Pod", rule_of("Pod"), &mut pod);
        for needle in &shape.needles {
            assert!(!pod.to_string().contains(needle.as_str()), "{}: {pod}", shape.name);
        }
    }
}

#[test]
fn no_file_of_a_node_holds_a_secret() {
    let secrets = shapes();
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    for check in checks::all() {
        for case in check.cases() {
            for node in case::live(check, case).0.memory.nodes {
                for (path, bytes) in &node.files {
                    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { continue };
                    let mut new = false;
                    plant(&mut value.clone(), "", &mut |leaf, _| new |= seen.insert((path.clone(), leaf.to_owned())));
                    if !new {
                        continue;
                    }
                    for shape in &secrets {
                        let mut planted = value.clone();
                        plant(&mut planted, "", &mut |_, text| text.clone_from(&shape.text));
                        let files = [(path.clone(), planted.to_string().into_bytes())].into();
                        clean_node(&NodeFiles { node: "n1".to_owned(), files }, shape, path);
                    }
                }
            }
        }
    }
    assert!(seen.len() > 50, "{} leaves", seen.len());
    // Plain text, whatever the type of the file.
    for shape in &secrets {
        let of = |path: &str, text: String| NodeFiles {
            node: "n1".to_owned(),
            files: [(path.to_owned(), text.into_bytes()), ("meta.json".to_owned(), b"{}".to_vec())].into(),
        };
        let secret = &shape.text;
        let indented = secret.replace('\n', "\n      ");
        let json = Value::from(secret.as_str());
        for (path, text) in [
            ("logs/kubelet.txt", format!("cni: {}\n", secret.replace('\n', "\ncni "))),
            ("logs/runtime.txt", format!("cni failed\n{secret}\n")),
            ("host/os-release", format!("ID=x\nNOTE={secret}\n")),
            ("host/uname", secret.clone()),
            (
                "cni/net.d/10-x.conf",
                format!(
                    "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers:\n- name: u\n  user:\n    token: |\n      {indented}\n    exec:\n      env:\n      - name: X\n        value: {json}\n"
                ),
            ),
            (
                "cni/net.d/11-x.conflist",
                format!(
                    "{{\"name\": \"x\", \"plugins\": [{{\"k8s_client_key\": {json}, \"psk\": {json}, \"sshKey\": {json}, \"pass\": {json}, \"other\": [{json}]}}]}}"
                ),
            ),
            (
                "cni/net.d/12-x.conflist",
                format!("{{\"plugins\": [{{\"odd\": {json}, 'single': '{secret}' // {secret}\n"),
            ),
        ] {
            clean_node(&of(path, text), shape, path);
        }
    }
}

fn clean_node(files: &NodeFiles, shape: &Shape, place: &str) {
    let once = normalise(files, &Defaults::default());
    for (path, bytes) in &once.files {
        let left = String::from_utf8_lossy(bytes);
        for needle in &shape.needles {
            assert!(!left.contains(needle.as_str()), "{place}: {} leaves {needle} in {path}: {left}", shape.name);
        }
    }
    assert_eq!(normalise(&once, &Defaults::default()).files, once.files, "{place}: {} twice", shape.name);
}
