//! The policy controller: the settings in its arguments, and the behavior of its release.

use ipnet::IpNet;
use jiff::Timestamp;

use super::default::DefaultPolicy;
use crate::chart::Values;
use crate::knowledge::{FirstEdge, Knowledge};
use crate::objects::meta::COMPONENT;
use crate::objects::{Pod, Workload};
use crate::version::{Contains, LinkerdVersion};

/// The controller's container in the Deployment of the destination service.
const CONTAINER: &str = "policy";
const DEPLOYMENT: &str = "linkerd-destination";
/// The controller's default arguments.
const CLUSTER_DOMAIN: &str = "cluster.local";
const CLUSTER_NETWORKS: &str = "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16";
const EGRESS_NAMESPACE: &str = "linkerd-egress";

/// The settings of the policy controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// The namespace of the control plane.
    pub namespace: String,
    /// The trust domain: the suffix of every identity.
    pub identity_domain: String,
    /// The domain of Services.
    pub cluster_domain: String,
    /// The networks of the cluster.
    pub cluster_networks: Vec<IpNet>,
    /// The networks of kubelet probes; if empty, probes are not allowed automatically.
    pub probe_networks: Vec<IpNet>,
    /// The ports that are opaque to clients by default; they do not apply to inbound connections.
    pub opaque_ports: Vec<u16>,
    /// The namespace of shared EgressNetworks, which apply to clients of namespaces without their own.
    pub egress_namespace: String,
    /// The default policy of ports without a Server.
    pub default_policy: DefaultPolicy,
    /// When the first of its running containers started; `None` if unknown.
    pub started: Option<Timestamp>,
    /// The behavior of the release.
    pub quirks: Quirks,
}

/// Differences in behavior between releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// One unreadable object leaves all objects of its kind unread.
    pub broken_voids_kind: bool,
    /// Of several Servers for one port the oldest takes it; otherwise the choice is random.
    pub servers_by_age: bool,
    /// Named ports of init containers, including native sidecars, are supported.
    pub init_container_ports: bool,
    /// The rule for a probe leaves out the query of its path. Otherwise it has the path as written, which no
    /// request has.
    pub probe_uris: bool,
    /// Calls to an undeclared port of a Service's address are rejected.
    pub refuses_undeclared_ports: bool,
    /// The same, if the Service has a ServiceProfile.
    pub refuses_undeclared_ports_with_profile: bool,
    /// Rule timeouts of Gateway API HTTPRoutes have an effect.
    pub gateway_timeouts: bool,
    /// Circuit breaking supports the mode `unified` and reduced load for failing endpoints.
    pub unified_accrual: bool,
    /// The appProtocol of a Service's port sets its treatment, and TCPRoutes apply to opaque ports.
    pub app_protocol: bool,
    /// Annotations set timeouts and retries.
    pub limit_annotations: bool,
    /// GRPCRoutes apply to calls.
    pub grpc_calls: bool,
    /// EgressNetworks, TLSRoutes and TCPRoutes apply to calls.
    pub egress: bool,
    /// One Server with an invalid podSelector makes destination return no endpoints.
    pub selector_drops_endpoints: bool,
    /// Servers of other namespaces make a port opaque for clients.
    pub opaque_across_namespaces: bool,
    /// A running controller keeps a deleted MeshTLSAuthentication.
    pub keeps_deleted_authentications: bool,
}

impl Quirks {
    /// The quirks of a version; those of the newest release if the version is unknown or not conclusive.
    pub fn from_version(version: Option<&LinkerdVersion>, knowledge: &Knowledge) -> Quirks {
        let known = knowledge.policy_controller();
        let upgrades = knowledge.upgrades();
        let lacks = |since: Contains| since == Contains::No;
        let may_have = |first: FirstEdge| version.is_none_or(|v| !lacks(first.is_in(v, knowledge)));
        let certainly_lacks = |first: FirstEdge| version.is_some_and(|v| lacks(first.is_in(v, knowledge)));
        Quirks {
            broken_voids_kind: version.is_some_and(|v| known.voids_kind(v, knowledge)),
            servers_by_age: may_have(known.servers_by_age),
            init_container_ports: may_have(known.init_container_ports),
            probe_uris: version.is_none_or(|v| !lacks(known.probe_uris(v, knowledge))),
            refuses_undeclared_ports: version
                .is_none_or(|v| !lacks(upgrades.refuses_undeclared_ports(v, knowledge.minors()))),
            refuses_undeclared_ports_with_profile: version
                .is_none_or(|v| !lacks(upgrades.refuses_undeclared_ports_with_profile(v, knowledge.minors()))),
            gateway_timeouts: may_have(known.gateway_timeouts),
            unified_accrual: may_have(known.unified_accrual),
            app_protocol: may_have(known.app_protocol),
            limit_annotations: may_have(known.limit_annotations),
            grpc_calls: may_have(known.grpc_route_status),
            egress: may_have(known.egress_status),
            selector_drops_endpoints: certainly_lacks(known.skips_invalid_selector),
            opaque_across_namespaces: certainly_lacks(known.opaque_by_own_namespace),
            keeps_deleted_authentications: certainly_lacks(known.forgets_authentications),
        }
    }
}

/// Why the controller's settings are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    /// No Deployment contains the container.
    #[error("no Deployment {DEPLOYMENT} with a container {CONTAINER}")]
    Absent,
    /// An invalid argument, with which the controller would not start.
    #[error("the policy controller's argument {0} cannot be read")]
    Argument(String),
}

