//! Routes: of HTTP in two groups, of gRPC, TLS and TCP. They share one slim type; what one kind does not have stays empty.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::target::is_a;
use super::{Kind, KindInfo, Listed, object};

/// The controller name that Linkerd's policy controller signs statuses with.
pub const POLICY_CONTROLLER: &str = "linkerd.io/policy-controller";

/// A route of any kind.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Route {
    /// Name, namespace, creation.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: RouteSpec,
    /// What controllers say of it.
    #[serde(deserialize_with = "nullable")]
    pub status: RouteStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteSpec {
    /// What it is attached to.
    #[serde(deserialize_with = "nullable")]
    pub parent_refs: Vec<ParentRef>,
    /// The hosts that it speaks of; all where nothing is said.
    #[serde(deserialize_with = "nullable")]
    pub hostnames: Vec<String>,
    /// Its rules.
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<RouteRule>,
}

/// What a route is attached to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParentRef {
    /// API group.
    pub group: Option<String>,
    /// Kind.
    pub kind: Option<String>,
    /// Name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Namespace; the route's own where nothing is said.
    pub namespace: Option<String>,
    /// A port of it.
    pub port: Option<i64>,
    /// A part of it.
    pub section_name: Option<String>,
}

impl ParentRef {
    /// Whether it refers to a kind. What names no kind refers to none of Linkerd's.
    pub fn is_a(&self, group: &str, kind: &str) -> bool {
        self.kind.as_deref().is_some_and(|said| is_a(self.group.as_deref(), said, group, kind))
    }
}

/// One rule of a route.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteRule {
    /// What it speaks of: requests that one of these matches.
    #[serde(deserialize_with = "nullable")]
    pub matches: Vec<RouteMatch>,
    /// What is done to a request.
    #[serde(deserialize_with = "nullable")]
    pub filters: Vec<RouteFilter>,
    /// Where it goes.
    #[serde(deserialize_with = "nullable")]
    pub backend_refs: Vec<BackendRef>,
    /// What it may take.
    pub timeouts: Option<RuleTimeouts>,
}

/// What requests of a rule may take, as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleTimeouts {
    /// From the first byte of the request to the last of its answer.
    pub request: Option<String>,
}

/// What requests look like.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteMatch {
    /// Their path.
    pub path: Option<ValueMatch>,
    /// Their headers.
    #[serde(deserialize_with = "nullable")]
    pub headers: Vec<ValueMatch>,
    /// The parameters of their query.
    #[serde(deserialize_with = "nullable")]
    pub query_params: Vec<ValueMatch>,
    /// Their method.
    pub method: Option<MethodMatch>,
}

/// A text that is compared, or matched by a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ValueMatch {
    /// `Exact`, `PathPrefix` or `RegularExpression`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Of headers and parameters, which one.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// The text or the pattern.
    pub value: Option<String>,
}

/// A method of HTTP or of gRPC.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum MethodMatch {
    /// `GET`.
    Http(String),
    /// A method of a service.
    Grpc {
        /// `Exact` or `RegularExpression`.
        #[serde(rename = "type")]
        kind: Option<String>,
        /// The service; any where nothing is said.
        service: Option<String>,
        /// The method; any where nothing is said.
        method: Option<String>,
    },
}

/// What is done to a request or its answer: one of these, by its type.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteFilter {
    /// `RequestHeaderModifier`, ...
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// Changes headers of requests.
    pub request_header_modifier: Option<HeaderModifier>,
    /// Changes headers of answers.
    pub response_header_modifier: Option<HeaderModifier>,
    /// Sends clients elsewhere.
    pub request_redirect: Option<Redirect>,
    /// Sends requests twice.
    pub request_mirror: Option<Present>,
    /// Changes what is asked for.
    #[serde(rename = "urlRewrite")]
    pub url_rewrite: Option<Present>,
    /// Something that somebody else knows.
    pub extension_ref: Option<Present>,
}

/// A field of which only counts that it is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Present;

impl<'de> Deserialize<'de> for Present {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Present, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Present)
    }
}

