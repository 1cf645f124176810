//! Collects evidence: requests the union of the items that the selected checks need, in parallel, without stopping at
//! failures, and files the results. All objects are redacted before they are kept or saved. Async code ends here: the
//! result is plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use jiff::Timestamp;
use serde::Deserialize;

use crate::chart::gitops::ValueKey;
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Kind, Probe, Program, Scope};
use crate::model::cluster::{Answer, Cluster, TimeSource};
use crate::model::is_kept_in_full;
use crate::model::node::NodeSnapshot;
use crate::node_files::NodeFiles;
use crate::objects::mistyped::Mistyped;
use crate::redact::Sanitized;
use crate::request::Request;
use crate::source::bounded_errors::bounded;
use crate::source::kept::{FEWER, Limit, ObjectCount};
use crate::source::{Source, Uncollected};
use crate::version::LinkerdVersion;

mod namespace_discovery;
mod sanitizer;

use namespace_discovery::{controller_configs, link_secrets, namespaces, namespaces_known, probes, unasked, undecided};
use sanitizer::Border;

/// Number of parallel requests. Connections to the API server use HTTP/1.1: each request needs its own.
const AT_ONCE: usize = 6;

/// Settings that affect requests.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `-L`; by default found by labels.
    pub control_plane_namespace: Option<String>,
    /// `--cni-namespace`; by default found by labels.
    pub cni_namespace: Option<String>,
    /// `--linkerd-cli VERSION`: overrides the source.
    pub cli_version: Option<LinkerdVersion>,
    /// `--at`.
    pub at: Option<Timestamp>,
    /// Kinds whose objects are kept completely (redacted), in addition to the parts that checks read.
    pub whole: BTreeSet<Kind>,
    /// Objects that are applied by the change of the run: kind, namespace, name.
    pub applied: BTreeSet<(Kind, String, String)>,
    /// Values of the wrong type in the change of the run: the API server rejects their objects.
    pub mistyped: Vec<Mistyped>,
    /// Objects of the change of the run that differ between its folders: kind, namespace, name.
    pub apart: BTreeSet<(Kind, String, String)>,
    /// Keys of Linkerd in chart values of the change of the run.
    pub value_keys: Vec<ValueKey>,
}

/// Stores collected objects completely, redacted. It records its own errors.
pub trait Saver: Sync {
    /// One redacted object.
    fn object(&self, request: &Request, object: &Sanitized);
    /// Discards the objects of this request so far.
    fn restart(&self, request: &Request);
    /// Normalized and redacted files of one node.
    fn node(&self, files: &NodeFiles);
    /// Outcome of a request.
    fn ended(&self, request: &Request, fetched: &Fetched);
}

/// Receives progress events.
pub trait Observer: Sync {
    /// A request starts.
    fn started(&self, _request: &Request) {}
    /// Number of objects received so far.
    fn arrived(&self, _request: &Request, _objects: usize) {}
    /// A request ended.
    fn ended(&self, _request: &Request, _fetched: &Fetched, _objects: usize) {}
}

/// Ignores all progress events.
pub struct Unobserved;
impl Observer for Unobserved {}

/// Result of the redaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Number of objects and node files with replaced or dropped values.
    pub touched: usize,
}

/// The result of collecting.
pub struct Collected {
    /// The evidence.
    pub cluster: Cluster,
    /// Objects of kinds that no check reads.
    pub uncollected: Uncollected,
    /// Result of the redaction.
    pub redaction: Redaction,
}

impl Collected {
    /// Adds the results of another source for items that were not requested before.
    pub fn add(&mut self, other: Collected) {
        self.cluster.answers.extend(other.cluster.answers);
        self.redaction.touched += other.redaction.touched;
    }
}

