//! Randomly mutated node files: CNI configurations, kubeconfigs, snapshots and tokens. Nothing panics or
//! hangs, no check crashes, no token is printed, and reading twice gives the same result.
//!
//! A plain run is short and deterministic. `MESHDOCTOR_FUZZ_SECONDS=600 cargo test --test suite fuzz` runs
//! each target for that long, from a seed that it prints; `MESHDOCTOR_FUZZ_SEED` repeats one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use meshdoctor::checks::Outcome;
use meshdoctor::demo::{DEMOS, DemoState};
use meshdoctor::model::node::{Defaults, NodeSnapshot, RuntimeKind, normalise};
use meshdoctor::node_files::NodeFiles;
use meshdoctor::render::{self, Look};
use meshdoctor::scene::Scene;
use meshdoctor::{redact, token};

use crate::stories::judge;

/// Number of inputs in a plain run.
const CASES: usize = 40;
/// Time limit for one input on a busy machine; a longer run counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Numbers that look random and are the same for the same seed (xorshift64).
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`; 0 if `n` is 0.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.throw() % n.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Fragments that often break parsers.
const PIECES: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"0.1",
    b"\\u0000",
    b"\\ud800",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xff",
    b"\0",
    b"\r\n",
    b"\t",
    b"- ",
    b"&a ",
    b"*a",
    b"!!binary ",
    b"<<: ",
    b"{{{{{{{{",
    b"[[[[[[[[[[[[[[[[",
    b"\"type\":\"multus\",",
    b"\"delegates\":[",
    b"\"plugins\":[]",
    b"..",
    b"/",
    b"~",
    b"\xe2\x80\xae",
    b"eyJ",
    b".",
    b"=",
    b"---\n",
    b"...\n",
    b"#",
    b"'",
    b"|\n",
    b">\n",
];

/// Bends bytes in one to six places.
fn bend(dice: &mut Dice, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        let span = |dice: &mut Dice, len: usize| dice.below(len.min(64) + 1);
        match dice.below(7) {
            0 => bytes.truncate(at),
            1 => {
                let end = at + span(dice, bytes.len() - at);
                bytes.drain(at..end);
            }
            2 => {
                let end = at + span(dice, bytes.len() - at);
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => {
                let from = dice.below(other.len());
                let piece = other[from..from + span(dice, other.len() - from)].to_vec();
                bytes.splice(at..at, piece);
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            5 => {
                let piece = *dice.pick(PIECES);
                let often = if dice.below(20) == 0 { 300 } else { 1 };
                bytes.splice(at..at, piece.repeat(often));
            }
            _ => {
                bytes.splice(at..at, dice.pick(PIECES).to_vec());
            }
        }
    }
}

/// Runs `target` on one throw of the dice after the other.
fn go_on(name: &'static str, target: impl Fn(&mut Dice) + Send + 'static) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let limit = number("MESHDOCTOR_FUZZ_SECONDS").map(Duration::from_secs);
    let seed = number("MESHDOCTOR_FUZZ_SEED").unwrap_or(if limit.is_some() {
        u64::from(std::process::id()) << 20 | 1
    } else {
        0x006d_6573_685f_646f
    });
    println!("{name}: MESHDOCTOR_FUZZ_SEED={seed}");
    let (alive, heard) = std::sync::mpsc::channel();
    let began = Instant::now();
    let worker = std::thread::spawn(move || {
        let mut dice = Dice(seed);
        let mut tried = 0_usize;
        while limit.map_or(tried < CASES, |limit| began.elapsed() < limit) {
            target(&mut dice);
            tried += 1;
            alive.send(()).unwrap();
        }
        tried
    });
    loop {
        match heard.recv_timeout(PATIENCE) {
            Ok(()) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("{name} hangs: an input of seed {seed} takes more than {PATIENCE:?}")
            }
        }
    }
    let tried = worker.join().unwrap_or_else(|_| panic!("{name}: an input of seed {seed} fails, see above"));
    println!("{name}: {tried} inputs");
}

/// A token in the API server's format: bound to a pod, with a placeholder for the signature.
fn jwt() -> String {
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let claims = r#"{"aud":["https://kubernetes.default.svc"],"exp":1799000000,"iat":1767463000,"iss":"x","kubernetes.io":{"namespace":"linkerd-cni","node":{"name":"n"},"pod":{"name":"linkerd-cni-x","uid":"u"},"serviceaccount":{"name":"linkerd-cni","uid":"s"},"warnafter":1767466607},"nbf":1767463000,"sub":"system:serviceaccount:linkerd-cni:linkerd-cni"}"#;
    let signature = "no one may ever see the signature of a token that opens the cluster";
    format!("{}.{}.{}", part(r#"{"alg":"RS256","kid":"k"}"#), part(claims), part(signature))
}

/// The broken demos with node files: the files of nodes and the cluster around them, with a raw kubeconfig.
fn scenes() -> Vec<Scene> {
    let mut scenes: Vec<Scene> = DEMOS.iter().map(|demo| demo.scene(DemoState::Before).unwrap()).collect();
    scenes.retain(|scene| !scene.memory.nodes.is_empty());
    let token = jwt();
    let kubeconfig = format!(
        "apiVersion: v1\nkind: Config\nclusters:\n- name: local\n  cluster:\n    server: https://[10.96.0.1]:443\n    \
         certificate-authority-data: aGVsbG8=\nusers:\n- name: linkerd-cni\n  user:\n    token: {token}\ncontexts:\n- name: \
         linkerd-cni-context\n  context:\n    cluster: local\n    user: linkerd-cni\ncurrent-context: linkerd-cni-context\n"
    );
    let multus = format!(
        r#"{{"cniVersion":"0.3.1","name":"multus-cni-network","type":"multus","delegates":[{{"name":"k8s-pod-network","cniVersion":"0.3.1","plugins":[{{"type":"calico"}},{{"type":"linkerd-cni","policy":{{"type":"k8s","k8s_auth_token":"{token}"}},"kubernetes":{{"kubeconfig":"/etc/cni/net.d/ZZZ-linkerd-cni-kubeconfig"}},"linkerd":{{"iptables-mode":"legacy"}}}}]}}]}}"#
    );
    for scene in &mut scenes {
        if let Some(node) = scene.memory.nodes.first_mut() {
            node.files.insert("cni/net.d/ZZZ-linkerd-cni-kubeconfig".to_owned(), kubeconfig.clone().into_bytes());
            node.files.insert("cni/net.d/00-multus.conf".to_owned(), multus.clone().into_bytes());
        }
    }
    scenes
}

/// Bends some files of one node; now and then one vanishes, or takes the content of another.
fn bend_files(dice: &mut Dice, files: &mut BTreeMap<String, Vec<u8>>) {
    let contents: Vec<Vec<u8>> = files.values().cloned().collect();
    for _ in 0..=dice.below(3) {
        let paths: Vec<String> = files.keys().cloned().collect();
        if paths.is_empty() {
            return;
        }
        let path = dice.pick(&paths);
        let other = dice.pick(&contents);
        match dice.below(10) {
            0 => drop(files.remove(path)),
            1 => drop(files.insert(path.clone(), other.clone())),
            _ => bend(dice, files.get_mut(path).unwrap(), other),
        }
    }
}

fn shown(files: &NodeFiles) -> String {
    files.files.iter().map(|(path, bytes)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes))).collect()
}

#[test]
fn bent_snapshots_are_judged_and_say_no_token() {
    let scenes = scenes();
    assert!(scenes.len() >= 2, "demos with node files");
    go_on("snapshots", move |dice| {
        let mut scene = dice.pick(&scenes).clone();
        let nodes = scene.memory.nodes.len();
        let node = dice.below(nodes);
        bend_files(dice, &mut scene.memory.nodes[node].files);
        let report = judge(&scene);
        for result in &report.checks {
            assert!(!matches!(result.outcome, Outcome::Crashed(_)), "{}: {:?}", result.id, result.outcome);
        }
        let look = Look { verbose: true, ..Look::plain(80) };
        for text in [render::json::report(&report), render::table::report(&report, look)] {
            assert!(!text.contains(&jwt()), "a token in\n{text}");
        }
    });
}

#[test]
fn bent_files_are_normalised_once_for_all() {
    let scenes = scenes();
    go_on("normalising", move |dice| {
        let scene = dice.pick(&scenes);
        let mut raw = dice.pick(&scene.memory.nodes).clone();
        bend_files(dice, &mut raw.files);
        let normal = normalise(&raw, &Defaults::default());
        assert!(!shown(&normal).contains(&jwt()), "a token in\n{}", shown(&normal));
        assert_eq!(normalise(&normal, &Defaults::default()), normal, "twice is once");
        let node = NodeSnapshot::parse(&normal);
        for runtime in [RuntimeKind::Containerd, RuntimeKind::Crio, RuntimeKind::Unknown] {
            let _ = format!("{:?}", node.chain(runtime));
        }
    });
}

/// The configuration of both runtimes, drop-in files and imports included, and a CNI directory with a token in it.
#[cfg(target_os = "linux")]
fn host() -> Vec<(&'static str, Vec<u8>)> {
    let containerd = "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\", \"/etc/containerd/config.toml\"]\n\
                      [plugins.\"io.containerd.grpc.v1.cri\".cni]\nbin_dir = \"/opt/cni/bin\"\nconf_dir = \"/etc/cni/net.d\"\n\
                      max_conf_num = 1\n";
    let newer =
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\nbin_dirs = ['/opt/cni/bin', '/usr/lib/cni']\n";
    let crio = "[crio.network]\nnetwork_dir = \"/etc/cni/net.d/\"\nplugin_dirs = [\"/opt/cni/bin\"]\ncni_default_network = \"x\"\n";
    let entry = format!(
        r#"{{"cniVersion":"0.3.1","name":"x","plugins":[{{"type":"linkerd-cni","policy":{{"k8s_auth_token":"{}"}}}}]}}"#,
        jwt()
    );
    [
        ("etc/containerd/config.toml", containerd.to_owned()),
        ("etc/containerd/conf.d/20-cni.toml", newer.to_owned()),
        ("etc/crio/crio.conf", crio.to_owned()),
        ("etc/crio/crio.conf.d/10-network.conf", crio.replace("0", "1")),
        ("etc/cni/net.d/10-x.conflist", entry),
        ("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n".to_owned()),
        ("etc/hostname", "n\n".to_owned()),
    ]
    .into_iter()
    .map(|(path, text)| (path, text.into_bytes()))
    .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn bent_configurations_of_runtimes_are_read_or_named() {
    use meshdoctor::node_snapshot::{Options, take};
    go_on("runtime configuration", move |dice| {
        let mut files = host();
        let contents: Vec<Vec<u8>> = files.iter().map(|(_, content)| content.clone()).collect();
        for _ in 0..=dice.below(3) {
            let at = dice.below(files.len());
            let other = dice.below(contents.len());
            bend(dice, &mut files[at].1, &contents[other]);
        }
        let root = tempfile::tempdir().unwrap();
        for (path, content) in &files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let taken = take(&Options {
            root: root.path().to_owned(),
            node: Some("n".to_owned()),
            in_pod: false,
            run: false,
            ask_plugin: false,
            conf_dir: None,
            bin_dirs: Vec::new(),
            at: "2026-01-15T12:00:00Z".parse().unwrap(),
        })
        .unwrap();
        assert!(!shown(&taken.files).contains(&jwt()), "a token in\n{}", shown(&taken.files));
        let node = NodeSnapshot::parse(&normalise(&taken.files, &Defaults::default()));
        assert_eq!(node.problems, [], "what is written can be read");
    });
}

#[test]
fn bent_tokens_are_decoded_or_refused() {
    let whole = jwt();
    go_on("tokens", move |dice| {
        let mut bytes = whole.clone().into_bytes();
        bend(dice, &mut bytes, whole.as_bytes());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let _ = format!("{:?}", token::decode(&text));
        let clean = redact::text(&text).into_owned();
        assert!(!clean.contains(&whole), "a token in\n{clean}");
    });
}
