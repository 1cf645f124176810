//! What `--bundle` was given, as one cluster: bundles of ours and dumps of any kind, from folders, archives, files and
//! stdin, told apart by what is in them. Nothing here touches a network, a kubeconfig or a command.

mod kustomizations;
mod loading;
mod manifests;
mod together;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;

use self::loading::{Loading, STDIN, shown};
use self::together::together;
use super::bundle::Bundle;
use super::dump::{Dump, Places, sysdump};
use super::error::LoadError;
use super::nodes::{NodeEvidence, collected_at};
use super::{Completeness, ObjectSink, Origin, Source, Uncollected};
use crate::archive::Tree;
use crate::archive::spool::Blob;
use crate::chart::gitops::Installed;
use crate::command::{Asked, Rerun};
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Namespaces};
use crate::node_files::NodeFiles;
use crate::request::Request;

/// Bundles and dumps as one cluster.
#[derive(Debug)]
pub struct Captured {
    bundles: Vec<Bundle>,
    dump: Option<Dump>,
    /// Files of nodes that lay in dumps.
    nodes: NodeEvidence,
    warnings: Vec<String>,
    ignored: Vec<String>,
    name: String,
    places: Option<Places>,
    set_aside: Vec<String>,
    charts: Vec<Installed>,
}

impl Captured {
    /// Opens everything that was given. `stdin` is read if one of the paths is `-`.
    ///
    /// # Errors
    /// A path is not there, nothing in them can be read, or they are of two clusters.
    pub fn open(
        paths: &[PathBuf],
        completeness: Completeness,
        stdin: impl Read,
    ) -> Result<Captured, LoadError> {
        Captured::loaded(paths, Loading::new(completeness), "--bundle", stdin)
    }

    /// Opens manifests that nobody has applied yet. Those that name no namespace are of `into`.
    ///
    /// # Errors
    /// As [`Captured::open`].
    pub fn manifests(
        paths: &[PathBuf],
        into: Option<String>,
        stdin: impl Read,
    ) -> Result<Captured, LoadError> {
        Captured::loaded(paths, Loading::of_manifests(into), "manifests", stdin)
    }

