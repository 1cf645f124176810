//! The policy controller as it runs: what its arguments say, and what its release does that others do not.

use ipnet::IpNet;

use super::default::DefaultPolicy;
use crate::knowledge::Knowledge;
use crate::objects::{Container, Workload};
use crate::version::{Contains, LinkerdVersion};

/// The container that the controller runs in, of the Deployment of the destination service.
const CONTAINER: &str = "policy";
const DEPLOYMENT: &str = "linkerd-destination";
/// The arguments that the controller takes if it is given none.
const CLUSTER_DOMAIN: &str = "cluster.local";
const CLUSTER_NETWORKS: &str = "10.0.0.0/8,100.64.0.0/10,172.16.0.0/12,192.168.0.0/16";
const EGRESS_NAMESPACE: &str = "linkerd-egress";

/// The settings of the policy controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// The namespace of the control plane.
    pub namespace: String,
    /// The trust domain: the end of every identity.
    pub identity_domain: String,
    /// The domain of Services.
    pub cluster_domain: String,
    /// The networks of the cluster.
    pub cluster_networks: Vec<IpNet>,
    /// Where the kubelet's probes come from; none means that probes are let in by nothing of their own.
    pub probe_networks: Vec<IpNet>,
    /// The ports that are opaque to clients where nothing else is said; inbound they count for nothing.
    pub opaque_ports: Vec<u16>,
    /// The namespace of the EgressNetworks that hold for clients of all namespaces without ones of their own.
    pub egress_namespace: String,
    /// What holds where no Server takes a port.
    pub default_policy: DefaultPolicy,
    /// What this release does that others do not.
    pub quirks: Quirks,
}

/// What releases do differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirks {
    /// One object that cannot be read leaves all of its kind unread.
    pub broken_voids_kind: bool,
    /// Of several Servers that select one port the oldest takes it; else any may.
    pub servers_by_age: bool,
    /// The named ports of init containers, native sidecars with them, are known.
    pub init_container_ports: bool,
    /// Calls of the address of a Service, at a port that it does not declare, are refused.
    pub refuses_undeclared_ports: bool,
    /// The time limits of rules of HTTPRoutes of the Gateway API count.
    pub gateway_timeouts: bool,
    /// Circuit breaking knows the mode `unified`, and endpoints that fail can be given less to do.
    pub unified_accrual: bool,
    /// The appProtocol of a Service's port says how it is treated, and TCPRoutes count at opaque ports.
    pub app_protocol: bool,
    /// Annotations limit the time of requests and say what is tried again.
    pub limit_annotations: bool,
    /// GRPCRoutes count for calls.
    pub grpc_calls: bool,
    /// EgressNetworks, TLSRoutes and TCPRoutes count for calls.
    pub egress: bool,
    /// One Server whose podSelector is not valid makes destination give out no endpoint.
    pub selector_drops_endpoints: bool,
    /// Servers of other namespaces make a port opaque for clients.
    pub opaque_across_namespaces: bool,
}

impl Quirks {
    /// Those of a version; where it does not tell, or is not known, those of the newest release.
    pub fn of(version: Option<&LinkerdVersion>, knowledge: &Knowledge) -> Quirks {
        let known = knowledge.policy_controller();
        let lacks = |since: Contains| since == Contains::No;
        Quirks {
            broken_voids_kind: version.is_some_and(|v| known.voids_kind(v, knowledge)),
            servers_by_age: version.is_none_or(|v| !lacks(known.servers_by_age(v, knowledge))),
            init_container_ports: version.is_none_or(|v| !lacks(known.init_container_ports(v, knowledge))),
            refuses_undeclared_ports: version
                .is_none_or(|v| !lacks(knowledge.upgrades().refuses_undeclared_ports(v, knowledge.minors()))),
            gateway_timeouts: version.is_none_or(|v| !lacks(known.gateway_timeouts(v, knowledge))),
            unified_accrual: version.is_none_or(|v| !lacks(known.unified_accrual(v, knowledge))),
            app_protocol: version.is_none_or(|v| !lacks(known.app_protocol(v, knowledge))),
            limit_annotations: version.is_none_or(|v| !lacks(known.limit_annotations(v, knowledge))),
            grpc_calls: version.is_none_or(|v| !lacks(known.grpc_route_status(v, knowledge))),
            egress: version.is_none_or(|v| !lacks(known.egress_status(v, knowledge))),
            selector_drops_endpoints: version
                .is_some_and(|v| lacks(known.skips_invalid_selector(v, knowledge))),
            opaque_across_namespaces: version
                .is_some_and(|v| lacks(known.opaque_by_own_namespace(v, knowledge))),
        }
    }
}

