//! Brings a card's case to life: its objects over a base cluster, its node files, its trouble; and runs its check.

use std::collections::BTreeMap;

use meshdoctor::card::{BlockKind, Case};
use meshdoctor::checks::{Check, CheckResult, Settings, evaluate};
use meshdoctor::collect::{Collected, Options, collect_now};
use meshdoctor::item::Item;
use meshdoctor::knowledge::Knowledge;
use meshdoctor::model::node::NodeFiles;
use meshdoctor::policy;
use meshdoctor::source::memory::Memory;
use meshdoctor::source::{Completeness, Why};
use serde::Deserialize;

/// What a `yaml run` block can say.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunBlock {
    /// The moment of judgement.
    at: jiff::Timestamp,
    /// The API server's version; `null` when it is not known.
    server: Option<String>,
    /// The operator's CLI.
    cli: Option<String>,
    /// `all`, `none` or kinds.
    complete: Complete,
    /// Items that cannot be had: `events: denied`.
    trouble: BTreeMap<String, String>,
    /// `-n`.
    namespaces: Vec<String>,
    /// `delete: [Deployment linkerd/linkerd-identity]`: objects of the base that are not there.
    delete: Vec<String>,
    /// `-L` and `--cni-namespace`.
    control_plane_namespace: Option<String>,
    cni_namespace: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Complete {
    Word(String),
    Kinds(Vec<String>),
}

impl Default for RunBlock {
    fn default() -> Self {
        RunBlock {
            at: "2026-01-15T12:00:00Z".parse().unwrap(),
            server: Some("v1.31.5".to_owned()),
            cli: None,
            complete: Complete::Word("all".to_owned()),
            trouble: BTreeMap::new(),
            namespaces: vec![],
            delete: vec![],
            control_plane_namespace: None,
            cni_namespace: None,
        }
    }
}

/// A case as a cluster.
#[derive(Clone)]
pub struct Live {
    pub memory: Memory,
    pub settings: Settings,
    pub options: Options,
}

/// A word of `trouble:` as what a source answers.
pub fn why(word: &str) -> Why {
    match word {
        "denied" => Why::Denied { message: String::new() },
        "not-served" => Why::NotServed,
        "not-captured" => Why::NotCaptured,
        "perhaps-more" => Why::PerhapsMore,
        "not-offered" => Why::NotOffered,
        "timed-out" => Why::TimedOut { seconds: 30 },
        "malformed" => Why::Malformed { message: "line 1: expected value".to_owned() },
        "failed" => Why::Failed { message: "connection reset".to_owned() },
        other => panic!("unknown trouble {other:?}"),
    }
}

fn documents(text: &str, place: &str) -> Vec<serde_json::Value> {
    text.split("\n---\n")
        .filter(|d| d.lines().any(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#')))
        .map(|d| serde_yaml::from_str(d).unwrap_or_else(|e| panic!("{place}: {e}\n{d}")))
        .collect()
}

/// The cluster that a case describes.
pub fn live(check: &Check, case: &Case) -> Live {
    let place = format!("{}, case {:?}", check.id, case.title);
    let mut run = RunBlock::default();
    let mut memory = Memory::default();
    let mut nodes: BTreeMap<String, NodeFiles> = BTreeMap::new();
    for block in &case.blocks {
        match &block.content {
            BlockKind::Run => {
                run = serde_yaml::from_str(&block.text).unwrap_or_else(|e| panic!("{place}: run block: {e}"));
            }
            BlockKind::Cluster { on } => {
                if let Some(base) = on {
                    let path = format!("{}/checks/bases/{base}.yaml", env!("CARGO_MANIFEST_DIR"));
                    let text =
                        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{place}: {path}: {e}"));
                    documents(&text, &path).iter().for_each(|d| memory.add(d).unwrap());
                }
                documents(&block.text, &place)
                    .iter()
                    .for_each(|d| memory.add(d).unwrap_or_else(|e| panic!("{place}: {e}")));
            }
            BlockKind::NodeFile { node, path } => {
                nodes
                    .entry(node.clone())
                    .or_insert_with(|| NodeFiles { node: node.clone(), files: BTreeMap::new() })
                    .files
                    .insert(path.clone(), block.text.clone().into_bytes());
            }
        }
    }
    for gone in &run.delete {
        let (kind, name) = gone.split_once(' ').unwrap_or_else(|| panic!("{place}: delete: KIND NS/NAME"));
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let list =
            memory.objects.get_mut(&kind.parse().unwrap()).unwrap_or_else(|| panic!("{place}: no {kind}"));
        let before = list.len();
        list.retain(|h| h.name != name || h.namespace != namespace);
        assert_ne!(before, list.len(), "{place}: there is no {gone} to delete");
    }
    memory.completeness = match run.complete {
        Complete::Word(word) if word == "all" => Completeness::All,
        Complete::Word(word) if word == "none" => Completeness::Unstated,
        Complete::Word(word) => panic!("{place}: complete: all, none or a list, not {word:?}"),
        Complete::Kinds(kinds) => Completeness::Kinds(kinds.iter().map(|k| k.parse().unwrap()).collect()),
    };
    memory.trouble = run.trouble.iter().map(|(item, word)| (item.parse().unwrap(), why(word))).collect();
    memory.server_version = run.server.as_ref().map(|v| serde_json::json!({ "gitVersion": v }));
    memory.cli_version = run.cli;
    memory.nodes = nodes.into_values().collect();
    memory.captured_at = Some(run.at);
    Live {
        memory,
        settings: Settings { namespaces: run.namespaces },
        options: Options {
            control_plane_namespace: run.control_plane_namespace,
            cni_namespace: run.cni_namespace,
            ..Options::default()
        },
    }
}

impl Live {
    /// Collects what a check needs.
    pub fn collect(&self, check: &'static Check) -> Collected {
        collect_now(&self.memory, &policy::items(&[check]), &self.options, None)
    }

    /// Runs one check.
    pub fn judge(&self, check: &'static Check) -> CheckResult {
        evaluate(check, &self.collect(check).cluster, Knowledge::embedded(), &self.settings)
    }

    /// The same cluster in which an item cannot be had.
    pub fn without(&self, item: &Item, why: Why) -> Live {
        let mut other = self.clone();
        other.memory.trouble.insert(item.clone(), why);
        other
    }
}