    fn loaded(
        paths: &[PathBuf],
        mut loading: Loading,
        given: &str,
        stdin: impl Read,
    ) -> Result<Captured, LoadError> {
        let name = paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", ");
        if paths.iter().filter(|path| path.as_os_str() == STDIN).count() > 1 {
            return Err(LoadError::Usage(format!("{given} -: stdin can be read only once")));
        }
        let mut stdin = Some(stdin);
        for path in paths {
            loading.builder.next_given();
            loading.path(path, &mut stdin)?;
        }
        let charts = loading.charts();
        let read = loading.builder.recognised();
        let places = loading.builder.places();
        let dump = loading.builder.finish();
        if loading.bundles.is_empty() && read == 0 && charts.is_empty() {
            let aside = dump.set_aside.said().into_iter();
            let mut reasons = loading.reasons.into_iter().chain(aside);
            let reason = reasons.next().or_else(|| match loading.manifests {
                // That of any one file says little of a folder.
                true if loading.ignored.len() > 1 => {
                    Some("no .json, .yaml or .yml in it holds Kubernetes objects".to_owned())
                }
                _ => loading.ignored.first().cloned(),
            });
            let reason = reason.unwrap_or_else(|| "nothing is in it".to_owned());
            return Err(LoadError::Unreadable { path: name, reason });
        }
        let mut warnings = loading.warnings;
        warnings.extend(loading.bundles.iter().flat_map(Bundle::trouble));
        warnings.extend(loading.bundles.iter().filter_map(Bundle::without));
        warnings.extend(twice_captured(&loading.bundles));
        warnings.extend(dump.warnings.iter().cloned());
        warnings.extend(dump.trouble());
        // Trouble without any object is trouble still: what it concerns is not complete.
        let set_aside = dump.set_aside.said();
        warnings.extend(set_aside.iter().map(|what| format!("not checked: {what}")));
        let dump = (read > 0 || !charts.is_empty() || !dump.trouble().is_empty()).then_some(dump);
        let (bundles, mut ignored) = (loading.bundles, loading.ignored);
        let nodes = configured(loading.configurations, dump.as_ref(), &mut ignored);
        let evidence = Captured { bundles, dump, nodes, warnings, ignored, name, places, set_aside, charts };
        evidence.one_cluster()?;
        Ok(evidence)
    }

    /// Where the objects of manifests stand in their files.
    pub fn places(&mut self) -> Option<Places> {
        self.places.take()
    }

    /// The charts of Linkerd that manifests have installed.
    pub fn charts(&mut self) -> Vec<Installed> {
        std::mem::take(&mut self.charts)
    }

    /// What the operator should know: what could not be read, what was given twice.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What of manifests cannot be applied as it is, and was set aside.
    pub fn set_aside(&self) -> &[String] {
        &self.set_aside
    }

    /// Files that hold nothing of a cluster, with the reason.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The bundles of ours among it.
    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    /// Where the control plane and linkerd-cni were looked for when it was captured, if a bundle says.
    pub fn namespaces(&self) -> Option<Namespaces> {
        self.latest().map(Bundle::namespaces)
    }

    /// What the cluster is called, if a bundle says.
    pub fn cluster_name(&self) -> Option<&str> {
        self.latest().and_then(|bundle| bundle.manifest().cluster.name.as_deref())
    }

    /// What it takes to ask the same again, if a bundle says.
    pub fn rerun(&self) -> Option<&Rerun> {
        self.latest().map(|bundle| &bundle.manifest().rerun)
    }

    /// What was asked of the run that made a ticket, if that was not everything.
    pub fn asked(&self) -> Option<&Asked> {
        self.latest()?.manifest().asked.as_ref()
    }

    fn latest(&self) -> Option<&Bundle> {
        self.bundles.iter().max_by_key(|bundle| bundle.manifest().captured_at)
    }

    /// Two uids of `kube-system` are two clusters.
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

    fn parts(&self) -> Vec<Part<'_>> {
        self.bundles.iter().map(Part::Bundle).chain(self.dump.as_ref().map(Part::Dump)).collect()
    }

    /// The union of what several parts hold of an item: each object once, in its latest state.
    fn union(&self, parts: &[Part<'_>], request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        let mut latest: BTreeMap<Id, (State, usize)> = BTreeMap::new();
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
            // A bundle's snapshot of a node says more.
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
                // One version, one answer: the first that there is.
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
        self.latest().map(|bundle| bundle.manifest().captured_at)
    }

    fn uncollected(&self) -> Uncollected {
        let mut all = self.dump.as_ref().map(Dump::uncollected).unwrap_or_default();
        for bundle in &self.bundles {
            let of_bundle = bundle.uncollected();
            // What lies in several of them is counted where most of it lies.
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

enum Part<'a> {
    Bundle(&'a Bundle),
    Dump(&'a Dump),
}

impl Part<'_> {
    fn fill(&self, request: &Request, sink: &mut dyn ObjectSink) -> Fetched {
        match self {
            Part::Bundle(bundle) => bundle.fill(request, sink),
            Part::Dump(dump) => dump.answer(request, &mut |json| sink.object(json)),
        }
    }

    fn answer(&self, request: &Request, take: &mut dyn FnMut(&[u8])) -> Fetched {
        match self {
            Part::Bundle(bundle) => bundle.answer(request, take),
            Part::Dump(dump) => dump.answer(request, take),
        }
    }
}

/// Which object it is: namespace and name. Objects that have none are told apart by their text.
type Id = (String, String);
/// Resource version and creation: the higher is the later state.
type State = (u64, Option<Timestamp>);

fn identify(json: &[u8]) -> (Id, State) {
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

/// Files of CNI configuration out of sysdumps, as files of the nodes that their pods ran on. What else lies in the directory is not
/// known: the tool stops at the first file that it cannot read.
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
            ignored
                .push(format!("{place}: the pod that it was copied from is not among the pods of the dump"));
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

/// A warning for each node that several bundles have evidence of.
fn twice_captured(bundles: &[Bundle]) -> Vec<String> {
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    for record in bundles.iter().flat_map(|bundle| &bundle.manifest().nodes) {
        *of.entry(&record.node).or_default() += 1;
    }
    let twice = of.into_iter().filter(|(_, count)| *count > 1);
    twice
        .map(|(node, count)| format!("node {node}: {count} bundles have it; the one collected last counts"))
        .collect()
}
