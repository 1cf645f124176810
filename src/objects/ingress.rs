//! Ingresses: which paths from outside go to which Services, and by whom.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};

/// An Ingress.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Ingress {
    /// Name, namespace, labels.
    pub metadata: Meta,
    /// What was asked for.
    #[serde(deserialize_with = "nullable")]
    pub spec: IngressSpec,
}

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IngressSpec {
    /// Who serves it; empty where an annotation or the default class says so.
    #[serde(deserialize_with = "nullable")]
    pub ingress_class_name: String,
    /// Where what no rule takes goes.
    pub default_backend: Option<IngressBackend>,
    /// Rules, one for a host.
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<IngressRule>,
}

/// What holds for a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressRule {
    /// Its paths.
    #[serde(deserialize_with = "nullable")]
    pub http: IngressPaths,
}

/// The paths of a host.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPaths {
    /// Each of them.
    #[serde(deserialize_with = "nullable")]
    pub paths: Vec<IngressPath>,
}

/// A path and where it goes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPath {
    /// What it is, or begins with; empty means everything.
    #[serde(deserialize_with = "nullable")]
    pub path: String,
    /// Where it goes.
    #[serde(deserialize_with = "nullable")]
    pub backend: IngressBackend,
}

/// Where something goes.
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
    /// Its port.
    #[serde(deserialize_with = "nullable")]
    pub port: IngressPort,
}

/// A port of a Service, by one of both.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressPort {
    /// Its name.
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Its number.
    pub number: Option<u16>,
}

impl Ingress {
    /// Every path with the Service that it goes to; that of no rule is `/`.
    pub fn paths(&self) -> impl Iterator<Item = (&str, &IngressService)> {
        let rules = self.spec.rules.iter().flat_map(|rule| &rule.http.paths);
        let of_rules = rules.filter_map(|one| {
            let path = if one.path.is_empty() { "/" } else { one.path.as_str() };
            Some((path, one.backend.service.as_ref()?))
        });
        let rest =
            self.spec.default_backend.iter().filter_map(|backend| Some(("/", backend.service.as_ref()?)));
        of_rules.chain(rest)
    }
}

impl Listed for Ingress {
    type Object = Ingress;
    const KIND: Kind = Kind::Ingress;
    const INFO: KindInfo = KindInfo {
        aliases: &["ing"],
        passes: "{spec: {ingressClassName: text, defaultBackend: {service: {name: text, port: {name: text}}}, \
                 rules: {http: {paths: {path: text, pathType: word, backend: {service: {name: text, port: {name: text}}}}}}}}",
        ..KindInfo::namespaced("networking.k8s.io", "v1", "Ingress", "ingresses")
    };
}

object!(Ingress);
