//! The evidence for an answer: lists from the cluster, and the missing ones.

use std::collections::BTreeSet;

use super::reach::identity::{issuer_item, roots_item};
use super::refused::{self, RefusedRoute};
use crate::fetched::{Fetched, Why};
use crate::item::{Item, Scope};
use crate::knowledge::{Knowledge, KnownDefect};
use crate::missing::Missing;
use crate::model::Cluster;
use crate::model::availability::{Availability, ControlPlane};
use crate::model::control_plane;
use crate::model::policy::{
    Controller, Index, NotReadable, Objects, OutboundIndex, OutboundObjects, POLICY_KINDS, Quirks, ROUTES, RouteKind,
    Workload,
};
use crate::model::skipped::{CniSkips, is_redirected_by_cni};
use crate::model::transport;
use crate::objects::{
    AuthorizationPolicy, ConfigMap, CustomResourceDefinition, Deployment, EgressNetwork, ExternalWorkload, GRPCRoute,
    HTTPLocalRateLimitPolicy, HTTPRoute, Kind, LinkerdHTTPRoute, Listed, MeshTLSAuthentication, NetworkAuthentication,
    Pod, Server, ServerAuthorization, Service, ServiceAccount, ServiceProfile, TCPRoute, TLSRoute, is_undefined,
};
use crate::request::Request;
use crate::version::LinkerdVersion;

/// The kinds for network policies, including namespaces for selectors.
pub(super) const NETWORK_POLICIES: [Kind; 10] = [
    Kind::NetworkPolicy,
    Kind::CiliumNetworkPolicy,
    Kind::CiliumClusterwideNetworkPolicy,
    Kind::CalicoNetworkPolicy,
    Kind::CalicoGlobalNetworkPolicy,
    Kind::CalicoTier,
    Kind::AdminNetworkPolicy,
    Kind::BaselineAdminNetworkPolicy,
    Kind::ClusterNetworkPolicy,
    Kind::Namespace,
];

/// The items for inbound policy.
pub fn policy_items() -> BTreeSet<Item> {
    let kinds = [Kind::Pod, Kind::Deployment, Kind::CustomResourceDefinition, Kind::ServiceAccount];
    let mut items: BTreeSet<Item> = kinds.into_iter().chain(POLICY_KINDS).map(Item::List).collect();
    items.extend([config(), Item::NodeFiles]);
    items
}

/// The items for outbound policy.
pub fn outbound_items() -> BTreeSet<Item> {
    let kinds =
        [Kind::Deployment, Kind::CustomResourceDefinition, Kind::Service, Kind::ServiceProfile, Kind::EgressNetwork];
    kinds.into_iter().chain(ROUTES).map(Item::List).chain([config(), cni_config()]).collect()
}

/// The items for a walk.
pub fn reach_items() -> BTreeSet<Item> {
    let kinds = [
        Kind::EndpointSlice,
        Kind::ReplicaSet,
        Kind::Job,
        // Restarts depend on these.
        Kind::StatefulSet,
        Kind::DaemonSet,
        Kind::ResourceQuota,
        // Destination cannot serve its clients without its permissions.
        Kind::ClusterRole,
        Kind::ClusterRoleBinding,
    ];
    let lists = kinds.into_iter().chain(NETWORK_POLICIES).map(Item::List);
    policy_items()
        .into_iter()
        .chain(outbound_items())
        .chain(lists)
        .chain([issuer_item(), roots_item(), corefile(), Item::Diagnostics])
        .collect()
}

fn config() -> Item {
    Item::named(Kind::ConfigMap, Scope::ControlPlane, "linkerd-config")
}

/// The zones of the DNS server, which only refine results, so their absence is not a gap.
fn corefile() -> Item {
    let scope = Scope::Fixed("kube-system".to_owned());
    Item::named(Kind::ConfigMap, scope, "coredns")
}

/// The settings of linkerd-cni, which only refine results, so their absence is not a gap.
fn cni_config() -> Item {
    Item::named(Kind::ConfigMap, Scope::Cni, "linkerd-cni-config")
}