/// Why the controller's settings are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    /// No Deployment has the container.
    #[error("no Deployment {DEPLOYMENT} with a container {CONTAINER}")]
    Absent,
    /// An argument cannot be read; the controller would not start with it.
    #[error("the policy controller's argument {0} cannot be read")]
    Argument(String),
}

impl Controller {
    /// The controller of a control plane.
    ///
    /// # Errors
    /// It is not there, or an argument cannot be read.
    pub fn of(deployments: &[Workload], namespace: &str, quirks: Quirks) -> Result<Controller, NotReadable> {
        let deployment = deployments
            .iter()
            .find(|deployment| deployment.metadata.key() == (namespace, DEPLOYMENT))
            .ok_or(NotReadable::Absent)?;
        let container = deployment.spec.template.spec.container(CONTAINER).ok_or(NotReadable::Absent)?;
        let networks = |flag: &str, otherwise: &str| {
            let said = argument(container, flag).unwrap_or(otherwise);
            let nets = said.split(',').filter(|_| !said.is_empty()).map(str::parse::<IpNet>);
            nets.collect::<Result<Vec<_>, _>>().map_err(|_| NotReadable::Argument(format!("--{flag}={said}")))
        };
        let domain = |flag: &str| argument(container, flag).unwrap_or(CLUSTER_DOMAIN).to_owned();
        let policy = argument(container, "default-policy").unwrap_or("all-unauthenticated");
        Ok(Controller {
            namespace: argument(container, "control-plane-namespace").unwrap_or("linkerd").to_owned(),
            identity_domain: domain("identity-domain"),
            cluster_domain: domain("cluster-domain"),
            cluster_networks: networks("cluster-networks", CLUSTER_NETWORKS)?,
            probe_networks: networks("probe-networks", "")?,
            opaque_ports: {
                let said = argument(container, "default-opaque-ports").and_then(super::parse::ports);
                said.unwrap_or_default().into_iter().flat_map(|(first, last)| first..=last).collect()
            },
            egress_namespace: argument(container, "global-egress-network-namespace")
                .unwrap_or(EGRESS_NAMESPACE)
                .to_owned(),
            default_policy: policy
                .parse()
                .map_err(|_| NotReadable::Argument(format!("--default-policy={policy}")))?,
            quirks,
        })
    }

    /// The controller of a control plane whose settings are unknown: those of the chart.
    pub fn with_defaults(namespace: &str, quirks: Quirks) -> Controller {
        Controller {
            namespace: namespace.to_owned(),
            identity_domain: CLUSTER_DOMAIN.to_owned(),
            cluster_domain: CLUSTER_DOMAIN.to_owned(),
            cluster_networks: CLUSTER_NETWORKS
                .split(',')
                .filter_map(|network| network.parse().ok())
                .collect(),
            probe_networks: Vec::new(),
            opaque_ports: Vec::new(),
            egress_namespace: EGRESS_NAMESPACE.to_owned(),
            default_policy: DefaultPolicy::AllUnauthenticated,
            quirks,
        }
    }

    /// The identity of a service account.
    pub fn identity(&self, namespace: &str, account: &str) -> String {
        format!("{account}.{namespace}{}", self.identity_suffix())
    }

    /// What the identities of all service accounts end in.
    pub fn identity_suffix(&self) -> String {
        format!(".serviceaccount.identity.{}.{}", self.namespace, self.identity_domain)
    }

    /// The identities of all service accounts of a namespace.
    pub(super) fn namespace_identities(&self, namespace: &str) -> String {
        format!("*.{namespace}{}", self.identity_suffix())
    }
}

/// The value of an argument that is written as `--flag=value`, or as two.
fn argument<'a>(container: &'a Container, flag: &str) -> Option<&'a str> {
    let mut words = container.args.iter();
    while let Some(word) = words.next() {
        let Some(rest) = word.strip_prefix("--").and_then(|rest| rest.strip_prefix(flag)) else { continue };
        match rest.strip_prefix('=') {
            Some(value) => return Some(value),
            None if rest.is_empty() => return words.next().map(String::as_str),
            None => {}
        }
    }
    None
}
