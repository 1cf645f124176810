//! `native-sidecar-key-misplaced`: an annotation for native sidecars in a place where the installed release
//! does not read it.

use super::family::{Fault, Misplaced, Survey};
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let misplaced = survey.found.iter().filter_map(|found| {
        let Fault::Misplaced(place) = found.fault else { return None };
        let why = match place {
            Misplaced::Workload => "has no effect on a workload itself, only on its pod template",
            Misplaced::Namespace => "has no effect on a namespace: this release does not copy it to pods",
            Misplaced::Label => "has no effect as a label, only as an annotation",
        };
        let message = format!("{} {why}{}", found.key, wording::outcome(found));
        let remedy = wording::with_right_key(ctx, survey, found, wording::remedy());
        Some(wording::finding(ctx, survey, found, message, remedy))
    });
    Ok(misplaced.collect())
}
