//! Last step of a walk: whether the call reaches the port of a pod, and whether policy authorizes it.

use super::service::ipv6_argument;
use super::traffic::{CalledPort, Ends, TrafficFate};
use super::{Caller, Mesh, subject};
use crate::command::meshdoctor;
use crate::finding::{Evidence, Finding, Place, Subject};
use crate::inspect::steps::{Condition, Outcome, Part, Walk};
use crate::item::EXTENSION_LABEL;
use crate::knowledge::{Calls, First};
use crate::model::injection::INJECT;
use crate::model::policy::{
    Authorization, AuthorizedBy, Client, Entry, Inbound, Protocol, REQUIRE_IDENTITY, RouteKind, Spoken, TakenBy,
    Workload,
};
use crate::model::redirection::{inbound_port, skips_ipv6};
use crate::model::skipped::{CniSkips, IN, Skipped, skipped, skipped_subnets};
use crate::objects::container::PROXY_CONTAINER;
use crate::objects::{Kind, Limit, Pod, Route, Server, ServerPort};

/// The ports of the proxy itself, which it serves whether declared or not.
const OF_PROXY: [u16; 3] = [4143, 4190, 4191];

impl<'a> Mesh<'a> {
    /// The last part of the path: to the port of a pod. `spoken`: how the client's proxy treats the call.
    pub(super) fn to_pod(&self, walk: &mut Walk, caller: Caller<'_>, spoken: Option<Spoken>, pod: &'a Pod, port: u16) {
        if self.ends_before_proxy(walk, caller, pod, port) {
            return;
        }
        let skips = skipped(pod, IN, &self.policy.cni).filter(|skipped| skipped.holds(port));
        let meshed = pod.spec.proxy().is_some() && skips.is_none();
        if meshed && bypasses_by_address(walk, caller, (pod, port), &self.policy.cni) {
            return;
        }
        let workload = Workload::of_pod(pod, self.policy.index.controller.quirks).filter(|_| meshed);
        let held = workload.as_ref().map(|workload| self.applied(workload, pod, port));
        let inbound = held.as_ref().map(|(inbound, _)| inbound);
        let called = CalledPort {
            server: inbound.and_then(|inbound| match inbound.taken_by {
                TakenBy::Server(server) => Some(server.metadata.name.as_str()),
                TakenBy::Default(_) => None,
            }),
            server_first: self.server_first(pod, port),
        };
        let is_opaque = |workload: &Workload<'_>| self.policy.index.is_opaque_to_clients(workload, port);
        let ends = Ends {
            client: spoken.filter(|_| caller.meshed),
            server: inbound.map(|inbound| inbound.protocol),
            unannounced: workload.as_ref().is_some_and(is_opaque),
        };
        if !self.protocol(walk, ends, called) {
            return;
        }
        if let Some(workload) = workload.as_ref().filter(|_| caller.meshed && spoken != Some(Spoken::Opaque)) {
            self.opaque_from_elsewhere(walk, workload, port);
        }
        if bypasses_policy(walk, pod, port, skips.as_ref()) {
            return;
        }
        if proxy_is_down(self, walk, pod) || !self.is_redirected(walk, Part::Server, pod) {
            return;
        }
        self.belongs_elsewhere(walk, pod, false);
        self.is_stranded(walk, pod, false);
        let Some((inbound, controller)) = held else {
            let says = format!("pod {} has a proxy that the policy controller does not know", pod.metadata.name);
            walk.step(Part::Server, Outcome::NotJudged, says).evidence(Evidence::field(
                subject(pod),
                "metadata.labels[linkerd.io/control-plane-ns]",
                "missing",
            ));
            return;
        };
        if caller.meshed && !self.identities(walk, caller.pod, pod) {
            return;
        }
        if let Some((outcome, says)) = controller {
            walk.step(Part::ControlPlane, outcome, says);
        }
        self.to_policy(walk, caller, &inbound, (pod, port));
    }

