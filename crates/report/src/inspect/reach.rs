//! `meshdoctor reach`: predicts whether a call from one workload to another succeeds. It follows the path of
//! the call in Linkerd, and each step shows its evidence. The walk ends at the first step that stops the
//! call; steps without evidence are marked as such.

mod control_plane;
mod counters;
mod endpoints;
mod federated;
pub(super) mod identity;
mod pod;
mod redirection;
mod repair;
mod service;
mod traffic;

use std::net::IpAddr;

use super::evidence::{Lists, OutboundEvidence, PolicyEvidence, unread_metrics};
use super::missing_evidence;
use super::network::NetworkInputs;
use super::routed;
pub use super::steps::{Condition, End, Lack, Outcome, ParseTargetError, Part, Step, Walk};
pub use traffic::Traffic;

use crate::checks::{CallFaults, Issuance};
use crate::command::{Connection, kubectl, own};
use crate::finding::{Evidence, Remedy, Subject};
use crate::item::Item;
use crate::knowledge::{Calls, Knowledge};
use crate::model::Cluster;
use crate::model::availability::ControlPlane;
use crate::model::owners::Owners;
use crate::model::skipped::{self, CniSkips, OUT};
use crate::network_policy::Objects;
use crate::objects::container::{LOCAL_NAME, PROXY_CONTAINER};
use crate::objects::{
    AdminNetworkPolicy, BaselineAdminNetworkPolicy, CalicoGlobalNetworkPolicy, CalicoNetworkPolicy, CalicoTier,
    CiliumClusterwideNetworkPolicy, CiliumNetworkPolicy, ClusterNetworkPolicy, CustomResourceDefinition, Deployment,
    EndpointSlice, Job, Kind, Namespace, NetworkPolicy, Pod, ReplicaSet, Server, Service, StatefulSet, Workload,
};
use counters::Counters;
use identity::Certificates;

/// The part of an identity between the namespace and the control plane.
const IDENTITIES: &str = ".serviceaccount.identity.";

/// The inputs of a walk.
pub struct Mesh<'a> {
    policy: PolicyEvidence<'a>,
    slices: &'a [EndpointSlice],
    network: NetworkInputs<'a>,
    outbound: OutboundEvidence<'a>,
    owners: Owners<'a>,
    control_plane: ControlPlane<'a>,
    certificates: Certificates,
    issuance: Issuance<'a>,
    faults: CallFaults,
    servers: &'a [Server],
    /// The version of Servers in printed manifests.
    server_version: String,
    deployments: &'a [Workload],
    stateful_sets: &'a [Workload],
    calls: &'a Calls,
    counters: Counters<'a>,
    knowledge: &'a Knowledge,
    traffic: Option<Traffic>,
}

/// The client of a call.
#[derive(Debug, Clone, Copy)]
struct Caller<'c> {
    pod: &'c Pod,
    /// Whether the call passes the client's proxy.
    meshed: bool,
    /// Whether it is a connection to an IPv6 address.
    ipv6: bool,
}

impl<'c> Caller<'c> {
    /// The same, if the call passes the proxy.
    fn through(self, passes: bool) -> Caller<'c> {
        Caller { meshed: self.meshed && passes, ..self }
    }
}

/// The next step if the client does not exist.
const NAME_A_CLIENT: &str = "name a pod or a workload as NAMESPACE/NAME";

/// What is known of a client without pods, if `complete` lists were read.
fn no_client(from: &End, complete: bool) -> String {
    match complete {
        true => format!("pod {from} does not exist, and no workload of that name has a pod"),
        false => format!("the evidence has no pod {from}, and no pod of a workload of that name"),
    }
}

/// Whether a pod has started and is not being deleted.
fn makes_calls(pod: &Pod) -> bool {
    pod.status.phase != "Pending" && pod.metadata.deletion_timestamp.is_none()
}

