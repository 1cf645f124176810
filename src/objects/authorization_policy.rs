//! AuthorizationPolicies: who is let in by a Server, a route or the Servers of a namespace.

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
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: AuthorizationPolicySpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthorizationPolicySpec {
    /// What it holds for, in its own namespace.
    #[serde(deserialize_with = "nullable")]
    pub target_ref: TargetRef,
    /// What clients must show, all of it; nothing where nothing is listed.
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
        ..KindInfo::namespaced(
            "policy.linkerd.io",
            "v1alpha1",
            "AuthorizationPolicy",
            "authorizationpolicies",
        )
    };
}

object!(AuthorizationPolicy);