    /// Records that a call ends before the inbound side of the pod's proxy, or bypasses it.
    fn ends_before_proxy(&self, walk: &mut Walk, caller: Caller<'_>, pod: &Pod, port: u16) -> bool {
        if caller.pod.metadata.key() == pod.metadata.key() {
            let says = "the pod calls itself: the call bypasses its proxy's inbound side, and no policy \
             applies";
            walk.step(Part::Server, Outcome::Passes, says);
            return true;
        }
        if !self.network.walk(walk, caller.pod, caller.meshed, pod, port) {
            self.repair_network(walk);
            return true;
        }
        if !serves(self, walk, pod, port) {
            return true;
        }
        if lacks_its_proxy(pod, port) {
            let key = format!("{}/{}", pod.metadata.namespace, pod.metadata.name);
            let says = format!(
                "port {port} is the inbound port of the proxy, and pod {} was created without its proxy",
                pod.metadata.name
            );
            walk.step(Part::Server, Outcome::Stops, says)
                .evidence(Evidence::field(subject(pod), "spec.containers", "no linkerd-proxy"))
                .fix("find out why the pod has no proxy")
                .paste(self.command(meshdoctor().words("injection").operand(key)));
            return true;
        }
        if is_inbound_port(pod, port) {
            let says = format!(
                "port {port} is the inbound port of the proxy of pod {}: it accepts only connections of proxies, for \
                 another port, and closes this one",
                pod.metadata.name
            );
            walk.step(Part::Server, Outcome::Stops, says).fix("call a port of the application");
            return true;
        }
        if caller.ipv6 && !caller.meshed && skips_ipv6(pod) {
            let says = format!(
                "IPv6 is disabled in the mesh: the call bypasses the proxy of pod {}, and no policy applies",
                pod.metadata.name
            );
            walk.step(Part::Server, Outcome::Passes, says).evidence(ipv6_argument(pod));
            return true;
        }
        false
    }

    /// Adds to a blocked call what the client gets, and the patch of the policy if a check has it.
    fn repair_network(&self, walk: &mut Walk) {
        let Some(step) = walk.steps.last_mut() else { return };
        step.says = format!("{}: {}", step.says, self.calls.network_blocked);
        let names = |evidence: &Evidence, name: &str| match &evidence.place {
            Place::Field { object, .. } => object == name,
            _ => false,
        };
        let is_of_step = |finding: &&Finding| {
            let mut named = finding.subjects.iter().map(ToString::to_string);
            let blocks = |name: String| step.evidence.iter().any(|evidence| names(evidence, &name));
            step.says.contains("4143") && named.any(blocks)
        };
        let found = self.faults.network.iter().find(is_of_step);
        if let Some(finding) = found {
            self.remedy(step, &finding.remedy);
        }
    }

    /// The policy of a port, and what the proxy measured of it.
    fn to_policy(&self, walk: &mut Walk, caller: Caller<'_>, inbound: &Inbound<'_>, (pod, port): (&'a Pod, u16)) {
        let identity = self.identity(caller.pod);
        let who = Client { identity: caller.meshed.then_some(identity.as_str()), address: caller.pod.status.pod_ip };
        for kind in self.policy.index.void_later() {
            let says = format!(
                "a {kind} of the cluster cannot be read. The running policy controller may keep an earlier \
                 version of it; after its next start no {kind} has an effect"
            );
            walk.step(Part::Policy, Outcome::NotJudged, says);
        }
        self.policy(walk, inbound, who, caller, (pod, port));
        if let Some(identity) = who.identity {
            self.denials(walk, identity, (pod, port));
        }
    }

    /// How a client's proxy treats a call to a pod's own address.
    pub(super) fn spoken_to_pod(&self, pod: &'a Pod, port: u16) -> Spoken {
        let index = &self.policy.index;
        let opaque = match Workload::of_pod(pod, index.controller.quirks) {
            Some(workload) => index.inbound(&workload, port).protocol == Protocol::Opaque,
            None => index.controller.opaque_ports.contains(&port),
        };
        if opaque { Spoken::Opaque } else { Spoken::Detect }
    }

    /// Records that a Server of another namespace makes destination treat the port as opaque, in releases
    /// that evaluate all namespaces.
    fn opaque_from_elsewhere(&self, walk: &mut Walk, workload: &Workload<'_>, port: u16) {
        if !self.policy.index.controller.quirks.opaque_across_namespaces {
            return;
        }
        let selects = |server: &&Server| {
            let spec = &server.spec;
            let at = match &spec.port {
                Some(ServerPort::Number(number)) => *number == i64::from(port),
                Some(ServerPort::Name(name)) => workload.ports_named(name).any(|named| named == port),
                None => false,
            };
            server.metadata.namespace != workload.meta.namespace
                && spec.proxy_protocol.as_deref() == Some("opaque")
                && at
                && spec.pod_selector.as_ref().is_some_and(|selector| selector.matches(&workload.meta.labels))
        };
        let Some(server) = self.servers.iter().find(selects) else { return };
        let (namespace, name) = server.metadata.key();
        let says = format!(
            "Server {namespace}/{name} makes this release of destination treat the port as opaque, \
             although the pod is in another namespace: requests are carried as plain TCP, and routes, \
             retries and HTTP metrics do not apply"
        );
        walk.step(Part::Protocol, Outcome::NotJudged, says)
            .evidence(Evidence::field(Subject::object(Kind::Server, namespace, name), "spec.proxyProtocol", "opaque"))
            .fix("give its podSelector a label that only the pods of its own namespace have, or upgrade Linkerd");
    }

    /// The protocol of a port, from its number or name, if its server speaks first.
    fn server_first(&self, pod: &Pod, port: u16) -> Option<&'a str> {
        let declared = pod.spec.all_containers().flat_map(|container| &container.ports);
        let names: Vec<&str> =
            declared.filter(|known| known.container_port == port).map(|known| known.name.as_str()).collect();
        let known = self.knowledge.protocols().protocols.iter().filter(|known| known.first == First::Server);
        let mut known =
            known.filter(|known| known.ports.contains(&port) || names.iter().any(|name| known.is_named(name)));
        known.next().map(|known| known.title.as_str())
    }

