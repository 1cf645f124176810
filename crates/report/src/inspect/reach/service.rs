//! Step of a walk for a Service: its port, its routes, and the next destination.

use super::endpoints::none_ready;
use super::pod::declares_others;
use super::{Caller, Mesh, skipped, skips, subject};
use crate::checks::EndpointCaller;
use crate::command::meshdoctor;
use crate::finding::{Evidence, Subject};
use crate::inspect::routed::{self, Next};
use crate::inspect::steps::{Outcome, Part, Walk};
use crate::model::policy::Spoken;
use crate::model::redirection::{IPV6, skips_ipv6};
use crate::objects::container::INIT_CONTAINER;
use crate::objects::service::{MIRRORS_CLUSTER, REMOTE_DISCOVERY, REMOTE_SERVICE};
use crate::objects::{Kind, Pod, Service, ServicePort};

/// A step about a client that may connect to pods, so that routes and profiles of the Service do not apply.
fn past_the_service(walk: &mut Walk, calls: &EndpointCaller, service: &Service) {
    let (namespace, name) = service.metadata.key();
    let EndpointCaller { controller, setting } = calls;
    let unless = match setting {
        Some((kind, key)) => format!(", unless its {kind} has the annotation {key}: \"true\""),
        None => String::new(),
    };
    let says = format!(
        "the client is a pod of {controller}, which connects to pods{unless}. Then no route or profile of Service \
         {namespace}/{name} applies to its calls"
    );
    walk.step(Part::Routes, Outcome::NotJudged, says)
        .fix(format!("find out: {}", meshdoctor().words("check --only").arg(EndpointCaller::CHECK)));
}

impl<'a> Mesh<'a> {
    pub(super) fn to_service(&self, walk: &mut Walk, caller: Caller<'_>, service: &Service, port: Option<u16>) {
        if service.spec.kind == "ExternalName" {
            return to_external_name(walk, service);
        }
        if service.spec.cluster_ip.headless {
            return self.to_headless(walk, caller, service, port);
        }
        let Some(chosen) = self.chosen(walk, caller, service, port) else { return };
        let number = match chosen {
            Ok(declared) => declared.port,
            Err(undeclared) => undeclared,
        };
        if service.lacks_remote_service() {
            let says = format!("destination rejects lookups of a mirror without the label {REMOTE_SERVICE}");
            walk.step(Part::ControlPlane, Outcome::Stops, says)
                .evidence(Evidence::field(subject_of(service), format!("metadata.labels[{REMOTE_SERVICE}]"), "missing"))
                .fix("set the label to the name of the Service in the other cluster");
            return;
        }
        let caller = caller.through(skipped(walk, caller.pod, number, &self.policy.cni));
        let caller = over_ipv6(walk, caller, service);
        if let Some(cluster) = service.metadata.label(MIRRORS_CLUSTER) {
            return self.to_mirrored(walk, caller, service, cluster);
        }
        if !caller.meshed {
            return match service.is_federated() {
                true => self.to_members(walk, caller, service, number, None),
                false => self.to_endpoints(walk, caller, service, chosen, None),
            };
        }
        if !self.discovery(walk, caller) {
            return;
        }
        let (namespace, name) = service.metadata.key();
        let profile = self.outbound.profile(namespace, name);
        let from = caller.pod.metadata.namespace.as_str();
        let outbound = self.outbound.index.of_service((namespace, name), number, from);
        if (!outbound.routes.is_empty() || profile.is_some())
            && let Some(calls) = EndpointCaller::new(caller.pod, &service.metadata)
        {
            past_the_service(walk, &calls, service);
        }
        let index = &self.outbound.index;
        let exists = |namespace: &str, name: &str| self.service(namespace, name).is_some();
        match routed::service(walk, index, profile, &outbound, (service, number), self.calls, exists) {
            Next::Ends => {}
            Next::Service if service.is_federated() => {
                self.to_members(walk, caller, service, number, Some(outbound.spoken));
            }
            Next::Service => self.to_endpoints(walk, caller, service, chosen, Some(outbound.spoken)),
            Next::Backends(backends) => self.to_backends(walk, caller, &backends, outbound.spoken),
        }
        self.errors(walk, caller, service, number);
    }

