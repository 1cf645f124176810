//! The corpus: nodes as real platforms and CNI plugins set them up, healthy and broken. Each file of
//! `corpus/` is a small whole cluster and lists all findings of warning and above that it must produce, in
//! any category and on any node.
//!
//! A file consists of front matter (see [`Front`]), a description with the public thread that it is modelled
//! on, the blocks of a scene, and one `text expect` block. A line of that block is `SEVERITY CONFIDENCE ID
//! SUBJECT,...`, followed by ` <- CAUSE` if that finding is among its causes. `open ID` means that the check
//! must not pass on this cluster.

mod host;
mod large;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use meshdoctor::checks::Outcome;
use meshdoctor::finding::{Confidence, Finding, Severity, Subject};
use meshdoctor::markdown::{self, BlockKind};
use meshdoctor::report::Report;
use meshdoctor::scene::Scene;
use serde::Deserialize;

use crate::stories::judge;

/// Front matter of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Front {
    title: String,
    /// Public threads about nodes like these; empty for a platform's ordinary state.
    threads: Vec<String>,
    /// The cluster's nodes, and the host of `hosts.yaml` that each is. The control plane runs on the first.
    nodes: BTreeMap<String, String>,
    kubelet: Option<String>,
    provider: String,
    /// `containerRuntimeVersion` of nodes that do not use containerd.
    runtime: BTreeMap<String, String>,
    /// Nodes whose snapshot contains only the files in the blocks.
    bare: BTreeSet<String>,
    /// Files of snapshots whose lines end as on Windows.
    crlf: BTreeSet<String>,
}

/// A node set: a cluster and its expected findings.
struct Set {
    name: String,
    scene: Scene,
    expect: Vec<String>,
}

/// Names of the installer's pods, in the order of nodes.
const INSTALLERS: [&str; 6] = ["7xk2p", "b82qm", "tq9vd", "f4wzn", "k6hls", "z2rjc"];
const KUBELET: &str = "v1.31.5";
const CONTAINERD: &str = "containerd://1.7.27";

fn folder() -> String {
    format!("{}/tests/suite/corpus", env!("CARGO_MANIFEST_DIR"))
}

impl Front {
    /// The text of a base cluster, with `$NAME$` replaced by values of the front matter.
    fn base(&self, name: &str) -> Option<String> {
        let text = |name: &str| std::fs::read_to_string(format!("{}/bases/{name}.yaml", folder())).ok();
        let whole = self.filled(&text(name)?, 0);
        let each = match name {
            "mesh" => text("node")?,
            "cni" => text("installer")?,
            _ => return Some(whole),
        };
        Some((0..self.nodes.len()).fold(whole, |whole, at| format!("{whole}\n---\n{}", self.filled(&each, at))))
    }

    fn filled(&self, text: &str, at: usize) -> String {
        let Some((node, host)) = self.nodes.iter().nth(at) else { return text.to_owned() };
        let host = host::host(host);
        let values = [
            ("NODE", node.clone()),
            ("COUNT", self.nodes.len().to_string()),
            ("NUMBER", (at + 1).to_string()),
            ("INSTALLER", INSTALLERS[at].to_owned()),
            ("KUBELET", self.kubelet.clone().unwrap_or_else(|| KUBELET.to_owned())),
            ("PROVIDER", self.provider.clone()),
            ("RUNTIME", self.runtime.get(node).cloned().unwrap_or_else(|| CONTAINERD.to_owned())),
            ("IMAGE", host.title().to_owned()),
            ("KERNEL", host.kernel.clone()),
        ];
        values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}$"), value))
    }
}

fn read(name: &str) -> Set {
    let text = std::fs::read_to_string(format!("{}/{name}.md", folder())).unwrap();
    let (front, body) = markdown::read::<Front>(name, &text).unwrap_or_else(|error| panic!("{error}"));
    assert!(!front.title.is_empty() && !body.prose.is_empty(), "{name}: no title or no story");
    let (expect, blocks): (Vec<_>, Vec<_>) =
        body.blocks.into_iter().partition(|block| block.content == BlockKind::Expect);
    let [expect] = expect.as_slice() else { panic!("{name}: exactly one `text expect` block") };
    let scene = Scene::parse(&blocks, &|base| front.base(base)).unwrap_or_else(|error| panic!("{name}.md: {error}"));
    let mut set = Set { name: name.to_owned(), scene, expect: expect.text.lines().map(str::to_owned).collect() };
    for (node, host) in &front.nodes {
        if !front.bare.contains(node) {
            snapshot::complete(&mut set.scene.memory, node, host::host(host));
        }
    }
    for files in &mut set.scene.memory.nodes {
        for (path, bytes) in &mut files.files {
            if front.crlf.contains(path) {
                *bytes = String::from_utf8(bytes.clone()).unwrap().replace('\n', "\r\n").into_bytes();
            }
        }
    }
    set
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// A subject as a line of an expectation names it.
fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Object { namespace, name, .. } if namespace.is_empty() => name.clone(),
        Subject::Object { namespace, name, .. } => format!("{namespace}/{name}"),
        Subject::Node { node, .. } => node.clone(),
        Subject::Thing { thing } => thing.replace(' ', "-"),
    }
}

