//! The evidence of `--bundle` as one cluster: bundles and dumps from folders, archives, files and standard input,
//! recognized by content. Uses no network, kubeconfig or command.

mod charts;
mod kustomizations;
mod loading;
mod manifests;
mod merge;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

pub use charts::{Charts, installed, value_keys};
use jiff::Timestamp;
use serde::Deserialize;

use self::loading::{Loading, STDIN, shown};
use self::merge::together;
use super::bundle::Bundle;
use super::dump::{Dump, Places, sysdump};
use super::error::LoadError;
use super::nodes::{NodeEvidence, collected_at};
use super::{Completeness, ObjectSink, Origin, Source, Uncollected};
use crate::archive::Tree;
use crate::archive::spool::Blob;
use crate::chart::gitops::{Annotated, Installed, ValueKey};
use crate::command::{Rerun, RerunOptions};
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Kind, Namespaces};
use crate::node_files::NodeFiles;
use crate::objects::mistyped::Mistyped;
use crate::request::Request;

/// Bundles and dumps as one cluster.
#[derive(Debug)]
pub struct Captured {
    bundles: Vec<Bundle>,
    dump: Option<Dump>,
    /// Node files in dumps.
    nodes: NodeEvidence,
    warnings: Vec<String>,
    ignored: Vec<String>,
    name: String,
    places: Option<Places>,
    set_aside: Vec<String>,
    charts: Vec<Installed>,
    texts: Charts,
    value_keys: Vec<ValueKey>,
}

/// Number of places with annotations in values to name.
const PLACES: usize = 3;

/// Keys of Linkerd in values of other charts, as what is not checked: only the rendered chart shows their effect.
fn in_values(others: &[Annotated]) -> Option<String> {
    let places: Vec<&str> =
        others.iter().filter(|one| !one.is_of_linkerd && !one.is_of_kustomize).map(|one| one.place.as_str()).collect();
    let named = places.iter().take(PLACES).copied().collect::<Vec<_>>().join(", ");
    let more = match places.len().saturating_sub(PLACES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!places.is_empty()).then(|| {
        let what = "the effect of Linkerd annotations in the values of other charts";
        format!("{what} (check the rendered output): {named}{more}")
    })
}

impl Captured {
    /// Opens all given paths. Standard input is read if one of the paths is `-`.
    ///
    /// # Errors
    /// A path does not exist, nothing can be read, or the paths are from different clusters.
    pub fn open(paths: &[PathBuf], completeness: Completeness, stdin: impl Read) -> Result<Captured, LoadError> {
        Captured::loaded(paths, Loading::new(completeness), "--bundle", stdin)
    }

    /// Opens manifests that are not applied yet. Objects without a namespace belong to `into`.
    ///
    /// # Errors
    /// As [`Captured::open`].
    pub fn manifests(paths: &[PathBuf], into: Option<String>, stdin: impl Read) -> Result<Captured, LoadError> {
        Captured::loaded(paths, Loading::of_manifests(into), "manifests", stdin)
    }