    /// Records how both ends treat the connection. Returns `false` if it fails.
    fn protocol(&self, walk: &mut Walk, ends: Ends, called: CalledPort<'_>) -> bool {
        let Some(said) = ends.evaluate(self.traffic, called, self.calls) else { return true };
        let outcome = match said.fate {
            TrafficFate::Flows => Outcome::Passes,
            TrafficFate::Unknown => Outcome::NotJudged,
            TrafficFate::Fails => Outcome::Stops,
        };
        let step = walk.step(Part::Protocol, outcome, said.says).only_if(said.condition);
        if outcome == Outcome::Stops {
            step.fix(
                "mark the port as opaque on the Service and on the pods, or correct appProtocol and proxyProtocol",
            );
        }
        outcome != Outcome::Stops
    }

    /// Records whether the policy of the port authorizes the client.
    fn policy(
        &self,
        walk: &mut Walk,
        inbound: &Inbound<'_>,
        who: Client<'_>,
        caller: Caller<'_>,
        (pod, port): (&Pod, u16),
    ) {
        let calls = self.calls;
        let (by, evidence) = match inbound.taken_by {
            TakenBy::Server(server) => {
                let meta = &server.metadata;
                let object = Subject::object(Kind::Server, &meta.namespace, &meta.name);
                (format!("Server {}", meta.name), Evidence::field(object, "spec.port", format!("selects port {port}")))
            }
            TakenBy::Default(_) if inbound.identity_required => (
                format!("port {port}, limited to meshed clients by {REQUIRE_IDENTITY},"),
                Evidence::field(
                    subject(pod),
                    format!("metadata.annotations[{REQUIRE_IDENTITY}]"),
                    pod.metadata.annotation(REQUIRE_IDENTITY).unwrap_or_default(),
                ),
            ),
            TakenBy::Default(policy) => {
                (format!("default policy {policy}"), Evidence::other("default inbound policy", policy.as_str()))
            }
        };
        let client = who.identity.map_or_else(|| "a client without identity".to_owned(), str::to_owned);
        let admits = |one: &&Authorization<'_>| one.admits(who.identity, who.address);
        let name = &pod.metadata.name;
        match inbound.connect(who) {
            Entry::Admitted => {
                let at_port = inbound.authorizations.iter().find(admits);
                let left_out = at_port.is_some() && leaves_requests_out(inbound);
                let says = match at_port {
                    Some(_) if left_out => format!(
                        "{by} authorizes {client}, but requests that none of its routes matches get {}; whether this \
                         request matches is not known",
                        calls.no_route
                    ),
                    Some(one) if matches!(one.by, AuthorizedBy::Default(_)) => {
                        format!("{by} authorizes {client}")
                    }
                    Some(one) => format!("{by} authorizes {client}, by {}", one.by.name()),
                    None => format!(
                        "{by} authorizes {client} on some of its routes only; whether this request matches one is not \
                         known"
                    ),
                };
                let outcome = if at_port.is_some() && !left_out { Outcome::Passes } else { Outcome::NotJudged };
                walk.step(Part::Policy, outcome, says).evidence(evidence);
                if let Some((says, limit)) = limited(inbound, calls) {
                    walk.step(Part::Policy, Outcome::Passes, says).only_if(limit);
                }
            }
            Entry::Refused | Entry::NoRoute => {
                let shown = meshdoctor().words("policy").operand(format!("{}/{name}:{port}", pod.metadata.namespace));
                let gets = if inbound.protocol == Protocol::Opaque { &calls.refused_opaque } else { &calls.refused };
                let says = if inbound.identity_required && who.identity.is_none() {
                    format!(
                        "port {port} of pod {name} requires a mesh identity ({REQUIRE_IDENTITY}), and the call has \
                         none: {gets}"
                    )
                } else {
                    format!("{by} of pod {name} does not authorize {client}: {gets}")
                };
                let step = walk.step(Part::Policy, Outcome::Stops, says).evidence(evidence);
                self.authorize(step, inbound, caller, (pod, port));
                step.note(format!("{shown} shows the authorized clients"));
            }
        }
    }
}

