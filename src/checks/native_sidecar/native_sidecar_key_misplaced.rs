//! `native-sidecar-key-misplaced`: an annotation that switches native sidecars, where the installed release does not read it.

use super::family::{Fault, Misplaced, Survey};
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::of(ctx)?;
    let misplaced = survey.found.iter().filter_map(|found| {
        let Fault::Misplaced(place) = found.fault else { return None };
        let why = match place {
            Misplaced::Workload => "is read on the pod template, not on the workload itself",
            Misplaced::Namespace => "is not copied from a namespace to its pods by this release",
            Misplaced::Label => "is read as an annotation, not as a label",
        };
        let message = format!("{} {why}: it is silently ignored{}", found.key, wording::outcome(found));
        let remedy = wording::with_right_key(ctx, survey, found, wording::remedy());
        Some(wording::finding(ctx, survey, found, message, remedy))
    });
    Ok(misplaced.collect::<Vec<_>>().into())
}