    fn loaded(paths: &[PathBuf], mut loading: Loading, given: &str, stdin: impl Read) -> Result<Captured, LoadError> {
        let name = paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        if paths.iter().filter(|path| path.as_os_str() == STDIN).count() > 1 {
            return Err(LoadError::Usage(format!("{given} -: stdin can be read only once")));
        }
        let mut stdin = Some(stdin);
        for path in paths {
            loading.builder.next_given();
            loading.path(path, &mut stdin)?;
        }
        let (charts, others) = loading.charts.found();
        let read = loading.builder.recognised();
        let places = loading.builder.places();
        let dump = loading.builder.finish();
        if loading.bundles.is_empty() && read == 0 && charts.is_empty() && others.is_empty() {
            let aside = dump.set_aside.reasons().into_iter();
            let mut reasons = loading.reasons.into_iter().chain(aside);
            let reason = reasons.next().or_else(|| match loading.manifests {
                // The reason for a single file is not helpful for a folder.
                true if loading.ignored.len() > 1 => {
                    Some("no .json, .yaml or .yml file in it contains Kubernetes objects".to_owned())
                }
                _ => loading.ignored.first().cloned(),
            });
            let reason = reason.unwrap_or_else(|| match paths {
                [path] if path.is_dir() => "the folder is empty".to_owned(),
                _ => "it is empty".to_owned(),
            });
            return Err(LoadError::Unreadable { path: name, reason });
        }
        let mut warnings = loading.warnings;
        warnings.extend(loading.bundles.iter().flat_map(Bundle::trouble));
        warnings.extend(loading.bundles.iter().filter_map(Bundle::without));
        warnings.extend(twice_captured(&loading.bundles));
        warnings.extend(dump.warnings.iter().cloned());
        warnings.extend(dump.trouble());
        // Errors matter even without objects: the affected lists are incomplete.
        let mut set_aside = dump.set_aside.reasons();
        set_aside.extend(in_values(&others));
        warnings.extend(set_aside.iter().map(|what| format!("not checked: {what}")));
        let dump = (read > 0 || !charts.is_empty() || !others.is_empty() || !dump.trouble().is_empty()).then_some(dump);
        let (bundles, mut ignored, texts) = (loading.bundles, loading.ignored, loading.charts);
        let nodes = configured(loading.configurations, dump.as_ref(), &mut ignored);
        let value_keys = others.into_iter().flat_map(|one| one.keys).collect();
        let evidence =
            Captured { bundles, dump, nodes, warnings, ignored, name, places, set_aside, charts, texts, value_keys };
        evidence.one_cluster()?;
        Ok(evidence)
    }

    /// Positions of the objects of manifests in their files.
    pub fn places(&mut self) -> Option<Places> {
        self.places.take()
    }

    /// The Linkerd charts that manifests install.
    pub fn charts(&mut self) -> Vec<Installed> {
        std::mem::take(&mut self.charts)
    }

    /// The texts of manifests, from which their charts were read.
    pub fn texts(&mut self) -> Charts {
        std::mem::take(&mut self.texts)
    }

    /// Warnings for the operator: unreadable parts, duplicates.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Parts of manifests that were set aside because they cannot be applied as they are.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Files that could not be read, or not in full, each with position and error.
    pub fn unreadable(&self) -> Vec<String> {
        self.dump.as_ref().map(Dump::trouble).into_iter().flatten().collect()
    }

    /// Values of the wrong type in manifests.
    pub fn mistyped(&self) -> &[Mistyped] {
        self.dump.as_ref().map_or(&[], |dump| &dump.mistyped)
    }

    /// Objects of manifests that differ between folders, so that none of them is held: kind, namespace, name.
    pub fn apart(&self) -> impl Iterator<Item = (Kind, &str, &str)> {
        let all = self.dump.iter().flat_map(|dump| &dump.apart);
        all.map(|(kind, (namespace, name))| (*kind, &**namespace, &**name))
    }

    /// Keys of Linkerd in the chart values of manifests.
    pub fn value_keys(&self) -> &[ValueKey] {
        &self.value_keys
    }

    /// Files without evidence, with the reason.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// Namespaces of the control plane and linkerd-cni at collection time, if a bundle records them.
    pub fn namespaces(&self) -> Option<Namespaces> {
        self.latest().map(Bundle::namespaces)
    }

    /// Name of the cluster, if a bundle records it.
    pub fn cluster_name(&self) -> Option<&str> {
        self.latest().and_then(|bundle| bundle.manifest().cluster.name.as_deref())
    }

    /// Options to request the same evidence again, if a bundle records them.
    pub fn rerun(&self) -> Option<&Rerun> {
        self.latest().map(|bundle| &bundle.manifest().rerun)
    }

    /// Options of the run that wrote a ticket, if they were not the defaults.
    pub fn run_options(&self) -> Option<&RerunOptions> {
        self.latest()?.manifest().asked.as_ref()
    }

