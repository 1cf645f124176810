//! `annotation-misplaced`: a key that Linkerd reads from one kind of object is on another.

use super::fault::Fault;
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    said::judge(ctx, |_, found| {
        let Fault::Misplaced(row) = &found.fault else { return None };
        let (key, word) = (found.key, said::word(found));
        let message = format!(
            "Linkerd reads the {word} {key} from {}, not from {}: it is silently ignored",
            said::places(row),
            said::place(found)
        );
        let remedy = said::move_to(said::remedy(), row);
        Some((message, said::remove(remedy, "Remove it", found)))
    })
}
