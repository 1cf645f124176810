//! PodDisruptionBudgets. Nothing reads them yet; bundles keep them.

use super::{Kind, KindInfo, Listed, Unread};

/// Lists of `PodDisruptionBudget`.
#[derive(Debug, Clone, Copy)]
pub enum PodDisruptionBudget {}

impl Listed for PodDisruptionBudget {
    type Object = Unread;
    const KIND: Kind = Kind::PodDisruptionBudget;
    const INFO: KindInfo = KindInfo {
        aliases: &["pdb"],
        passes: "{spec: {selector: selector, minAvailable: word, maxUnavailable: word}, status: {conditions: \
             conditions}}",
        ..KindInfo::namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")
    };
}
