//! ValidatingAdmissionPolicies and their bindings: rules in CEL that the API server evaluates for requests.

use serde::Deserialize;

use super::meta::{Meta, nullable};
use super::selector::LabelSelector;
use super::{Kind, KindInfo, Listed, object};

/// A ValidatingAdmissionPolicy.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ValidatingAdmissionPolicy {
    /// Name, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: AdmissionPolicySpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionPolicySpec {
    /// Ignore or Fail; empty means Fail.
    #[serde(deserialize_with = "nullable")]
    pub failure_policy: String,
    /// The requests that it is evaluated for.
    #[serde(deserialize_with = "nullable")]
    pub match_constraints: AdmissionMatch,
    /// Further conditions on the request.
    #[serde(deserialize_with = "nullable")]
    pub match_conditions: Vec<NamedExpression>,
    /// Values that expressions use by name.
    #[serde(deserialize_with = "nullable")]
    pub variables: Vec<NamedExpression>,
    /// Expressions that must be true.
    #[serde(deserialize_with = "nullable")]
    pub validations: Vec<Validation>,
}

/// An expression with a name.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct NamedExpression {
    pub name: String,
    /// The expression, in CEL.
    pub expression: String,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Validation {
    /// The expression, in CEL.
    pub expression: String,
}

/// Requests that a policy or binding selects.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionMatch {
    /// Selector of the labels of the object's namespace; missing: all.
    pub namespace_selector: Option<LabelSelector>,
    /// Selector of the object's labels; missing: all.
    pub object_selector: Option<LabelSelector>,
    /// Operations on resources. In a binding, none means all.
    #[serde(deserialize_with = "nullable")]
    pub resource_rules: Vec<ResourceRule>,
    /// Operations on resources that are excluded.
    #[serde(deserialize_with = "nullable")]
    pub exclude_resource_rules: Vec<ResourceRule>,
}

/// Operations on resources.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceRule {
    /// API groups, or `*`.
    #[serde(deserialize_with = "nullable")]
    pub api_groups: Vec<String>,
    /// Versions, or `*`.
    #[serde(deserialize_with = "nullable")]
    pub api_versions: Vec<String>,
    /// Operations, or `*`.
    #[serde(deserialize_with = "nullable")]
    pub operations: Vec<String>,
    /// Resources: `pods`, `pods/status`, `*`, `*/*`.
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<String>,
    /// Names of objects; none means all.
    #[serde(deserialize_with = "nullable")]
    pub resource_names: Vec<String>,
    /// Cluster, Namespaced or `*`; empty means `*`.
    #[serde(deserialize_with = "nullable")]
    pub scope: String,
}

fn lists(all: &[String], one: &str) -> bool {
    all.iter().any(|entry| entry == one || entry == "*")
}

impl ResourceRule {
    /// Whether it contains a version.
    pub fn lists_version(&self, version: &str) -> bool {
        lists(&self.api_versions, version)
    }

    /// Whether it contains an operation on a namespaced object.
    pub fn matches(&self, operation: &str, (group, resource): (&str, &str), name: &str) -> bool {
        lists(&self.api_groups, group)
            && lists(&self.operations, operation)
            && self.resources.iter().any(|entry| {
                // As the API server: `pods/*` matches the resource itself too.
                let (name, part) = entry.split_once('/').unwrap_or((entry, ""));
                (name == "*" || name == resource) && (part.is_empty() || part == "*")
            })
            && (self.resource_names.is_empty() || self.resource_names.iter().any(|entry| entry == name))
            && self.scope != "Cluster"
    }
}

impl Listed for ValidatingAdmissionPolicy {
    type Object = ValidatingAdmissionPolicy;
    const KIND: Kind = Kind::ValidatingAdmissionPolicy;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {failurePolicy: word, paramKind: {apiVersion: word, kind: word}, \
            matchConstraints: admission-match, matchConditions: admission-expression, \
            variables: admission-expression, validations: admission-expression}}",
        ..KindInfo::of_cluster(
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
        )
    };
}

object!(ValidatingAdmissionPolicy);

/// A ValidatingAdmissionPolicyBinding.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ValidatingAdmissionPolicyBinding {
    /// Name, labels.
    pub metadata: Meta,
    #[serde(deserialize_with = "nullable")]
    pub spec: AdmissionBindingSpec,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionBindingSpec {
    #[serde(deserialize_with = "nullable")]
    pub policy_name: String,
    /// The requests that it applies to; missing: all that the policy selects.
    #[serde(deserialize_with = "nullable")]
    pub match_resources: AdmissionMatch,
    /// Deny, Warn, Audit.
    #[serde(deserialize_with = "nullable")]
    pub validation_actions: Vec<String>,
}

impl Listed for ValidatingAdmissionPolicyBinding {
    type Object = ValidatingAdmissionPolicyBinding;
    const KIND: Kind = Kind::ValidatingAdmissionPolicyBinding;
    const INFO: KindInfo = KindInfo {
        passes: "{spec: {policyName: object, matchResources: admission-match, validationActions: word, \
            paramRef: {name: object, namespace: object, parameterNotFoundAction: word, selector: selector}}}",
        ..KindInfo::of_cluster(
            "admissionregistration.k8s.io",
            "v1",
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
        )
    };
}

object!(ValidatingAdmissionPolicyBinding);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_rule_matches_as_in_the_api_server() {
        let rule = |json: serde_json::Value| serde_json::from_value::<ResourceRule>(json).unwrap();
        let pods = |rule: &ResourceRule| rule.matches("CREATE", ("", "pods"), "web-1");
        let all = |resources: &str| {
            rule(serde_json::json!({"apiGroups": [""], "operations": ["CREATE"], "resources": [resources]}))
        };
        for (resources, matches) in [
            ("pods", true),
            ("*", true),
            ("*/*", true),
            ("pods/*", true),
            ("pods/ephemeralcontainers", false),
            ("services", false),
        ] {
            assert_eq!(pods(&all(resources)), matches, "{resources}");
        }
        assert!(!pods(&ResourceRule { operations: vec!["UPDATE".to_owned()], ..all("pods") }));
        assert!(!pods(&ResourceRule { api_groups: vec!["apps".to_owned()], ..all("pods") }));
        assert!(!pods(&ResourceRule { resource_names: vec!["other".to_owned()], ..all("pods") }));
        assert!(!pods(&ResourceRule { scope: "Cluster".to_owned(), ..all("pods") }));
    }
}