impl<'a> Mesh<'a> {
    /// Combines the policy evidence with the other evidence about calls. `connection` is added to printed
    /// commands. `traffic` is the kind of traffic; `None` if unknown.
    pub fn new(
        mut policy: PolicyEvidence<'a>,
        mut outbound: OutboundEvidence<'a>,
        cluster: &'a Cluster,
        knowledge: &'a Knowledge,
        connection: Connection,
        traffic: Option<Traffic>,
    ) -> Mesh<'a> {
        let mut lists = Lists::from_cluster(cluster);
        let slices = lists.all::<EndpointSlice>();
        let objects = Objects {
            kubernetes: lists.all::<NetworkPolicy>(),
            cilium: lists.all::<CiliumNetworkPolicy>(),
            cilium_clusterwide: lists.all::<CiliumClusterwideNetworkPolicy>(),
            calico: lists.all::<CalicoNetworkPolicy>(),
            calico_global: lists.all::<CalicoGlobalNetworkPolicy>(),
            tiers: lists.all::<CalicoTier>(),
            admin: lists.all::<AdminNetworkPolicy>(),
            baseline: lists.all::<BaselineAdminNetworkPolicy>(),
            cluster_network: lists.all::<ClusterNetworkPolicy>(),
            namespaces: lists.all::<Namespace>(),
        };
        let network = NetworkInputs::new(objects, lists.by_proxy());
        outbound.gaps.retain(|gap| !policy.gaps.contains(gap));
        policy.gaps.append(&mut outbound.gaps);
        let owners = Owners::new(lists.all::<ReplicaSet>(), lists.all::<Job>());
        let (servers, deployments) = (lists.all::<Server>(), lists.all::<Deployment>());
        // Only the reason for missing endpoints depends on them.
        let stateful_sets = cluster.list::<StatefulSet>();
        lists.gaps.retain(|gap| !policy.gaps.contains(gap));
        policy.gaps.append(&mut lists.gaps);
        let counters = Counters::new(cluster, policy.pods, &owners);
        policy.gaps.extend(unread_metrics(cluster));
        let complete = !policy.gaps.iter().any(|gap| gap.request.item == Item::List(Kind::Pod));
        let home = cluster.namespaces.control_plane.as_str();
        let control_plane = ControlPlane::new(policy.pods, home, complete);
        let certificates = Certificates::read(cluster);
        let definitions = cluster.list::<CustomResourceDefinition>();
        let issuance = Issuance::read(cluster, knowledge, connection);
        Mesh {
            policy,
            slices,
            network,
            outbound,
            owners,
            control_plane,
            certificates,
            issuance,
            faults: CallFaults::read(cluster, knowledge),
            servers,
            server_version: repair::server_version(definitions),
            deployments,
            stateful_sets,
            calls: knowledge.calls(),
            counters,
            knowledge,
            traffic,
        }
    }

    /// With kinds of network policies that have objects which are not evaluated, as text.
    #[must_use]
    pub fn with_unread_policies(mut self, unread: Vec<String>) -> Mesh<'a> {
        self.network.set_unread(unread);
        self
    }

    /// Missing evidence.
    pub fn gaps(&self) -> &[crate::missing::Missing] {
        &self.policy.gaps
    }

    /// Every pod.
    pub fn pods(&self) -> &'a [Pod] {
        self.policy.pods
    }

    /// The pods of an end: the pod of that name, or the pods of the workload of that name.
    pub fn pods_of(&self, namespace: &str, name: &str) -> Vec<&'a Pod> {
        let here = self.policy.pods.iter().filter(|pod| pod.metadata.namespace == namespace && !pod.is_finished());
        let (one, others): (Vec<&Pod>, Vec<&Pod>) = here.partition(|pod| pod.metadata.name == name);
        if !one.is_empty() {
            return one;
        }
        others.into_iter().filter(|pod| self.owners.owner(pod).name == name).collect()
    }

    /// Whether every object of these kinds was read.
    fn has_all(&self, kinds: &[Kind]) -> bool {
        let lacks = |missing: &crate::missing::Missing| missing.request.item.kind();
        !self.gaps().iter().filter_map(lacks).any(|kind| kinds.contains(&kind))
    }

    /// The nearest name to one without an object, as a question, if there is one.
    fn meant(&self, namespace: &str, name: &str, with_services: bool) -> Option<String> {
        let (workloads, services) = self.of_namespace(namespace);
        if workloads.is_empty() && services.is_empty() {
            let of_pods = self.policy.pods.iter().map(|pod| pod.metadata.namespace.as_str());
            let near = crate::nearest::closest(namespace, of_pods);
            return near
                .map(|near| format!("namespace {namespace} has no pods and no Services: did you mean {near}/{name}?"));
        }
        let services = services.iter().filter(|_| with_services);
        let pods = self.policy.pods.iter().filter(|pod| pod.metadata.namespace == namespace);
        let names = workloads.iter().chain(services).map(|end| end.name.as_str());
        let known = names.chain(pods.map(|pod| pod.metadata.name.as_str()));
        crate::nearest::closest(name, known).map(|near| format!("did you mean {namespace}/{near}?"))
    }

    /// The next step for a client without pods.
    fn name_a_client(&self, namespace: &str, name: &str) -> String {
        match self.meant(namespace, name, false) {
            Some(meant) => format!("{NAME_A_CLIENT}; {meant}"),
            None => NAME_A_CLIENT.to_owned(),
        }
    }

    /// Whether the client finds the name of the other end, unless that is an address.
    fn lookups(&self, walk: &mut Walk, client: &Pod, to: &End) {
        if to.name.parse::<IpAddr>().is_err() {
            self.network.lookups(walk, client, self.policy.pods);
        }
    }

    /// The Service of that name.
    pub fn service(&self, namespace: &str, name: &str) -> Option<&'a Service> {
        self.outbound.services.iter().find(|service| service.metadata.key() == (namespace, name))
    }

    /// Workloads of a namespace by name, with a pod of each; and its Services with their ports.
    pub fn of_namespace(&self, namespace: &str) -> (Vec<End>, Vec<End>) {
        let end =
            |name: &str, port: Option<u16>| End { namespace: Some(namespace.to_owned()), name: name.to_owned(), port };
        let here = self.policy.pods.iter().filter(|pod| pod.metadata.namespace == namespace && !pod.is_finished());
        let names: std::collections::BTreeSet<String> = here.map(|pod| self.owners.owner(pod).name).collect();
        let clients = names.iter().map(|name| end(name, None)).collect();
        let services = self.outbound.services.iter().filter(|service| service.metadata.namespace == namespace);
        let tcp = services.flat_map(|service| service.spec.tcp_ports().map(move |port| (service, port)));
        (clients, tcp.map(|(service, port)| end(&service.metadata.name, Some(port.port))).collect())
    }

    /// A client that surely does not exist, and the next step.
    pub fn client_missing(&self, from: &End) -> Option<(String, String)> {
        let namespace = from.namespace.as_deref().unwrap_or_default();
        (self.has_all(&[Kind::Pod]) && self.pods_of(namespace, &from.name).is_empty())
            .then(|| (no_client(from, true), self.name_a_client(namespace, &from.name)))
    }

    /// The target, and an example, if it needs a port that was not given: a pod, or a Service without exactly
    /// one TCP port.
    pub fn port_missing(&self, to: &End) -> Option<(String, String)> {
        if to.port.is_some() {
            return None;
        }
        let place = match &to.namespace {
            Some(namespace) => HostTarget::new((namespace.as_str(), to.name.as_str())),
            None => self.of_host(&to.name)?,
        };
        let service = self.service(place.namespace, place.name).filter(|_| !place.is_pod);
        let (said, example) = match service {
            Some(service) if service.spec.only_tcp_port().is_some() => return None,
            Some(service) => {
                let ports: Vec<String> = service.spec.tcp_ports().map(|port| port.port.to_string()).collect();
                let (namespace, name) = service.metadata.key();
                let first = ports.first().cloned();
                let said = match first {
                    None => format!("Service {namespace}/{name} has no TCP port"),
                    Some(_) => format!("Service {namespace}/{name} has the ports {}", ports.join(", ")),
                };
                (said, first)
            }
            None if self.pods_of(place.namespace, place.name).is_empty() => return None,
            None => (format!("the port of {to} is missing"), None),
        };
        Some((said, format!("{to}:{}", example.as_deref().unwrap_or("PORT"))))
    }

    /// The object of this cluster that a host or an address refers to.
    fn of_host<'h>(&'h self, host: &'h str) -> Option<HostTarget<'h>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            let service = self.outbound.services.iter().find(|service| service.spec.has_address(address));
            let pod = || self.policy.pods.iter().find(|pod| pod.is_at(address));
            return service
                .map(|service| HostTarget::new(service.metadata.key()))
                .or_else(|| pod().map(|pod| HostTarget { is_pod: true, ..HostTarget::new(pod.metadata.key()) }));
        }
        let domain = &self.policy.index.controller.cluster_domain;
        let rest = host.strip_suffix(domain.as_str()).and_then(|rest| rest.strip_suffix('.')).unwrap_or(host);
        let whole = rest.strip_suffix(".svc");
        let labels: Vec<&str> = whole.unwrap_or(rest).split('.').collect();
        let (pod, service, namespace) = match labels.as_slice() {
            [service, namespace] => (None, *service, *namespace),
            [pod, service, namespace] => (Some(*pod), *service, *namespace),
            _ => return None,
        };
        // Without `.svc`, resolution tries such a name first; without such a Service it is an outside host.
        let is_here = whole.is_some() || self.service(namespace, service).is_some();
        is_here.then(|| HostTarget { namespace, name: pod.unwrap_or(service), is_pod: pod.is_some() })
    }

    /// Walks a call. Steps that depend on missing lists are not checked.
    pub fn walk(&self, from: &End, to: &End) -> Walk {
        let mut walk = self.walked(from, to);
        missing_evidence::take_back(&mut walk, self.gaps());
        walk
    }

    fn walked(&self, from: &End, to: &End) -> Walk {
        let mut walk = Walk::new(from.to_string(), to.to_string());
        let namespace = from.namespace.as_deref().unwrap_or_default();
        let clients = self.pods_of(namespace, &from.name);
        let is_ready =
            |pod: &&&Pod| makes_calls(pod) && pod.container_status(PROXY_CONTAINER).is_none_or(|status| status.ready);
        let meshed = clients.iter().filter(is_ready).find(|pod| pod.spec.proxy().is_some());
        let Some(client) = meshed.or(clients.iter().find(is_ready)).or(clients.first()).copied() else {
            let complete = self.has_all(&[Kind::Pod, Kind::ReplicaSet, Kind::Job]);
            walk.step(Part::Client, Outcome::Stops, no_client(from, complete))
                .fix(self.name_a_client(namespace, &from.name));
            return walk;
        };
        if let Some(caller) = self.client(&mut walk, client) {
            self.to_end(&mut walk, caller, to);
        }
        if client.spec.proxy().is_some() {
            self.unmeshed_clients(&mut walk, &clients, to);
        }
        walk
    }

    /// Records that pods of a meshed client lack the proxy that another one has: their calls have no identity, so they
    /// may fail alone.
    fn unmeshed_clients(&self, walk: &mut Walk, clients: &[&Pod], to: &End) {
        let calling: Vec<&Pod> = clients.iter().copied().filter(|pod| makes_calls(pod)).collect();
        let mut unmeshed = calling.iter().copied().filter(|pod| pod.spec.proxy().is_none());
        let Some(first) = unmeshed.next() else { return };
        let (count, verb) = match unmeshed.count() {
            0 => (1, "has"),
            more => (more + 1, "have"),
        };
        let mut plain = Walk::new(walk.from.clone(), walk.to.clone());
        if let Some(caller) = self.client(&mut plain, first) {
            self.to_end(&mut plain, caller, to);
        }
        let of_all = format!("{count} of {} pods", calling.len());
        let says = format!("{of_all} of the client {verb} no proxy, such as {}", first.metadata.name);
        let failed = plain.steps.iter().filter(|step| step.outcome >= Outcome::Partly);
        let worst = failed.max_by_key(|step| step.outcome);
        let step = match worst.filter(|worst| walk.outcome() < worst.outcome) {
            Some(worst) => {
                let some = if worst.outcome == Outcome::Partly { "some " } else { "" };
                let says = format!("{says}, and {some}calls without a proxy fail: {}", worst.says);
                walk.step(Part::Client, Outcome::Partly, says)
            }
            None => {
                let step = walk.step(Part::Client, Outcome::Passes, format!("{says}: no mTLS and no identity"));
                step.only_if(Some(Condition::Limit(format!("without mTLS from {of_all} of the client"))))
            }
        };
        step.evidence(Evidence::field(subject(first), "spec.containers", "no linkerd-proxy"));
        match self.issuance.restart(first, "only new pods get a proxy") {
            Some(restart) => self.remedy(step, &Remedy { steps: vec![restart], ..Remedy::new() }),
            None => {
                let check =
                    format!("create the pod again: only new pods get a proxy. {} shows the cause", own("check"));
                step.fix(check);
            }
        }
    }

    fn to_end(&self, walk: &mut Walk, caller: Caller<'_>, to: &End) {
        let named = match &to.namespace {
            Some(namespace) => Some(HostTarget::new((namespace.as_str(), to.name.as_str()))),
            None => self.of_host(&to.name),
        };
        let Some(HostTarget { namespace, name, is_pod }) = named else {
            self.lookups(walk, caller.pod, to);
            let caller = caller.through(to.port.is_none_or(|port| skipped(walk, caller.pod, port, &self.policy.cni)));
            if self.discovery(walk, caller) {
                routed::outside(walk, &self.outbound.index, caller.meshed.then_some(caller.pod), to);
            }
            return;
        };
        if let Some(service) = self.service(namespace, name).filter(|_| !is_pod) {
            self.lookups(walk, caller.pod, to);
            return self.to_service(walk, caller, service, to.port);
        }
        match (self.pods_of(namespace, name).first().copied(), to.port) {
            (Some(pod), Some(port)) => {
                let caller = caller.through(skipped(walk, caller.pod, port, &self.policy.cni));
                if self.discovery(walk, caller) {
                    let spoken = caller.meshed.then(|| self.spoken_to_pod(pod, port));
                    self.to_pod(walk, caller, spoken, pod, port);
                }
            }
            (Some(_), None) => {
                walk.step(Part::Destination, Outcome::Stops, format!("the port of {to} is not specified"))
                    .fix(format!("name it: {to}:PORT"));
            }
            (None, _) => {
                let complete = self.has_all(&[Kind::Service, Kind::Pod, Kind::ReplicaSet, Kind::Job]);
                let says = match complete {
                    true => {
                        format!("no Service {namespace}/{name} exists, and no workload or pod of that name")
                    }
                    false => {
                        format!("the evidence has no Service {namespace}/{name}, and no workload or pod of that name")
                    }
                };
                let fix = match self.meant(namespace, name, true) {
                    Some(meant) => format!("{meant} To list all:"),
                    None => "list them:".to_owned(),
                };
                let list = kubectl().namespace(namespace).words("get services,pods");
                walk.step(Part::Destination, Outcome::Stops, says).fix(fix).paste(self.command(list));
            }
        }
    }

    fn client<'c>(&self, walk: &mut Walk, pod: &'c Pod) -> Option<Caller<'c>> {
        let meshed = pod.spec.proxy().is_some();
        let name = &pod.metadata.name;
        let says = if meshed {
            format!("pod {name} is meshed; it calls as {}", self.identity(pod))
        } else {
            format!("pod {name} has no proxy: it calls without mTLS, without an identity and without Linkerd's routes")
        };
        walk.step(Part::Client, Outcome::Passes, says).evidence(Evidence::field(
            subject(pod),
            "spec.serviceAccountName",
            pod.spec.service_account_name.as_str(),
        ));
        if pod.status.phase == "Pending" {
            let word = crate::model::pod_status::label(pod);
            let says = format!("pod {name} has not started ({word}): it makes no calls");
            walk.step(Part::Client, Outcome::Stops, says)
                .evidence(Evidence::field(subject(pod), "status.phase", "Pending"))
                .fix("Read why the pod does not start in its events");
            return None;
        }
        if let Some(status) = pod.container_status(PROXY_CONTAINER).filter(|status| !status.ready) {
            let says = format!("the proxy of pod {name} is not ready: its calls are refused or hang");
            let path = format!("status.containerStatuses[{}].ready", status.name);
            let step =
                walk.step(Part::Client, Outcome::Stops, says).evidence(Evidence::field(subject(pod), path, "false"));
            self.repair_proxy(step, pod);
            return None;
        }
        self.is_redirected(walk, Part::Client, pod).then_some(Caller { pod, meshed, ipv6: false })
    }

    fn identity(&self, pod: &Pod) -> String {
        let account = pod.spec.account();
        let namespace = &pod.metadata.namespace;
        // The domain comes from the proxy: the policy controller may run with another one.
        let own = pod.spec.proxy().and_then(|proxy| proxy.env_value(LOCAL_NAME));
        match own.and_then(|name| name.split_once(IDENTITIES)) {
            Some((_, domain)) => format!("{account}.{namespace}{IDENTITIES}{domain}"),
            None => self.policy.index.controller.identity(namespace, account),
        }
    }
}

/// The object that a host refers to: a Service, or a pod of a headless Service by its own name.
struct HostTarget<'h> {
    namespace: &'h str,
    name: &'h str,
    is_pod: bool,
}

impl<'h> HostTarget<'h> {
    fn new((namespace, name): (&'h str, &'h str)) -> HostTarget<'h> {
        HostTarget { namespace, name, is_pod: false }
    }
}

fn subject(pod: &Pod) -> Subject {
    Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name)
}

/// Whether the client's proxy skips a port.
fn skips(client: &Pod, port: u16, cni: &CniSkips) -> bool {
    skipped::skipped(client, OUT, cni).is_some_and(|skipped| skipped.holds(port))
}

/// Records that the client's proxy skips a port. Returns whether the call bypasses the proxy.
fn skipped(walk: &mut Walk, client: &Pod, port: u16, cni: &CniSkips) -> bool {
    let Some(skipped) = skipped::skipped(client, OUT, cni).filter(|skipped| skipped.holds(port)) else {
        return true;
    };
    walk.step(
        Part::Outbound,
        Outcome::Passes,
        format!("the client's proxy skips port {port}: the call has no identity and no route"),
    )
    .evidence(skipped.by());
    false
}
