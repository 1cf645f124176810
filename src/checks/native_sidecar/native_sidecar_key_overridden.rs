//! `native-sidecar-key-overridden`: a key of the switch loses to another one, which says something else.

use super::family::{Fault, Survey};
use super::said;
use crate::checks::rewrite::{self, Act};
use crate::checks::written::go_bool;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    let Some(survey) = Survey::of(ctx) else { return Ok(said::absent()) };
    let overridden = survey.found.iter().filter_map(|found| {
        let Fault::Overridden { by, value, inherited } = found.fault else { return None };
        let place = if inherited { " on the namespace" } else { "" };
        let decides = match go_bool(value) {
            Some(_) => format!("decides with {value:?}"),
            None => format!("decides, although {value:?} is no boolean and leaves the default"),
        };
        let key = found.key;
        let message =
            format!("{key} has no effect: {by}{place} is read first and {decides}{}", said::outcome(found));
        let wanted = found.value;
        let act = format!(
            "Keep one of the two keys, {by}, with the value that is wanted ({wanted:?}, if {key} says it)"
        );
        let changes = [(by, Some(wanted)), (key, None)];
        let remedy = rewrite::restart(
            rewrite::template(said::remedy(), Act::Put(&act), &found.object, &changes),
            &found.object,
        );
        let object = found.object.subject();
        let path =
            if inherited { format!("{by} on namespace {}", found.object.home()) } else { by.to_owned() };
        let beside = crate::finding::Evidence::field(object, path, value);
        Some(said::finding(ctx, &survey, found, message, remedy).evidence(beside))
    });
    Ok(overridden.collect::<Vec<_>>().into())
}
