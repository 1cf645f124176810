//! Kinds of Kubernetes objects, one per file: the slim type that checks read, its API coordinates, its redaction rules,
//! and its protobuf fields if it has any. To add a kind, add a file and a row in the table below; roles, bundles,
//! dumps, coverage and documentation are derived from them.
//!
//! Slim types contain only fields that checks read, because each field costs memory for every object. All fields have
//! defaults: a field that an old API server does not send is not an error.

mod admin_network_policy;
mod admission_policy;
mod api_service;
mod authorization_policy;
pub mod by_label;
mod calico_network_policy;
mod cert_manager;
pub mod certificates;
mod cilium_network_policy;
mod condition;
mod config_map;
pub mod container;
pub mod container_status;
mod containers;
mod controller_revision;
mod cron_job;
mod custom_resource_definition;
mod egress_network;
mod endpoint_slice;
mod endpoints;
mod envoy_gateway;
mod event;
mod external_workload;
mod felix_configuration;
mod foreign;
mod gitops;
mod horizontal_pod_autoscaler;
mod http_local_rate_limit_policy;
mod ingress;
mod ingress_class;
mod ingress_route;
mod job;
mod kind;
mod lease;
mod limit_range;
mod link;
mod mesh_tls_authentication;
pub mod meta;
pub mod mistyped;
mod monitor;
mod namespace;
mod network_authentication;
mod network_policy;
mod node;
mod object;
mod passing;
pub mod pod;
mod pod_disruption_budget;
mod prometheus_server;
pub mod protobuf;
pub mod rbac;
mod resource_quota;
mod rollout;
mod route;
mod secret;
mod selector;
mod server;
mod server_authorization;
pub mod service;
mod service_account;
mod service_profile;
mod shared;
mod store;
mod target;
mod template;
mod texts;
mod time;
mod traffic_split;
mod uid;
mod volume;
mod webhook_configuration;
mod workload;

pub use admin_network_policy::{
    AdminPeer, AdminPods, AdminPolicy, AdminPort, AdminProtocol, AdminRule, NamespacedPods,
};
pub use admission_policy::{AdmissionMatch, NamedExpression, ResourceRule};
pub use calico_network_policy::{CalicoAccounts, CalicoEntity, CalicoPolicy, CalicoRule, CalicoSpec};
pub use cert_manager::{ManagedCertificate, SourceObject, TrustBundle, TrustSource};
pub use cilium_network_policy::{CiliumBlock, CiliumPolicy, CiliumPort, CiliumPorts, CiliumRule, CiliumSide};
pub use condition::Condition;
pub use container::{Container, ProbePort};
pub use container_status::ContainerStatus;
pub use containers::Containers;
pub use custom_resource_definition::{CrdMeta, Unserved, is_built_in, is_undefined};
pub use event::ObjectReference;
use foreign::ForeignObject;
pub use foreign::{Description, Foreign};
pub use gitops::{ArgoApplication, ComparedObject, FluxObject, IgnoredDifference};
pub use http_local_rate_limit_policy::Limit;
pub use ingress::IngressService;
pub use ingress_route::{AdmittedClients, TraefikService};
pub use kind::{KindInfo, KindOf, Listed, UnknownKind};
pub use lease::OF_NODES;
pub use limit_range::Limit as RangeLimit;
pub use link::LinkedService;
pub use meta::{Meta, OwnerReference};
pub use monitor::{Monitor, MonitorEndpoint};
pub use network_authentication::Network;
pub use network_policy::{IpBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicyRule};
pub use object::{Object, Unread};
pub use passing::rule;
pub use pod::PodSpec;
pub use prometheus_server::PrometheusServer;
pub use route::{
    BackendRef, Header, HeaderModifier, MethodMatch, POLICY_CONTROLLER, ParentRef, PathModifier, Redirect, Route,
    RouteFilter, RouteMatch, RouteRule, RuleTimeouts, ValueMatch,
};
pub use selector::{LabelRequirement, LabelSelector, MatchLabels};
pub use server::ServerPort;
pub use server_authorization::{MeshTls, ServerChoice};
pub use service::{ServicePort, TargetPort};
pub use service_profile::{DstOverride, ProfileMatch};
pub use shared::{Shared, Word};
pub use store::Store;
pub use target::TargetRef;
pub use template::PodTemplate;
pub use texts::Texts;
pub use time::Time;
pub use uid::Uid;
pub use volume::{END_ENTITY_VOLUME, TOKEN_VOLUME, Volumes};
pub use webhook_configuration::{ClientConfig, ServiceReference, Webhook, WebhookConfiguration};
pub use workload::Workload;

