//! The rule of a card that is an expression, as its front matter has it; whether it can be is for `checks::expressed` to say.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A rule that is an expression, after Kubernetes' ValidatingAdmissionPolicy: true means that an object is fine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExpressedRule {
    /// The kind of object that it is evaluated for, by its resource: `deployments.apps`.
    #[serde(rename = "for")]
    pub of: String,
    /// The kind as manifests name it, where it is one that meshdoctor does not know itself; `for` then names the version as well:
    /// `certificates.v1.cert-manager.io`.
    #[serde(default)]
    pub kind: Option<String>,
    /// Whether objects of that kind live in no namespace.
    #[serde(default)]
    pub cluster_scoped: bool,
    /// The fields of that kind whose texts the expressions read; those of others are redacted.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Which of them are asked about; all where it is not there.
    #[serde(default, rename = "where")]
    pub only_where: Option<String>,
    /// Values by name, each of which may use those before it, as `variables.NAME`.
    #[serde(default)]
    pub variables: Vec<ExpressedVariable>,
    /// What holds where an object is fine.
    pub rule: String,
    /// What is said where it does not hold.
    #[serde(default)]
    pub message: Option<String>,
    /// The same as an expression.
    #[serde(default)]
    pub message_expression: Option<String>,
    /// What is quoted as evidence.
    #[serde(default)]
    pub evidence: Vec<ExpressedEvidence>,
    /// What to do, in order.
    #[serde(default)]
    pub fix: Vec<ExpressedFix>,
    /// Values that the expressions use as `params.NAME`.
    #[serde(default, deserialize_with = "super::params::once")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// A value by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedVariable {
    /// Its name.
    pub name: String,
    /// What it is.
    pub expression: String,
}

/// A piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedEvidence {
    /// The field: `spec.replicas`.
    pub path: String,
    /// What is quoted; what stands in the field where it is not there.
    #[serde(default)]
    pub expression: Option<String>,
}

/// A step of the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressedFix {
    /// What to do, starting with a verb.
    pub text: String,
    /// What to paste, word by word; one that begins with `=` is an expression.
    #[serde(default)]
    pub run: Vec<String>,
}
