//! References of policies to targets and authentications.

use serde::Deserialize;

use super::meta::nullable;

/// A reference by group, kind and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TargetRef {
    /// API group; by default `core`.
    #[serde(deserialize_with = "nullable")]
    pub group: String,
    #[serde(deserialize_with = "nullable")]
    pub kind: String,
    #[serde(deserialize_with = "nullable")]
    pub name: String,
    /// Namespace; by default that of the referring object.
    pub namespace: Option<String>,
}

impl TargetRef {
    /// Whether it refers to a kind, compared like the policy controller does: ignoring case.
    pub fn is_a(&self, group: &str, kind: &str) -> bool {
        is_a(Some(&self.group), &self.kind, group, kind)
    }
}

/// Whether a group and a kind match, compared like the policy controller does: ignoring case, and a missing group is
/// `core`.
pub(super) fn is_a(said: Option<&str>, kind: &str, group: &str, wanted: &str) -> bool {
    kind.eq_ignore_ascii_case(wanted) && core(said).eq_ignore_ascii_case(core(Some(group)))
}

fn core(group: Option<&str>) -> &str {
    group.filter(|group| !group.is_empty()).unwrap_or("core")
}
