//! `meshdoctor policy --generate`: manifests of Servers and authorizations for the Service ports of a
//! namespace, from the objects and, if read, from the metrics of proxies. They are proven with the model of
//! `reach`: no connection that is allowed today may be denied with them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::evidence::{Lists, PolicyEvidence};
use super::reach::{End, Mesh, Outcome, Part, Walk};
use super::sync::Sync;
use crate::model::Cluster;
use crate::model::endpoints::selected;
use crate::model::injection::INJECT;
use crate::model::owners::Owners;
use crate::model::policy::{DefaultPolicy, Inbound, Protocol, TakenBy};
use crate::model::skipped::{IN, skipped};
use crate::objects::{
    AuthorizationPolicy, CronJob, CustomResourceDefinition, DaemonSet, Deployment, Job, Kind, MeshTLSAuthentication,
    Meta, Namespace, Pod, PodTemplate, ReplicaSet, Server, Service, ServicePort, StatefulSet, TargetPort,
};
use crate::redact::is_marked;

/// The definition of Servers, and its first version with an access policy (Linkerd 2.16).
const SERVERS: &str = "servers.policy.linkerd.io";
const WITH_ACCESS_POLICY: &str = "v1beta3";
/// The name of the MeshTLSAuthentication with all meshed clients of the namespace.
const MESHED: &str = "meshed-clients";
/// The access policy that allows and logs every client.
const AUDIT: &str = "audit";
/// Maximum number of pods that a reason names.
const SHOWN: usize = 3;
/// Maximum length of a name that is also a label.
const NAME: usize = 63;
/// Maximum number of connections that are compared.
pub const PAIRS: usize = 4000;

/// The treatment of clients that no authorization names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// They are allowed and logged.
    Audit,
    /// They are denied.
    Enforce,
}

/// A client of a port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client {
    pub namespace: String,
    /// Its ServiceAccount.
    pub account: String,
}

/// The manifests of one port.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// The Service and its port.
    pub service: String,
    /// What it selects, and where the clients are from.
    pub comments: Vec<String>,
    pub objects: Vec<(Kind, Value)>,
}

/// The manifests of a namespace.
#[derive(Debug, Clone, Default)]
pub struct Manifests {
    /// By port.
    pub ports: Vec<Generated>,
    /// Ports without manifests, each with the reason.
    pub left_out: Vec<String>,
    /// The clients that all lists of clients contain.
    pub named: BTreeSet<Client>,
}

/// No manifests can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotGenerated {
    /// The release knows no audit policy.
    NoAudit,
}

/// The comparison of connections before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of clients.
    pub clients: usize,
    /// Number of destinations.
    pub destinations: usize,
    /// Connections that are allowed today and with the manifests.
    pub kept: usize,
    /// Connections that are allowed today, in full or in part, and not with the manifests.
    pub denied: Vec<String>,
    /// Connections that are denied today, and allowed with the manifests.
    pub opened: Vec<String>,
    /// Connections whose outcome is unknown.
    pub unknown: Vec<String>,
    /// Connections beyond the limit.
    pub left: usize,
    /// Problems that checks report with the manifests, and not today: other clients than pods, probes and hooks.
    pub problems: Vec<String>,
    /// Workloads without a pod now, which the manifests may deny.
    pub absent: Vec<String>,
    /// Evidence without which other clients than pods are unknown.
    pub unread: Vec<String>,
}

/// Generates the manifests of a namespace.
///
/// # Errors
/// The release does not support the mode.
pub fn generate(
    cluster: &Cluster,
    evidence: &PolicyEvidence<'_>,
    sync: Option<&Sync<'_>>,
    namespace: &str,
    mode: Mode,
) -> Result<Manifests, NotGenerated> {
    let mut lists = Lists::from_cluster(cluster);
    let version = server_version(lists.all::<CustomResourceDefinition>());
    if mode == Mode::Audit && version != WITH_ACCESS_POLICY {
        return Err(NotGenerated::NoAudit);
    }
    let owners = Owners::new(lists.all::<ReplicaSet>(), lists.all::<Job>());
    let mut writer = Writer {
        evidence,
        sync,
        namespace,
        mode,
        version,
        taken: BTreeSet::new(),
        names: names(&mut lists, namespace),
        accounts: accounts(cluster, evidence.pods, namespace),
        authentications: BTreeMap::new(),
        manifests: Manifests::default(),
        owners,
    };
    let services = lists.all::<Service>().iter().filter(|one| one.metadata.namespace == namespace);
    for service in services {
        for port in &service.spec.ports {
            writer.port(service, port);
        }
    }
    let mut lists = writer.authentications.keys();
    let first = lists.next().cloned().unwrap_or_default();
    writer.manifests.named = lists.fold(first, |named, list| named.intersection(list).cloned().collect());
    Ok(writer.manifests)
}