/// Collects `items` from `source`.
pub async fn collect<S: Source>(
    source: &S,
    items: &BTreeSet<Item>,
    options: &Options,
    saver: Option<&dyn Saver>,
    observer: &dyn Observer,
) -> Collected {
    let touched = AtomicUsize::new(0);
    let kept = ObjectCount::default();
    let run = CollectRun { source, saver, observer, touched: &touched, whole: &options.whole, kept: &kept };

    let mut first = first_items(items);
    // An object in a requested list is not requested again by name, unless a bundle must contain it.
    let listed: BTreeSet<Item> = match saver {
        None if source.origin().kind == "live" => first.iter().filter(|item| in_list(item, &first)).cloned().collect(),
        None | Some(_) => BTreeSet::new(),
    };
    first.retain(|item| !listed.contains(item));
    let mut gathered = run.gather(first.into_iter().map(Request::new).map(fixed).collect()).await;
    let (held, unknown): (Vec<Item>, Vec<Item>) =
        listed.into_iter().partition(|item| list_of(item, &gathered).is_some());
    for item in held {
        if let Some(found) = list_of(&item, &gathered).and_then(|list| named_in(list, &item)) {
            gathered.insert(item, found);
        }
    }
    gathered.extend(run.gather(unknown.into_iter().map(Request::new).collect()).await);
    if undecided(items, &gathered) {
        gathered.extend(run.gather(vec![Request::new(Item::List(Kind::Deployment))]).await);
    }
    let namespaces = namespaces(options, &gathered);
    let second = items.iter().filter(|item| is_scoped(item)).map(|item| Request {
        namespace: item.scope().and_then(|scope| namespaces.namespace_for(scope)).map(str::to_owned),
        item: item.clone(),
    });
    let (second, nowhere): (Vec<Request>, Vec<Request>) = second.partition(|request| request.namespace.is_some());
    let beside_links = if items.iter().any(is_of_links) { link_secrets(&gathered, &namespaces) } else { Vec::new() };
    let of_controllers = if items.iter().any(is_of_controllers) { controller_configs(&gathered) } else { Vec::new() };
    let probes = probes(items, &gathered, &namespaces);
    let second = second.into_iter().chain(beside_links).chain(of_controllers).chain(probes);
    gathered.extend(run.gather(second.collect()).await);
    let known = namespaces_known(&gathered);
    gathered.extend(nowhere.into_iter().map(|request| unasked(request, &known)));

    let server_version = take_version(&mut gathered, &Item::ServerVersion, |v: ServerVersion| v.git_version.parse());
    let (cli_version, cli_extensions) = take_cli(&mut gathered, options);
    let (nodes, node_trouble) = take_nodes(&mut gathered);
    let (at, time_source) = evaluation_time(source.captured_at(), options.at);
    let cluster = Cluster {
        answers: gathered.into_iter().filter_map(|(item, g)| Some((item, g.answer?))).collect(),
        namespaces,
        server_version,
        cli_version,
        cli_extensions,
        nodes,
        node_trouble,
        at,
        time_source,
        live: source.origin().kind == "live",
        applied: options.applied.clone(),
        mistyped: options.mistyped.clone(),
        apart: options.apart.clone(),
        value_keys: options.value_keys.clone(),
    };
    let touched = touched.into_inner() + source.already_redacted();
    Collected { cluster, uncollected: source.uncollected(), redaction: Redaction { touched } }
}

/// Whether an item is in the namespace of an extension.
fn is_of_extension(item: &Item) -> bool {
    matches!(item.scope(), Some(Scope::Extension(_)))
}

/// Whether an item waits for the lists that reveal its namespace: that of the control plane, the CNI or an extension.
fn is_scoped(item: &Item) -> bool {
    is_of_extension(item) || matches!(item.scope(), Some(Scope::ControlPlane | Scope::Cni))
}

/// Whether the Links of the cluster name the item.
fn is_of_links(item: &Item) -> bool {
    matches!(item.scope(), Some(Scope::Links))
}

/// Whether ingress controllers name the item.
fn is_of_controllers(item: &Item) -> bool {
    matches!(item.scope(), Some(Scope::IngressControllers))
}