impl Controller {
    /// Reads the controller of a control plane.
    ///
    /// # Errors
    /// If it does not exist, or an argument is invalid.
    pub fn find(deployments: &[Workload], namespace: &str, quirks: Quirks) -> Result<Controller, NotReadable> {
        let deployment = deployments
            .iter()
            .find(|deployment| deployment.metadata.key() == (namespace, DEPLOYMENT))
            .ok_or(NotReadable::Absent)?;
        let container = deployment.spec.template.spec.container(CONTAINER).ok_or(NotReadable::Absent)?;
        let written = |flag: &str| container.argument(&format!("--{flag}")).map(str::to_owned);
        let namespace = written("control-plane-namespace").unwrap_or_else(|| "linkerd".to_owned());
        Controller::from_settings(namespace, written, quirks)
    }

    /// The controller that the chart's values describe, for a control plane without the Deployment.
    ///
    /// # Errors
    /// If a value is invalid.
    pub fn from_chart(namespace: &str, values: &Values, quirks: Quirks) -> Result<Controller, NotReadable> {
        let listed = |path: &str| {
            let items = values.value(path)?.as_sequence()?.iter();
            Some(items.filter_map(|item| item.as_str()).collect::<Vec<_>>().join(","))
        };
        let written = |flag: &str| match flag {
            "cluster-networks" => listed("clusterNetworks").or_else(|| values.written("clusterNetworks")),
            "probe-networks" => listed("policyController.probeNetworks"),
            "identity-domain" => values.written("identityTrustDomain").filter(|domain| !domain.is_empty()),
            "cluster-domain" => values.written("clusterDomain"),
            "default-policy" => values.written("proxy.defaultInboundPolicy"),
            "default-opaque-ports" => values.written("proxy.opaquePorts"),
            "global-egress-network-namespace" => values.written("egress.globalEgressNetworkNamespace"),
            _ => None,
        };
        let written = |flag: &str| match flag {
            "identity-domain" => written(flag).or_else(|| written("cluster-domain")),
            _ => written(flag),
        };
        Controller::from_settings(namespace.to_owned(), written, quirks)
    }

    /// The controller with these settings, by the names of its arguments.
    fn from_settings(
        namespace: String,
        written: impl Fn(&str) -> Option<String>,
        quirks: Quirks,
    ) -> Result<Controller, NotReadable> {
        let networks = |flag: &str, otherwise: &str| {
            let said = written(flag).unwrap_or_else(|| otherwise.to_owned());
            let nets = said.split(',').filter(|_| !said.is_empty()).map(str::parse::<IpNet>);
            nets.collect::<Result<Vec<_>, _>>().map_err(|_| NotReadable::Argument(format!("--{flag}={said}")))
        };
        let domain = |flag: &str| written(flag).unwrap_or_else(|| CLUSTER_DOMAIN.to_owned());
        let policy = written("default-policy").unwrap_or_else(|| "all-unauthenticated".to_owned());
        Ok(Controller {
            namespace,
            identity_domain: domain("identity-domain"),
            cluster_domain: domain("cluster-domain"),
            cluster_networks: networks("cluster-networks", CLUSTER_NETWORKS)?,
            probe_networks: networks("probe-networks", "")?,
            opaque_ports: {
                let said = written("default-opaque-ports");
                let said = said.as_deref().and_then(super::parse::ports);
                said.unwrap_or_default().into_iter().flat_map(|(first, last)| first..=last).collect()
            },
            egress_namespace: written("global-egress-network-namespace").unwrap_or_else(|| EGRESS_NAMESPACE.to_owned()),
            default_policy: policy.parse().map_err(|_| NotReadable::Argument(format!("--default-policy={policy}")))?,
            started: None,
            quirks,
        })
    }

    /// With the start of its running containers, from which on they know objects that cannot be read.
    #[must_use]
    pub fn running(mut self, pods: &[Pod]) -> Controller {
        let of_destination = |pod: &&Pod| {
            pod.metadata.namespace == self.namespace && pod.metadata.label(COMPONENT) == Some("destination")
        };
        let started = |pod: &Pod| pod.container_status(CONTAINER)?.state.running()?.started_at.get();
        self.started = pods.iter().filter(of_destination).filter_map(started).min();
        self
    }

    /// The chart's default settings, for a control plane whose settings are unknown.
    pub fn with_defaults(namespace: &str, quirks: Quirks) -> Controller {
        Controller {
            namespace: namespace.to_owned(),
            identity_domain: CLUSTER_DOMAIN.to_owned(),
            cluster_domain: CLUSTER_DOMAIN.to_owned(),
            cluster_networks: CLUSTER_NETWORKS.split(',').filter_map(|network| network.parse().ok()).collect(),
            probe_networks: Vec::new(),
            opaque_ports: Vec::new(),
            egress_namespace: EGRESS_NAMESPACE.to_owned(),
            default_policy: DefaultPolicy::AllUnauthenticated,
            started: None,
            quirks,
        }
    }

    /// The identity of a service account.
    pub fn identity(&self, namespace: &str, account: &str) -> String {
        format!("{account}.{namespace}{}", self.identity_suffix())
    }

    /// The suffix of all service accounts' identities.
    pub fn identity_suffix(&self) -> String {
        format!(".serviceaccount.identity.{}.{}", self.namespace, self.identity_domain)
    }

    /// The identities of all service accounts of a namespace.
    pub(super) fn namespace_identities(&self, namespace: &str) -> String {
        format!("*.{namespace}{}", self.identity_suffix())
    }
}
