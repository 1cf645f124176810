//! The gateway of a link: whether it is there, under the identity, at the ports and the address that the link names.

use super::{Mismatch, Pair};
use crate::finding::Severity;
use crate::objects::Service;

const GATEWAY_IDENTITY: &str = "mirror.linkerd.io/gateway-identity";
/// The port that calls go to.
const PORT: &str = "gateway-port-differs";
/// The port that is probed.
const PROBE: &str = "gateway-probe-port-differs";

impl Pair<'_> {
    /// What does not fit of the gateway that the link goes through.
    pub(super) fn gateways(&self, services: &[Service]) -> Vec<Mismatch> {
        if !self.link.has_gateway() {
            return Vec::new();
        }
        match self.gateway(services) {
            Ok(gateway) => {
                let ports = [
                    (PORT, "gatewayPort", &self.link.spec.gateway_port),
                    (PROBE, "probeSpec.port", &self.link.spec.probe_spec.port),
                ];
                let ports = ports
                    .into_iter()
                    .filter_map(|(check, field, said)| self.port(gateway, check, field, said));
                ports.chain(self.address(gateway)).collect()
            }
            Err(mismatch) => vec![*mismatch],
        }
    }

    /// The gateway that the link means; what does not fit where there is none.
    fn gateway<'s>(&self, services: &'s [Service]) -> Result<&'s Service, Box<Mismatch>> {
        let (from, to) = (&self.line.from, &self.line.to);
        let gateways: Vec<&Service> = services
            .iter()
            .filter(|service| service.metadata.annotation(GATEWAY_IDENTITY).is_some())
            .collect();
        let said = &self.link.spec.gateway_identity;
        if gateways.is_empty() {
            return Err(Box::new(self.mismatch(
                "gateway-missing",
                Severity::Error,
                format!("the Link goes through a gateway, and {to} has none: no call to its mirrored services arrives"),
                [(from, format!("Link {} spec.gatewayAddress: {}", self.line.link, self.link.spec.gateway_address)), (to, "no Service is a gateway".to_owned())],
                format!("Install the gateway in {to} (linkerd --context {to} multicluster install | kubectl --context {to} apply -f -), or link without one"),
            )));
        }
        let by_identity =
            |service: &&&Service| service.metadata.annotation(GATEWAY_IDENTITY) == Some(said.as_str());
        let Some(gateway) = gateways.iter().find(by_identity) else {
            let known = gateways[0].metadata.annotation(GATEWAY_IDENTITY).unwrap_or_default();
            return Err(Box::new(self.mismatch(
                "gateway-identity-differs",
                Severity::Error,
                format!(
                    "the Link expects the gateway of {to} under another identity than it has: TLS to it fails"
                ),
                [
                    (from, format!("Link {} spec.gatewayIdentity: {said}", self.line.link)),
                    (
                        to,
                        format!(
                            "Service {}/{} {GATEWAY_IDENTITY}: {known}",
                            gateways[0].metadata.namespace, gateways[0].metadata.name
                        ),
                    ),
                ],
                self.link_again(),
            )));
        };
        Ok(gateway)
    }

    /// A port that the link names and the gateway does not have.
    fn port(&self, gateway: &Service, check: &'static str, field: &str, said: &str) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let port: u16 = said.parse().ok()?;
        let serves = gateway.spec.ports.iter().any(|one| one.port == port);
        // Ports of nodes are asked for when the link is made, and may be others by now; nothing is known of them here.
        if serves || &*gateway.spec.kind == "NodePort" {
            return None;
        }
        let message = match check {
            PROBE => format!(
                "the Link probes a port that the gateway of {to} does not have: the gateway counts as dead, and mirrored services have no endpoints"
            ),
            _ => format!("the Link goes to a port that the gateway of {to} does not have"),
        };
        let ports: Vec<String> = gateway.spec.ports.iter().map(|port| port.port.to_string()).collect();
        let there = format!(
            "Service {}/{} spec.ports: {}",
            gateway.metadata.namespace,
            gateway.metadata.name,
            ports.join(", ")
        );
        let here = format!("Link {} spec.{field}: {said}", self.line.link);
        Some(self.mismatch(check, Severity::Error, message, [(from, here), (to, there)], self.link_again()))
    }

    /// Addresses of the link of which the load balancer of the gateway has none any more. A link may name others on purpose
    /// (`--gateway-addresses`), so that this is no error.
    fn address(&self, gateway: &Service) -> Option<Mismatch> {
        let (from, to) = (&self.line.from, &self.line.to);
        let said = &self.link.spec.gateway_address;
        let there: Vec<&str> = gateway
            .status
            .load_balancer
            .ingress
            .iter()
            .flat_map(|one| [one.ip.as_str(), one.hostname.as_str()])
            .filter(|address| !address.is_empty())
            .collect();
        if there.is_empty() || said.split(',').any(|address| there.contains(&address.trim())) {
            return None;
        }
        Some(self.mismatch(
            "gateway-address-differs",
            Severity::Warning,
            format!("the Link goes to an address that the load balancer of the gateway of {to} does not have: unless it was given on purpose, no call over the link arrives"),
            [
                (from, format!("Link {} spec.gatewayAddress: {said}", self.line.link)),
                (to, format!("Service {}/{} status.loadBalancer.ingress: {}", gateway.metadata.namespace, gateway.metadata.name, there.join(", "))),
            ],
            self.link_again(),
        ))
    }
}
