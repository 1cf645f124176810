//! Objects of which only the name counts.

use serde::Deserialize;

use super::meta::Meta;
use super::{Kind, KindInfo, Listed, object};

/// An object of which only name, labels and annotations are read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Named {
    /// Name, labels, annotations.
    pub metadata: Meta,
}

object!(Named);

/// Lists of `AuthorizationPolicy`.
#[derive(Debug, Clone, Copy)]
pub enum AuthorizationPolicy {}

impl Listed for AuthorizationPolicy {
    type Object = Named;
    const KIND: Kind = Kind::AuthorizationPolicy;
    const INFO: KindInfo = KindInfo {
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