/// The newest served version of Servers, if it has an access policy; else the stored one.
fn server_version(definitions: &[CustomResourceDefinition]) -> String {
    let mut versions = definitions.iter().filter(|one| one.metadata.name == SERVERS).flat_map(|one| &one.spec.versions);
    if versions.clone().any(|version| version.served && version.name == WITH_ACCESS_POLICY) {
        return WITH_ACCESS_POLICY.to_owned();
    }
    let stored = versions.rfind(|version| version.served && version.storage);
    stored.map_or_else(|| "v1beta1".to_owned(), |version| version.name.clone())
}

/// The names of existing policy objects.
fn names(lists: &mut Lists<'_>, namespace: &str) -> BTreeSet<String> {
    let servers = lists.all::<Server>().iter().map(|one| &one.metadata);
    let policies = lists.all::<AuthorizationPolicy>().iter().map(|one| &one.metadata);
    let authentications = lists.all::<MeshTLSAuthentication>().iter().map(|one| &one.metadata);
    let all = servers.chain(policies).chain(authentications);
    all.filter(|meta| meta.namespace == namespace).map(|meta| meta.name.clone()).collect()
}

/// The ServiceAccounts of the meshed pods of a namespace, and of its pod templates that get a proxy.
fn accounts(cluster: &Cluster, pods: &[Pod], namespace: &str) -> BTreeSet<Client> {
    let own = pods.iter().filter(|pod| pod.metadata.namespace == namespace && pod.spec.proxy().is_some());
    let running = own.filter(|pod| !pod.is_finished()).map(client);
    let templates = templates(cluster).into_iter().filter(|one| one.client.namespace == namespace);
    running.chain(templates.filter(|one| one.is_meshed).map(|one| one.client)).collect()
}

/// A pod template of a workload that may run no pod now.
struct Template {
    /// `CronJob shop/nightly`.
    shown: String,
    client: Client,
    /// Whether its pods get a proxy.
    is_meshed: bool,
}

/// The templates of workloads that may run no pod now.
fn templates(cluster: &Cluster) -> Vec<Template> {
    let mut lists = Lists::from_cluster(cluster);
    let namespaces = lists.all::<Namespace>();
    let template = |kind: Kind, meta: &Meta, pod: &PodTemplate| {
        let namespace = namespaces.iter().find(|one| one.metadata.name == meta.namespace.as_str());
        let of_namespace = namespace.and_then(|one| one.metadata.annotation(INJECT));
        let asked = pod.metadata.annotation(INJECT).or(of_namespace);
        let client = Client { namespace: meta.namespace.to_string(), account: pod.spec.account().to_owned() };
        Template {
            shown: format!("{kind} {}/{}", meta.namespace, meta.name),
            client,
            is_meshed: pod.spec.proxy().is_some() || matches!(asked, Some("enabled" | "ingress")),
        }
    };
    let deployments = lists.all::<Deployment>().iter();
    let sets = lists.all::<StatefulSet>().iter();
    let daemons = lists.all::<DaemonSet>().iter();
    let jobs = lists.all::<CronJob>().iter();
    let of_deployments = deployments.map(|one| template(Kind::Deployment, &one.metadata, &one.spec.template));
    let of_sets = sets.map(|one| template(Kind::StatefulSet, &one.metadata, &one.spec.template));
    let of_daemons = daemons.map(|one| template(Kind::DaemonSet, &one.metadata, &one.spec.template));
    let of_jobs = jobs.map(|one| template(Kind::CronJob, &one.metadata, &one.spec.job_template.spec.template));
    of_deployments.chain(of_sets).chain(of_daemons).chain(of_jobs).collect()
}

