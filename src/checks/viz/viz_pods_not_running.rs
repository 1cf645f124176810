//! `viz-pods-not-running`: a component of viz has no pods, or its pods are not running.

use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::running(ctx, Extension::Viz, ctx.knowledge.extensions().viz_components())
}