/// Whether routes are attached to the port, and some requests match none of them.
fn leaves_requests_out(inbound: &Inbound<'_>) -> bool {
    let mut attached = inbound.routes.iter().filter_map(|route| route.route).peekable();
    let applies = !matches!(inbound.protocol, Protocol::Opaque | Protocol::Tls);
    // The API server gives only HTTPRoutes a rule by default.
    let matches = |kind: RouteKind, route: &Route| {
        route.matches_everything() && (kind != RouteKind::Grpc || !route.spec.rules.is_empty())
    };
    applies && attached.peek().is_some() && !attached.any(|(kind, route)| matches(kind, route))
}

/// Whether the port is the proxy's own for connections of other pods. Gateways of multicluster serve other clusters
/// there.
fn is_inbound_port(pod: &Pod, port: u16) -> bool {
    pod.spec.proxy().is_some() && inbound_port(pod) == port && pod.metadata.label(EXTENSION_LABEL).is_none()
}

/// Whether the port is served only by the proxy that the pod requests and does not have.
fn lacks_its_proxy(pod: &Pod, port: u16) -> bool {
    let mut declared = pod.spec.all_containers().flat_map(|container| &container.ports);
    pod.spec.proxy().is_none()
        && matches!(pod.metadata.annotation(INJECT), Some("enabled" | "ingress"))
        && inbound_port(pod) == port
        && !declared.any(|known| known.container_port == port)
}

/// Whether the pod's own containers declare ports, but not this one, which is not one of the proxy either.
pub(super) fn declares_others(pod: &Pod, port: u16) -> bool {
    let mut declared = pod.spec.all_containers().flat_map(|container| &container.ports);
    let of_app = pod.spec.all_containers().filter(|container| !container.name.starts_with("linkerd-"));
    let says_any = of_app.flat_map(|container| &container.ports).next().is_some();
    says_any && !OF_PROXY.contains(&port) && !declared.any(|known| known.container_port == port)
}

/// Whether the pod's own containers can serve the port, from their declarations; `false` if none of them
/// runs.
fn serves(mesh: &Mesh<'_>, walk: &mut Walk, pod: &Pod, port: u16) -> bool {
    let statuses = &pod.status.container_statuses;
    let mut own = statuses.iter().filter(|status| status.name != PROXY_CONTAINER).peekable();
    if own.peek().is_some() && own.all(|status| status.state.waiting().is_some() || status.state.terminated().is_some())
    {
        let word = crate::model::pod_status::label(pod);
        let says = format!("no container of pod {} runs ({word})", pod.metadata.name);
        walk.step(Part::Server, Outcome::Stops, says)
            .evidence(Evidence::field(subject(pod), "status.containerStatuses", word))
            .fix("find out why its containers do not run")
            .paste(mesh.described(pod));
        return false;
    }
    if declares_others(pod, port) {
        let declared = pod.spec.all_containers().flat_map(|container| &container.ports);
        let known: Vec<String> = declared.map(|known| known.container_port.to_string()).collect();
        let says = format!("no container of pod {} declares port {port}: it may have no listener", pod.metadata.name);
        walk.step(Part::Server, Outcome::NotJudged, says).evidence(Evidence::field(
            subject(pod),
            "spec.containers[*].ports",
            known.join(", "),
        ));
    }
    true
}

