//! The pod templates that hold trust anchors of their own: `linkerd inject --manual` writes them, and a restart keeps
//! them. Those of CronJobs and of workloads without pods show in no running proxy.

use super::evidence::Evidence;
use super::{AnchorRole, Condition, ConditionStatus, Stage, condition};
use crate::certificates::{BundlePrint, Certificate};
use crate::checks::words::some;

/// Maximum number of named workloads.
const NAMED: usize = 4;

/// The templates hold an anchor that stays. `None` if none holds anchors.
pub(super) fn of_templates(evidence: &Evidence<'_>, stage: Stage) -> Option<Condition> {
    let text = "Every pod template with trust anchors of its own holds one that stays";
    let templates = match &evidence.templates {
        Ok(templates) if templates.is_empty() => return None,
        Ok(templates) => templates,
        Err(missing) => {
            let found = condition(text, ConditionStatus::Unknown, vec![missing.to_string()]);
            return Some(Condition { close: Some(missing.close().to_string()), ..found });
        }
    };
    let staying: Vec<&Certificate> = match stage {
        Stage::ReplaceIssuer => evidence.new_anchor().into_iter().collect(),
        _ => evidence.with(AnchorRole::Current).collect(),
    };
    let lacks = |held: &BundlePrint| !staying.iter().any(|anchor| held.has(anchor));
    let outdated: Vec<String> =
        templates.iter().filter(|(_, held)| lacks(held)).map(|(owner, _)| owner.to_string()).collect();
    if outdated.is_empty() {
        return Some(condition(text, ConditionStatus::Yes, vec![format!("{0} of {0} hold it", templates.len())]));
    }
    let named = format!("{} of {} do not hold it: {}", outdated.len(), templates.len(), some(&outdated, NAMED));
    let close = "run linkerd inject --manual on their manifests again, and apply them: new pods would be rejected";
    Some(Condition { close: Some(close.to_owned()), ..condition(text, ConditionStatus::No, vec![named]) })
}
