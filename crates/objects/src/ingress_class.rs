//! IngressClasses: controllers by class.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::route::Present;
use super::{Kind, KindInfo, Listed, object};

/// Annotation of the default class.
pub const DEFAULT_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

/// An IngressClass.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct IngressClass {
    /// Name, annotations.
    pub metadata: Meta,
    /// The Service that serves it.
    #[serde(deserialize_with = "nullable")]
    pub spec: IngressClassSpec,
}

/// Controller of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct IngressClassSpec {
    /// The controller's name: `k8s.io/ingress-nginx`.
    #[serde(deserialize_with = "nullable")]
    pub controller: String,
    /// An object with settings of the controller; its presence is recorded.
    pub parameters: Option<Present>,
}

impl IngressClass {
    /// Whether it is the default class.
    pub fn is_default(&self) -> bool {
        self.metadata.annotation(DEFAULT_CLASS) == Some("true")
    }
}

impl Listed for IngressClass {
    type Object = IngressClass;
    const KIND: Kind = Kind::IngressClass;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {controller: object}}",
        ..KindInfo::of_cluster("networking.k8s.io", "v1", "IngressClass", "ingressclasses")
    };
}

object!(IngressClass);
