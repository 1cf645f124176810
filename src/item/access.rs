//! What the operator may do: a question that the API server answers by a SelfSubjectAccessReview, which changes nothing.

use std::fmt;
use std::str::FromStr;

use super::{Scope, UnknownKind};
use crate::command::{Call, kubectl};

/// Whether the operator may do something to a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// `create`, `get`: a verb of RBAC rules.
    pub verb: String,
    /// The resource as kubectl writes it: `secrets`, `deployments.apps`.
    pub resource: String,
    /// The namespace it is asked for; [`Scope::Cluster`] for resources that live in none.
    pub scope: Scope,
}

impl Access {
    /// A question about a resource.
    pub fn new(verb: &str, resource: &str, scope: Scope) -> Access {
        Access { verb: verb.to_owned(), resource: resource.to_owned(), scope }
    }

    /// The resource's name in URLs, and its API group, empty for core.
    pub fn plural_and_group(&self) -> (&str, &str) {
        self.resource.split_once('.').unwrap_or((&self.resource, ""))
    }

    /// The command by which kubectl asks the same: `kubectl auth can-i create secrets -n linkerd`.
    pub fn command(&self, namespace: Option<&str>) -> Call {
        kubectl()
            .words("auth can-i")
            .operand(&self.verb)
            .operand(&self.resource)
            .namespace(namespace.unwrap_or_default())
    }

    /// The review to send; `namespace` is what the scope stands for.
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
    /// As cards write it behind `access/`: `create/secrets/control-plane`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.verb, self.resource)?;
        match &self.scope {
            Scope::Cluster => Ok(()),
            scope => write!(f, "/{}", scope.word()),
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
