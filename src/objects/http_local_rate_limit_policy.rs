//! HTTPLocalRateLimitPolicies: how many requests a Server takes.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: HTTPLocalRateLimitPolicySpec,
    /// What the policy controller says of it.
    #[serde(deserialize_with = "nullable")]
    pub status: HTTPLocalRateLimitPolicyStatus,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HTTPLocalRateLimitPolicySpec {
    /// The Server.
    #[serde(deserialize_with = "nullable")]
    pub target_ref: TargetRef,
    /// For all clients together.
    pub total: Option<Limit>,
    /// For each client that is not named.
    pub identity: Option<Limit>,
    /// For clients that are named.
    #[serde(deserialize_with = "nullable")]
    pub overrides: Vec<Override>,
}

/// Requests in a second.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Limit {
    /// How many.
    #[serde(deserialize_with = "nullable")]
    pub requests_per_second: i64,
}

/// A limit for clients that are named.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Override {
    /// How many, for each.
    #[serde(deserialize_with = "nullable")]
    pub requests_per_second: i64,
    /// Their service accounts.
    #[serde(deserialize_with = "nullable")]
    pub client_refs: Vec<TargetRef>,
}

/// What the policy controller says of it.
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
