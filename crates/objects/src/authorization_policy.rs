//! AuthorizationPolicies: clients that may connect to a Server, a route or all Servers of a namespace.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::target::TargetRef;
use super::{Kind, KindInfo, Listed, object};

/// An AuthorizationPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AuthorizationPolicy {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: AuthorizationPolicySpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthorizationPolicySpec {
    /// Its target, in its own namespace.
    #[serde(deserialize_with = "nullable")]
    pub target_ref: TargetRef,
    /// Required authentications, all of them; none if empty.
    #[serde(deserialize_with = "nullable")]
    pub required_authentication_refs: Vec<TargetRef>,
}

impl Listed for AuthorizationPolicy {
    type Object = AuthorizationPolicy;
    const KIND: Kind = Kind::AuthorizationPolicy;
    const INFO: KindInfo = KindInfo {
        aliases: &["authzpolicy"],
        passes: "{spec: {targetRef: reference, requiredAuthenticationRefs: reference}, status: {conditions: \
                 conditions}}",
        ..KindInfo::namespaced("policy.linkerd.io", "v1alpha1", "AuthorizationPolicy", "authorizationpolicies")
    };
}

object!(AuthorizationPolicy);