use object::object;

use linkerd_facts::{annotations, chart};
use meshdoctor_core::names;
use meshdoctor_redact as redact;

macro_rules! kinds {
    ($( $module:ident::$kind:ident, )*) => {
        $( pub use $module::$kind; )*

        /// A kind of Kubernetes object that meshdoctor can read. Ordered as in reports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $( #[doc = concat!("See [`struct@", stringify!($kind), "`].")] $kind, )*
            /// A kind of a user-defined card.
            Foreign(Foreign),
        }

        impl Kind {
            /// All built-in kinds, in order.
            pub const ALL: &'static [Kind] = &[ $( Kind::$kind, )* ];

            /// Its description.
            pub const fn info(self) -> &'static KindInfo {
                match self {
                    $( Kind::$kind => &<$kind as Listed>::INFO, )*
                    Kind::Foreign(foreign) => foreign.info(),
                }
            }

            /// An empty store for its objects.
            pub fn store(self) -> Box<dyn Store> {
                match self {
                    $( Kind::$kind => Box::new(Vec::<<$kind as Listed>::Object>::new()), )*
                    Kind::Foreign(_) => Box::new(Vec::<ForeignObject>::new()),
                }
            }
        }

        // Each type is in the row of its own kind.
        $( const _: () = assert!(matches!(<$kind as Listed>::KIND, Kind::$kind)); )*
    };
}

kinds! {
    namespace::Namespace,
    node::Node,
    pod::Pod,
    service::Service,
    endpoints::Endpoints,
    endpoint_slice::EndpointSlice,
    config_map::ConfigMap,
    secret::Secret,
    service_account::ServiceAccount,
    workload::Deployment,
    workload::ReplicaSet,
    workload::DaemonSet,
    workload::StatefulSet,
    controller_revision::ControllerRevision,
    job::Job,
    cron_job::CronJob,
    event::Event,
    rbac::Role,
    rbac::RoleBinding,
    rbac::ClusterRole,
    rbac::ClusterRoleBinding,
    custom_resource_definition::CustomResourceDefinition,
    webhook_configuration::MutatingWebhookConfiguration,
    webhook_configuration::ValidatingWebhookConfiguration,
    admission_policy::ValidatingAdmissionPolicy,
    admission_policy::ValidatingAdmissionPolicyBinding,
    api_service::APIService,
    pod_disruption_budget::PodDisruptionBudget,
    horizontal_pod_autoscaler::HorizontalPodAutoscaler,
    resource_quota::ResourceQuota,
    limit_range::LimitRange,
    network_policy::NetworkPolicy,
    cilium_network_policy::CiliumNetworkPolicy,
    cilium_network_policy::CiliumClusterwideNetworkPolicy,
    calico_network_policy::CalicoNetworkPolicy,
    calico_network_policy::CalicoGlobalNetworkPolicy,
    calico_network_policy::CalicoTier,
    admin_network_policy::AdminNetworkPolicy,
    admin_network_policy::BaselineAdminNetworkPolicy,
    admin_network_policy::ClusterNetworkPolicy,
    felix_configuration::FelixConfiguration,
    ingress::Ingress,
    ingress_class::IngressClass,
    lease::Lease,
    server::Server,
    server_authorization::ServerAuthorization,
    authorization_policy::AuthorizationPolicy,
    mesh_tls_authentication::MeshTLSAuthentication,
    network_authentication::NetworkAuthentication,
    http_local_rate_limit_policy::HTTPLocalRateLimitPolicy,
    egress_network::EgressNetwork,
    external_workload::ExternalWorkload,
    service_profile::ServiceProfile,
    route::HTTPRoute,
    route::GRPCRoute,
    route::TLSRoute,
    route::TCPRoute,
    route::LinkerdHTTPRoute,
    traffic_split::TrafficSplit,
    link::Link,
    monitor::PodMonitor,
    monitor::ServiceMonitor,
    prometheus_server::Prometheus,
    prometheus_server::PrometheusAgent,
    gitops::Kustomization,
    gitops::HelmRelease,
    gitops::Application,
    cert_manager::CertManagerCertificate,
    cert_manager::Bundle,
    ingress_route::IngressRoute,
    ingress_route::Middleware,
    envoy_gateway::EnvoyProxy,
    envoy_gateway::BackendTrafficPolicy,
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ObjectsReadme;
