//! `native-sidecar-value-invalid`: the switch for native sidecars holds something that is no boolean.

use super::family::{Fault, Survey};
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(survey) = Survey::of(ctx) else { return Ok(said::absent()) };
    let invalid = survey.found.iter().filter(|found| found.fault == Fault::Invalid).map(|found| {
        let accepted = ctx
            .knowledge
            .annotations()
            .get(found.key)
            .and_then(|key| {
                key.check_value(found.value, survey.switch.reader.version(), ctx.knowledge.minors()).err()
            })
            .unwrap_or_default();
        let message = format!(
            "{} is no boolean, so the injector takes it for absent{}: {accepted}",
            found.key,
            said::outcome(found)
        );
        let remedy = said::with_right_key(ctx, &survey, found, said::remedy());
        said::finding(ctx, &survey, found, message, remedy)
    });
    Ok(invalid.collect::<Vec<_>>().into())
}
