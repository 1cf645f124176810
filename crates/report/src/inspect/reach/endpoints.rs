//! Step of a walk for the pods behind a Service: the pods that receive calls, or why there are none.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::identity::anchors;
use super::{Caller, Mesh};
use crate::checks::{CallFaults, no_endpoint};
use crate::command::{kubectl, meshdoctor};
use crate::finding::{Evidence, Subject};
use crate::inspect::steps::{Outcome, Part, READ_CHECKS, Walk};
use crate::item::Item;
use crate::model::availability::{Availability, proxy_started};
use crate::model::endpoints::{NoEndpoint, selected, selects};
use crate::model::owners::generation;
use crate::model::policy::Spoken;
use crate::objects::container::{INIT_CONTAINER, PROXY_CONTAINER};
use crate::objects::{EndpointSlice, ExternalWorkload, Kind, Pod, Service, ServicePort, TargetPort};

/// Pods that are equivalent for a call.
struct Alike<'a> {
    pod: &'a Pod,
    count: usize,
}

impl<'a> Mesh<'a> {
    /// Continues to the pods behind a Service: to the target of `port`, or, without one, to `number` of the
    /// pods themselves.
    pub(super) fn to_endpoints(
        &self,
        walk: &mut Walk,
        caller: Caller<'_>,
        service: &Service,
        port: Result<&ServicePort, u16>,
        spoken: Option<Spoken>,
    ) {
        let endpoints = self.endpoints(walk, caller, service, port.ok());
        let all: usize = endpoints.iter().map(|alike| alike.count).sum();
        let ways = endpoints.into_iter().map(|alike| {
            let name = format!("{} of {all} endpoints (pod {})", alike.count, alike.pod.metadata.name);
            let mut way = walk.branch();
            match port {
                Err(number) => {
                    let spoken = caller.meshed.then(|| self.spoken_to_pod(alike.pod, number));
                    self.to_pod(&mut way, caller, spoken, alike.pod, number);
                }
                Ok(port) => match port.leads_to(alike.pod) {
                    Some(target) => self.to_pod(&mut way, caller, spoken, alike.pod, target),
                    None => unnamed(&mut way, port, alike.pod),
                },
            }
            (name, way)
        });
        let ways: Vec<(String, Walk)> = ways.collect();
        walk.join(ways);
    }

