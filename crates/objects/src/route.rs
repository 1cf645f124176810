//! Routes: HTTP in two groups, gRPC, TLS and TCP. They share one slim type; fields that a kind does not have are empty.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::target::is_a;
use super::{Kind, KindInfo, Listed, object};
use crate::redact;

/// Controller name of Linkerd's policy controller in statuses.
pub const POLICY_CONTROLLER: &str = "linkerd.io/policy-controller";

/// A route of any kind.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Route {
    /// Name, namespace, creation.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: RouteSpec,
    /// The status by controllers.
    #[serde(deserialize_with = "nullable")]
    pub status: RouteStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteSpec {
    #[serde(deserialize_with = "nullable")]
    pub parent_refs: Vec<ParentRef>,
    /// Host names; by default all.
    #[serde(deserialize_with = "nullable")]
    pub hostnames: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<RouteRule>,
}

/// A parent of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParentRef {
    /// API group.
    pub group: Option<String>,
    pub kind: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Namespace; by default the route's own.
    pub namespace: Option<String>,
    pub port: Option<i64>,
    /// A part of it.
    pub section_name: Option<String>,
}

impl ParentRef {
    /// Whether it refers to a kind. A reference without a kind refers to none of Linkerd's.
    pub fn is_a(&self, group: &str, kind: &str) -> bool {
        self.kind.as_deref().is_some_and(|said| is_a(self.group.as_deref(), said, group, kind))
    }
}

/// One rule of a route.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteRule {
    /// Conditions: requests that match one of these.
    #[serde(deserialize_with = "nullable")]
    pub matches: Vec<RouteMatch>,
    #[serde(deserialize_with = "nullable")]
    pub filters: Vec<RouteFilter>,
    #[serde(deserialize_with = "nullable")]
    pub backend_refs: Vec<BackendRef>,
    pub timeouts: Option<RuleTimeouts>,
}

impl Route {
    /// Whether one of its rules matches every request. One without rules gets such a rule from the API server.
    pub fn matches_everything(&self) -> bool {
        let rules = &self.spec.rules;
        self.spec.hostnames.is_empty() && (rules.is_empty() || rules.iter().any(RouteRule::matches_everything))
    }
}

impl RouteRule {
    /// Whether it matches every request, of any host name.
    pub fn matches_everything(&self) -> bool {
        self.matches.is_empty() || self.matches.iter().any(RouteMatch::is_any)
    }
}

/// Regular expressions for every path, which always begins with a slash.
const ANY_PATH: [&str; 7] = [".*", "/.*", "^.*", "^/.*", "^.*$", "^/.*$", ".+"];

impl RouteMatch {
    /// Whether every request fulfills it.
    fn is_any(&self) -> bool {
        let path = self.path.as_ref().is_none_or(|path| match path.kind.as_deref() {
            Some("Exact") => false,
            Some("RegularExpression") => path.value.as_deref().is_some_and(|value| ANY_PATH.contains(&value)),
            _ => path.value.as_deref().is_none_or(|value| value == "/"),
        });
        let method = match &self.method {
            None => true,
            Some(MethodMatch::Http(_)) => false,
            Some(MethodMatch::Grpc { service, method, .. }) => service.is_none() && method.is_none(),
        };
        path && method && self.headers.is_empty() && self.query_params.is_empty()
    }
}

/// Timeouts of a rule, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleTimeouts {
    /// Total time from request to response.
    pub request: Option<String>,
}

/// A condition for requests.
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

/// A text or pattern to match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "WrittenMatch")]
pub struct ValueMatch {
    /// `Exact`, `PathPrefix` or `RegularExpression`.
    pub kind: Option<String>,
    /// Name of the header or parameter.
    pub name: String,
    /// The text or the pattern; replaced if the name announces a secret.
    pub value: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenMatch {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(deserialize_with = "nullable")]
    name: String,
    value: Option<String>,
}

impl From<WrittenMatch> for ValueMatch {
    fn from(written: WrittenMatch) -> ValueMatch {
        let WrittenMatch { kind, name, value } = written;
        let value = value.map(|value| redact::matched_value(&name, &value).into_owned());
        ValueMatch { kind, name, value }
    }
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
        /// The service; by default any.
        service: Option<String>,
        /// The method; by default any.
        method: Option<String>,
    },
}

