//! Permissions of the operator, from a SelfSubjectAccessReview, which changes nothing.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::query::Query;
use super::{Scope, UnknownKind};
use crate::command::{Call, kubectl};
use crate::fetched::Why;
use crate::gap_remediation::GapRemediation;
use crate::objects::meta::nullable;
use crate::objects::{Object, Store};

/// Whether the operator may perform a verb on a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// `create`, `get`: a verb of RBAC rules.
    pub verb: String,
    /// Resource as in kubectl: `secrets`, `deployments.apps`.
    pub resource: String,
    /// Namespace of the request; [`Scope::Cluster`] for cluster-scoped resources.
    pub scope: Scope,
}

impl Access {
    /// A request for a resource.
    pub fn new(verb: &str, resource: &str, scope: Scope) -> Access {
        Access { verb: verb.to_owned(), resource: resource.to_owned(), scope }
    }

    /// The resource's name in URLs, and its API group, empty for core.
    pub fn plural_and_group(&self) -> (&str, &str) {
        self.resource.split_once('.').unwrap_or((&self.resource, ""))
    }

    /// The corresponding kubectl command: `kubectl auth can-i create secrets -n linkerd`.
    pub fn command(&self, namespace: Option<&str>) -> Call {
        kubectl()
            .words("auth can-i")
            .operand(&self.verb)
            .operand(&self.resource)
            .namespace(namespace.unwrap_or_default())
    }

    /// The review to send; `namespace` is that of the scope.
    pub fn review(&self, namespace: Option<&str>) -> serde_json::Value {
        let (plural, group) = self.plural_and_group();
        let mut attributes = serde_json::json!({ "verb": self.verb, "group": group, "resource": plural });
        if let Some(namespace) = namespace {
            attributes["namespace"] = namespace.into();
        }
        serde_json::json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": attributes },
        })
    }
}

impl fmt::Display for Access {
    /// Name in cards after `access/`: `create/secrets/control-plane`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.verb, self.resource)?;
        match &self.scope {
            Scope::Cluster => Ok(()),
            scope => write!(f, "/{}", scope.label()),
        }
    }
}

impl FromStr for Access {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Access, UnknownKind> {
        let mut parts = text.splitn(3, '/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(verb), Some(resource), scope) if !verb.is_empty() && !resource.is_empty() => {
                Ok(Access::new(verb, resource, scope.map_or(Scope::Cluster, Scope::of_word)))
            }
            _ => Err(UnknownKind(text.to_owned())),
        }
    }
}

/// A review with its result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AccessReview {
    /// The request.
    pub spec: ReviewSpec,
    /// The result; `None` if it is missing.
    pub status: Option<ReviewStatus>,
}

/// The request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewSpec {
    /// The verb and resource.
    #[serde(deserialize_with = "nullable")]
    pub resource_attributes: ResourceAttributes,
}

/// The verb and resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceAttributes {
    /// Empty for cluster-scoped resources.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    /// Plural name of the resource.
    #[serde(deserialize_with = "nullable")]
    pub resource: String,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewStatus {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Reason, if the authorizer gives one.
    #[serde(default, deserialize_with = "nullable")]
    pub reason: String,
    /// Error during evaluation, such as a binding of a missing role.
    #[serde(default, deserialize_with = "nullable")]
    pub evaluation_error: String,
}

impl Object for AccessReview {
    /// A review has no name.
    fn key(&self) -> (&str, &str) {
        let asked = &self.spec.resource_attributes;
        (&asked.namespace, &asked.resource)
    }

    fn refused(&self) -> Option<String> {
        None
    }
}

impl Query for Access {
    fn answers(&self) -> &'static str {
        "SelfSubjectAccessReview"
    }

    fn passes(&self) -> &'static str {
        "{spec: {resourceAttributes: {namespace: object, group: word, resource: word, subresource: word, verb: word, \
         version: word}}, status: {reason: sentence, evaluationError: sentence}}"
    }

    fn store(&self) -> Option<Box<dyn Store>> {
        Some(Box::new(Vec::<AccessReview>::new()))
    }

    fn describe(&self, namespace: Option<&str>) -> String {
        let place = namespace.map(|namespace| format!(" in {namespace}")).unwrap_or_default();
        format!("permission to {} {}{place}", self.verb, self.resource)
    }

    fn is_one_of_many(&self) -> bool {
        true
    }

    fn documented(&self) -> String {
        let place = match &self.scope {
            Scope::ControlPlane => " in the control plane's namespace",
            Scope::Cni => " in linkerd-cni's namespace",
            Scope::Extension(_) | Scope::Links | Scope::IngressControllers | Scope::Fixed(_) | Scope::Cluster => "",
        };
        format!(
            "whether you may {} {}{place} (an access review, which every user may request)",
            self.verb, self.resource
        )
    }

    fn right(&self) -> String {
        "create on selfsubjectaccessreviews.authorization.k8s.io (the role system:basic-user, which every user has)"
            .to_owned()
    }

    fn close(&self, why: &Why, namespace: Option<&str>) -> Option<GapRemediation> {
        matches!(why, Why::NotCaptured | Why::NotOffered).then(|| {
            GapRemediation::run(
                format!(
                    "check the live cluster, or save the result in a bundle with {}",
                    crate::command::own("collect --pre")
                ),
                self.command(namespace),
            )
        })
    }

    fn bundle_path(&self) -> Option<(String, String)> {
        let folder = "cluster/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned();
        Some((folder, format!("{}.{}", self.verb, self.resource)))
    }

    /// Listed objects do not show permissions.
    fn absent(&self) -> Why {
        Why::NotCaptured
    }
}
