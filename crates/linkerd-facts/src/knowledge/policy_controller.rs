//! `policy-controller.yaml`: behavior of the policy controller, by release.

use serde::Deserialize;

use super::Knowledge;
use super::file::KnowledgeFile;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion, Release};

/// The policy controller by release.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyController {
    source: String,
    date: jiff::civil::Date,
    skips_unreadable: EdgeTag,
    servers_by_age: EdgeTag,
    init_container_ports: EdgeTag,
    probe_uris: EdgeTag,
    probe_uris_stable: Release,
    app_protocol: EdgeTag,
    ingress_mode_policies: EdgeTag,
    ingress_mode_policies_stable: Release,
    external_policies: EdgeTag,
    linkerd_http_routes: EdgeTag,
    gateway_http_routes: EdgeTag,
    grpc_route_status: EdgeTag,
    egress_status: EdgeTag,
    rate_limit_status: EdgeTag,
    route_conflicts: EdgeTag,
    gateway_timeouts: EdgeTag,
    limit_annotations: EdgeTag,
    unified_accrual: EdgeTag,
    ends_with_lease_watch: EdgeTag,
    skips_invalid_selector: EdgeTag,
    forgets_authentications: EdgeTag,
    opaque_by_own_namespace: EdgeTag,
}

impl PolicyController {
    /// Whether an unreadable object does not affect others of its kind.
    pub fn skips_unreadable(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.skips_unreadable), knowledge.minors())
    }

    /// Whether an unreadable object makes its whole kind unreadable.
    pub fn voids_kind(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> bool {
        self.skips_unreadable(version, knowledge) == Contains::No
    }

    /// Whether the oldest of several Servers for a port applies.
    pub fn servers_by_age(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.servers_by_age), knowledge.minors())
    }

    /// First edge whose controller exits when the watch of its Lease ends, instead of continuing without it.
    pub fn ends_with_lease_watch(&self) -> EdgeTag {
        self.ends_with_lease_watch
    }

    /// Whether destination skips a Server with an invalid podSelector and returns all endpoints.
    pub fn skips_invalid_selector(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.skips_invalid_selector), knowledge.minors())
    }

    /// Whether a deleted MeshTLSAuthentication has no effect, also before the controller restarts.
    pub fn forgets_authentications(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.forgets_authentications), knowledge.minors())
    }

    /// Whether only Servers in the pod's own namespace make a port opaque for destination.
    pub fn opaque_by_own_namespace(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.opaque_by_own_namespace), knowledge.minors())
    }

    /// The first edge in which Servers can select named ports of init containers.
    pub fn first_with_init_container_ports(&self) -> EdgeTag {
        self.init_container_ports
    }

    /// Whether Servers can select named ports of init containers.
    pub fn init_container_ports(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.init_container_ports), knowledge.minors())
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

    /// Whether the appProtocol of a Service port overrides lists of opaque ports for clients.
    pub fn app_protocol(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.app_protocol), knowledge.minors())
    }

    /// Whether a proxy in ingress mode answers HTTP requests for opaque ports with an error.
    pub fn ingress_mode_policies(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        let introduced =
            Introduced::at_edge(self.ingress_mode_policies).and_stable(self.ingress_mode_policies_stable);
        version.contains(&introduced, knowledge.minors())
    }

    /// The first edge that returns policies for addresses outside of the cluster.
    pub fn first_with_external_policies(&self) -> EdgeTag {
        self.external_policies
    }

    /// Whether it returns policies for addresses outside of the cluster.
    pub fn external_policies(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.external_policies), knowledge.minors())
    }

    /// The first edge that reads the routes of a resource, such as `grpcroutes.gateway.networking.k8s.io`; `None` for
    /// other resources.
    pub fn reads_routes_from(&self, resource: &str) -> Option<EdgeTag> {
        match resource {
            "httproutes.policy.linkerd.io" => Some(self.linkerd_http_routes),
            "httproutes.gateway.networking.k8s.io" => Some(self.gateway_http_routes),
            "grpcroutes.gateway.networking.k8s.io" => Some(self.grpc_route_status),
            "tlsroutes.gateway.networking.k8s.io" | "tcproutes.gateway.networking.k8s.io" => {
                Some(self.egress_status)
            }
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
        self.reads_routes_from(resource).filter(|first| {
            version.contains(&Introduced::at_edge(*first), knowledge.minors()) == Contains::No
        })
    }

    /// Whether it supports GRPCRoutes for outbound traffic, and writes their status.
    pub fn grpc_route_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.grpc_route_status), knowledge.minors())
    }

    /// Whether it supports EgressNetworks, TLSRoutes and TCPRoutes for outbound traffic, and writes their status and
    /// that of routes at EgressNetworks.
    pub fn egress_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.egress_status), knowledge.minors())
    }

    /// Whether it writes the status of rate limits.
    pub fn rate_limit_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.rate_limit_status), knowledge.minors())
    }

    /// Whether it rejects a route at a parent that also has a route of a kind with precedence.
    pub fn route_conflicts(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.route_conflicts), knowledge.minors())
    }

    /// Whether timeouts in rules of the Gateway API's HTTPRoutes apply to outbound traffic.
    pub fn gateway_timeouts(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.gateway_timeouts), knowledge.minors())
    }

    /// Whether annotations of Services, EgressNetworks and routes set timeouts and retries.
    pub fn limit_annotations(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.limit_annotations), knowledge.minors())
    }

    /// Whether circuit breaking supports the mode `unified` and load reduction for failing endpoints.
    pub fn unified_accrual(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.unified_accrual), knowledge.minors())
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