/// A filter for requests or responses: one of these, by type.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RouteFilter {
    /// `RequestHeaderModifier`, ...
    #[serde(rename = "type", deserialize_with = "nullable")]
    pub kind: String,
    /// Changes headers of requests.
    pub request_header_modifier: Option<HeaderModifier>,
    /// Changes headers of responses.
    pub response_header_modifier: Option<HeaderModifier>,
    /// Redirects clients.
    pub request_redirect: Option<Redirect>,
    pub request_mirror: Option<Present>,
    #[serde(rename = "urlRewrite")]
    pub url_rewrite: Option<Present>,
    /// A filter of an extension.
    pub extension_ref: Option<Present>,
}

/// A field whose presence is recorded.
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
    /// Headers to set.
    #[serde(deserialize_with = "nullable")]
    pub set: Vec<Header>,
    /// Headers to add.
    #[serde(deserialize_with = "nullable")]
    pub add: Vec<Header>,
    /// Headers to remove.
    #[serde(deserialize_with = "nullable")]
    pub remove: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Header {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub value: String,
}

/// Redirects clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Redirect {
    /// `http` or `https`.
    pub scheme: Option<String>,
    /// The host.
    pub hostname: Option<String>,
    pub path: Option<PathModifier>,
    pub port: Option<i64>,
    /// HTTP status of the redirect.
    pub status_code: Option<i64>,
}

/// A new path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PathModifier {
    pub replace_full_path: Option<String>,
    /// The matched prefix.
    pub replace_prefix_match: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct BackendRef {
    /// API group; by default `core`.
    pub group: Option<String>,
    /// Kind; by default `Service`.
    pub kind: Option<String>,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Namespace; by default the route's own.
    pub namespace: Option<String>,
    pub port: Option<i64>,
    /// Its weight; by default 1.
    pub weight: Option<i64>,
    /// Filters for this backend.
    #[serde(deserialize_with = "nullable")]
    pub filters: Vec<RouteFilter>,
}

impl BackendRef {
    /// Whether it refers to a kind.
    pub fn is_a(&self, group: &str, kind: &str) -> bool {
        is_a(self.group.as_deref(), self.kind.as_deref().unwrap_or("Service"), group, kind)
    }
}

/// The status of a route.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RouteStatus {
    /// By parent.
    #[serde(deserialize_with = "nullable")]
    pub parents: Vec<ParentStatus>,
}

/// The status of a route at one parent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ParentStatus {
    #[serde(deserialize_with = "nullable")]
    pub parent_ref: ParentRef,
    /// The controller's name.
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
    HTTPRoute = KindInfo {
        older: &["v1beta1"],
        passes: PASSES,
        ..KindInfo::namespaced(GATEWAY, "v1", "HTTPRoute", "httproutes")
    },
    /// Lists of `GRPCRoute` of the Gateway API.
    GRPCRoute = KindInfo {
        older: &["v1alpha2"],
        passes: "{spec: grpc-route, status: route-status}",
        ..KindInfo::namespaced(GATEWAY, "v1", "GRPCRoute", "grpcroutes")
    },
    /// Lists of `TLSRoute` of the Gateway API.
    TLSRoute = KindInfo {
        older: &["v1alpha3", "v1alpha2"],
        passes: PASSES,
        ..KindInfo::namespaced(GATEWAY, "v1", "TLSRoute", "tlsroutes")
    },
    /// Lists of `TCPRoute` of the Gateway API.
    TCPRoute = KindInfo {
        older: &["v1alpha2"],
        passes: PASSES,
        ..KindInfo::namespaced(GATEWAY, "v1", "TCPRoute", "tcproutes")
    },
    /// Lists of `HTTPRoute` in Linkerd's own group.
    LinkerdHTTPRoute = KindInfo {
        older: &["v1beta2", "v1beta1", "v1alpha1"],
        passes: PASSES,
        ..KindInfo::namespaced("policy.linkerd.io", "v1beta3", "HTTPRoute", "httproutes")
    },
}
