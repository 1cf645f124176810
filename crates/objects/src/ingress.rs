//! Ingresses: paths from outside the cluster to Services.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Ingress {
    /// Name, namespace, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: IngressSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IngressSpec {
    /// Its class; empty if set by an annotation or by default.
    #[serde(deserialize_with = "nullable")]
    pub ingress_class_name: String,
    pub default_backend: Option<IngressBackend>,
    /// Rules, one per host.
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<IngressRule>,
}

/// Rules for a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressRule {
    /// The host; empty for any.
    #[serde(deserialize_with = "nullable")]
    pub host: String,
    /// Its paths.
    #[serde(deserialize_with = "nullable")]
    pub http: IngressPaths,
}

/// The paths of a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPaths {
    /// All of them.
    #[serde(deserialize_with = "nullable")]
    pub paths: Vec<IngressPath>,
}

/// A path and its backend.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPath {
    /// Path or prefix; empty matches everything.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
    #[serde(deserialize_with = "nullable")]
    pub backend: IngressBackend,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressBackend {
    /// A Service; `None` for backends of another kind.
    pub service: Option<IngressService>,
}

/// A Service and one of its ports.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressService {
    /// Its name, in the namespace of the Ingress.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    #[serde(deserialize_with = "nullable")]
    pub port: IngressPort,
}

/// A port of a Service, by name or number.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPort {
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    pub number: Option<u16>,
}

impl Ingress {
    /// The hosts of the rules with a path to a Service; empty for any host.
    pub fn hosts_of(&self, service: &str) -> impl Iterator<Item = &str> {
        let leads = move |rule: &&IngressRule| {
            let mut services = rule.http.paths.iter().filter_map(|path| path.backend.service.as_ref());
            services.any(|one| one.name == service)
        };
        self.spec.rules.iter().filter(leads).map(|rule| rule.host.as_str())
    }

    /// Every path with its Service; the default backend has `/`.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &IngressService)> {
        let rules = self.spec.rules.iter().flat_map(|rule| &rule.http.paths);
        let of_rules = rules.filter_map(|one| {
            let path = if one.path.is_empty() { "/" } else { one.path.as_str() };
            Some((path, one.backend.service.as_ref()?))
        });
        let rest = self.spec.default_backend.iter().filter_map(|backend| Some(("/", backend.service.as_ref()?)));
        of_rules.chain(rest)
    }
}

impl Listed for Ingress {
    type Object = Ingress;
    const KIND: Kind = Kind::Ingress;
    const INFO: KindInfo = KindInfo {
        aliases: &["ing"],
        passes: "{spec: {ingressClassName: object, defaultBackend: {service: {name: object, port: {name: \
                 object}}}, rules: {host: object, http: {paths: {path: text, pathType: word, backend: {service: \
                 {name: object, port: {name: object}}}}}}}}",
        ..KindInfo::namespaced("networking.k8s.io", "v1", "Ingress", "ingresses")
    };
}

object!(Ingress);
