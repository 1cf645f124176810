//! Checks the gateway of a link: whether it exists and serves, with the identity, the ports and the address
//! in the link.

use super::{Mismatch, Pair};
use crate::finding::Severity;
use crate::objects::Service;

const GATEWAY_IDENTITY: &str = "mirror.linkerd.io/gateway-identity";
/// The name of the port for calls.
const GATEWAY_PORT: &str = "mc-gateway";
/// A mismatch of the port for calls.
const PORT: &str = "gateway-port-differs";
/// A mismatch of the probe port.
const PROBE: &str = "gateway-probe-port-differs";

impl Pair<'_> {
    /// Adds the mismatches of the link's gateway. Returns missing evidence.
    pub(super) fn gateways(&self, services: &[Service], found: &mut Vec<Mismatch>) -> Option<String> {
        if !self.link.has_gateway() {
            return None;
        }
        let gateway = match self.gateway(services) {
            Ok(gateway) => gateway,
            Err(mismatch) => {
                found.push(*mismatch);
                return None;
            }
        };
        let ports = [
            (PORT, "gatewayPort", &self.link.spec.gateway_port),
            (PROBE, "probeSpec.port", &self.link.spec.probe_spec.port),
        ];
        found.extend(ports.into_iter().filter_map(|(check, field, said)| self.port(gateway, check, field, said)));
        found.extend(self.address(gateway));
        match self.serves(gateway) {
            Ok(mismatch) => {
                found.extend(mismatch);
                None
            }
            Err(unread) => Some(unread),
        }
    }

    /// The gateway of the link, or the mismatch if it does not exist.
    fn gateway<'s>(&self, services: &'s [Service]) -> Result<&'s Service, Box<Mismatch>> {
        let (from, to) = (&self.line.from, &self.line.to);
        let gateways: Vec<&Service> = services.iter().filter(|service| is_gateway(service)).collect();
        let said = &self.link.spec.gateway_identity;
        let Some(first) = gateways.first() else {
            return Err(Box::new(self.mismatch(
                "gateway-missing",
                Severity::Error,
                format!(
                    "the Link uses a gateway, and {to} has none: all calls to its mirrored services \
                 fail"
                ),
                [(from, self.address_here()), (to, "no Service is a gateway".to_owned())],
                format!(
                    "Install the gateway in {to} (linkerd --context {to} multicluster install | kubectl \
                         --context {to} apply -f -), or link without one"
                ),
            )));
        };
        // Linkerd reads the annotation only to create a Link. Without it, the namespace in the identity decides.
        let by_identity = |service: &&Service| match service.metadata.annotation(GATEWAY_IDENTITY) {
            Some(identity) => identity == said,
            None => said.split('.').nth(1) == Some(service.metadata.namespace.as_str()),
        };
        // Several Services may belong to one gateway: prefer the one with the link's address, then one that
        // serves.
        let meant = |service: &&Service| {
            let named = addresses(service).iter().any(|address| self.names(address));
            (named, matches!(self.serves(service), Ok(None)))
        };
        let all = gateways.iter().copied().filter(by_identity);
        // Of equals the first.
        all.rev().max_by_key(meant).ok_or_else(|| {
            let known = first.metadata.annotation(GATEWAY_IDENTITY).unwrap_or_default();
            Box::new(self.mismatch(
                "gateway-identity-differs",
                Severity::Error,
                format!("the Link expects another identity for the gateway of {to} than it has: TLS to it fails"),
                [
                    (from, format!("Link {} spec.gatewayIdentity: {said}", self.line.link)),
                    (to, format!("{} {GATEWAY_IDENTITY}: {known}", shown(first))),
                ],
                self.link_again(),
            ))
        })
    }

    /// Whether an address is among those of the link.
    fn names(&self, address: &str) -> bool {
        self.link.spec.gateway_address.split(',').any(|said| said.trim() == address)
    }

    fn address_here(&self) -> String {
        format!("Link {} spec.gatewayAddress: {}", self.line.link, self.link.spec.gateway_address)
    }

    /// Whether the gateway has endpoints that accept calls.
    ///
    /// # Errors
    /// The missing evidence.
    fn serves(&self, gateway: &Service) -> Result<Option<Mismatch>, String> {
        let (from, to) = (&self.line.from, &self.line.to);
        // Its target is outside the cluster.
        if &*gateway.spec.kind == "ExternalName" {
            return Ok(None);
        }
        let Some(dead) = self.there.serving.dead(gateway) else { return Ok(None) };
        let dead = dead.map_err(|unread| format!("{unread} of {to}, which show whether its gateway is ready"))?;
        let kubectl = format!("kubectl --context {to} -n {}", gateway.metadata.namespace);
        let selector: Vec<String> = gateway.spec.selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let fix = match (dead.scaled_to_zero.as_slice(), selector.is_empty()) {
            ([name, ..], _) => format!("Scale it up: {kubectl} scale deployment/{name} --replicas=1"),
            ([], false) => {
                format!(
                    "Find out why its pods are not ready, or correct its selector if it selects none: {kubectl} \
                     describe pods -l {}",
                    selector.join(",")
                )
            }
            ([], true) => format!(
                "Find out why it has no endpoints: {kubectl} get endpointslices -l \
                 kubernetes.io/service-name={}",
                gateway.metadata.name
            ),
        };
        Ok(Some(self.mismatch(
            "gateway-not-ready",
            Severity::Error,
            format!(
                "the Link uses the gateway of {to}, which accepts no connections: all calls from \
             {from} to its mirrored services fail"
            ),
            [(from, self.address_here()), (to, format!("{}: {}", shown(gateway), dead.evidence))],
            fix,
        )))
    }

    /// A port in the link that the gateway does not have.
    fn port(&self, gateway: &Service, check: &'static str, field: &str, said: &str) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let port: u16 = said.parse().ok()?;
        let serves = gateway.spec.ports.iter().any(|one| one.port == port);
        // Node ports are read when the link is created, and may have changed; they are unknown here.
        if serves || &*gateway.spec.kind == "NodePort" {
            return None;
        }
        let message = match check {
            PROBE => format!(
                "the Link probes a port that the gateway of {to} does not have: the gateway is considered \
                 dead, and mirrored services have no endpoints"
            ),
            _ => format!("the Link uses a port that the gateway of {to} does not have"),
        };
        let ports: Vec<String> = gateway.spec.ports.iter().map(|port| port.port.to_string()).collect();
        let there = format!("{} spec.ports: {}", shown(gateway), ports.join(", "));
        let here = format!("Link {} spec.{field}: {said}", self.line.link);
        Some(self.mismatch(check, Severity::Error, message, [(from, here), (to, there)], self.link_again()))
    }

    /// A load balancer without an address, or with none of the link's. A link may have other addresses on
    /// purpose (`--gateway-addresses`), so neither is an error.
    fn address(&self, gateway: &Service) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let there = addresses(gateway);
        let ingress = |said: &str| format!("{} status.loadBalancer.ingress: {said}", shown(gateway));
        if there.is_empty() && &*gateway.spec.kind == "LoadBalancer" {
            return Some(self.mismatch(
                "gateway-without-address",
                Severity::Warning,
                format!(
                    "the gateway of {to} is of type LoadBalancer and has no address: unless the Link's \
                 address reaches it another way, every call over the link fails"
                ),
                [(from, self.address_here()), (to, ingress("none"))],
                format!(
                    "Find out why no load balancer was created: kubectl --context {to} -n {} describe \
                 service {}. Then: {}",
                    gateway.metadata.namespace,
                    gateway.metadata.name,
                    self.link_again()
                ),
            ));
        }
        if there.is_empty() || there.iter().any(|address| self.names(address)) {
            return None;
        }
        Some(self.mismatch(
            "gateway-address-differs",
            Severity::Warning,
            format!(
                "the Link uses an address that the load balancer of the gateway of {to} does not have: \
             unless it was set on purpose, every call over the link fails"
            ),
            [(from, self.address_here()), (to, ingress(&there.join(", ")))],
            self.link_again(),
        ))
    }
}

/// Whether a Service is a multicluster gateway: it has the annotation or the port from which a Link is created.
pub(super) fn is_gateway(service: &Service) -> bool {
    service.metadata.annotation(GATEWAY_IDENTITY).is_some()
        || service.spec.ports.iter().any(|port| port.name == GATEWAY_PORT)
}

fn shown(gateway: &Service) -> String {
    gateway.metadata.described("Service")
}

/// The addresses of a load balancer.
fn addresses(gateway: &Service) -> Vec<&str> {
    let ingress = gateway.status.load_balancer.ingress.iter();
    ingress.flat_map(|one| [one.ip.as_str(), one.hostname.as_str()]).filter(|address| !address.is_empty()).collect()
}