    fn latest(&self) -> Option<&Bundle> {
        self.bundles.iter().max_by_key(|bundle| bundle.manifest().captured_at)
    }

    /// Different uids of `kube-system` mean different clusters.
    fn one_cluster(&self) -> Result<(), LoadError> {
        let mut uids: Vec<(String, String)> = Vec::new();
        for bundle in &self.bundles {
            uids.extend(bundle.manifest().cluster.uid.clone().map(|uid| (uid, bundle.name.clone())));
        }
        let dumped = self.dump.iter().flat_map(|dump| &dump.uids);
        uids.extend(dumped.map(|(uid, file)| (uid.clone(), file.clone())));
        let Some((first, name)) = uids.first() else { return Ok(()) };
        match uids.iter().find(|(uid, _)| uid != first) {
            None => Ok(()),
            Some((_, other)) => {
                let (first, second) = (name.min(other).clone(), name.max(other).clone());
                Err(LoadError::TwoClusters { first, second })
            }
        }
    }

    fn parts(&self) -> Vec<EvidencePart<'_>> {
        self.bundles.iter().map(EvidencePart::Bundle).chain(self.dump.as_ref().map(EvidencePart::Dump)).collect()
    }

    /// The union of an item's objects in several parts: each object once, in its latest state.
    fn union(&self, parts: &[EvidencePart<'_>], request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let mut latest: BTreeMap<Id, (ObjectAge, usize)> = BTreeMap::new();
        let mut outcomes = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            outcomes.push(part.answer(request, &mut |json| {
                let (id, state) = identify(json);
                let newer = latest.get(&id).is_none_or(|(earlier, _)| *earlier < state);
                if newer {
                    latest.insert(id, (state, at));
                }
            }));
        }
        for (at, part) in parts.iter().enumerate() {
            part.answer(request, &mut |json| {
                let (id, _) = identify(json);
                if latest.get(&id).is_some_and(|(_, chosen)| *chosen == at) {
                    latest.remove(&id);
                    sink.object(json);
                }
            });
        }
        together(outcomes)
    }

    fn nodes(&self, sink: &mut dyn ObjectSink) -> Fetched {
        let mut held: BTreeMap<String, (NodeFiles, usize)> = BTreeMap::new();
        let mut outcomes = Vec::new();
        for (at, bundle) in self.bundles.iter().enumerate() {
            outcomes.push(bundle.nodes(&mut |files| {
                let newer = |(earlier, _): &(NodeFiles, usize)| collected_at(&files) >= collected_at(earlier);
                if held.get(&files.node).is_none_or(newer) {
                    held.insert(files.node.clone(), (files, at));
                }
            }));
        }
        if self.nodes.nodes().next().is_some() {
            // A node snapshot of a bundle contains more.
            outcomes.push(self.nodes.answer(&mut |files| {
                held.entry(files.node.clone()).or_insert((files, self.bundles.len()));
            }));
        }
        held.into_values().for_each(|(files, _)| sink.node(files));
        if outcomes.is_empty() { Fetched::Missing { reason: Why::NotOffered } } else { together(outcomes) }
    }
}

impl Source for Captured {
    fn origin(&self) -> Origin {
        let kind = if self.dump.is_none() { "bundle" } else { "dump" };
        Origin { kind: kind.to_owned(), name: self.name.clone() }
    }

    async fn fetch(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let parts = self.parts();
        match (&request.item, parts.as_slice()) {
            (Item::NodeFiles, _) => self.nodes(sink),
            (_, [part]) => part.fill(request, sink),
            (Item::List(_) | Item::Named { .. } | Item::Logs | Item::Diagnostics, parts) => {
                self.union(parts, request, sink)
            }
            (_, parts) => {
                // The version has one value: the first.
                let mut outcomes = Vec::new();
                for part in parts {
                    let mut answer = None;
                    outcomes.push(part.answer(request, &mut |json| answer = Some(json.to_vec())));
                    if let Some(answer) = answer {
                        sink.object(&answer);
                        return Fetched::Complete;
                    }
                }
                together(outcomes)
            }
        }
    }

