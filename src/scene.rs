//! Small hand-written clusters for cases of cards and demos. Fenced blocks become a [`Memory`] source with run
//! settings.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use crate::card::Mode;
use crate::chart::values_input::{ValuesFile, ValuesInput};
use crate::checks::{self, Settings, Upgrade, chart};
use crate::collect::Options;
use crate::fetched::Why;
use crate::item::answer::{Response, object};
use crate::item::diagnostic::{EndpointsSample, MetricsSample};
use crate::item::{Item, Kind, Probe, Server};
use crate::knowledge::Knowledge;
use crate::markdown::{Block, BlockKind, with_nearest};
use crate::model::log::{LogObject, LogOf};
use crate::model::traffic::{EarlierTraffic, WorkloadTraffic};
use crate::node_files::NodeFiles;
use crate::objects::mistyped::{Mistyped, mistyped};
use crate::source::diagnostics::PortOf;
use crate::source::memory::{Memory, StoredObject};
use crate::source::{Completeness, Origin};
use crate::version::CniVersion;
use crate::yaml::guard;

/// A small cluster with run settings.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The objects, versions and node files.
    pub memory: Memory,
    /// Settings of checks.
    pub settings: Settings,
    /// Settings of collecting.
    pub options: Options,
    replace: BTreeMap<String, String>,
}

/// Blocks that do not define a valid cluster.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SceneError {
    /// The line of the block in its file, from 1.
    pub line: usize,
    /// The error.
    pub message: String,
}

/// Settings of a `yaml run` block. Every field has a default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct RunBlock {
    /// Time of the evidence.
    at: Option<Timestamp>,
    /// API server version, or `unknown`.
    server: Option<String>,
    /// The operator's CLI version.
    cli: Option<String>,
    /// Extension commands on PATH.
    cli_extensions: Option<Vec<String>>,
    /// `all`, `none` or kinds.
    complete: Option<Complete>,
    /// Unavailable items: `events: denied`.
    trouble: BTreeMap<String, String>,
    /// Responses of running programs: `{program: prometheus, pod: linkerd-viz/p-1, status: 200, pods: [shop/web-1]}`.
    probe: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Number of processes of a sample of metrics, as with `--proxies`; the metrics are in blocks `text diagnostics`.
    sampled: Option<usize>,
    /// Extent of the endpoints of destination's replicas, as with `--proxies`; the endpoints are in blocks
    /// `text diagnostics`.
    replicas: Option<EndpointsSample>,
    /// `-n`.
    namespaces: Vec<String>,
    /// Results of access reviews: all permissions except `denied` are allowed.
    access: Option<Rights>,
    /// Served certificates by server and pod, in PEM; `error: ...` if there are none.
    served: BTreeMap<String, BTreeMap<String, String>>,
    /// `--to-cni`.
    to_cni: Option<String>,
    /// `--to`.
    to: Option<String>,
    /// `--to-kubernetes`.
    to_kubernetes: Option<String>,
    /// `--pre` or `--crds`: `pre`, `crds`.
    mode: Option<Mode>,
    /// `--values` and `--chart`.
    values: Option<ValuesBlock>,
    /// `--linkerd-cni-enabled`.
    cni_expected: bool,
    /// `--proxy`.
    proxy: bool,
    /// `--param`: values by check and name.
    params: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// `--expected-version`.
    expected_version: Option<String>,
    /// Objects and node files of earlier blocks to delete: `Deployment linkerd/linkerd-identity`,
    /// `NodeFiles ip-10-0-1-12`, `NodeFiles ip-10-0-1-12/cni/bin.json`.
    delete: Vec<String>,
    /// Objects of earlier blocks that `--manifests` or `--with` applies: `Server shop/api`.
    applied: Vec<String>,
    /// `-L`.
    control_plane_namespace: Option<String>,
    /// `--cni-namespace`.
    cni_namespace: Option<String>,
    /// `--before`: numbers of proxies by workload.
    before: Option<Vec<WorkloadTraffic>>,
    /// Text replacements in base clusters of later blocks: another release, another Kubernetes.
    replace: BTreeMap<String, String>,
}

/// Values for a chart.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ValuesBlock {
    /// As in `--chart`.
    chart: String,
    /// The text of the file.
    text: String,
}

/// Permissions of the operator.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Rights {
    /// Name in cards after `access/`: `create/secrets/control-plane`.
    denied: Vec<String>,
}

/// Kind of a document with node files, used in base clusters.
const NODE_FILES: &str = "NodeFiles";

/// Files that several nodes have in common.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnNodes {
    #[serde(rename = "kind")]
    _kind: String,
    nodes: Vec<String>,
    /// Text by path in the snapshot.
    files: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Complete {
    Word(String),
    Kinds(Vec<String>),
}