/// The reason why metrics that were requested could not be read.
pub(super) fn unread_metrics(cluster: &Cluster) -> Option<Missing> {
    let answer = cluster.answer(&Item::Diagnostics)?;
    match &answer.fetched {
        Fetched::Missing { reason: Why::NotCaptured } => None,
        Fetched::Missing { reason } if reason.was_asked_for() => {
            Some(Missing::whole(answer.request.clone(), reason.clone()))
        }
        _ => None,
    }
}

/// Lists from a cluster; records missing ones.
pub struct Lists<'a> {
    cluster: &'a Cluster,
    /// Missing evidence.
    pub gaps: Vec<Missing>,
}

impl<'a> Lists<'a> {
    /// Reads from a cluster.
    pub fn from_cluster(cluster: &'a Cluster) -> Lists<'a> {
        Lists { cluster, gaps: Vec::new() }
    }

    /// The objects of a kind. Without a CRD for the kind the list is empty, and nothing is missing.
    pub fn all<K: Listed>(&mut self) -> &'a [K::Object] {
        let item = Item::List(K::KIND);
        let Some(answer) = self.cluster.answer(&item) else {
            if !self.is_undefined(K::KIND) {
                let request = Request { item, namespace: None };
                self.gaps.push(Missing::whole(request, Why::NotCaptured));
            }
            return &[];
        };
        match &answer.fetched {
            Fetched::Complete => {}
            Fetched::Partial { reasons } => {
                let part = |why: &Why| Missing::whole(answer.request.clone(), why.clone());
                self.gaps.extend(reasons.iter().map(part));
            }
            Fetched::Missing { .. } if self.is_undefined(K::KIND) => return &[],
            Fetched::Missing { reason } => {
                self.gaps.push(Missing::whole(answer.request.clone(), reason.clone()));
                return &[];
            }
        }
        answer.objects::<K::Object>()
    }

    /// `linkerd-config`, which only refines results, so its absence is not a gap.
    fn config(&self) -> Option<&'a ConfigMap> {
        self.cluster.answer(&config())?.objects::<ConfigMap>().first()
    }

    /// Whether the chart's values state that proxies always connect to each other's own port.
    pub(super) fn by_proxy(&self) -> bool {
        let values = self.config().and_then(ConfigMap::chart_values);
        values.is_some_and(|values| transport::by_header(&values))
    }

    /// Whether no CustomResourceDefinition defines a kind.
    fn is_undefined(&self, kind: Kind) -> bool {
        let answer = self.cluster.answer(&Item::List(Kind::CustomResourceDefinition));
        answer.is_some_and(|answer| {
            answer.fetched == Fetched::Complete && is_undefined(answer.objects::<CustomResourceDefinition>(), kind)
        })
    }
}

/// Inbound policy and its workloads.
pub struct PolicyEvidence<'a> {
    /// All policy.
    pub index: Index<'a>,
    /// Every pod.
    pub pods: &'a [Pod],
    /// Every ExternalWorkload.
    pub external: &'a [ExternalWorkload],
    /// Routes without effect on a Server.
    pub refused: Vec<RefusedRoute<'a>>,
    /// Namespace and name of every ServiceAccount, if all are known.
    pub accounts: Option<BTreeSet<(&'a str, &'a str)>>,
    /// The installed release, if known.
    pub version: Option<LinkerdVersion>,
    /// The ports and address ranges that linkerd-cni skips.
    pub cni: CniSkips,
    /// The known defect of the installed release with invalid selectors of Servers: its id and title.
    pub selector_defect: Option<(String, String)>,
    /// States that the policy controller is not ready, so that running proxies may hold other policy.
    pub away: Option<String>,
    /// Missing evidence.
    pub gaps: Vec<Missing>,
}

