//! `viz-namespace-unlabelled`: the namespace of viz lacks its label.

use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::label_missing(ctx, Extension::Viz, &[])
}