/// Default time.
const AT: &str = "2026-01-15T12:00:00Z";
/// Default API server version.
const SERVER: &str = "v1.31.5";

impl Scene {
    /// The cluster of the blocks, in order. `base` returns the text of a base cluster.
    ///
    /// # Errors
    /// A block is not valid YAML, has an invalid object, or refers to a missing base, kind or object.
    pub fn parse(blocks: &[Block], base: &dyn Fn(&str) -> Option<String>) -> Result<Scene, SceneError> {
        let mut scene = Scene::default();
        scene.memory.completeness = Completeness::All;
        scene.memory.captured_at = AT.parse().ok();
        scene.memory.server_version = Some(serde_json::json!({ "gitVersion": SERVER }));
        scene.memory.origin = Some(Origin { kind: "case".to_owned(), name: String::new() });
        for block in blocks {
            scene.lay(block, base).map_err(|message| SceneError { line: block.line, message })?;
        }
        Ok(scene)
    }

    /// Applies one block.
    fn lay(&mut self, block: &Block, base: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        match &block.content {
            BlockKind::Cluster { on } => {
                for name in on.iter().flat_map(|names| names.split(',')) {
                    let text = base(name).ok_or_else(|| {
                        let page = crate::page::document_url("your-own-checks.md");
                        format!("unknown base cluster {name:?}; {page} lists them")
                    })?;
                    let text = self.replace.iter().fold(text, |text, (old, new)| text.replace(old, new));
                    self.add(&text).map_err(|e| format!("base {name}: {e}"))?;
                }
                self.add(&block.text)
            }
            BlockKind::Run => {
                let run = if block.text.trim().is_empty() { "{}" } else { &block.text };
                guard(run.as_bytes()).map_err(|refused| refused.to_string())?;
                self.run(serde_yaml::from_str(run).map_err(|e| with_nearest(&e.to_string()))?)
            }
            BlockKind::NodeFile { node, path } => {
                for node in node.split(',') {
                    self.node_file(node, path, format!("{}\n", block.text));
                }
                Ok(())
            }
            BlockKind::Log { name } => {
                let of = LogOf::parse(name).ok_or_else(|| format!("log: {name:?} is neither a node nor a pod"))?;
                let log = LogObject::new(&of, format!("{}\n", block.text), false);
                self.memory.logs.push(serde_json::to_vec(&log).map_err(|error| error.to_string())?);
                Ok(())
            }
            BlockKind::Diagnostics { of } => {
                let unnamed = |of: &String| format!("diagnostics: {of:?} is not a pod port");
                let of = of.as_ref().map(|of| PortOf::parse(of).ok_or_else(|| unnamed(of))).transpose()?;
                self.memory.diagnostics.take_excerpts();
                let read = self.memory.diagnostics.read(&block.text, of.as_ref());
                read.map(|_| ()).map_err(|why| format!("diagnostics: {why:?}"))
            }
            BlockKind::Repair => Err("the repair block is not part of a cluster".to_owned()),
            BlockKind::Expect => Err("the expect block is not part of a cluster".to_owned()),
        }
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        for document in documents(text) {
            let object: serde_json::Value = guard(document.as_bytes())
                .map_err(|refused| refused.to_string())
                .and_then(|()| serde_yaml::from_str(document).map_err(|e| format!("{e} in\n{document}")))?;
            if object["kind"] == NODE_FILES {
                let on: OnNodes = serde_json::from_value(object).map_err(|e| format!("{e} in\n{document}"))?;
                for (node, (path, text)) in on.nodes.iter().flat_map(|n| on.files.iter().map(move |f| (n, f))) {
                    self.node_file(node, path, text.clone());
                }
                continue;
            }
            self.memory.add(&object).map_err(|e| format!("{e} in\n{document}"))?;
        }
        Ok(())
    }

    fn node_file(&mut self, node: &str, path: &str, text: String) {
        let nodes = &mut self.memory.nodes;
        let at = nodes.iter().position(|files| files.node == node).unwrap_or_else(|| {
            nodes.push(NodeFiles { node: node.to_owned(), files: BTreeMap::new() });
            nodes.len() - 1
        });
        nodes[at].files.insert(path.to_owned(), text.into_bytes());
    }

    fn run(&mut self, mut run: RunBlock) -> Result<(), String> {
        self.evidence(&mut run)?;
        self.applied(&run.applied)?;
        self.replace.extend(std::mem::take(&mut run.replace));
        let options = &mut self.options;
        options.control_plane_namespace = run.control_plane_namespace.take().or(options.control_plane_namespace.take());
        options.cni_namespace = run.cni_namespace.take().or(options.cni_namespace.take());
        self.settings(run)
    }