/// The workloads whose ServiceAccount no pod has now, and that the manifests do not name: clients that could not be
/// compared. `except`: the namespace of the control plane.
pub fn absent_clients(cluster: &Cluster, all: &[(String, Manifests)], except: &str) -> Vec<String> {
    let mut lists = Lists::from_cluster(cluster);
    let running: BTreeSet<Client> = lists.all::<Pod>().iter().map(client).collect();
    let named: BTreeSet<Client> = all.iter().flat_map(|(_, manifests)| manifests.named.clone()).collect();
    let templates = templates(cluster).into_iter().filter(|one| one.client.namespace != except);
    let absent = templates.filter(|one| !running.contains(&one.client) && !named.contains(&one.client));
    absent.map(|one| one.shown).collect()
}

fn client(pod: &Pod) -> Client {
    Client { namespace: pod.metadata.namespace.to_string(), account: pod.spec.account().to_owned() }
}

/// The meshed pods of a Service.
fn meshed<'p>(service: &Service, pods: &'p [Pod]) -> impl Iterator<Item = &'p Pod> {
    selected(service, pods).filter(|pod| pod.spec.proxy().is_some())
}

fn target_key((pod, port): &(&Pod, u16)) -> (String, u16) {
    (pod.metadata.name.clone(), *port)
}

struct Writer<'e> {
    evidence: &'e PolicyEvidence<'e>,
    sync: Option<&'e Sync<'e>>,
    namespace: &'e str,
    mode: Mode,
    version: String,
    /// Pods and ports with a Server.
    taken: BTreeSet<(String, u16)>,
    names: BTreeSet<String>,
    accounts: BTreeSet<Client>,
    /// The lists of clients with a MeshTLSAuthentication, and its name.
    authentications: BTreeMap<BTreeSet<Client>, String>,
    owners: Owners<'e>,
    manifests: Manifests,
}

impl<'e> Writer<'e> {
    fn port(&mut self, service: &Service, port: &ServicePort) {
        let shown = format!("Service {}/{} port {}", self.namespace, service.metadata.name, port.port);
        match self.generated(service, port, &shown) {
            Ok(generated) => self.manifests.ports.push(generated),
            Err(why) => self.manifests.left_out.push(format!("{shown}: {why}")),
        }
    }

    /// The meshed pods of a Service and the port of each, which no other Server selects.
    fn targets(&self, service: &Service, port: &ServicePort) -> Result<Vec<(&'e Pod, u16)>, String> {
        if !port.is_tcp() {
            return Err("the proxies handle only TCP, so no policy applies".to_owned());
        }
        let selector = &service.spec.selector;
        if selector.is_empty() {
            return Err("it selects no pods".to_owned());
        }
        if selector.iter().any(|(key, value)| is_marked(key) || is_marked(value)) {
            return Err("its selector is redacted, so a Server cannot have the same".to_owned());
        }
        let pods = meshed(service, self.evidence.pods);
        let targets: Vec<(&Pod, u16)> = pods.filter_map(|pod| Some((pod, port.leads_to(pod)?))).collect();
        if targets.is_empty() {
            return Err("it selects no meshed pod with this port".to_owned());
        }
        if let Some((pod, _)) =
            targets.iter().find(|(pod, at)| skipped(pod, IN, &self.evidence.cni).is_some_and(|ports| ports.holds(*at)))
        {
            return Err(format!("the proxy of pod {} skips the port, so no policy applies", pod.metadata.name));
        }
        let (taken, free): (Vec<&(&Pod, u16)>, Vec<_>) =
            targets.iter().partition(|target| self.taken.contains(&target_key(target)));
        match (taken.as_slice(), free.as_slice()) {
            ([], _) => Ok(targets),
            (_, []) => Err("the Server of another Service port above selects the same pods and port".to_owned()),
            (taken, free) => Err(format!(
                "the Server of another Service port above selects {}, and a pod may have only one for a port. \
                     No policy is generated for {}",
                of_pods(taken.iter().map(|(pod, _)| *pod)),
                of_pods(free.iter().map(|(pod, _)| *pod))
            )),
        }
    }

