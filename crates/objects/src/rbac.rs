//! Roles and their bindings.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::{Kind, KindInfo, Listed, object};
use crate::names::NameRule;

/// A Role or ClusterRole. The API server fills in the rules of an aggregated ClusterRole.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AnyRole {
    /// Name, labels, the namespace of a Role.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub rules: Vec<PolicyRule>,
}

/// One rule of a role.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyRule {
    /// API groups; the empty text is core, `*` matches all.
    #[serde(deserialize_with = "nullable")]
    pub api_groups: Vec<String>,
    /// Resources; `*` matches all.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<String>,
    /// If not empty, only objects with these names.
    #[serde(deserialize_with = "nullable")]
    pub resource_names: Vec<String>,
    /// Verbs; `*` matches all.
    #[serde(deserialize_with = "nullable")]
    pub verbs: Vec<String>,
}

impl PolicyRule {
    /// Whether it allows a verb for objects of any name.
    pub fn allows(&self, group: &str, resource: &str, verb: &str) -> bool {
        self.resource_names.is_empty() && self.is_about(group, resource, verb)
    }

    /// Whether it allows a verb for an object by name.
    pub fn allows_one(&self, group: &str, resource: &str, verb: &str, name: &str) -> bool {
        let named = self.resource_names.is_empty() || self.resource_names.iter().any(|one| one == name);
        named && self.is_about(group, resource, verb)
    }

    fn is_about(&self, group: &str, resource: &str, verb: &str) -> bool {
        let has = |list: &[String], wanted: &str| list.iter().any(|one| one == "*" || one == wanted);
        has(&self.api_groups, group) && has(&self.resources, resource) && has(&self.verbs, verb)
    }
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnyBinding {
    /// Name, labels, the namespace of a RoleBinding.
    pub metadata: Meta,
    /// The bound role.
    #[serde(deserialize_with = "nullable")]
    pub role_ref: RoleRef,
    /// Destination or subjects.
    #[serde(deserialize_with = "nullable")]
    pub subjects: Vec<RoleSubject>,
}

/// The role of a binding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RoleRef {
    /// ClusterRole or Role; always ClusterRole for a ClusterRoleBinding.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
}

/// A subject of a binding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct RoleSubject {
    /// ServiceAccount, User or Group.
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    /// The namespace of a ServiceAccount.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
}

impl RoleSubject {
    /// Whether it includes a service account, by name or by one of its built-in groups.
    pub fn covers(&self, namespace: &str, account: &str) -> bool {
        match self.kind.as_str() {
            "ServiceAccount" => self.namespace == namespace && self.name == account,
            "User" => self.name == format!("system:serviceaccount:{namespace}:{account}"),
            "Group" => {
                matches!(self.name.as_str(), "system:authenticated" | "system:serviceaccounts")
                    || self.name.strip_prefix("system:serviceaccounts:") == Some(namespace)
            }
            _ => false,
        }
    }
}

/// Whether a service account has a permission in every namespace.
pub fn may(
    (roles, bindings): (&[AnyRole], &[AnyBinding]),
    (namespace, account): (&str, &str),
    (group, resource, verb): (&str, &str, &str),
) -> bool {
    rules_everywhere((roles, bindings), (namespace, account)).into_iter().any(|rule| rule.allows(group, resource, verb))
}

/// The rules of a service account by ClusterRoleBindings, which apply to every namespace.
pub fn rules_everywhere<'a>(
    (roles, bindings): (&'a [AnyRole], &'a [AnyBinding]),
    (namespace, account): (&str, &str),
) -> Vec<&'a PolicyRule> {
    let bound = bindings.iter().filter(|b| b.subjects.iter().any(|s| s.covers(namespace, account)));
    bound
        .filter_map(|binding| roles.iter().find(|role| role.metadata.name == binding.role_ref.name))
        .flat_map(|role| &role.rules)
        .collect()
}