    /// Changes the evidence.
    fn evidence(&mut self, run: &mut RunBlock) -> Result<(), String> {
        let memory = &mut self.memory;
        for gone in &run.delete {
            delete(memory, gone)?;
        }
        for (item, word) in &run.trouble {
            memory.trouble.insert(item.parse::<Item>().map_err(|e| e.to_string())?, why(word)?);
        }
        if let Some(complete) = run.complete.take() {
            memory.completeness = completeness(complete)?;
        }
        match run.server.as_deref() {
            None => {}
            Some("unknown") => memory.server_version = None,
            Some(version) => memory.server_version = Some(serde_json::json!({ "gitVersion": version })),
        }
        memory.captured_at = run.at.or(memory.captured_at);
        memory.cli_version = run.cli.take().or(memory.cli_version.take());
        memory.cli_extensions = run.cli_extensions.take().or(memory.cli_extensions.take());
        if let Some(rights) = run.access.take() {
            let denied: Result<_, _> = rights.denied.iter().map(|access| access.parse()).collect();
            memory.denied = Some(denied.map_err(|e| format!("access: {e}"))?);
        }
        if let Some(read) = run.sampled {
            memory.diagnostics.add_sample(MetricsSample { read, ..MetricsSample::default() });
        }
        if let Some(sample) = run.replicas.take() {
            memory.diagnostics.add_replicas(sample);
        }
        for answer in std::mem::take(&mut run.probe) {
            self.memory.probes.push(probe(answer).map_err(|e| format!("probe: {e}"))?);
        }
        for (server, pods) in std::mem::take(&mut run.served) {
            let server: Server = server.parse().map_err(|e| format!("served: {e}"))?;
            let said = pods.into_iter().map(|(pod, said)| match said.strip_prefix("error: ") {
                Some(error) => (pod, Err(error.to_owned())),
                None => (pod, Ok(said)),
            });
            self.memory.served.insert(server, said.collect());
        }
        Ok(())
    }

    /// Notes objects that the run applies.
    fn applied(&mut self, objects: &[String]) -> Result<(), String> {
        for object in objects {
            let (kind, namespace, name) = object_key(object).map_err(|why| format!("applied: {why}"))?;
            let mut held = self.memory.objects.get(&kind).into_iter().flatten();
            if let Some(held) = held.find(|held| held.namespace == namespace && held.name == name)
                && let Some((path, why)) = mistyped(kind, &held.json)
            {
                let (namespace, name) = (namespace.to_owned(), name.to_owned());
                self.options.mistyped.push(Mistyped { kind, namespace, name, path, why, meant: None });
            }
            self.options.applied.insert((kind, namespace.to_owned(), name.to_owned()));
        }
        Ok(())
    }

    /// Changes the settings of the evaluation.
    fn settings(&mut self, run: RunBlock) -> Result<(), String> {
        self.settings.namespaces.extend(run.namespaces);
        if let Some(version) = run.to_cni {
            self.settings.to_cni = Some(CniVersion::from_tag(&version));
        }
        self.settings.mode = run.mode.unwrap_or(self.settings.mode);
        if let Some(given) = run.to {
            let kubernetes = run.to_kubernetes.map(|version| version.parse()).transpose();
            let kubernetes = kubernetes.map_err(|e| format!("to-kubernetes: {e}"))?;
            let upgrade = Upgrade::new(&given, None, kubernetes, Knowledge::embedded().releases());
            self.settings.upgrade = Some(upgrade.map_err(|e| format!("to: {e}"))?);
            self.settings.mode = Mode::Upgrade;
        }
        if let Some(values) = run.values {
            let knowledge = Knowledge::embedded();
            let (chart, release) = chart(&values.chart, knowledge).map_err(|e| format!("values: {e}"))?;
            let file = ValuesFile::read("values.yaml", &values.text).map_err(|e| format!("values: {e}"))?;
            let given = ValuesInput { chart, release, files: vec![file], by: None, partial: false };
            self.settings.values = vec![given];
        }
        self.settings.cni_expected |= run.cni_expected;
        if let Some(workloads) = run.before {
            self.settings.before = Some(EarlierTraffic { file: "before.json".to_owned(), workloads });
        }
        self.settings.data_plane |= run.proxy;
        if let Some(version) = run.expected_version {
            let version = version.parse().map_err(|e| format!("expected-version: {e}"))?;
            self.settings.expected_version = Some(version);
        }
        for (check, params) in run.params {
            self.params(&check, params).map_err(|why| format!("params.{check}: {why}"))?;
        }
        Ok(())
    }
}

