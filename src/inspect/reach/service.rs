//! The part of a walk that is about a Service: its port, what is behind it, and what the proxies take the protocol for.

use super::{Mesh, OPAQUE, skipped};
use crate::finding::{Evidence, Subject};
use crate::inspect::routed;
use crate::inspect::walk::{Outcome, Part, Walk};
use crate::model::policy::{Protocol, Spoken, Workload};
use crate::model::skipped::{self as ports, IN};
use crate::objects::service::{MIRRORS_CLUSTER, REMOTE_DISCOVERY};
use crate::objects::{Kind, Pod, Service, ServicePort, TargetPort};

impl<'a> Mesh<'a> {
    pub(super) fn to_service(
        &self,
        walk: &mut Walk,
        client: &Pod,
        meshed: bool,
        service: &Service,
        port: Option<u16>,
    ) {
        let (namespace, name) = service.metadata.key();
        let object = Subject::object(Kind::Service, namespace, name);
        if service.spec.kind == "ExternalName" {
            walk.step(
                Part::Service,
                Outcome::Passes,
                format!("Service {namespace}/{name} only names another host, and DNS leads there"),
            )
            .evidence(Evidence::field(object, "spec.type", "ExternalName"));
            let from = walk.from.clone();
            walk.step(Part::Destination, Outcome::NotJudged, "which host that is, is not in this evidence")
                .fix(format!("walk on to it: meshdoctor reach {from} HOST:PORT"));
            return;
        }
        if service.spec.cluster_ip.headless {
            return self.to_headless(walk, client, meshed, service, port);
        }
        let chosen: Option<&ServicePort> = match port {
            Some(port) => service.spec.tcp_ports().find(|known| known.port == port),
            None => service.spec.only_tcp_port(),
        };
        let declared: Vec<String> = service.spec.tcp_ports().map(|port| port.port.to_string()).collect();
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
        if let Some(cluster) = service.metadata.label(MIRRORS_CLUSTER) {
            // Where a gateway stands between, its address is the only endpoint here.
            let by_gateway = service.metadata.label(REMOTE_DISCOVERY).is_none();
            let (ready, all) = self.ready(service);
            if by_gateway && ready == 0 {
                none_ready(
                    walk,
                    (service, all),
                    &format!("see whether the link to cluster {cluster} is up: linkerd multicluster check"),
                );
                return;
            }
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
        if let Some(pod) = self.endpoint(walk, service) {
            match chosen.leads_to(pod) {
                Some(target) => {
                    if meshed {
                        self.opaque(walk, client, (service, chosen), pod, target);
                    }
                    self.to_pod(walk, client, meshed, pod, target);
                }
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

    /// A Service without an address: its name leads to its pods, and the port that is called is that of the pod. Neither targetPort
    /// nor routes of the Service count.
    fn to_headless(&self, walk: &mut Walk, client: &Pod, meshed: bool, service: &Service, port: Option<u16>) {
        let (namespace, name) = service.metadata.key();
        let object = Subject::object(Kind::Service, namespace, name);
        let only = || service.spec.only_tcp_port().map(|port| port.port);
        let Some(port) = port.or_else(only) else {
            walk.step(
                Part::Service,
                Outcome::Stops,
                format!("which port of Service {namespace}/{name} is not said"),
            )
            .fix(format!("name one: {namespace}/{name}:PORT"));
            return;
        };
        let says = format!(
            "Service {namespace}/{name} is headless: its name leads to its pods, at port {port} of the pod itself"
        );
        walk.step(Part::Service, Outcome::Passes, says).evidence(Evidence::field(
            object,
            "spec.clusterIP",
            "None",
        ));
        let meshed = meshed && skipped(walk, client, port);
        if let Some(pod) = self.endpoint(walk, service) {
            self.to_pod(walk, client, meshed, pod, port);
        }
    }

    /// Whether both sides take the port for opaque. Where one alone does, the other waits to see who speaks first.
    fn opaque(
        &self,
        walk: &mut Walk,
        caller: &Pod,
        (service, port): (&Service, &ServicePort),
        pod: &Pod,
        target: u16,
    ) {
        let index = &self.policy.index;
        let from = caller.metadata.namespace.as_str();
        let client =
            self.outbound.index.of_service(service.metadata.key(), port.port, from).spoken == Spoken::Opaque;
        // A proxy that the port does not pass takes it for nothing.
        let passes = pod.spec.proxy().is_some()
            && !ports::skipped(pod, IN).is_some_and(|skipped| skipped.holds(target));
        let workload = Workload::of_pod(pod, index.controller.quirks).filter(|_| passes);
        let server = workload.map(|it| index.inbound(&it, target).protocol == Protocol::Opaque);
        let says = match (client, server) {
            (true, Some(true)) => "client and server take the port for opaque",
            (false, Some(false)) => "client and server look into the protocol",
            (true, Some(false)) => {
                "the client takes the port for opaque, the server looks into the protocol: where the server speaks first, it begins after 10 \
                 seconds"
            }
            (false, Some(true)) => {
                "the client looks into the protocol, the server takes the port for opaque: where the server speaks first, it begins after 10 \
                 seconds"
            }
            (true, None) => "the client takes the port for opaque",
            (false, None) => "the client looks into the protocol",
        };
        let (namespace, name) = service.metadata.key();
        let object = Subject::object(Kind::Service, namespace, name);
        let said = Some(port.app_protocol.as_str())
            .filter(|said| !said.is_empty() && index.controller.quirks.app_protocol);
        let evidence = match said {
            Some(said) => Evidence::field(object, format!("spec.ports[{}].appProtocol", port.port), said),
            None => {
                let list = service.metadata.annotation(OPAQUE).unwrap_or("not there: the defaults");
                Evidence::field(object, format!("metadata.annotations[{OPAQUE}]"), list)
            }
        };
        walk.step(Part::Protocol, Outcome::Passes, says).evidence(evidence);
    }

    /// A pod behind a Service.
    fn endpoint(&self, walk: &mut Walk, service: &Service) -> Option<&'a Pod> {
        let namespace = service.metadata.namespace.as_str();
        let (ready, all) = self.ready(service);
        if ready == 0 {
            let fix =
                "see why its pods are not ready; a selector that matches no pod gives no endpoint at all";
            none_ready(walk, (service, all), fix);
            return None;
        }
        walk.step(Part::Endpoints, Outcome::Passes, format!("{ready} of {all} endpoints are ready"))
            .evidence(endpoints_of(service, format!("{ready} of {all} ready")));
        let selector = &service.spec.selector;
        let pods = self.policy.pods.iter().filter(|pod| {
            pod.metadata.namespace == namespace
                && !pod.is_finished()
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

    /// How many endpoints of a Service are ready, and how many there are.
    fn ready(&self, service: &Service) -> (usize, usize) {
        let (namespace, name) = service.metadata.key();
        let slices = self
            .slices
            .iter()
            .filter(|slice| slice.metadata.namespace == namespace && slice.service() == Some(name));
        let mut counted = (0, 0);
        for endpoint in slices.flat_map(|slice| &slice.endpoints) {
            counted.0 += usize::from(endpoint.conditions.ready != Some(false));
            counted.1 += 1;
        }
        counted
    }
}

/// Notes that nobody is behind a Service, of so many endpoints.
fn none_ready(walk: &mut Walk, (service, all): (&Service, usize), fix: &str) {
    let (namespace, name) = service.metadata.key();
    let says = format!("no endpoint of Service {namespace}/{name} is ready");
    walk.step(Part::Endpoints, Outcome::Stops, says)
        .evidence(endpoints_of(service, format!("0 of {all} ready")))
        .fix(fix);
}

fn endpoints_of(service: &Service, said: String) -> Evidence {
    let (namespace, name) = service.metadata.key();
    Evidence::other(format!("EndpointSlices of Service {namespace}/{name}"), said)
}
