//! From needs to evidence: asks a source for the union of what the selected checks need, several items at once, never
//! stopping at a failure, and files what comes. Everything is redacted here, before it is kept or saved. Async ends in
//! this file: what it returns is plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use jiff::Timestamp;
use serde::Deserialize;

use crate::fetched::{Fetched, Why};
use crate::item::{Item, Kind, Probe, Program, Scope};
use crate::model::cluster::{Answer, Cluster, TimeSource};
use crate::model::node::NodeSnapshot;
use crate::node_files::NodeFiles;
use crate::redact::Sanitized;
use crate::request::Request;
use crate::source::few::bounded;
use crate::source::{Source, Uncollected};
use crate::version::LinkerdVersion;

mod homes;
mod sanitizer;

use homes::{link_secrets, namespaces, namespaces_known, probes, unasked, undecided};
use sanitizer::Border;

/// How many items are asked for at once. The API server's connections are HTTP/1.1: each item in flight is one.
const AT_ONCE: usize = 6;

/// What the operator set that changes what is asked for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `-L`; found by labels when not set.
    pub control_plane_namespace: Option<String>,
    /// `--cni-namespace`; found by labels when not set.
    pub cni_namespace: Option<String>,
    /// `--linkerd-cli VERSION`: beats what the source says.
    pub cli_version: Option<LinkerdVersion>,
    /// `--at`.
    pub at: Option<Timestamp>,
    /// The kinds of which objects are kept whole, redacted, beside what checks read of them.
    pub whole: BTreeSet<Kind>,
}

/// Keeps what was collected, redacted but otherwise whole. Trouble in keeping is its own to remember.
pub trait Saver: Sync {
    /// One redacted object of an answer.
    fn object(&self, request: &Request, object: &Sanitized);
    /// What came for this request so far is void.
    fn restart(&self, request: &Request);
    /// One node's files, normalised and redacted.
    fn node(&self, files: &NodeFiles);
    /// How a request ended.
    fn ended(&self, request: &Request, fetched: &Fetched);
}

/// Is told how collecting goes on.
pub trait Observer: Sync {
    /// A request begins.
    fn started(&self, _request: &Request) {}
    /// So many objects of it have come.
    fn arrived(&self, _request: &Request, _objects: usize) {}
    /// It ended.
    fn ended(&self, _request: &Request, _fetched: &Fetched, _objects: usize) {}
}

/// An observer that looks away.
pub struct Unobserved;
impl Observer for Unobserved {}

/// What was kept and what was dropped at the border.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Objects or node files in which something was replaced or dropped.
    pub touched: usize,
}

/// The result of collecting.
pub struct Collected {
    /// The evidence.
    pub cluster: Cluster,
    /// What the source holds that no check reads.
    pub uncollected: Uncollected,
    /// What the border did.
    pub redaction: Redaction,
}

impl Collected {
    /// Adds what another source answered of items that were not asked for before.
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
    let run = Run { source, saver, observer, touched: &touched, whole: &options.whole };

    // What is asked for in the namespace of the control plane, the CNI or an extension waits for the lists that tell where
    // those live.
    let of_extension = |item: &Item| matches!(item.scope(), Some(Scope::Extension(_)));
    let scoped =
        |item: &Item| of_extension(item) || matches!(item.scope(), Some(Scope::ControlPlane | Scope::Cni));
    let of_links = |item: &Item| matches!(item.scope(), Some(Scope::Links));
    let is_probe = |item: &Item| matches!(item, Item::Probe(_));
    let mut first: BTreeSet<Item> =
        items.iter().filter(|item| !scoped(item) && !of_links(item) && !is_probe(item)).cloned().collect();
    if items.iter().any(is_probe) {
        first.extend([Item::List(Kind::Namespace), Item::List(Kind::Pod)]);
    }
    let is_linked = |item: &Item| *item == Item::Probe(Probe::of(Program::LinkedCluster));
    if items.iter().any(|item| of_links(item) || is_linked(item)) {
        first.insert(Item::List(Kind::Link));
    }
    if items.iter().any(scoped) {
        first.insert(Item::List(Kind::Deployment));
        first.insert(Item::List(Kind::DaemonSet));
    }
    if items.iter().any(of_extension) {
        first.insert(Item::List(Kind::Namespace));
    }
    // What a list holds is not requested once more by name, unless a bundle is to hold it.
    let listed: BTreeSet<Item> = match saver {
        None if source.origin().kind == "live" => {
            first.iter().filter(|item| in_list(item, &first)).cloned().collect()
        }
        None | Some(_) => BTreeSet::new(),
    };
    first.retain(|item| !listed.contains(item));
    let mut gathered = run.gather(first.into_iter().map(Request::of).map(fixed).collect()).await;
    let (held, unknown): (Vec<Item>, Vec<Item>) =
        listed.into_iter().partition(|item| list_of(item, &gathered).is_some());
    for item in held {
        if let Some(found) = list_of(&item, &gathered).and_then(|list| named_in(list, &item)) {
            gathered.insert(item, found);
        }
    }
    gathered.extend(run.gather(unknown.into_iter().map(Request::of).collect()).await);
    if undecided(&gathered) {
        gathered.extend(run.gather(vec![Request::of(Item::List(Kind::Deployment))]).await);
    }
    let namespaces = namespaces(options, &gathered);
    let second = items.iter().filter(|item| scoped(item)).map(|item| Request {
        namespace: item.scope().and_then(|scope| namespaces.of(scope)).map(str::to_owned),
        item: item.clone(),
    });
    let (second, nowhere): (Vec<Request>, Vec<Request>) =
        second.partition(|request| request.namespace.is_some());
    let beside_links =
        if items.iter().any(of_links) { link_secrets(&gathered, &namespaces) } else { Vec::new() };
    let probes = probes(items, &gathered, &namespaces);
    gathered.extend(run.gather(second.into_iter().chain(beside_links).chain(probes).collect()).await);
    let known = namespaces_known(&gathered);
    gathered.extend(nowhere.into_iter().map(|request| unasked(request, &known)));