/// Changes headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HeaderModifier {
    /// Written over.
    #[serde(deserialize_with = "nullable")]
    pub set: Vec<Header>,
    /// Added.
    #[serde(deserialize_with = "nullable")]
    pub add: Vec<Header>,
    /// Taken away.
    #[serde(deserialize_with = "nullable")]
    pub remove: Vec<String>,
}

/// A header.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Header {
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its value.
    #[serde(deserialize_with = "nullable")]
    pub value: String,
}

/// Sends clients elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Redirect {
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// The host.
    pub hostname: Option<String>,
    /// The path.
    pub path: Option<PathModifier>,
    /// The port.
    pub port: Option<i64>,
    /// The status that clients get.
    pub status_code: Option<i64>,
}

/// Another path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PathModifier {
    /// All of it.
    pub replace_full_path: Option<String>,
    /// What matched of it.
    pub replace_prefix_match: Option<String>,
}

/// Where requests go.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BackendRef {
    /// API group; `core` where nothing is said.
    pub group: Option<String>,
    /// Kind; `Service` where nothing is said.
    pub kind: Option<String>,
    /// Name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Namespace; the route's own where nothing is said.
    pub namespace: Option<String>,
    /// The port.
    pub port: Option<i64>,
    /// Its part of the requests; 1 where nothing is said.
    pub weight: Option<i64>,
    /// What is done to requests that go there.
    #[serde(deserialize_with = "nullable")]
    pub filters: Vec<RouteFilter>,
}

impl BackendRef {
    /// Whether it refers to a kind.
    pub fn is_a(&self, group: &str, kind: &str) -> bool {
        is_a(self.group.as_deref(), self.kind.as_deref().unwrap_or("Service"), group, kind)
    }
}

/// What controllers say of a route.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RouteStatus {
    /// For each parent.
    #[serde(deserialize_with = "nullable")]
    pub parents: Vec<ParentStatus>,
}

/// What a controller says of a route at one parent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParentStatus {
    /// The parent.
    #[serde(deserialize_with = "nullable")]
    pub parent_ref: ParentRef,
    /// Who says so.
    #[serde(deserialize_with = "nullable")]
    pub controller_name: String,
    /// `Accepted`, `ResolvedRefs`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

object!(Route);

macro_rules! routes {
    ($( $(#[$doc:meta])* $name:ident = $info:expr, )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}

        impl Listed for $name {
            type Object = Route;
            const KIND: Kind = Kind::$name;
            const INFO: KindInfo = $info;
        }
    )* };
}

const GATEWAY: &str = "gateway.networking.k8s.io";
const PASSES: &str = "{spec: route, status: route-status}";

routes! {
    /// Lists of `HTTPRoute` of the Gateway API.
    HTTPRoute = KindInfo { older: &["v1beta1"], passes: PASSES, ..KindInfo::namespaced(GATEWAY, "v1", "HTTPRoute", "httproutes") },
    /// Lists of `GRPCRoute` of the Gateway API.
    GRPCRoute = KindInfo { older: &["v1alpha2"], passes: "{spec: grpc-route, status: route-status}", ..KindInfo::namespaced(GATEWAY, "v1", "GRPCRoute", "grpcroutes") },
    /// Lists of `TLSRoute` of the Gateway API.
    TLSRoute = KindInfo {
        older: &["v1alpha3", "v1alpha2"],
        passes: PASSES,
        ..KindInfo::namespaced(GATEWAY, "v1", "TLSRoute", "tlsroutes")
    },
    /// Lists of `TCPRoute` of the Gateway API.
    TCPRoute = KindInfo { older: &["v1alpha2"], passes: PASSES, ..KindInfo::namespaced(GATEWAY, "v1", "TCPRoute", "tcproutes") },
    /// Lists of `HTTPRoute` in Linkerd's own group.
    LinkerdHTTPRoute = KindInfo {
        older: &["v1beta2", "v1beta1", "v1alpha1"],
        passes: PASSES,
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta3", "HTTPRoute", "httproutes")
    },
}