impl<'a> PolicyEvidence<'a> {
    /// Reads the evidence.
    ///
    /// # Errors
    /// The policy controller's settings are unknown, so every result is; contains the missing evidence.
    pub fn read(
        cluster: &'a Cluster,
        knowledge: &Knowledge,
    ) -> Result<PolicyEvidence<'a>, (NotReadable, Vec<Missing>)> {
        let mut lists = Lists::from_cluster(cluster);
        let (controller, version) = settings(&mut lists, knowledge);
        let objects = Objects {
            servers: lists.all::<Server>(),
            server_authorizations: lists.all::<ServerAuthorization>(),
            authorization_policies: lists.all::<AuthorizationPolicy>(),
            mesh_tls_authentications: lists.all::<MeshTLSAuthentication>(),
            network_authentications: lists.all::<NetworkAuthentication>(),
            rate_limits: lists.all::<HTTPLocalRateLimitPolicy>(),
            http_routes: lists.all::<HTTPRoute>(),
            linkerd_http_routes: lists.all::<LinkerdHTTPRoute>(),
            grpc_routes: lists.all::<GRPCRoute>(),
        };
        let (pods, external) = (lists.all::<Pod>(), lists.all::<ExternalWorkload>());
        let mut gaps = lists.gaps;
        if pods.iter().any(is_redirected_by_cni) {
            gaps.extend(unread_cni_config(cluster));
        }
        let complete = !gaps.iter().any(|gap| gap.request.item == Item::List(Kind::Server));
        let refused = refused::of_servers(&objects, version.as_ref(), knowledge, complete);
        match controller {
            Ok(controller) => {
                let index = Index::new(controller, objects);
                let knows_pods = !gaps.iter().any(|gap| gap.request.item == Item::List(Kind::Pod));
                let away = policy_controller_down(pods, &cluster.namespaces.control_plane, knows_pods);
                let accounts = accounts(cluster);
                let cni = cni_skips(cluster);
                let selector_defect = version.as_ref().and_then(|version| selector_defect(version, knowledge));
                Ok(PolicyEvidence {
                    index,
                    pods,
                    external,
                    refused,
                    accounts,
                    version,
                    cni,
                    selector_defect,
                    away,
                    gaps,
                })
            }
            Err(trouble) => Err((trouble, gaps)),
        }
    }

    /// A pod as the policy controller sees it; `None` if the controller does not know it.
    pub fn workload(&self, pod: &'a Pod) -> Option<Workload<'a>> {
        Workload::of_pod(pod, self.index.controller.quirks)
    }
}

/// The known defect of a release that an invalid pod selector of a Server triggers.
fn selector_defect(version: &LinkerdVersion, knowledge: &Knowledge) -> Option<(String, String)> {
    let servers = Kind::Server.resource();
    let is_of_selectors = |row: &&KnownDefect| {
        let trigger = row.trigger.as_ref();
        trigger.is_some_and(|trigger| *trigger.kinds == [servers.clone()] && trigger.path == "spec.podSelector")
            && row.affects(version, knowledge.minors()).is_some()
    };
    let mut rows = knowledge.known_defects().rows().iter();
    rows.find(is_of_selectors).map(|row| (row.id.clone(), row.title.clone()))
}

/// The reason why the settings of linkerd-cni are unknown. Without a namespace of linkerd-cni they are not requested.
fn unread_cni_config(cluster: &Cluster) -> Option<Missing> {
    let answer = cluster.answer(&cni_config())?;
    match &answer.fetched {
        Fetched::Missing { reason } => Some(Missing::whole(answer.request.clone(), reason.clone())),
        _ => None,
    }
}

/// The ports and ranges that linkerd-cni skips, from its ConfigMap and the files of nodes.
fn cni_skips(cluster: &Cluster) -> CniSkips {
    let item = Item::named(Kind::ConfigMap, Scope::Cni, "linkerd-cni-config");
    let config = cluster.answer(&item).and_then(|answer| answer.objects::<ConfigMap>().first());
    CniSkips::new(cluster.nodes.as_deref().unwrap_or_default(), config)
}

/// Every ServiceAccount. They only refine the answer, so a missing list is no gap.
fn accounts(cluster: &Cluster) -> Option<BTreeSet<(&str, &str)>> {
    let answer = cluster.answer(&Item::List(Kind::ServiceAccount))?;
    let accounts = answer.objects::<ServiceAccount>().iter().map(|account| account.metadata.key());
    (answer.fetched == Fetched::Complete).then(|| accounts.collect())
}

