//! `native-sidecar-value-invalid`: an annotation that switches native sidecars is not a boolean.

use super::family::{Fault, Survey};
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let invalid = survey.found.iter().filter(|found| found.fault == Fault::Invalid).map(|found| {
        let message = format!("{} is not a boolean, so the injector ignores it{}", found.key, wording::outcome(found));
        let remedy = wording::with_right_key(ctx, survey, found, wording::remedy());
        wording::finding(ctx, survey, found, message, remedy)
    });
    Ok(invalid.collect())
}