fn completeness(complete: Complete) -> Result<Completeness, String> {
    match complete {
        Complete::Word(word) if word == "all" => Ok(Completeness::All),
        Complete::Word(word) if word == "none" => Ok(Completeness::Unstated),
        Complete::Word(word) => Err(format!("complete: all, none or a list of kinds, not {word:?}")),
        Complete::Kinds(kinds) => {
            let kinds: Result<_, _> = kinds.iter().map(|kind| kind.parse()).collect();
            Ok(Completeness::Kinds(kinds.map_err(|e| format!("complete: {e}"))?))
        }
    }
}

impl Scene {
    fn params(&mut self, check: &str, set: BTreeMap<String, serde_json::Value>) -> Result<(), String> {
        let found = checks::find(check).ok_or("the check does not exist")?;
        for (name, value) in set {
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let value = found.parameter(&name, &written)?;
            self.settings.params.entry(found.id.to_owned()).or_default().insert(name, value);
        }
        Ok(())
    }
}

/// Documents of a YAML stream, without those that contain only comments.
fn documents(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_prefix("---\n").unwrap_or(text);
    text.split("\n---\n")
        .filter(|document| document.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')))
}

/// Parses `KIND NAMESPACE/NAME`; cluster-scoped objects have no namespace.
fn object_key(text: &str) -> Result<(Kind, &str, &str), String> {
    let (kind, name) = text.split_once(' ').ok_or_else(|| format!("KIND NAMESPACE/NAME, not {text:?}"))?;
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    Ok((kind.parse().map_err(|error| format!("{error}"))?, namespace, name))
}

fn delete(memory: &mut Memory, gone: &str) -> Result<(), String> {
    if let Some(name) = gone.strip_prefix(NODE_FILES).and_then(|rest| rest.strip_prefix(' ')) {
        return delete_node_files(memory, name);
    }
    let (kind, namespace, name) = object_key(gone).map_err(|why| format!("delete: {why}"))?;
    let list = memory.objects.entry(kind).or_default();
    let before = list.len();
    list.retain(|held| held.name != name || held.namespace != namespace);
    if list.len() == before {
        return Err(format!("delete: {gone} does not exist"));
    }
    Ok(())
}

/// Deletes one or all files of a node.
fn delete_node_files(memory: &mut Memory, gone: &str) -> Result<(), String> {
    let (node, path) = gone.split_once('/').map_or((gone, None), |(node, path)| (node, Some(path)));
    let none = || format!("delete: {NODE_FILES} {gone} does not exist");
    let at = memory.nodes.iter().position(|files| files.node == node).ok_or_else(none)?;
    match path {
        Some(path) => memory.nodes[at].files.remove(path).map(|_| ()).ok_or_else(none),
        None => {
            memory.nodes.remove(at);
            Ok(())
        }
    }
}

/// The response of a program, from a run block.
fn probe(mut answer: serde_json::Map<String, serde_json::Value>) -> Result<(Probe, StoredObject), String> {
    let mut word = |key: &str| match answer.remove(key) {
        Some(serde_json::Value::String(word)) => Ok(word),
        _ => Err(format!("it has no {key}")),
    };
    let (program, place) = (word("program")?, word("pod")?);
    let probe: Probe = program.parse().map_err(|_| format!("unknown program {program}"))?;
    let (namespace, pod) = place.split_once('/').ok_or("pod: NAMESPACE/NAME")?;
    let said: Response = serde_json::from_value(answer.into()).map_err(|e| e.to_string())?;
    let json = object(probe.program, (namespace, pod), &said).to_string().into_bytes();
    let held = StoredObject { namespace: namespace.to_owned(), name: pod.to_owned(), json };
    Ok((Probe { pod: pod.to_owned(), ..probe }, held))
}

/// Parses a word of `trouble:`.
fn why(word: &str) -> Result<Why, String> {
    Ok(match word {
        "denied" => Why::Denied { message: String::new() },
        "not-served" => Why::NotServed,
        "not-captured" => Why::NotCaptured,
        "perhaps-more" => Why::PerhapsMore,
        "not-in-manifests" => Why::NotInManifests,
        "not-offered" => Why::NotOffered,
        "timed-out" => Why::TimedOut { seconds: 30 },
        "malformed" => Why::Malformed { message: "line 1: expected value".to_owned() },
        "failed" => Why::Failed { message: "connection reset".to_owned() },
        other => {
            const KNOWN: [&str; 8] = [
                "denied",
                "not-served",
                "not-captured",
                "perhaps-more",
                "not-offered",
                "timed-out",
                "malformed",
                "failed",
            ];
            return Err(format!("unknown trouble {other:?}; use {}", KNOWN.join(", ")));
        }
    })
}
