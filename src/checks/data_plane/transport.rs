//! The port that meshed clients use to reach meshed servers: that of the server's proxy or that of the
//! application. Shared by the network policy checks.

use std::collections::BTreeMap;

use super::opaque::{self, Opaque};
use crate::checks::prelude::*;
use crate::checks::rehearsal::CHART;
pub(in crate::checks) use crate::model::redirection::inbound_port;
use crate::model::skipped::{IN, passes_by};
use crate::model::transport::{self, HEADER, MODE};
use crate::network_policy::{Match, Port, Ports, Rule, Which};
use crate::objects::container::PROXY_CONTAINER;

/// The proxy's own ports, which do not belong to the application.
pub(super) const OWN: [u16; 3] = [4143, 4190, 4191];

/// The source that decides how the mesh's proxies connect to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The chart's values set it: always through the proxy's port.
    Header,
    /// The chart's values do not set it, but it is the default of the upgrade's target release.
    HeaderThen,
    /// Another mode, or an older release.
    Other,
}

impl Mode {
    /// The text in evidence.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Mode::Header => HEADER,
            Mode::HeaderThen => "not set: transport-header is the default of the target release",
            Mode::Other => "not transport-header: only opaque ports",
        }
    }
}

fn mode(ctx: &Context<'_>, written: Option<&str>) -> Mode {
    let then = || {
        let upgrade = ctx.upgraded()?;
        ctx.knowledge.releases().default_of(CHART, MODE, &upgrade.to)
    };
    match written {
        Some(HEADER) => Mode::Header,
        Some(_) => Mode::Other,
        None if then() == Some(HEADER) => Mode::HeaderThen,
        None => Mode::Other,
    }
}

/// How the mesh's proxies connect to each other.
pub(super) struct Transport {
    /// The source of the decision.
    pub(super) mode: Mode,
    /// The ports that are opaque by default.
    opaque: Opaque,
}

impl Transport {
    /// Reads the mode from the chart's values, or from the default of the upgrade's target release.
    pub(super) fn from_config(ctx: &Context<'_>, config: Option<&ConfigMap>) -> Transport {
        let values = config.and_then(ConfigMap::chart_values);
        let text = |path| values.as_ref().and_then(|values| values.text(path));
        let opaque = text("proxy.opaquePorts").map(|list| Opaque::parse(list, &BTreeMap::new()));
        let mode = mode(ctx, values.as_ref().and_then(transport::written));
        Transport { mode, opaque: opaque.unwrap_or_default() }
    }

    /// Whether clients always connect to the proxy's port.
    pub(super) fn is_header(&self) -> bool {
        matches!(self.mode, Mode::Header | Mode::HeaderThen)
    }

    /// Whether a port in a rule is one of the application, in whose place meshed clients connect to the
    /// proxy's port.
    pub(super) fn uses(&self, named: &Ports, pod: &Pod) -> bool {
        if !is_tcp(named) {
            return false;
        }
        let numbers: Vec<u16> = match &named.which {
            Which::All => Vec::new(),
            Which::Range(first, last) if first == last => vec![*first],
            // Of a range, only ports on which the pod is known to listen.
            Which::Range(..) | Which::Named(_) => {
                let covered =
                    |number: &u16| named.hold(Port { protocol: "TCP", number: *number, of: Some(pod) }) == Match::Yes;
                declared(pod).filter(covered).collect()
            }
        };
        match (&named.which, numbers.as_slice()) {
            // A name that no container declares still belongs to the application.
            (Which::Named(_), []) => self.is_header(),
            (_, numbers) => {
                numbers.iter().any(|number| !OWN.contains(number) && (self.is_header() || self.is_opaque(pod, *number)))
                    && !numbers.iter().all(|number| passes_by(pod, IN, *number))
            }
        }
    }

    /// Whether a rule allows egress to an application port of a pod, in whose place clients connect to its
    /// proxy.
    pub(super) fn speaks(&self, rule: &Rule<'_>, server: &Pod) -> bool {
        let mut declared = declared(server).peekable();
        if declared.peek().is_none() {
            // The rule names no port, so one that selects the pod includes it.
            return self.is_header() && !rule.is_for_all() && rule.ports.iter().any(|named| self.uses(named, server));
        }
        declared.any(|number| {
            let port = Port { protocol: "TCP", number, of: Some(server) };
            rule.holds_port(port) == Match::Yes
                && !passes_by(server, IN, number)
                && (self.is_header() || self.is_opaque(server, number))
        })
    }

    pub(super) fn is_opaque(&self, pod: &Pod, port: u16) -> bool {
        opaque::of_pod(pod).as_ref().unwrap_or(&self.opaque).marks(port)
    }
}

/// The ports that the application's containers declare.
pub(super) fn declared(pod: &Pod) -> impl Iterator<Item = u16> {
    let containers = pod.spec.all_containers().filter(|container| container.name != PROXY_CONTAINER);
    containers.flat_map(|container| &container.ports).map(|port| port.container_port)
}

pub(super) fn is_tcp(port: &Ports) -> bool {
    port.protocol.as_deref().is_none_or(|protocol| protocol == "TCP")
}
