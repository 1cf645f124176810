//! `viz-namespace-unlabelled`: viz is there, and its namespace does not say so.

use crate::checks::{Context, Judgement, extensions};
use crate::item::Extension;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::namespace(ctx, Extension::Viz)
}
