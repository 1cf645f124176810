//! `policy-controller.yaml`: behavior of the policy controller, by release.

use serde::Deserialize;

use super::Knowledge;
use super::file::KnowledgeFile;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, Release};

/// The first edge whose policy controller behaves in some way.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub struct FirstEdge(pub EdgeTag);

impl FirstEdge {
    /// Whether the controller of a version behaves so.
    pub fn is_in(self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.0), knowledge.minors())
    }
}

/// The policy controller by release. Fields state since which edge a behavior exists.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyController {
    source: String,
    date: jiff::civil::Date,
    /// Whether an unreadable object does not affect others of its kind.
    skips_unreadable: FirstEdge,
    /// Whether the oldest of several Servers for a port applies.
    pub servers_by_age: FirstEdge,
    /// Whether Servers can select named ports of init containers.
    pub init_container_ports: FirstEdge,
    probe_uris: EdgeTag,
    probe_uris_stable: Release,
    /// Whether the appProtocol of a Service port overrides lists of opaque ports for clients.
    pub app_protocol: FirstEdge,
    ingress_mode_policies: EdgeTag,
    ingress_mode_policies_stable: Release,
    /// Whether it returns policies for addresses outside of the cluster.
    pub external_policies: FirstEdge,
    linkerd_http_routes: EdgeTag,
    gateway_http_routes: EdgeTag,
    /// Whether it supports GRPCRoutes for outbound traffic, and writes their status.
    pub grpc_route_status: FirstEdge,
    /// Whether it supports EgressNetworks, TLSRoutes and TCPRoutes for outbound traffic, and writes their status and
    /// that of routes at EgressNetworks.
    pub egress_status: FirstEdge,
    /// Whether it writes the status of rate limits.
    pub rate_limit_status: FirstEdge,
    /// Whether it rejects a route at a parent that also has a route of a kind with precedence.
    pub route_conflicts: FirstEdge,
    /// Whether timeouts in rules of the Gateway API's HTTPRoutes apply to outbound traffic.
    pub gateway_timeouts: FirstEdge,
    /// Whether annotations of Services, EgressNetworks and routes set timeouts and retries.
    pub limit_annotations: FirstEdge,
    /// Whether circuit breaking supports the mode `unified` and load reduction for failing endpoints.
    pub unified_accrual: FirstEdge,
    /// First edge whose controller exits when the watch of its Lease ends, instead of continuing without it.
    pub ends_with_lease_watch: EdgeTag,
    /// Whether destination skips a Server with an invalid podSelector and returns all endpoints.
    pub skips_invalid_selector: FirstEdge,
    /// Whether a deleted MeshTLSAuthentication has no effect, also before the controller restarts.
    pub forgets_authentications: FirstEdge,
    /// Whether only Servers in the pod's own namespace make a port opaque for destination.
    pub opaque_by_own_namespace: FirstEdge,
}

impl PolicyController {
    /// Whether an unreadable object makes its whole kind unreadable.
    pub fn voids_kind(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> bool {
        self.skips_unreadable.is_in(version, knowledge) == Contains::No
    }

    /// The first edge in which the rule for a probe leaves out the query of its path.
    pub fn first_with_probe_uris(&self) -> EdgeTag {
        self.probe_uris
    }

    /// Whether the rule for a probe leaves out the query of its path.
    pub fn probe_uris(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        let introduced = Introduced::at_edge(self.probe_uris).and_stable(self.probe_uris_stable);
        version.contains(&introduced, knowledge.minors())
    }

    /// Whether a proxy in ingress mode answers HTTP requests for opaque ports with an error.
    pub fn ingress_mode_policies(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        let introduced = Introduced::at_edge(self.ingress_mode_policies).and_stable(self.ingress_mode_policies_stable);
        version.contains(&introduced, knowledge.minors())
    }

    /// The first edge that reads the routes of a resource, such as `grpcroutes.gateway.networking.k8s.io`; `None` for
    /// other resources.
    pub fn reads_routes_from(&self, resource: &str) -> Option<EdgeTag> {
        match resource {
            "httproutes.policy.linkerd.io" => Some(self.linkerd_http_routes),
            "httproutes.gateway.networking.k8s.io" => Some(self.gateway_http_routes),
            "grpcroutes.gateway.networking.k8s.io" => Some(self.grpc_route_status.0),
            "tlsroutes.gateway.networking.k8s.io" | "tcproutes.gateway.networking.k8s.io" => Some(self.egress_status.0),
            _ => None,
        }
    }

    /// The first edge that reads the routes of a resource, if a version never reads them.
    pub fn route_support_after(
        &self,
        resource: &str,
        version: &LinkerdVersion,
        knowledge: &Knowledge,
    ) -> Option<EdgeTag> {
        self.reads_routes_from(resource)
            .filter(|first| version.contains(&Introduced::at_edge(*first), knowledge.minors()) == Contains::No)
    }

    /// Source of the facts.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Date of the last review.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for PolicyController {
    const NAME: &'static str = "policy-controller.yaml";
    const EMBEDDED: &'static str = include_str!("../../../../checks/knowledge/policy-controller.yaml");

    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}