    /// A Service that mirrors one of another cluster, whose evidence is not read here.
    fn to_mirrored(&self, walk: &mut Walk, caller: Caller<'_>, service: &Service, cluster: &str) {
        // With a gateway, its address is the only endpoint here.
        let by_gateway = service.metadata.label(REMOTE_DISCOVERY).is_none();
        let (ready, all) = self.ready(service);
        if by_gateway && ready == 0 {
            none_ready(walk, service, all, &self.calls.no_endpoint, None)
                .fix(format!("check whether the link to cluster {cluster} works: linkerd multicluster check"));
            return;
        }
        if by_gateway && !caller.meshed {
            let says = format!(
                "it mirrors a Service of cluster {cluster} behind a gateway, which accepts only mutual TLS: a call \
                 without the client's proxy is refused"
            );
            let label = format!("metadata.labels[{REMOTE_DISCOVERY}]");
            walk.step(Part::OtherCluster, Outcome::Stops, says)
                .evidence(Evidence::field(subject_of(service), label, "not set"))
                .fix("mesh the client, and skip none of the called ports");
            return;
        }
        let says = format!("it mirrors a Service of cluster {cluster}: the rest of the path is not in this evidence");
        walk.step(Part::OtherCluster, Outcome::NotJudged, says).fix("also run meshdoctor against that cluster");
    }

    /// The called port of the Service; `Err` for an undeclared port, if the release forwards such calls.
    /// `None` if the call ends here.
    fn chosen<'s>(
        &self,
        walk: &mut Walk,
        caller: Caller<'_>,
        service: &'s Service,
        port: Option<u16>,
    ) -> Option<Result<&'s ServicePort, u16>> {
        let (namespace, name) = service.metadata.key();
        let object = subject_of(service);
        let chosen = match port {
            Some(port) => service.spec.tcp_ports().find(|known| known.port == port),
            None => service.spec.only_tcp_port(),
        };
        let declared: Vec<String> = service.spec.tcp_ports().map(|port| port.port.to_string()).collect();
        let declared = declared.join(", ");
        let evidence = Evidence::field(object, "spec.ports", declared.as_str());
        if let Some(chosen) = chosen {
            let says = format!("Service {namespace}/{name} declares port {}", chosen.port);
            walk.step(Part::Service, Outcome::Passes, says).evidence(evidence);
            return Some(Ok(chosen));
        }
        let Some(port) = port else {
            let says = format!("the port of Service {namespace}/{name} is not specified");
            walk.step(Part::Service, Outcome::Stops, says)
                .evidence(evidence)
                .fix(format!("name one of {declared}: {namespace}/{name}:PORT"));
            return None;
        };
        let fix = format!(
            "call a declared port ({declared}), or add the port to the Service. For a call to the address of a pod, \
             name the pod"
        );
        let undeclared = format!("Service {namespace}/{name} declares no port {port}");
        let passes_proxy = caller.meshed && !skips(caller.pod, port, &self.policy.cni);
        if !passes_proxy {
            let says = format!("{undeclared}: without a proxy, nothing forwards the connection");
            walk.step(Part::Service, Outcome::Stops, says).evidence(evidence).fix(fix);
            return None;
        }
        let quirks = &self.policy.index.controller.quirks;
        let with_profile = self.outbound.has_profile(namespace, name);
        let refused = match with_profile {
            true => quirks.refuses_undeclared_ports_with_profile,
            false => quirks.refuses_undeclared_ports,
        };
        if refused {
            let says = format!("{undeclared}: {}", self.calls.undeclared_port);
            walk.step(Part::Service, Outcome::Stops, says).evidence(evidence).fix(fix);
            return None;
        }
        let since = self.knowledge.upgrades().undeclared_ports_since(with_profile);
        if self.no_pod_declares(service, port) {
            let says = format!(
                "{undeclared}, and no container of its pods does: this release sends the call to port {port} of a pod, \
                 which may have no listener; from {since} on, it is rejected"
            );
            walk.step(Part::Service, Outcome::NotJudged, says).evidence(evidence).fix(fix);
            return Some(Err(port));
        }
        let says = format!(
            "{undeclared}: this release sends the call to port {port} of its pods; from {since} on, it is rejected"
        );
        walk.step(Part::Service, Outcome::Passes, says)
            .evidence(evidence)
            .fix(format!("before an upgrade to {since} or later, {fix}"));
        Some(Err(port))
    }

    /// Whether the Service selects pods whose containers all declare ports, but none of them this one.
    fn no_pod_declares(&self, service: &Service, port: u16) -> bool {
        let selector = &service.spec.selector;
        let is_selected = |pod: &&Pod| {
            pod.metadata.namespace == service.metadata.namespace
                && selector.iter().all(|(key, value)| pod.metadata.label(key) == Some(value))
        };
        let mut pods = self.policy.pods.iter().filter(is_selected).peekable();
        !selector.is_empty() && pods.peek().is_some() && pods.all(|pod| declares_others(pod, port))
    }

    /// Continues to the backends of routes, each of which receives a part of the calls.
    fn to_backends(&self, walk: &mut Walk, caller: Caller<'_>, backends: &[(String, String, u16)], spoken: Spoken) {
        let mut ways = Vec::new();
        for (namespace, name, number) in backends {
            let mut way = walk.branch();
            if let Some(service) = self.service(namespace, name)
                && let Some(port) = service.spec.tcp_ports().find(|port| port.port == *number)
            {
                self.to_endpoints(&mut way, caller, service, Ok(port), Some(spoken));
            }
            ways.push((format!("requests to {namespace}/{name}:{number}"), way));
        }
        walk.join(ways);
    }

    /// A Service without an address: its name resolves to its pods, and the called port is the pod's. Neither
    /// targetPort nor routes of the Service apply.
    fn to_headless(&self, walk: &mut Walk, caller: Caller<'_>, service: &Service, port: Option<u16>) {
        let (namespace, name) = service.metadata.key();
        let object = subject_of(service);
        let only = || service.spec.only_tcp_port().map(|port| port.port);
        let Some(port) = port.or_else(only) else {
            walk.step(
                Part::Service,
                Outcome::Stops,
                format!("the port of Service {namespace}/{name} is not specified"),
            )
            .fix(format!("name one: {namespace}/{name}:PORT"));
            return;
        };
        let says = format!(
            "Service {namespace}/{name} is headless: its name resolves to its pods, at port {port} of the \
             pod itself"
        );
        walk.step(Part::Service, Outcome::Passes, says).evidence(Evidence::field(object, "spec.clusterIP", "None"));
        let caller = caller.through(skipped(walk, caller.pod, port, &self.policy.cni));
        if self.discovery(walk, caller) {
            self.to_endpoints(walk, caller, service, Err(port), None);
        }
    }
}