    /// The pods behind a Service, one for each kind that a call may reach.
    fn endpoints(
        &self,
        walk: &mut Walk,
        caller: Caller<'_>,
        service: &Service,
        port: Option<&ServicePort>,
    ) -> Vec<Alike<'a>> {
        let (ready, all) = self.ready(service);
        let selected: Vec<&'a Pod> = selected(service, self.policy.pods).collect();
        if ready == 0 {
            let deployments = self.deployments.iter().map(|one| (Kind::Deployment, one));
            let sets = self.stateful_sets.iter().map(|one| (Kind::StatefulSet, one));
            let workloads = deployments.chain(sets);
            let cause = NoEndpoint::explain(service, self.policy.pods, workloads);
            let is_selected = |one: &&ExternalWorkload| selects(service, &one.metadata);
            if let Some(external) = self.policy.external.iter().find(is_selected) {
                self.external_unready(walk, service, port, external, all);
                return Vec::new();
            }
            let step = none_ready(walk, service, all, &self.calls.no_endpoint, Some(&cause.to_string()));
            step.evidence.extend(cause.evidence());
            self.remedy(step, &no_endpoint::remedy(service, &cause));
            if !matches!(cause, NoEndpoint::ScaledToZero(..) | NoEndpoint::NoSelector) {
                step.then(READ_CHECKS, self.checked(&service.metadata.namespace));
            }
            return Vec::new();
        }
        if !self.are_usable(walk, service, port) {
            return Vec::new();
        }
        walk.step(
            Part::Endpoints,
            Outcome::Passes,
            match all {
                1 => "the only endpoint is ready".to_owned(),
                _ => format!("{ready} of {all} endpoints are ready"),
            },
        )
        .evidence(endpoints_of(service, format!("{ready} of {all} ready")));
        let serving: Vec<&'a Pod> = selected.iter().copied().filter(|pod| pod.is_ready()).collect();
        // A Service can include pods that are not ready.
        let serving = if serving.is_empty() || ready > serving.len() { selected } else { serving };
        if serving.is_empty() {
            let says = "none of the Service's endpoints is a pod of this cluster that it selects";
            walk.step(Part::Server, Outcome::NotJudged, says);
        }
        let serving = on_clients_node(walk, caller, service, serving);
        let mut alike: BTreeMap<_, Alike<'a>> = BTreeMap::new();
        for pod in serving {
            let entry = alike.entry(self.likeness(caller, pod)).or_insert(Alike { pod, count: 0 });
            entry.count += 1;
        }
        alike.into_values().collect()
    }

    /// Records that no endpoint of a Service with an ExternalWorkload is ready.
    fn external_unready(
        &self,
        walk: &mut Walk,
        service: &Service,
        port: Option<&ServicePort>,
        external: &ExternalWorkload,
        all: usize,
    ) {
        let name = &external.metadata.name;
        let undeclared = port.filter(|port| port.leads_to_external(external).is_none());
        let cause = match undeclared {
            Some(port) => {
                format!("ExternalWorkload {name} does not declare its target port {}", port.target())
            }
            None => format!("ExternalWorkload {name} has no endpoint"),
        };
        let step = none_ready(walk, service, all, &self.calls.no_endpoint, Some(&cause));
        let ports: Vec<String> = external.spec.ports.iter().map(|port| port.port.to_string()).collect();
        let object = Subject::object(Kind::ExternalWorkload, &external.metadata.namespace, name);
        step.evidence(Evidence::field(object, "spec.ports", ports.join(", ")));
        step.fix(format!("Repair {}", CallFaults::OF_EXTERNAL));
        step.paste(self.command(meshdoctor().words("check --only").arg(CallFaults::OF_EXTERNAL)));
    }

    /// Evaluates whether the entries of the EndpointSlices lead to pods. Destination and kube-proxy use only entries
    /// for the port; destination leaves out those whose pod does not exist, and a call to an address of no pod hangs.
    /// Returns `false` if no entry leads to a pod.
    fn are_usable(&self, walk: &mut Walk, service: &Service, port: Option<&ServicePort>) -> bool {
        if service.spec.selector.is_empty() {
            return true;
        }
        let usable = Usable::new(self.slices, service, port, self.policy.pods, self.knows_pods());
        let (namespace, name) = service.metadata.key();
        let of = format!("Service {namespace}/{name}");
        let object = format!("EndpointSlices of {of}");
        if usable.leads == 0 && self.leads_nowhere(walk, service, port) {
            return false;
        }
        if usable.leads == 0 {
            let says = match usable.strays.first() {
                Some(address) => format!("no pod has an address of {of} ({address}): calls hang"),
                None => format!(
                    "no ready endpoint of {of} is used, because {}: {}",
                    usable.unused.unwrap_or("its slices list none"),
                    self.calls.no_endpoint
                ),
            };
            walk.step(Part::Endpoints, Outcome::Stops, says)
                .evidence(Evidence::other(object, usable.describe()))
                .fix("delete the slices that no controller maintains, so that Kubernetes writes them again");
            return false;
        }
        if let Some(address) = usable.strays.first() {
            let (strays, all) = (usable.strays.len(), usable.leads + usable.strays.len());
            let (has, them) = if strays == 1 { ("has", "it") } else { ("have", "them") };
            let says = format!("{strays} of {all} endpoints {has} an address that no pod has: calls to {them} hang");
            walk.step(Part::Endpoints, Outcome::Partly, says)
                .evidence(Evidence::other(object, address.to_string()))
                .fix("delete the EndpointSlice with this address, which no controller maintains");
        }
        true
    }

    /// Records that no selected pod declares the target port's name, for which the slices then list nothing.
    fn leads_nowhere(&self, walk: &mut Walk, service: &Service, port: Option<&ServicePort>) -> bool {
        let Some(port) = port else { return false };
        let own: Vec<&Pod> = selected(service, self.policy.pods).collect();
        if own.is_empty() || own.iter().any(|pod| port.leads_to(pod).is_some()) {
            return false;
        }
        let containers = own.iter().flat_map(|pod| pod.spec.all_containers());
        let of_app = containers.filter(|container| !container.name.starts_with("linkerd-"));
        let declared: BTreeSet<String> = of_app
            .flat_map(|container| &container.ports)
            .filter(|port| !port.name.is_empty())
            .map(|port| format!("{} ({})", port.name, port.container_port))
            .collect();
        let declared = match declared.is_empty() {
            true => "none with a name".to_owned(),
            false => declared.into_iter().collect::<Vec<_>>().join(", "),
        };
        let (namespace, name) = service.metadata.key();
        let says = format!(
            "port {} of Service {namespace}/{name} leads to {}, which no container of its pods declares: {}",
            port.port,
            port.target(),
            self.calls.no_endpoint
        );
        walk.step(Part::Endpoints, Outcome::Stops, says)
            .evidence(Evidence::field(
                Subject::object(Kind::Service, namespace, name),
                format!("spec.ports[port={}].targetPort", port.port),
                port.target(),
            ))
            .evidence(Evidence::other("Declared ports of its pods", declared))
            .fix("set targetPort to a port that the containers declare")
            .paste(self.command(kubectl().namespace(namespace).words("edit service").operand(name)));
        true
    }

    /// Whether all pods are known.
    fn knows_pods(&self) -> bool {
        !self.policy.gaps.iter().any(|gap| gap.request.item == Item::List(Kind::Pod))
    }

    /// The properties that distinguish pods for a call: their owner and labels, the proxy with its trust anchors,
    /// whether it is ready, since when, the place where they run, and the settings of the injection. Pods of one
    /// ReplicaSet can differ: some without a proxy, with other labels, or created before a change of their namespace.
    fn likeness(&self, caller: Caller<'_>, pod: &Pod) -> (String, String) {
        let made = match pod.metadata.controller() {
            Some(_) => generation(pod),
            None => pod.metadata.name.clone(),
        };
        let status = pod.container_status(PROXY_CONTAINER);
        let late = match self.control_plane.state("destination", "policy") {
            Availability::Down { since: Some(since), .. } => proxy_started(pod).is_some_and(|started| started >= since),
            _ => false,
        };
        let itself = pod.metadata.key() == caller.pod.metadata.key();
        let node = if caller.pod.spec.host_network { pod.node_name.as_str() } else { "" };
        let ready = status.is_none_or(|status| status.ready);
        let meshed = pod.spec.proxy().is_some();
        let anchors = anchors(pod).map(|anchors| anchors.to_string());
        let labels = &pod.metadata.labels;
        let settings = injected_settings(pod);
        (made, format!("{ready} {late} {itself} {node} {meshed} {anchors:?} {labels:?} {settings}"))
    }

    /// Number of ready endpoints of a Service, and of all.
    pub(super) fn ready(&self, service: &Service) -> (usize, usize) {
        EndpointSlice::counted(self.slices, service)
    }
}

