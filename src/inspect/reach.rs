//! `meshdoctor reach`: would a call get from one workload to another? It is walked as Linkerd walks it, and each step says what it
//! was told from. The first step that stops the call ends the walk; what could not be told is named as such.

use super::doubt;
use super::evidence::{Lists, OutboundEvidence, PolicyEvidence};
use super::network::Network;
use super::routed;
pub use super::walk::{End, NoEnd, Outcome, Part, Step, Walk};
use crate::certificates::BundlePrint;
use crate::finding::{Evidence, Subject};
use crate::model::Cluster;
use crate::model::network_policy::Objects;
use crate::model::owners::Owners;
use crate::model::policy::{Client, Entry, Inbound, TakenBy, Workload, listed_ports};
use crate::objects::container::TRUST_ANCHORS;
use crate::objects::{
    CalicoGlobalNetworkPolicy, CalicoNetworkPolicy, CalicoTier, CiliumClusterwideNetworkPolicy,
    CiliumNetworkPolicy, EndpointSlice, Job, Kind, Namespace, NetworkPolicy, Pod, ReplicaSet, Service,
    ServicePort, TargetPort,
};

const SKIP_OUTBOUND: &str = "config.linkerd.io/skip-outbound-ports";
const SKIP_INBOUND: &str = "config.linkerd.io/skip-inbound-ports";
const OPAQUE: &str = "config.linkerd.io/opaque-ports";
/// The label of Services that stand for one of another cluster.
const MIRROR: &str = "mirror.linkerd.io/cluster-name";

/// Everything that a walk reads.
pub struct Mesh<'a> {
    policy: PolicyEvidence<'a>,
    slices: &'a [EndpointSlice],
    network: Network<'a>,
    outbound: OutboundEvidence<'a>,
    owners: Owners<'a>,
}