/// Records that no policy applies to the port: the pod has no proxy, or its proxy skips the port.
fn bypasses_policy(walk: &mut Walk, pod: &Pod, port: u16, skips: Option<&Skipped>) -> bool {
    let name = &pod.metadata.name;
    let consequence = "the call is not encrypted by Linkerd (no mTLS), and no policy applies";
    if pod.spec.proxy().is_none() {
        let says = format!("pod {name} has no proxy: {consequence}");
        walk.step(Part::Server, Outcome::Passes, says);
        return true;
    }
    let Some(skipped) = skips else { return false };
    let says = format!("the proxy of pod {name} skips port {port}: {consequence}");
    walk.step(Part::Server, Outcome::Passes, says).evidence(skipped.by());
    true
}

/// Records that the pod's proxy does not run.
fn proxy_is_down(mesh: &Mesh<'_>, walk: &mut Walk, pod: &Pod) -> bool {
    let Some(status) = pod.container_status(PROXY_CONTAINER).filter(|status| !status.ready) else {
        return false;
    };
    let says = format!("the proxy of pod {} is not ready: {}", pod.metadata.name, mesh.calls.proxy_down);
    let path = format!("status.containerStatuses[{}].ready", status.name);
    let step = walk.step(Part::Server, Outcome::Stops, says).evidence(Evidence::field(subject(pod), path, "false"));
    mesh.repair_proxy(step, pod);
    true
}

/// The rate limit of the port with the response to requests above it, and the limit as a condition.
fn limited(inbound: &Inbound<'_>, calls: &Calls) -> Option<(String, Option<Condition>)> {
    let by = inbound.rate_limit.as_ref()?.by;
    let per_second = |limit: i64| format!("{limit} {} per second", if limit == 1 { "request" } else { "requests" });
    let rate = |limit: &Option<Limit>| limit.as_ref().map(|limit| per_second(limit.requests_per_second));
    let (total, each) = (rate(&by.spec.total), rate(&by.spec.identity));
    let said = [(&total, "in total, including kubelet probes"), (&each, "per client")];
    let limits: Vec<String> = said.iter().filter_map(|(rate, of)| Some(format!("{} {of}", rate.as_ref()?))).collect();
    let limits = if limits.is_empty() { "requests of named clients".to_owned() } else { limits.join(" and ") };
    let over = &calls.rate_limited;
    let says =
        format!("HTTPLocalRateLimitPolicy {} limits it to {limits}; requests above it get {over}", by.metadata.name);
    // Overrides replace the limit of named clients.
    let each = each.filter(|_| by.spec.overrides.is_empty());
    let known = [total.map(|rate| format!("{rate} in total")), each.map(|rate| format!("{rate} per client"))];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let condition = || Condition::Limit(format!("up to {} (then {over})", known.join(" and ")));
    Some((says, (!known.is_empty()).then(condition)))
}

/// Records that the pod skips inbound connections by the client's address, and whether this applies to the call or is
/// unknown. Destination does not read these ranges, so a meshed client sends mTLS that the application receives.
fn bypasses_by_address(walk: &mut Walk, caller: Caller<'_>, (pod, port): (&Pod, u16), cni: &CniSkips) -> bool {
    let Some(subnets) = skipped_subnets(pod, port, cni) else { return false };
    let ranges = format!("connections from {}", subnets.list());
    let name = &pod.metadata.name;
    let (outcome, says) = match subnets.contain(caller.pod.status.pod_ip) {
        Some(false) => return false,
        None => {
            (Outcome::NotJudged, format!("{ranges} bypass the proxy of pod {name}; whether this one does is not known"))
        }
        Some(true) if caller.meshed => (
            Outcome::NotJudged,
            format!(
                "{ranges} bypass the proxy of pod {name}: no policy applies, and if the client's proxy uses mTLS, \
                 the application receives it"
            ),
        ),
        Some(true) => {
            (Outcome::Passes, format!("{ranges} bypass the proxy of pod {name}: no policy applies to the call"))
        }
    };
    walk.step(Part::Server, outcome, says).evidence.extend(subnets.by());
    true
}
