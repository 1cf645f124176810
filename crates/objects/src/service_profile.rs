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

/// The spec.
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
    /// The requests that it matches.
    #[serde(deserialize_with = "nullable")]
    pub condition: ProfileMatch,
}

/// A condition of a route.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProfileMatch {
    /// The regular expression for the path; empty without one.
    #[serde(deserialize_with = "scalar")]
    pub path_regex: String,
    /// Conditions that must all match.
    #[serde(deserialize_with = "nullable")]
    pub all: Vec<ProfileMatch>,
    /// Conditions; at least one must match.
    #[serde(deserialize_with = "nullable")]
    pub any: Vec<ProfileMatch>,
    /// A condition that must not match.
    pub not: Option<Box<ProfileMatch>>,
}

impl ProfileMatch {
    /// The regular expressions in it and in nested conditions, each with its path from `path`.
    pub fn patterns(&self, path: &str) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        if !self.path_regex.is_empty() {
            found.push((format!("{path}.pathRegex"), self.path_regex.as_str()));
        }
        for (name, list) in [("all", &self.all), ("any", &self.any)] {
            let nested = list.iter().enumerate();
            found.extend(nested.flat_map(|(at, one)| one.patterns(&format!("{path}.{name}[{at}]"))));
        }
        found.extend(self.not.iter().flat_map(|one| one.patterns(&format!("{path}.not"))));
        found
    }
}

/// Destination of a part of the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DstOverride {
    /// The host.
    #[serde(deserialize_with = "scalar")]
    pub authority: String,
    /// Its share relative to the others, as a quantity.
    #[serde(deserialize_with = "scalar")]
    pub weight: String,
}

impl DstOverride {
    /// Namespace, name and port of the Service that it names by its full name in a domain.
    pub fn service(&self, domain: &str) -> Option<(&str, &str, u16)> {
        let (host, port) = match self.authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (self.authority.as_str(), 80),
        };
        let rest = host.trim_end_matches('.').strip_suffix(domain)?.strip_suffix(".svc.")?;
        let (service, namespace) = rest.split_once('.')?;
        (!namespace.contains('.')).then_some((namespace, service, port))
    }

    /// Whether it gets a share of the requests.
    pub fn has_share(&self) -> bool {
        !self.weight.is_empty() && self.weight.chars().any(|one| matches!(one, '1'..='9'))
    }
}

impl ServiceProfile {
    /// Namespace and name of the Service that it is named after, and the domain.
    pub fn service(&self) -> Option<(&str, &str, &str)> {
        let (rest, domain) = self.metadata.name.split_once(".svc.")?;
        let (service, namespace) = rest.split_once('.')?;
        (!namespace.contains('.')).then_some((namespace, service, domain))
    }
}

impl Listed for ServiceProfile {
    type Object = ServiceProfile;
    const KIND: Kind = Kind::ServiceProfile;
    const INFO: KindInfo = KindInfo {
        aliases: &["sp"],
        passes: "{spec: {routes: {name: name, timeout: word, condition: profile-match}, \
                 dstOverrides: {authority: object, weight: word}, retryBudget: {ttl: word}}}",
        ..KindInfo::namespaced("linkerd.io", "v1alpha2", "ServiceProfile", "serviceprofiles")
    };
}

object!(ServiceProfile);