impl<'a> Mesh<'a> {
    /// From the evidence of policy and what calls take beside it.
    pub fn new(
        mut policy: PolicyEvidence<'a>,
        mut outbound: OutboundEvidence<'a>,
        cluster: &'a Cluster,
    ) -> Mesh<'a> {
        let mut lists = Lists::of(cluster);
        let slices = lists.all::<EndpointSlice>();
        let network = Network::new(Objects {
            kubernetes: lists.all::<NetworkPolicy>(),
            cilium: lists.all::<CiliumNetworkPolicy>(),
            cilium_clusterwide: lists.all::<CiliumClusterwideNetworkPolicy>(),
            calico: lists.all::<CalicoNetworkPolicy>(),
            calico_global: lists.all::<CalicoGlobalNetworkPolicy>(),
            tiers: lists.all::<CalicoTier>(),
            namespaces: lists.all::<Namespace>(),
        });
        outbound.gaps.retain(|gap| !policy.gaps.contains(gap));
        policy.gaps.append(&mut outbound.gaps);
        let owners = Owners::new(lists.all::<ReplicaSet>(), lists.all::<Job>());
        policy.gaps.append(&mut lists.gaps);
        Mesh { policy, slices, network, outbound, owners }
    }

    /// What was missing.
    pub fn gaps(&self) -> &[crate::missing::Missing] {
        &self.policy.gaps
    }

    /// The pods of an end: the pod of that name, or those of the workload of that name.
    pub fn pods_of(&self, namespace: &str, name: &str) -> Vec<&'a Pod> {
        let here =
            self.policy.pods.iter().filter(|pod| pod.metadata.namespace == namespace && !pod.is_finished());
        let (one, others): (Vec<&Pod>, Vec<&Pod>) = here.partition(|pod| pod.metadata.name == name);
        if !one.is_empty() {
            return one;
        }
        others.into_iter().filter(|pod| self.owners.of(pod).name == name).collect()
    }

    /// The Service of that name.
    pub fn service(&self, namespace: &str, name: &str) -> Option<&'a Service> {
        self.outbound.services.iter().find(|service| service.metadata.key() == (namespace, name))
    }

    /// Workloads of a namespace by name, with a pod of each; and its Services with their ports.
    pub fn of_namespace(&self, namespace: &str) -> (Vec<End>, Vec<End>) {
        let end = |name: &str, port: Option<u16>| End {
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
            port,
        };
        let here =
            self.policy.pods.iter().filter(|pod| pod.metadata.namespace == namespace && !pod.is_finished());
        let names: std::collections::BTreeSet<String> = here.map(|pod| self.owners.of(pod).name).collect();
        let clients = names.iter().map(|name| end(name, None)).collect();
        let services =
            self.outbound.services.iter().filter(|service| service.metadata.namespace == namespace);
        let called = services.flat_map(|service| service.spec.ports.iter().map(move |port| (service, port)));
        let tcp = called.filter(|(_, port)| matches!(port.protocol.as_str(), "" | "TCP"));
        (clients, tcp.map(|(service, port)| end(&service.metadata.name, Some(port.port))).collect())
    }

    /// The Service, where a host is one of this cluster.
    fn of_host<'h>(&self, host: &'h str) -> Option<(&'h str, &'h str)> {
        let domain = &self.policy.index.controller.cluster_domain;
        let rest = host.strip_suffix(domain.as_str()).and_then(|rest| rest.strip_suffix('.')).unwrap_or(host);
        let (service, namespace) = rest.strip_suffix(".svc")?.split_once('.')?;
        (!namespace.contains('.')).then_some((namespace, service))
    }

    /// Walks a call. What was told from lists that are missing is not judged.
    pub fn walk(&self, from: &End, to: &End) -> Walk {
        let mut walk = self.walked(from, to);
        doubt::take_back(&mut walk, self.gaps());
        walk
    }

    fn walked(&self, from: &End, to: &End) -> Walk {
        let mut walk = Walk { from: from.to_string(), to: to.to_string(), steps: Vec::new() };
        let namespace = from.namespace.as_deref().unwrap_or_default();
        let Some(client) = self.pods_of(namespace, &from.name).first().copied() else {
            walk.step(
                Part::Client,
                Outcome::Stops,
                format!("there is no pod {from}, and no workload of that name has one"),
            )
            .fix("name a pod or a workload as NAMESPACE/NAME");
            return walk;
        };
        let meshed = self.client(&mut walk, client);
        let named = match &to.namespace {
            Some(namespace) => Some((namespace.as_str(), to.name.as_str())),
            None => self.of_host(&to.name),
        };
        let Some((namespace, name)) = named else {
            let meshed = meshed && to.port.is_none_or(|port| skipped(&mut walk, client, port));
            routed::outside(&mut walk, &self.outbound.index, meshed.then_some(client), to);
            return walk;
        };
        match self.service(namespace, name) {
            Some(service) => self.to_service(&mut walk, client, meshed, service, to.port),
            None => match (self.pods_of(namespace, name).first().copied(), to.port) {
                (Some(pod), Some(port)) => {
                    let meshed = meshed && skipped(&mut walk, client, port);
                    self.to_pod(&mut walk, client, meshed, pod, port);
                }
                (Some(_), None) => {
                    walk.step(Part::Destination, Outcome::Stops, format!("which port of {to} is not said"))
                        .fix(format!("name it: {to}:PORT"));
                }
                (None, _) => {
                    walk.step(
                        Part::Destination,
                        Outcome::Stops,
                        format!(
                            "there is no Service {namespace}/{name}, no workload and no pod of that name"
                        ),
                    )
                    .fix("kubectl get services,pods -A shows which there are");
                }
            },
        }
        walk
    }

    fn client(&self, walk: &mut Walk, client: &Pod) -> bool {
        let object = subject(client);
        let meshed = client.spec.proxy().is_some();
        let account = &client.spec.service_account_name;
        let says = if meshed {
            format!("pod {} is meshed; it calls as {}", client.metadata.name, self.identity(client))
        } else {
            format!(
                "pod {} has no proxy: it calls without an identity, and without Linkerd's routes",
                client.metadata.name
            )
        };
        walk.step(Part::Client, Outcome::Passes, says).evidence(Evidence::field(
            object,
            "spec.serviceAccountName",
            account.as_str(),
        ));
        meshed
    }

    fn identity(&self, pod: &Pod) -> String {
        let account = match pod.spec.service_account_name.as_str() {
            "" => "default",
            account => account,
        };
        self.policy.index.controller.identity(&pod.metadata.namespace, account)
    }

    fn to_service(&self, walk: &mut Walk, client: &Pod, meshed: bool, service: &Service, port: Option<u16>) {
        let (namespace, name) = service.metadata.key();
        let object = Subject::object(Kind::Service, namespace, name);
        let tcp = || service.spec.ports.iter().filter(|port| matches!(port.protocol.as_str(), "" | "TCP"));
        let chosen: Option<&ServicePort> = match port {
            Some(port) => tcp().find(|known| known.port == port),
            None => Some(tcp()).filter(|all| all.clone().count() == 1).and_then(|mut all| all.next()),
        };
        let declared: Vec<String> = tcp().map(|port| port.port.to_string()).collect();
        let Some(chosen) = chosen else {
            let (says, fix) = match port {
                Some(port) => (
                    format!("Service {namespace}/{name} declares no port {port}"),
                    format!(
                        "call one that it declares ({}), or add the port to the Service",
                        declared.join(", ")
                    ),
                ),
                None => (
                    format!("which port of Service {namespace}/{name} is not said"),
                    format!("name one of {}: {namespace}/{name}:PORT", declared.join(", ")),
                ),
            };
            walk.step(Part::Service, Outcome::Stops, says)
                .evidence(Evidence::field(object, "spec.ports", declared.join(", ")))
                .fix(fix);
            return;
        };
        walk.step(
            Part::Service,
            Outcome::Passes,
            format!("Service {namespace}/{name} declares port {}", chosen.port),
        )
        .evidence(Evidence::field(object, "spec.ports", declared.join(", ")));
        if let Some(cluster) = service.metadata.label(MIRROR) {
            walk.step(
                Part::OtherCluster,
                Outcome::NotJudged,
                format!(
                    "it stands for a Service of cluster {cluster}: what happens there is not in this evidence"
                ),
            )
            .fix("run meshdoctor against that cluster as well");
            return;
        }
        let meshed = meshed && skipped(walk, client, chosen.port);
        if meshed {
            let profile = self.outbound.profile(namespace, name);
            let from = client.metadata.namespace.as_str();
            if !routed::service(walk, &self.outbound.index, profile, from, (service, chosen.port)) {
                return;
            }
        }
        self.opaque(walk, meshed, service, chosen);
        if let Some(pod) = self.endpoint(walk, service) {
            let target = match &chosen.target_port {
                None => Some(chosen.port),
                Some(TargetPort::Number(number)) => Some(*number),
                Some(TargetPort::Name(name)) => named(pod, name),
            };
            match target {
                Some(target) => self.to_pod(walk, client, meshed, pod, target),
                None => {
                    let said = match &chosen.target_port {
                        Some(TargetPort::Name(name)) => name.clone(),
                        _ => String::new(),
                    };
                    walk.step(
                        Part::Endpoints,
                        Outcome::Stops,
                        format!("pod {} names no port {said}", pod.metadata.name),
                    )
                    .fix("give the container's port that name, or write its number as targetPort");
                }
            }
        }
    }

    /// Whether both sides take the port for opaque.
    fn opaque(&self, walk: &mut Walk, meshed: bool, service: &Service, port: &ServicePort) {
        if !meshed {
            return;
        }
        let default = || self.policy.index.controller.opaque_ports.contains(&port.port);
        let of_service = service
            .metadata
            .annotation(OPAQUE)
            .map_or_else(default, |list| listed_ports(list).contains(port.port));
        let says = if of_service {
            "the client takes the port for opaque"
        } else {
            "the client looks into the protocol"
        };
        let (namespace, name) = service.metadata.key();
        walk.step(Part::Protocol, Outcome::Passes, says).evidence(Evidence::field(
            Subject::object(Kind::Service, namespace, name),
            format!("metadata.annotations[{OPAQUE}]"),
            service.metadata.annotation(OPAQUE).unwrap_or("not there: the defaults"),
        ));
    }

    /// A pod behind a Service.
    fn endpoint(&self, walk: &mut Walk, service: &Service) -> Option<&'a Pod> {
        let (namespace, name) = service.metadata.key();
        let slices = self.slices.iter().filter(|slice| {
            slice.metadata.namespace == namespace
                && slice.metadata.label("kubernetes.io/service-name") == Some(name)
        });
        let endpoints: Vec<bool> = slices
            .flat_map(|slice| &slice.endpoints)
            .map(|endpoint| endpoint.conditions.ready != Some(false))
            .collect();
        let ready = endpoints.iter().filter(|ready| **ready).count();
        let object = format!("EndpointSlices of Service {namespace}/{name}");
        let said = format!("{ready} of {} ready", endpoints.len());
        if ready == 0 {
            walk.step(
                Part::Endpoints,
                Outcome::Stops,
                format!("no endpoint of Service {namespace}/{name} is ready"),
            )
            .evidence(Evidence::other(object, said))
            .fix("see why its pods are not ready; a selector that matches no pod gives no endpoint at all");
            return None;
        }
        walk.step(
            Part::Endpoints,
            Outcome::Passes,
            format!("{ready} of {} endpoints are ready", endpoints.len()),
        )
        .evidence(Evidence::other(object, said));
        let selector = &service.spec.selector;
        let pods = self.policy.pods.iter().filter(|pod| {
            pod.metadata.namespace == namespace
                && !selector.is_empty()
                && selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value))
        });
        let found = pods.max_by_key(|pod| pod.condition("Ready").is_some_and(|ready| ready.status == "True"));
        if found.is_none() {
            walk.step(
                Part::Server,
                Outcome::NotJudged,
                "the endpoints are none of this cluster's pods that the Service selects",
            );
        }
        found
    }

    /// The last part of the way: to the port of a pod.
    fn to_pod(&self, walk: &mut Walk, client: &Pod, meshed: bool, pod: &'a Pod, port: u16) {
        let object = subject(pod);
        if !self.network.walk(walk, client, meshed, pod, port) {
            return;
        }
        if pod.spec.proxy().is_none() {
            walk.step(
                Part::Server,
                Outcome::Passes,
                format!("pod {} has no proxy: no policy holds for it", pod.metadata.name),
            );
            return;
        }
        if let Some(said) = pod.metadata.annotation(SKIP_INBOUND)
            && listed_ports(said).contains(port)
        {
            walk.step(
                Part::Server,
                Outcome::Passes,
                format!(
                    "port {port} of pod {} is skipped by its proxy: no policy holds for it",
                    pod.metadata.name
                ),
            )
            .evidence(Evidence::field(
                object,
                format!("metadata.annotations[{SKIP_INBOUND}]"),
                said,
            ));
            return;
        }
        let Some(workload) = Workload::of_pod(pod, self.policy.index.controller.quirks) else {
            walk.step(
                Part::Server,
                Outcome::NotJudged,
                format!("pod {} has a proxy that the policy controller does not know", pod.metadata.name),
            )
            .evidence(Evidence::field(
                object,
                "metadata.labels[linkerd.io/control-plane-ns]",
                "not there",
            ));
            return;
        };
        if meshed && !anchors(walk, client, pod) {
            return;
        }
        let identity = self.identity(client);
        let who = Client { identity: meshed.then_some(identity.as_str()), address: client.status.pod_ip };
        let inbound = self.policy.index.inbound(&workload, port);
        policy(walk, &inbound, who, pod, port);
    }
}

