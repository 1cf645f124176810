//! `native-sidecar-key-misspelled`: a misspelled annotation for native sidecars that no release
//! knows.

use super::family::{Fault, Survey};
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // No release reads these keys, so the installed release does not matter.
    let survey = Survey::whoever_reads(ctx);
    let misspelled = survey.found.iter().filter(|found| found.fault == Fault::Misspelled).map(|found| {
        let message =
            format!("no release of Linkerd knows {}, so it has no effect{}", found.key, wording::outcome(found));
        let remedy = wording::with_right_key(ctx, survey, found, wording::remedy());
        wording::finding(ctx, survey, found, message, remedy)
    });
    Ok(misspelled.collect())
}
