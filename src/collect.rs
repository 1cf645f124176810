//! From needs to evidence: asks a source for the union of what the selected checks need, several items at once, never
//! stopping at a failure, and files what comes. Everything is redacted here, before it is kept or saved. Async ends in
//! this file: what it returns is plain data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use jiff::Timestamp;
use serde::Deserialize;

use crate::item::{Item, Kind, Probe, Program, Scope};
use crate::model::cluster::{Answer, Cluster, TimeSource};
use crate::model::log::{Log, LogObject};
use crate::model::node::{self, NodeFiles, NodeSnapshot};
use crate::model::objects::{AccessReview, ProbeAnswer, ServedCertificates, Store, store_for};
use crate::redact;
use crate::source::{Fetched, Intake, Request, Source, Why};
use crate::version::LinkerdVersion;

mod homes;

pub(crate) use homes::secret_of;
use homes::{link_secrets, namespaces, namespaces_known, probes, unasked};

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
}

/// Keeps what was collected, redacted but otherwise whole. Trouble in keeping is its own to remember.
pub trait Saver: Sync {
    /// One redacted object of an answer.
    fn object(&self, request: &Request, object: &serde_json::Value);
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
    /// What the border did.
    pub redaction: Redaction,
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
    let run = Run { source, saver, observer, touched: &touched };

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
    let mut gathered = run.gather(first.into_iter().map(Request::of).map(fixed).collect()).await;
    let namespaces = namespaces(options, &gathered);
    let second = items.iter().filter(|item| scoped(item)).map(|item| Request {
        namespace: item.scope().and_then(|scope| namespaces.of(scope)).map(str::to_owned),
        item: item.clone(),
    });
    let (second, nowhere): (Vec<Request>, Vec<Request>) =
        second.partition(|request| request.namespace.is_some());
    let beside_links = if items.iter().any(of_links) { link_secrets(&gathered) } else { Vec::new() };
    let probes = probes(items, &gathered, &namespaces);
    gathered.extend(run.gather(second.into_iter().chain(beside_links).chain(probes).collect()).await);
    let known = namespaces_known(&gathered);
    gathered.extend(nowhere.into_iter().map(|request| unasked(request, &known)));

    let server_version =
        take_version(&mut gathered, &Item::ServerVersion, |v: ServerVersion| v.git_version.parse());
    let source_cli = take_version(&mut gathered, &Item::CliVersion, |v: CliVersion| v.version.parse());
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
        cli_version: options.cli_version.clone().map_or(source_cli, Ok),
        nodes,
        node_trouble,
        at,
        time_source,
        live: source.origin().kind == "live",
    };
    let touched = touched.into_inner() + source.already_redacted();
    Collected { cluster, redaction: Redaction { touched } }
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
        let mut border = Border {
            request: &request,
            store: store_of(&request.item),
            saver: self.saver,
            observer: self.observer,
            touched: 0,
            malformed: Vec::new(),
            raw: Vec::new(),
            nodes: Vec::new(),
            arrived: 0,
            live: self.source.origin().kind == "live",
        };
        let mut fetched = self.source.fetch(&request, &mut border).await;
        let Border { store, mut malformed, raw, nodes, arrived, touched, .. } = border;
        self.touched.fetch_add(touched, Ordering::Relaxed);
        if let Fetched::Partial { reasons } = &fetched {
            // A bundle says already what of it could not be read when it was collected.
            malformed.retain(|why| !reasons.contains(why));
        }
        if !malformed.is_empty() {
            fetched = match fetched {
                Fetched::Complete => Fetched::Partial { reasons: malformed },
                Fetched::Partial { reasons } => Fetched::Partial { reasons: [reasons, malformed].concat() },
                missing @ Fetched::Missing { .. } => missing,
            };
        }
        self.observer.ended(&request, &fetched, arrived);
        if let Some(saver) = self.saver {
            saver.ended(&request, &fetched);
        }
        let answer = store.map(|mut store| {
            store.finish();
            Answer { request: request.clone(), fetched: fetched.clone(), store }
        });
        (request.item, Gathered { answer, fetched, raw, nodes })
    }
}

/// The border: everything passes here, and nothing secret gets further.
struct Border<'a> {
    request: &'a Request,
    store: Option<Box<dyn Store>>,
    saver: Option<&'a dyn Saver>,
    observer: &'a dyn Observer,
    touched: usize,
    malformed: Vec<Why>,
    raw: Vec<serde_json::Value>,
    nodes: Vec<NodeFiles>,
    arrived: usize,
    /// Whether objects come from a cluster first-hand.
    live: bool,
}