/// The items that wait for nothing, and the lists that the others wait for.
fn first_items(items: &BTreeSet<Item>) -> BTreeSet<Item> {
    let is_probe = |item: &Item| matches!(item, Item::Probe(_));
    let waits = |item: &Item| is_scoped(item) || is_of_links(item) || is_of_controllers(item) || is_probe(item);
    let mut first: BTreeSet<Item> = items.iter().filter(|item| !waits(item)).cloned().collect();
    if items.iter().any(is_probe) {
        first.extend([Item::List(Kind::Namespace), Item::List(Kind::Pod)]);
    }
    let is_linked = |item: &Item| *item == Item::Probe(Probe::new(Program::LinkedCluster));
    if items.iter().any(|item| is_of_links(item) || is_linked(item)) {
        first.insert(Item::List(Kind::Link));
    }
    if items.iter().any(is_of_controllers) {
        first.insert(Item::List(Kind::Pod));
    }
    if items.iter().any(is_scoped) {
        first.insert(Item::List(Kind::Deployment));
        first.insert(Item::List(Kind::DaemonSet));
    }
    if items.iter().any(is_of_extension) {
        first.insert(Item::List(Kind::Namespace));
    }
    first
}

/// The time at which evidence is judged: that of its capture, a flag's, or the clock's in whole seconds, as
/// in Kubernetes.
fn evaluation_time(captured: Option<Timestamp>, flag: Option<Timestamp>) -> (Timestamp, TimeSource) {
    match (captured, flag) {
        (Some(captured), _) => (captured, TimeSource::Captured),
        (None, Some(flag)) => (flag, TimeSource::Flag),
        (None, None) => (Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default(), TimeSource::Clock),
    }
}

/// The same for sources without a network: dumps, bundles, cases.
pub fn collect_now<S: Source>(
    source: &S,
    items: &BTreeSet<Item>,
    options: &Options,
    saver: Option<&dyn Saver>,
) -> Collected {
    futures::executor::block_on(collect(source, items, options, saver, &Unobserved))
}

/// Whether an item names an object whose kind is also requested as a list.
fn in_list(item: &Item, items: &BTreeSet<Item>) -> bool {
    matches!(item, Item::Named { kind, scope: Scope::Cluster, .. } if items.contains(&Item::List(*kind)))
}

/// The list with a named object, if it is complete.
fn list_of<'g>(item: &Item, gathered: &'g BTreeMap<Item, Gathered>) -> Option<&'g Answer> {
    let list = gathered.get(&Item::List(item.kind()?))?.answer.as_ref()?;
    (list.fetched == Fetched::Complete).then_some(list)
}

/// One object of a list.
fn named_in(list: &Answer, item: &Item) -> Option<Gathered> {
    let Item::Named { name, .. } = item else { return None };
    let (request, fetched) = (Request::new(item.clone()), Fetched::Complete);
    let store = list.store.only("", name);
    let answer = Answer { request, fetched: fetched.clone(), store, whole: Vec::new() };
    Some(Gathered { answer: Some(answer), fetched, raw: Vec::new(), nodes: Vec::new() })
}

fn fixed(mut request: Request) -> Request {
    if let Some(Scope::Fixed(namespace)) = request.item.scope() {
        request.namespace = Some(namespace.clone());
    }
    request
}

struct CollectRun<'a, S> {
    source: &'a S,
    saver: Option<&'a dyn Saver>,
    observer: &'a dyn Observer,
    touched: &'a AtomicUsize,
    whole: &'a BTreeSet<Kind>,
    kept: &'a ObjectCount,
}

/// Result of one request.
struct Gathered {
    answer: Option<Answer>,
    fetched: Fetched,
    raw: Vec<serde_json::Value>,
    nodes: Vec<NodeFiles>,
}