fn subject(pod: &Pod) -> Subject {
    Subject::object(Kind::Pod, &pod.metadata.namespace, &pod.metadata.name)
}

fn named(pod: &Pod, name: &str) -> Option<u16> {
    let ports = pod.spec.all_containers().flat_map(|container| &container.ports);
    ports.into_iter().find(|port| port.name == name).map(|port| port.container_port)
}

/// Notes that the client's proxy skips a port; whether the call goes by the proxy.
fn skipped(walk: &mut Walk, client: &Pod, port: u16) -> bool {
    let Some(said) = client.metadata.annotation(SKIP_OUTBOUND) else { return true };
    if !listed_ports(said).contains(port) {
        return true;
    }
    walk.step(
        Part::Outbound,
        Outcome::Passes,
        format!("port {port} is skipped by the client's proxy: the call has no identity and no route"),
    )
    .evidence(Evidence::field(subject(client), format!("metadata.annotations[{SKIP_OUTBOUND}]"), said));
    false
}

/// Whether both proxies share a trust anchor, as far as they say.
fn anchors(walk: &mut Walk, client: &Pod, server: &Pod) -> bool {
    let print = |pod: &Pod| {
        // What is kept of the variable is the print of its certificates.
        let print: BundlePrint = pod.spec.proxy()?.env_value(TRUST_ANCHORS)?.parse().ok()?;
        Some(print).filter(|print| !print.is_empty())
    };
    let path = format!("containers[linkerd-proxy].env[{TRUST_ANCHORS}]");
    match (print(client), print(server)) {
        (Some(ours), Some(theirs)) if !ours.overlaps(&theirs) => {
            walk.step(Part::Identity, Outcome::Stops, "the proxies of client and server share no trust anchor: neither takes the other's certificate")
                .evidence(Evidence::field(subject(client), path.clone(), ours.shown()))
                .evidence(Evidence::field(subject(server), path, theirs.shown()))
                .fix("roll out the one with the older anchors: kubectl rollout restart");
            return false;
        }
        (Some(_), Some(_)) => {
            walk.step(Part::Identity, Outcome::Passes, "both proxies share a trust anchor");
        }
        _ => {
            walk.step(
                Part::Identity,
                Outcome::NotJudged,
                "the trust anchors of the proxies are not in their environment",
            );
        }
    }
    true
}