/// A finding as a line of an expectation.
fn line(report: &Report, finding: &Finding) -> String {
    let subjects: BTreeSet<String> = finding.subjects.iter().map(subject).collect();
    let causes: BTreeSet<&str> = finding
        .caused_by
        .iter()
        .map(|print| report.findings.iter().find(|f| f.fingerprint() == *print).unwrap().check)
        .collect();
    let sure = match finding.confidence {
        Confidence::Observed => "observed",
        Confidence::Likely => "likely",
    };
    let mut line = format!("{} {sure} {} {}", finding.severity, finding.check, Vec::from_iter(subjects).join(","));
    if !causes.is_empty() {
        write!(line, " <- {}", Vec::from_iter(causes).join(",")).unwrap();
    }
    line
}

/// The findings of warning and above, and the required `open` checks that are open.
fn findings(set: &Set, report: &Report) -> Vec<String> {
    let loud = report.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let mut said: Vec<String> = loud.map(|finding| line(report, finding)).collect();
    let open = set.expect.iter().filter_map(|line| line.strip_prefix("open "));
    said.extend(open.filter(|id| leaves_open(report, id)).map(|id| format!("open {id}")));
    said.sort();
    said
}

fn leaves_open(report: &Report, id: &str) -> bool {
    let judged = report.checks.iter().find(|judged| judged.id == id);
    judged.is_some_and(|judged| !judged.gaps.is_empty() && judged.outcome != Outcome::Pass)
}

/// Whether a finding is the expected one: its causes include the expected ones, and it has none if none is
/// expected.
fn is_expected(said: &str, expected: &str) -> bool {
    let parts = |line: &str| {
        let (finding, causes) = line.split_once(" <- ").unwrap_or((line, ""));
        let causes: BTreeSet<String> = causes.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect();
        (finding.to_owned(), causes)
    };
    let ((said, causes), (expected, must)) = (parts(said), parts(expected));
    said == expected && must.is_subset(&causes) && must.is_empty() == causes.is_empty()
}

/// Every node set, by name.
pub fn scenes() -> Vec<(String, Scene)> {
    names().into_iter().map(|name| (name.clone(), read(&name).scene)).collect()
}

/// Every node set with its report.
pub fn judged() -> Vec<(String, Report)> {
    names().into_iter().map(|name| (name.clone(), judge(&read(&name).scene))).collect()
}

#[test]
fn every_set_says_what_it_must_and_nothing_else() {
    let only = std::env::var("CORPUS").unwrap_or_default();
    let mut wrong = String::new();
    for name in names().iter().filter(|name| name.contains(&only)) {
        let set = read(name);
        let said = findings(&set, &judge(&set.scene));
        let missing = set.expect.iter().filter(|line| !said.iter().any(|said| is_expected(said, line)));
        let surplus = said.iter().filter(|said| !set.expect.iter().any(|line| is_expected(said, line)));
        let lines: Vec<String> = missing
            .map(|line| format!("  missing  {line}\n"))
            .chain(surplus.map(|line| format!("  too much {line}\n")))
            .collect();
        if !lines.is_empty() || said.len() != set.expect.len() {
            write!(wrong, "{name}: {} said\n{}", said.len(), lines.concat()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_snapshot_of_the_corpus_can_be_read() {
    for name in names() {
        let set = read(&name);
        for files in &set.scene.memory.nodes {
            for (path, bytes) in &files.files {
                let json = path.ends_with(".json") && !path.contains("net.d");
                assert!(!json || serde_json::from_slice::<serde_json::Value>(bytes).is_ok(), "{}: {path}", set.name);
            }
        }
    }
}

#[test]
fn the_corpus_is_wide_enough_to_stand_for_real_nodes() {
    let sets: Vec<Set> = names().iter().map(|name| read(name)).collect();
    let quiet = sets.iter().filter(|set| set.expect.iter().all(|line| line.starts_with("open "))).count();
    assert!(quiet >= 40 && sets.len() - quiet >= 60, "{} sets, {quiet} quiet", sets.len());
}
