//! `native-sidecar-key-overridden`: an annotation for native sidecars is overridden by another one with a
//! different result.

use super::family::{Fault, Survey};
use super::wording;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::go_bool;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let survey = Survey::from_context(ctx)?;
    let overridden = survey.found.iter().filter_map(|found| {
        let Fault::Overridden { by, value, inherited } = found.fault else { return None };
        let place = if inherited { " (namespace)" } else { "" };
        let decides = match go_bool(value) {
            Some(_) => format!("with {value:?}"),
            None => format!("but {value:?} is not a boolean"),
        };
        let key = found.key;
        let message = format!("{key} has no effect: {by}{place} is read first, {decides}{}", wording::outcome(found));
        let wanted = found.value;
        let act = format!("Keep only {by}, with the intended value ({wanted:?} if {key} is right)");
        let changes = [(by, Some(wanted)), (key, None)];
        let remedy = rewrite::restart(
            ctx,
            rewrite::template(ctx, wording::remedy(), Act::Put(&act), &found.object, &changes),
            &found.object,
        );
        let object = found.object.subject();
        let path =
            if inherited { format!("{by} on namespace {}", found.object.namespace_name()) } else { by.to_owned() };
        let other = crate::finding::Evidence::field(object, path, value);
        Some(wording::finding(ctx, survey, found, message, remedy).evidence(other))
    });
    Ok(overridden.collect())
}
