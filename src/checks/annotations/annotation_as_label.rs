//! `annotation-as-label`: a key that Linkerd reads among the annotations is among the labels.

use super::fault::Fault;
use super::said;
use crate::checks::{Context, Judgement};

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    said::judge(ctx, |_, found| {
        let Fault::AsLabel(row) = &found.fault else { return None };
        let key = found.key;
        let message = format!(
            "{key} is a label here, and Linkerd reads it as an annotation only, of {}: it is silently ignored",
            said::places(row)
        );
        let act = format!("Write {key} as an annotation");
        Some((message, said::replace(said::remedy(), &act, found, row, found.value)))
    })
}