/// The ready entries of a Service's EndpointSlices, by their use.
#[derive(Default)]
struct Usable {
    /// Number of entries that lead to a pod, or may do so.
    leads: usize,
    /// The addresses that no pod has.
    strays: Vec<IpAddr>,
    /// Why an entry is not used.
    unused: Option<&'static str>,
}

impl Usable {
    /// `complete`: `pods` are all pods.
    fn new(
        slices: &[EndpointSlice],
        service: &Service,
        port: Option<&ServicePort>,
        pods: &[Pod],
        complete: bool,
    ) -> Usable {
        let mut usable = Usable::default();
        let namespace = service.metadata.namespace.as_str();
        let of_name = |name: &str| pods.iter().find(|pod| pod.metadata.key() == (namespace, name));
        for slice in EndpointSlice::for_service(slices, service) {
            let serves = port.is_none_or(|port| slice.serves(&port.name));
            for endpoint in slice.endpoints.iter().filter(|endpoint| endpoint.is_ready()) {
                if !serves {
                    usable.unused = Some(match slice.address_type.as_str() {
                        "FQDN" => "its slices contain no IP addresses",
                        _ => "its slices do not list the port",
                    });
                    continue;
                }
                let named = endpoint.pod().map(of_name);
                if complete && matches!(named, Some(None)) {
                    usable.unused = Some("its pods do not exist");
                    continue;
                }
                let Some(address) = endpoint.address().filter(|_| complete) else {
                    usable.leads += 1;
                    continue;
                };
                // Of a pod with two addresses, only the first is known.
                let of_family = |pod: &Pod| pod.status.pod_ip.filter(|own| own.is_ipv4() == address.is_ipv4());
                let is_stray = match named.flatten() {
                    Some(pod) => of_family(pod).is_some_and(|own| own != address),
                    None => {
                        let mut known = pods.iter().filter_map(of_family).peekable();
                        known.peek().is_some() && known.all(|own| own != address)
                    }
                };
                if is_stray { usable.strays.push(address) } else { usable.leads += 1 }
            }
        }
        usable
    }