/// States that the policy controller is not ready in any pod. `complete`: all pods are known.
fn policy_controller_down(pods: &[Pod], namespace: &str, complete: bool) -> Option<String> {
    let Availability::Down { since, .. } = ControlPlane::new(pods, namespace, complete).state("destination", "policy")
    else {
        return None;
    };
    let since = since.map(|since| format!(" since {since}")).unwrap_or_default();
    Some(format!(
        "the policy controller has not been ready{since}: running proxies keep their earlier policy, and \
         pods that started since have only their default policy. The answers apply once it is ready"
    ))
}

/// The policy controller's settings, and the installed release, if known.
fn settings(lists: &mut Lists<'_>, knowledge: &Knowledge) -> (Result<Controller, NotReadable>, Option<LinkerdVersion>) {
    let deployments = lists.all::<Deployment>();
    let namespace = &lists.cluster.namespaces.control_plane;
    let version = control_plane::installed(deployments, lists.config(), namespace).map(|(version, _)| version);
    let quirks = Quirks::from_version(version.as_ref(), knowledge);
    let controller = Controller::find(deployments, namespace, quirks).or_else(|trouble| {
        // Without the Deployment, the chart's values describe the controller that proxies knew.
        let complete = lists.cluster.answer(&Item::List(Kind::Deployment));
        let is_gone =
            trouble == NotReadable::Absent && complete.is_some_and(|answer| answer.fetched == Fetched::Complete);
        let values = lists.config().filter(|_| is_gone).and_then(ConfigMap::chart_values);
        values.map_or(Err(trouble), |values| Controller::from_chart(namespace, &values, quirks))
    });
    (controller.map(|controller| controller.running(lists.cluster.list::<Pod>())), version)
}

/// Outbound policy and its services.
pub struct OutboundEvidence<'a> {
    /// All policy.
    pub index: OutboundIndex<'a>,
    /// Every Service.
    pub services: &'a [Service],
    /// Every ServiceProfile.
    pub profiles: &'a [ServiceProfile],
    /// The installed release, if known.
    pub version: Option<LinkerdVersion>,
    /// Missing evidence.
    pub gaps: Vec<Missing>,
}

impl<'a> OutboundEvidence<'a> {
    /// Reads the evidence.
    ///
    /// # Errors
    /// The policy controller's settings are unknown, so every result is; contains the missing evidence.
    pub fn read(
        cluster: &'a Cluster,
        knowledge: &Knowledge,
    ) -> Result<OutboundEvidence<'a>, (NotReadable, Vec<Missing>)> {
        let mut lists = Lists::from_cluster(cluster);
        let (controller, version) = settings(&mut lists, knowledge);
        let services = lists.all::<Service>();
        let objects = OutboundObjects {
            services,
            egress_networks: lists.all::<EgressNetwork>(),
            routes: vec![
                (RouteKind::Http, lists.all::<HTTPRoute>()),
                (RouteKind::LinkerdHttp, lists.all::<LinkerdHTTPRoute>()),
                (RouteKind::Grpc, lists.all::<GRPCRoute>()),
                (RouteKind::Tls, lists.all::<TLSRoute>()),
                (RouteKind::Tcp, lists.all::<TCPRoute>()),
            ],
        };
        let profiles = lists.all::<ServiceProfile>();
        let gaps = lists.gaps;
        match controller {
            Ok(controller) => {
                let index = OutboundIndex::new(controller, &objects);
                Ok(OutboundEvidence { index, services, profiles, version, gaps })
            }
            Err(trouble) => Err((trouble, gaps)),
        }
    }

    /// Whether a Service has a ServiceProfile.
    pub fn has_profile(&self, namespace: &str, name: &str) -> bool {
        let full = format!("{name}.{namespace}.svc.{}", self.index.controller().cluster_domain);
        self.profiles.iter().any(|profile| profile.metadata.name == full)
    }

    /// The ServiceProfile that replaces the routes of a Service, or sends its requests elsewhere.
    pub fn profile(&self, namespace: &str, name: &str) -> Option<&'a ServiceProfile> {
        let full = format!("{name}.{namespace}.svc.{}", self.index.controller().cluster_domain);
        let says = |profile: &&ServiceProfile| {
            let spec = &profile.spec;
            profile.metadata.name == full && !(spec.routes.is_empty() && spec.dst_overrides.is_empty())
        };
        self.profiles.iter().find(says)
    }
}