    fn captured_at(&self) -> Option<Timestamp> {
        self.latest().and_then(|bundle| bundle.manifest().captured_at)
    }

    fn uncollected(&self) -> Uncollected {
        let mut all = self.dump.as_ref().map(Dump::uncollected).unwrap_or_default();
        for bundle in &self.bundles {
            let of_bundle = bundle.uncollected();
            // If several contain it, the largest number applies.
            for (resource, objects) in of_bundle.held {
                let held = all.held.entry(resource).or_default();
                *held = objects.max(*held);
            }
            all.complete = of_bundle.complete && (self.dump.is_none() || all.complete);
        }
        all
    }

    fn already_redacted(&self) -> usize {
        self.bundles.iter().map(|bundle| bundle.manifest().redaction.touched).sum()
    }
}

enum EvidencePart<'a> {
    Bundle(&'a Bundle),
    Dump(&'a Dump),
}

impl EvidencePart<'_> {
    fn fill(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        match self {
            EvidencePart::Bundle(bundle) => bundle.fill(request, sink),
            EvidencePart::Dump(dump) => dump.answer(request, &mut |json| sink.object(json)),
        }
    }

    fn answer(&self, request: &Request, take: &mut dyn FnMut(&[u8])) -> Fetched {
        match self {
            EvidencePart::Bundle(bundle) => bundle.answer(request, take),
            EvidencePart::Dump(dump) => dump.answer(request, take),
        }
    }
}

/// Identity of an object: namespace and name. Objects without a name are compared by their text.
type Id = (String, String);
/// Resource version and creation time: the higher is later.
type ObjectAge = (u64, Option<Timestamp>);

fn identify(json: &[u8]) -> (Id, ObjectAge) {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Peek {
        metadata: PeekMeta,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct PeekMeta {
        namespace: Option<String>,
        name: Option<String>,
        resource_version: Option<String>,
        creation_timestamp: Option<Timestamp>,
    }
    let meta = serde_json::from_slice::<Peek>(json).unwrap_or_default().metadata;
    let version = meta.resource_version.and_then(|version| version.parse().ok()).unwrap_or_default();
    let name = meta.name.unwrap_or_else(|| String::from_utf8_lossy(json).into_owned());
    ((meta.namespace.unwrap_or_default(), name), (version, meta.creation_timestamp))
}

/// CNI configuration files in sysdumps, as node files of the nodes of their pods. Other files of the directory are
/// unknown: the tool stops at the first unreadable file.
fn configured(
    configurations: Vec<(String, String, Blob)>,
    dump: Option<&Dump>,
    ignored: &mut Vec<String>,
) -> NodeEvidence {
    let mut evidence = NodeEvidence::from("sysdump");
    if configurations.is_empty() {
        return evidence;
    }
    let pods = dump.map(Dump::nodes_of_pods).unwrap_or_default();
    let mut trees: BTreeMap<&str, (String, Tree)> = BTreeMap::new();
    for (written, place, blob) in configurations {
        let Some((file, pod)) = sysdump::configuration(&written, &pods) else {
            ignored.push(format!("{place}: the pod that it was copied from is missing from the dump"));
            continue;
        };
        let (_, tree) = trees.entry(pods[pod].as_str()).or_insert_with(|| (place.clone(), Tree::default()));
        tree.files.insert(format!("cni/net.d/{file}"), blob);
    }
    for (node, (place, tree)) in trees {
        evidence.add_node(node, &place, &tree);
    }
    evidence
}

/// A warning for each node with evidence in several bundles.
fn twice_captured(bundles: &[Bundle]) -> Vec<String> {
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for record in bundles.iter().flat_map(|bundle| &bundle.manifest().nodes) {
        *of.entry(&record.node).or_default() += 1;
    }
    let twice = of.into_iter().filter(|(_, count)| *count > 1);
    twice.map(|(node, count)| format!("node {node}: {count} bundles contain it; the latest one is used")).collect()
}