    /// The treatment of a port today, which is the same for all pods, and the paths of its probes.
    ///
    /// # Errors
    /// A policy cannot keep it.
    fn today(&self, targets: &[(&Pod, u16)]) -> Result<(PortToday, BTreeSet<String>), String> {
        let mut today: Vec<(&Pod, PortToday)> = Vec::new();
        let mut paths: BTreeSet<String> = BTreeSet::new();
        for (pod, number) in targets {
            let workload = self.evidence.workload(pod).ok_or("the policy controller does not know its pods")?;
            today.push((*pod, PortToday::new(&self.evidence.index.inbound(&workload, *number))));
            paths.extend(workload.probed_paths(*number).map(str::to_owned));
        }
        if let Some(difference) = difference(&today) {
            return Err(difference);
        }
        let (_, first) = today.swap_remove(0);
        if let Some(server) = &first.server {
            return Err(format!("Server {server} already selects it"));
        }
        if first.default == DefaultPolicy::Deny {
            return Err("the default policy denies every client today, and a list of clients would open it. \
                        Write the policy by hand"
                .to_owned());
        }
        Ok((first, paths))
    }

    fn generated(&mut self, service: &Service, port: &ServicePort, shown: &str) -> Result<Generated, String> {
        let targets = self.targets(service, port)?;
        let (PortToday { default, opaque, identity_required, .. }, paths) = self.today(&targets)?;
        self.taken.extend(targets.iter().map(target_key));
        let name = self.name(&service.metadata.name, port);
        let owners = meshed(service, self.evidence.pods).map(|pod| self.owners.owner(pod));
        let owners: BTreeSet<String> = owners.map(|owner| format!("{} {}", owner.kind, owner.name)).collect();
        let mut comments = vec![format!("{shown}: {}", owners.into_iter().collect::<Vec<_>>().join(", "))];
        comments.extend(probes(&paths));
        let (clients, source) = self.clients(service, port);
        let (authentication, is_new) = self.authentication(&name, &clients);
        comments.push(match is_new {
            true => source,
            false => format!("Clients: those of MeshTLSAuthentication {authentication} above"),
        });
        let access = workload_access(default, identity_required, self.mode);
        let mut objects = vec![(Kind::Server, self.server(&name, service, port, &access, opaque))];
        if is_new {
            let object = self.mesh_tls_authentication(&authentication, &clients);
            objects.push((Kind::MeshTLSAuthentication, object));
        }
        let policy = self.authorization_policy(&name, &authentication);
        objects.push((Kind::AuthorizationPolicy, policy));
        if let Some(access) = access.filter(|access| *access != AUDIT) {
            comments.push(format!("The default policy of the port is {access}: it stays, and nothing is only logged"));
        }
        Ok(Generated { service: shown.to_owned(), comments, objects })
    }

    /// A name that no policy object of the namespace has.
    fn name(&mut self, service: &str, port: &ServicePort) -> String {
        let end = format!("-{}", port.port);
        let base: String = service.chars().take(NAME - end.len() - 3).collect();
        let plain = format!("{base}{end}");
        let mut candidates = std::iter::once(plain.clone()).chain((2..).map(|number| format!("{plain}-{number}")));
        let name = candidates.find(|name| !self.names.contains(name)).unwrap_or(plain);
        self.names.insert(name.clone());
        name
    }

    /// The clients of a port, and their source.
    fn clients(&self, service: &Service, port: &ServicePort) -> (BTreeSet<Client>, String) {
        let (own_namespace, own_name) = service.metadata.key();
        let rows = self.sync.into_iter().flat_map(|sync| &sync.rows);
        let seen: BTreeSet<Client> = rows
            .filter(|row| {
                let services = row.proxy.as_ref().map(|proxy| proxy.services.as_slice()).unwrap_or_default();
                services.iter().any(|one| {
                    one.namespace == own_namespace && one.name == own_name && one.port == port.port.to_string()
                })
            })
            .map(|row| client(row.pod))
            .collect();
        if seen.is_empty() {
            let source =
                "Clients: every ServiceAccount whose pods in this namespace get a proxy. Edit this list".to_owned();
            return (self.accounts.clone(), source);
        }
        let source =
            "Clients: the sampled proxies that balance this port, according to their metrics. Add others".to_owned();
        (seen, source)
    }

