//! `label-as-annotation`: a key that Linkerd reads among the labels is among the annotations.

use super::fault::Fault;
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    said::judge(ctx, |_, found| {
        let Fault::AsAnnotation(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "{key} is an annotation here, and Linkerd reads it as a label only, of {}: it is silently ignored",
            said::places(row)
        );
        let act = format!("Write {key} as a label");
        Some((message, said::replace(said::remedy(), &act, found, row, found.value)))
    })
}
