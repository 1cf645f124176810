//! `jaeger-pods-not-running`: the injector of jaeger has no pods, or pods of jaeger do not run.

use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::running(ctx, Extension::Jaeger, ctx.knowledge.extensions().jaeger_components())
}