    /// The name of the MeshTLSAuthentication with these clients, and whether it has to be created. Ports with the same
    /// clients share it.
    fn authentication(&mut self, port: &str, clients: &BTreeSet<Client>) -> (String, bool) {
        if let Some(known) = self.authentications.get(clients) {
            return (known.clone(), false);
        }
        let name = match *clients == self.accounts && !self.names.contains(MESHED) {
            true => MESHED.to_owned(),
            false => port.to_owned(),
        };
        self.names.insert(name.clone());
        self.authentications.insert(clients.clone(), name.clone());
        (name, true)
    }

    fn meta(&self, name: &str) -> Value {
        json!({"name": name, "namespace": self.namespace})
    }

    fn server(
        &self,
        name: &str,
        service: &Service,
        port: &ServicePort,
        access: &Option<&'static str>,
        opaque: bool,
    ) -> Value {
        let target = match &port.target_port {
            None | Some(TargetPort::Number(0)) => json!(port.port),
            Some(TargetPort::Number(number)) => json!(number),
            Some(TargetPort::Name(name)) => json!(name),
        };
        let selector = service.spec.selector.iter();
        let labels: BTreeMap<&str, &str> = selector.map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let protocol = if opaque { "opaque" } else { "unknown" };
        let mut spec = json!({
            "podSelector": {"matchLabels": labels},
            "port": target,
            "proxyProtocol": protocol,
        });
        if let Some(access) = access {
            spec["accessPolicy"] = json!(access);
        }
        json!({
            "apiVersion": format!("policy.linkerd.io/{}", self.version),
            "kind": "Server",
            "metadata": self.meta(name),
            "spec": spec,
        })
    }

    fn mesh_tls_authentication(&self, name: &str, clients: &BTreeSet<Client>) -> Value {
        let identities: Vec<Value> = clients
            .iter()
            .map(|client| json!({"kind": "ServiceAccount", "name": client.account, "namespace": client.namespace}))
            .collect();
        json!({
            "apiVersion": "policy.linkerd.io/v1alpha1",
            "kind": "MeshTLSAuthentication",
            "metadata": self.meta(name),
            "spec": {"identityRefs": identities},
        })
    }

    fn authorization_policy(&self, name: &str, authentication: &str) -> Value {
        json!({
            "apiVersion": "policy.linkerd.io/v1alpha1",
            "kind": "AuthorizationPolicy",
            "metadata": self.meta(name),
            "spec": {
                "targetRef": {"group": "policy.linkerd.io", "kind": "Server", "name": name},
                "requiredAuthenticationRefs": [
                    {"group": "policy.linkerd.io", "kind": "MeshTLSAuthentication", "name": authentication},
                ],
            },
        })
    }
}

/// The policy of a port of one pod today.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PortToday {
    /// The Server that selects it.
    server: Option<String>,
    /// The default policy, if no Server selects it.
    default: DefaultPolicy,
    /// Whether an annotation restricts the default policy to meshed clients.
    identity_required: bool,
    opaque: bool,
}

impl PortToday {
    fn new(inbound: &Inbound<'_>) -> PortToday {
        let (server, default) = match inbound.taken_by {
            TakenBy::Server(server) => (Some(server.metadata.name.clone()), DefaultPolicy::Deny),
            TakenBy::Default(default) => (None, default),
        };
        let opaque = inbound.protocol == Protocol::Opaque;
        PortToday { server, default, identity_required: inbound.identity_required, opaque }
    }

    fn describe(&self) -> String {
        match &self.server {
            Some(server) => format!("Server {server}"),
            None => {
                let meshed = if self.identity_required { " for meshed clients" } else { "" };
                let opaque = if self.opaque { ", opaque" } else { "" };
                format!("default policy {}{meshed}{opaque}", self.default.as_str())
            }
        }
    }
}

/// How the pods of a port differ, so that one Server would change some of them.
fn difference(today: &[(&Pod, PortToday)]) -> Option<String> {
    let mut groups: Vec<(&PortToday, Vec<&Pod>)> = Vec::new();
    for (pod, one) in today {
        match groups.iter_mut().find(|(known, _)| *known == one) {
            Some((_, pods)) => pods.push(pod),
            None => groups.push((one, vec![*pod])),
        }
    }
    let described = groups
        .iter()
        .map(|(one, pods)| format!("{} ({})", of_pods(pods.iter().copied()), one.describe()))
        .collect::<Vec<_>>();
    (groups.len() > 1)
        .then(|| format!("its pods differ, and one Server would make them equal: {}", described.join("; ")))
}