    /// As evidence.
    fn describe(&self) -> String {
        match self.strays.as_slice() {
            [] => self.unused.unwrap_or("none").to_owned(),
            all => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        }
    }
}

/// The settings of the injection that decide about inbound calls: annotations, arguments of linkerd-init, and the
/// proxy's own.
fn injected_settings(pod: &Pod) -> String {
    let annotations = pod.metadata.annotations.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    let own: Vec<(&str, &str)> = annotations.filter(|(key, _)| key.starts_with("config.linkerd.io/")).collect();
    let arguments = pod.spec.container(INIT_CONTAINER).map(|init| &init.args);
    let env = pod.spec.proxy().into_iter().flat_map(|proxy| &proxy.env);
    let inbound: Vec<_> = env.filter(|one| one.name.starts_with("LINKERD2_PROXY_INBOUND_")).collect();
    format!("{own:?} {arguments:?} {inbound:?}")
}

/// The pods that remain with `internalTrafficPolicy: Local`: the proxy and kube-proxy use only endpoints on
/// the client's node.
fn on_clients_node<'a>(walk: &mut Walk, caller: Caller<'_>, service: &Service, serving: Vec<&'a Pod>) -> Vec<&'a Pod> {
    if service.spec.internal_traffic_policy != "Local" || serving.is_empty() {
        return serving;
    }
    let object = Subject::object(Kind::Service, &service.metadata.namespace, &service.metadata.name);
    let evidence = Evidence::field(object, "spec.internalTrafficPolicy", "Local");
    let node = caller.pod.node_name.as_str();
    if node.is_empty() || serving.iter().any(|pod| pod.node_name.is_empty()) {
        let says = "only endpoints on the client's node get the call, and the nodes of its pods are not known";
        walk.step(Part::Endpoints, Outcome::NotJudged, says).evidence(evidence);
        return serving;
    }
    let all = serving.len();
    let local: Vec<&Pod> = serving.into_iter().filter(|pod| pod.node_name == node).collect();
    if local.is_empty() {
        let says = format!("none of the {all} ready pods runs on {node}, the node of pod {}", caller.pod.metadata.name);
        walk.step(Part::Endpoints, Outcome::Stops, says)
            .evidence(evidence)
            .fix("run a pod of the Service on each node of its clients, or set internalTrafficPolicy: Cluster");
    } else {
        let says =
            format!("{} of {all} ready pods run on {node}, the node of the client; others get no call", local.len());
        walk.step(Part::Endpoints, Outcome::Passes, says).evidence(evidence);
    }
    local
}

/// Records that a pod has no port with the name in the Service's targetPort.
fn unnamed(walk: &mut Walk, port: &ServicePort, pod: &Pod) {
    let name = match &port.target_port {
        Some(TargetPort::Name(name)) => name.as_str(),
        _ => "",
    };
    let says = format!("pod {} names no port {name}", pod.metadata.name);
    walk.step(Part::Endpoints, Outcome::Stops, says)
        .fix("give the container's port that name, or write its number as targetPort");
}

/// Records that a Service has no ready endpoint among this number of endpoints.
pub(super) fn none_ready<'w>(
    walk: &'w mut Walk,
    service: &Service,
    all: usize,
    callers_get: &str,
    why: Option<&str>,
) -> &'w mut super::Step {
    let (namespace, name) = service.metadata.key();
    let why = why.map(|why| format!(", because {why}")).unwrap_or_default();
    let says = format!("no endpoint of Service {namespace}/{name} is ready{why}: {callers_get}");
    walk.step(Part::Endpoints, Outcome::Stops, says).evidence(endpoints_of(service, format!("0 of {all} ready")))
}

fn endpoints_of(service: &Service, said: String) -> Evidence {
    let (namespace, name) = service.metadata.key();
    Evidence::other(format!("EndpointSlices of Service {namespace}/{name}"), said)
}
