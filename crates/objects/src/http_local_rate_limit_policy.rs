//! HTTPLocalRateLimitPolicies: request limits of a Server.

use serde::Deserialize;

use super::condition::Condition;
use super::meta::{Meta, nullable};
use super::target::TargetRef;
use super::{Kind, KindInfo, Listed, object};

/// An HTTPLocalRateLimitPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HTTPLocalRateLimitPolicy {
    /// Name, namespace, creation.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: HTTPLocalRateLimitPolicySpec,
    /// The status by the policy controller.
    #[serde(deserialize_with = "nullable")]
    pub status: HTTPLocalRateLimitPolicyStatus,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HTTPLocalRateLimitPolicySpec {
    /// The Server.
    #[serde(deserialize_with = "nullable")]
    pub target_ref: TargetRef,
    /// For all clients together.
    pub total: Option<Limit>,
    /// For each client without an override.
    pub identity: Option<Limit>,
    /// Overrides for named clients.
    #[serde(deserialize_with = "nullable")]
    pub overrides: Vec<Override>,
}

/// Requests per second.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limit {
    /// Number.
    #[serde(deserialize_with = "nullable")]
    pub requests_per_second: i64,
}

/// A limit for named clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Override {
    /// Limit per client.
    #[serde(deserialize_with = "nullable")]
    pub requests_per_second: i64,
    /// Their service accounts.
    #[serde(deserialize_with = "nullable")]
    pub client_refs: Vec<TargetRef>,
}

/// The status by the policy controller.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HTTPLocalRateLimitPolicyStatus {
    /// `Accepted`.
    #[serde(deserialize_with = "nullable")]
    pub conditions: Vec<Condition>,
}

impl Listed for HTTPLocalRateLimitPolicy {
    type Object = HTTPLocalRateLimitPolicy;
    const KIND: Kind = Kind::HTTPLocalRateLimitPolicy;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {targetRef: reference, overrides: {clientRefs: reference}}, status: {conditions: conditions, \
                 targetRef: reference}}",
        ..KindInfo::namespaced(
            "policy.linkerd.io",
            "v1alpha1",
            "HTTPLocalRateLimitPolicy",
            "httplocalratelimitpolicies",
        )
    };
}

object!(HTTPLocalRateLimitPolicy);
