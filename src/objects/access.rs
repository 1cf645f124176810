//! An answered SelfSubjectAccessReview: whether the operator may do something.

use serde::Deserialize;

use super::meta::nullable;

/// What was asked, and what the API server answered.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AccessReview {
    /// The question.
    pub spec: ReviewSpec,
    /// The answer; `None` if the object has none.
    pub status: Option<ReviewStatus>,
}

/// The question.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReviewSpec {
    /// What is to be done to which resource.
    #[serde(deserialize_with = "nullable")]
    pub resource_attributes: ResourceAttributes,
}

/// What is to be done to which resource.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ResourceAttributes {
    /// Empty for resources that live in none.
    #[serde(deserialize_with = "nullable")]
    pub namespace: String,
    /// Its name in URLs.
    #[serde(deserialize_with = "nullable")]
    pub resource: String,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewStatus {
    /// Whether it is allowed.
    pub allowed: bool,
    /// Why, where an authorizer says so.
    #[serde(default, deserialize_with = "nullable")]
    pub reason: String,
    /// What went wrong while it was judged, such as a binding whose role is gone.
    #[serde(default, deserialize_with = "nullable")]
    pub evaluation_error: String,
}
