//! ServiceProfiles: the older API for outbound routes of a Service or host.

use serde::Deserialize;

use super::meta::{Meta, nullable, scalar};
use super::{Kind, KindInfo, Listed, object};

/// A ServiceProfile. Its name is the fully qualified name of a Service, or a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ServiceProfile {
    /// Name, namespace.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: ServiceProfileSpec,
}

/// The spec; route conditions are not read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ServiceProfileSpec {
    #[serde(deserialize_with = "nullable")]
    pub routes: Vec<ProfileRoute>,
    /// Traffic overrides.
    #[serde(deserialize_with = "nullable")]
    pub dst_overrides: Vec<DstOverride>,
}

/// A route of a ServiceProfile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileRoute {
    /// Its name in metrics.
    #[serde(deserialize_with = "scalar")]
    pub name: String,
    /// Whether its requests may be retried.
    #[serde(deserialize_with = "nullable")]
    pub is_retryable: bool,
    /// Timeout of its requests, as written; empty without one.
    #[serde(deserialize_with = "scalar")]
    pub timeout: String,
}

/// Destination of a part of the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DstOverride {
    /// The host.
    #[serde(deserialize_with = "scalar")]
    pub authority: String,
}

impl Listed for ServiceProfile {
    type Object = ServiceProfile;
    const KIND: Kind = Kind::ServiceProfile;
    const INFO: KindInfo = KindInfo {
        aliases: &["sp"],
        passes: "{spec: {routes: {name: name, timeout: word}, dstOverrides: {authority: text, weight: word}, \
                 retryBudget: {ttl: word}}}",
        ..KindInfo::namespaced("linkerd.io", "v1alpha2", "ServiceProfile", "serviceprofiles")
    };
}

object!(ServiceProfile);