    let server_version =
        take_version(&mut gathered, &Item::ServerVersion, |v: ServerVersion| v.git_version.parse());
    let found = take_version(&mut gathered, &Item::CliVersion, |v: CliVersion| {
        v.version.parse::<LinkerdVersion>().map(|version| (version, v.extensions))
    });
    let (cli_version, cli_extensions) = match (&options.cli_version, found) {
        // Another command than the one that was found.
        (Some(given), _) => (Ok(given.clone()), None),
        (None, Ok((version, extensions))) => (Ok(version), extensions),
        (None, Err(why)) => (Err(why), None),
    };
    let (nodes, node_trouble) = take_nodes(&mut gathered);
    let (at, time_source) = match (source.captured_at(), options.at) {
        (Some(captured), _) => (captured, TimeSource::Captured),
        (None, Some(flag)) => (flag, TimeSource::Flag),
        // Whole seconds, as Kubernetes writes times.
        (None, None) => {
            (Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default(), TimeSource::Clock)
        }
    };
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
    };
    let touched = touched.into_inner() + source.already_redacted();
    Collected { cluster, uncollected: source.uncollected(), redaction: Redaction { touched } }
}

/// The same, for sources that never wait: dumps, bundles, cases.
pub fn collect_now<S: Source>(
    source: &S,
    items: &BTreeSet<Item>,
    options: &Options,
    saver: Option<&dyn Saver>,
) -> Collected {
    futures::executor::block_on(collect(source, items, options, saver, &Unobserved))
}

/// Whether an item names an object of the cluster of which all of a kind are requested as well.
fn in_list(item: &Item, items: &BTreeSet<Item>) -> bool {
    matches!(item, Item::Named { kind, scope: Scope::Cluster, .. } if items.contains(&Item::List(*kind)))
}

/// The list that holds a named object, if it came whole.
fn list_of<'g>(item: &Item, gathered: &'g BTreeMap<Item, Gathered>) -> Option<&'g Answer> {
    let list = gathered.get(&Item::List(item.kind()?))?.answer.as_ref()?;
    (list.fetched == Fetched::Complete).then_some(list)
}

/// What a list says of one object of the cluster.
fn named_in(list: &Answer, item: &Item) -> Option<Gathered> {
    let Item::Named { name, .. } = item else { return None };
    let (request, fetched) = (Request::of(item.clone()), Fetched::Complete);
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

struct Run<'a, S> {
    source: &'a S,
    saver: Option<&'a dyn Saver>,
    observer: &'a dyn Observer,
    touched: &'a AtomicUsize,
    whole: &'a BTreeSet<Kind>,
}

/// What one request brought.
struct Gathered {
    answer: Option<Answer>,
    fetched: Fetched,
    raw: Vec<serde_json::Value>,
    nodes: Vec<NodeFiles>,
}

impl<S: Source> Run<'_, S> {
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
        let whole = matches!(&request.item, Item::List(kind) if self.whole.contains(kind));
        let mut border = Border::new(&request, self.saver, self.observer, (live, whole));
        let mut fetched = self.source.fetch(&request, &mut border).await;
        let Border { store, mut malformed, raw, nodes, arrived, touched, whole, .. } = border;
        self.touched.fetch_add(touched, Ordering::Relaxed);
        if let Fetched::Partial { reasons } = &fetched {
            // A bundle says already what of it could not be read when it was collected.
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
            Answer {
                request: request.clone(),
                fetched: fetched.clone(),
                store,
                whole: whole.unwrap_or_default(),
            }
        });
        (request.item, Gathered { answer, fetched, raw, nodes })
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
    let value =
        found.raw.into_iter().next().ok_or_else(|| malformed("no version in the answer".to_owned()))?;
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
