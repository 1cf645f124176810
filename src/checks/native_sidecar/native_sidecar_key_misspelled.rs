//! `native-sidecar-key-misspelled`: a key that was meant to switch native sidecars, and that no release reads.

use super::family::{Fault, Survey, Switch};
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    // No release reads it, whichever is or will be installed.
    let survey = Survey::by(ctx, Switch::of(ctx));
    let misspelled = survey.found.iter().filter(|found| found.fault == Fault::Misspelled).map(|found| {
        let message = format!(
            "no release of Linkerd reads {}: it is silently ignored{}",
            found.key,
            said::outcome(found)
        );
        let remedy = said::with_right_key(ctx, &survey, found, said::remedy());
        said::finding(ctx, &survey, found, message, remedy)
    });
    Ok(misspelled.collect::<Vec<_>>().into())
}