/// The rules of a service account by RoleBindings in a namespace.
pub fn rules_in<'a>(
    home: &str,
    (roles, bindings): (&'a [AnyRole], &'a [AnyBinding]),
    cluster_roles: &'a [AnyRole],
    (namespace, account): (&str, &str),
) -> Vec<&'a PolicyRule> {
    let here = |meta: &Meta| meta.namespace == home;
    let bound = bindings.iter().filter(|binding| {
        here(&binding.metadata) && binding.subjects.iter().any(|subject| subject.covers(namespace, account))
    });
    let of = |role: &RoleRef| -> Option<&'a Vec<PolicyRule>> {
        match role.kind.as_str() {
            "Role" => roles
                .iter()
                .find(|known| here(&known.metadata) && known.metadata.name == role.name)
                .map(|known| &known.rules),
            _ => cluster_roles.iter().find(|known| known.metadata.name == role.name).map(|known| &known.rules),
        }
    };
    bound.filter_map(|binding| of(&binding.role_ref)).flatten().collect()
}

object!(AnyRole, NameRule::Segment);
object!(AnyBinding, NameRule::Segment);

/// Redaction rules for roles.
const ROLE: &str = "{rules: policy-rules}";

/// Redaction rules for bindings.
const BINDING: &str = "{roleRef: reference, subjects: reference}";

/// Lists of `Role`.
#[derive(Debug, Clone, Copy)]
pub enum Role {}

impl Listed for Role {
    type Object = AnyRole;
    const KIND: Kind = Kind::Role;
    const INFO: KindInfo =
        KindInfo { passes: ROLE, ..KindInfo::namespaced("rbac.authorization.k8s.io", "v1", "Role", "roles") };
}

/// Lists of `RoleBinding`.
#[derive(Debug, Clone, Copy)]
pub enum RoleBinding {}

impl Listed for RoleBinding {
    type Object = AnyBinding;
    const KIND: Kind = Kind::RoleBinding;
    const INFO: KindInfo = KindInfo {
        passes: BINDING,
        ..KindInfo::namespaced("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings")
    };
}

/// Lists of `ClusterRole`.
#[derive(Debug, Clone, Copy)]
pub enum ClusterRole {}

impl Listed for ClusterRole {
    type Object = AnyRole;
    const KIND: Kind = Kind::ClusterRole;
    const INFO: KindInfo = KindInfo {
        passes: ROLE,
        ..KindInfo::of_cluster("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles")
    };
}

/// Lists of `ClusterRoleBinding`.
#[derive(Debug, Clone, Copy)]
pub enum ClusterRoleBinding {}

impl Listed for ClusterRoleBinding {
    type Object = AnyBinding;
    const KIND: Kind = Kind::ClusterRoleBinding;
    const INFO: KindInfo = KindInfo {
        passes: BINDING,
        ..KindInfo::of_cluster("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rbac_rules_match_names_groups_and_wildcards() {
        let rule = |json: serde_json::Value| serde_json::from_value::<PolicyRule>(json).expect("a rule");
        let any = rule(serde_json::json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}));
        let one = rule(serde_json::json!({
            "apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["x"],
        }));
        assert!(any.allows("", "pods", "get") && !one.allows("", "pods", "get"));
        let allows = |name: &str| one.allows_one("", "pods", "get", name);
        assert!(allows("x") && !allows("y") && any.allows_one("", "pods", "get", "y"));
        let to = |kind: &str, namespace: &str, name: &str| RoleSubject {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        for (subject, covered) in [
            (to("ServiceAccount", "linkerd-cni", "linkerd-cni"), true),
            (to("ServiceAccount", "kube-system", "linkerd-cni"), false),
            (to("User", "", "system:serviceaccount:linkerd-cni:linkerd-cni"), true),
            (to("Group", "", "system:serviceaccounts:linkerd-cni"), true),
            (to("Group", "", "system:serviceaccounts:other"), false),
            (to("Group", "", "system:masters"), false),
        ] {
            assert_eq!(subject.covers("linkerd-cni", "linkerd-cni"), covered, "{subject:?}");
        }
    }
}
