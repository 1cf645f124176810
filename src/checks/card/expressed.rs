//! The rule of a card as an expression, as in its front matter; `checks::expressed` validates it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A rule as an expression, like in Kubernetes' ValidatingAdmissionPolicy: true means that an object is fine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExpressedRule {
    /// The kind to evaluate, by its resource: `deployments.apps`.
    #[serde(rename = "for")]
    pub of: String,
    /// The kind as in manifests, if meshdoctor does not know it; `for` then includes the version:
    /// `certificates.v1.cert-manager.io`.
    #[serde(default)]
    pub kind: Option<String>,
    /// Whether the kind is cluster-scoped.
    #[serde(default)]
    pub cluster_scoped: bool,
    /// Text fields of that kind that the expressions read; others are redacted.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Selects objects to evaluate; by default all.
    #[serde(default, rename = "where")]
    pub only_where: Option<String>,
    /// Named values, each of which may use earlier ones, as `variables.NAME`.
    #[serde(default)]
    pub variables: Vec<ExpressedVariable>,
    /// The condition that a fine object satisfies.
    pub rule: String,
    /// Message of a finding.
    #[serde(default)]
    pub message: Option<String>,
    /// The message as an expression.
    #[serde(default)]
    pub message_expression: Option<String>,
    /// Evidence to quote.
    #[serde(default)]
    pub evidence: Vec<ExpressedEvidence>,
    /// Repair steps, in order.
    #[serde(default)]
    pub fix: Vec<ExpressedFix>,
    /// Parameters for the expressions, as `params.NAME`.
    #[serde(default, deserialize_with = "super::params::unique_keys")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedVariable {
    pub name: String,
    pub expression: String,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedEvidence {
    /// The field: `spec.replicas`.
    pub path: String,
    /// The quoted value; by default that of the field.
    #[serde(default)]
    pub expression: Option<String>,
}

/// A repair step.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedFix {
    /// The instruction, starting with a verb.
    pub text: String,
    /// The command, word by word; a word that starts with `=` is an expression.
    #[serde(default)]
    pub run: Vec<String>,
}