fn policy(walk: &mut Walk, inbound: &Inbound<'_>, who: Client<'_>, pod: &Pod, port: u16) {
    let (by, evidence) = match inbound.taken_by {
        TakenBy::Server(server) => {
            let meta = &server.metadata;
            let object = Subject::object(Kind::Server, &meta.namespace, &meta.name);
            (
                format!("Server {}", meta.name),
                Evidence::field(object, "spec.port", format!("takes port {port}")),
            )
        }
        TakenBy::Default(policy) => {
            (format!("default policy {policy}"), Evidence::other("default inbound policy", policy.as_str()))
        }
    };
    let shows = who.identity.map_or_else(|| "a client without identity".to_owned(), str::to_owned);
    let admits = |one: &&crate::model::policy::Authorization<'_>| one.admits(who.identity, who.address);
    match inbound.connect(who) {
        Entry::Admitted => {
            let at_port = inbound.authorizations.iter().find(admits);
            let says = match at_port {
                Some(one) => format!("{by} lets in {shows}, by {}", one.by.name()),
                None => format!("{by} lets in {shows} on some of its routes; others may refuse it"),
            };
            walk.step(Part::Policy, Outcome::Passes, says).evidence(evidence);
        }
        Entry::Refused | Entry::NoRoute => {
            walk.step(Part::Policy, Outcome::Stops, format!("{by} of pod {} lets nobody in who is {shows}: status 403, or the connection ends", pod.metadata.name))
                .evidence(evidence)
                .fix(format!(
                    "add an AuthorizationPolicy for {by} that lets this client in; meshdoctor policy {}/{}:{port} shows who is let in",
                    pod.metadata.namespace, pod.metadata.name
                ));
        }
    }
}
