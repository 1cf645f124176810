//! `annotation-misplaced`: an annotation or label that Linkerd reads on another kind of object.

use super::fault::Fault;
use super::wording;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    wording::judge(ctx, |_, found| {
        let Fault::Misplaced(row) = &found.fault else { return None };
        let (key, word) = (found.key, wording::annotation_or_label(found));
        let message = format!(
            "Linkerd reads the {word} {key} on {}, not on {}: it has no effect",
            wording::places(row),
            wording::place(found)
        );
        let remedy = wording::move_to(ctx, wording::remedy(), found, row, found.value);
        Some((message, wording::remove_it(ctx, remedy, found)))
    })
}
