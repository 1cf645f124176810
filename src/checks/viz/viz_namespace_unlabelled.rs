//! `viz-namespace-unlabelled`: the namespace of viz lacks its label.

use crate::checks::{Context, Judgement, extensions};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::label_missing(ctx, Extension::Viz)
}
