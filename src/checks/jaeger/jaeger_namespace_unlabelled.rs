//! `jaeger-namespace-unlabelled`: jaeger is installed, but its namespace lacks the extension's label.

use crate::checks::extensions;
use crate::checks::prelude::*;

pub(super) fn judge(ctx: &Context<'_>) -> Judgement {
    extensions::label_missing(ctx, Extension::Jaeger, &[])
}