impl Border<'_> {
    fn malformed(&mut self, json: &[u8], error: &serde_json::Error) {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Name {
            metadata: Names,
        }
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Names {
            namespace: Option<String>,
            name: Option<String>,
        }
        let names = serde_json::from_slice::<Name>(json).unwrap_or_default().metadata;
        let name = match (names.namespace, names.name) {
            (Some(namespace), Some(name)) => format!("{namespace}/{name}"),
            (None, Some(name)) => name,
            (_, None) => format!("object {}", self.arrived),
        };
        // serde's message can quote the value that was wrong.
        let message = redact::text(&format!("{name}: {error}")).into_owned();
        self.malformed.push(Why::Malformed { message });
    }

    /// Parses, redacts, saves; the redacted object.
    fn redacted(&mut self, json: &[u8]) -> Result<serde_json::Value, serde_json::Error> {
        if self.request.item == Item::Logs {
            return self.log(json);
        }
        let mut value = redact::parse(json)?;
        if let (Some(kind), Some(object)) = (self.request.item.kind(), value.as_object_mut()) {
            // API servers leave both out of a list's items, and what is kept must stand by itself.
            object.entry("apiVersion").or_insert_with(|| kind.api_version().into());
            object.entry("kind").or_insert_with(|| kind.info().kind.into());
        }
        if self.live {
            redact::note_absent_key(&mut value);
        }
        if redact::object(&mut value).touched() {
            self.touched += 1;
        }
        if let Some(saver) = self.saver {
            saver.object(self.request, &value);
        }
        Ok(value)
    }

    /// A log, bounded and redacted.
    fn log(&mut self, json: &[u8]) -> Result<serde_json::Value, serde_json::Error> {
        let raw: LogObject = serde_json::from_slice(json)?;
        let kept = raw.clone().normalised();
        if kept.text != raw.text {
            self.touched += 1;
        }
        let value = serde_json::to_value(kept)?;
        if let Some(saver) = self.saver {
            saver.object(self.request, &value);
        }
        Ok(value)
    }

    /// Slim types keep nothing secret by themselves, save for Secrets, where the border also judges the key, and
    /// ConfigMaps, whose data is whatever somebody put there.
    fn is_redacted_whole(&self) -> bool {
        self.saver.is_some()
            || self.request.item == Item::Logs
            || matches!(self.request.item.kind(), Some(Kind::Secret | Kind::ConfigMap))
    }

    fn count(&mut self) {
        self.arrived += 1;
        if self.arrived.is_multiple_of(500) {
            self.observer.arrived(self.request, self.arrived);
        }
    }

    fn store(&mut self, json: &[u8]) -> Result<(), serde_json::Error> {
        let redacted =
            if self.is_redacted_whole() { Some(serde_json::to_vec(&self.redacted(json)?)?) } else { None };
        match &mut self.store {
            Some(store) => store.push(redacted.as_deref().unwrap_or(json)),
            None => Ok(()),
        }
    }
}

impl Intake for Border<'_> {
    fn object(&mut self, json: &[u8]) {
        self.count();
        let outcome = match self.request.item {
            Item::ServerVersion | Item::CliVersion => self.redacted(json).map(|value| self.raw.push(value)),
            Item::List(_)
            | Item::Named { .. }
            | Item::Access(_)
            | Item::Probe(_)
            | Item::Served(_)
            | Item::NodeFiles
            | Item::Logs => self.store(json),
        };
        if let Err(error) = outcome {
            self.malformed(json, &error);
        }
    }

    fn begun(&mut self, text: &str) -> Option<usize> {
        if self.is_redacted_whole() {
            return None;
        }
        let length = self.store.as_mut()?.push_first(text)?;
        self.count();
        Some(length)
    }

    fn node(&mut self, files: NodeFiles) {
        self.arrived += 1;
        let files = node::normalise(&files, &node::Defaults::default());
        if let Some(saver) = self.saver {
            saver.node(&files);
        }
        self.nodes.push(files);
    }

    fn restart(&mut self) {
        self.arrived = 0;
        self.touched = 0;
        self.malformed.clear();
        self.raw.clear();
        self.nodes.clear();
        if let Some(store) = &mut self.store {
            store.clear();
        }
        if let Some(saver) = self.saver {
            saver.restart(self.request);
        }
    }
}

/// An empty store for what an item yields.
fn store_of(item: &Item) -> Option<Box<dyn Store>> {
    match item {
        Item::Logs => Some(Box::new(Vec::<Log>::new())),
        Item::Access(_) => Some(Box::new(Vec::<AccessReview>::new())),
        Item::Probe(_) => Some(Box::new(Vec::<ProbeAnswer>::new())),
        Item::Served(_) => Some(Box::new(Vec::<ServedCertificates>::new())),
        _ => item.kind().map(store_for),
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
