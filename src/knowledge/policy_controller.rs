//! `policy-controller.yaml`: what the policy controller does with objects, by release.

use serde::Deserialize;

use super::Knowledge;
use super::file::KnowledgeFile;
use crate::version::{Contains, EdgeTag, Introduced, LinkerdVersion};

/// The policy controller through the releases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PolicyController {
    source: String,
    date: jiff::civil::Date,
    skips_unreadable: EdgeTag,
    servers_by_age: EdgeTag,
    init_container_ports: EdgeTag,
    app_protocol: EdgeTag,
    grpc_route_status: EdgeTag,
    egress_status: EdgeTag,
    rate_limit_status: EdgeTag,
    route_conflicts: EdgeTag,
    gateway_timeouts: EdgeTag,
    limit_annotations: EdgeTag,
    unified_accrual: EdgeTag,
    ends_with_lease_watch: EdgeTag,
    skips_invalid_selector: EdgeTag,
    opaque_by_own_namespace: EdgeTag,
}

impl PolicyController {
    /// Whether one object that cannot be read leaves the others of its kind alone.
    pub fn skips_unreadable(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.skips_unreadable), knowledge.minors())
    }

    /// Whether one object that cannot be read leaves all of its kind unread.
    pub fn voids_kind(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> bool {
        self.skips_unreadable(version, knowledge) == Contains::No
    }

    /// Whether of several Servers that select one port the oldest takes it.
    pub fn servers_by_age(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.servers_by_age), knowledge.minors())
    }

    /// The edge from which on the controller ends where the watch of its Lease does, in the place of going on without it.
    pub fn ends_with_lease_watch(&self) -> EdgeTag {
        self.ends_with_lease_watch
    }

    /// Whether destination passes over a Server whose podSelector is not valid, and gives out all endpoints.
    pub fn skips_invalid_selector(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.skips_invalid_selector), knowledge.minors())
    }

    /// Whether destination takes a port for opaque by Servers of the pod's own namespace only.
    pub fn opaque_by_own_namespace(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.opaque_by_own_namespace), knowledge.minors())
    }

    /// Whether Servers know the named ports of init containers.
    pub fn init_container_ports(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.init_container_ports), knowledge.minors())
    }

    /// Whether the appProtocol of a Service's port says how clients treat it, before lists of opaque ports.
    pub fn app_protocol(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.app_protocol), knowledge.minors())
    }

    /// Whether it reads GRPCRoutes for calls, and writes a status of them.
    pub fn grpc_route_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.grpc_route_status), knowledge.minors())
    }

    /// Whether it reads EgressNetworks, TLSRoutes and TCPRoutes for calls, and writes a status of these and of routes at EgressNetworks.
    pub fn egress_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.egress_status), knowledge.minors())
    }

    /// Whether it writes a status of rate limits.
    pub fn rate_limit_status(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.rate_limit_status), knowledge.minors())
    }

    /// Whether it refuses a route at a parent that a route of a kind that goes first names, too.
    pub fn route_conflicts(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.route_conflicts), knowledge.minors())
    }

    /// Whether the time limits of rules of the Gateway API's HTTPRoutes count for calls.
    pub fn gateway_timeouts(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.gateway_timeouts), knowledge.minors())
    }

    /// Whether annotations of Services, EgressNetworks and routes limit the time of requests and say what is tried again.
    pub fn limit_annotations(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.limit_annotations), knowledge.minors())
    }

    /// Whether circuit breaking knows the mode `unified`, and endpoints that fail can be given less to do.
    pub fn unified_accrual(&self, version: &LinkerdVersion, knowledge: &Knowledge) -> Contains {
        version.contains(&Introduced::at_edge(self.unified_accrual), knowledge.minors())
    }

    /// Where the facts are from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// When they were last checked.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }
}

impl KnowledgeFile for PolicyController {
    const NAME: &'static str = "policy-controller.yaml";
    const EMBEDDED: &'static str = include_str!("../../checks/knowledge/policy-controller.yaml");

    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}