fn subject_of(service: &Service) -> Subject {
    let (namespace, name) = service.metadata.key();
    Subject::object(Kind::Service, namespace, name)
}

/// A Service that is an alias of a host.
fn to_external_name(walk: &mut Walk, service: &Service) {
    let (namespace, name) = service.metadata.key();
    let says = format!("Service {namespace}/{name} is an ExternalName: DNS resolves it to another host");
    walk.step(Part::Service, Outcome::Passes, says).evidence(Evidence::field(
        subject_of(service),
        "spec.type",
        "ExternalName",
    ));
    let onward = meshdoctor().words("reach").operand(walk.from.to_string()).words("HOST:PORT");
    walk.step(Part::Destination, Outcome::NotJudged, "the evidence does not name that host")
        .fix(format!("continue with that host: {onward}"));
}

/// A call to a Service of IPv6 alone bypasses a proxy without rules for IPv6.
fn over_ipv6<'c>(walk: &mut Walk, caller: Caller<'c>, service: &Service) -> Caller<'c> {
    let caller = Caller { ipv6: service.spec.is_ipv6_only(), ..caller };
    if !caller.ipv6 || !caller.meshed || !skips_ipv6(caller.pod) {
        return caller;
    }
    let says = "IPv6 is disabled in the mesh: the call bypasses the client's proxy, and has no identity and no route";
    walk.step(Part::Outbound, Outcome::Passes, says).evidence(ipv6_argument(caller.pod));
    caller.through(false)
}

/// The argument that disables IPv6 for a pod.
pub(super) fn ipv6_argument(pod: &Pod) -> Evidence {
    let path = format!("spec.initContainers[{INIT_CONTAINER}].args");
    Evidence::field(subject(pod), path, IPV6)
}