/// Pods by their names.
fn of_pods<'a>(pods: impl Iterator<Item = &'a Pod>) -> String {
    let names: Vec<&str> = pods.map(|pod| pod.metadata.name.as_str()).collect();
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let noun = if names.len() == 1 { "pod" } else { "pods" };
    match names.len().saturating_sub(SHOWN) {
        0 => format!("{noun} {shown}"),
        more => format!("{noun} {shown} and {more} more"),
    }
}

/// The access policy of a generated Server. An audit policy allows every client, so a stricter default is kept.
fn workload_access(default: DefaultPolicy, identity_required: bool, mode: Mode) -> Option<&'static str> {
    let default = if identity_required { default.authenticated() } else { default };
    match (mode, default) {
        (Mode::Enforce, _) => None,
        (Mode::Audit, DefaultPolicy::AllUnauthenticated | DefaultPolicy::Audit) => Some(AUDIT),
        (Mode::Audit, stricter) => Some(stricter.as_str()),
    }
}

/// The probes that the controller allows without an authorization.
fn probes(paths: &BTreeSet<String>) -> Option<String> {
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    (!paths.is_empty()).then(|| format!("Probes stay allowed without an authorization: {}", paths.join(", ")))
}

/// Compares the connections of all workloads to the Service ports of a namespace, today and with manifests.
pub fn compare(before: &Mesh<'_>, after: &Mesh<'_>, namespaces: &[String], namespace: &str) -> Comparison {
    let (_, destinations) = before.of_namespace(namespace);
    let clients: Vec<End> = namespaces.iter().flat_map(|namespace| before.of_namespace(namespace).0).collect();
    let mut found = Comparison { clients: clients.len(), destinations: destinations.len(), ..Comparison::default() };
    let pairs = clients.iter().flat_map(|from| destinations.iter().map(move |to| (from, to)));
    for (at, (from, to)) in pairs.enumerate() {
        if at >= PAIRS {
            found.left += 1;
            continue;
        }
        match ConnectionChange::between(&before.walk(from, to), &after.walk(from, to)) {
            ConnectionChange::Kept => found.kept += 1,
            ConnectionChange::Denied => found.denied.push(format!("{from} to {to}")),
            ConnectionChange::Opened => found.opened.push(format!("{from} to {to}")),
            ConnectionChange::Unknown => found.unknown.push(format!("{from} to {to}")),
            ConnectionChange::NotAllowed => {}
        }
    }
    found
}

/// The effect of manifests on a connection.
enum ConnectionChange {
    /// It stays allowed.
    Kept,
    /// It is allowed today, and not with the manifests.
    Denied,
    /// It is denied today, and allowed with the manifests.
    Opened,
    /// The policy of one of both is unknown.
    Unknown,
    /// It does not succeed today.
    NotAllowed,
}

impl ConnectionChange {
    /// Policies change only whether a connection is authorized, and how its bytes are read. What is unknown
    /// about other steps, such as trust anchors, is the same in both.
    fn between(today: &Walk, then: &Walk) -> ConnectionChange {
        let is_stopped = |walk: &Walk| walk.steps.iter().any(|step| matches!(step.outcome, Outcome::Stops));
        let policy =
            |walk: &Walk| walk.steps.iter().filter(|step| step.part == Part::Policy).map(|step| step.outcome).max();
        if is_stopped(today) {
            return match is_stopped(then) {
                true => ConnectionChange::NotAllowed,
                false => ConnectionChange::Opened,
            };
        }
        if is_stopped(then) {
            return ConnectionChange::Denied;
        }
        match (policy(today), policy(then)) {
            (Some(Outcome::NotJudged), _) | (_, Some(Outcome::NotJudged) | None) => ConnectionChange::Unknown,
            (today, then) if then > today => ConnectionChange::Denied,
            _ => ConnectionChange::Kept,
        }
    }
}