impl<S: Source> CollectRun<'_, S> {
    async fn gather(&self, requests: Vec<Request>) -> BTreeMap<Item, Gathered> {
        futures::stream::iter(requests)
            .map(|request| self.one(request))
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>()
            .await
            .into_iter()
            .collect()
    }

    async fn one(&self, request: Request) -> (Item, Gathered) {
        self.observer.started(&request);
        let live = self.source.origin().kind == "live";
        let whole = matches!(&request.item, Item::List(kind) if self.whole.contains(kind) || is_kept_in_full(*kind));
        let mut border = Border::new(&request, self.saver, self.observer, (live, whole), self.kept);
        let mut fetched = self.source.fetch(&request, &mut border).await;
        let Border { store, mut malformed, raw, nodes, arrived, touched, whole, limit, .. } = border;
        malformed.extend(limit.map(|limit| self.limited(limit)));
        self.touched.fetch_add(touched, Ordering::Relaxed);
        if let Fetched::Partial { reasons } = &fetched {
            // A bundle already records its errors at collection time.
            let reasons: BTreeSet<&Why> = reasons.iter().collect();
            malformed.retain(|why| !reasons.contains(why));
        }
        if !malformed.is_empty() {
            fetched = match fetched {
                Fetched::Complete => Fetched::Partial { reasons: malformed },
                Fetched::Partial { reasons } => Fetched::Partial { reasons: [reasons, malformed].concat() },
                missing @ Fetched::Missing { .. } => missing,
            };
        }
        // Every check that needs the item repeats the reasons.
        fetched = bounded(fetched);
        self.observer.ended(&request, &fetched, arrived);
        if let Some(saver) = self.saver {
            saver.ended(&request, &fetched);
        }
        let answer = store.map(|mut store| {
            store.finish();
            Answer { request: request.clone(), fetched: fetched.clone(), store, whole: whole.unwrap_or_default() }
        });
        (request.item, Gathered { answer, fetched, raw, nodes })
    }

    /// The reason of a list that a limit ended.
    fn limited(&self, limit: Limit) -> Why {
        let origin = self.source.origin();
        if origin.kind == "live" {
            return Why::Failed { message: format!("{limit}; the rest of the list was not kept") };
        }
        Why::Malformed { message: format!("{}: {limit}; the rest was not kept: {FEWER}", origin.name) }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerVersion {
    git_version: String,
}

#[derive(Deserialize)]
struct CliVersion {
    version: String,
    extensions: Option<Vec<String>>,
}

/// The version and the extensions of the linkerd CLI.
fn take_cli(
    gathered: &mut BTreeMap<Item, Gathered>,
    options: &Options,
) -> (Result<LinkerdVersion, Why>, Option<Vec<String>>) {
    let found = take_version(gathered, &Item::CliVersion, |v: CliVersion| {
        v.version.parse::<LinkerdVersion>().map(|version| (version, v.extensions))
    });
    match (&options.cli_version, found) {
        // The given version belongs to another command than the one found.
        (Some(given), _) => (Ok(given.clone()), None),
        (None, Ok((version, extensions))) => (Ok(version), extensions),
        (None, Err(why)) => (Err(why), None),
    }
}

fn take_version<R, V, E>(
    gathered: &mut BTreeMap<Item, Gathered>,
    item: &Item,
    parse: impl Fn(R) -> Result<V, E>,
) -> Result<V, Why>
where
    R: serde::de::DeserializeOwned,
    E: std::fmt::Display,
{
    let Some(found) = gathered.remove(item) else { return Err(Why::NotOffered) };
    if let Fetched::Missing { reason } = found.fetched {
        return Err(reason);
    }
    let malformed = |message: String| Why::Malformed { message };
    let value = found.raw.into_iter().next().ok_or_else(|| malformed("the response contains no version".to_owned()))?;
    let raw: R = serde_json::from_value(value).map_err(|e| malformed(e.to_string()))?;
    parse(raw).map_err(|e| malformed(e.to_string()))
}

fn take_nodes(gathered: &mut BTreeMap<Item, Gathered>) -> (Result<Vec<NodeSnapshot>, Why>, Vec<Why>) {
    let Some(found) = gathered.remove(&Item::NodeFiles) else { return (Err(Why::NotOffered), Vec::new()) };
    let trouble = match found.fetched {
        Fetched::Missing { reason } => return (Err(reason), Vec::new()),
        Fetched::Partial { reasons } => reasons,
        Fetched::Complete => Vec::new(),
    };
    let mut snapshots: Vec<NodeSnapshot> = found.nodes.iter().map(NodeSnapshot::parse).collect();
    snapshots.sort_by(|a, b| a.node.cmp(&b.node));
    (Ok(snapshots), trouble)
}
